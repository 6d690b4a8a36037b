package eghw

import (
	"fmt"

	"heddle/components/queue"
	"heddle/isa"
	"heddle/isa/emu"
)

// None is the value for a lane without an edge.
const None = ^uint32(0)

// Memory is the device's image: addresses travel, data does not.
type Memory = *emu.Memory

// Request is a read of a line; it is answered by its Tag.
type Request struct{ Addr, Tag uint32 }

// Engine is one unit in time, without a clock: a Cycle is one cycle of its parts and of its
// ports to core, scratchpad and memory.
type Engine struct {
	Stats
	self  queue.Owner
	spec  Spec // derived
	shape Shape
	line  uint32 // words
	mem   Memory

	setup      Setup
	configured bool

	vertices queue.Queue[uint32] // pushed, and not taken up
	pushed   int                 // since all edges have last been taken
	ahead    queue.Queue[row]    // vertices taken up, in order
	chunks   queue.Queue[chunk]  // lines of edges, in order
	buffer   queue.Queue[edge]   // ready edges
	reserved int                 // entries of the buffer that chunks will fill
	latch    []edge              // by warp and lane: the edges of its last pop
	pops     queue.Queue[*emu.UnitRequest]
	since    [emu.MaxWarps]uint64          // by warp: when its pop came
	answers  queue.Timed[*emu.UnitRequest] // on their way to the core

	outbox   queue.Queue[read]  // what has not left
	reads    []read             // without an answer, by tag
	spare    []uint32           // tags that are free
	portFree uint64             // the cycle from which the scratchpad's port can be used
	writing  bool               // the first chunk is on its way through it
	watch    func(act []uint32) // is told what the host does, of the first core's unit; nil: nobody is
	err      error

	last             uint64 // the last cycle that was counted
	state            state
	writtenAbandoned uint64 // of EdgesAbandoned, those in the buffer

	// Of this cycle: its inputs, and what it did.
	head  *emu.UnitRequest
	room  bool
	moved bool
	step  Step
}

// row is a vertex whose offsets are being read, or known.
type row struct {
	vertex, next, end uint32
	awaited           int // lines
}

// chunk is the edges of one line, and what reads them.
type chunk struct {
	base, first, n uint32
	awaited        int // lines
}

// edge is a ready one: its fields in the order of isa's functions from EghwPop.
type edge [3]uint32

// read is a line that is asked for.
type read struct {
	addr  uint32
	row   *row // whose offsets it has; nil: it is a chunk's
	chunk *chunk
}

// Step describes the activity of one cycle at the ports.
type Step struct {
	Took    bool             // the request at the head of the queue is with the unit
	Err     error            // with Took: it is a program error
	Answer  *emu.UnitRequest // has its Out, and goes to the core
	Request Request          // goes to memory, if HasRequest
	// HasRequest reports whether there is one. Moved: the next cycle may differ without any input.
	HasRequest, Moved bool
	WakeAt            uint64 // not Moved: when time alone changes something; 0: never
}

// NewEngine makes the unit of a core of that shape. The spec must be derived and fit.
func NewEngine(s Spec, shape Shape) *Engine {
	e := &Engine{
		spec: s, shape: shape, line: uint32(shape.LineBytes / 4), latch: make([]edge, shape.Warps*shape.Threads),
		reads: make([]read, s.OutstandingLines), self: queue.Owner{Unit: fmt.Sprintf("eghw %d", shape.Core)},
	}
	e.vertices = queue.New[uint32](vertexEntries(&shape), &e.self, "vertices that wait")
	e.ahead = queue.New[row](s.Lookahead, &e.self, "vertices taken up")
	e.chunks = queue.New[chunk](s.OutstandingLines, &e.self, "lines of edges")
	e.buffer = queue.New[edge](s.BufferEntries, &e.self, "edge buffer")
	e.pops = queue.New[*emu.UnitRequest](shape.Warps, &e.self, "pops")
	e.answers = queue.NewTimed[*emu.UnitRequest](s.BufferLatency+s.ReadWords+1, &e.self, "answers")
	e.outbox = queue.New[read](2, &e.self, "reads to send")
	for tag := range e.reads {
		e.spare = append(e.spare, uint32(tag))
	}
	return e
}

