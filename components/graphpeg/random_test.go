package graphpeg

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/balance"
	"heddle/components/count"
	"heddle/configs/schema"
	"heddle/internal/testenv"
	"heddle/isa"
	"heddle/isa/emu"
)

const (
	offsetsAt    = 0x1000_0000
	neighboursAt = 0x2000_0004 // not at the start of a line
	weightsAt    = 0x3000_0008
	regionsAt    = 0x4000_0000
)

// testGraph is a random graph in a device's memory.
type testGraph struct {
	offsets, neighbours, owner []uint32
}

func newTestGraph(r *rand.Rand, mem *emu.Memory, vertices int) *testGraph {
	g := &testGraph{offsets: []uint32{0}}
	for v := range vertices {
		degree := r.IntN(6)
		if r.IntN(12) == 0 {
			degree = r.IntN(200)
		}
		for range degree {
			g.neighbours = append(g.neighbours, uint32(r.IntN(vertices)))
			g.owner = append(g.owner, uint32(v))
		}
		g.offsets = append(g.offsets, uint32(len(g.neighbours)))
	}
	for i, o := range g.offsets {
		mem.Store32(offsetsAt+uint32(4*i), o)
	}
	for i, d := range g.neighbours {
		mem.Store32(neighboursAt+uint32(4*i), d)
		mem.Store32(weightsAt+uint32(4*i), weightOf(i))
	}
	return g
}

func weightOf(number int) uint32 { return uint32(7*number + 3) }

func (g *testGraph) setup(fields uint32, pull bool) Setup {
	return Setup{
		Fields: fields, Pull: pull, Vertices: uint32(len(g.offsets) - 1), Offsets: offsetsAt,
		Edges:      uint32(len(g.neighbours)),
		Neighbours: neighboursAt, Weights: weightsAt, Out: 1, Regions: regionsAt,
	}
}

// rig is some units, a memory that answers late and in any order, warps that take edges and push vertices, and a
// controller that orders donations at random moments.
type rig struct {
	t      *testing.T
	r      *rand.Rand
	mem    *emu.Memory
	graph  *testGraph
	spec   Spec
	shape  Shape
	cores  []*rigCore
	host   Host
	now    uint64
	delay  int // of memory, at most
	greedy bool
	open   int // donations
	ended  bool
	fault  error // of a circuit

	edges  []int // by number: how often it came
	pushed [][]uint32
	popped []uint32 // in vertex-list mode
}

type rigCore struct {
	id       int
	e        *Engine
	warps    []rigWarp
	queue    []*emu.UnitRequest
	reads    []flight
	commands []balance.Command
	drained  bool
	busy     bool // donates or receives
	gives    bool // vertices, or receives some
	heir     *rigCore
	partner  *rigCore
}

type flight struct {
	tag uint32
	at  uint64
}

type rigWarp struct {
	waits, over bool
	numbers     []uint32 // of its last pop, by lane
}

var specSchema = schema.New[Spec]("")

