package sim_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAcquireAndReleaseTakeTime: an acquire delays later accesses, a release itself; others do neither.
func TestAcquireAndReleaseTakeTime(t *testing.T) {
	cycles := func(first, second string) uint64 {
		o, _ := run(t, load(t, "vortex-6c32w32t", "core.lsu_queue=8", "to_l2.request=200"), source(t, `
_start:	li a0, 0x90000000
	li a1, 0x90001000
	`+first+` t0, t1, (a0)
	`+second+`
	fence
	tmc zero`))
		return o.Cycles
	}
	plain := cycles("amoadd.w", "amoadd.w t2, t1, (a1)")
	require.Greater(t, cycles("amoadd.w.aq", "amoadd.w t2, t1, (a1)"), plain+200)
	require.Greater(t, cycles("amoadd.w", "amoadd.w.rl t2, t1, (a1)"), plain+200)
	require.InDelta(t, plain, cycles("amoadd.w.rl", "amoadd.w.aq t2, t1, (a1)"), 20)
	require.Greater(t, cycles("amoadd.w.aq", "lw t2, 0(a1)"), cycles("amoadd.w", "lw t2, 0(a1)")+150)
}
