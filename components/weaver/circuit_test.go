package weaver_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/weaver"
)

// TestACircuitDecides: a unit around a circuit, here another Go model, answers and counts as one without.
func TestACircuitDecides(t *testing.T) {
	weaver.UseTwins(nil)
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 10))
		s := weaver.Spec{
			STEntries: 24, DTEntries: 24, TableLatency: 3 + r.IntN(20), STRow: 1 << r.IntN(4), RequestQueue: 1 + r.IntN(6),
			Prefetch: r.IntN(2) == 0, SkipEmpty: r.IntN(2) == 0, MaskByUnit: r.IntN(2) == 0,
		}
		var logs [2][]string
		var stats [2]weaver.Stats
		for i, model := range []weaver.Model{weaver.ModelGo, weaver.ModelRTL} {
			s.Model = model
			d, sys := newDriver(t, seed, s, i == 1)
			d.unit.Architecture().Launch()
			d.ClockHandle().Wake()
			require.NoError(t, sys.Run())
			require.Zero(t, d.epochs)
			require.NoError(t, d.unit.CheckInvariants(1_000_000))
			logs[i], stats[i] = d.log, d.unit.Stats(1_000_000)
			require.NoError(t, d.unit.Close())
		}
		require.Equal(t, logs[0], logs[1], "seed %d", seed)
		require.Equal(t, stats[0], stats[1], "seed %d", seed)
	}
}

// TestACircuitIsWatched: outputs that contradict what the ports have shown end the run.
func TestACircuitIsWatched(t *testing.T) {
	answers := func(dt bool) func(*weaver.Outputs) bool {
		return func(o *weaver.Outputs) bool { return o.Answered && o.FromDT == dt }
	}
	for says, c := range map[string]struct {
		when func(*weaver.Outputs) bool
		do   func(*weaver.Outputs)
	}{
		"there is none": {
			func(o *weaver.Outputs) bool { return o.State == 6 && !o.Took && !o.Answered },
			func(o *weaver.Outputs) { o.Took = true },
		},
		"err_o = 3": {
			func(o *weaver.Outputs) bool { return o.Took && o.State == 0 },
			func(o *weaver.Outputs) { o.Mistake = 3 },
		},
		"none was expected": {answers(true), func(o *weaver.Outputs) { o.Tag ^= 8 }},
		"rsp_mask_o":        {answers(false), func(o *weaver.Outputs) { o.Mask ^= 2 }},
		"rsp_data_o":        {answers(false), func(o *weaver.Outputs) { o.Data[1]++ }},
		"no state":          {answers(true), func(o *weaver.Outputs) { o.Reads++ }},
	} {
		done := false
		weaver.UseTwins(func(_ uint64, o *weaver.Outputs) {
			if !done && c.when(o) {
				c.do(o)
				done = true
			}
		})
		s := weaver.Spec{STEntries: 24, DTEntries: 24, TableLatency: 5, STRow: 4, RequestQueue: 4, SkipEmpty: true,
			Model: weaver.ModelRTL}
		d, sys := newDriver(t, 1, s, true)
		d.unit.Architecture().Launch()
		d.ClockHandle().Wake()
		require.NoError(t, sys.Run())
		require.True(t, done, says)
		last := d.log[len(d.log)-1]
		require.Contains(t, last, "the SystemVerilog: ", says)
		require.Contains(t, last, says)
	}
}

// TestModelsAreRefused where there is no circuit, or no power of two.
func TestModelsAreRefused(t *testing.T) {
	weaver.SetCircuits(nil)
	s := weaver.DefaultSpec()
	s.Model = weaver.ModelRTL
	_, err := weaver.New("W", s.Derived(4, 4, 6), 4, 4)
	require.ErrorContains(t, err, "core.weaver.model = rtl: this program has been built without")
	key, msg, ok := s.Fits(4, 12)
	require.False(t, ok)
	require.Equal(t, "model", key)
	require.True(t, strings.HasPrefix(msg, "rtl: core.threads = 12: expected a power of two"), msg)
}
