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

// PEG is the clocked component of one core's unit: it moves messages between the Engine and the core's socket, memory,
// and the control processor.
type PEG struct {
	clock.Base
	engine *Engine
	socket *accel.Socket

	out *clock.Link[mem.Request]
	in  *clock.Link[mem.Response]

	commands *clock.Link[balance.Command]
	reports  *clock.Link[balance.Report]

	watch probe.Watch // nil: no observer
	told  state       // last state reported to watch
}

var (
	_ accel.Unit       = (*PEG)(nil)
	_ accel.MemoryUser = (*PEG)(nil)
	_ balance.Unit     = (*PEG)(nil)
	_ emu.Unit         = architecture{}
)

// New returns the unit of a core of that shape. The spec must be derived.
func New(name string, s Spec, shape Shape) (*PEG, error) {
	if err := s.Check(shape.Threads, shape.LineBytes); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p := &PEG{Base: clock.NewBase(name), engine: NewEngine(s, shape)}
	p.engine.self.Unit = name
	var err error
	p.engine.circuit, err = s.circuit(name, shape)
	return p, err
}

// Close ends the unit's circuit, if it has one.
func (p *PEG) Close() error {
	if p.engine.circuit == nil {
		return nil
	}
	return p.engine.circuit.circuit.Close()
}

// Plug connects the unit to the core's socket.
func (p *PEG) Plug(s *accel.Socket) { p.socket = s }

// ConnectMemory connects the unit to the memory system.
func (p *PEG) ConnectMemory(out *clock.Link[mem.Request], in *clock.Link[mem.Response]) {
	p.out, p.in = out, in
}

// BypassesL1 returns the spec's bypass_l1.
func (p *PEG) BypassesL1() bool { return p.engine.spec.BypassL1 }

// ConnectBalance connects the unit to the control processor.
func (p *PEG) ConnectBalance(commands *clock.Link[balance.Command], reports *clock.Link[balance.Report]) {
	p.commands, p.reports = commands, reports
}

// Engine returns the unit's logic, for the host and for ideal balancing.
func (p *PEG) Engine() *Engine { return p.engine }

// Take cuts edges off in zero time, for ideal balancing.
func (p *PEG) Take(now clock.Cycle, n uint32) balance.Range {
	p.ClockHandle().Wake()
	return p.engine.Take(now, n)
}

// Give adds edges in zero time, for ideal balancing.
func (p *PEG) Give(now clock.Cycle, r balance.Range) {
	p.ClockHandle().Wake()
	p.engine.Give(now, r)
}

// EFS returns R_EFS.
func (p *PEG) EFS() uint32 { return p.engine.EFS() }

// Movable reports whether Take would find edges.
func (p *PEG) Movable() bool { return p.engine.Movable() }

// QueueEntries returns the spec's request_queue.
func (p *PEG) QueueEntries() int { return p.engine.spec.RequestQueue }

// Traits returns the traits of the unit's functions.
func (p *PEG) Traits() []accel.Traits {
	return p.engine.dialect.traits
}

// Tick runs one cycle.
func (p *PEG) Tick(now clock.Cycle) bool {
	e := p.engine
	if e.Err() != nil || e.circuit != nil && e.circuit.failed != nil {
		return false
	}
	e.Settle(now)
	arrived := p.receive()
	head := p.socket.Waiting()
	room, port := e.answers.Len() == 0 || p.socket.Room(), !p.out.Full()
	step := e.Cycle(now, head, room, port)
	report, reports := e.Report()
	leaves := reports && !p.reports.Full()
	if e.circuit != nil {
		if err := p.follow(head, room, port, &step, &report, reports, leaves); err != nil {
			p.socket.Abort(err)
			return false
		}
	}
	if p.watch != nil {
		p.tell(&step)
	}
	if leaves {
		p.reports.Push(report)
		e.Reported()
	}
	p.act(head, &step)
	if step.WakeAt != 0 {
		p.ClockHandle().WakeAt(step.WakeAt)
	}
	return step.Moved || arrived || leaves
}

// receive takes an answer of memory and a command.
func (p *PEG) receive() (arrived bool) {
	if p.in.Ready() {
		tag := p.in.Pop().Tag
		p.engine.circuit.arrives(p.engine, tag)
		p.engine.Arrive(tag)
		arrived = true
	}
	if p.commands.Ready() {
		c := p.commands.Pop()
		p.engine.circuit.commanded(p.engine, c)
		p.engine.Command(c)
		arrived = true
	}
	return arrived
}

