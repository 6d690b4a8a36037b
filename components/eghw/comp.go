package eghw

import (
	"errors"
	"fmt"

	"heddle/components/accel"
	"heddle/components/clock"
	"heddle/components/count"
	"heddle/components/mem"
	"heddle/components/probe"
	"heddle/isa"
	"heddle/isa/emu"
)

// EGHW is the clocked component of one core's unit: it moves messages between the Engine and the core's socket and
// memory.
type EGHW struct {
	clock.Base
	engine *Engine
	socket *accel.Socket
	out    *clock.Link[mem.Request]
	in     *clock.Link[mem.Response]
	watch  probe.Watch // nil: no observer
}

var _ accel.MemoryUser = (*EGHW)(nil)

// New returns the unit of a core of that shape. The spec must be derived.
func New(name string, s Spec, shape Shape) (*EGHW, error) {
	if err := s.Check(shape); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	u := &EGHW{Base: clock.NewBase(name), engine: NewEngine(s, shape)}
	u.engine.self.Unit = name
	return u, nil
}

// Plug connects the unit to the core's socket.
func (u *EGHW) Plug(s *accel.Socket) { u.socket = s }

// ConnectMemory connects the unit to the memory system.
func (u *EGHW) ConnectMemory(out *clock.Link[mem.Request], in *clock.Link[mem.Response]) {
	u.out, u.in = out, in
}

// BypassesL1 returns the spec's bypass_l1.
func (u *EGHW) BypassesL1() bool { return u.engine.spec.BypassL1 }

// Engine returns the unit's logic, for the host.
func (u *EGHW) Engine() *Engine { return u.engine }

// QueueEntries returns the spec's request_queue.
func (u *EGHW) QueueEntries() int { return u.engine.spec.RequestQueue }

// traits of the functions. A warp with an outstanding pop must not issue any other of the unit's instructions: eghw.get
// depends on the pop without naming a register of it.
var traits = []accel.Traits{
	isa.EghwPush:     {},
	isa.EghwPop:      {Answered: true, Exclusive: true},
	isa.EghwGetOther: {Answered: true},
	isa.EghwGetWt:    {Answered: true},
}

// Traits returns the traits of the unit's functions.
func (u *EGHW) Traits() []accel.Traits { return traits }

// Tick runs one cycle.
func (u *EGHW) Tick(now clock.Cycle) bool {
	e := u.engine
	if e.Err() != nil {
		return false
	}
	e.Settle(now)
	arrived := u.in.Ready()
	if arrived {
		e.Arrive(u.in.Pop().Tag)
	}
	head, before := u.socket.Waiting(), e.state
	step := e.Cycle(now, head, e.answers.Len() == 0 || u.socket.Room(), !u.out.Full())
	if u.watch != nil {
		u.tell(before, &step)
	}
	u.act(head, &step)
	if step.WakeAt != 0 {
		u.ClockHandle().WakeAt(step.WakeAt)
	}
	return step.Moved || arrived
}

// act sends the results of the cycle.
func (u *EGHW) act(head *emu.UnitRequest, step *Step) {
	if step.HasRequest {
		u.out.Push(mem.Request{Addr: step.Request.Addr, Tag: step.Request.Tag})
	}
	if step.Took {
		u.socket.Take()
		switch {
		case step.Err != nil:
			u.socket.Fail(head.Tag, step.Err)
		case head.Fn == isa.EghwPush:
			u.socket.Done(head.Tag)
		}
	}
	if err := u.engine.Err(); err != nil {
		u.socket.Abort(err)
	}
	if step.Answer != nil {
		u.socket.Reply(step.Answer.Tag)
	}
}

// Sent returns the number of requests sent to memory.
func (u *EGHW) Sent() uint64 { return u.engine.linesRead() - uint64(u.engine.outbox.Len()) }

// Pending returns the number of memory accesses in flight.
func (u *EGHW) Pending() int {
	if u.engine.Err() != nil {
		return 0
	}
	return u.engine.outstanding()
}

// Stats returns the counts up to cycle now.
func (u *EGHW) Stats(now clock.Cycle) Stats {
	u.engine.Settle(now)
	s := u.engine.Stats
	count.In(&s).Settle(now)
	s.Queue, s.QueueFull = u.socket.Queue(now)
	return s
}

// Statistics returns Stats, for code that is generic over units.
func (u *EGHW) Statistics(now clock.Cycle) any {
	s := u.Stats(now)
	return &s
}

// CheckInvariants returns an error if the unit's counts up to cycle now contradict each other.
func (u *EGHW) CheckInvariants(now clock.Cycle) error {
	s := u.Stats(now)
	if n := sum(s.Queue[:]); n != s.Cycles {
		return fmt.Errorf("%s: invariant violated: cycles by length of the queue = cycles: %d, %d", u.Name(), n,
			s.Cycles)
	}
	if sent, _ := u.out.Traffic(); sent != u.Sent() {
		return fmt.Errorf("%s: invariant violated: requests on the port = lines asked for - waiting: %d, %d", u.Name(),
			sent, u.Sent())
	}
	if err := errors.Join(u.engine.CheckInvariants(),
		u.socket.CheckInvariants(s.PopsFull+s.PopsPartial+s.PopsEmpty+s.Gets)); err != nil {
		return fmt.Errorf("%s: %w", u.Name(), err)
	}
	return nil
}

// Waits describes the unit's contents, for reports of stuck machines.
func (u *EGHW) Waits() string {
	e := u.engine
	if e.pops.Len() == 0 && u.socket.Idle() && e.exhausted() && e.buffer.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %d pops wait, the oldest: %s; %d edges are ready and %d on their way; %d vertices wait, %d "+
		"are taken up; %d reads under way",
		u.Name(), e.pops.Len(), stateDocs[e.state].name, e.buffer.Len(), e.reserved, e.vertices.Len(), e.ahead.Len(),
		e.outstanding())
}

// Architecture returns the unit as programs see it.
func (u *EGHW) Architecture() emu.Unit { return architecture{u.engine} }

// architecture implements emu.Unit for the timed unit, except for its instructions.
type architecture struct{ *Engine }

// Exec implements emu.Unit. It is never called: requests come through the socket.
func (architecture) Exec(*emu.UnitRequest) error {
	panic("BUG: eghw: an instruction beside the socket")
}
