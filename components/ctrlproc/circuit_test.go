package ctrlproc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/balance"
)

// TestADifferentCircuitIsFound at each of its ports.
func TestADifferentCircuitIsFound(t *testing.T) {
	read := balance.Command{Order: balance.Read, Epoch: 1}
	for _, c := range []struct {
		change func(o *Outputs)
		err    string
	}{
		{func(*Outputs) {}, ""},
		{func(o *Outputs) { o.Done = true }, "done_o = true, where the model has false"},
		{func(o *Outputs) { o.Ordered[0] = false }, "cmd_valid_o of core 0 = false, where the model has true"},
		{func(o *Outputs) { o.Ordered[1] = true }, "cmd_valid_o of core 1 = true, where the model has false"},
		{func(o *Outputs) { o.Commands[0].Epoch = 2 }, "cmd_o of core 0 is {Order:0 Epoch:2 "},
	} {
		p := NewProcessor(Spec{Policy: "ef", Interval: 1}, 2)
		p.Launch(0)
		p.Cycle(1)
		f := follower{out: Outputs{Ordered: []bool{true, false}, Commands: []balance.Command{read, {}}}}
		c.change(&f.out)
		if err := f.compare(p, false); c.err == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, c.err)
		}
	}
}

// TestWithoutACircuit: a program without rtl/verilated says so.
func TestWithoutACircuit(t *testing.T) {
	s := DefaultSpec()
	s.Model = ModelRTL
	_, err := New("CtrlProc", s, 2)
	require.EqualError(t, err, "ctrlproc.model = rtl: this program has been built without heddle/rtl/verilated")
}
