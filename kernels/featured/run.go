// Package featured runs algorithms on features (package feature) on a device: any schedule, including those of graph
// units, distributes the edges, and the algorithm's functions determine the work of the lanes.
package featured

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"heddle/graph"
	"heddle/kernels/algorithm"
	"heddle/kernels/compose"
	"heddle/kernels/emit"
	"heddle/kernels/feature"
	"heddle/kernels/host"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
	"heddle/kernels/workload"
)

// Result is the result of a run.
type Result struct {
	Plan       string
	Launched   []compose.Launched
	Steps      int   // super-steps
	Traversals int   // edge traversals: one for each kernel over edges of a super-step, and those before the first
	Active     []int // vertices that changed, by super-step
	Converged  bool  // no feature changed by more than epsilon in the last super-step
	Values     []uint32
	Layout     []graph.Region
	Times      host.Times
	Verified   bool
}

// run is the state of a run. Fields without the tag "assembled" are saved in checkpoints.
type run struct {
	Result
	*feature.Plan `checkpoint:"assembled"`
	problem       *feature.Problem `checkpoint:"assembled"`
	device        host.Device      `checkpoint:"assembled"`
	order         []uint32         `checkpoint:"assembled"` // of a pull: byDestination; otherwise nil
	session       *compose.Session
	checker       *feature.Checker
	lone          []*compose.EdgeOperator
	edges         []*compose.EdgeOperator
	vertices      []*compose.VertexOperator
	most          int  // the largest number of super-steps
	limited       bool // by the workload or the algorithm, so that a run of so many is complete
}

// plan builds the plan and the operators. Without a graph there are no weights.
func plan(w *workload.Workload, shape host.Shape, g *graph.Graph) (*run, error) {
	a, err := feature.ByName(string(w.Algorithm))
	if err != nil {
		return nil, err
	}
	return planOf(a, w, shape, g)
}

func planOf(a *feature.Algorithm, w *workload.Workload, shape host.Shape, g *graph.Graph) (*run, error) {
	f := &w.Features
	warps := shape.Warps
	if w.WarpsPerCore > 0 {
		warps = min(w.WarpsPerCore, warps)
	}
	a = a.With(f.Sets)
	if oneCoupling(w) {
		a = a.WithOne(feature.Coupling)
	}
	r := &run{Plan: &feature.Plan{
		Algorithm: a, K: f.Count, Sets: f.Sets, Aware: f.Aware, Changes: f.Changes,
		Kept: f.Changes && f.Unsent == "kept", Fold: feature.Folding(f.Folding), Pipelined: f.Pipelined,
		Block: f.Group == "block", Touched: f.Vertices == "touched", Separate: f.Retracts == "separate",
		Inverts: f.Solver == "inverse", Pull: w.Direction == "pull",
		OneCoupling: oneCoupling(w), Lanes: shape.Threads, Warps: warps,
	}}
	weights := graph.NoWeights
	if g != nil {
		weights = g.WeightKind()
	}
	add := func(list *[]*compose.EdgeOperator, kernels [][]feature.EdgeFunc, all bool) error {
		for _, funcs := range kernels {
			name := ""
			for i := range funcs {
				if i > 0 {
					name += "+"
				}
				name += funcs[i].Name
			}
			o, err := r.edgeOperator(name, w, funcs, all, weights)
			if err != nil {
				return err
			}
			*list = append(*list, o)
		}
		return nil
	}
	if err := add(&r.lone, r.LoneKernels(), true); err != nil {
		return nil, err
	}
	if err := add(&r.edges, r.EdgeKernels(), !r.Changes); err != nil {
		return nil, err
	}
	kernels := r.VertexKernels()
	for i, funcs := range kernels {
		r.vertices = append(r.vertices, &compose.VertexOperator{
			Name:  funcs[len(funcs)-1].Name,
			Whole: func(k *emit.Kernel) { r.VertexKernel(k, funcs, i == len(kernels)-1) },
		})
	}
	return r, nil
}

// oneCoupling reports whether bp's edges share a matrix.
func oneCoupling(w *workload.Workload) bool { return w.Features.Coupling == "graph" }

// edgeOperator returns a kernel over the edges of active vertices, or of all.
func (r *run) edgeOperator(name string, w *workload.Workload, funcs []feature.EdgeFunc, all bool,
	weights graph.WeightKind) (*compose.EdgeOperator, error) {
	var walk *feature.Walk
	a := &algorithm.Algorithm{
		Name: name, Dense: all, Silent: true, PushOnly: !r.Pull, Sum: emit.AddF32, Into: "none",
		Before: func(k *emit.Kernel) { walk = r.Walk(k, funcs) },
		After:  func(*emit.Kernel) { walk.End() },
		Body:   func(_ *emit.Kernel, e *layout.Edge, _ func(ir.Value)) { walk.Edge(e) },
	}
	if !all {
		a.SrcFilter = r.IsActive
	}
	own := *w
	own.Direction, own.ActiveSet, own.Dedup = "push", "counter", "none"
	if r.Pull {
		own.Direction = "pull"
		a.Row = func(_ *emit.Kernel, v ir.Value, threads int, rows func()) { walk.Row(v, threads, rows) }
	}
	return compose.NewEdgeOperator(name, a, own, weights)
}

