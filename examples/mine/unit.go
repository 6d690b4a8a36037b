package main

import (
	"heddle"
	"heddle/components/accel"
	"heddle/components/clock"
	"heddle/isa"
	"heddle/isa/emu"
)

// ticket is a graph unit that hands out numbers, so that a lane which is done takes the next vertex, whoever else is
// not.
var ticket = heddle.Unit{
	Instructions: ticketInstructions,
	Key:          "ticket", Part: "Ticket", Title: "ticket dispenser",
	Doc:  "A dispenser of numbers in every core; absent: none.",
	New:  func() accel.Spec { return new(TicketSpec) },
	Exec: "give every core a ticket dispenser",
}

const ticketBit = 1 << 16 // of the CSR units

var ticketInstructions = isa.UnitExtension("ticket", "A dispenser of numbers.", ticketBit,
	isa.UnitInstruction{
		Name: "ticket.next", Fn: 0, Opcode: isa.Custom3, Operands: "rd",
		Doc: "rd = the core's next number: its own, and then every core's-many-th",
	},
)

// dynamic has each lane take a vertex, walk its row, and take the next.
var dynamic = &heddle.Schedule{
	Name: "ticket",
	Doc:  "each thread walks the row of the next vertex that no thread of its core has taken",
	Rows: heddle.RowsOwned, // one thread walks a row
	EachEdge: func(s *heddle.Site, v *heddle.Visitor) {
		places := s.Set.Places()
		s.Loop(func(l *heddle.Loop) {
			place := s.Unit("ticket.next")
			l.BreakIf(s.Ge(place, places))
			row := s.Set.Vertex(place)
			vertex := s.View.Vertex(row)
			s.Keep(v, vertex, func() { s.Row(v, row, vertex) })
		})
	},
}

// TicketSpec is the section machine.core.ticket.
type TicketSpec struct {
	Delay int `key:"delay" default:"2" min:"1" max:"1000" unit:"cycles" doc:"From a request's being the first to its answer."`
}

// FitsCore accepts every core.
func (s *TicketSpec) FitsCore(accel.Shape) (key, msg string, ok bool) { return "", "", true }

// NewUnit makes the unit of a core, with time.
func (s *TicketSpec) NewUnit(name string, at accel.Shape) (accel.Unit, error) {
	return &ticketUnit{Base: clock.NewBase(name), logic: &tickets{core: at.Core, cores: at.Cores},
		delay: clock.Cycle(s.Delay), room: at.Warps}, nil
}

// NewFunctional makes the unit of a core without time.
func (s *TicketSpec) NewFunctional(at accel.Shape) (emu.Unit, error) {
	return &tickets{core: at.Core, cores: at.Cores}, nil
}

// tickets is the logic of the unit, timed and functional.
type tickets struct {
	core, cores int
	taken       int // in this launch
}

func (*tickets) Name() string                       { return "ticket" }
func (*tickets) Presence() uint32                   { return ticketBit }
func (*tickets) CSR(uint16) (value uint32, ok bool) { return 0, false }
func (t *tickets) Launch()                          { t.taken = 0 }

// Exec answers a request: each active lane has a number of its own.
func (t *tickets) Exec(r *emu.UnitRequest) error {
	for lane := range r.Out {
		if r.Mask>>lane&1 != 0 {
			r.Out[lane] = uint32(t.core + t.cores*t.taken)
			t.taken++
		}
	}
	return nil
}

// ticketStats are its counters.
type ticketStats struct {
	Requests uint64 `stat:"requests" unit:"requests" doc:"Requests answered, each of a warp."`
}

// ticketUnit is the unit of a core on its clock. What it holds is in its fields, which checkpoints keep.
type ticketUnit struct {
	clock.Base
	ticketStats
	logic  *tickets
	socket *accel.Socket
	delay  clock.Cycle
	room   int
	due    clock.Cycle // when the first request is answered; 0: there is none
}

func (u *ticketUnit) Name() string               { return u.Base.Name() }
func (u *ticketUnit) Architecture() emu.Unit     { return u.logic }
func (u *ticketUnit) Traits() []accel.Traits     { return []accel.Traits{{Answered: true}} }
func (u *ticketUnit) QueueEntries() int          { return u.room }
func (u *ticketUnit) Plug(s *accel.Socket)       { u.socket = s }
func (u *ticketUnit) Statistics(clock.Cycle) any { return &u.ticketStats }

// Tick does one cycle. It reports whether it wants the next one; a request wakes it, too.
func (u *ticketUnit) Tick(now clock.Cycle) bool {
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
	if err := u.logic.Exec(r); err != nil {
		panic(err) // it has none
	}
	u.socket.Reply(r.Tag)
	u.Requests++
	u.due = 0
	return true
}

// CheckInvariants checks that each request was answered.
func (u *ticketUnit) CheckInvariants(clock.Cycle) error { return u.socket.CheckInvariants(u.Requests) }

// Waits describes its requests, for reports of machines that are stuck.
func (u *ticketUnit) Waits() string {
	if u.due == 0 {
		return ""
	}
	return u.Name() + ": a request waits for its answer"
}
