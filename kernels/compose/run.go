package compose

import (
	"context"
	"fmt"
	"slices"
	"time"

	"heddle/components/accel"
	"heddle/graph"
	"heddle/kernels/activeset"
	"heddle/kernels/algorithm"
	"heddle/kernels/direction"
	"heddle/kernels/host"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
	"heddle/kernels/reference"
	"heddle/kernels/schedule"
	"heddle/kernels/workload"
	"heddle/sim"
)

// Step is the record of a super-step.
type Step struct {
	Direction direction.Direction
	Back      bool         // a step of the way back, with the active vertices of an earlier super-step
	Compact   sim.Result   // kernel of the active set before the gather
	Topology  sim.Result   // kernel of the layout before the gather
	Register  sim.Result   // kernel of the schedule before the gather
	Gather    sim.Result   // first launch
	More      []sim.Result // further launches, if the schedule has several for a gather
	Apply     sim.Result
	Splits    []sim.Result // launches of split or seed before the super-step
	// Frontier counts the active vertices, as often as they are in the active set, and Edges the edges that leave them.
	// Known is false if the set does not list its members: then all vertices were walked.
	Frontier, Edges uint64
	Known           bool
	Residual        float32 // Σ|change|, if there is a tolerance
	Balance         Balance // distribution of the handled edges
}

// Handled returns the number of edges that the gather handled.
func (s *Step) Handled() uint64 {
	n := s.Gather.Edges
	for i := range s.More {
		n += s.More[i].Edges
	}
	return n
}

// Registered reports whether Register was launched.
func (s *Step) Registered(p *Plan) bool { return s.plan(p).Registers() }

// plan returns the plan that the super-step belongs to.
func (s *Step) plan(p *Plan) *Plan {
	if s.Back {
		return p.back()
	}
	return p
}

// Compacted reports whether Compact was launched.
func (s *Step) Compacted(p *Plan) bool { return !s.Back && p.Compacts(s.Direction) }

// Prepared reports whether Topology was launched.
func (s *Step) Prepared(p *Plan) bool { return s.plan(p).Prepares(s.Direction) }

// Way returns the direction or wayBack.
func (s *Step) Way() string {
	if s.Back {
		return wayBack
	}
	return s.Direction.String()
}

// Result is the result of a run.
type Result struct {
	Plan      *Plan
	Source    uint32 // the source vertex, if the algorithm has one
	Values    []uint32
	Init      sim.Result
	Steps     []Step
	Splits    []sim.Result // launches of split or seed since the last super-step
	Loops     []Loop       // parts of a fused run between kernels
	Converged bool
	Stopped   bool // by the algorithm's Stop
	Left      int  // vertices active when max_iterations stopped the run; all, if the set does not list its members
	Verified  bool // the values equal the reference, stopped after as many super-steps if vertices were left
	Times     host.Times
	Layout    []graph.Region // addresses of the arrays
	// Built is the host time that built the layout's arrays, which is not simulated. Arrays that follow from the graph
	// alone (CSC, the row of each edge) are built once for all runs on it.
	Built time.Duration `checkpoint:"assembled"`
}

// machine runs kernels: a device with compiled programs, the interpreter, or the memory of an exporter. Types that
// stand in for another machine must not embed run, whose methods of the same names would be promoted (see exporter).
type machine interface {
	Shape() host.Shape
	ReadWords(addr uint32, words []uint32)
	WriteWords(addr uint32, words []uint32)
	ShareWords(addr uint32, words []uint32)
	Reserved() []graph.Region
	Launch(ctx context.Context, k *ir.Kernel, arg uint32) (sim.Result, error)
	LaneEdges(n []uint64) []uint64
	Hand() accel.Hand
	BeginStep(n int) error
	Frontier(n int, vertices, edges uint64)
	host.Keeper
}

// executor runs the kernels of a run: byHost launches each of them, inLoop awaits the device's own loop.
type executor interface {
	machine
	// execute runs a kernel with the parameters of the next super-step.
	execute(ctx context.Context, r *run, k *ir.Kernel) (sim.Result, error)
	finish() error // after the last kernel
	abort()        // ends an execution without finish; afterwards it does nothing
}

// byHost launches each kernel on a machine.
type byHost struct{ machine }

func (b byHost) execute(ctx context.Context, r *run, k *ir.Kernel) (sim.Result, error) {
	r.fill(k)
	if err := r.configure(k); err != nil {
		return sim.Result{}, err
	}
	res, err := b.Launch(ctx, k, r.argumentBlocks[k])
	r.Times.Add(res, uint64(r.workload.LaunchOverhead))
	return res, err
}

