package program

import (
	"context"
	"fmt"
	"slices"

	"heddle/graph"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/kernels/compose"
	"heddle/kernels/host"
	"heddle/kernels/reference"
	"heddle/kernels/workload"
	"heddle/sim"
)

// Launch is one launch of a run.
type Launch struct {
	Step   int    // super-step, from 1; 0: before the first
	Kernel string // its symbol; "": a single launch runs the whole program
	Result sim.Result
	// Balance is the distribution of edges over lanes, if the program marks where it handles an edge.
	Balance compose.Balance
}

// Result holds the launches and super-steps of a run.
type Result struct {
	Source   uint32
	Launches []Launch
	Steps    int // super-steps completed
	Layout   []graph.Region
}

// mostSteps is the maximum number of super-steps of a loop without max_iterations: a longer one is taken to be endless.
// The counts of every super-step are kept, some 33 KB on a small machine, so this bounds the host's memory, too.
const mostSteps = 10_000

// Run is a program in a device's memory, with its data.
type Run struct {
	Result
	device   host.Device            `checkpoint:"assembled"`
	program  *Program               `checkpoint:"assembled"`
	graph    *graph.Graph           `checkpoint:"assembled"`
	workload workload.Workload      `checkpoint:"assembled"`
	image    *graph.Image           `checkpoint:"assembled"`
	places   map[string]graph.Array `checkpoint:"assembled"`
	block    []uint32
	at       uint32        // address of the block
	over     bool          // the super-steps have ended
	meter    compose.Meter `checkpoint:"assembled"`
}

// NewRun places all of a program's inputs in a device's memory. An error names the offending key, or reports that
// memory is full.
func (p *Program) NewRun(d host.Device, g *graph.Graph, w workload.Workload) (*Run, error) {
	r := &Run{device: d, program: p, graph: g, workload: w, places: map[string]graph.Array{}}
	var err error
	if r.Source, err = sourceOf(g, &w); err != nil {
		return nil, err
	}
	if err := p.acceptable(g, &w, r.Source); err != nil {
		return nil, err
	}
	if err := p.loads(d.Shape()); err != nil {
		return nil, err
	}
	r.image = graph.NewImage(graph.ArrayBase, d.Shape().LineBytes, graph.Reserved(d.Shape().Lanes(), p.image)...)
	r.block = make([]uint32, OwnWords+len(p.parameters)+len(p.arrays))
	block, err := r.image.Place("block", r.block)
	if err != nil {
		return nil, err
	}
	r.at = block.Addr
	if err := r.placeGraph(); err != nil {
		return nil, err
	}
	if err := r.placeOwn(); err != nil {
		return nil, err
	}
	for _, a := range r.image.Arrays() {
		r.Layout = append(r.Layout, graph.Region{Name: a.Name, Addr: a.Addr, Size: a.Bytes()})
	}
	r.block[wordSize] = uint32(4 * len(r.block))
	r.block[wordVertices], r.block[wordEdges], r.block[wordSource] = uint32(g.Vertices()), uint32(g.Edges()), r.Source
	r.image.Write(d)
	return r, nil
}

// Accessible returns everything that the program may access: its arrays, itself, the stacks, the scratchpads and what
// lies below all programs.
func (r *Run) Accessible() []graph.Region {
	return slices.Concat(r.Layout, graph.Reserved(r.device.Shape().Lanes(), r.program.image))
}

// sourceOf returns the vertex at which heddle's own kernels would start: the given one, or one drawn from the largest
// component, or 0 if no component has an edge.
func sourceOf(g *graph.Graph, w *workload.Workload) (uint32, error) {
	if w.Source >= 0 {
		source, err := g.Vertex(w.Source)
		if err != nil {
			err = refuse("algorithm.source", "%d: %v", w.Source, err)
		}
		return source, err
	}
	if drawn := g.DrawSources(1, w.Seed); len(drawn) > 0 {
		return drawn[0], nil
	}
	return 0, nil
}

