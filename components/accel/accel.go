// Package accel is the socket between a core and its graph unit: requests with
// their operands, answers, back-pressure, and which requests a warp may issue.
//
// It knows no unit and no core: a unit says in its Traits how its instructions are to
// be treated, and the core asks the socket.
package accel

import (
	"fmt"

	"heddle/components/clock"
	"heddle/components/mem"
	"heddle/components/probe"
	"heddle/isa"
	"heddle/isa/emu"
)

// Traits say how a core treats a function of a unit.
type Traits struct {
	// Answered functions have an answer, which writes rd. The others are done when
	// the unit's queue has taken them.
	Answered bool
	// Exclusive functions are answered before their warp issues another request. Their answers may wait for what other
	// warps do, of other cores too: until then the warp fetches only what its instruction buffer has room for.
	Exclusive bool
	// SetsMask functions may change the warp's thread mask with their answer: the
	// warp fetches nothing behind them until then.
	SetsMask bool
}

// Unit is a graph unit as a machine plugs it into a core's socket.
type Unit interface {
	clock.Unit
	// Name is the part's in its machine; a clock.Base has it, and what else a component needs.
	Name() string
	// Architecture is its state that programs see, besides its instructions.
	Architecture() emu.Unit
	// Join puts the unit on a clock, and ClockHandle says where it is there.
	Join(d *clock.Domain, u clock.Unit)
	ClockHandle() clock.Handle
	// Traits of its functions, by number.
	Traits() []Traits
	// QueueEntries is how many requests may wait for it.
	QueueEntries() int
	// Plug gives it its end of the socket.
	Plug(s *Socket)
	// Statistics returns a pointer to what it has counted up to a cycle: a structure
	// for package stats. CheckInvariants checks the counts against each other.
	Statistics(now clock.Cycle) any
	CheckInvariants(now clock.Cycle) error
	// Waits describes what it holds, for reports of machines that are stuck; empty: nothing.
	Waits() string
}

// MemoryUser is a unit that reads and writes memory, through a port of its own.
type MemoryUser interface {
	Unit
	ConnectMemory(out *clock.Link[mem.Request], in *clock.Link[mem.Response])
	// BypassesL1 reports whether the port leads past the L1D.
	BypassesL1() bool
	// Sent is how many requests have left. Pending is the number of memory accesses that are outstanding.
	Sent() uint64
	Pending() int
}

// Fault is an error that a unit has found in what it works on, not in an instruction.
type Fault struct{ Err error }

func (f *Fault) Error() string { return f.Err.Error() }

// Unwrap returns what is wrong.
func (f *Fault) Unwrap() error { return f.Err }

// Cycles of the wires: a register to the unit and one back, each seen in the next cycle.
const wire = 1

// answerEntries are a register and a skid.
const answerEntries = 2

// Tag names a call under way.
type Tag = int

// call is a request from the moment its operands are read.
type call struct {
	emu.UnitCall
	sent clock.Cycle
}

// Socket joins one core and one unit.
type Socket struct {
	core      clock.Handle
	traits    []Traits
	requests  *clock.Link[Tag] // the unit's queue
	answers   *clock.Link[Tag]
	calls     []*call
	free      []Tag
	exclusive uint64      // warps with an exclusive request under way
	doneAt    clock.Cycle // the last end of a call without answer
	err       error       // what Fail said, in cycle failedAt
	failedAt  clock.Cycle
	queue     queue
	watch     probe.Watch // nil: nobody is told
}

// Plug joins a unit, which must be on its clock, to the core there.
func Plug(name string, core clock.Handle, u Unit) *Socket {
	s := &Socket{
		core: core, traits: u.Traits(),
		requests: clock.NewLink[Tag](name+".requests", u.QueueEntries(), wire, core, u.ClockHandle()),
		answers:  clock.NewLink[Tag](name+".answers", answerEntries, wire, u.ClockHandle(), core),
	}
	u.Plug(s)
	return s
}

// What follows is the core's end.

// CanIssue reports whether the warp may issue the instruction now.
func (s *Socket) CanIssue(warp int, op *emu.Op) bool {
	return op.LatencyClass() != isa.ClassUnit || !s.Awaits(warp)
}

