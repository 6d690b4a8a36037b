package graphpeg

import (
	"errors"
	"fmt"

	"heddle/components/accel"
	"heddle/components/balance"
	"heddle/components/clock"
	"heddle/components/count"
	"heddle/components/mem"
	"heddle/components/probe"
	"heddle/isa/emu"
)

// PEG is the unit of one core, on its clock: it moves messages between the Engine and
// the core's socket, memory, and the control processor.
type PEG struct {
	clock.Base
	engine *Engine
	socket *accel.Socket

	out *clock.Link[mem.Request]
	in  *clock.Link[mem.Response]

	commands *clock.Link[balance.Command]
	reports  *clock.Link[balance.Report]

	watch probe.Watch // nil: nobody is told
	told  state       // the last of which it was
}

var (
	_ accel.Unit       = (*PEG)(nil)
	_ accel.MemoryUser = (*PEG)(nil)
	_ balance.Unit     = (*PEG)(nil)
	_ emu.Unit         = architecture{}
)

// New makes the unit of a core of that shape. The spec must be derived.
func New(name string, s Spec, shape Shape) (*PEG, error) {
	if err := s.Check(shape.Threads, shape.LineBytes); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p := &PEG{Base: clock.NewBase(name), engine: NewEngine(s, shape)}
	p.engine.self.Unit = name
	return p, nil
}

// Plug gives the unit its end of the socket.
func (p *PEG) Plug(s *accel.Socket) { p.socket = s }

// ConnectMemory gives the unit its port to the memory system.
func (p *PEG) ConnectMemory(out *clock.Link[mem.Request], in *clock.Link[mem.Response]) {
	p.out, p.in = out, in
}

// BypassesL1 is bypass_l1.
func (p *PEG) BypassesL1() bool { return p.engine.spec.BypassL1 }

// ConnectBalance gives the unit its links from and to the control processor.
func (p *PEG) ConnectBalance(commands *clock.Link[balance.Command], reports *clock.Link[balance.Report]) {
	p.commands, p.reports = commands, reports
}

// Engine returns the unit's logic, for the host's part and for balancing at no cost.
func (p *PEG) Engine() *Engine { return p.engine }

// Take cuts edges off at no cost.
func (p *PEG) Take(now clock.Cycle, n uint32) balance.Range {
	p.ClockHandle().Wake()
	return p.engine.Take(now, n)
}

// Give adds edges at no cost.
func (p *PEG) Give(now clock.Cycle, r balance.Range) {
	p.ClockHandle().Wake()
	p.engine.Give(now, r)
}

// EFS is R_EFS.
func (p *PEG) EFS() uint32 { return p.engine.EFS() }

// Movable reports whether Take would find edges.
func (p *PEG) Movable() bool { return p.engine.Movable() }

// QueueEntries is request_queue.
func (p *PEG) QueueEntries() int { return p.engine.spec.RequestQueue }

// Traits of its functions.
func (p *PEG) Traits() []accel.Traits {
	return p.engine.dialect.traits
}

// Tick does one cycle.
func (p *PEG) Tick(now clock.Cycle) bool {
	e := p.engine
	if e.Err() != nil {
		return false
	}
	e.Settle(now)
	arrived := p.receive()
	head := p.socket.Waiting()
	step := e.Cycle(now, head, e.answers.Len() == 0 || p.socket.Room(), !p.out.Full())
	if p.watch != nil {
		p.tell(&step)
	}
	sent := p.act(head, &step)
	if step.WakeAt != 0 {
		p.ClockHandle().WakeAt(step.WakeAt)
	}
	return step.Moved || arrived || sent
}

// receive takes an answer of memory, and a command.
func (p *PEG) receive() (arrived bool) {
	if p.in.Ready() {
		p.engine.Arrive(p.in.Pop().Tag)
		arrived = true
	}
	if p.commands.Ready() {
		p.engine.Command(p.commands.Pop())
		arrived = true
	}
	return arrived
}