// loads returns an error for a program that would overwrite a machine's fixed addresses.
func (p *Program) loads(s host.Shape) error {
	for _, fixed := range graph.Reserved(s.Lanes(), nil) {
		for _, g := range p.image.Segments {
			if uint64(g.Addr) < uint64(fixed.Addr)+fixed.Size && uint64(fixed.Addr) < uint64(g.Addr)+uint64(g.Size) {
				return refuse("program", "%s: a segment at %08x..%08x lies over %s at %08x..%08x: link it elsewhere "+
					"(programs begin at %08x)",
					p.File, g.Addr, uint64(g.Addr)+uint64(g.Size), fixed.Name, fixed.Addr,
					uint64(fixed.Addr)+fixed.Size, emu.CodeBase)
			}
		}
	}
	return nil
}

// placeGraph places the arrays of the graph that the program requests. The device reads them in place.
func (r *Run) placeGraph() error {
	p, g := r.program, r.graph
	weights := p.asks(workload.PartWeights)
	if weights && g.WeightKind() == graph.NoWeights {
		return refuse("host.graph", "weights: the graph has none: give graph.weights, or a file that has them")
	}
	rows := func(name string, a *graph.Adjacency) []graphArray {
		list := []graphArray{{name + "_offsets", a.Offsets}, {name + "_ids", a.IDs}}
		if weights {
			list = append(list, graphArray{name + "_weights", a.Weights})
		}
		return list
	}
	var list []graphArray
	if p.asks(workload.PartCSR) {
		list = append(list, rows("csr", g.CSR())...)
	}
	if p.asks(workload.PartCSC) {
		list = append(list, rows("csc", g.CSC())...)
	}
	if p.asks(workload.PartCOO) {
		edges := g.COOBySource()
		list = append(list, graphArray{"coo_sources", edges.Sources},
			graphArray{"coo_destinations", edges.Destinations})
		if weights {
			list = append(list, graphArray{"coo_weights", edges.Weights})
		}
	}
	if p.asks(workload.PartDegrees) {
		list = append(list, graphArray{"out_degrees", degrees(g.CSR())}, graphArray{"in_degrees", degrees(g.CSC())})
	}
	for _, a := range list {
		placed, err := r.image.Share(a.name, a.data)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(words, func(w Word) bool { return w.Name == a.name })
		r.block[i] = placed.Addr
	}
	return nil
}

// graphArray is an array of the graph and its name in the block.
type graphArray struct {
	name string
	data []uint32
}

func degrees(a *graph.Adjacency) []uint32 {
	out := make([]uint32, len(a.Offsets)-1)
	for v := range out {
		out[v] = a.Offsets[v+1] - a.Offsets[v]
	}
	return out
}

// placeOwn places the program's own parameters and arrays.
func (r *Run) placeOwn() error {
	p, at := r.program, OwnWords
	for _, d := range p.parameters {
		r.block[at] = d.value
		at++
	}
	for _, d := range p.arrays {
		n, ok := d.words.of(uint64(r.graph.Vertices()), uint64(r.graph.Edges()))
		if !ok {
			return refuse("host.arrays", "%s: more than 2^30 words on a graph of %d vertices and %d edges", d.name,
				r.graph.Vertices(), r.graph.Edges())
		}
		var placed graph.Array
		var err error
		if d.value == 0 {
			placed, err = r.image.Reserve(d.name, int(n))
		} else {
			placed, err = r.image.Place(d.name, slices.Repeat([]uint32{d.value}, int(n)))
		}
		if err != nil {
			return refuse("host.arrays", "%v", err)
		}
		if (d.name == p.spec.Until) && n == 0 {
			return refuse("host.until", "%s has no words on this graph: expected at least one", d.name)
		}
		r.places[d.name], r.block[at] = placed, placed.Addr
		at++
	}
	return nil
}

// Do launches the kernels that precede the first super-step, and then runs super-steps to the end. Super-steps that a
// resumed run has completed are not repeated.
func (r *Run) Do(ctx context.Context) error { return host.Loop(ctx, host.Notified(r.device), steps{r}) }

// steps is the loop over a run's super-steps.
type steps struct{ *Run }

// Begin launches the kernels that precede the first super-step.
func (s steps) Begin(ctx context.Context) error {
	for _, k := range s.program.spec.Init {
		if err := s.launch(ctx, 0, k); err != nil {
			return err
		}
	}
	return nil
}