// newRig draws a rig; keys in keep have their defaults.
func newRig(t *testing.T, seed uint64, cores int, keep ...string) *rig {
	r := rand.New(rand.NewPCG(seed, 77))
	g := &rig{t: t, r: r, mem: emu.NewMemory(), delay: 1 + r.IntN(2)*r.IntN(300), greedy: r.IntN(2) == 0}
	g.graph = newTestGraph(r, g.mem, 1+r.IntN(300))
	g.shape = Shape{Cores: cores, Warps: 1 + r.IntN(6), Threads: 1 << r.IntN(6), LineBytes: 16 << r.IntN(4)}
	line := g.shape.LineBytes / 4
	d := schema.Drawing[Spec]{
		Rand: r, Keep: append(keep, "list_region", "model"),
		Most: map[string]int64{"alwt_entries": 30, "edge_buffer_bytes": 2 << 10, "scratchpad_limit": 4 << 10,
			"vertex_lists": 5, "buffer_latency": 8},
		Fit: func(s *Spec) { // four fields an edge, and room for lists
			s.EdgeBufferBytes = max(s.EdgeBufferBytes, 16*minSlots(g.shape.Threads, line))
			s.ScratchpadLimit = max(s.ScratchpadLimit,
				s.EdgeBufferBytes+s.VertexLists*4*(minListWords(g.shape.Threads, line)+line))
			s.TLBWalk = min(s.TLBWalk, 40) // for the time that the test takes
		},
	}
	if r.IntN(4) == 0 {
		d.Most = nil
	}
	start := specSchema.Default()
	start.ListRegion = 1 << 18
	d.Fit(&start)
	var err error
	g.spec, err = specSchema.Draw(start, d)
	require.NoError(t, err)
	g.spec = g.spec.Derived(g.shape.Warps, 1)
	require.NoError(t, g.spec.Check(g.shape.Threads, g.shape.LineBytes))
	for i := range cores {
		s := g.shape
		s.Core = i
		e := NewEngine(g.spec, s)
		e.UseMemory(g.mem)
		g.cores = append(g.cores, &rigCore{id: i, e: e})
		g.host.Units = append(g.host.Units, e)
	}
	return g
}

// launch runs a kernel to its end.
func (g *rig) launch(s Setup) {
	require.NoError(g.t, g.host.Configure(s))
	g.edges, g.pushed, g.popped, g.open, g.ended = make([]int, len(g.graph.neighbours)),
		make([][]uint32, g.spec.VertexLists), nil, 0, false
	for _, c := range g.cores {
		c.e.Launch()
		c.warps, c.drained, c.busy, c.gives, c.commands = make([]rigWarp, g.shape.Warps), false, false, false, nil
	}
	for end := g.now + 2_000_000; !g.over() && g.fault == nil; g.now++ {
		require.Less(g.t, g.now, end, "no end: %v", g.state())
		for _, c := range g.cores {
			g.cycle(c, s.VertexMode)
		}
		g.control()
	}
	for ; g.pending() && g.fault == nil; g.now++ {
		for _, c := range g.cores {
			g.cycle(c, s.VertexMode)
		}
	}
	for _, c := range g.cores {
		require.NoError(g.t, c.e.CheckInvariants())
	}
}

func (g *rig) state() (out []string) {
	for _, c := range g.cores {
		out = append(out, fmt.Sprintf("%d: %d pops wait, %d buffered, %d run, in the list %d, table %v, pending %v, queue %d",
			c.id, c.e.pops.Len(), c.e.buffer.n, c.e.buffer.run,
			c.e.lists[c.e.setup.In].size(), c.e.table.count, c.e.exchange.pending, len(c.queue)))
	}
	return out
}

func (g *rig) over() bool {
	for _, c := range g.cores {
		for i := range c.warps {
			if !c.warps[i].over || len(c.queue) > 0 {
				return false
			}
		}
	}
	return true
}

func (g *rig) pending() bool {
	for _, c := range g.cores {
		if c.e.port.outstanding() > 0 {
			return true
		}
	}
	return false
}

