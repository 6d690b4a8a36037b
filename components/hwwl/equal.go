package hwwl

import "heddle/components/clock"

// Equalizer makes the cores' lists equally long every interval, at no cost, when all units are
// through with the cycle: it is on a clock of observers, and yet changes what they hold.
type Equalizer struct {
	clock.Base
	units    []Unit
	interval clock.Cycle
	done     func() bool // all lists are empty, and all units know
}

// NewEqualizer makes it for those units.
func NewEqualizer(name string, interval int, units []Unit, done func() bool) *Equalizer {
	return &Equalizer{Base: clock.NewBase(name), units: units, interval: clock.Cycle(interval), done: done}
}

// Start is a kernel launch.
func (q *Equalizer) Start() { q.ClockHandle().Wake() }

// Tick evens the lists out.
func (q *Equalizer) Tick(now clock.Cycle) bool {
	for q.move(now) {
	}
	if !q.done() {
		q.ClockHandle().WakeAt(now + q.interval)
	}
	return false
}

// move lets the longest list give to the shortest.
func (q *Equalizer) move(now clock.Cycle) bool {
	longest, shortest := q.units[0], q.units[0]
	for _, u := range q.units {
		n := u.Engine().WorkSize()
		if n > longest.Engine().WorkSize() {
			longest = u
		}
		if n < shortest.Engine().WorkSize() {
			shortest = u
		}
	}
	n := (longest.Engine().WorkSize() - shortest.Engine().WorkSize()) / 2
	if n == 0 || longest.Engine().Shift(now, shortest.Engine(), n) == 0 {
		return false
	}
	longest.ClockHandle().Wake()
	shortest.ClockHandle().Wake()
	return true
}
