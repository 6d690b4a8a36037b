package core

import "math/bits"

// timingWheel says when each warp goes on: of the next wheelCycles by cycle, and of others by warp.
type timingWheel struct {
	base  uint64              // the first of those cycles
	slots [wheelCycles]uint64 // by cycle modulo their number: the warps
	taken uint64              // slots that have some
	later uint64              // warps that go on behind those cycles
	at    [64]uint64          // by warp
}

const wheelCycles = 64

// put has a warp go on in a cycle.
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

// advance has its cycles begin at one before which none goes on.
func (g *timingWheel) advance(base uint64) {
	g.base = base
	for m := g.later; m != 0; m &= m - 1 {
		if i := bits.TrailingZeros64(m); g.at[i]-base < wheelCycles {
			g.later &^= 1 << i
			g.put(i, g.at[i])
		}
	}
}

// first returns when the first goes on; never: none does.
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

// take takes the lowest warp out that goes on in a cycle, which is the first.
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
