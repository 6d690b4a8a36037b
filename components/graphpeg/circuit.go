package graphpeg

import (
	"errors"
	"fmt"
	"slices"

	"heddle/components/balance"
	"heddle/isa/emu"
)

// Model selects the simulation of a GraphPEG's logic.
type Model string

// Models of a GraphPEG. Their cycles and statistics are the same.
const (
	ModelGo  Model = "go"  // Engine
	ModelRTL Model = "rtl" // a Circuit
)

// Circuit simulates a GraphPEG between its ports outside of this package: the SystemVerilog of rtl/graphpeg, by
// rtl/verilated.
type Circuit interface {
	// Running reports whether the simulation has begun: Host begins it at reset, and so does Launch.
	Running() bool
	// Host is an action of the host, between launches.
	Host(a *HostAct) error
	// Launch begins a kernel.
	Launch() error
	// Cycle plays a cycle.
	Cycle(in *Inputs, out *Outputs) error
	// Close ends the simulation.
	Close() error
}

// HostKind is the kind of an action, as graphpeg_pkg::host_e.
type HostKind int

// Actions of the host.
const (
	HostSetup HostKind = 1 + iota
	HostClear          // all lists
	HostPush           // Word to List
	HostSpill          // a line of List, which the model has written
	HostSwap           // List and Other
	HostLines          // so many Lines of List are in memory, from line Word on
)

// HostAct is an action of the host.
type HostAct struct {
	Kind        HostKind
	Setup       Setup // its Regions are this core's
	List, Other int
	Word, Lines uint32
}

// Inputs are the inputs of a Circuit in a cycle.
type Inputs struct {
	Idle     uint64 // cycles since the one before, without any input, in which nothing but time changed
	Forsaken bool
	Head     *emu.UnitRequest // the oldest request; nil: none
	New      bool             // it was not there in the cycle before
	Room     bool             // an answer may leave
	Port     bool             // a request may leave for memory
	Told     bool             // a report may leave
	Line     []uint32         // that comes from memory; nil: none
	Tag      uint32           // of its read
	Command  *balance.Command // nil: none
	Late     bool             // it is of an earlier launch
}

// Outputs are the outputs of a Circuit in a cycle, and its state after it.
type Outputs struct {
	Took                    bool
	Err                     int // as graphpeg_pkg::err_e; 0: none
	Answered, Asked, Report bool
	Tag                     int // of the answer
	Data                    [emu.MaxThreads]uint32
	Write                   bool
	Addr, ReadTag           uint32   // of the request, and the circuit's tag of a read
	Line                    []uint32 // that is written
	Told                    balance.Report
	Inside                  Inside
}

// newCircuit makes the circuit of a core's GraphPEG; nil: the program has been built without one.
var newCircuit func(name string, s Spec, shape Shape) (Circuit, error)

// SetCircuits sets the constructor of circuits. It is called from an init function.
func SetCircuits(f func(name string, s Spec, shape Shape) (Circuit, error)) { newCircuit = f }

// circuit returns the circuit of a unit of that model; nil for the Go model.
func (s *Spec) circuit(name string, shape Shape) (*follower, error) {
	switch {
	case s.Model != ModelRTL:
		return nil, nil
	case newCircuit == nil:
		return nil, errors.New("core.graphpeg.model = rtl: this program has been built without heddle/rtl/verilated")
	}
	c, err := newCircuit(name, *s, shape)
	if err != nil {
		return nil, fmt.Errorf("core.graphpeg.model = rtl: %w", err)
	}
	return &follower{circuit: c}, nil
}

// follower lets a circuit decide the unit's outputs. The Engine beside it counts and is displayed: what the ports
// show, and the circuit's state as far as Inside has it, are compared with it in each cycle, so all statistics are
// those of the circuit too.
type follower struct {
	circuit Circuit `checkpoint:"assembled"` // begun again, with the Engine's lists, where it is not running
	begun   bool    // a cycle has been played since the launch
	over    bool    // after an error
	played  uint64  // last cycle played
	head    *emu.UnitRequest
	reads   []circuitRead // by the Engine's tags
	failed  error         // outside of a cycle
	in      Inputs
	out     Outputs
	line    []uint32
	command balance.Command
}