// UseMemory gives the unit the device's image.
func (e *Engine) UseMemory(m Memory) { e.mem = m }

// Launch is a kernel launch: what nobody has taken is forgotten.
func (e *Engine) Launch() {
	if n := e.outstanding(); n != 0 {
		panic(fmt.Sprintf("BUG: %s @%d: launched with %d reads under way", e.self.Unit, e.self.Now, n))
	}
	e.EdgesAbandoned += e.left()
	e.writtenAbandoned += uint64(e.buffer.Len())
	e.VerticesAbandoned += uint64(e.vertices.Len())
	e.vertices.Clear()
	e.chunks.Clear()
	e.ahead.Clear()
	e.buffer.Clear()
	e.pops.Clear()
	e.answers.Clear()
	e.pushed, e.reserved, e.writing, e.state = 0, 0, false, idle
	for i := range e.latch {
		e.latch[i] = edge{None, None, None}
	}
}

// Cycle moves the unit by one cycle. head is the request that waits longest, or nil;
// room reports whether an answer may leave, port that a request may go to memory. Cycles may be
// left out while the last was not Moved, but for its WakeAt.
func (e *Engine) Cycle(now uint64, head *emu.UnitRequest, room, port bool) Step {
	e.Settle(now)
	e.self.Now, e.head, e.room, e.moved, e.step = now, head, room, false, Step{}
	e.finish()
	e.written()
	e.serve()
	e.write()
	e.accept()
	e.fetchEdges()
	e.fetchOffsets()
	e.send(port)
	e.state = e.waitsFor()
	e.step.Moved = e.moved
	if !e.moved {
		e.step.WakeAt = e.wake()
	}
	return e.step
}

// wake is when time alone changes something.
func (e *Engine) wake() (at uint64) {
	if e.portFree > e.self.Now {
		at = e.portFree
	}
	if answer := e.answers.Next(e.self.Now, queue.Never); answer != queue.Never && (at == 0 || answer < at) {
		at = answer
	}
	return at
}

// scratchpad takes the port for that many words, if it is free: as many cycles as a word a lane needs.
func (e *Engine) scratchpad(words int) bool {
	if e.self.Now < e.portFree {
		return false
	}
	n := max(1, (words+e.shape.Threads-1)/e.shape.Threads)
	e.portFree = e.self.Now + uint64(n)
	e.PortBusy += uint64(n)
	e.moved = true
	return true
}

// fetchOffsets takes up the next vertex, and asks for its offsets.
func (e *Engine) fetchOffsets() {
	if e.vertices.Len() == 0 || e.ahead.Full() || e.outbox.Len() > 0 {
		return
	}
	at := e.setup.Offsets + 4**e.vertices.Front()
	lines := 1 + int(e.lineOf(at+4)-e.lineOf(at))
	if !e.scratchpad(1) {
		return
	}
	e.WordsRead++
	r := e.ahead.Add()
	*r = row{vertex: e.vertices.Pop(), awaited: lines}
	e.VerticesTaken++
	e.OffsetLines += uint64(lines)
	for k := range lines {
		e.read(read{addr: at + uint32(4*k), row: r})
	}
}

func (e *Engine) lineOf(addr uint32) uint32 { return addr / (4 * e.line) }

// read has a line asked for.
func (e *Engine) read(r read) {
	e.outbox.Push(r)
	e.moved = true
}

// send lets a request leave.
func (e *Engine) send(free bool) {
	n := len(e.spare) - 1
	if e.outbox.Len() == 0 || n < 0 || !free {
		return
	}
	r, tag := e.outbox.Pop(), e.spare[n]
	e.spare, e.reads[tag] = e.spare[:n], r
	e.step.Request, e.step.HasRequest, e.moved = Request{r.addr &^ (4*e.line - 1), tag}, true, true
}

// underWay is how many reads have no answer.
func (e *Engine) underWay() int { return len(e.reads) - len(e.spare) }

// outstanding counts those that have not left, too.
func (e *Engine) outstanding() int { return e.underWay() + e.outbox.Len() }

// Arrive is told that a read has been answered.
func (e *Engine) Arrive(tag uint32) {
	e.LinesAnswered++
	e.spare = append(e.spare, tag)
	r := e.reads[tag]
	if r.row == nil {
		r.chunk.awaited--
		return
	}
	if r.row.awaited--; r.row.awaited == 0 {
		e.offsets(r.row)
	}
}

