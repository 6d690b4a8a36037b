package clock

import "math/bits"

// wheelCycles is the number of cycles that the wheel covers.
const wheelCycles = 64

// wheel holds the timers of the next wheelCycles cycles: for each cycle a set of units, one word per group. The cost of
// setting a timer, and of finding the next, does not depend on the number of units.
type wheel struct {
	words    int      // of a set: number of groups
	sets     []uint64 // the set of cycle c begins at (c mod wheelCycles) · words
	occupied uint64   // a bit per cycle mod wheelCycles: its set is not empty
}

// grow makes room for another group.
func (w *wheel) grow() {
	sets := make([]uint64, (w.words+1)*wheelCycles)
	for c := range wheelCycles {
		copy(sets[c*(w.words+1):], w.sets[c*w.words:(c+1)*w.words])
	}
	w.words, w.sets = w.words+1, sets
}

// add adds units to the set of a cycle less than wheelCycles ahead.
func (w *wheel) add(c Cycle, group int, units uint64) {
	slot := int(c % wheelCycles)
	w.sets[slot*w.words+group] |= units
	w.occupied |= 1 << slot
}

// clear removes units from the set of a cycle, if they are there.
func (w *wheel) clear(c Cycle, group int, units uint64) {
	slot := int(c % wheelCycles)
	set := w.sets[slot*w.words : (slot+1)*w.words]
	set[group] &^= units
	for _, word := range set {
		if word != 0 {
			return
		}
	}
	w.occupied &^= 1 << slot
}

// has reports whether a unit is in the set of a cycle.
func (w *wheel) has(c Cycle, group int, unit uint64) bool {
	return w.sets[int(c%wheelCycles)*w.words+group]&unit != 0
}

// ring makes the units of cycle c's set due, and clears their timers.
func (w *wheel) ring(c Cycle, groups []*group) {
	slot := int(c % wheelCycles)
	if w.occupied>>slot&1 == 0 {
		return
	}
	w.occupied &^= 1 << slot
	set := w.sets[slot*w.words : (slot+1)*w.words]
	for i, g := range groups {
		g.due |= set[i]
		for ; set[i] != 0; set[i] &= set[i] - 1 {
			g.wake[bits.TrailingZeros64(set[i])&(groupUnits-1)] = Never
		}
	}
}

// next returns the first cycle after c with a timer, or Never.
func (w *wheel) next(c Cycle) Cycle {
	if w.occupied == 0 {
		return Never
	}
	return c + 1 + Cycle(bits.TrailingZeros64(bits.RotateLeft64(w.occupied, -int((c+1)%wheelCycles))))
}
