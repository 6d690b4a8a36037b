package compose

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"heddle/graph"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/kernels/algorithm"
	"heddle/kernels/codegen"
	"heddle/kernels/emit"
	"heddle/kernels/host"
	"heddle/kernels/ir"
	"heddle/kernels/workload"
	"heddle/sim"
)

// Frontier is a set of vertices that one operator of a program passes to another, in ascending order.
type Frontier struct{ Vertices []uint32 }

// EdgeOperator is a traversal of edges in a program whose host side is outside this package: a plan whose algorithm has
// the functions of one super-step and no Init.
type EdgeOperator struct {
	Name string `checkpoint:"assembled"`
	Plan *Plan  `checkpoint:"assembled"`
	// Active returns how many vertices the next traversal handles edges of, and how many edges, where the operator's own
	// filter decides; nil: the frontier does.
	Active func() (vertices, edges uint64) `checkpoint:"assembled"`

	kernels  Kernels   `checkpoint:"assembled"`
	compiled *Compiled `checkpoint:"assembled"`
	run      *run
	// holds is the frontier that the device's active set equals, so that reading it needs no copy; nil: unknown. Edges
	// and exchange set it; it becomes nil when another operator takes the graph units over (Session.own), since they
	// lose their lists.
	onDevice *Frontier
}

// NewEdgeOperator plans an operator by the workload's keys other than algorithm and recipe.
func NewEdgeOperator(name string, a *algorithm.Algorithm, w workload.Workload, weights graph.WeightKind) (*EdgeOperator,
	error) {
	switch {
	case w.Fusion == LoopFusion:
		return nil, refuse("compiler.fusion", " = loop: the loops are the program's: expected none")
	case w.Recipe != NoRecipe:
		return nil, refuse("recipe", " = %s: it is for algorithms of heddle's own: expected none", w.Recipe)
	}
	p, err := newPlan(a, w)
	if err != nil {
		return nil, err
	}
	if p.Set.Outputs {
		return nil, refuse("frontier.set", " = outputs: an operator's frontier may go to another one, which reads no "+
			"outputs: expected queue; outputs is for algorithms of heddle's own")
	}
	p.Weights, p.operator = weights, true
	return &EdgeOperator{Name: name, Plan: p}, nil
}

// WalksAlone reports whether one thread handles all edges of the vertex whose row it walks.
func (p *Plan) WalksAlone() bool {
	return p.Schedule.Rows.Owned() && p.Layout.Virtual == nil && !p.Layout.Loose()
}

// VertexOperator applies a function to vertices, or selects those for which it holds.
type VertexOperator struct {
	Name string `checkpoint:"assembled"`
	// Listed operators visit a frontier, others all vertices.
	Listed bool `checkpoint:"assembled"`
	// Emit emits the function for v, and returns the condition under which v is kept; nil: never.
	Emit func(k *emit.Kernel, v ir.Value) (keep ir.Value) `checkpoint:"assembled"`
	// Keeps reports whether Emit returns a condition.
	Keeps bool `checkpoint:"assembled"`
	// Each, of an operator of a fused loop, visits vertices of its own choice in place of all; nil: it does not.
	Each func(k *emit.Kernel, visit func(v ir.Value)) `checkpoint:"assembled"`
	// Whole emits the complete kernel, for all vertices, in place of Emit; nil: use Emit.
	Whole func(k *emit.Kernel) `checkpoint:"assembled"`

	kernel  *ir.Kernel        `checkpoint:"assembled"`
	program *isa.Program      `checkpoint:"assembled"`
	places  map[string]uint32 `checkpoint:"assembled"`
	args    uint32            `checkpoint:"assembled"`
}

// Names of the arrays and sizes of a vertex operator's sets.
const (
	ListName, ListSize = "list", "list.size"
	KeptName, KeptSize = "kept", "kept.size"
)

// build builds the kernel.
func (o *VertexOperator) build(warps int) (err error) {
	k := emit.New(o.Name)
	k.Launch(warps, 0)
	if o.Whole != nil {
		o.Whole(k)
		o.kernel, err = k.Build()
		return err
	}
	k.Phase(isa.PhaseApply, func() {
		handle := func(v ir.Value) {
			keep := o.Emit(k, v)
			if !o.Keeps {
				return
			}
			k.When(keep, func() {
				place := k.AtomicAdd(k.Addr(KeptSize), k.U32(0), k.U32(1))
				k.Store(k.Addr(KeptName), place, v)
			})
		}
		if o.Listed {
			k.Strided(k.Count(ListSize), func(i ir.Value) { handle(k.Load(ir.U32, k.Addr(ListName), i)) })
		} else {
			k.Strided(k.Count("vertices"), handle)
		}
	})
	o.kernel, err = k.Build()
	return err
}