// act sends what the cycle has brought. It reports whether a report was among it.
func (p *PEG) act(head *emu.UnitRequest, step *Step) (reported bool) {
	if step.HasRequest {
		r := mem.Request{Addr: step.Request.Addr, Tag: step.Request.Tag}
		if step.Request.Write {
			r.Op = mem.Write
		}
		p.out.Push(r)
	}
	if r, ok := p.engine.Report(); ok && !p.reports.Full() {
		p.reports.Push(r)
		p.engine.Reported()
		reported = true
	}
	if step.Took {
		p.take(head, step.Err)
	}
	if err := p.engine.Err(); err != nil {
		p.socket.Abort(err)
	}
	if step.Answer != nil {
		p.socket.Reply(step.Answer.Tag)
	}
	return reported
}

// take takes the request from the queue. One that is not answered is done.
func (p *PEG) take(r *emu.UnitRequest, err error) {
	p.socket.Take()
	switch {
	case err != nil:
		p.socket.Fail(r.Tag, err)
	case !p.engine.dialect.traits[r.Fn].Answered:
		p.socket.Done(r.Tag)
	}
}

// Sent is how many requests have gone to memory.
func (p *PEG) Sent() uint64 {
	return p.engine.LinesRead + p.engine.SpillLines - uint64(p.engine.port.waiting())
}

// Balanced is how many edges and vertices have gone to other cores, and come from them.
func (p *PEG) Balanced() (donated, received [2]uint64) {
	e := p.engine
	return [2]uint64{e.EdgesDonated, e.VerticesGiven}, [2]uint64{e.EdgesReceived, e.VerticesTaken}
}

// Pending reports the work that the unit will do unasked.
func (p *PEG) Pending() int {
	if p.engine.Err() != nil {
		return 0
	}
	return p.engine.port.outstanding()
}

// Start is a launch: the unit begins at once.
func (p *PEG) Start() { p.ClockHandle().Wake() }

// Stats returns what the unit has counted up to cycle now.
func (p *PEG) Stats(now clock.Cycle) Stats {
	p.engine.Settle(now)
	s := p.engine.Stats
	count.In(&s).Settle(now)
	s.Queue, s.QueueFull = p.socket.Queue(now)
	return s
}

// Statistics is Stats for any unit.
func (p *PEG) Statistics(now clock.Cycle) any {
	s := p.Stats(now)
	return &s
}

// CheckInvariants checks what must hold between the unit's counts up to cycle now.
func (p *PEG) CheckInvariants(now clock.Cycle) error {
	s := p.Stats(now)
	n := uint64(0)
	for _, v := range s.Queue {
		n += v
	}
	if n != s.Cycles {
		return fmt.Errorf("%s: invariant violated: cycles by length of the queue = cycles: %d, %d", p.Name(), n, s.Cycles)
	}
	if sent, _ := p.out.Traffic(); sent != p.Sent() {
		return fmt.Errorf("%s: invariant violated: requests on the port = lines read + spilled - waiting: %d, %d", p.Name(), sent, p.Sent())
	}
	if err := errors.Join(p.engine.CheckInvariants(), p.socket.CheckInvariants(s.PopsFull+s.PopsPartial+s.PopsEmpty+s.Gets)); err != nil {
		return fmt.Errorf("%s: %w", p.Name(), err)
	}
	return nil
}

// Waits describes what the unit holds, for reports of machines that are stuck.
func (p *PEG) Waits() string {
	e := p.engine
	if e.pops.Len() == 0 && p.socket.Idle() && e.drained() {
		return ""
	}
	return fmt.Sprintf("%s: %d pops wait; %d edges in the buffer, %d of them valid in front; table entries fi %d, rd %d, fe %d; %d requests to memory under way; drained %v, all done %v",
		p.Name(), e.pops.Len(), e.buffer.n, e.buffer.run, e.table.count[FI], e.table.count[RD], e.table.count[FE], e.port.outstanding(), e.drained(), e.exchange.done)
}

// Architecture returns the unit as programs see it.
func (p *PEG) Architecture() emu.Unit { return architecture{p.engine} }

// architecture is the timed unit for isa/emu, but for its instructions.
type architecture struct{ *Engine }

// Exec completes emu.Unit. It is never called: requests come through the socket.
func (architecture) Exec(*emu.UnitRequest) error {
	panic("BUG: graphpeg: an instruction beside the socket")
}
