package graphpeg

import (
	"fmt"
	"math/bits"

	"heddle/components/queue"
	"heddle/isa/emu"
)

// None is the value for a lane without an edge or a vertex.
const None = ^uint32(0)

// Memory is the functional memory image of the device: the unit's requests carry addresses but no data.
type Memory = *emu.Memory

// Engine is one GraphPEG, cycle by cycle but without a clock: Cycle is one cycle of its three functional units (§3.1)
// and of its ports to core, memory and control processor.
type Engine struct {
	Stats
	Storage Storage
	self    queue.Owner
	dialect *dialect
	spec    Spec // derived
	choices
	shape Shape
	line  uint32 // in words
	mem   Memory

	setup      Setup
	configured bool
	lists      []list
	table      alwt
	buffer     buffer
	latch      []uint32                      // by warp, field, lane: the edges of its last pop
	pops       queue.Queue[*emu.UnitRequest] // not served yet, at most one per warp
	answers    queue.Timed[*emu.UnitRequest] // on their way to the core
	port       memoryPort
	tlb        tlb
	chunks     []chunk
	freeChunks []int32
	exchange   exchange
	giving     vertexDonation
	taking     vertexIntake

	last              uint64 // last cycle counted
	gatheredAbandoned uint64 // those of EdgesAbandoned that were in the buffer
	entryTime         uint64 // entries × cycles
	stalled           stall
	pushHeld          bool                 // a push waits for room
	noMorePops        uint64               // first cycle from which no warp pops; 0: warps may pop
	watch             func(act []uint32)   // reports the host's actions; first core's unit only; nil: no observer
	since             [emu.MaxWarps]uint64 // by warp: arrival of its pop

	// Inputs and results of the current cycle.
	head  *emu.UnitRequest
	room  bool
	moved bool
	step  Step

	circuit *follower // nil: the Engine decides
}

// choices are the policies of the Spec, decoded once so that no cycle compares their names.
type choices struct {
	donationFirst   bool // donation_priority: donation
	releaseAtReturn bool // fe_release: return
	spillByVertex   bool // spill: vertex
}

// Step is the activity of one cycle at the ports.
type Step struct {
	Took    bool             // the unit has accepted the request at the head of the queue
	Err     error            // with Took: a program error; otherwise the unit cannot continue
	Answer  *emu.UnitRequest // leaves for the core, with its Out
	Request Request          // leaves for memory, if HasRequest
	// HasRequest is set if Request is valid; Moved, if the next cycle may differ without new inputs.
	HasRequest, Moved bool
	WakeAt            uint64 // without Moved: the cycle in which time alone changes something; 0: none
}

// chunk is the edges of one line of the edge array, in flight to their slots.
type chunk struct {
	base, first, n uint32
	slot           int
	awaited        int // lines
	entry          int
}

// NewEngine returns the unit of a core of that shape. The spec must be derived and fit.
func NewEngine(s Spec, shape Shape) *Engine {
	e := &Engine{
		dialect: &peg, spec: s, shape: shape, line: uint32(shape.LineBytes / 4),
		buffer: newBuffer(s.slots(1), s.PopOrder == "arrival"), latch: make([]uint32, shape.Warps*4*shape.Threads),
		self: queue.Owner{Unit: fmt.Sprintf("graphpeg %d", shape.Core)},
		choices: choices{
			donationFirst: s.DonationPriority == "donation", releaseAtReturn: s.FERelease == "return",
			spillByVertex: s.Spill == "vertex",
		},
	}
	e.table = newALWT(s.ALWTEntries)
	e.pops = queue.New[*emu.UnitRequest](shape.Warps, &e.self, "pops")
	e.answers = queue.NewTimed[*emu.UnitRequest](s.BufferLatency+2, &e.self, "answers")
	e.port, e.tlb = newMemoryPort(&e.self, int(e.line)/e.spillWords()), s.tlb()
	e.Storage = s.storage(&shape)
	words := s.listWords(shape.LineBytes / 4)
	for i := range s.VertexLists {
		e.lists = append(e.lists, newList(words, shape.Threads, shape.LineBytes/4, s.ListRegion/shape.LineBytes,
			&e.self, fmt.Sprintf("list %d", i)))
	}
	return e
}