// numbered are the layouts whose edges have csr's numbers, or those of csc for a pull.
func (r *run) numbered() []string {
	if r.Pull {
		return []string{"csc", "virtual", "virtual-coalesced"}
	}
	return []string{"csr", "coo", "virtual", "virtual-coalesced"}
}

// accepts returns an error for unsupported graphs, and for layouts in which edges' features cannot be addressed.
func (r *run) accepts(w *workload.Workload, g *graph.Graph) error {
	for _, o := range append(r.lone, r.edges...) {
		for _, x := range r.Properties {
			switch l := o.Plan.Layout.Name; {
			case !x.Edges:
			case !slices.Contains(r.numbered(), l):
				list := r.numbered()
				return refuse("workload.layout",
					" = %s: edges of %s have features, by their numbers in %s: expected %s or auto", l, r.Name, list[0],
					strings.Join(list, ", "))
			case o.Plan.Schedule.Unit.ReadsRows():
				return refuse("workload.schedule",
					" = %s: edges of %s have features, by their numbers, and the graph unit hands out none: "+
						"expected another schedule", w.Schedule, r.Name)
			}
		}
	}
	if r.Accepts != nil {
		if key, why := r.Accepts(g); key != "" {
			return &compose.KeyError{Key: key, Msg: why}
		}
	}
	return nil
}

// open places everything.
func (r *run) open(d host.Device, g *graph.Graph, w *workload.Workload) (err error) {
	f := &w.Features
	r.device = d
	r.problem = &feature.Problem{
		Graph: g, K: r.K, Sets: r.Sets, Damping: float32(w.Damping), Epsilon: float32(f.Epsilon),
		Lambda: float32(f.Lambda),
		Seed:   w.Seed, Changes: r.Changes, Kept: r.Kept, OneCoupling: r.OneCoupling,
	}
	if r.Pull {
		r.order = byDestination(g)
	}
	arrays, err := r.properties(g)
	if err != nil {
		return err
	}
	n := g.Vertices()
	active := make([]uint32, (n+r.Lanes-1)/r.Lanes)
	for v := range n {
		active[v/r.Lanes] |= 1 << (v % r.Lanes)
	}
	arrays = append(arrays, graph.Array{Name: feature.Active, Data: active},
		graph.Array{Name: feature.Count, Data: []uint32{0}})
	if r.Touched { // initially vertex functions run for all vertices
		arrays = append(arrays, graph.Array{Name: feature.Marked, Data: slices.Clone(active)})
	}
	if r.Fold == feature.Unfolded && r.Stops() {
		arrays = append(arrays, graph.Array{Name: feature.Going, Data: make([]uint32, len(active))})
	}
	words := map[string]uint32{
		feature.WordDamping: math.Float32bits(r.problem.Damping),
		feature.WordEpsilon: math.Float32bits(r.problem.Epsilon),
		feature.WordLambda:  math.Float32bits(r.problem.Lambda),
	}
	r.session, err = compose.NewSession(d, g, *w, compose.Parts{
		Arrays: arrays, Edges: append(append([]*compose.EdgeOperator{}, r.lone...), r.edges...), Vertices: r.vertices,
		Transposed: func(*compose.EdgeOperator) bool { return false },
		Words:      func() map[string]uint32 { return words },
	})
	return err
}

// properties returns the arrays of numbers that vertices and edges have.
func (r *run) properties(g *graph.Graph) (arrays []graph.Array, err error) {
	n, m := g.Vertices(), g.Edges()
	add := func(name string, words int, data []uint32) {
		if data == nil {
			data = make([]uint32, words)
		}
		arrays = append(arrays, graph.Array{Name: name, Data: data})
	}
	for _, x := range slices.Concat(r.Properties, r.Left()) {
		words, of := x.Words(r.K), n*r.Sets
		switch {
		case x.Edges && x.Sets:
			of = m * r.Sets
		case x.Edges:
			of = m
		case x.Once:
			of = 1
		}
		if uint64(words)*uint64(of) > math.MaxUint32/4 {
			return nil, refuse("workload.features.count",
				" = %d: property %s of %d vertices or edges takes more than the 4 GiB of the machine's "+
					"addresses: expected fewer features, or a smaller graph", r.K, x.Name, of)
		}
		add(x.Name, words*of, r.toDevice(&x, r.problem.Words(&x)))
	}
	add(feature.Now, n*r.Sets*r.K, feature.Words(r.First(r.problem)))
	if r.Changes {
		add(feature.Before, n*r.Sets*r.K, nil)
	}
	return arrays, nil
}

