// Package accel is the socket between a core and its graph unit: requests with their operands, answers, back-pressure,
// and the admission of requests at issue.
//
// It knows neither units nor cores: a unit describes the treatment of its instructions in Traits, and the core asks the
// socket.
package accel

import (
	"fmt"

	"heddle/components/clock"
	"heddle/components/mem"
	"heddle/components/probe"
	"heddle/isa"
	"heddle/isa/emu"
)

// Traits describe how a core treats a function of a unit.
type Traits struct {
	// Answered functions have an answer, which writes rd. The others are done when the unit's queue has taken them.
	Answered bool
	// Exclusive functions are answered before their warp issues another request. The answer may depend on other warps,
	// also of other cores: until then the warp fetches only as far as its instruction buffer has room.
	Exclusive bool
	// SetsMask functions may change the warp's thread mask with their answer: the warp fetches nothing behind them
	// until then.
	SetsMask bool
}

// Unit is a graph unit as plugged into a core's socket.
type Unit interface {
	clock.Unit
	// Name returns the part's name in its machine. A clock.Base provides it, and the rest of sim.Component.
	Name() string
	// Architecture returns the unit's state that programs see besides its instructions.
	Architecture() emu.Unit
	// Join adds the unit to a clock; ClockHandle returns its handle there.
	Join(d *clock.Domain, u clock.Unit)
	ClockHandle() clock.Handle
	// Traits returns the traits of the unit's functions, by number.
	Traits() []Traits
	// QueueEntries returns the number of requests that may wait for the unit.
	QueueEntries() int
	// Plug connects the unit to its socket.
	Plug(s *Socket)
	// Statistics returns a pointer to the counts up to a cycle, a structure for package stats. CheckInvariants checks
	// the counts against each other.
	Statistics(now clock.Cycle) any
	CheckInvariants(now clock.Cycle) error
	// Waits describes the unit's contents, for reports of stuck machines; empty: nothing.
	Waits() string
}

// MemoryUser is a unit that accesses memory through a port of its own.
type MemoryUser interface {
	Unit
	ConnectMemory(out *clock.Link[mem.Request], in *clock.Link[mem.Response])
	// BypassesL1 reports whether the port bypasses the L1D.
	BypassesL1() bool
	// Sent returns the number of requests that have left; Pending, the number of outstanding memory accesses.
	Sent() uint64
	Pending() int
}

// Fault is an error that a unit has found in its set-up or data, not in an instruction.
type Fault struct{ Err error }

func (f *Fault) Error() string { return f.Err.Error() }

// Unwrap returns the underlying error.
func (f *Fault) Unwrap() error { return f.Err }

// wire is the latency of each wire in cycles: a register to the unit and one back.
const wire = 1

// answerEntries is a register and a skid buffer.
const answerEntries = 2

// Tag identifies a call in flight.
type Tag = int

// call is a request from the moment its operands are read.
type call struct {
	emu.UnitCall
	sent clock.Cycle
}

// Socket connects one core and one unit.
type Socket struct {
	core      clock.Handle
	traits    []Traits
	requests  *clock.Link[Tag] // the unit's queue
	answers   *clock.Link[Tag]
	calls     []*call
	free      []Tag
	exclusive uint64      // warps with an exclusive request in flight
	doneAt    clock.Cycle // last end of a call without an answer
	err       error       // error passed to Fail or Abort
	failedAt  clock.Cycle
	queue     queue
	watch     probe.Watch // nil: no observer
}

// Plug connects a unit, which must have joined a clock, to the core.
func Plug(name string, core clock.Handle, u Unit) *Socket {
	s := &Socket{
		core: core, traits: u.Traits(),
		requests: clock.NewLink[Tag](name+".requests", u.QueueEntries(), wire, core, u.ClockHandle()),
		answers:  clock.NewLink[Tag](name+".answers", answerEntries, wire, u.ClockHandle(), core),
	}
	u.Plug(s)
	return s
}

// The core's side.

// CanIssue reports whether the warp may issue the instruction now.
func (s *Socket) CanIssue(warp int, op *emu.Op) bool {
	return op.LatencyClass() != isa.ClassUnit || !s.Awaits(warp)
}

// Issue records that the warp has issued the instruction.
func (s *Socket) Issue(warp int, op *emu.Op) {
	if op.LatencyClass() == isa.ClassUnit && s.traits[op.UnitFn()].Exclusive {
		s.exclusive |= 1 << warp
	}
}

// Cancel reverts Issue.
func (s *Socket) Cancel(warp int, op *emu.Op) {
	if s.traits[op.UnitFn()].Exclusive {
		s.exclusive &^= 1 << warp
	}
}

// Awaits reports whether the warp has an exclusive request in flight.
func (s *Socket) Awaits(warp int) bool { return s.exclusive>>warp&1 != 0 }