// circuitRead is a read in flight.
type circuitRead struct{ addr, tag uint32 }

// tell reports an action of the host to a circuit, if there is one.
func (f *follower) tell(a HostAct) {
	if f != nil {
		f.pass(a)
	}
}

// pass is tell where there is a circuit. It is not inlined, as its action moves to the heap.
//
//go:noinline
func (f *follower) pass(a HostAct) {
	if f.failed == nil && f.circuit.Running() {
		f.failed = f.circuit.Host(&a)
	}
}

// launch begins a kernel.
func (f *follower) launch(e *Engine) {
	f.begun, f.over, f.head, f.in = false, false, nil, Inputs{}
	if !f.circuit.Running() {
		f.failed = f.restore(e)
	}
	if f.failed == nil {
		f.failed = f.circuit.Launch()
	}
}

// restore brings a circuit at reset to the Engine's state between launches.
func (f *follower) restore(e *Engine) error {
	acts := e.acts()
	for i := range acts {
		if err := f.circuit.Host(&acts[i]); err != nil {
			return err
		}
	}
	return nil
}

// acts returns the actions of a host that lead to the Engine's registers and lists.
func (e *Engine) acts() (all []HostAct) {
	if !e.configured {
		return nil
	}
	own := e.ownSetup()
	all = append(all, HostAct{Kind: HostSetup, Setup: own})
	at := make([]uint32, len(e.lists)) // regions of the circuit's lists, by number
	for i := range at {
		at[i] = own.Regions + uint32(i*e.spec.ListRegion)
	}
	for i := range e.lists {
		if j := slices.Index(at, e.lists[i].region); j > i {
			all = append(all, HostAct{Kind: HostSwap, List: i, Other: j})
			at[i], at[j] = at[j], at[i]
		}
	}
	for i := range e.lists {
		l := &e.lists[i]
		for k := range l.head.Len() {
			all = append(all, HostAct{Kind: HostPush, List: i, Word: *l.head.At(k)})
		}
		if l.first > 0 || l.spilled > 0 {
			all = append(all, HostAct{Kind: HostLines, List: i, Word: uint32(l.first), Lines: uint32(l.spilled)})
		}
		for k := range l.tail.Len() {
			all = append(all, HostAct{Kind: HostPush, List: i, Word: *l.tail.At(k)})
		}
	}
	return all
}

// ownSetup returns the set-up with this core's regions.
func (e *Engine) ownSetup() Setup {
	s := e.setup
	s.Regions = s.Region(&e.spec, e.shape.Core)
	return s
}

// arrives notes the line that the Engine is about to be given.
func (f *follower) arrives(e *Engine, tag uint32) {
	if f == nil {
		return
	}
	r := f.reads[tag]
	f.line = f.line[:0]
	for k := range e.line {
		f.line = append(f.line, e.mem.Load32(r.addr+4*k))
	}
	f.in.Line, f.in.Tag = f.line, r.tag
}

// commanded notes the command that the Engine is about to be given.
func (f *follower) commanded(e *Engine, c balance.Command) {
	if f == nil {
		return
	}
	f.command = c
	f.in.Command, f.in.Late = &f.command, c.Epoch != e.exchange.epoch
}

