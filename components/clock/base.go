package clock

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"
)

// Base makes a unit a sim.Component: a name, hooks that cost nothing when there
// are none, and ports where something outside may plug in.
type Base struct {
	*sim.ComponentBase
	handle Handle
}

// NewBase makes the base of a unit of that name. Join puts the unit on its clock.
func NewBase(name string) Base { return Base{ComponentBase: sim.NewComponentBase(name)} }

// Join puts the unit, whose base this is, on a clock.
func (b *Base) Join(d *Domain, u Unit) { b.handle = d.Add(u) }

// Handle completes sim.Component. It is never called: the System handles all events.
func (b *Base) Handle(sim.Event) error {
	panic(fmt.Sprintf("BUG: %s: an event of its own", b.Name()))
}

// NotifyRecv wakes the unit for a message at one of its Akita ports.
func (b *Base) NotifyRecv(sim.VTimeInSec, sim.Port) { b.handle.Wake() }

// NotifyPortFree wakes the unit for a free Akita port.
func (b *Base) NotifyPortFree(sim.VTimeInSec, sim.Port) { b.handle.Wake() }

// AcceptHook has h called at the unit's hook positions, by one goroutine.
func (b *Base) AcceptHook(h sim.Hook) {
	b.ComponentBase.AcceptHook(h)
	if b.handle.d != nil {
		b.handle.d.s.Alone()
	}
}

// ClockHandle returns where the unit is on its clock, for links and wakers.
func (b *Base) ClockHandle() Handle { return b.handle }

var _ sim.Component = (*Base)(nil)