func (byHost) finish() error { return nil }
func (byHost) abort()        {}

// Run runs a workload on a device and verifies the result. On an error, which may be that of an invalid workload, of a
// launch, of ctx, or a wrong result, the result describes the run so far.
func Run(ctx context.Context, d host.Device, g *graph.Graph, w workload.Workload) (Result, error) {
	w, err := ForGraph(w, g)
	if err != nil {
		return Result{}, err
	}
	p, err := NewPlan(w)
	if err != nil {
		return Result{}, err
	}
	p.Weights = g.WeightKind()
	c, err := Compile(p, d.Shape())
	if err != nil {
		return Result{Plan: p}, err
	}
	return c.Run(ctx, d, g, w)
}

// run is the state of a run.
//
// Life: newRun lays out arrays and argument blocks; fuse may turn the launches into parts of one. host.Loop then
// resumes from a checkpoint or begins with the init kernel and the first active set. Each super-step is frontier (which
// decides the direction), gather, apply, next (which exchanges the active set), and refill if the set is empty; round
// changes in refill only. Over turns to the way back, which traverses the super-steps in reverse, with depth for the
// current one. verify compares
// the result. launchNumber is 0 except during the further launches of a gather. In a session, operators share an image
// (prefix, shared), and stepsBefore counts the super-steps of others.
//
// Fields without the tag "assembled" are saved in checkpoints.
type run struct {
	Result
	executor
	workload       workload.Workload
	problem        algorithm.Problem
	kernels        Kernels
	set            activeset.State
	arrays         *layout.Arrays `checkpoint:"assembled"` // arrays derived from the graph
	image          *graph.Image
	argumentBlocks map[*ir.Kernel]uint32 `checkpoint:"assembled"` // addresses of the kernels' argument blocks
	addresses      map[string]uint32     // addresses of arrays that do not rotate, by the kernels' names
	reached        uint64                // edges that leave vertices which have been active
	pushed         uint64                // edges along which frontiers have been pushed
	waiting        activeset.Pile        // waiting vertices; nil: none wait
	exchanges      int                   // number of exchanges of the active set
	round          uint32                // round of an algorithm with rounds; -1 before the first
	unvisited      uint64                // vertices that have not been active, with rounds
	isBack         bool                  // the way back has begun
	ended          bool                  // no vertex is active any more
	launchNumber   uint32                // number of the launch in a gather
	depth          int                   // current super-step of the way back, from 0
	regions        uint32                // address of the units' lists
	bound          uint32                // lower bound of the contributions in the super-step, if the plan is Settled
	maxWalk        int                   // largest size of a walk over the active set
	virtualRows    map[string]uint32     // numbers of virtual vertices, if the layout has any
	layoutScalars  map[string]uint32     // scalars of the layout
	prefix         string                // of its arrays' names in a session's image; "": it has its own image
	stepsBefore    int                   // super-steps of other operators, and its own that are not in Steps
	shared         map[*uint32]uint32    `checkpoint:"assembled"` // addresses of the graph's arrays in a session
	meter          Meter                 `checkpoint:"assembled"`
}

// newRun checks the workload on the graph, and lays out the run in the machine's memory.
func newRun(m machine, p *Plan, ks Kernels, g *graph.Graph, w workload.Workload) (*run, error) {
	return newRunIn(m, p, ks, g, w, nil)
}

// newRunIn is newRun with share, which may set up an image that several operators share.
func newRunIn(m machine, p *Plan, ks Kernels, g *graph.Graph, w workload.Workload, share func(r *run)) (*run, error) {
	if err := p.Algorithm.Accepts(g); err != nil {
		return nil, err
	}
	source, target, err := endsOf(p, g, w)
	if err != nil {
		return nil, err
	}
	r := &run{
		Result: Result{Plan: p, Source: source}, executor: byHost{m}, workload: w, kernels: ks,
		problem: algorithm.Problem{
			Graph: g, Source: source, Target: target, Damping: w.Damping, Tolerance: w.Tolerance,
			Threshold: w.Threshold, Seed: w.Seed, Width: p.width(), Coefficient: p.Coefficient,
		},
		set: p.set().New(g.Vertices(), g.Edges(), p.Dedup), arrays: layout.NewArrays(g),
		argumentBlocks: map[*ir.Kernel]uint32{}, addresses: map[string]uint32{}, unvisited: uint64(g.Vertices()),
	}
	r.maxWalk, r.virtualRows = r.roomOf(p), r.rowCounts()
	if share != nil {
		share(r)
	}
	if fits := p.Algorithm.Fits; fits != nil {
		if err := fits(&r.problem); err != nil {
			return nil, err
		}
	}
	if err := p.accepts(g); err != nil {
		return nil, err
	}
	r.layoutScalars = p.Layout.NumbersOf(g)
	if p.Order.Piles {
		r.waiting = p.Order.New(p.Set, g.Vertices(), delta(g, w), p.Buckets)
	}
	if err := r.place(); err != nil {
		return nil, err
	}
	return r, nil
}