// Over reports whether no super-step follows.
func (s steps) Over() (bool, error) { return s.over, nil }

// Next returns the number of the next super-step.
func (s steps) Next() int { return s.Steps + 1 }

// Step runs one super-step: its kernels in order.
func (s steps) Step(ctx context.Context) error {
	n := s.Next()
	if err := s.superStep(ctx, n); err != nil {
		return fmt.Errorf("super-step %d: %w", n, err)
	}
	return nil
}

func (r *Run) superStep(ctx context.Context, n int) error {
	spec := &r.program.spec
	if spec.Until != "" {
		r.device.WriteWords(r.places[spec.Until].Addr, []uint32{0})
	}
	kernels := spec.Steps
	if len(kernels) == 0 {
		kernels = []string{""}
	}
	for _, k := range kernels {
		if err := r.launch(ctx, n, k); err != nil {
			return err
		}
	}
	r.Steps = n
	return r.goOn()
}

// goOn determines whether another super-step follows.
func (r *Run) goOn() error {
	spec, most := &r.program.spec, r.workload.Iterations
	if spec.Until == "" {
		r.over = r.Steps >= max(1, most) || len(spec.Steps) == 0
		return nil
	}
	left := []uint32{0}
	r.device.ReadWords(r.places[spec.Until].Addr, left)
	r.over = left[0] == 0
	switch {
	case r.over:
	case most > 0 && r.Steps >= most:
		return fmt.Errorf("workload.host.until: %s is still %d after workload.max_iterations = %d super-steps: "+
			"nothing to verify; to count the first super-steps alone, without a result, give region.to and "+
			"region.verify: false",
			spec.Until, left[0], most)
	case most == 0 && r.Steps >= mostSteps:
		return fmt.Errorf(
			"workload.host.until: %s is still %d after %d super-steps, which looks endless: if it is not, say how "+
				"many there may be in workload.max_iterations",
			spec.Until, left[0], mostSteps)
	}
	return nil
}

// launch writes the block and runs a kernel.
func (r *Run) launch(ctx context.Context, step int, kernel string) error {
	r.hand(step, kernel)
	r.meter.Begin(r.device)
	res, err := r.device.Launch(ctx, r.program.image, r.at)
	if err != nil {
		return r.named(kernel, err)
	}
	s := r.device.Shape()
	r.Launches = append(r.Launches, Launch{step, kernel, res, r.meter.End(r.device, s, s.Warps)})
	return nil
}

// hand writes the block.
func (r *Run) hand(step int, kernel string) {
	r.block[wordStep], r.block[wordKernel] = uint32(step), 0
	if kernel != "" {
		r.block[wordKernel], _ = r.program.image.Symbol(kernel) // exists: see find
	}
	r.device.WriteWords(r.at, r.block)
}

func (r *Run) named(kernel string, err error) error {
	if kernel == "" {
		return err
	}
	return fmt.Errorf("kernel %s: %w", kernel, err)
}

// Functional is a device that can execute a launch that adds to no counts.
type Functional interface {
	LaunchFunctional(ctx context.Context, p *isa.Program, arg uint32) error
}

// Verify checks the result; checked is false if the workload specifies no check.
func (r *Run) Verify(ctx context.Context, d Functional) (checked bool, err error) {
	p := r.program
	switch {
	case p.spec.CheckKernel != "":
		r.hand(r.Steps, p.spec.CheckKernel)
		if err := d.LaunchFunctional(ctx, p.image, r.at); err != nil {
			err = fmt.Errorf("workload.host.check_kernel: %w", r.named(p.spec.CheckKernel, err))
			if ctx.Err() == nil { // the check found an error
				err = fmt.Errorf("%w: %w", reference.ErrWrong, err)
			}
			return true, err
		}
		return true, nil
	case p.expect != nil:
		return true, p.compare(r.read(p.spec.Result))
	case p.check != nil:
		return true, r.reference()
	}
	return false, nil
}

func (r *Run) read(name string) []uint32 {
	a := r.places[name]
	out := make([]uint32, a.Words)
	r.device.ReadWords(a.Addr, out)
	return out
}