// Kernel builds the operator's kernel, for cores with a number of warps; 0: all.
func (o *VertexOperator) Kernel(warps int) (*ir.Kernel, error) {
	err := o.build(warps)
	return o.kernel, err
}

// Session is a device with the operators and arrays of a program. A frontier that one operator passes to another is
// laid out anew by the host, at no cost; one that an operator passes to itself stays on the device
// (EdgeOperator.holds).
//
// The graph units belong to one operator at a time (owner): their registers and lists are set up for it, and are lost
// when another one that uses them runs.
//
// Fields without the tag "assembled" are saved in checkpoints, which a program without fused loops may have between
// operators.
type Session struct {
	// Launched lists the launches so far, and Steps counts the traversals of edges.
	Launched []Launched
	Steps    int
	Times    host.Times

	words    func() map[string]uint32 `checkpoint:"assembled"`
	device   host.Device
	graph    *graph.Graph
	workload workload.Workload
	image    *graph.Image
	arrays   map[string]graph.Array `checkpoint:"assembled"`
	places   map[string]uint32      `checkpoint:"assembled"` // addresses of the program's arrays
	shared   map[*uint32]uint32     `checkpoint:"assembled"`
	edges    []*EdgeOperator
	vertices []*VertexOperator `checkpoint:"assembled"`
	loops    []*FusedLoop      `checkpoint:"assembled"`
	mode     mode              `checkpoint:"assembled"` // byLaunch, or the loop that the device is running
	owner    *EdgeOperator     // the operator that the graph units are set up for; nil: none
}

// mode is the way in which a session's operators run: byLaunch, or a *FusedLoop between Begin and End.
type mode interface {
	// operator returns the operator over edges that runs in place of one, before which it may run kernels.
	operator(ctx context.Context, s *Session, o *EdgeOperator) (*EdgeOperator, error)
	// after is called after an operator over edges.
	after(ctx context.Context, s *Session) error
	// start writes a frontier as an operator's active set.
	start(s *Session, o *EdgeOperator, in *Frontier) error
	// exchanges reports whether the set that an operator makes is exchanged after it.
	exchanges(o *EdgeOperator) bool
	// runVertices runs a vertex operator, and returns the vertices that it keeps.
	runVertices(ctx context.Context, s *Session, o *VertexOperator, in *Frontier) (*Frontier, error)
	// write writes a word of the program's arrays.
	write(s *Session, array string, n int, word uint32)
	// between books the parts of a launch that precede the launch of an operator.
	between(s *Session, step int)
	// parts reports whether launches of operators are parts of another launch.
	parts() bool
	// abort ends a loop that has not been awaited.
	abort(s *Session)
}

// byLaunch launches each kernel of each operator.
type byLaunch struct{}

func (byLaunch) start(s *Session, o *EdgeOperator, in *Frontier) error { return s.start(o, in) }
func (byLaunch) exchanges(*EdgeOperator) bool                          { return true }
func (byLaunch) parts() bool                                           { return false }
func (byLaunch) abort(*Session)                                        {}
func (byLaunch) after(context.Context, *Session) error                 { return nil }

// between counts what the host does between super-steps.
func (byLaunch) between(s *Session, _ int) { s.Times.Overhead += uint64(s.workload.StepOverhead) }

func (byLaunch) operator(_ context.Context, _ *Session, o *EdgeOperator) (*EdgeOperator, error) {
	return o, nil
}

func (byLaunch) write(s *Session, array string, n int, word uint32) {
	s.device.WriteWords(s.places[array]+uint32(4*n), []uint32{word})
}

// Parts lists the parts of a session.
type Parts struct {
	Arrays   []graph.Array // of the program, with initial contents
	Edges    []*EdgeOperator
	Vertices []*VertexOperator
	Loops    []*FusedLoop // of these operators
	// Transposed reports whether an operator traverses the transposed graph.
	Transposed func(o *EdgeOperator) bool
	// Words returns the program's current scalars by the names of kernels' parameters. The set of names is constant.
	Words func() map[string]uint32
}