// endsOf returns the source and target vertices.
func endsOf(p *Plan, g *graph.Graph, w workload.Workload) (source, target uint32, err error) {
	if source, err = sourceOf(p, g, w); err != nil || !p.Algorithm.Target {
		return source, 0, err
	}
	drawn := g.DrawSources(2, w.Seed)
	switch {
	case w.Target >= 0:
		if target, err = g.Vertex(w.Target); err != nil {
			return 0, 0, refuse("algorithm.target", " = %d: %v", w.Target, err)
		}
	case len(drawn) == 2:
		target = drawn[1]
	default:
		return 0, 0, refuse("algorithm.target", ": the largest component has no two vertices with edges to draw source and "+
			"target from: give a target")
	}
	if source == target {
		return 0, 0, refuse("algorithm.target", ": source and target are both vertex %d: give another "+
			"workload.algorithm.source or "+
			"workload.algorithm.target", g.AsRead(source))
	}
	return source, target, nil
}

// sourceOf returns the source vertex.
func sourceOf(p *Plan, g *graph.Graph, w workload.Workload) (uint32, error) {
	switch {
	case !p.Algorithm.FromSource:
		return 0, nil
	case w.Source >= 0:
		source, err := g.Vertex(w.Source)
		if err != nil {
			err = refuse("algorithm.source", " = %d: %v", w.Source, err)
		}
		return source, err
	}
	drawn := g.DrawSources(1, w.Seed)
	if len(drawn) == 0 {
		return 0, refuse("algorithm.source", ": no vertex of the largest component has an edge to begin with: give a source")
	}
	return drawn[0], nil
}

// start returns the first active set.
func (r *run) start() []uint32 {
	switch a := r.Plan.Algorithm; {
	case a.Target:
		return []uint32{r.Source, r.problem.Target}
	case a.FromSource:
		return []uint32{r.Source}
	case a.Seed != nil && !a.CountsFirst:
		return nil
	}
	all := make([]uint32, r.problem.Graph.Vertices())
	for v := range all {
		all[v] = uint32(v)
	}
	return all
}

// Begin launches the init kernel and makes the first active set.
func (r *run) Begin(ctx context.Context) (err error) {
	if r.Init, err = r.launch(ctx, r.kernels.Init); err != nil {
		return err
	}
	if err := r.set.Start(r, r.start()); err != nil {
		return err
	}
	switch {
	case r.Plan.Algorithm.CountsFirst:
		r.round-- // no round yet
	case r.kernels.Seed != nil:
		return r.firstRound(ctx)
	}
	return nil
}

// Over reports whether no super-step follows, and turns to the way back after the last one forward.
func (r *run) Over() (bool, error) {
	if !r.isBack {
		if !r.Converged && !r.Stopped {
			most := r.maxSteps()
			return most > 0 && len(r.Steps) >= most, nil
		}
		if r.kernels.Back == nil {
			return true, nil
		}
		r.isBack, r.depth = true, len(r.Steps)-2
	}
	return r.depth <= 0, nil
}

// Next returns the number of the next super-step.
func (r *run) Next() int { return len(r.Steps) + 1 }

// Step runs the next super-step, forward or back.
func (r *run) Step(ctx context.Context) (err error) {
	n := r.Next()
	if r.isBack {
		err = r.stepBack(ctx)
		r.depth--
	} else {
		err = r.superStep(ctx)
	}
	if err != nil {
		return fmt.Errorf("super-step %d: %w", n, err)
	}
	return nil
}