// UseMemory sets the device's memory image.
func (e *Engine) UseMemory(m Memory) { e.mem = m }

// Configure is the host's write to the registers before a launch. Lists keep their vertices, so their regions must not
// move while a list has vertices in memory.
func (e *Engine) Configure(s Setup) error {
	if err := s.Check(&e.spec, &e.shape); err != nil {
		return err
	}
	moved := !e.configured || s.Regions != e.setup.Regions
	for i := range e.lists {
		l := &e.lists[i]
		if moved && l.spilled > 0 {
			return fmt.Errorf("set-up of the graphpeg units: regions: 0x%08x, but list %d of core %d holds vertices in the "+
				"old ones", s.Regions, i, e.shape.Core)
		}
		if moved {
			l.region = s.Regions + uint32((e.shape.Core*(e.spec.VertexLists+1)+i)*e.spec.ListRegion)
		}
	}
	e.setup, e.configured = s, true
	e.circuit.tell(HostAct{Kind: HostSetup, Setup: e.ownSetup()})
	return nil
}

// Launch begins a kernel: lists stay, and edges that no warp has popped are discarded.
func (e *Engine) Launch() {
	if e.port.outstanding() != 0 {
		panic(fmt.Sprintf("BUG: %s @%d: launched with %d requests under way", e.self.Unit, e.self.Now,
			e.port.outstanding()))
	}
	e.EdgesAbandoned += e.left()
	e.gatheredAbandoned += uint64(e.buffer.filled)
	e.table.clear()
	e.buffer.clear(e.spec.slots(bits.OnesCount32(e.setup.Fields)))
	for i := range e.latch {
		e.latch[i] = None
	}
	e.pops.Clear()
	e.answers.Clear()
	e.stalled, e.pushHeld = noStall, false
	e.noMorePops = 0
	e.giving, e.taking = vertexDonation{}, vertexIntake{}
	e.exchange.launch()
	e.waits(e.last)
	if e.circuit != nil {
		e.circuit.launch(e)
	}
}

// Cycle runs one cycle. head is the oldest request, or nil; room reports whether an answer may leave, port whether a
// request may go to memory. Cycles after one that was not Moved may be skipped, up to its WakeAt.
//
// Arrive and Command come before Cycle, so data that has arrived and commands are visible in the same cycle. The stages
// run back to front:
//
//   - finish frees a slot of answers before serve and accept need one.
//   - serve comes before accept, so a pop is served one cycle after its acceptance at the earliest, and before gather,
//     so the buffer slots that it frees can be reserved in this cycle. discard frees slots likewise.
//   - gather runs its own stages back to front: an entry that changes status is not used by the next stage before the
//     next cycle.
//   - coordinate, give and accrue see the vertices pushed in this cycle.
//   - send comes after all stages that make requests: a request may leave in the cycle in which it is made.
//   - reportDrained and waits see the state at the end of the cycle.
func (e *Engine) Cycle(now uint64, head *emu.UnitRequest, room, port bool) Step {
	e.Settle(now)
	e.self.Now, e.head, e.room, e.moved, e.step = now, head, room, false, Step{}
	e.pushHeld = false
	e.finish()
	e.serve()
	e.discard()
	e.accept()
	if e.configured && !e.setup.VertexMode {
		e.gather()
	}
	e.coordinate()
	e.give()
	e.accrue()
	e.send(port)
	e.reportDrained()
	e.waits(now)
	e.step.Moved = e.moved
	if !e.answers.Empty() && !e.moved {
		e.step.WakeAt = max(e.answers.First(), now+1)
	}
	if e.tlb.walking && !e.moved && (e.step.WakeAt == 0 || e.tlb.ready < e.step.WakeAt) {
		e.step.WakeAt = max(e.tlb.ready, now+1)
	}
	return e.step
}

