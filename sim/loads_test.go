package sim_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/sim"
)

// TestLoadEfficiency: 16 lanes (4 warps of 4) load twice and add once, at every width and stride. A request covers 16
// bytes; lanes of a warp are merged where they fall into one block, and never with other warps'. Lanes that address the
// scratchpad ask memory for nothing.
func TestLoadEfficiency(t *testing.T) {
	const warps, lanes, block = 4, 4, 16
	for _, mode := range []string{"l2", "simx25", "simx24"} {
		for _, c := range []struct {
			load   string
			bytes  int
			stride int // of neighbouring lanes
		}{
			{"lw", 4, 0}, {"lw", 4, 4}, {"lw", 4, 8}, {"lw", 4, 16}, {"lw", 4, 20}, {"lw", 4, 64},
			{"lh", 2, 2}, {"lhu", 2, 4}, {"lb", 1, 1}, {"lbu", 1, 3}, {"lb", 1, 17},
		} {
			t.Run(fmt.Sprint(mode, "/", c.load, c.stride), func(t *testing.T) {
				p := source(t, spread+fmt.Sprintf(`
	andi t2, t1, %[1]d
	srli t3, t1, 2
	slli t3, t3, 10
	li t4, %[2]d
	mul t4, t4, t2
	li t5, 0x90000000
	add t5, t5, t3
	add t4, t4, t5
	%[3]s a1, 0(t4)
	%[3]s a2, 512(t4)
	slli t2, t2, 2
	add t5, t5, t2
	amoadd.w a3, t1, (t5)
	li t5, 0xFFFF0000
	slli t2, t1, 2
	add t5, t5, t2
	sw a1, 0(t5)
	lw a2, 0(t5)
	tmc zero`, lanes-1, c.stride, c.load))
				_, m := run(t, load(t, "vortex-1c4w4t", "memory.preset=ideal", "core.channel_bytes=16",
					"atomics.mode="+mode), p)
				blocks := map[int]bool{}
				for l := range lanes {
					blocks[l*c.stride/block] = true
				}
				requests := 2 * warps * len(blocks)
				for name, want := range map[string]float64{
					"core.lsu.load.bytes": float64(2 * warps * lanes * c.bytes), "core.lsu.load.requests": float64(requests),
					"core.lsu.atomic.lanes": warps * lanes, "core.lsu.atomic.requests": warps,
					"core.lsu.requests": float64(requests + warps), "core.lsu.lanes": 5 * warps * lanes,
					"load_efficiency": float64(2*warps*lanes*c.bytes) / float64(requests*block),
				} {
					require.Equal(t, want, stat(t, m, name), name)
				}
				require.NoError(t, m.CheckInvariants())
			})
		}
	}
}

func stat(t *testing.T, m *sim.Machine, name string) float64 {
	t.Helper()
	s, ok := m.Statistics().Get(name)
	require.True(t, ok, name)
	return s.Float()
}
