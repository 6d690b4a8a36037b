package weaver

import (
	"errors"
	"fmt"

	"heddle/components/accel"
	"heddle/components/clock"
	"heddle/components/count"
	"heddle/components/probe"
	"heddle/isa"
	"heddle/isa/emu"
)

// Weaver is the clocked component of one core's unit: it moves requests and answers between the core's socket and the
// FSM.
type Weaver struct {
	clock.Base
	identity identity
	fsm      *FSM
	socket   *accel.Socket
	watch    probe.Watch // nil: no observer
}

var _ accel.Unit = (*Weaver)(nil)

// New returns the Weaver of a core of that shape. The spec must be derived.
func New(name string, s Spec, warps, threads int) (*Weaver, error) {
	if err := s.Check(warps, threads); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if s.TableLatency < 1 || s.STRow < 1 || s.RequestQueue < 1 || s.RequestQueue > accel.MaxQueue {
		return nil, fmt.Errorf("%s: table_latency %d, st_row %d, request_queue %d: expected at least 1 (Spec.Derived), and "+
			"a queue of at most %d",
			name, s.TableLatency, s.STRow, s.RequestQueue, accel.MaxQueue)
	}
	w := &Weaver{Base: clock.NewBase(name), identity: s.identity(warps, threads), fsm: NewFSM(s, warps, threads)}
	w.fsm.self.Unit = name
	c, err := s.circuit(name, warps, threads)
	if err != nil {
		return nil, err
	}
	if c != nil {
		w.fsm.circuit = &follower{circuit: c}
	}
	return w, nil
}

// Close ends the unit's circuit, if it has one.
func (w *Weaver) Close() error {
	if w.fsm.circuit == nil {
		return nil
	}
	return w.fsm.circuit.circuit.Close()
}

// Plug connects the unit to the core's socket.
func (w *Weaver) Plug(s *accel.Socket) { w.socket = s }

// QueueEntries returns the spec's request_queue.
func (w *Weaver) QueueEntries() int { return w.fsm.spec.RequestQueue }

// Traits returns the traits of the unit's functions. A warp with an outstanding weaver.dec.id must not issue any other
// of its instructions: weaver.dec.loc and weaver.skip depend on the answer without naming a register of it.
func (w *Weaver) Traits() []accel.Traits {
	return []accel.Traits{
		isa.WeaverReg:    {},
		isa.WeaverSkip:   {},
		isa.WeaverDecID:  {Answered: true, Exclusive: true, SetsMask: w.fsm.spec.MaskByUnit},
		isa.WeaverDecLoc: {Answered: true},
	}
}

// Tick runs one cycle.
func (w *Weaver) Tick(now clock.Cycle) bool {
	head, before := w.socket.Waiting(), w.fsm.at
	step := w.fsm.Cycle(now, head, w.socket.Room())
	if w.watch != nil && w.fsm.at != before {
		w.watch("fsm", -1, "%s -> %s", before, w.fsm.at)
	}
	if step.Fault != nil {
		w.socket.Abort(step.Fault)
		return false
	}
	if step.Took {
		w.take(head, step.Err)
	}
	if r := step.Answer; r != nil {
		if r.Fn == isa.WeaverDecID {
			w.fsm.DecodeWait += now - w.socket.Sent(r.Tag)
		}
		w.socket.Reply(r.Tag)
	}
	return step.Took || !w.fsm.Idle() || w.socket.Waiting() != nil
}

// take removes the request from the queue. A request without an answer is done.
func (w *Weaver) take(r *emu.UnitRequest, err error) {
	w.socket.Take()
	switch {
	case err != nil:
		w.socket.Fail(r.Tag, err)
	case r.Fn == isa.WeaverReg || r.Fn == isa.WeaverSkip:
		w.socket.Done(r.Tag)
	}
}

// Stats returns the counts up to cycle now.
func (w *Weaver) Stats(now clock.Cycle) Stats {
	w.fsm.Settle(now)
	s := w.fsm.Stats
	count.In(&s).Settle(now)
	s.Queue, s.QueueFull = w.socket.Queue(now)
	return s
}

// Statistics returns Stats, for code that is generic over units.
func (w *Weaver) Statistics(now clock.Cycle) any {
	s := w.Stats(now)
	return &s
}

// CheckInvariants returns an error if the counts of a unit at rest, up to cycle now, contradict each other.
func (w *Weaver) CheckInvariants(now clock.Cycle) error {
	s := w.Stats(now)
	if n := sum(s.Queue[:]); n != s.Cycles {
		return fmt.Errorf("%s: %d cycles, but %d by length of the queue", w.Name(), s.Cycles, n)
	}
	err := errors.Join(w.fsm.CheckInvariants(), w.socket.CheckInvariants(s.Decodes+s.LocReads))
	if err != nil {
		return fmt.Errorf("%s: %w", w.Name(), err)
	}
	return nil
}

// Waits describes the unit's contents, for reports of stuck machines.
func (w *Weaver) Waits() string {
	if w.socket.Idle() {
		return ""
	}
	return fmt.Sprintf("%s: in state %s, %d entries left to decode", w.Name(), w.fsm.at, w.fsm.left())
}

// StateName returns the name of the FSM's state.
func (w *Weaver) StateName() string { return w.fsm.at.String() }

// Architecture returns the unit as programs see it.
func (w *Weaver) Architecture() emu.Unit { return architecture{w.identity, w.fsm} }

// architecture implements emu.Unit for the timed unit, except for its instructions.
type architecture struct {
	identity
	*FSM
}

// Exec implements emu.Unit. It is never called: requests come through the socket.
func (architecture) Exec(*emu.UnitRequest) error {
	panic("BUG: weaver: an instruction beside the socket")
}

// identity holds the values by which programs identify a Weaver.
type identity struct{ capacity uint32 }

// Name returns the name of the isa extension that the unit executes.
func (identity) Name() string { return "weaver" }

// Presence returns the unit's bit in the units CSR.
func (identity) Presence() uint32 { return isa.HasWeaver }

// CSR returns the value of weaver_capacity.
func (i identity) CSR(num uint16) (uint32, bool) { return i.capacity, num == isa.CSRWeaverCapacity }