// gather is a cycle of the edge gathering unit, back to front, and of the EF exchange unit's insertion into the table.
func (e *Engine) gather() {
	e.fetchEdges()
	if e.table.promote() {
		e.moved = true
	}
	if e.donationFirst {
		e.insert()
		e.fetchOffsets()
		return
	}
	e.fetchOffsets()
	e.insert()
}

// fetchOffsets requests the offsets of the next vertex of the input list (IVD → FI).
func (e *Engine) fetchOffsets() {
	in := &e.lists[e.setup.In]
	if in.ready() == 0 || len(e.table.free) == 0 || !e.port.free(offsetSource) {
		return
	}
	v := in.take()
	e.moved = true
	e.VerticesGathered++
	if v >= e.setup.Vertices {
		e.fail("vertex %d in list %d: the set-up says there are %d", int32(v), e.setup.In, e.setup.Vertices)
		return
	}
	at := e.setup.Offsets + 4*v
	lines := 1 + int(e.lineOf(at+4)-e.lineOf(at))
	i := e.table.allocate(v, lines)
	for k := range lines {
		e.read(offsetSource, at+uint32(4*k), i, 0)
	}
	e.OffsetLines += uint64(lines)
}

func (e *Engine) lineOf(addr uint32) uint32 { return addr / (4 * e.line) }

// offsets handles the arrival of a line of offsets (FI → RD with the last one).
func (e *Engine) offsets(i int) {
	t := &e.table.entries[i]
	if t.awaited--; t.awaited > 0 {
		return
	}
	at := e.setup.Offsets + 4*t.base
	start, end := e.mem.Load32(at), e.mem.Load32(at+4)
	if start > end || end > e.setup.Edges {
		e.fail("vertex %d: its edges are %d..%d, but the set-up says there are %d", t.base, start, end, e.setup.Edges)
		return
	}
	e.Degrees += uint64(end - start)
	e.table.fill(i, start, end)
}

// fetchEdges requests the FE entry's next line of edges, and their weights, if slots can be reserved for all of them.
func (e *Engine) fetchEdges() {
	i := e.table.fe
	if i < 0 || !e.port.free(edgeSource) {
		return
	}
	t := &e.table.entries[i]
	if t.start == t.end {
		return // waits for its data
	}
	at := e.setup.Neighbours + 4*t.start
	n := min(e.line-at/4%e.line, t.left())
	if e.buffer.free() < int(n) {
		return
	}
	e.moved = true
	c := e.newChunk(chunk{base: t.base, first: t.start, n: n, slot: e.buffer.reserve(int(n)), entry: i})
	e.request(c, at)
	t.chunks++
	e.table.request(n)
	e.endFetch(i)
}

// request requests the lines of a chunk: one of edges, and those of their weights.
func (e *Engine) request(i int32, at uint32) {
	c := &e.chunks[i]
	c.awaited = 1
	e.read(edgeSource, at, int(i), 0)
	e.EdgeLines++
	if e.setup.Fields&FieldWt == 0 {
		return
	}
	w := e.setup.Weights + 4*c.first
	for l := e.lineOf(w); l <= e.lineOf(w+4*(c.n-1)); l++ {
		c.awaited++
		e.read(edgeSource, l*4*e.line, int(i), 0)
		e.WeightLines++
	}
}

// endFetch frees the FE entry when it has nothing left, at the time that fe_release selects.
func (e *Engine) endFetch(i int) {
	t := &e.table.entries[i]
	if t.status == FE && t.start == t.end && (t.chunks == 0 || !e.releaseAtReturn) {
		e.table.release(i)
	}
}

func (e *Engine) newChunk(c chunk) int32 {
	n := len(e.freeChunks) - 1
	if n < 0 {
		e.chunks = append(e.chunks, c)
		return int32(len(e.chunks) - 1)
	}
	i := e.freeChunks[n]
	e.freeChunks = e.freeChunks[:n]
	e.chunks[i] = c
	return i
}

