package core

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// A wheel is as a list of when each warp goes on: near or far, while its base advances.
func TestWheel(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		var g timingWheel
		at, now := map[int]uint64{}, r.Uint64N(1000)
		g.advance(now)
		for range 2000 {
			first := uint64(never)
			for _, c := range at {
				first = min(first, c)
			}
			require.Equal(t, first, g.first())
			switch i := r.IntN(64); {
			case r.IntN(3) == 0 && first != never:
				i = g.take(first)
				require.Equal(t, first, at[i])
				delete(at, i)
			case r.IntN(3) == 0:
				now = min(first, now+r.Uint64N(100))
				g.advance(now)
			default:
				if _, there := at[i]; !there {
					when := now + r.Uint64N(1<<r.IntN(12))
					at[i] = max(now, when)
					g.put(i, when)
				}
			}
		}
	}
}
