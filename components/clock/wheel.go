package clock

import "math/bits"

// wheelCycles is how far ahead the wheel reaches.
const wheelCycles = 64

// wheel holds the timers of the next cycles: for each cycle a set of units. Setting one and finding
// the next cost the same however many units there are.
type wheel struct {
	words    int      // of a set
	sets     []uint64 // of cycle c at (c mod wheelCycles) · words
	occupied uint64   // bit per cycle mod wheelCycles: its set is not empty
}

// grow makes room for 64 more units. It comes before the first timer, or moves those there are.
func (w *wheel) grow() {
	sets := make([]uint64, (w.words+1)*wheelCycles)
	for c := range wheelCycles {
		copy(sets[c*(w.words+1):], w.sets[c*w.words:(c+1)*w.words])
	}
	w.words, w.sets = w.words+1, sets
}

// set adds a unit to the set of a cycle, which must be less than wheelCycles ahead.
func (w *wheel) set(c Cycle, unit int) {
	slot := int(c % wheelCycles)
	w.sets[slot*w.words+unit>>6] |= 1 << (unit & 63)
	w.occupied |= 1 << slot
}

// clear takes a unit out of the set of a cycle, if it is there.
func (w *wheel) clear(c Cycle, unit int) {
	slot := int(c % wheelCycles)
	set := w.sets[slot*w.words : (slot+1)*w.words]
	set[unit>>6] &^= 1 << (unit & 63)
	for _, word := range set {
		if word != 0 {
			return
		}
	}
	w.occupied &^= 1 << slot
}

// has reports whether a unit is in the set of a cycle.
func (w *wheel) has(c Cycle, unit int) bool {
	return w.sets[int(c%wheelCycles)*w.words+unit>>6]>>(unit&63)&1 != 0
}

// ring moves the set of cycle c into a set of units, whose timers are over.
func (w *wheel) ring(c Cycle, into []uint64, timers []Cycle) {
	slot := int(c % wheelCycles)
	if w.occupied>>slot&1 == 0 {
		return
	}
	w.occupied &^= 1 << slot
	for i, word := range w.sets[slot*w.words : (slot+1)*w.words] {
		into[i] |= word
		w.sets[slot*w.words+i] = 0
		for ; word != 0; word &= word - 1 {
			timers[i<<6+bits.TrailingZeros64(word)] = Never
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
