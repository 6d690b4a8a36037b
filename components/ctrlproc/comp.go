package ctrlproc

import (
	"fmt"

	"heddle/components/balance"
	"heddle/components/clock"
	"heddle/components/count"
)

// Control is the clocked control processor.
type Control struct {
	clock.Base
	processor *Processor
	circuit   *follower                      // nil: none
	out       []*clock.Link[balance.Command] // by core
	in        []*clock.Link[balance.Report]
}

// New returns the control processor of a number of cores, which are then connected.
func New(name string, s Spec, cores int) (*Control, error) {
	circuit, err := s.circuit(name, cores)
	return &Control{Base: clock.NewBase(name), processor: NewProcessor(s, cores), circuit: circuit}, err
}

// Close ends the processor's circuit, if it has one.
func (c *Control) Close() error {
	if c.circuit == nil {
		return nil
	}
	return c.circuit.circuit.Close()
}

// Err returns what has gone wrong with the circuit; nil: nothing.
func (c *Control) Err() error {
	if c.circuit == nil {
		return nil
	}
	return c.circuit.failed
}

// Connect adds the links to and from the next core.
func (c *Control) Connect(out *clock.Link[balance.Command], in *clock.Link[balance.Report]) {
	c.out, c.in = append(c.out, out), append(c.in, in)
}

// Start begins a launch.
func (c *Control) Start() {
	now := c.ClockHandle().Domain().Cycle()
	c.processor.Launch(now)
	c.circuit.begin(c.processor.epoch, now)
	c.ClockHandle().Wake()
}

// Done reports whether all units are drained and have been notified.
func (c *Control) Done() bool { return c.processor.done }

// Tick runs one cycle: a message from each core, and one to each.
func (c *Control) Tick(now clock.Cycle) bool {
	moved, ended := false, c.processor.done
	for i, in := range c.in {
		if in.Ready() {
			r := in.Pop()
			c.circuit.hears(i, &r)
			c.processor.Report(i, r)
			moved = true
		}
	}
	if at := c.processor.Cycle(now); at != 0 {
		c.ClockHandle().WakeAt(at)
	}
	if c.circuit != nil {
		c.circuit.follow(c, now, ended)
	}
	for i, out := range c.out {
		if order, ok := c.processor.Next(i); ok && !out.Full() {
			out.Push(order)
			c.processor.Left(i)
			moved = true
		}
	}
	return moved
}

// Statistics returns a pointer to the counts.
func (c *Control) Statistics() any {
	count.In(&c.processor.Stats).Settle(c.ClockHandle().Domain().Cycle() + 1)
	return &c.processor.Stats
}

// CheckInvariants checks the counts of a machine at rest against each other, and against the work that the units have
// donated and received.
func (c *Control) CheckInvariants(donated, received [2]uint64) error {
	s := &c.processor.Stats
	for _, l := range []struct {
		invariant string
		got, want uint64
	}{
		{"donations offered = taken + refused", s.Offers, s.Taken + s.Refused},
		{"edges donated = received", donated[0], received[0]},
		{"vertices donated = received", donated[1], received[1]},
	} {
		if l.got != l.want && s.Abandoned == 0 {
			return fmt.Errorf("%s: invariant violated: %s: %d, %d", c.Name(), l.invariant, l.got, l.want)
		}
	}
	return nil
}

// Waits describes the pending work, for reports of stuck machines.
func (c *Control) Waits() string {
	if c.processor.done {
		return ""
	}
	return fmt.Sprintf("%s: %s", c.Name(), c.processor)
}
