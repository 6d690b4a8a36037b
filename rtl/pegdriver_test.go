package rtl

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/balance"
	"heddle/components/graphpeg"
	"heddle/isa"
	"heddle/isa/emu"
)

// pegConfig is a GraphPEG and its core's shape.
type pegConfig struct {
	spec  graphpeg.Spec // derived
	shape graphpeg.Shape
}

// host are the host's actions of graphpeg_pkg::host_e.
const (
	hostNone = iota
	hostSetup
	hostClear
	hostPush
	hostSpill
	hostSwap
)

// pegInput is the state of a GraphPEG's inputs in a cycle.
type pegInput struct {
	launch, forsaken     bool
	host, list, other    int
	vertex               uint32
	setup                graphpeg.Setup
	head                 *emu.UnitRequest
	room, port, reported bool
	arrives              int // number of the read whose line comes; -1: none
	line                 []uint32
	command              *balance.Command
}

// pegOutput is the state of its outputs, and its state after the cycle.
type pegOutput struct {
	Took, Answered, Request, Write, Report, Err bool
	Tag                                         int
	Data                                        [32]uint32
	Addr                                        uint32
	Line                                        [32]uint32 // that is written
	Event                                       balance.Event
	Edges, Vertices                             uint32
	Range                                       balance.Range
	Inside                                      graphpeg.Inside
}

// pegDriver plays the core, memory and control processor to a Go model, and records.
type pegDriver struct {
	t      testing.TB
	r      *rand.Rand
	config pegConfig
	e      *graphpeg.Engine
	mem    *emu.Memory
	now    uint64
	greedy bool
	slow   int // memory, at most
	wrong  bool
	leaves int // one cycle in so many, the kernel begins to leave
	setup  graphpeg.Setup
	verts  int

	queue    []*emu.UnitRequest
	warps    []pegWarp
	reads    []pegRead
	asked    int // reads
	ranges   []balance.Range
	commands []balance.Command
	open     int // donations ordered and not answered
	intake   bool
	drained  bool
	ended    bool
	leaving  bool // no warp pops any more
	forsaken bool
	failed   bool

	ins  []pegInput
	outs []pegOutput
}

type pegWarp struct{ waits, over bool }

type pegRead struct {
	number    int
	tag, addr uint32
	at        uint64
}

const pegOffsets, pegNeighbours, pegWeights, pegRegions = 0x1000_0000, 0x2000_0004, 0x3000_0008, 0x4000_0000

// recordPEG plays launches of random kernels to the Go model, and returns what happened in each cycle.
func recordPEG(t testing.TB, c pegConfig, seed uint64, cycles int) ([]pegInput, []pegOutput) {
	r := rand.New(rand.NewPCG(seed, 43))
	d := &pegDriver{t: t, r: r, config: c, e: graphpeg.NewEngine(c.spec, c.shape), mem: emu.NewMemory(),
		greedy: r.IntN(2) == 0, slow: 1 + r.IntN(2)*r.IntN(100), wrong: r.IntN(8) == 0,
		leaves: []int{4000, 4000, 200}[r.IntN(3)]}
	d.e.UseMemory(d.mem)
	d.newGraph()
	for len(d.ins) < cycles && !d.failed {
		d.launch()
	}
	return d.ins, d.outs
}

// newGraph draws a graph.
func (d *pegDriver) newGraph() {
	d.verts = 1 + d.r.IntN(200)
	edges := uint32(0)
	for v := range d.verts {
		d.mem.Store32(pegOffsets+uint32(4*v), edges)
		degree := d.r.IntN(6)
		if d.r.IntN(12) == 0 {
			degree = d.r.IntN(150)
		}
		for range degree {
			d.mem.Store32(pegNeighbours+4*edges, d.r.Uint32N(uint32(d.verts)))
			d.mem.Store32(pegWeights+4*edges, d.r.Uint32())
			edges++
		}
	}
	d.mem.Store32(pegOffsets+uint32(4*d.verts), edges)
	if d.wrong && d.r.IntN(4) == 0 {
		edges /= 2 // offsets point behind them
	}
	d.setup = graphpeg.Setup{Vertices: uint32(d.verts), Offsets: pegOffsets, Edges: edges, Neighbours: pegNeighbours,
		Weights: pegWeights, Out: 1, Regions: pegRegions}
}

// act records an action of the host.
func (d *pegDriver) act(in pegInput) {
	in.arrives = -1
	d.ins, d.outs = append(d.ins, in), append(d.outs, pegOutput{})
}

