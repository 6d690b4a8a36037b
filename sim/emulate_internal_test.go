package sim

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/mem"
	"heddle/isa"
	"heddle/isa/emu"
)

// lineLog is an L1D that records its accesses.
type lineLog struct {
	mem.Warmer
	seen []mem.Access
}

func (l *lineLog) Touch(a mem.Access) { l.seen = append(l.seen, a) }

// TestToucherPassesEachLineOnce: of any lanes of an instruction, the L1D of its core sees each line of memory once, in
// the order of the first lanes that access it, and nothing of the scratchpad.
func TestToucherPassesEachLineOnce(t *testing.T) {
	ops := map[isa.Class]mem.Access{
		isa.ClassLoad:   {Op: mem.Read, Operations: 1},
		isa.ClassStore:  {Op: mem.Write, Operations: 1, Wrote: true},
		isa.ClassAtomic: {Op: mem.Atomic, Operations: 1, Wrote: true},
	}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		line := uint32(16) << r.IntN(5)
		logs := []*lineLog{{}, {}}
		to := toucher{mask: -line, data: []mem.Warmer{logs[0], logs[1]}}
		core, mask, class := r.IntN(2), r.Uint32(), [...]isa.Class{isa.ClassLoad, isa.ClassStore, isa.ClassAtomic}[r.IntN(3)]
		var addr isa.Lanes
		base, spread := r.Uint32N(1<<31), uint32(1)<<r.IntN(20)
		var want []mem.Access
		for l := range addr {
			if addr[l] = emu.UncachedEnd + base + r.Uint32N(spread); r.IntN(20) == 0 {
				addr[l] = emu.ScratchpadBase + r.Uint32N(64)
			}
			if a := ops[class]; mask>>l&1 != 0 && addr[l] < emu.ScratchpadBase {
				if a.Addr = addr[l] / line * line; !slices.Contains(want, a) {
					want = append(want, a)
				}
			}
		}
		to.touch(core, class, &addr, mask)
		require.Equal(t, want, logs[core].seen, "seed %d: %d lanes", seed, bits.OnesCount32(mask))
		require.Empty(t, logs[1-core].seen)
	}
}