// offsets are back.
func (e *Engine) offsets(r *row) {
	at := e.setup.Offsets + 4*r.vertex
	r.next, r.end = e.mem.Load32(at), e.mem.Load32(at+4)
	if r.next > r.end || r.end > e.setup.Edges {
		e.err = fmt.Errorf("eghw of core %d: vertex %d: its edges are %d..%d, but the set-up says there are %d", e.shape.Core, r.vertex, r.next, r.end, e.setup.Edges)
		return
	}
	e.Degrees += uint64(r.end - r.next)
}

// fetchEdges asks for the next line of edges of the first vertex, and for their weights, if the buffer has
// room for all of them.
func (e *Engine) fetchEdges() {
	e.passEmpty()
	if e.ahead.Len() == 0 || e.ahead.Front().awaited > 0 || e.chunks.Full() || e.outbox.Len() > 0 || e.err != nil {
		return
	}
	r := e.ahead.Front()
	n := min(e.inLine(e.setup.Neighbours, r.next), r.end-r.next, uint32(e.spec.EdgesPerRead))
	if e.setup.Weights != 0 {
		n = min(n, e.inLine(e.setup.Weights, r.next))
	}
	if e.spec.BufferEntries-e.buffer.Len()-e.reserved < int(n) {
		return
	}
	c := e.chunks.Add()
	*c = chunk{base: r.vertex, first: r.next, n: n, awaited: 1}
	e.read(read{addr: e.setup.Neighbours + 4*r.next, chunk: c})
	e.EdgeLines++
	if e.setup.Weights != 0 {
		c.awaited = 2
		e.read(read{addr: e.setup.Weights + 4*r.next, chunk: c})
		e.WeightLines++
	}
	e.reserved += int(n)
	r.next += n
}

// passEmpty drops a vertex that has no edges left, one a cycle.
func (e *Engine) passEmpty() {
	if r := e.ahead.Front(); e.ahead.Len() > 0 && r.awaited == 0 && r.next == r.end {
		e.ahead.Pop()
		e.moved = true
	}
}

// inLine is how many words of the array there are from word i to the end of its line.
func (e *Engine) inLine(array, i uint32) uint32 { return e.line - (array/4+i)%e.line }

// write starts to write the first chunk to the buffer, when its data is there.
func (e *Engine) write() {
	if e.writing || e.chunks.Len() == 0 || e.chunks.Front().awaited > 0 {
		return
	}
	words := int(e.chunks.Front().n) * e.spec.WriteWords
	if e.scratchpad(words) {
		e.WordsWritten += uint64(words)
		e.writing = true
	}
}

// written ends it: the edges are ready.
func (e *Engine) written() {
	if !e.writing || e.self.Now < e.portFree {
		return
	}
	c := e.chunks.Pop()
	for i := c.first; i < c.first+c.n; i++ {
		weight := uint32(0)
		if e.setup.Weights != 0 {
			weight = e.mem.Load32(e.setup.Weights + 4*i)
		}
		e.buffer.Push(edge{c.base, e.mem.Load32(e.setup.Neighbours + 4*i), weight})
	}
	e.EdgesWritten += uint64(c.n)
	e.reserved -= int(c.n)
	e.writing, e.moved = false, true
}

// exhausted reports whether no more edges will become ready.
func (e *Engine) exhausted() bool {
	return e.vertices.Len() == 0 && e.ahead.Len() == 0 && e.chunks.Len() == 0
}

// left is how many edges of vertices with known offsets are not popped.
func (e *Engine) left() uint64 {
	n := uint64(e.buffer.Len() + e.reserved)
	for i := range e.ahead.Len() {
		if r := e.ahead.At(i); r.awaited == 0 {
			n += uint64(r.end - r.next)
		}
	}
	return n
}

// Err returns what ended the run: the set-up does not fit the graph.
func (e *Engine) Err() error { return e.err }

// Name is the unit of isa's rows that it executes.
func (e *Engine) Name() string { return "eghw" }

// Presence is the unit's bit in the units CSR.
func (e *Engine) Presence() uint32 { return isa.HasEGHW }

// CSR: the unit has none.
func (e *Engine) CSR(uint16) (uint32, bool) { return 0, false }