// follow plays the Engine's cycle, and replaces its outputs. told reports that the Engine has a report, which leaves
// unless it is held.
func (f *follower) follow(e *Engine, head *emu.UnitRequest, room, port bool, step *Step, report *balance.Report,
	held bool) error {
	if f.over {
		return nil
	}
	now, in, out := e.self.Now, &f.in, &f.out
	in.Head, in.New, in.Room, in.Port, in.Told = head, head != nil && head != f.head, room, port, !held
	in.Forsaken = e.noMorePops != 0 && now >= e.noMorePops
	if in.Idle = 0; f.begun && now > f.played {
		in.Idle = now - f.played - 1
	}
	f.begun, f.played, f.head = true, now, head
	err := f.failed
	if err == nil {
		err = f.circuit.Cycle(in, out)
	}
	in.Line, in.Command = nil, nil
	if err == nil {
		if err = f.mistake(e, step); err == nil && !f.over {
			err = errors.Join(f.answer(e, step), f.request(e, step), f.report(report), f.inside(e))
		}
	}
	if step.Took {
		f.head = nil
	}
	if err != nil {
		f.failed = fmt.Errorf("%s @%d: the SystemVerilog: %w", e.self.Unit, now, err)
		return f.failed
	}
	return nil
}

// mistake compares errors. One ends the run: the circuit's behaviour after it is not defined.
func (f *follower) mistake(e *Engine, step *Step) error {
	wrong := step.Err != nil || e.Err() != nil
	f.over = wrong
	if wrong != (f.out.Err != 0) {
		return fmt.Errorf("err_o = %d, where the model says: %w", f.out.Err, errors.Join(step.Err, e.Err()))
	}
	return nil
}

// answer compares the answer and whether a request is taken, and lets the circuit's answer leave.
func (f *follower) answer(e *Engine, step *Step) error {
	out, r := &f.out, step.Answer
	switch {
	case out.Took != step.Took:
		return fmt.Errorf("took_o = %v, where the model has %v", out.Took, step.Took)
	case out.Answered != (r != nil):
		return fmt.Errorf("rsp_valid_o = %v, where the model has %v", out.Answered, r != nil)
	case r == nil:
		return nil
	case out.Tag != r.Tag:
		return fmt.Errorf("an answer to request %d, where the model answers %d", out.Tag, r.Tag)
	}
	for l := range e.shape.Threads {
		if out.Data[l] != r.Out[l] {
			return fmt.Errorf("rsp_data_o of lane %d = %d, where the model has %d", l, out.Data[l], r.Out[l])
		}
	}
	copy(r.Out, out.Data[:e.shape.Threads])
	return nil
}

// request compares the request to memory, and the words that it writes, and notes a read.
func (f *follower) request(e *Engine, step *Step) error {
	out, r := &f.out, &step.Request
	switch {
	case out.Asked != step.HasRequest:
		return fmt.Errorf("req_valid_o = %v, where the model has %v", out.Asked, step.HasRequest)
	case !out.Asked:
		return nil
	case out.Write != r.Write || out.Addr != r.Addr:
		return fmt.Errorf("a request to 0x%08x, write %v, where the model has 0x%08x, %v", out.Addr, out.Write, r.Addr,
			r.Write)
	case !r.Write:
		for len(f.reads) <= int(r.Tag) {
			f.reads = append(f.reads, circuitRead{})
		}
		f.reads[r.Tag] = circuitRead{out.Addr, out.ReadTag}
		return nil
	}
	for k := range e.spillWords() {
		if has := e.mem.Load32(r.Addr + uint32(4*k)); out.Line[k] != has {
			return fmt.Errorf("req_data_o, word %d = %d, where the model writes %d", k, out.Line[k], has)
		}
	}
	return nil
}

// report compares the reports to the control processor.
func (f *follower) report(model *balance.Report) error {
	out := &f.out
	if out.Report != (model != nil) {
		return fmt.Errorf("rep_valid_o = %v, where the model has %v", out.Report, model != nil)
	}
	if out.Report {
		if out.Told.Epoch = model.Epoch; out.Told != *model {
			return fmt.Errorf("rep_o is %+v, where the model has %+v", out.Told, *model)
		}
		*model = out.Told
	}
	return nil
}

// inside compares the state.
func (f *follower) inside(e *Engine) error {
	if want := e.Inside(); f.out.Inside != want {
		return fmt.Errorf("its state is %+v, where the model has %+v", f.out.Inside, want)
	}
	return nil
}