// cycle is one of one core.
func (g *rig) cycle(c *rigCore, vertexMode bool) {
	for i, f := range c.reads {
		if f.at <= g.now {
			c.reads = slices.Delete(c.reads, i, i+1)
			c.e.circuit.arrives(c.e, f.tag)
			c.e.Arrive(f.tag)
			break
		}
	}
	if len(c.commands) > 0 && g.r.IntN(3) == 0 {
		c.e.circuit.commanded(c.e, c.commands[0])
		c.e.Command(c.commands[0])
		c.commands = c.commands[1:]
	}
	g.issue(c, g.r.IntN(len(c.warps)), vertexMode)
	var head *emu.UnitRequest
	if len(c.queue) > 0 {
		head = c.queue[0]
	}
	room, port := g.greedy || g.r.IntN(3) > 0, g.greedy || g.r.IntN(3) > 0
	step := c.e.Cycle(g.now, head, room, port)
	require.NoError(g.t, step.Err)
	report, ok := c.e.Report()
	leaves := ok && g.r.IntN(2) == 0
	g.follow(c, head, room, port, &step, &report, ok, leaves)
	if step.Took {
		c.queue = c.queue[1:]
	}
	if step.HasRequest && !step.Request.Write {
		require.Zero(g.t, step.Request.Addr%uint32(g.shape.LineBytes))
		c.reads = append(c.reads, flight{step.Request.Tag, g.now + 1 + uint64(g.r.IntN(g.delay))})
	}
	if step.Answer != nil && g.fault == nil {
		g.answered(c, step.Answer)
	}
	if leaves {
		c.e.Reported()
		g.report(c, report)
	}
}

// follow lets a circuit decide, if there is one.
func (g *rig) follow(c *rigCore, head *emu.UnitRequest, room, port bool, step *Step, report *balance.Report,
	has, leaves bool) {
	if c.e.circuit == nil {
		return
	}
	if !has {
		report = nil
	}
	if err := c.e.circuit.follow(c.e, head, room, port, step, report, !leaves); err != nil {
		g.fault = err
	}
}

func (g *rig) request(c *rigCore, warp int, fn uint8, list uint32, mask uint32) *emu.UnitRequest {
	r := &emu.UnitRequest{Fn: fn, Warp: warp, Mask: mask, NewMask: mask}
	for _, v := range []*[]uint32{&r.A, &r.B, &r.C, &r.Out} {
		*v = make([]uint32, g.shape.Threads)
	}
	for l := range r.B {
		r.B[l] = list
	}
	c.queue = append(c.queue, r)
	return r
}

func (g *rig) mask() uint32 {
	full := uint32(1)<<g.shape.Threads - 1
	if g.r.IntN(3) == 0 {
		return max(full&g.r.Uint32(), 1)
	}
	return full
}

// issue lets a warp pop.
func (g *rig) issue(c *rigCore, i int, vertexMode bool) {
	w := &c.warps[i]
	if w.waits || w.over || len(c.queue) >= g.spec.RequestQueue {
		return
	}
	fn := isa.PegPop + isa.PegIdx
	if vertexMode {
		fn = isa.PegPopV
	}
	w.waits = true
	g.request(c, i, fn, c.e.setup.In, g.mask())
}

// answered checks a warp's answer; the warp then pushes, reads other fields, or ends.
func (g *rig) answered(c *rigCore, r *emu.UnitRequest) {
	w := &c.warps[r.Warp]
	w.waits = false
	got := uint32(0)
	for l, v := range r.Out {
		if r.Mask>>l&1 != 0 && v != None {
			require.True(g.t, got == r.Mask&(1<<l-1), "low lanes first: %x of %x, lane %d", got, r.Mask, l)
			got |= 1 << l
		}
	}
	switch {
	case r.Fn == isa.PegPopV:
		for l := range g.shape.Threads {
			if got>>l&1 != 0 {
				g.popped = append(g.popped, r.Out[l])
			}
		}
		w.over = got == 0
		g.push(c, r.Warp, got, r.Out)
	case r.Fn == isa.PegPop+isa.PegIdx:
		w.numbers = slices.Clone(r.Out)
		for l, v := range r.Out {
			if got>>l&1 != 0 {
				g.edges[v]++
			}
			if r.Mask>>l&1 == 0 {
				w.numbers[l] = None
			}
		}
		if w.over = got == 0; !w.over {
			w.waits = true
			g.request(c, r.Warp, isa.PegGet+uint8(g.r.IntN(4)), 0, r.Mask)
		}
	default:
		g.checkField(c, r, w.numbers)
		g.push(c, r.Warp, got, r.Out)
	}
}

