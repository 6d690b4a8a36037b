package inspect_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa"
	"heddle/sim/inspect"
)

func TestParsePoint(t *testing.T) {
	p := &isa.Program{Symbols: []isa.Symbol{{Name: "a", Addr: 16}, {Name: "b", Addr: 32}, {Name: "a", Addr: 64}}}
	for text, pcs := range map[string][]uint32{"0x10": {16}, "20": {20}, "a": {16, 64}, "b+8,warp=3": {40}, "c": nil} {
		at, err := inspect.ParsePoint(text)
		require.NoError(t, err, text)
		require.Equal(t, pcs, at.In(p), text)
	}
	for _, text := range []string{"", ",core=1", "a,core", "a,lane=1", "a,core=-1", "a+", "a+b"} {
		_, err := inspect.ParsePoint(text)
		require.Error(t, err, text)
	}
}

func FuzzParsePoint(f *testing.F) {
	f.Add("loop+0x8,core=0,warp=3")
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := inspect.ParsePoint(text); err == nil {
			require.GreaterOrEqual(t, p.Core, inspect.Any)
			p.In(&isa.Program{})
		}
	})
}
