package experiment

import (
	"context"
	"errors"
	"fmt"

	"heddle/configs/schema"
	"heddle/experiment/config"
	"heddle/experiment/store"
	"heddle/graph"
	"heddle/kernels/compose"
	"heddle/kernels/direction"
	"heddle/kernels/featured"
	"heddle/kernels/host"
	"heddle/kernels/pagerank"
	"heddle/kernels/reference"
	"heddle/kernels/schedule"
	"heddle/kernels/workload"
	"heddle/sim"
	"heddle/sim/stats"
)

// result is the result of a run of kernels, composed or hand-written.
type result struct {
	region     config.Region
	times      host.Times // of the region
	verified   bool
	unchecked  bool         // nothing says what is right
	ran        int          // super-steps of the whole run
	superSteps int          // in the region
	steps      []store.Step // its init kernel, and its super-steps'
	software   stats.Tree   // what the host saw of the super-steps
	layout     []graph.Region
	building   float64 // seconds of the host for the layout's arrays
	stopped    string  // by max_iterations, with vertices active; empty: it was over
}

// Names of the kernels that handle vertices; others handle edges.
const (
	initKernel     = "init"
	applyKernel    = "apply"
	splitKernel    = "split"
	seedKernel     = "seed"
	topologyKernel = "topology"
	registerKernel = "register"
	loopKernel     = "loop" // of a fused run: what the device does between kernels
	compactKernel  = "compact"
)

// initStep is where the init kernel is booked: super-steps count from 1.
const initStep = 0

// step books a kernel of a super-step, if it is of the region.
func (r *result) step(n int, kernel string, s *sim.Result, more ...stats.Stat) {
	if inside(r.region, n) {
		r.steps = append(r.steps, store.Step{Step: n, Kernel: kernel, Cycles: s.Cycles, Half: s.Half, Stats: append(s.Statistics(), more...).Final()})
	}
}

// checkKernels refuses workloads that there are no kernels for.
func checkKernels(e *config.Experiment, programs *programs) error {
	w := &e.Workload
	switch {
	case w.Trace != "":
		return checkTrace(e)
	case w.IsGraphIt():
		return checkGraphIt(e, programs)
	}
	if err := noGraphIt(w); err != nil {
		return err
	}
	if w.HasFeatures() {
		return checkFeatures(e)
	}
	if err := noFeatures(w); err != nil {
		return err
	}
	if w.HasProgram() {
		return checkProgram(w, programs)
	}
	if w.Kernel == workload.Handwritten {
		return checkHandwritten(w)
	}
	return checkForms(e)
}