// checkField: a get is about the edges of the warp's last pop.
func (g *rig) checkField(c *rigCore, r *emu.UnitRequest, numbers []uint32) {
	for l, number := range numbers {
		want := None
		if number != None {
			base, other := g.graph.owner[number], g.graph.neighbours[number]
			if c.e.setup.Pull {
				base, other = other, base
			}
			want = [4]uint32{base, other, weightOf(int(number)), number}[r.Fn&3]
		}
		require.Equal(g.t, want, r.Out[l])
	}
}

// push pushes the lanes' vertices, sometimes, to a list other than the input.
func (g *rig) push(c *rigCore, warp int, mask uint32, v []uint32) {
	if mask == 0 || g.r.IntN(4) > 0 {
		return
	}
	list := (c.e.setup.In + 1 + uint32(g.r.IntN(g.spec.VertexLists-1))) % uint32(g.spec.VertexLists)
	r := g.request(c, warp, isa.PegPush, list, mask)
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		r.A[l] = v[l] % uint32(len(g.graph.offsets)-1)
		g.pushed[list] = append(g.pushed[list], r.A[l])
	}
}

// report plays the control processor.
func (g *rig) report(c *rigCore, r balance.Report) {
	order := func(to *rigCore, o balance.Order, w balance.Range) {
		to.commands = append(to.commands, balance.Command{Order: o, Epoch: r.Epoch, Range: w})
	}
	switch r.Event {
	case balance.Drained, balance.NotDrained:
		c.drained = r.Event == balance.Drained
	case balance.Donated:
		order(c.partner, balance.Receive, r.Range)
		c.busy = false
	case balance.Refused:
		order(c.partner, balance.Release, r.Range)
		c.busy, c.partner.busy = false, false
		g.open--
	case balance.Inserted:
		c.busy = false
		g.open--
	case balance.DonatedVertices:
		if r.Vertices == 0 {
			g.closeGift(c)
			break
		}
		c.heir.heir = c
		c.heir.commands = append(c.heir.commands,
			balance.Command{Order: balance.ReceiveVertices, Epoch: r.Epoch, Vertices: r.Vertices, Addr: r.Addr})
	case balance.InsertedVertices:
		g.closeGift(c.heir)
	}
}

func (g *rig) closeGift(donor *rigCore) {
	donor.gives, donor.heir.gives = false, false
	g.open--
}

// gift orders a core to give vertices to another.
func (g *rig) gift() {
	a, b := g.cores[g.r.IntN(len(g.cores))], g.cores[g.r.IntN(len(g.cores))]
	if a == b || a.gives || b.gives || g.r.IntN(60) > 0 {
		return
	}
	a.gives, b.gives, a.heir = true, true, b
	g.open++
	a.commands = append(a.commands, balance.Command{Order: balance.DonateVertices, Epoch: a.e.exchange.epoch,
		Vertices: 1 + uint32(g.r.IntN(100))})
}

// control orders donations at random moments, and ends.
func (g *rig) control() {
	if g.ended {
		return
	}
	all := g.open == 0
	for _, c := range g.cores {
		all = all && c.drained
	}
	if all {
		g.ended = true
		for _, c := range g.cores {
			c.commands = append(c.commands, balance.Command{Order: balance.Done, Epoch: c.e.exchange.epoch})
		}
		return
	}
	g.gift()
	a, b := g.cores[g.r.IntN(len(g.cores))], g.cores[g.r.IntN(len(g.cores))]
	if a == b || a.busy || b.busy || g.r.IntN(20) > 0 {
		return
	}
	a.busy, b.busy, a.partner = true, true, b
	g.open++
	b.commands = append(b.commands, balance.Command{Order: balance.Standby, Epoch: b.e.exchange.epoch})
	a.commands = append(a.commands, balance.Command{Order: balance.Donate, Epoch: a.e.exchange.epoch,
		Edges: 1 + uint32(g.r.IntN(40))})
}

