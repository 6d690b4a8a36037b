package count

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// A span that is set only in some cycles has the same count as one that is set in every cycle, whenever it is settled.
func TestSpanCountsCyclesThatAreSleptThrough(t *testing.T) {
	for seed := range uint64(200) {
		draw := rand.New(rand.NewPCG(seed, 1))
		var every, some Span
		held, holds, want := false, false, uint64(0)
		for now := range uint64(300) {
			if draw.IntN(5) == 0 {
				holds = draw.IntN(2) == 0
			}
			every.Set(holds, now)
			if holds != held || draw.IntN(4) == 0 {
				some.Set(holds, now)
			}
			held = holds
			if holds {
				want++
			}
			if draw.IntN(10) == 0 {
				every.Settle(now + 1)
				some.Settle(now + 1)
				require.Equal(t, want, some.Count(), "seed %d, cycle %d", seed, now)
				require.Equal(t, want, every.Count(), "seed %d, cycle %d", seed, now)
			}
		}
	}
}

// Cycles since the last change are not counted before Settle.
func TestSpanIsSettledBeforeItIsRead(t *testing.T) {
	var s Span
	s.Set(true, 10)
	require.Zero(t, s.Count())
	s.Settle(15)
	require.EqualValues(t, 5, s.Count())
	s.Set(false, 20)
	s.Settle(30)
	require.EqualValues(t, 10, s.Count())
}