// Issue books that the warp has issued it.
func (s *Socket) Issue(warp int, op *emu.Op) {
	if op.LatencyClass() == isa.ClassUnit && s.traits[op.UnitFn()].Exclusive {
		s.exclusive |= 1 << warp
	}
}

// Cancel takes back what Issue has booked.
func (s *Socket) Cancel(warp int, op *emu.Op) {
	if s.traits[op.UnitFn()].Exclusive {
		s.exclusive &^= 1 << warp
	}
}

// Awaits reports whether the warp has an exclusive request under way.
func (s *Socket) Awaits(warp int) bool { return s.exclusive>>warp&1 != 0 }

// Traits of a unit instruction.
func (s *Socket) Traits(op *emu.Op) Traits { return s.traits[op.UnitFn()] }

// Begin returns a free call, for the operands of an instruction. There are as many
// as have ever been under way at once, which the queues on the way bound.
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

// Full reports whether the unit's queue takes no request in this cycle. The core is
// woken when it does.
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

// Receive takes the next answer, which the warp has been given, and ends its call.
func (s *Socket) Receive() {
	t := s.answers.Pop()
	if c := s.calls[t]; s.traits[c.Fn].Exclusive { // and not an earlier one's
		s.exclusive &^= 1 << c.Warp
	}
	s.free = append(s.free, t)
}

// Err returns the program error that the unit has found; it is seen from the
// cycle after.
func (s *Socket) Err() error {
	if s.now() > s.failedAt {
		return s.err
	}
	return nil
}

// Idle reports whether no call is under way. The unit's part in it is seen from the
// cycle after.
func (s *Socket) Idle() bool {
	return len(s.free) == len(s.calls) && (s.now() > s.doneAt || s.doneAt == 0)
}

// CheckInvariants checks, of a socket at rest, that what went into its links came out, and that there
// were as many answers as the unit says.
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

// What follows is the unit's end.

// Waiting returns the request that has waited longest, or nil. The unit is woken
// when there is one.
func (s *Socket) Waiting() *emu.UnitRequest {
	if !s.requests.Ready() {
		return nil
	}
	return &s.calls[*s.requests.Front()].UnitRequest
}

// Take takes that request out of the queue.
func (s *Socket) Take() {
	if s.watch != nil {
		s.tell("take", *s.requests.Front())
	}
	s.queue.leave(s.now())
	s.requests.Pop()
}

// Done ends a call that has no answer.
func (s *Socket) Done(t Tag) {
	s.free = append(s.free, t)
	s.doneAt = s.now()
	s.core.Wake() // it may have waited for just that
}

// Fail ends the program with an error of a call.
func (s *Socket) Fail(t Tag, err error) {
	if s.err == nil {
		s.err, s.failedAt = s.calls[t].Trap(err), s.now()
	}
	s.core.Wake()
}

// Abort ends the program with an error that is no instruction's.
func (s *Socket) Abort(err error) {
	if s.err == nil {
		s.err, s.failedAt = &Fault{err}, s.now()
	}
	s.core.Wake()
}

// Room reports whether an answer can leave in this cycle. The unit is woken when one can.
func (s *Socket) Room() bool { return !s.answers.Full() }

// Reply sends the answer that is in the call.
func (s *Socket) Reply(t Tag) {
	if s.watch != nil {
		s.tell("answer", t)
	}
	s.answers.Push(t)
}

// Sent is the cycle in which a call entered the queue.
func (s *Socket) Sent(t Tag) clock.Cycle { return s.calls[t].sent }

// Queue returns the cycles up to now by length of the queue, and those in which
// the core held a request that the queue did not take.
func (s *Socket) Queue(now clock.Cycle) (lengths Lengths, refused uint64) {
	s.queue.settle(now)
	return s.queue.lengths, s.queue.held.Count()
}

// Buffers shows how full the socket's links are, by name, to who looks at a machine between two instants.
func (s *Socket) Buffers(see func(name string, n, capacity int)) {
	see(s.requests.Name(), s.requests.Len(), s.requests.Capacity())
	see(s.answers.Name(), s.answers.Len(), s.answers.Capacity())
}