// stepBack traverses the edges of an earlier super-step's vertices again.
func (r *run) stepBack(ctx context.Context) error {
	if k, ok := r.set.(activeset.Keeper); ok {
		k.Again(r.depth)
	}
	there := &r.Steps[r.depth]
	s := Step{Back: true, Frontier: there.Frontier, Edges: there.Edges, Known: there.Known}
	if err := r.gather(ctx, &s, r.Plan.back(), r.kernels.TopologyBack, r.kernels.Again, r.kernels.Back); err != nil {
		return err
	}
	r.Steps = append(r.Steps, s)
	return nil
}

// gather traverses the edges of a super-step, after launching the kernels of the active set, the layout and the
// schedule that precede it.
func (r *run) gather(ctx context.Context, s *Step, p *Plan, topology, register, gather *ir.Kernel) (err error) {
	r.Frontier(r.stepsBefore+len(r.Steps)+1, s.Frontier, s.Edges)
	r.meter.Begin(r)
	r.launchNumber = 0
	r.zero()
	if err := r.compact(ctx, s); err != nil {
		return err
	}
	if err := r.prepare(ctx, s, topology); err != nil {
		return err
	}
	if register != nil {
		if s.Register, err = r.launch(ctx, register); err != nil {
			return err
		}
	}
	r.exchange(p)
	if s.Gather, err = r.launch(ctx, gather); err != nil {
		return err
	}
	for n := 1; n < len(p.Schedule.Launches); n++ {
		r.launchNumber = uint32(n)
		res, err := r.launch(ctx, gather)
		s.More = append(s.More, res)
		if err != nil {
			return err
		}
	}
	s.Balance = r.meter.End(r, r.Shape(), r.Plan.warps(r.Shape()))
	return nil
}

// compact launches the kernel that lists the vertices which walk their rows, if the plan has one.
func (r *run) compact(ctx context.Context, s *Step) (err error) {
	if !s.Compacted(r.Plan) {
		return nil
	}
	if s.Compact, err = r.launch(ctx, r.kernels.Compact[s.Direction]); err != nil {
		return err
	}
	r.set.(activeset.Compacter).Compacted(r)
	if r.Plan.Set.Outputs { // only now is it known how often vertices are listed
		s.Frontier, s.Edges = r.active()
		return r.set.(activeset.Walked).Fits(s.Edges)
	}
	return nil
}

// zero zeroes the schedule's arrays that must be zero when a gather begins. The order does not matter.
func (r *run) zero() {
	for name, at := range r.addresses {
		if a := r.Plan.Schedule.Array(name); a != nil && a.Zero {
			r.WriteWords(at, make([]uint32, a.Words(r.maxWalk, r.Shape().Cores*r.Shape().Warps)))
		}
	}
}

// maxSteps returns the largest number of super-steps; 0: until no vertex is active.
func (r *run) maxSteps() int {
	switch {
	case r.Plan.Algorithm.Single, r.Plan.Algorithm.Dense && r.workload.Iterations == 0:
		return 1
	}
	return r.workload.Iterations
}

// superStep runs one super-step: gather, apply, and the choice of the next active set.
func (r *run) superStep(ctx context.Context) (err error) {
	s := r.frontier()
	if err := r.gather(ctx, &s, r.Plan, r.kernels.Topology[s.Direction], r.kernels.Lists[s.Direction],
		r.kernels.Gather[s.Direction]); err != nil {
		return err
	}
	if r.kernels.Apply != nil {
		if err := r.apply(ctx, &s); err != nil {
			return err
		}
	}
	r.Steps = append(r.Steps, s)
	if r.Plan.Algorithm.Dense {
		r.Converged = r.settled(&s)
		return nil
	}
	n, err := r.next()
	if n == 0 && err == nil {
		n, err = r.refill(ctx)
	}
	r.ended = n == 0
	r.Converged = r.ended || r.Plan.Algorithm.Sends != nil && r.settled(&s)
	r.Stopped = r.stops()
	return err
}

// settled reports whether a super-step has changed no more than the tolerance.
func (r *run) settled(s *Step) bool {
	return r.Plan.Residual && float64(s.Residual) <= r.workload.Tolerance
}

// stops reports whether a super-step has ended the run.
func (r *run) stops() bool {
	if r.Plan.Algorithm.Stop == "" {
		return false
	}
	word := []uint32{0}
	r.ReadWords(r.addresses[r.Plan.Algorithm.Stop], word)
	return word[0] != 0
}

// next exchanges the active set, and returns its size, or whether it has members.
func (r *run) next() (active uint32, err error) {
	r.exchanges++
	return r.set.Next(r)
}

