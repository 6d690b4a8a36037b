package verilated

import (
	"heddle/components/balance"
	"heddle/components/ctrlproc"
	"heddle/rtl"
)

func init() {
	ctrlproc.SetCircuits(func(name string, s ctrlproc.Spec, cores int) (ctrlproc.Circuit, error) {
		return NewControl(name, s, cores)
	})
}

// Control plays a control processor. Its process begins with the first launch.
type Control struct {
	link
	cores   int
	settles uint64 // cycles without inputs after which nothing changes
}

// NewControl returns the circuit of the control processor of so many cores, and builds its program unless it has been.
func NewControl(name string, s ctrlproc.Spec, cores int) (*Control, error) {
	u, err := rtl.ControlProcessor(s, cores)
	if err != nil {
		return nil, err
	}
	path, err := program(u)
	if err != nil {
		return nil, err
	}
	return &Control{link: newLink(name, path, 1+cores*(1+messageWords)), cores: cores, settles: uint64(s.Interval)}, nil
}

// messageWords is the number of words of a command or report: a word for each field.
const messageWords = 8

// Flags of a core in a record to the program, and of its answer, where the order follows.
const (
	controlReady   = 1 << 0
	controlSaid    = 1 << 1
	controlOrdered = 1 << 0
)

// controlOrders are the orders by the numbers of ctrlproc_pkg::order_e, from 1 on.
var controlOrders = []balance.Order{balance.Read, balance.Donate, balance.Standby, balance.Release, balance.Receive,
	balance.Done, balance.DonateVertices, balance.ReceiveVertices}

// Running reports whether the process has begun.
func (c *Control) Running() bool { return c.process != nil }

// Launch plays a cycle in which launch_i is 1.
func (c *Control) Launch() error {
	c.in = c.in[:0]
	c.put(1, 0)
	return c.send()
}

// Cycle plays a cycle, after the idle ones before: time alone passes in them, until the next poll at most.
func (c *Control) Cycle(in *ctrlproc.Inputs, out *ctrlproc.Outputs) error {
	c.in = c.in[:0]
	c.put(0, uint32(min(in.Idle, c.settles)))
	for i := range c.cores {
		c.put(flag(in.Ready[i], controlReady) | flag(in.Said[i], controlSaid))
	}
	for i := range c.cores {
		if r := &in.Reports[i]; in.Said[i] {
			c.put(uint32(r.Event), r.Epoch, r.Edges, r.Range.Start, r.Range.End, r.Range.Base, r.Vertices, r.Addr)
		}
	}
	if err := c.send(); err != nil {
		return err
	}
	if err := c.receive(c.length); err != nil {
		return err
	}
	c.decode(out)
	return nil
}

// length returns the number of words of the answer, whose first is there: bit 0 is done_o, and the rest is the
// number of commands.
func (c *Control) length() int { return 1 + c.cores + messageWords*int(c.word(0)>>1) }

func (c *Control) decode(out *ctrlproc.Outputs) {
	out.Done = c.word(0)&1 != 0
	at := 1 + c.cores
	for i := range c.cores {
		if out.Ordered[i] = c.word(1+i)&controlOrdered != 0; !out.Ordered[i] {
			continue
		}
		out.Commands[i] = balance.Command{Order: 255, Epoch: c.word(at + 1), Edges: c.word(at + 2),
			Range:    balance.Range{Start: c.word(at + 3), End: c.word(at + 4), Base: c.word(at + 5)},
			Vertices: c.word(at + 6), Addr: c.word(at + 7)}
		if n := int(c.word(at)) - 1; n >= 0 && n < len(controlOrders) {
			out.Commands[i].Order = controlOrders[n]
		}
		at += messageWords
	}
}