// Traits returns the traits of a unit instruction.
func (s *Socket) Traits(op *emu.Op) Traits { return s.traits[op.UnitFn()] }

// Begin returns a free call, for the operands of an instruction. The number of calls grows to the largest number in
// flight at once, which the queues bound.
func (s *Socket) Begin() *emu.UnitCall {
	n := len(s.free) - 1
	if n < 0 {
		s.calls = append(s.calls, &call{})
		c := &s.calls[len(s.calls)-1].UnitCall
		c.Tag = len(s.calls) - 1
		return c
	}
	t := s.free[n]
	s.free = s.free[:n]
	return &s.calls[t].UnitCall
}

// Full reports whether the unit's queue takes no request in this cycle. The core is then woken when it does.
func (s *Socket) Full() bool {
	full := s.requests.Full()
	if full {
		s.queue.refuse(s.now())
	}
	return full
}

// Send puts a call into the unit's queue, which must not be full.
func (s *Socket) Send(t Tag) {
	s.calls[t].sent = s.now()
	s.queue.enter(s.now())
	s.requests.Push(t)
}

func (s *Socket) now() clock.Cycle { return s.core.Domain().Cycle() }

// Answered reports whether there is an answer.
func (s *Socket) Answered() bool { return s.answers.Ready() }

// Front returns the next answer's call.
func (s *Socket) Front() *emu.UnitCall { return &s.calls[*s.answers.Front()].UnitCall }

// Receive removes the next answer, which the warp has been given, and ends its call.
func (s *Socket) Receive() {
	t := s.answers.Pop()
	if c := s.calls[t]; s.traits[c.Fn].Exclusive { // and not the answer to an earlier one
		s.exclusive &^= 1 << c.Warp
	}
	s.free = append(s.free, t)
}

// Err returns the program error that the unit has found, from the cycle after on.
func (s *Socket) Err() error {
	if s.now() > s.failedAt {
		return s.err
	}
	return nil
}

// Idle reports whether no call is in flight. The unit's changes are visible from the cycle after on.
func (s *Socket) Idle() bool {
	return len(s.free) == len(s.calls) && (s.now() > s.doneAt || s.doneAt == 0)
}

// CheckInvariants returns an error if a socket at rest has lost a message, or the number of answers differs from the
// unit's.
func (s *Socket) CheckInvariants(answers uint64) error {
	in, taken := s.requests.Traffic()
	back, received := s.answers.Traffic()
	if in != taken || back != received || back != answers {
		return fmt.Errorf(
			"invariant violated: %d requests of %d and %d answers of %d came out; the unit says that it has answered %d",
			taken, in, received, back, answers)
	}
	return nil
}

// The unit's side.

// Waiting returns the oldest request, or nil. The unit is woken when there is one.
func (s *Socket) Waiting() *emu.UnitRequest {
	if !s.requests.Ready() {
		return nil
	}
	return &s.calls[*s.requests.Front()].UnitRequest
}

// Take removes the oldest request from the queue.
func (s *Socket) Take() {
	if s.watch != nil {
		s.tell("take", *s.requests.Front())
	}
	s.queue.leave(s.now())
	s.requests.Pop()
}

// Done ends a call without an answer.
func (s *Socket) Done(t Tag) {
	s.free = append(s.free, t)
	s.doneAt = s.now()
	s.core.Wake() // it may wait for Idle
}

// Fail ends the program with an error in a call.
func (s *Socket) Fail(t Tag, err error) {
	if s.err == nil {
		s.err, s.failedAt = s.calls[t].Trap(err), s.now()
	}
	s.core.Wake()
}

// Abort ends the program with an error that belongs to no instruction.
func (s *Socket) Abort(err error) {
	if s.err == nil {
		s.err, s.failedAt = &Fault{err}, s.now()
	}
	s.core.Wake()
}

// Room reports whether an answer can leave in this cycle. If not, the unit is woken when one can.
func (s *Socket) Room() bool { return !s.answers.Full() }

// Reply sends the answer stored in the call.
func (s *Socket) Reply(t Tag) {
	if s.watch != nil {
		s.tell("answer", t)
	}
	s.answers.Push(t)
}

// Sent returns the cycle in which a call entered the queue.
func (s *Socket) Sent(t Tag) clock.Cycle { return s.calls[t].sent }

// Queue returns the cycles up to now by length of the queue, and those in which the core held a request that the queue
// did not take.
func (s *Socket) Queue(now clock.Cycle) (lengths Lengths, refused uint64) {
	s.queue.settle(now)
	return s.queue.lengths, s.queue.held.Count()
}

// Buffers calls see with the name, occupancy and capacity of the socket's links. It must be called between two
// instants.
func (s *Socket) Buffers(see func(name string, n, capacity int)) {
	see(s.requests.Name(), s.requests.Len(), s.requests.Capacity())
	see(s.answers.Name(), s.answers.Len(), s.answers.Capacity())
}