// act sends the results of the cycle.
func (p *PEG) act(head *emu.UnitRequest, step *Step) {
	if step.HasRequest {
		r := mem.Request{Addr: step.Request.Addr, Tag: step.Request.Tag}
		if step.Request.Write {
			r.Op = mem.Write
		}
		p.out.Push(r)
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
}

// take removes the request from the queue. A request without an answer is done.
func (p *PEG) take(r *emu.UnitRequest, err error) {
	p.socket.Take()
	switch {
	case err != nil:
		p.socket.Fail(r.Tag, err)
	case !p.engine.dialect.traits[r.Fn].Answered:
		p.socket.Done(r.Tag)
	}
}

// Sent returns the number of requests sent to memory.
func (p *PEG) Sent() uint64 {
	return p.engine.LinesRead + p.engine.SpillLines - uint64(p.engine.port.waiting())
}

// Balanced returns the numbers of edges and vertices given to and received from other cores.
func (p *PEG) Balanced() (donated, received [2]uint64) {
	e := p.engine
	return [2]uint64{e.EdgesDonated, e.VerticesGiven}, [2]uint64{e.EdgesReceived, e.VerticesTaken}
}

// Pending returns the number of operations that the unit will complete without further requests.
func (p *PEG) Pending() int {
	if p.engine.Err() != nil {
		return 0
	}
	return p.engine.port.outstanding()
}

// Start begins a launch: the unit acts at once.
func (p *PEG) Start() { p.ClockHandle().Wake() }

// Stats returns the counts up to cycle now.
func (p *PEG) Stats(now clock.Cycle) Stats {
	p.engine.Settle(now)
	s := p.engine.Stats
	count.In(&s).Settle(now)
	s.Queue, s.QueueFull = p.socket.Queue(now)
	return s
}

// Statistics returns Stats, for code that is generic over units.
func (p *PEG) Statistics(now clock.Cycle) any {
	s := p.Stats(now)
	return &s
}

// CheckInvariants returns an error if the unit's counts up to cycle now contradict each other.
func (p *PEG) CheckInvariants(now clock.Cycle) error {
	s := p.Stats(now)
	n := uint64(0)
	for _, v := range s.Queue {
		n += v
	}
	if n != s.Cycles {
		return fmt.Errorf("%s: invariant violated: cycles by length of the queue = cycles: %d, %d", p.Name(), n,
			s.Cycles)
	}
	if sent, _ := p.out.Traffic(); sent != p.Sent() {
		return fmt.Errorf("%s: invariant violated: requests on the port = lines read + spilled - waiting: %d, %d",
			p.Name(), sent, p.Sent())
	}
	if err := errors.Join(p.engine.CheckInvariants(),
		p.socket.CheckInvariants(s.PopsFull+s.PopsPartial+s.PopsEmpty+s.Gets)); err != nil {
		return fmt.Errorf("%s: %w", p.Name(), err)
	}
	return nil
}

// Waits describes the unit's contents, for reports of stuck machines.
func (p *PEG) Waits() string {
	e := p.engine
	if e.pops.Len() == 0 && p.socket.Idle() && e.drained() {
		return ""
	}
	return fmt.Sprintf("%s: %d pops wait; %d edges in the buffer, %d of them valid in front; table entries fi %d, rd "+
		"%d, fe %d; %d requests to memory under way; drained %v, all done %v",
		p.Name(), e.pops.Len(), e.buffer.n, e.buffer.run, e.table.count[FI], e.table.count[RD], e.table.count[FE],
		e.port.outstanding(), e.drained(), e.exchange.done)
}

// Architecture returns the unit as programs see it.
func (p *PEG) Architecture() emu.Unit { return architecture{p.engine} }

// architecture implements emu.Unit for the timed unit, except for its instructions.
type architecture struct{ *Engine }

// Exec implements emu.Unit. It is never called: requests come through the socket.
func (architecture) Exec(*emu.UnitRequest) error {
	panic("BUG: graphpeg: an instruction beside the socket")
}

// follow lets the circuit play the cycle.
func (p *PEG) follow(head *emu.UnitRequest, room, port bool, step *Step, report *balance.Report,
	has, leaves bool) error {
	if !has {
		report = nil
	}
	return p.engine.circuit.follow(p.engine, head, room, port, step, report, !leaves)
}
