package clock

import (
	"math/bits"
	"math/rand/v2"
)

// Unit is what a domain ticks.
type Unit interface {
	// Tick does one cycle. It returns whether the unit wants the next one too;
	// if not, it sleeps until it is woken.
	Tick(now Cycle) bool
}

// Domain is one clock and the units on it.
type Domain struct {
	s      *System
	name   string
	period Femto
	cycle  Cycle // the last one ticked
	next   Cycle // the next one to tick; Never: all sleep and no timer is set
	at     Femto // when that is
	units  []Unit
	awake  []uint64 // bit per unit: ticks in the next cycle
	due    []uint64 // bit per unit: ticks in this cycle
	wake   []Cycle  // per unit: its timer
	near   wheel    // the units whose timers are set for the next cycles
	timer  Cycle    // the earliest of the others
	places []int    // scattered: the places of the next units
	inTick bool
}

// Handle is a unit's place in its domain: what others wake it by.
type Handle struct {
	d   *Domain
	i   int
	due *Cycle // nil: the unit is not in parts
}

// Part is a handle of a part of the unit. Waking the part wakes the unit, and lowers due to the
// cycle from which the part has to look. The part raises it again.
func (h Handle) Part(due *Cycle) Handle {
	h.due = due
	return h
}

// scattered is how many units can be added in a drawn order; later ones tick after them.
const scattered = 1024

// scatter draws the places of the units to come.
func (d *Domain) scatter(draw *rand.Rand) {
	for range scattered {
		d.Add(nil)
	}
	d.places = draw.Perm(scattered)
}

// Add puts a unit on the clock, asleep.
func (d *Domain) Add(u Unit) Handle {
	if n := len(d.places); n > 0 {
		i := d.places[n-1]
		d.places = d.places[:n-1]
		d.units[i] = u
		return Handle{d: d, i: i}
	}
	d.units = append(d.units, u)
	d.wake = append(d.wake, Never)
	if len(d.awake)*64 < len(d.units) {
		d.awake, d.due = append(d.awake, 0), append(d.due, 0)
		d.near.grow()
	}
	return Handle{d: d, i: len(d.units) - 1}
}

// Name returns the clock's name.
func (d *Domain) Name() string { return d.name }

// Period returns the length of a cycle.
func (d *Domain) Period() Femto { return d.period }

// Cycle returns the cycle that ticks now, or the last one that did or was caught up with.
func (d *Domain) Cycle() Cycle { return d.cycle }

// After returns the first cycle that starts after the current instant.
func (d *Domain) After() Cycle { return Cycle(d.s.now/d.period) + 1 }

// Domain returns the clock the unit is on.
func (h Handle) Domain() *Domain { return h.d }

// Wake makes the unit tick at its clock's next edge after this instant.
func (h Handle) Wake() { h.wakeNext() }

func (h *Handle) wakeNext() {
	if !h.d.inTick {
		h.WakeAt(h.d.After())
		return
	}
	h.d.awake[h.i>>6] |= 1 << (h.i & 63)
	if h.due != nil {
		*h.due = min(*h.due, h.d.cycle+1)
	}
}

// WakeAt makes the unit tick in that cycle, unless it ticks before: waking
// early is always harmless. A cycle that is over means the next one.
func (h Handle) WakeAt(c Cycle) {
	d := h.d
	if d.inTick {
		c = max(c, d.cycle+1)
	} else {
		c = max(c, d.After())
	}
	h.wakeAt(c)
}

// wakeAt is WakeAt for a cycle that is to come. A unit has one timer, which an earlier one replaces.
func (h *Handle) wakeAt(c Cycle) {
	d := h.d
	if h.due != nil {
		*h.due = min(*h.due, c)
	}
	old := d.wake[h.i]
	if c >= old {
		return
	}
	d.wake[h.i] = c
	if old != Never {
		d.near.clear(old, h.i)
	}
	if c-d.cycle < wheelCycles {
		d.near.set(c, h.i)
	} else {
		d.timer = min(d.timer, c)
	}
	if c < d.next { // not while it ticks: following finds the next one then
		d.setNext(c)
		d.s.schedule()
	}
}

// setNext sets the next cycle to tick.
func (d *Domain) setNext(c Cycle) {
	d.next, d.at = c, Femto(Never)
	if c != Never {
		d.at = Femto(c) * d.period
	}
}

// tick runs cycle d.next.
func (d *Domain) tick() {
	d.cycle = d.next
	d.due, d.awake = d.awake, d.due // d.awake is now empty: the cycle after this one
	d.near.ring(d.cycle, d.due, d.wake)
	if d.timer <= d.cycle {
		d.ring()
	}
	d.inTick = true
	for w, set := range d.due {
		if set != 0 {
			d.due[w] = 0
			d.awake[w] |= d.tickUnits(d.units[w<<6:], set)
		}
	}
	d.inTick = false
	d.setNext(d.following())
}

// tickUnits ticks those of up to 64 units that are in the set, and returns those that want the next cycle too.
func (d *Domain) tickUnits(units []Unit, set uint64) (again uint64) {
	now := d.cycle
	for ; set != 0; set &= set - 1 {
		if i := bits.TrailingZeros64(set); units[i].Tick(now) {
			again |= 1 << i
		}
	}
	return again
}

// following returns the next cycle with something to tick.
func (d *Domain) following() Cycle {
	for _, set := range d.awake {
		if set != 0 {
			return d.cycle + 1
		}
	}
	next := d.near.next(d.cycle)
	if d.timer < next { // it may be a timer that an earlier one has replaced
		d.timer = d.earliest()
	}
	return min(next, d.timer)
}

// earliest returns the first of the timers that are not on the wheel.
func (d *Domain) earliest() Cycle {
	first := Never
	for i, c := range d.wake {
		if c < first && !d.near.has(c, i) {
			first = c
		}
	}
	return first
}

// ring wakes the units whose far timers are due.
func (d *Domain) ring() {
	for i, c := range d.wake {
		if c <= d.cycle {
			d.wake[i] = Never
			d.due[i>>6] |= 1 << (i & 63)
		}
	}
	d.timer = d.earliest()
}