// data handles the arrival of a line of a chunk: its slots become valid with the last one.
func (e *Engine) data(i int) {
	c := &e.chunks[i]
	if c.awaited--; c.awaited > 0 {
		return
	}
	for k := range c.n {
		*e.buffer.fill(c.slot, int(k)) = e.load(c, c.first+k)
	}
	e.buffer.extend()
	e.EdgesGathered += uint64(c.n)
	if e.table.watch != nil {
		e.table.watch("edges", -1, "%d of vertex %d, from edge %d on", c.n, c.base, c.first)
	}
	e.freeChunks = append(e.freeChunks, int32(i))
	if e.releaseAtReturn {
		e.table.entries[c.entry].chunks--
		e.endFetch(c.entry)
	}
}

func (e *Engine) load(c *chunk, number uint32) edge {
	weight := uint32(0)
	if e.setup.Fields&FieldWt != 0 {
		weight = e.mem.Load32(e.setup.Weights + 4*number)
	}
	return makeEdge(e.setup.Pull, c.base, e.mem.Load32(e.setup.Neighbours+4*number), weight, number)
}

// coordinate is a cycle of the vertex coordination unit: it spills at most one line and refills at most one.
func (e *Engine) coordinate() {
	for i := range e.lists {
		l := &e.lists[i]
		if l.wantsSpill() && e.port.free(spillSource) {
			e.spill(i)
		}
		if l.wantsRefill() && e.port.free(refillSource) {
			addr, ticket := l.refill()
			e.read(refillSource, addr, i, ticket)
			e.Refilled += uint64(l.line)
			e.moved = true
		}
	}
}

func (e *Engine) spill(i int) {
	l := &e.lists[i]
	if l.overflows() {
		e.fail("list %d: its region of %d bytes is full (list_region)", i, e.spec.ListRegion)
		return
	}
	addr, words := l.spill(e.mem), e.spillWords()
	for at := 0; at < l.line; at += words {
		e.port.write(spillSource, addr+uint32(4*at))
		e.SpillLines++
	}
	e.Spilled += uint64(l.line)
	e.moved = true
}

// spillWords returns the number of vertices per spill request.
func (e *Engine) spillWords() int {
	if e.spillByVertex {
		return 1
	}
	return int(e.line)
}

// fail ends the run: the host's set-up is wrong, or a region too small.
func (e *Engine) fail(format string, args ...any) {
	if e.exchange.err == nil {
		e.exchange.err = fmt.Errorf("graphpeg of core %d: %s", e.shape.Core, fmt.Sprintf(format, args...))
		e.step.Err = e.exchange.err
	}
}

// Err returns the error that ended the run.
func (e *Engine) Err() error { return e.exchange.err }

// drained reports whether no work is left in this unit (our term: locally drained).
func (e *Engine) drained() bool {
	if !e.configured {
		return true
	}
	return e.available() == 0 && e.exhausted()
}

// available returns the number of edges, or vertices, that a pop could take.
func (e *Engine) available() int {
	if e.setup.VertexMode {
		return e.lists[e.setup.In].ready()
	}
	return e.buffer.run
}

// exhausted reports whether no more will become available, except by a future donation.
func (e *Engine) exhausted() bool {
	in := &e.lists[e.setup.In]
	if e.setup.VertexMode {
		return in.ready() == in.size()
	}
	return in.size() == 0 && e.table.used() == 0 && e.buffer.n == e.buffer.filled && !e.exchange.pending
}

// Name returns the name of the isa extension that the unit executes.
func (e *Engine) Name() string { return e.dialect.name }

// Presence returns the unit's bit in the units CSR.
func (e *Engine) Presence() uint32 { return e.dialect.presence }

// CSR implements emu.Unit: the unit has no CSRs.
func (e *Engine) CSR(uint16) (uint32, bool) { return 0, false }

// left returns the number of edges neither popped nor donated.
func (e *Engine) left() uint64 { return e.table.edges + uint64(e.buffer.n) + e.exchange.edges() }

// EFS returns the register R_EFS (§3.3.2).
func (e *Engine) EFS() uint32 { return uint32(uint64(e.buffer.n) + e.table.edges) }