// NewSession compiles the operators, and lays them out with the program's arrays.
func NewSession(d host.Device, g *graph.Graph, w workload.Workload, parts Parts) (*Session, error) {
	s := &Session{
		mode:   byLaunch{},
		device: d, graph: g, workload: w, arrays: map[string]graph.Array{}, places: map[string]uint32{},
		shared: map[*uint32]uint32{},
		edges:  parts.Edges, vertices: parts.Vertices, loops: parts.Loops, words: parts.Words,
	}
	lists := s.listArrays()
	reserved, err := s.compile()
	if err != nil {
		return nil, err
	}
	s.image = graph.NewImage(graph.ArrayBase, d.Shape().LineBytes, reserved...)
	for _, a := range append(slices.Clip(parts.Arrays), lists...) {
		placed, err := s.image.Place(a.Name, a.Data)
		if err != nil {
			return nil, err
		}
		s.arrays[a.Name], s.places[a.Name] = placed, placed.Addr
	}
	reverse := g
	if slices.ContainsFunc(s.edges, parts.Transposed) {
		reverse = g.Transpose()
	}
	for _, o := range s.edges {
		of := g
		if parts.Transposed(o) {
			of = reverse
		}
		if err := s.placeEdges(o, of); err != nil {
			return nil, err
		}
	}
	for _, o := range s.vertices {
		if err := s.placeVertices(o); err != nil {
			return nil, err
		}
	}
	for _, l := range s.loops {
		if err := l.place(); err != nil {
			return nil, err
		}
	}
	s.image.Write(d)
	return s, nil
}

// compile compiles all kernels, and returns the memory that arrays must avoid.
func (s *Session) compile() ([]graph.Region, error) {
	reserved, shape, n := graph.Reserved(s.device.Shape().Lanes(), nil), s.device.Shape(), 0
	base := func(i int) codegen.Options {
		o := codegen.Options{Base: emu.CodeBase + uint32(i)*programBytes, MaskByUnit: shape.MaskByUnit,
			FloatSpills: Spill(s.workload.Spill) == SpillRegisters,
			Sink:        Unrolling(s.workload.Unroll) == UnrollAuto}
		OnGPU(&o, shape)
		return o
	}
	for _, o := range s.edges {
		first := n
		c, err := compileWith(o.Plan, shape, func(i int,
			_ *codegen.Compiled) codegen.Options {
			return base(first + i)
		})
		if err != nil {
			return nil, err
		}
		o.compiled, o.kernels = c, c.Kernels
		for _, k := range c.Kernels.All() {
			n++
			for _, segment := range c.programs[k].Program.Segments {
				reserved = append(reserved, graph.Region{Name: "program " + k.Name, Addr: segment.Addr,
					Size: uint64(segment.Size)})
			}
		}
	}
	for _, o := range s.vertices {
		if err := o.build(s.workload.WarpsPerCore); err != nil {
			return nil, err
		}
		c, err := codegen.Compile(o.kernel, base(n))
		if err != nil {
			return nil, err
		}
		n++
		o.program = c.Program
		for _, segment := range c.Program.Segments {
			reserved = append(reserved, graph.Region{Name: "program " + o.Name, Addr: segment.Addr,
				Size: uint64(segment.Size)})
		}
	}
	for _, l := range s.loops {
		region, err := l.compile(shape, emu.CodeBase+uint32(n)*programBytes, s.workload.WarpsPerCore)
		if err != nil {
			return nil, err
		}
		reserved = append(reserved, region)
		n += int((region.Size + programBytes - 1) / programBytes)
	}
	if most := (graph.ArrayBase - emu.CodeBase) / programBytes; uint64(n) > uint64(most) {
		return nil, fmt.Errorf("the program has %d kernels: expected at most %d", n, most)
	}
	return reserved, nil
}

// placeEdges allocates the arrays of an edge operator in the image.
func (s *Session) placeEdges(o *EdgeOperator, g *graph.Graph) (err error) {
	o.Plan.Algorithm.Words = func(*algorithm.Problem) map[string]uint32 { return s.words() }
	o.run, err = newRunIn(device{s.device, o.compiled}, o.Plan, o.kernels, g, s.workload, func(r *run) {
		r.image, r.prefix, r.shared = s.image, o.Name+" ", s.shared
		for name, at := range s.places {
			r.addresses[name] = at
		}
	})
	return err
}