// expect checks a launch over edges: every edge of every vertex of the frontier once, and every
// pushed vertex in its list once.
func (g *rig) expect(frontier []uint32, before []int) {
	want := make([]int, len(g.graph.neighbours))
	for _, v := range frontier {
		for i := g.graph.offsets[v]; i < g.graph.offsets[v+1]; i++ {
			want[i]++
		}
	}
	require.Equal(g.t, want, g.edges)
	g.expectLists(before)
}

func (g *rig) expectLists(before []int) {
	for i, want := range g.pushed {
		got := g.host.Read(i)
		require.Len(g.t, got, before[i]+len(want))
		require.Equal(g.t, len(got), g.host.Size(i))
		if before[i] == 0 {
			slices.Sort(got)
			slices.Sort(want)
			require.Equal(g.t, want, got)
		}
	}
}

func (g *rig) sizes() (n []int) {
	for i := range g.spec.VertexLists {
		n = append(n, g.host.Size(i))
	}
	return n
}

// TestEveryEdgeOnce, whatever the sizes, latencies and policies, with donations at random
// moments; the lists pushed in one launch are the input of the next.
func TestEveryEdgeOnce(t *testing.T) {
	var all Stats
	for seed := range testenv.Cases(t, 30, 600) {
		g := newRig(t, seed, 1+int(seed%4))
		s := g.graph.setup(allFields, g.r.IntN(2) == 0)
		require.NoError(t, g.host.Configure(s))
		frontier := make([]uint32, g.r.IntN(min(150, 2*len(g.graph.offsets))))
		for i := range frontier {
			frontier[i] = uint32(g.r.IntN(len(g.graph.offsets) - 1))
		}
		require.NoError(t, g.host.Fill(0, frontier, Deal(g.r.IntN(2) == 0)))
		for range 3 {
			before := g.sizes()
			before[s.In] = 0
			g.launch(s)
			g.expect(frontier, before)
			next := g.r.IntN(g.spec.VertexLists)
			g.host.Swap(int(s.In), next)
			if frontier = g.host.Read(int(s.In)); len(frontier) > 600 {
				break // long enough
			}
		}
		for _, c := range g.cores {
			count.Sum(&all, &c.e.Stats)
		}
	}
	require.NotZero(t, all.Spilled)
	require.NotZero(t, all.Refilled)
	require.NotZero(t, all.Donations)
	require.NotZero(t, all.DonationsRefused)
	require.NotZero(t, all.ReceivesHeld.Count())
	require.NotZero(t, all.PushStalls.Count())
	require.NotZero(t, all.PopsPartial)
	require.NotZero(t, all.ExchangeLines)
	require.NotZero(t, all.VerticesGiven)
	require.Equal(t, all.VerticesGiven, all.VerticesTaken)
	require.Equal(t, all.EdgesDonated, all.EdgesReceived)
	t.Logf("%+v", all)
}

// TestEveryVertexOnce: the same in vertex-list mode.
func TestEveryVertexOnce(t *testing.T) {
	short := uint64(0)
	for seed := range testenv.Cases(t, 10, 600) {
		g := newRig(t, seed+10_000, 1+int(seed%3))
		s := g.graph.setup(allFields, false)
		require.NoError(t, g.host.Configure(s))
		var list []uint32
		for range g.r.IntN(3000) {
			list = append(list, uint32(g.r.IntN(len(g.graph.offsets)-1)))
		}
		require.NoError(t, g.host.Fill(0, list, Cyclic))
		s.VertexMode = true
		before := g.sizes()
		before[0] = 0
		g.launch(s)
		slices.Sort(list)
		slices.Sort(g.popped)
		require.Equal(t, list, g.popped)
		g.expectLists(before)
		for _, c := range g.cores {
			short += c.e.StallShort.Count()
		}
	}
	require.NotZero(t, short, "no pop had to wait for a refill")
}
