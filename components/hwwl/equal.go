package hwwl

import "heddle/components/clock"

// Equalizer makes the cores' lists equally long at every interval, in zero time, after all units have ticked: it is on
// an observer's clock, and yet changes the units' state.
type Equalizer struct {
	clock.Base
	units    []Unit
	interval clock.Cycle
	done     func() bool // reports whether all lists are empty, and all units know it
}

// NewEqualizer returns an Equalizer of those units.
func NewEqualizer(name string, interval int, units []Unit, done func() bool) *Equalizer {
	return &Equalizer{Base: clock.NewBase(name), units: units, interval: clock.Cycle(interval), done: done}
}

// Start begins a launch.
func (q *Equalizer) Start() { q.ClockHandle().Wake() }

// Tick equalizes the lists.
func (q *Equalizer) Tick(now clock.Cycle) bool {
	for q.move(now) {
	}
	if !q.done() {
		q.ClockHandle().WakeAt(now + q.interval)
	}
	return false
}

// move moves vertices from the longest list to the shortest.
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