// shares returns the address of an array of the graph that another operator has allocated.
func (r *run) shares(data []uint32, own bool) (at uint32, placed bool) {
	if own || r.shared == nil || len(data) == 0 {
		return 0, false
	}
	at, placed = r.shared[&data[0]]
	return at, placed
}

func (r *run) keepShared(data []uint32, own bool, at uint32) {
	if !own && r.shared != nil && len(data) > 0 {
		r.shared[&data[0]] = at
	}
}

// placeVertices allocates the arrays of a vertex operator in the image.
func (s *Session) placeVertices(o *VertexOperator) error {
	o.places = map[string]uint32{}
	n := s.graph.Vertices()
	for _, a := range []struct {
		name  string
		words int
	}{{ListName, n}, {KeptName, n}, {KeptSize, 1}} {
		if !slices.ContainsFunc(o.kernel.Params, func(p ir.Param) bool { return p.Name == a.name }) {
			continue
		}
		placed, err := s.image.Reserve(o.Name+" "+a.name, a.words)
		if err != nil {
			return err
		}
		o.places[a.name] = placed.Addr
	}
	args, err := s.image.Reserve(o.Name+" arguments", max(1, len(o.kernel.Params)))
	o.args = args.Addr
	return err
}

// Edges runs an operator over the edges that leave a frontier; nil: over all edges. It returns the next frontier if the
// operator makes one.
func (s *Session) Edges(ctx context.Context, o *EdgeOperator, in *Frontier) (*Frontier, error) {
	o, err := s.mode.operator(ctx, s, o)
	if err != nil {
		return nil, err
	}
	out, err := s.traverse(ctx, o, in)
	if err == nil {
		err = s.mode.after(ctx, s)
	}
	return out, err
}

func (s *Session) traverse(ctx context.Context, o *EdgeOperator, in *Frontier) (*Frontier, error) {
	r := o.run
	s.takeUnits(o)
	dense := o.Plan.Algorithm.Dense
	if !dense && (in != o.onDevice || in == nil) {
		if err := s.mode.start(s, o, in); err != nil {
			return nil, err
		}
	}
	s.Steps++
	r.stepsBefore = s.Steps - 1 - len(r.Steps)
	if err := r.BeginStep(s.Steps); err != nil {
		return nil, err
	}
	step := r.frontier()
	if o.Active != nil {
		step.Frontier, step.Edges = o.Active()
	}
	if err := r.gather(ctx, &step, o.Plan, r.kernels.Topology[step.Direction], r.kernels.Lists[step.Direction],
		r.kernels.Gather[step.Direction]); err != nil {
		return nil, err
	}
	r.Steps = append(r.Steps, step)
	s.book(o, &step)
	if err := r.invariantOf(s.Steps, &step); err != nil || dense || !s.mode.exchanges(o) {
		return nil, err
	}
	return s.exchange(o)
}

// exchange makes the vertices that were added to an operator's set the active ones, and returns them.
func (s *Session) exchange(o *EdgeOperator) (*Frontier, error) {
	r := o.run
	if _, err := r.next(); err != nil {
		return nil, err
	}
	out := &Frontier{Vertices: slices.Clone(r.set.Active(r))}
	slices.Sort(out.Vertices)
	out.Vertices = slices.Compact(out.Vertices)
	o.onDevice = out
	return out, nil
}

// takeUnits makes an operator the owner of the graph units, which lose the lists of the previous owner.
func (s *Session) takeUnits(o *EdgeOperator) {
	if o.Plan.Schedule.Unit == nil || s.owner == o {
		return
	}
	if before := s.owner; before != nil && before.Plan.Schedule.Unit.HasLists() {
		before.run.lists().Forget()
		before.onDevice = nil
	}
	s.owner = o
}

// start writes a frontier as an operator's active set.
func (s *Session) start(o *EdgeOperator, in *Frontier) error {
	r := o.run
	if in == nil {
		in = &Frontier{Vertices: make([]uint32, s.graph.Vertices())}
		for v := range in.Vertices {
			in.Vertices[v] = uint32(v)
		}
	}
	if o.Plan.Set.OfUnit { // the units need the address of their lists before the host fills them
		r.lists().Forget()
		if err := r.configure(r.kernels.passes()[0].kernel); err != nil {
			return err
		}
	}
	r.Steps, r.reached, r.pushed = nil, 0, 0
	return r.set.Start(r, in.Vertices)
}

