package core

import (
	"math/bits"
	"slices"

	"heddle/isa/emu"
)

// opening is a core-local barrier that all its warps have reached, some of whose accesses are still on their way to the
// load-store unit's queue: with ordered_barrier it opens when the queue has them, so that those of the warps that it
// lets go come behind. A barrier without such accesses opens at once, whether or not ordered_barrier is set.
type opening struct {
	warps uint64
	at    uint64 // cycle from which on the warps can be scheduled; never: accesses are on their way
}

// delays reports whether the barrier that warp w has reached as the last one must wait for accesses.
func (p *pipe) delays(w int) bool {
	group := uint64(1) << w
	for m := p.atBarrier &^ p.toOpen(); m != 0; m &= m - 1 {
		if i := bits.TrailingZeros64(m); !p.warps[i].trace.Waiting() {
			group |= 1 << i
		}
	}
	if !p.unsent(group) {
		return false
	}
	p.opening = append(p.opening, opening{group, never})
	return true
}

// sent ends the way of an access to the load-store unit's queue, for which a barrier may wait.
func (p *pipe) sent(i int, op *emu.Op, now uint64) {
	if !p.spec.OrderedBarrier || !accesses(op) {
		return
	}
	if p.warps[i].unsent--; p.warps[i].unsent != 0 {
		return
	}
	for k := range p.opening {
		if o := &p.opening[k]; o.warps>>i&1 != 0 && !p.unsent(o.warps) {
			o.at = now + executeToUnlock
			p.due = min(p.due, o.at)
		}
	}
}

// unsent reports whether accesses of these warps are on their way to the load-store unit's queue.
func (p *pipe) unsent(warps uint64) bool {
	for m := warps; m != 0; m &= m - 1 {
		if p.warps[bits.TrailingZeros64(m)].unsent != 0 {
			return true
		}
	}
	return false
}

// toOpen returns the warps whose barrier waits for accesses.
func (p *pipe) toOpen() (warps uint64) {
	for i := range p.opening {
		warps |= p.opening[i].warps
	}
	return warps
}

// open opens the barriers that are due, and reports whether there were any.
func (p *pipe) open(now uint64) bool {
	before := len(p.opening)
	p.opening = slices.DeleteFunc(p.opening, func(o opening) bool { return o.at <= now })
	return len(p.opening) < before
}

// nextOpening returns the first cycle after now in which a barrier opens whose accesses have been sent, or at if that
// is earlier.
func (p *pipe) nextOpening(now, at uint64) uint64 {
	for i := range p.opening {
		if t := p.opening[i].at; t > now {
			at = min(at, t)
		}
	}
	return at
}
