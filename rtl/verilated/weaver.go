// Package verilated plays graph units in SystemVerilog in a timed machine (core.weaver.model: rtl, and
// core.graphpeg.model): each core's unit is a process that Verilator has built, with a record in and one out for each
// cycle in which the unit is awake. The queues of the accelerator socket, and everything behind them, are the
// machine's.
//
// Processes end with their input, so none outlives a killed run.
package verilated

import (
	"heddle/components/weaver"
	"heddle/isa/emu"
	"heddle/rtl"
)

func init() {
	weaver.SetCircuits(func(name string, s weaver.Spec, warps, threads int) (weaver.Circuit, error) {
		return New(name, s, warps, threads)
	})
}

// Circuit plays a Weaver. Its process begins with the first use.
type Circuit struct {
	link
	lanes   int
	settles uint64         // cycles at rest after which nothing changes without a request
	state   weaver.Outputs // of Launch
}

// New returns the circuit of a core's Weaver, and builds its program unless it has been. The spec must be derived.
func New(name string, s weaver.Spec, warps, threads int) (*Circuit, error) {
	u, err := rtl.Weaver(s, warps, threads)
	if err != nil {
		return nil, err
	}
	path, err := program(u)
	if err != nil {
		return nil, err
	}
	return &Circuit{link: newLink(name, path, 8+3*threads), lanes: threads, settles: uint64(s.TableLatency)}, nil
}

// Flags of a record to the program.
const (
	inHead = 1 << iota
	inRoom
	inLaunch
	inOperands
)

// Flags of its answer.
const (
	outTook     = 1 << 0
	outMistake  = 1 // shift of two bits
	outAnswered = 1 << 3
	outFromDT   = 1 << 4
	outSetMask  = 1 << 5
	outRowRead  = 1 << 6
	outSkipHit  = 1 << 7
	outDropped  = 1 << 8
	outFills    = 1 << 9
	outSkipping = 1 << 10
	outState    = 12 // shift of four bits
)

// Launch begins a kernel, with a cycle in which launch_i is 1.
func (c *Circuit) Launch() error {
	c.begin(inLaunch|inRoom, nil, 0)
	return c.exchange(&c.state)
}

// Cycle plays a cycle, after the idle ones before. The table's countdown, the last to change in a unit at rest, ends
// within its latency: no more of them are played.
func (c *Circuit) Cycle(in weaver.Inputs, out *weaver.Outputs) error {
	flags := uint32(0)
	if in.Room {
		flags |= inRoom
	}
	if in.Head != nil {
		if flags |= inHead; in.New {
			flags |= inOperands | uint32(in.Head.Fn)<<8
		}
	}
	c.begin(flags, in.Head, uint32(min(in.Idle, c.settles)))
	if flags&inOperands != 0 {
		c.put(in.Head.A...)
		c.put(in.Head.B...)
		c.put(in.Head.C...)
	}
	return c.exchange(out)
}

// begin starts a record.
func (c *Circuit) begin(flags uint32, head *emu.UnitRequest, idle uint32) {
	c.in = c.in[:0]
	if head == nil {
		c.put(flags, 0, 0, idle)
		return
	}
	c.put(flags, uint32(head.Warp)|uint32(head.Tag)<<16, head.Mask, idle)
}

// exchange sends the record, and reads the answer.
func (c *Circuit) exchange(out *weaver.Outputs) (err error) {
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
func (c *Circuit) length() int {
	n, f := 8, c.word(0)
	if f&outAnswered != 0 {
		n += c.lanes
	}
	if f&outFills != 0 {
		n += 2 * c.lanes
	}
	return n
}

func (c *Circuit) decode(out *weaver.Outputs) {
	f, at := c.word(0), 8
	words := func(to *[32]uint32, present bool) {
		for l := 0; present && l < c.lanes; l++ {
			to[l] = c.word(at)
			at++
		}
	}
	out.Took, out.Mistake = f&outTook != 0, int(f>>outMistake&3)
	out.Answered, out.FromDT, out.SetMask = f&outAnswered != 0, f&outFromDT != 0, f&outSetMask != 0
	out.RowRead, out.SkipHit, out.Dropped = f&outRowRead != 0, f&outSkipHit != 0, f&outDropped != 0
	out.Fills, out.Skipping, out.State = f&outFills != 0, f&outSkipping != 0, weaver.S(f>>outState&15)
	out.Tag, out.Reads, out.Mask = int(c.word(1)&0xffff), int(c.word(1)>>16), c.word(2)
	out.CED = weaver.Entry{VID: c.word(3), Loc: c.word(4), Deg: c.word(5)}
	out.Cursor, out.Filled = int(c.word(6)), c.word(7)
	words(&out.Data, out.Answered)
	words(&out.VID, out.Fills)
	words(&out.EID, out.Fills)
}