// book records the launches of a traversal.
func (s *Session) book(o *EdgeOperator, step *Step) {
	s.mode.between(s, s.Steps-1)
	step.traversed(o.Plan, func(kind, part string, r sim.Result, gatherOf *Step) {
		s.Launched = append(s.Launched, Launched{s.Steps, o.Name + "/" + kind + "-" + step.Way() + part, r, gatherOf,
			s.mode.parts()})
	})
	s.bookTimes(o.run)
}

// bookTimes moves the times of a run's launches to the session.
func (s *Session) bookTimes(r *run) {
	s.Times.Cycles += r.Times.Cycles
	s.Times.Overhead += r.Times.Overhead
	s.Times.Launches += r.Times.Launches
	s.Times.Half += r.Times.Half
	r.Times = host.Times{}
}

// Vertices runs an operator over a frontier; nil: over all vertices. It returns the vertices that it keeps.
func (s *Session) Vertices(ctx context.Context, o *VertexOperator, in *Frontier) (*Frontier, error) {
	if o.Listed != (in != nil) {
		return nil, errors.New("BUG: compose: a vertex operator's frontier")
	}
	return s.mode.runVertices(ctx, s, o, in)
}

func (byLaunch) runVertices(ctx context.Context, s *Session, o *VertexOperator, in *Frontier) (*Frontier, error) {
	words := map[string]uint32{"vertices": uint32(s.graph.Vertices())}
	for name, w := range s.words() {
		words[name] = w
	}
	if in != nil {
		s.device.WriteWords(o.places[ListName], in.Vertices)
		words[ListSize] = uint32(len(in.Vertices))
	}
	if o.Keeps {
		s.device.WriteWords(o.places[KeptSize], []uint32{0})
	}
	block := make([]uint32, len(o.kernel.Params))
	for i, p := range o.kernel.Params {
		value, ok := words[p.Name]
		if !ok {
			value, ok = o.places[p.Name]
		}
		if !ok {
			value, ok = s.places[p.Name]
		}
		if !ok {
			return nil, fmt.Errorf("BUG: compose: parameter %s of %s", p.Name, o.Name)
		}
		block[i] = value
	}
	s.device.WriteWords(o.args, block)
	if s.owner != nil { // otherwise the units would continue with the edges of the owner's gather
		if err := s.owner.run.configure(o.kernel); err != nil {
			return nil, err
		}
	}
	res, err := s.device.Launch(ctx, o.program, o.args)
	s.Times.Add(res, uint64(s.workload.LaunchOverhead))
	s.Launched = append(s.Launched, Launched{s.Steps, o.Name, res, nil, false})
	if err != nil || !o.Keeps {
		return nil, err
	}
	size := []uint32{0}
	s.device.ReadWords(o.places[KeptSize], size)
	out := &Frontier{Vertices: make([]uint32, min(int(size[0]), s.graph.Vertices()))}
	s.device.ReadWords(o.places[KeptName], out.Vertices)
	slices.Sort(out.Vertices)
	return out, nil
}

// Read returns a word of the program's arrays. It takes no simulated time.
func (s *Session) Read(array string, n int) uint32 {
	word := []uint32{0}
	s.device.ReadWords(s.places[array]+uint32(4*n), word)
	return word[0]
}

// Write writes a word of the program's arrays. It does nothing in a fused loop, where the device does it.
func (s *Session) Write(array string, n int, word uint32) {
	s.mode.write(s, array, n, word)
}

// Array returns the current contents of an array.
func (s *Session) Array(array string) []uint32 {
	words := make([]uint32, s.arrays[array].Words)
	s.device.ReadWords(s.places[array], words)
	return words
}

// Memory returns the size of the session's arrays on the host.
func (s *Session) Memory() Memory { return memoryOf(s.image) }

// Layout returns the addresses of the arrays.
func (s *Session) Layout() (list []graph.Region) {
	for _, a := range s.image.Arrays() {
		list = append(list, graph.Region{Name: a.Name, Addr: a.Addr, Size: a.Bytes()})
	}
	return list
}
