package core

import "math/bits"

// timingWheel holds the cycle in which each warp continues: within the next wheelCycles by slot, beyond them by warp.
type timingWheel struct {
	base  uint64              // first cycle of the slots
	slots [wheelCycles]uint64 // by cycle modulo wheelCycles: the warps
	taken uint64              // non-empty slots
	later uint64              // warps beyond the slots
	at    [64]uint64          // by warp
}

const wheelCycles = 64

// put schedules a warp.
func (g *timingWheel) put(i int, at uint64) {
	at = max(at, g.base)
	g.at[i&63] = at
	if at-g.base >= wheelCycles {
		g.later |= 1 << i
		return
	}
	g.slots[at%wheelCycles] |= 1 << i
	g.taken |= 1 << (at % wheelCycles)
}

// advance moves the slots to begin at base, before which no warp is scheduled.
func (g *timingWheel) advance(base uint64) {
	g.base = base
	for m := g.later; m != 0; m &= m - 1 {
		if i := bits.TrailingZeros64(m); g.at[i]-base < wheelCycles {
			g.later &^= 1 << i
			g.put(i, g.at[i])
		}
	}
}

// first returns the earliest cycle with a warp; never: none.
func (g *timingWheel) first() uint64 {
	if g.taken != 0 {
		return g.base + uint64(bits.TrailingZeros64(bits.RotateLeft64(g.taken, -int(g.base%wheelCycles))))
	}
	if g.later != 0 {
		return g.firstLater()
	}
	return never
}

func (g *timingWheel) firstLater() uint64 {
	at := uint64(never)
	for m := g.later; m != 0; m &= m - 1 {
		at = min(at, g.at[bits.TrailingZeros64(m)])
	}
	return at
}

// take removes and returns the lowest warp of cycle at, which must be the earliest.
func (g *timingWheel) take(at uint64) int {
	if g.taken>>(at%wheelCycles)&1 == 0 {
		return g.takeLater(at)
	}
	slot := &g.slots[at%wheelCycles]
	i := bits.TrailingZeros64(*slot)
	if *slot &= *slot - 1; *slot == 0 {
		g.taken &^= 1 << (at % wheelCycles)
	}
	return i
}

func (g *timingWheel) takeLater(at uint64) int {
	for m := g.later; ; m &= m - 1 {
		if i := bits.TrailingZeros64(m); g.at[i&63] == at {
			g.later &^= 1 << i
			return i
		}
	}
}