// prepare does everything that precedes the first launch.
func prepare(d host.Device, g *graph.Graph, w *workload.Workload) (*run, error) {
	if err := Check(w, d.Shape()); err != nil {
		return nil, err
	}
	r, err := plan(w, d.Shape(), g)
	if err != nil {
		return nil, err
	}
	if err := r.accepts(w, g); err != nil {
		return nil, err
	}
	return r, r.open(d, g, w)
}

// Rehearse does everything that precedes Run's first launch.
func Rehearse(d *host.Rehearsal, g *graph.Graph, w *workload.Workload) (m compose.Memory, err error) {
	r, err := prepare(d, g, w)
	if err != nil {
		return m, err
	}
	m = r.session.Memory()
	for _, x := range r.Properties {
		switch {
		case x.Sum: // the reference in float64, twice
			m.Own += 16 * uint64(g.Vertices()*r.Sets*x.Words(r.K))
		case x.Slots: // a copy of the state before a super-step
			m.Own += 8 * uint64(g.Edges()*x.Words(r.K))
		}
	}
	return m, nil
}

// mostSteps bounds runs that do not converge.
const mostSteps = 1000

// Run executes a workload, and verifies every super-step. After an error the result covers the super-steps so far.
func Run(ctx context.Context, d host.Device, g *graph.Graph, w *workload.Workload) (res Result, err error) {
	r, err := prepare(d, g, w)
	if err != nil {
		return res, err
	}
	res, err = r.do(ctx, w)
	res.Plan = Name(w)
	return res, err
}

// do runs the placed operators.
func (r *run) do(ctx context.Context, w *workload.Workload) (Result, error) {
	r.most = cmp.Or(w.Iterations, r.Algorithm.Steps, mostSteps)
	r.limited = w.Iterations != 0 || r.Algorithm.Steps != 0
	r.checker = feature.NewChecker(r.Plan, r.problem, r.array)
	err := host.Loop(ctx, host.Notified(r.device), r)
	if err == nil && !r.Converged && !r.limited {
		err = fmt.Errorf("after %d super-steps a feature still changes by more than "+
			"workload.features.epsilon, %g: expected a greater one, or workload.max_iterations", r.Steps,
			w.Features.Epsilon)
	}
	if err == nil {
		err = r.checker.Ended()
	}
	return r.result(err), err
}

// result returns the result of a run that has ended, with an error or without.
func (r *run) result(err error) Result {
	s, res := r.session, r.Result
	res.Verified = err == nil
	res.Launched, res.Traversals, res.Times, res.Layout = s.Launched, s.Steps, s.Times, s.Layout()
	res.Values = s.Array(feature.Now)
	return res
}

// Begin runs the kernels over edges that precede the first super-step.
func (r *run) Begin(ctx context.Context) error {
	for _, o := range r.lone {
		if _, err := r.session.Edges(ctx, o, nil); err != nil {
			return err
		}
	}
	return r.checker.Lone()
}

// Over reports whether no super-step follows.
func (r *run) Over() (bool, error) { return r.Converged || r.Steps >= r.most, nil }

// Next returns the number of the next traversal of edges, with which a super-step begins.
func (r *run) Next() int { return r.session.Steps + 1 }

// Step runs one super-step.
func (r *run) Step(ctx context.Context) error {
	changed, err := r.superStep(ctx, r.checker)
	if err != nil {
		return fmt.Errorf("super-step %d: %w", r.Steps+1, err)
	}
	r.Steps++
	r.Active = append(r.Active, changed)
	r.Converged = changed == 0
	return nil
}

// superStep runs one super-step, and returns the number of changed vertices.
func (r *run) superStep(ctx context.Context, c *feature.Checker) (changed int, err error) {
	c.Begin()
	in := &compose.Frontier{}
	if !r.Changes {
		in = nil
	}
	for _, o := range r.edges {
		o.Active = func() (uint64, uint64) { return c.Active(), c.Edges() }
		from := len(r.session.Launched)
		if _, err := r.session.Edges(ctx, o, in); err != nil {
			return 0, err
		}
		var handled uint64
		for i := range r.session.Launched[from:] {
			handled += r.session.Launched[from+i].Edges
		}
		if handled != c.Edges() {
			return 0, fmt.Errorf("%s has handled %d edges: expected %d", o.Name, handled, c.Edges())
		}
	}
	if err := c.Gathered(); err != nil {
		return 0, err
	}
	sums := map[string][]uint32{}
	for _, x := range r.Properties {
		if !x.Edges {
			sums[x.Name] = r.session.Array(x.Name)
		}
	}
	r.session.Write(feature.Count, 0, 0)
	for _, o := range r.vertices {
		if _, err := r.session.Vertices(ctx, o, nil); err != nil {
			return 0, err
		}
	}
	return int(r.session.Read(feature.Count, 0)), c.Updated(sums)
}
