package clock

import (
	"math/bits"
	"math/rand/v2"
	"time"
)

// Unit is a member of a clock domain.
type Unit interface {
	// Tick runs one cycle. It reports whether the unit wants the next one too; if not, it sleeps until it is woken.
	Tick(now Cycle) bool
}

// Finisher is a unit with work after all units have ticked in an instant.
type Finisher interface {
	// Finish is called at the end of an instant in which Handle.Finish was called for the unit. Units finish one at a
	// time, in the order in which they were added: a unit may change the state of any other, which sees the change from
	// its next cycle on.
	Finish(now Cycle)
}

// Domain is a clock and its units, or a shard: those of its units that tick together.
type Domain struct {
	// Workers of other domains read these while the domain ticks.
	s      *System
	name   string
	period Femto
	worker int       `checkpoint:"assembled"` // index of the worker that ticks it
	clock  int       `checkpoint:"assembled"` // index of its clock, while workers tick
	shards []*Domain // all shards of the clock, including this one; nil: it is the only one
	groups []*group
	units  int
	order  []int // scattered: indices of the next units to add
	_      [lineBytes]byte

	cycle  Cycle // last cycle ticked
	next   Cycle // next cycle to tick; Never: all units sleep and no timer is set
	at     Femto // instant of next
	inTick bool
	late   bool          // a unit has requested Finish in this instant
	near   wheel         // timers of the next wheelCycles cycles
	timer  Cycle         // earliest of the other timers
	cost   time.Duration `checkpoint:"assembled"` // host time of its ticks in timed instants
}

// group is a part of a domain's units, as many as fit into a one-word set.
type group struct {
	index int
	awake uint64 // units that tick in the next cycle
	due   uint64 // units that tick in this cycle
	units [groupUnits]Unit
	wake  [groupUnits]Cycle // timers

	late      uint64 // units that have requested Finish in this instant
	finishers [groupUnits]Finisher
}

const groupUnits = 64

// Handle refers to a unit in its domain. It is used to wake the unit.
type Handle struct {
	d   *Domain
	g   *group
	i   int    // index in the group
	bit uint64 // the same as a set
	due *Cycle // nil: the unit has no parts
}

// Part returns a handle of a part of the unit. Waking the part wakes the unit, and lowers due to the cycle in which the
// part may have work. Only the part itself raises due.
func (h Handle) Part(due *Cycle) Handle {
	h.due = due
	return h
}

// scattered is the number of units that can be added in random order; later ones tick after them.
const scattered = 1024

// scatter draws the indices of the units to come.
func (d *Domain) scatter(draw *rand.Rand) {
	for range scattered {
		d.Add(nil)
	}
	d.order = draw.Perm(scattered)
}

// Add adds a unit to the clock, asleep.
func (d *Domain) Add(u Unit) Handle {
	if n := len(d.order); n > 0 {
		h := d.handle(d.order[n-1])
		d.order = d.order[:n-1]
		h.put(u)
		return h
	}
	if d.units%groupUnits == 0 {
		d.grow()
	}
	h := d.handle(d.units)
	h.put(u)
	d.units++
	return h
}

func (h *Handle) put(u Unit) {
	h.g.units[h.i] = u
	h.g.finishers[h.i], _ = u.(Finisher)
}

func (d *Domain) handle(index int) Handle {
	i := index % groupUnits
	return Handle{d: d, g: d.groups[index/groupUnits], i: i, bit: 1 << i}
}

// grow adds a group.
func (d *Domain) grow() {
	g := &group{index: len(d.groups)}
	for i := range g.wake {
		g.wake[i] = Never
	}
	d.groups = append(d.groups, g)
	d.near.grow()
}

// Name returns the clock's name.
func (d *Domain) Name() string { return d.name }

// Period returns the length of a cycle.
func (d *Domain) Period() Femto { return d.period }

// Cycle returns the cycle that is ticking, or the last one that was ticked or caught up with.
func (d *Domain) Cycle() Cycle { return d.cycle }

// After returns the first cycle that starts after the current instant.
func (d *Domain) After() Cycle { return d.behind(d.s.now) }

// behind returns the first cycle that starts after an instant.
func (d *Domain) behind(t Femto) Cycle { return Cycle(t/d.period) + 1 }

// Domain returns the unit's clock.
func (h Handle) Domain() *Domain { return h.d }

