package ctrlproc

import (
	"errors"
	"fmt"

	"heddle/components/balance"
	"heddle/components/clock"
)

// Model selects the simulation of the control processor's logic.
type Model string

// Models of a control processor. Their cycles and statistics are the same.
const (
	ModelGo  Model = "go"  // Processor
	ModelRTL Model = "rtl" // a Circuit
)

// Circuit simulates a control processor between its ports outside of this package: the SystemVerilog of rtl/ctrlproc,
// by rtl/verilated.
type Circuit interface {
	// Running reports whether the simulation has begun: the first Launch begins it, at reset.
	Running() bool
	// Launch begins a launch.
	Launch() error
	// Cycle plays a cycle.
	Cycle(in *Inputs, out *Outputs) error
	// Close ends the simulation.
	Close() error
}

// Inputs are the inputs of a Circuit in a cycle, by core.
type Inputs struct {
	Idle    uint64 // cycles since the one before, without any input, in which nothing but time changed
	Said    []bool // it reports
	Reports []balance.Report
	Ready   []bool // it takes a command
}

// Outputs are the outputs of a Circuit in a cycle, by core.
type Outputs struct {
	Done     bool // before the cycle
	Ordered  []bool
	Commands []balance.Command
}

// newCircuit makes the circuit of a control processor; nil: the program has been built without one.
var newCircuit func(name string, s Spec, cores int) (Circuit, error)

// SetCircuits sets the constructor of circuits. It is called from an init function.
func SetCircuits(f func(name string, s Spec, cores int) (Circuit, error)) { newCircuit = f }

// circuit returns the circuit of that model; nil for the Go model.
func (s *Spec) circuit(name string, cores int) (*follower, error) {
	switch {
	case s.Model != ModelRTL:
		return nil, nil
	case newCircuit == nil:
		return nil, errors.New("ctrlproc.model = rtl: this program has been built without heddle/rtl/verilated")
	}
	c, err := newCircuit(name, *s, cores)
	if err != nil {
		return nil, fmt.Errorf("ctrlproc.model = rtl: %w", err)
	}
	return &follower{
		circuit: c,
		in:      Inputs{Said: make([]bool, cores), Reports: make([]balance.Report, cores), Ready: make([]bool, cores)},
		out:     Outputs{Ordered: make([]bool, cores), Commands: make([]balance.Command, cores)},
	}, nil
}

// follower lets a circuit decide the control processor's outputs. The Processor beside it counts and is displayed: what
// the ports show is compared with it in each cycle, so all statistics are those of the circuit too.
type follower struct {
	circuit Circuit `checkpoint:"assembled"` // begun again where it is not running
	launch  uint64  // cycle of the launch
	played  uint64  // last cycle played
	failed  error
	in      Inputs
	out     Outputs
}

// begin begins launch number epoch, in cycle now: for a circuit at reset all the earlier ones, which leave nothing.
func (f *follower) begin(epoch uint32, now clock.Cycle) {
	if f == nil || f.failed != nil {
		return
	}
	f.launch, f.played = now, now
	launches := uint32(1)
	if !f.circuit.Running() {
		launches = epoch
	}
	for ; launches > 0 && f.failed == nil; launches-- {
		f.failed = f.circuit.Launch()
	}
}

// hears notes a report that the Processor is given in this cycle.
func (f *follower) hears(i int, r *balance.Report) {
	if f != nil {
		f.in.Said[i], f.in.Reports[i] = true, *r
	}
}

// follow plays the Processor's cycle and compares the commands, before one leaves. ended is the Processor's done before
// the cycle.
func (f *follower) follow(c *Control, now clock.Cycle, ended bool) {
	defer clear(f.in.Said)
	if f.failed != nil || now == f.launch { // launch_i was high in that cycle: reports are of earlier launches
		return
	}
	for i, out := range c.out {
		f.in.Ready[i] = !out.Full()
	}
	f.in.Idle = now - f.played - 1
	f.played = now
	if f.failed = f.circuit.Cycle(&f.in, &f.out); f.failed == nil {
		f.failed = f.compare(c.processor, ended)
	}
	if f.failed != nil {
		f.failed = fmt.Errorf("%s @%d: the SystemVerilog: %w", c.Name(), now, f.failed)
	}
}

// compare compares the circuit's outputs with the Processor's, which the circuit's then replace.
func (f *follower) compare(p *Processor, ended bool) error {
	if f.out.Done != ended {
		return fmt.Errorf("done_o = %v, where the model has %v", f.out.Done, ended)
	}
	for i := range p.cores {
		model, ok := p.Next(i)
		switch {
		case f.out.Ordered[i] != ok:
			return fmt.Errorf("cmd_valid_o of core %d = %v, where the model has %v", i, f.out.Ordered[i], ok)
		case !ok:
		case f.out.Commands[i] != model:
			return fmt.Errorf("cmd_o of core %d is %+v, where the model has %+v", i, f.out.Commands[i], model)
		default:
			p.cores[i].out[0] = f.out.Commands[i]
		}
	}
	return nil
}
