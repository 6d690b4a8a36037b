package core_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/core"
)

// TestSharedStalls: they are what a count of every warp in every cycle comes to, to the last fraction, and together the
// slots left empty; counting them changes no cycle, and neither does sleeping.
func TestSharedStalls(t *testing.T) {
	for _, name := range []string{"alu_chain", "barrier", "diverge", "fma_chain", "lmem_ld", "lat_l1", "div_chain"} {
		for _, shape := range []struct{ warps, slices, dispatch int }{{1, 1, 1}, {6, 2, 1}, {7, 1, 2}, {32, 1, 1}} {
			change := func(s *core.Spec) { s.Issue.Slices, s.Issue.Dispatch = shape.slices, shape.dispatch }
			if shape.dispatch > 1 {
				change = func(s *core.Spec) { s.Issue.Slices, s.Issue.Dispatch, s.Collectors = 1, 2, 2 }
			}
			about := fmt.Sprintf("%s on %+v", name, shape)
			plain := newMachine(t, shape.warps, 4, change)
			cycles := plain.run(t, name, 6)

			awake := newMachine(t, shape.warps, 4, change)
			awake.core.StayAwake()
			awake.core.ShareStalls()
			recount := awake.core.Recount()
			require.Equal(t, cycles, awake.run(t, name, 6), about)
			exact, empty := awake.core.Exact()
			sum := uint64(0)
			counts, ok := awake.core.SharedStalls()
			require.True(t, ok)
			for k := range exact {
				require.Zero(t, exact[k].Cmp(&recount[k]), "%s: cause %d: %s, recounted %s", about, k, &exact[k],
					&recount[k])
				whole, _ := exact[k].Float64()
				if k > 0 { // the first is of slots that issued
					require.InDelta(t, whole, counts[k-1], 3*float64(shape.slices), about)
					sum += counts[k-1]
				}
			}
			require.Equal(t, empty, sum, about)
			require.NoError(t, awake.core.CheckInvariants())

			asleep := newMachine(t, shape.warps, 4, change)
			asleep.core.ShareStalls()
			require.Equal(t, cycles, asleep.run(t, name, 6), about)
			slept, _ := asleep.core.Exact()
			for k := range exact {
				require.Zero(t, exact[k].Cmp(&slept[k]), "%s: cause %d: %s, asleep %s", about, k, &exact[k], &slept[k])
			}
			if shape.warps == 32 {
				require.True(t, asleep.core.Several(), about)
			}
		}
	}
	_, ok := newMachine(t, 1, 4).core.SharedStalls()
	require.False(t, ok, "they are not asked for")
}
