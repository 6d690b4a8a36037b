package verilated

import (
	"fmt"

	"heddle/components/balance"
	"heddle/components/graphpeg"
	"heddle/rtl"
)

func init() {
	graphpeg.SetCircuits(func(name string, s graphpeg.Spec, shape graphpeg.Shape) (graphpeg.Circuit, error) {
		return NewPEG(name, s, shape)
	})
}

// PEG plays a GraphPEG. Its process begins with the first use.
type PEG struct {
	link
	lanes, line int
	settles     uint64 // cycles without inputs after which nothing changes
}

// NewPEG returns the circuit of a core's GraphPEG, and builds its program unless it has been. The spec must be derived.
func NewPEG(name string, s graphpeg.Spec, shape graphpeg.Shape) (*PEG, error) {
	u, err := rtl.GraphPEG(s, shape)
	if err != nil {
		return nil, err
	}
	path, err := program(u)
	if err != nil {
		return nil, err
	}
	line := shape.LineBytes / 4
	return &PEG{link: newLink(name, path, pegWords+shape.Threads+line), lanes: shape.Threads, line: line,
		settles: uint64(s.BufferLatency) + 2}, nil
}

// Flags of a record to the program.
const (
	pegLaunch   = 1 << 1
	pegForsaken = 1 << 2
	pegHead     = 1 << 3
	pegRoom     = 1 << 4
	pegPort     = 1 << 5
	pegLine     = 1 << 6
	pegTold     = 1 << 7
	pegHost     = 8 // shift of the action
	pegOperands = 1 << 11
	pegOrder    = 12 // shift
	pegFunction = 16 // shift
	pegLate     = 1 << 20
)

// Flags of its answer.
const (
	pegTook     = 1 << 0
	pegAnswered = 1 << 1
	pegAsked    = 1 << 2
	pegWrite    = 1 << 3
	pegReport   = 1 << 4
	pegEvent    = 5 // shift of three bits
	pegErr      = 8 // shift of four bits
	pegPending  = 1 << 16
	pegStandby  = 1 << 17
	pegDrained  = 1 << 18
)

// pegWords is the number of words of an answer before its data.
const pegWords = 16

// pegOrders are the numbers of graphpeg_pkg::order_e.
var pegOrders = map[balance.Order]uint32{balance.Read: 1, balance.Donate: 2, balance.Standby: 3, balance.Release: 4,
	balance.Receive: 5, balance.Done: 6}

// Running reports whether the process has begun.
func (c *PEG) Running() bool { return c.process != nil }

// Host plays a cycle with an action of the host.
func (c *PEG) Host(a *graphpeg.HostAct) error {
	c.in = c.in[:0]
	c.put(uint32(a.Kind)<<pegHost, 0, 0, 0, 0, 0, 0, 0, uint32(a.List|a.Other<<8), a.Word, a.Lines)
	if s := &a.Setup; a.Kind == graphpeg.HostSetup {
		c.put(flag(s.VertexMode, 1), flag(s.Pull, 1), s.Fields, s.Vertices, s.Offsets, s.Edges, s.Neighbours, s.Weights,
			s.In, s.Out, s.Regions)
	}
	return c.send()
}

// Launch plays a cycle in which launch_i is 1.
func (c *PEG) Launch() error {
	c.in = c.in[:0]
	c.put(pegLaunch, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	return c.send()
}

func flag(on bool, bit uint32) uint32 {
	if on {
		return bit
	}
	return 0
}

// Cycle plays a cycle, after the idle ones before. The last of an answer's time on its way, which alone changes without
// inputs, ends within the buffer's latency: no more of them are played.
func (c *PEG) Cycle(in *graphpeg.Inputs, out *graphpeg.Outputs) error {
	flags := flag(in.Forsaken, pegForsaken) | flag(in.Head != nil, pegHead) | flag(in.Room, pegRoom) |
		flag(in.Port, pegPort) | flag(in.Line != nil, pegLine) | flag(in.Told, pegTold) | flag(in.New, pegOperands)
	w := [10]uint32{2: in.Tag, 9: uint32(min(in.Idle, c.settles))}
	if r := in.Head; r != nil {
		flags |= uint32(r.Fn) << pegFunction
		w[0], w[1] = uint32(r.Warp)|uint32(r.Tag)<<16, r.Mask
	}
	if o := in.Command; o != nil {
		number, ok := pegOrders[o.Order]
		if !ok {
			return fmt.Errorf("it has no order %d of the control processor", o.Order)
		}
		flags |= number<<pegOrder | flag(in.Late, pegLate)
		w[3], w[4], w[5], w[6] = o.Edges, o.Range.Start, o.Range.End, o.Range.Base
	}
	c.in = c.in[:0]
	c.put(flags)
	c.put(w[:]...)
	if in.New {
		c.put(in.Head.A[:c.lanes]...)
		c.put(in.Head.B[:c.lanes]...)
	}
	c.put(in.Line...)
	if err := c.send(); err != nil {
		return err
	}
	if err := c.receive(c.length); err != nil {
		return err
	}
	c.decode(out)
	return nil
}

// length returns the number of words of the answer, whose first is there.
func (c *PEG) length() int {
	n, f := pegWords, c.word(0)
	if f&pegAnswered != 0 {
		n += c.lanes
	}
	if f&pegWrite != 0 {
		n += c.line
	}
	return n
}

func (c *PEG) decode(out *graphpeg.Outputs) {
	f, at := c.word(0), pegWords
	low := func(i int) int { return int(c.word(i) & 0xffff) }
	high := func(i int) int { return int(c.word(i) >> 16) }
	out.Took, out.Err, out.Answered = f&pegTook != 0, int(f>>pegErr&15), f&pegAnswered != 0
	out.Asked, out.Write, out.Report = f&pegAsked != 0, f&pegWrite != 0, f&pegReport != 0
	out.Tag, out.ReadTag, out.Addr = int(c.word(1)), c.word(2), c.word(3)
	out.Told = balance.Report{Event: balance.Event(f >> pegEvent & 7), Edges: c.word(4), Vertices: c.word(5),
		Range: balance.Range{Start: c.word(6), End: c.word(7), Base: c.word(8)}}
	out.Inside = graphpeg.Inside{
		EFS: c.word(9), In: int(c.word(10)), Out: int(c.word(11)), Reserved: low(12), Filled: high(12), Run: low(13),
		Pops: high(13), FI: low(14), RD: high(14), FE: low(15), Pending: f&pegPending != 0, Standby: f&pegStandby != 0,
		ReportedDrain: f&pegDrained != 0,
	}
	for l := 0; out.Answered && l < c.lanes; l++ {
		out.Data[l] = c.word(at)
		at++
	}
	out.Line = out.Line[:0]
	for i := 0; out.Write && i < c.line; i++ {
		out.Line = append(out.Line, c.word(at+i))
	}
}
