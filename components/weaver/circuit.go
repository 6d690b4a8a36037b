package weaver

import (
	"errors"
	"fmt"
	"math/bits"

	"heddle/isa"
	"heddle/isa/emu"
)

// Model selects the simulation of a Weaver's logic.
type Model string

// Models of a Weaver. Their cycles and statistics are the same.
const (
	ModelGo  Model = "go"  // FSM
	ModelRTL Model = "rtl" // a Circuit
)

// Circuit simulates the logic of a Weaver between its queues outside of this package: the SystemVerilog of rtl/weaver,
// by rtl/verilated.
type Circuit interface {
	// Launch begins a kernel, and resets the state of the one before.
	Launch() error
	// Cycle plays a cycle.
	Cycle(in Inputs, out *Outputs) error
	// Close ends the simulation until the next Launch or Cycle, which begins at reset.
	Close() error
}

// Inputs are the inputs of a Circuit in a cycle.
type Inputs struct {
	Idle uint64           // cycles since the one before, without a request and at rest
	Head *emu.UnitRequest // the oldest request; nil: none
	New  bool             // it was not there in the cycle before
	Room bool             // an answer may leave
}

// Outputs are the outputs of a Circuit in a cycle, and its state after it.
type Outputs struct {
	Took    bool // the request
	Mistake int  // which is a program error: 1 to 3, as weaver_pkg::err_e; 0: none
	// An answer leaves: Tag to Mask are its fields.
	Answered bool
	FromDT   bool // to a weaver.dec.loc
	SetMask  bool
	Tag      int
	Mask     uint32
	Data     [32]uint32

	RowRead, SkipHit, Dropped bool // a read of the ST starts; a skip finds its vertex; the current entry is dropped

	State    S
	CED      Entry
	Skipping bool // a skip of the current entry is pending
	Cursor   int
	Filled   uint32
	Reads    int        // of the DT under way
	Fills    bool       // lanes may have been filled: the next two have changed
	VID, EID [32]uint32 // of the lanes' edges
}

// newCircuit makes the circuit of a Weaver of that shape; nil: the program has been built without one.
var newCircuit func(name string, s Spec, warps, threads int) (Circuit, error)

// SetCircuits sets the constructor of circuits. It is called from an init function.
func SetCircuits(f func(name string, s Spec, warps, threads int) (Circuit, error)) { newCircuit = f }

// circuit returns the circuit of a unit of that model; nil for the Go model.
func (s Spec) circuit(name string, warps, threads int) (Circuit, error) {
	switch {
	case s.Model != ModelRTL:
		return nil, nil
	case newCircuit == nil:
		return nil, errors.New("core.weaver.model = rtl: this program has been built without heddle/rtl/verilated")
	}
	c, err := newCircuit(name, s, warps, threads)
	if err != nil {
		return nil, fmt.Errorf("core.weaver.model = rtl: %w", err)
	}
	return c, nil
}

// follower lets a circuit decide, while the FSM's state mirrors it for statistics, checks and displays. What the ports
// show is compared with the mirror.
type follower struct {
	circuit Circuit `checkpoint:"assembled"` // between launches it has no state
	played  uint64  // last cycle played
	head    *emu.UnitRequest
	out     Outputs
	failed  error // of Launch
}

// launch begins a kernel.
func (w *follower) launch() {
	w.head = nil
	w.failed = w.circuit.Launch()
}

// follow is Cycle, as the circuit plays it.
func (f *FSM) follow(now uint64) Step {
	w, out := f.circuit, &f.circuit.out
	in := Inputs{Head: f.head, New: f.head != w.head, Room: f.room}
	if now > w.played {
		in.Idle = now - w.played - 1
	}
	w.played, w.head = now, f.head
	err := w.failed
	if err == nil {
		err = w.circuit.Cycle(in, out)
	}
	if err == nil {
		err = errors.Join(f.mirrorRequest(out), f.mirrorAnswer(out))
	}
	if err == nil {
		err = f.mirrorState(out)
	}
	if err != nil {
		f.step = Step{Fault: fmt.Errorf("%s @%d: the SystemVerilog: %w", f.self.Unit, now, err)}
	}
	if f.step.Took {
		w.head = nil
	}
	return f.step
}

// mirrorRequest books the request that the circuit has taken.
func (f *FSM) mirrorRequest(out *Outputs) error {
	if f.step.Took = out.Took; !out.Took {
		return nil
	}
	r := f.head
	switch {
	case r == nil:
		return errors.New("it takes a request, and there is none")
	case r.Fn == isa.WeaverReg:
		f.step.Err = f.RegisterLanes(r)
		if (f.step.Err != nil) != (out.Mistake != 0) {
			return fmt.Errorf("err_o = %d, where the model says: %w", out.Mistake, f.step.Err)
		}
	case r.Fn == isa.WeaverSkip && out.SkipHit:
		f.SkipHits++
	case r.Fn == isa.WeaverSkip:
		f.SkipMisses++
	case r.Fn == isa.WeaverDecID:
		f.warp = r
	case f.reads.Full():
		return errors.New("it takes a weaver.dec.loc, and its pipeline is full")
	default:
		f.LocReads++
		f.reads.Push(r, f.self.Now)
	}
	return nil
}

// mirrorAnswer hands out the circuit's answer.
func (f *FSM) mirrorAnswer(out *Outputs) error {
	if !out.Answered {
		return nil
	}
	r := f.warp
	if out.FromDT && !f.reads.Empty() {
		r = f.reads.Pop()
	}
	if r == nil || r.Tag != out.Tag || !f.room {
		return fmt.Errorf("an answer to request %d: none was expected, or there is no room", out.Tag)
	}
	f.step.Answer = r
	if !out.FromDT {
		f.warp = nil
		if filled := f.Emit(r.Warp, r.Mask, r.Out); filled != out.Mask {
			return fmt.Errorf("rsp_mask_o = %#x, where the lanes %#x have edges", out.Mask, filled)
		}
		for l := range r.Out {
			if r.Out[l] != out.Data[l] {
				return fmt.Errorf("rsp_data_o of lane %d = %d, which holds vertex %d", l, out.Data[l], r.Out[l])
			}
		}
	}
	copy(r.Out, out.Data[:])
	if out.SetMask {
		r.NewMask = out.Mask
	}
	return nil
}

// mirrorState takes over the state after the cycle.
func (f *FSM) mirrorState(out *Outputs) error {
	if out.RowRead {
		f.RowsRead++
	}
	if out.Dropped {
		f.EdgesDropped += uint64(f.ced.Deg)
	}
	if out.State >= numStates || out.Reads != f.reads.Len() || out.Cursor > len(f.st)+f.spec.STRow ||
		bits.Len32(out.Filled) > f.threads {
		return fmt.Errorf("no state of a Weaver: %+v", *out)
	}
	f.at, f.ced, f.drop, f.cursor, f.filled = out.State, out.CED, out.Skipping, out.Cursor, out.Filled
	if out.Fills {
		f.odVID, f.odEID = out.VID, out.EID
	}
	switch f.phase = Decoding; f.at {
	case S0:
		f.phase = Registering
	case S8:
		f.phase = Ended
	}
	return nil
}