// checkForms refuses a workload that does not go together. A recipe's must on any graph.
func checkForms(e *config.Experiment) error {
	if err := checkFused(e); err != nil {
		return err
	}
	for _, scaleFree := range []bool{true, false} {
		form, err := *e, error(nil)
		if form.Workload, err = compose.WithRecipe(e.Workload, scaleFree); err != nil {
			return err
		}
		if err := form.Validate(); err != nil {
			return err
		}
		p, err := compose.NewPlan(form.Workload)
		if err == nil {
			err = p.Fits(schedule.Core{Warps: e.Machine.Core.Warps, Lanes: e.Machine.Core.Threads})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkFused refuses to have a part of a run that is one launch count, or be simulated.
func checkFused(e *config.Experiment) error {
	switch {
	case e.Workload.Fusion != compose.LoopFusion:
	case !e.Region.Whole():
		return errors.New("region: a run with workload.fusion loop is one launch, and counts as a whole: expected no region, or fusion none")
	case e.Sample.On():
		return errors.New("sample.period: intervals are chosen within launches, and a run with workload.fusion loop is one, whose super-steps would have no cycles of their own: expected 0, or fusion none")
	}
	return nil
}

// checkRecipe refuses keys that contradict the recipe.
func checkRecipe(l *schema.Loaded[config.Experiment]) error {
	origin := func(key string) schema.Origin {
		at, _ := l.Origin("workload." + key)
		return at
	}
	given := func(key string) bool { return origin(key).Layer != schema.Default }
	for _, c := range compose.Contradictions(l.Value.Workload, given) {
		return fmt.Errorf("%s: workload.%s: %s", origin(c.Key), c.Key, c.Says)
	}
	return nil
}

// Kernel names what a point's choices come to, auto replaced.
func (p *Point) Kernel() string {
	w := &p.Config.Workload
	if w.Trace != "" {
		return "trace " + w.Trace
	}
	if w.HasProgram() {
		return "program " + w.Program
	}
	if w.Kernel == workload.Handwritten {
		return "handwritten " + string(w.Algorithm) + "/" + string(w.Schedule)
	}
	if w.HasFeatures() {
		return featured.Name(w)
	}
	on, off := formName(*w, true), formName(*w, false)
	if on == off {
		return on
	}
	return on + ", and on a graph that is not scale-free " + off
}

// formName names what a workload comes to on a graph that is scale-free, or on another.
func formName(w workload.Workload, scaleFree bool) string {
	w, err := compose.WithRecipe(w, scaleFree)
	plan, errPlan := compose.NewPlan(w)
	if err = errors.Join(err, errPlan); err != nil { // the point was checked when it was laid out
		panic("BUG: experiment: " + err.Error())
	}
	return plan.Name()
}

func checkHandwritten(w *workload.Workload) error {
	switch w.Schedule {
	case workload.VertexSchedule, workload.EdgeSchedule, workload.WeaverSchedule:
	default:
		return fmt.Errorf("workload.kernel: handwritten: there is none under schedule %s: expected vertex, edge or weaver", w.Schedule)
	}
	if w.Recipe != compose.NoRecipe {
		return fmt.Errorf("workload.kernel: handwritten: expected no recipe, found %s", w.Recipe)
	}
	if w.Algorithm != workload.PageRank {
		return fmt.Errorf("workload.kernel: handwritten: there is none for %s: expected pagerank", w.Algorithm)
	}
	for _, c := range []workload.Choice{workload.Choice(w.Layout), w.Direction, w.ActiveSet, w.Dedup} {
		if c != workload.Auto {
			return fmt.Errorf("workload.kernel: handwritten: its layout, direction, active_set and dedup are fixed: expected auto, found %s", c)
		}
	}
	if w.Sum != "register" || !w.Ahead {
		return errors.New("workload.kernel: handwritten: it sums up in registers and reads ahead under vertex: expected sum register and ahead true")
	}
	if w.Settled || w.HybridRule != "beamer" {
		return errors.New("workload.kernel: handwritten: it filters no destinations and does not change its direction: expected settled false and hybrid_rule beamer")
	}
	if w.Fusion == compose.LoopFusion {
		return errors.New("workload.kernel: handwritten: the host launches it: expected fusion none")
	}
	if w.Coefficient != "hardware" {
		return fmt.Errorf("workload.kernel: handwritten: it has no coefficient: expected coefficient hardware, found %s", w.Coefficient)
	}
	if w.WarpsPerCore != 0 {
		return fmt.Errorf("workload.kernel: handwritten: it runs on all warps: expected warps_per_core 0, found %d", w.WarpsPerCore)
	}
	if w.CTAThreads != 0 {
		return fmt.Errorf("workload.kernel: handwritten: it has no thread blocks: expected cta_threads 0, found %d", w.CTAThreads)
	}
	return nil
}

// edgesToHandle is how many a run will have handled; 0: not known before.
func edgesToHandle(g *graph.Graph, e *config.Experiment) uint64 {
	n := edgesOfWhole(g, &e.Workload)
	if most := e.Stop.MaxEdges; most > 0 && n > 0 {
		return min(n, most)
	}
	return n
}

func edgesOfWhole(g *graph.Graph, w *workload.Workload) uint64 {
	if w.HasProgram() {
		return 0
	}
	switch w.Algorithm {
	case workload.PageRank:
		if w.Tolerance == 0 {
			return uint64(g.Edges()) * uint64(max(1, w.Iterations))
		}
	case "spmv", "in-degree":
		return uint64(g.Edges())
	case "spmm", "graphsum":
		if w.Schedule == workload.VertexSchedule {
			return uint64(g.Edges()) * uint64(w.Width)
		}
		return uint64(g.Edges())
	}
	return 0
}

// runKernels computes what a workload says, and books what is of the region.
func runKernels(ctx context.Context, d *counted, g *graph.Graph, e *config.Experiment, programs *programs) (r result, err error) {
	r.region = e.Region
	switch w := &e.Workload; {
	case w.IsGraphIt():
		err = r.graphIt(ctx, d, g, w, programs)
	case w.HasProgram():
		err = r.program(ctx, d, g, w, programs)
	case w.Kernel == workload.Handwritten:
		err = r.handwritten(ctx, d, g, w)
	case w.HasFeatures():
		err = r.featured(ctx, d, g, w)
	default:
		err = r.composed(ctx, d, g, w)
	}
	if (errors.Is(err, reference.ErrWrong) || errors.As(err, new(*reference.RangeError))) && g.Renumbered() {
		err = fmt.Errorf("%w (vertices have the numbers that graph.clean.compact_ids and graph.reorder have given them)", err)
	}
	return r, err
}

func (r *result) handwritten(ctx context.Context, d host.Device, g *graph.Graph, w *workload.Workload) error {
	res, err := pagerank.Run(ctx, d, g, pagerank.Options{
		Schedule: pagerank.Schedule(w.Schedule), Damping: w.Damping, MaxIterations: max(1, w.Iterations),
		Tolerance: w.Tolerance, LaunchOverhead: uint64(w.LaunchOverhead),
	})
	r.verified = res.Verified
	r.step(initStep, initKernel, &res.Init)
	r.ran = len(res.Steps)
	for i := range res.Steps {
		n := i + 1
		r.step(n, "gather", &res.Steps[i].Gather)
		r.step(n, applyKernel, &res.Steps[i].Apply)
		if inside(r.region, n) {
			r.superSteps++
		}
	}
	return err
}

func (r *result) composed(ctx context.Context, d host.Device, g *graph.Graph, w *workload.Workload) error {
	res, err := compose.Run(ctx, d, g, *w)
	r.verified, r.layout, r.building = res.Verified, res.Layout, res.Built.Seconds()
	r.step(initStep, initKernel, &res.Init)
	r.ran = len(res.Steps)
	loops := res.Loops
	loop := func(done int) {
		for ; len(loops) > 0 && loops[0].Step == done; loops = loops[1:] {
			r.step(done, loopKernel, &loops[0].Result)
		}
	}
	loop(0)
	var counted []compose.Step
	for i := range res.Steps {
		s, n := &res.Steps[i], i+1
		for k := range s.Splits {
			r.step(n, sift(res.Plan), &s.Splits[k])
		}
		if s.Compacted(res.Plan) {
			r.step(n, compactKernel, &s.Compact)
		}
		if s.Prepared(res.Plan) {
			r.step(n, topologyKernel, &s.Topology)
		}
		if s.Registered(res.Plan) {
			r.step(n, registerKernel, &s.Register)
		}
		r.gather(n, res.Plan, s, software(res.Steps[i:i+1]))
		if res.Plan.Algorithm.Applies() {
			r.step(n, applyKernel, &s.Apply)
		}
		if inside(r.region, n) {
			counted = append(counted, *s)
		}
		loop(n)
	}
	for i := range res.Splits {
		r.step(r.ran+1, sift(res.Plan), &res.Splits[i])
	}
	r.superSteps = len(counted)
	r.software = withSource(software(counted), g.AsRead(res.Source))
	if stopsEarly(w) {
		r.software = withLeft(r.software, res.Left)
		r.stopped = stopped(r.software, r.ran)
	}
	return err
}

// gather books the launches of a super-step's gather; what the host saw of it stands with the first.
func (r *result) gather(n int, p *compose.Plan, s *compose.Step, seen stats.Tree) {
	name := func(launch int) string {
		kernel := "gather-" + s.Way()
		if names := p.Schedule.Launches; len(names) > 0 {
			kernel += "-" + names[launch]
		}
		return kernel
	}
	r.step(n, name(0), &s.Gather, seen...)
	for i := range s.More {
		r.step(n, name(i+1), &s.More[i])
	}
}

// sift is the name of the kernel that finds the vertices to continue with.
func sift(p *compose.Plan) string {
	if p.Order.Piles {
		return splitKernel
	}
	return seedKernel
}

func withSource(t stats.Tree, source uint32) stats.Tree {
	return append(t, stats.Count("source", "vertex", "That the algorithm began at, by its number in the graph as it was read or generated; 0 if it has none.", uint64(source)))
}

// mostVertices is a maximum, and no sum.
const mostVertices = "frontier.max_vertices"

// software adds up what the host saw of super-steps: of one, or of all.
func software(steps []compose.Step) stats.Tree {
	var vertices, most, edges, pulls uint64
	for _, s := range steps {
		vertices, edges, most = vertices+s.Frontier, edges+s.Edges, max(most, s.Frontier)
		if s.Direction == direction.Pull {
			pulls++
		}
	}
	return append(stats.Tree{
		stats.Count("frontier.vertices", "vertices", "Active at the beginning of a super-step, over all super-steps; all, where the active set does not tell.", vertices),
		stats.Count(mostVertices, "vertices", "Most vertices active in a super-step.", most),
		stats.Count("frontier.edges", "edges", "That leave active vertices, over all super-steps.", edges),
		stats.Count("frontier.pulls", "super-steps", "In the direction pull.", pulls),
	}, spread(len(steps), func(i int) (uint64, compose.Balance) { return steps[i].Handled(), steps[i].Balance })...)
}

// spread adds up how evenly edges were spread in launches.
func spread(launches int, of func(i int) (edges uint64, b compose.Balance)) stats.Tree {
	var handled uint64
	var lanes, warps, cores float64
	for i := range launches {
		edges, b := of(i)
		n := float64(edges)
		handled += edges
		lanes, warps, cores = lanes+n*b.Lanes, warps+n*b.Warps, cores+n*b.Cores
	}
	const doc = "Most edges that one of them handled in a super-step over the mean, averaged over super-steps by their edges: "
	return stats.Tree{
		stats.Ratio("imbalance.lanes", "most/mean", doc+"lanes.", lanes, float64(handled)),
		stats.Ratio("imbalance.warps", "most/mean", doc+"warps.", warps, float64(handled)),
		stats.Ratio("imbalance.cores", "most/mean", doc+"cores.", cores, float64(handled)),
	}
}