// begin prepares a launch.
func (d *pegDriver) begin() {
	h := graphpeg.Host{Units: []*graphpeg.Engine{d.e}}
	lists := uint32(d.config.spec.VertexLists)
	d.setup.VertexMode, d.setup.Pull, d.setup.Fields = d.r.IntN(4) == 0, d.r.IntN(2) == 0, 1+d.r.Uint32N(15)
	if d.r.IntN(3) == 0 {
		d.setup.In = d.r.Uint32N(lists)
		d.setup.Out = (d.setup.In + 1 + d.r.Uint32N(lists-1)) % lists
	}
	require.NoError(d.t, h.Configure(d.setup))
	d.act(pegInput{host: hostSetup, setup: d.setup})
	if d.r.IntN(8) == 0 {
		h.Forget()
		d.act(pegInput{host: hostClear})
	}
	if d.r.IntN(2) == 0 {
		a := d.r.IntN(int(lists))
		b := (a + 1 + d.r.IntN(int(lists)-1)) % int(lists)
		h.Swap(a, b)
		d.act(pegInput{host: hostSwap, list: a, other: b})
	}
	list := int(d.setup.In)
	for range d.r.IntN([]int{4, 40, 400}[d.r.IntN(3)]) {
		v := d.r.Uint32N(uint32(d.verts))
		if d.wrong && d.r.IntN(200) == 0 {
			v = uint32(d.verts)
		}
		if !d.e.HasRoom(list) {
			d.act(pegInput{host: hostSpill, list: list})
		}
		require.NoError(d.t, h.Fill(list, []uint32{v}, graphpeg.Block))
		d.act(pegInput{host: hostPush, list: list, vertex: v})
	}
	d.e.Launch()
	d.act(pegInput{launch: true})
}

// launch runs a kernel to its end, or until something fails.
func (d *pegDriver) launch() {
	d.begin()
	d.warps = make([]pegWarp, d.config.shape.Warps)
	d.ranges, d.commands, d.open, d.intake, d.drained, d.ended = nil, nil, 0, false, false, false
	d.leaving, d.forsaken = false, false
	for start := len(d.ins); !d.over() && !d.failed; d.cycle() {
		require.Less(d.t, len(d.ins)-start, 100_000, "no end: %+v", d.e.Inside())
		if d.leaving = d.leaving || d.r.IntN(d.leaves) == 0; d.leaving && !d.forsaken {
			d.forsake()
		}
	}
	for range d.r.IntN(30) {
		if !d.failed {
			d.cycle()
		}
	}
	for !d.failed && d.e.Outstanding() > 0 {
		d.cycle()
	}
}

// forsake lets all warps end, once none waits: a list may be left with vertices in both its parts.
func (d *pegDriver) forsake() {
	for i := range d.warps {
		if d.warps[i].waits {
			return
		}
	}
	for i := range d.warps {
		d.warps[i].over = true
	}
	d.forsaken = true
	d.e.Forsaken(d.now)
}

func (d *pegDriver) over() bool {
	return !slices.ContainsFunc(d.warps, func(w pegWarp) bool { return !w.over }) && len(d.queue) == 0
}

// chance is true often, or always for a greedy driver.
func (d *pegDriver) chance() bool { return d.greedy || d.r.IntN(3) > 0 }

// cycle is one cycle.
func (d *pegDriver) cycle() {
	d.now++
	in := pegInput{arrives: -1, room: d.chance(), port: d.chance(), reported: d.r.IntN(2) == 0, forsaken: d.forsaken}
	for i, f := range d.reads {
		if f.at <= d.now {
			in.arrives = f.number
			for k := range d.config.shape.LineBytes / 4 {
				in.line = append(in.line, d.mem.Load32(f.addr+uint32(4*k)))
			}
			d.reads = slices.Delete(d.reads, i, i+1)
			d.e.Arrive(f.tag)
			break
		}
	}
	d.control()
	if len(d.commands) > 0 && d.r.IntN(3) == 0 {
		c := d.commands[0]
		in.command, d.commands = &c, d.commands[1:]
		d.e.Command(c)
	}
	d.issue(d.r.IntN(len(d.warps)))
	if len(d.queue) > 0 {
		in.head = d.queue[0]
	}
	step := d.e.Cycle(d.now, in.head, in.room, in.port)
	out := d.output(&step)
	if r, ok := d.e.Report(); ok {
		out.Report, out.Event, out.Edges, out.Vertices, out.Range = true, r.Event, r.Edges, r.Vertices, r.Range
		if in.reported {
			d.e.Reported()
			d.told(r)
		}
	}
	out.Inside = d.e.Inside()
	d.ins, d.outs = append(d.ins, in), append(d.outs, out)
	d.failed = out.Err
	if step.Took {
		d.queue = d.queue[1:]
	}
	if step.Answer != nil && !d.failed {
		d.answered(step.Answer)
	}
}

// output is what a step shows at the ports.
func (d *pegDriver) output(step *graphpeg.Step) (out pegOutput) {
	out.Took, out.Err = step.Took, step.Err != nil || d.e.Err() != nil
	if out.Answered = step.Answer != nil; out.Answered {
		out.Tag = step.Answer.Tag
		copy(out.Data[:], step.Answer.Out)
	}
	if out.Request = step.HasRequest; !out.Request {
		return out
	}
	q := step.Request
	out.Addr, out.Write = q.Addr, q.Write
	if !q.Write {
		d.reads = append(d.reads, pegRead{d.asked, q.Tag, q.Addr, d.now + 1 + uint64(d.r.IntN(d.slow))})
		d.asked++
		return out
	}
	words := d.config.shape.LineBytes / 4
	if d.config.spec.Spill == "vertex" {
		words = 1
	}
	for k := range words {
		out.Line[k] = d.mem.Load32(q.Addr + uint32(4*k))
	}
	return out
}