// refill raises the threshold until waiting vertices are near, or begins rounds until one has vertices. Its launches
// belong to the next super-step.
func (r *run) refill(ctx context.Context) (active uint32, err error) {
	for active == 0 {
		switch {
		case r.waiting != nil && r.waiting.Rise(r):
			err = r.launchSifter(ctx, r.kernels.Split)
			r.waiting.Split(r)
		case r.kernels.Seed != nil && r.unvisited > 0 &&
			int(int32(r.round)) < r.problem.Graph.Edges(): // no vertex has more neighbours
			r.round++
			err = r.launchSifter(ctx, r.kernels.Seed)
		default:
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		if active, err = r.next(); err != nil {
			return 0, err
		}
	}
	return active, nil
}

// firstRound begins round 0.
func (r *run) firstRound(ctx context.Context) error {
	r.round--
	_, err := r.refill(ctx)
	return err
}

// launchSifter launches split or seed, which belongs to the next super-step.
func (r *run) launchSifter(ctx context.Context, k *ir.Kernel) error {
	if err := r.BeginStep(len(r.Steps) + 1); err != nil {
		return err
	}
	res, err := r.launch(ctx, k)
	r.Splits = append(r.Splits, res)
	return err
}

// delta returns the distance between thresholds. 0 in the workload stands for the advice of Davidson et al.: 32 lanes ×
// mean weight / mean degree.
func delta(g *graph.Graph, w workload.Workload) uint32 {
	if w.Delta > 0 {
		return uint32(w.Delta)
	}
	sum := uint64(0)
	for _, x := range g.CSR().Weights {
		sum += uint64(x)
	}
	if g.WeightKind() == graph.NoWeights {
		sum = uint64(g.Edges())
	}
	m := uint64(max(1, g.Edges()))
	return uint32(min(max(1, 32*sum*uint64(g.Vertices())/(m*m)), 1<<31))
}

// apply launches the apply kernel, and reads the residual if there is one.
func (r *run) apply(ctx context.Context, s *Step) (err error) {
	if !r.Plan.Residual {
		s.Apply, err = r.launch(ctx, r.kernels.Apply)
		return err
	}
	at := r.addresses["residual"]
	r.WriteWords(at, []uint32{0})
	if s.Apply, err = r.launch(ctx, r.kernels.Apply); err != nil {
		return err
	}
	s.Residual = float(r, at)
	return nil
}

// frontier begins a super-step: it counts the active vertices and their edges, and decides the direction.
func (r *run) frontier() Step {
	s, f := r.look()
	r.Splits = nil
	r.reached += s.Edges
	if !r.Plan.Algorithm.CountsFirst || len(r.Steps) > 0 {
		r.unvisited -= min(r.unvisited, s.Frontier)
	}
	if r.Plan.Settled {
		r.bound = r.contributionBound()
	}
	s.Direction = r.decide(&f)
	if s.Direction == direction.Push {
		r.pushed += s.Edges
	}
	return s
}

// look counts the active vertices of the coming super-step and their edges.
func (r *run) look() (Step, direction.Frontier) {
	s, g := Step{Splits: r.Splits}, r.problem.Graph
	all := uint64(g.Edges())
	if s.Known = !r.Plan.Set.Sized; s.Known {
		s.Frontier, s.Edges = r.active()
	} else {
		s.Frontier, s.Edges = uint64(g.Vertices()), all
	}
	f := direction.Frontier{
		Vertices: s.Frontier, Edges: s.Edges, Unexplored: all, Unpushed: int64(all) - int64(r.pushed),
		AllVertices: uint64(g.Vertices()), First: len(r.Steps) == 0, Growing: true,
	}
	if r.Plan.Algorithm.Once {
		f.Unexplored = all - min(all, r.reached)
	}
	if n := len(r.Steps); n > 0 {
		f.Before, f.Growing = r.Steps[n-1].Direction, s.Frontier > r.Steps[n-1].Frontier
	}
	return s, f
}

// active counts the active vertices and their edges.
func (r *run) active() (vertices, edges uint64) {
	for _, v := range r.set.Active(r) {
		vertices++
		edges += uint64(r.problem.Graph.CSR().Degree(int(v)))
	}
	return vertices, edges
}

// decide returns the direction of the coming super-step.
func (r *run) decide(f *direction.Frontier) direction.Direction {
	return r.Plan.Direction.Next(f, direction.Thresholds{Alpha: r.workload.Alpha, Beta: r.workload.Beta,
		Rule: r.Plan.Rule})
}

// contributionBound returns a lower bound of the contributions in the next super-step, at no simulated cost.
func (r *run) contributionBound() uint32 {
	a := r.Plan.Algorithm
	values := make([]uint32, r.problem.Graph.Vertices())
	r.ReadWords(r.addresses[a.Into], values)
	return a.Bound(&r.problem, r.set.Active(r), values)
}

// launch runs a kernel with the parameters of the next super-step.
func (r *run) launch(ctx context.Context, k *ir.Kernel) (sim.Result, error) {
	return r.execute(ctx, r, k)
}

// verify compares the result with the reference.
func (r *run) verify() error {
	at := r.addresses[r.Plan.Algorithm.Result]
	r.Values = make([]uint32, r.Plan.Algorithm.Size(r.Plan.Algorithm.Result, &r.problem))
	r.ReadWords(at, r.Values)
	o := algorithm.Outcome{Result: r.Values, Steps: len(r.Steps), Stopped: r.Stopped, Ended: r.ended}
	for i := range r.Steps {
		o.Residuals = append(o.Residuals, r.Steps[i].Residual)
	}
	if err := r.invariant(); err != nil {
		return err
	}
	if a := r.Plan.Algorithm; !a.Dense && !r.Converged && !r.Stopped {
		undone := r.undone()
		if r.Left = r.problem.Graph.Vertices(); undone.Known {
			r.Left = distinct(undone.Active)
		}
		if a.Stopped != nil {
			o.Undone = undone
		}
	}
	err := r.Plan.Algorithm.Verify(&r.problem, &o)
	r.Verified = err == nil
	return err
}

// undone describes the work that is left when max_iterations stops a run, on which the check of the result depends.
func (r *run) undone() *reference.Undone {
	u := &reference.Undone{Known: !r.Plan.Set.Sized}
	if u.Known {
		u.Active = r.set.Active(r)
	}
	if r.waiting != nil {
		w := r.waiting.Words()
		u.Waits, u.Waiting, u.Settled = true, w["far.threshold"], w["far.before"]
	}
	return u
}

// distinct returns the number of different vertices in a list.
func distinct(list []uint32) int {
	return len(slices.Compact(slices.Sorted(slices.Values(list))))
}

// invariant checks the number of edges that each super-step handled: where active vertices walk complete rows, it
// equals the number of edges that leave them, times the components that have threads of their own.
func (r *run) invariant() error {
	for i := range r.Steps {
		if err := r.invariantOf(i+1, &r.Steps[i]); err != nil {
			return err
		}
	}
	return nil
}

// invariantOf checks super-step n.
func (r *run) invariantOf(n int, s *Step) error {
	if !r.Plan.Algorithm.Dense && (s.Direction != direction.Push || !s.Known) {
		return nil
	}
	if a := r.Plan.Algorithm; a.Dense && a.DstFilter != nil && s.Direction == direction.Pull {
		return nil // rows of vertices that the filter drops are not walked
	}
	if want := r.handled(s.Edges); s.Handled() != want {
		return fmt.Errorf("%w: the gather of super-step %d handled %d edges, and the active vertices have %d",
			reference.ErrWrong, n, s.Handled(), want)
	}
	return nil
}

// handled returns how many times edges are handled in total: those outside rows are handled once, whatever the width.
func (r *run) handled(edges uint64) uint64 {
	walks := r.Plan.walks()
	if walks == 1 || !r.Plan.Layout.Loose() {
		return edges * walks
	}
	end := r.Plan.Layout.Rows(r.Plan.Direction.Uses[0])
	return edges*walks - (walks-1)*uint64(r.layoutScalars[layout.RestEdges(end)])
}

// runAndVerify runs all super-steps and verifies the result.
func (r *run) runAndVerify(ctx context.Context) (Result, error) {
	defer r.abort()
	err := host.Loop(ctx, r, r)
	if err == nil {
		err = r.finish()
	}
	if err == nil {
		err = r.verify()
	}
	return r.Result, err
}

// coreOf returns the core of a machine as schedules see it.
func coreOf(s host.Shape) schedule.Core { return schedule.Core{Warps: s.Warps, Lanes: s.Threads} }

// warps returns the number of a core's warps that run the kernels.
func (p *Plan) warps(s host.Shape) int {
	if p.Warps > 0 {
		return p.Warps
	}
	return s.Warps
}
