// Package nothing is a graph unit that does nothing: it answers a request with the request. It shows what a unit
// needs, and the recipe of CONTRIBUTING.md plugs it in, and a test follows it.
package nothing

import (
	"heddle/components/accel"
	"heddle/components/clock"
	"heddle/isa"
	"heddle/isa/emu"
)

// Presence is the unit's bit of the CSR units.
const Presence = 1 << 16

// Echo is its only function.
const Echo uint8 = 0

// Instructions are the unit's own.
var Instructions = isa.UnitExtension("nothing", "A unit that does nothing.", Presence,
	isa.UnitInstruction{Name: "nothing.echo", Fn: Echo, Opcode: isa.Custom3, Operands: "rd, rs1",
		Doc: "rd = rs1, after a while"},
)

// Spec holds the user-configurable parameters of the unit.
type Spec struct {
	Delay int `key:"delay" default:"1" min:"1" max:"1000" unit:"cycles" doc:"From a request's being the first to its answer (ours)."`
}

// FitsCore accepts every core.
func (s *Spec) FitsCore(accel.Shape) (key, msg string, ok bool) { return "", "", true }

// NewUnit makes the unit of a core.
func (s *Spec) NewUnit(name string, at accel.Shape) (accel.Unit, error) {
	return &Unit{Base: clock.NewBase(name), delay: clock.Cycle(s.Delay), entries: at.Warps}, nil
}

// NewFunctional makes the functional model of a unit.
func (s *Spec) NewFunctional(accel.Shape) (emu.Unit, error) { return Functional{}, nil }

// Functional is the functional model, and the unit as programs see it in timed execution.
type Functional struct{}

// Name is that of its instructions.
func (Functional) Name() string { return Instructions.Name }

// Launch prepares a kernel.
func (Functional) Launch() {}

// Presence is its bit of the CSR units.
func (Functional) Presence() uint32 { return Presence }

// CSR: it has none.
func (Functional) CSR(uint16) (v uint32, ok bool) { return 0, false }

// Exec answers a request.
func (Functional) Exec(r *emu.UnitRequest) error {
	copy(r.Out, r.A)
	return nil
}

// Stats are the unit's counters.
type Stats struct {
	Echoes uint64 `stat:"echoes" unit:"requests" doc:"Requests answered."`
}

// Unit is the unit of one core, on its clock.
type Unit struct {
	clock.Base
	Functional
	Stats
	socket  *accel.Socket
	delay   clock.Cycle
	entries int
	due     clock.Cycle // when the first request is answered; 0: there is none
}

// Name is the part's in its machine.
func (u *Unit) Name() string { return u.Base.Name() }

// Architecture is the state that programs see.
func (u *Unit) Architecture() emu.Unit { return u.Functional }

// Traits of its functions, by number.
func (u *Unit) Traits() []accel.Traits { return []accel.Traits{Echo: {Answered: true}} }

// QueueEntries is how many requests may wait.
func (u *Unit) QueueEntries() int { return u.entries }

// Plug gives the unit its end of the socket.
func (u *Unit) Plug(s *accel.Socket) { u.socket = s }

// Tick does one cycle.
func (u *Unit) Tick(now clock.Cycle) bool {
	r := u.socket.Waiting()
	switch {
	case r == nil:
		return false
	case u.due == 0:
		u.due = now + u.delay
	}
	if now < u.due {
		u.ClockHandle().WakeAt(u.due)
		return false
	}
	if !u.socket.Room() {
		return false
	}
	u.socket.Take()
	copy(r.Out, r.A)
	u.socket.Reply(r.Tag)
	u.Echoes++
	u.due = 0
	return true
}

// Statistics returns the unit's counts.
func (u *Unit) Statistics(clock.Cycle) any { return &u.Stats }

// CheckInvariants checks that every request was answered.
func (u *Unit) CheckInvariants(clock.Cycle) error { return u.socket.CheckInvariants(u.Echoes) }

// Waits describes the unit's contents, for reports of stuck machines.
func (u *Unit) Waits() string {
	if u.due == 0 {
		return ""
	}
	return u.Name() + ": a request waits for its answer"
}
