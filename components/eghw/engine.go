package eghw

import (
	"fmt"

	"heddle/components/queue"
	"heddle/isa"
	"heddle/isa/emu"
)

// None is the value for a lane without an edge.
const None = ^uint32(0)

// Memory is the functional memory image of the device: requests carry addresses but no data.
type Memory = *emu.Memory

// Request is a read of a line. The answer carries its Tag.
type Request struct{ Addr, Tag uint32 }

// Engine is one unit, cycle by cycle but without a clock: Cycle is one cycle of its parts and of its ports to core,
// scratchpad and memory.
type Engine struct {
	Stats
	self  queue.Owner
	spec  Spec // derived
	shape Shape
	line  uint32 // in words
	mem   Memory

	setup      Setup
	configured bool

	vertices queue.Queue[uint32] // pushed and not begun
	pushed   int                 // vertices pushed since all edges were last popped
	ahead    queue.Queue[row]    // vertices begun, in order
	chunks   queue.Queue[chunk]  // lines of edges, in order
	buffer   queue.Queue[edge]   // ready edges
	reserved int                 // entries of the buffer that chunks will fill
	latch    []edge              // by warp and lane: the edges of its last pop
	pops     queue.Queue[*emu.UnitRequest]
	since    [emu.MaxWarps]uint64          // by warp: arrival of its pop
	answers  queue.Timed[*emu.UnitRequest] // on their way to the core

	outbox   queue.Queue[read]  // requests that have not left
	reads    []read             // without an answer, by tag
	spare    []uint32           // free tags
	portFree uint64             // first cycle in which the scratchpad's port is free
	writing  bool               // the first chunk is being written through it
	watch    func(act []uint32) // reports the host's actions; first core's unit only; nil: no observer
	err      error

	last             uint64 // last cycle counted
	state            state
	writtenAbandoned uint64 // those of EdgesAbandoned that were in the buffer

	// Inputs and results of the current cycle.
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

// chunk is the edges of one line, and their reads.
type chunk struct {
	base, first, n uint32
	awaited        int // lines
}

// edge is a complete edge: its fields in the order of isa's functions from EghwPop.
type edge [3]uint32

// read is a requested line.
type read struct {
	addr  uint32
	row   *row // row whose offsets it contains; nil: the read is a chunk's
	chunk *chunk
}

// Step is the activity of one cycle at the ports.
type Step struct {
	Took    bool             // the unit has taken the request at the head of the queue
	Err     error            // with Took: a program error
	Answer  *emu.UnitRequest // leaves for the core, with its Out
	Request Request          // leaves for memory, if HasRequest
	// HasRequest is set if Request is valid; Moved, if the next cycle may differ without new inputs.
	HasRequest, Moved bool
	WakeAt            uint64 // without Moved: the cycle in which time alone changes something; 0: none
}

// NewEngine returns the unit of a core of that shape. The spec must be derived and fit.
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

// UseMemory sets the device's memory image.
func (e *Engine) UseMemory(m Memory) { e.mem = m }

// Launch begins a kernel: edges that no warp has popped are discarded.
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

// Cycle runs one cycle. head is the oldest request, or nil; room reports whether an answer may leave, port whether a
// request may go to memory. Cycles after one that was not Moved may be skipped, up to its WakeAt.
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

// wake returns the cycle in which time alone changes something.
func (e *Engine) wake() (at uint64) {
	if e.portFree > e.self.Now {
		at = e.portFree
	}
	if answer := e.answers.Next(e.self.Now, queue.Never); answer != queue.Never && (at == 0 || answer < at) {
		at = answer
	}
	return at
}

// scratchpad occupies the port for that many words, if it is free: for as many cycles as the words of one lane.
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

// fetchOffsets begins the next vertex, and requests its offsets.
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

// read requests a line.
func (e *Engine) read(r read) {
	e.outbox.Push(r)
	e.moved = true
}

// send sends a request.
func (e *Engine) send(free bool) {
	n := len(e.spare) - 1
	if e.outbox.Len() == 0 || n < 0 || !free {
		return
	}
	r, tag := e.outbox.Pop(), e.spare[n]
	e.spare, e.reads[tag] = e.spare[:n], r
	e.step.Request, e.step.HasRequest, e.moved = Request{r.addr &^ (4*e.line - 1), tag}, true, true
}

// underWay returns the number of reads without an answer.
func (e *Engine) underWay() int { return len(e.reads) - len(e.spare) }

// outstanding returns that number plus the requests that have not left.
func (e *Engine) outstanding() int { return e.underWay() + e.outbox.Len() }

// Arrive handles the answer to a read.
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

// offsets handles the arrival of a line of offsets.
func (e *Engine) offsets(r *row) {
	at := e.setup.Offsets + 4*r.vertex
	r.next, r.end = e.mem.Load32(at), e.mem.Load32(at+4)
	if r.next > r.end || r.end > e.setup.Edges {
		e.err = fmt.Errorf("eghw of core %d: vertex %d: its edges are %d..%d, but the set-up says there are %d",
			e.shape.Core, r.vertex, r.next, r.end, e.setup.Edges)
		return
	}
	e.Degrees += uint64(r.end - r.next)
}

// fetchEdges requests the next line of edges of the first vertex, and their weights, if the buffer has room for all of
// them.
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

// passEmpty drops a vertex without remaining edges, one per cycle.
func (e *Engine) passEmpty() {
	if r := e.ahead.Front(); e.ahead.Len() > 0 && r.awaited == 0 && r.next == r.end {
		e.ahead.Pop()
		e.moved = true
	}
}

// inLine returns the number of words of the array from word i to the end of its line.
func (e *Engine) inLine(array, i uint32) uint32 { return e.line - (array/4+i)%e.line }

// write begins to write the first chunk to the buffer, once its data has arrived.
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

// written completes the write: the edges can be popped.
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

// exhausted reports whether no more edges will become available.
func (e *Engine) exhausted() bool {
	return e.vertices.Len() == 0 && e.ahead.Len() == 0 && e.chunks.Len() == 0
}

// left returns the number of edges of vertices with known offsets that have not been popped.
func (e *Engine) left() uint64 {
	n := uint64(e.buffer.Len() + e.reserved)
	for i := range e.ahead.Len() {
		if r := e.ahead.At(i); r.awaited == 0 {
			n += uint64(r.end - r.next)
		}
	}
	return n
}

// Err returns the error that ended the run: the set-up does not fit the graph.
func (e *Engine) Err() error { return e.err }

// Name returns the name of the isa extension that the unit executes.
func (e *Engine) Name() string { return "eghw" }

// Presence returns the unit's bit in the units CSR.
func (e *Engine) Presence() uint32 { return isa.HasEGHW }

// CSR implements emu.Unit: the unit has no CSRs.
func (e *Engine) CSR(uint16) (uint32, bool) { return 0, false }