// Finish requests a call of the unit's Finish at the end of this instant. The unit must be a Finisher.
func (h Handle) Finish() {
	h.g.late |= h.bit
	h.d.late = true
}

// Wake makes the unit tick at its clock's next edge after this instant.
func (h Handle) Wake() { h.wakeNext() }

func (h *Handle) wakeNext() {
	d := h.d
	if !d.inTick {
		if !d.ends() {
			h.wakeAt(d.After())
			return
		}
		if d.next > d.cycle+1 {
			d.setNext(d.cycle + 1)
			d.s.lower(d)
		}
	}
	h.wakeTicking()
}

// wakeTicking is wakeNext while the domain ticks. It must stay small enough to be inlined.
func (h *Handle) wakeTicking() {
	h.g.awake |= h.bit
	if h.due != nil {
		*h.due = min(*h.due, h.d.cycle+1)
	}
}

// ends reports whether the instant that is ending is a tick of the domain: wake-ups are then handled as during the
// tick.
func (d *Domain) ends() bool { return d.s.ending && Femto(d.cycle)*d.period == d.s.now }

// WakeAt makes the unit tick in cycle c, or before: early wake-ups are harmless. A past cycle means the next one.
func (h Handle) WakeAt(c Cycle) {
	d := h.d
	if d.inTick {
		c = max(c, d.cycle+1)
	} else {
		c = max(c, d.After())
	}
	h.wakeAt(c)
}

// wakeAt is WakeAt for a future cycle. A unit has one timer, which an earlier one replaces.
func (h *Handle) wakeAt(c Cycle) {
	if h.due != nil {
		*h.due = min(*h.due, c)
	}
	if timer := &h.g.wake[h.i&(groupUnits-1)]; c < *timer {
		h.setTimer(timer, c)
	}
}

func (h *Handle) setTimer(timer *Cycle, c Cycle) {
	d, old := h.d, *timer
	*timer = c
	if old != Never {
		d.near.clear(old, h.g.index, h.bit)
	}
	if c-d.cycle < wheelCycles {
		d.near.add(c, h.g.index, h.bit)
	} else {
		d.timer = min(d.timer, c)
	}
	if c < d.next { // while the domain ticks, following computes the next cycle afterwards
		d.setNext(c)
		d.s.lower(d)
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
	now := d.next
	d.cycle = now
	for _, g := range d.groups {
		g.due, g.awake = g.awake, 0
	}
	d.near.ring(now, d.groups)
	if d.timer <= now {
		d.ring()
	}
	d.inTick = true
	for _, g := range d.groups {
		if g.due != 0 {
			g.tick(now)
		}
	}
	d.inTick = false
	d.setNext(d.following())
}

// tick ticks the units that are due; those that want the next cycle stay awake.
func (g *group) tick(now Cycle) {
	var again uint64
	for set := g.due; set != 0; set &= set - 1 {
		if i := bits.TrailingZeros64(set) & (groupUnits - 1); g.units[i].Tick(now) {
			again |= 1 << i
		}
	}
	g.awake |= again
}

// finish calls Finish of the units that have requested it.
func (d *Domain) finish() {
	d.late = false
	for _, g := range d.groups {
		for set := g.late; set != 0; set &= set - 1 {
			g.finishers[bits.TrailingZeros64(set)].Finish(d.cycle)
		}
		g.late = 0
	}
}

// following returns the next cycle in which a unit ticks.
func (d *Domain) following() Cycle {
	for _, g := range d.groups {
		if g.awake != 0 {
			return d.cycle + 1
		}
	}
	next := d.near.next(d.cycle)
	if d.timer < next { // d.timer may belong to a timer that an earlier one has replaced
		d.timer = d.earliest()
	}
	return min(next, d.timer)
}

// earliest returns the first timer that is not on the wheel.
func (d *Domain) earliest() Cycle {
	first := Never
	for _, g := range d.groups {
		for i, c := range g.wake {
			if c < first && !d.near.has(c, g.index, 1<<i) {
				first = c
			}
		}
	}
	return first
}

// ring makes the units due whose timers off the wheel have expired.
func (d *Domain) ring() {
	for _, g := range d.groups {
		for i, c := range g.wake {
			if c <= d.cycle {
				g.wake[i] = Never
				g.due |= 1 << i
			}
		}
	}
	d.timer = d.earliest()
}
