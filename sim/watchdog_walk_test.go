package sim_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/sim"
)

// A cache whose reset walk takes longer than a machine may stand still is no reason to give up, nor is the walk of a
// fence, and neither costs the host a visit a line.
func TestWalksOfLargeCachesAreProgress(t *testing.T) {
	text := "_start: li t0, 0x90000000\n sw zero, 0(t0)\n fence\n lw t1, 0(t0)\n sw zero, 0x88(zero)\n tmc zero\n"
	for _, c := range []struct {
		set  []string
		most uint64
	}{
		{[]string{"l1d.bytes=512MiB", "l1d.ways=1"}, 17_000_000},
		{[]string{"l1i.bytes=1GiB"}, 4_300_000},
		{[]string{"l2={bytes: 512MiB, ways: 1, banks: 2, forward_flush: true}", "l1d.forward_flush=true"}, 9_000_000},
		{[]string{"l2={bytes: 256MiB, ways: 2, write_policy: back, forward_flush: true}", "l1d.forward_flush=true"}, 6_500_000},
	} {
		m, err := sim.New(load(t, "vortex-1c4w4t", c.set...), sim.Options{Check: true})
		require.NoError(t, err)
		res, err := m.Run(context.Background(), source(t, text))
		require.NoError(t, err, "%v", c.set)
		require.NoError(t, m.CheckInvariants())
		require.Greater(t, res.Cycles, uint64(1_000_000), "%v", c.set)
		require.Less(t, res.Cycles, c.most, "%v", c.set)
	}
}
