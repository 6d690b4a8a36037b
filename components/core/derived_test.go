package core_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/core"
)

// The formulas of the RTL's VX_config.vh, by its names, over all shapes that are legal.
func TestDerivedDefaultsAreTheRTLs(t *testing.T) {
	n, whole := 0, core.DefaultSpec(1, 1)
	for warps := 1; warps <= 64; warps++ {
		for threads := 1; threads <= 32; threads *= 2 {
			for lsu := 0; lsu <= threads; lsu = max(1, 2*lsu) {
				for fpu := 0; fpu <= threads; fpu = max(1, 2*fpu) {
					for channel := 0; channel <= 128; channel = max(4, 2*channel) {
						for _, slices := range []int{0, 1, warps} {
							s := whole
							s.Warps, s.Threads, s.LSULanes, s.FPULanes, s.ChannelBytes, s.Issue.Slices = warps, threads,
								lsu, fpu, channel, slices
							if s.Validate() == nil {
								n++
								requireDerived(t, s)
							}
						}
					}
				}
			}
		}
	}
	require.Greater(t, n, 50_000)
}

func requireDerived(t *testing.T, s core.Spec) {
	up := func(n int) int { return max(1, n) }
	or := func(v, derived int) int {
		if v == 0 {
			return derived
		}
		return v
	}
	d := s.Derived()
	issueWidth := or(s.Issue.Slices, up(s.Warps/16))
	lsuLanes, fpuLanes := or(s.LSULanes, s.Threads), or(s.FPULanes, s.Threads)
	lineSize := or(s.ChannelBytes, min(lsuLanes*4, 64))
	lsuqIn := 2 * (s.Threads / lsuLanes)
	got := []int{d.Issue.Slices, d.Issue.ALUs, d.Issue.FPUs, d.Collectors, d.ALULanes, d.SFULanes, d.LSULanes, d.FPULanes, d.ChannelBytes,
		d.LSUQueue, d.FPUQueue, d.CoalescerTags}
	want := []int{issueWidth, issueWidth, issueWidth, up(s.Warps / (4 * issueWidth)), s.Threads, s.Threads, lsuLanes, fpuLanes, lineSize,
		lsuqIn, 2 * (s.Threads / fpuLanes), max(lsuqIn, lineSize/4)}
	for i := range got {
		if got[i] != want[i] { // require.Equal on a million specs would take minutes
			require.Equal(t, want, got, "%+v", s)
		}
	}
}