// request queues a request of a warp.
func (d *pegDriver) request(warp int, fn uint8, list, mask uint32, a []uint32) {
	n := d.config.shape.Threads
	r := &emu.UnitRequest{Fn: fn, Warp: warp, Mask: mask, NewMask: mask, Tag: d.r.IntN(1 << TagBits)}
	r.A, r.B, r.C, r.Out = make([]uint32, n), make([]uint32, n), make([]uint32, n), make([]uint32, n)
	copy(r.A, a)
	for l := range r.B {
		r.B[l] = list
	}
	d.queue = append(d.queue, r)
}

// issue lets a warp pop, or make a mistake.
func (d *pegDriver) issue(i int) {
	w := &d.warps[i]
	if w.waits || w.over || d.leaving || len(d.queue) >= d.config.spec.RequestQueue || !d.greedy && d.r.IntN(3) > 0 {
		return
	}
	mask := uint32(uint64(1)<<d.config.shape.Threads - 1)
	if d.r.IntN(3) == 0 {
		mask = max(mask&d.r.Uint32(), 1)
	}
	if d.wrong && d.r.IntN(400) == 0 {
		d.request(i, uint8(d.r.IntN(10)), d.r.Uint32N(6), mask, nil)
		w.over = true
		return
	}
	if !d.setup.VertexMode && d.r.IntN(20) == 0 { // perhaps before the launch's first pop
		d.request(i, isa.PegGet+d.field(), 0, mask, nil)
		return
	}
	fn := isa.PegPopV
	if !d.setup.VertexMode {
		fn = isa.PegPop + d.field()
	}
	w.waits = true
	d.request(i, fn, d.setup.In, mask, nil)
}

// field draws one of those that are gathered.
func (d *pegDriver) field() uint8 {
	for {
		if f := uint8(d.r.IntN(4)); d.setup.Fields>>f&1 != 0 {
			return f
		}
	}
}

// answered lets a warp go on: it pushes, reads another field, or ends.
func (d *pegDriver) answered(r *emu.UnitRequest) {
	if r.Fn < isa.PegPop {
		return
	}
	w, got := &d.warps[r.Warp], uint32(0)
	w.waits = false
	vertices := make([]uint32, len(r.Out))
	for l, v := range r.Out {
		if r.Mask>>l&1 != 0 && v != graphpeg.None {
			got |= 1 << l
			vertices[l] = v % uint32(d.verts)
		}
	}
	if w.over = w.over || got == 0; w.over {
		return
	}
	if !d.setup.VertexMode && d.r.IntN(3) == 0 {
		d.request(r.Warp, isa.PegGet+d.field(), 0, r.Mask, nil)
	}
	if d.r.IntN(4) == 0 {
		lists := uint32(d.config.spec.VertexLists)
		d.request(r.Warp, isa.PegPush, (d.setup.In+1+d.r.Uint32N(lists-1))%lists, got, vertices)
	}
}

// control plays the control processor: it takes ranges and gives them back.
func (d *pegDriver) control() {
	send := func(c balance.Command) {
		if c.Epoch = d.e.Epoch(); d.r.IntN(50) == 0 && c.Order == balance.Read {
			c.Epoch-- // of the launch before
		}
		d.commands = append(d.commands, c)
	}
	switch {
	case d.ended:
	case d.drained && d.open == 0 && len(d.ranges) == 0 && !d.intake && len(d.commands) == 0:
		d.ended = true
		send(balance.Command{Order: balance.Done})
	case d.setup.VertexMode:
		if d.r.IntN(60) == 0 {
			send(balance.Command{Order: balance.Read})
		}
	case len(d.ranges) > 0 && !d.intake && d.r.IntN(20) == 0:
		d.intake = true
		send(balance.Command{Order: balance.Standby})
		if d.r.IntN(8) == 0 {
			send(balance.Command{Order: balance.Release})
			send(balance.Command{Order: balance.Standby})
		}
		send(balance.Command{Order: balance.Receive, Range: d.ranges[0]})
		d.ranges = d.ranges[1:]
	case !d.drained && d.r.IntN(60) == 0:
		d.open++
		send(balance.Command{Order: balance.Donate, Edges: 1 + d.r.Uint32N(60)})
	case d.r.IntN(60) == 0:
		send(balance.Command{Order: balance.Read})
	}
}

// told handles a report.
func (d *pegDriver) told(r balance.Report) {
	switch r.Event {
	case balance.Drained, balance.NotDrained:
		d.drained = r.Event == balance.Drained
	case balance.Donated:
		d.open--
		d.ranges = append(d.ranges, r.Range)
	case balance.Refused:
		d.open--
	case balance.Inserted:
		d.intake = false
	}
}
