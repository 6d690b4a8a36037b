package clock

import (
	"fmt"

	"github.com/sarchlab/akita/v3/sim"
)

// Base makes a unit a sim.Component: it has a name, hooks that cost nothing while there are none, and ports for outside
// components.
type Base struct {
	*sim.ComponentBase
	handle Handle
}

// NewBase returns the base of a unit of that name. Join puts the unit on its clock.
func NewBase(name string) Base { return Base{ComponentBase: sim.NewComponentBase(name)} }

// Join adds the unit that embeds this base to a clock domain.
func (b *Base) Join(d *Domain, u Unit) { b.handle = d.Add(u) }

// Handle implements sim.Component. It is never called: the System handles all events.
func (b *Base) Handle(sim.Event) error {
	panic(fmt.Sprintf("BUG: %s: an event of its own", b.Name()))
}

// NotifyRecv wakes the unit for a message at one of its Akita ports.
func (b *Base) NotifyRecv(sim.VTimeInSec, sim.Port) { b.handle.Wake() }

// NotifyPortFree wakes the unit for a free Akita port.
func (b *Base) NotifyPortFree(sim.VTimeInSec, sim.Port) { b.handle.Wake() }

// AcceptHook registers a hook at the unit's hook positions. All units then run on one goroutine.
func (b *Base) AcceptHook(h sim.Hook) {
	b.ComponentBase.AcceptHook(h)
	if b.handle.d != nil {
		b.handle.d.s.Alone()
	}
}

// ClockHandle returns the unit's handle on its clock, for links and wakers.
func (b *Base) ClockHandle() Handle { return b.handle }

var _ sim.Component = (*Base)(nil)
