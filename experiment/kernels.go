package experiment

import (
	"context"
	"errors"
	"fmt"

	"heddle/configs/schema"
	"heddle/experiment/config"
	"heddle/graph"
	"heddle/kernels/algorithm"
	"heddle/kernels/compose"
	"heddle/kernels/direction"
	"heddle/kernels/host"
	"heddle/kernels/schedule"
	"heddle/kernels/workload"
	"heddle/sim/stats"
)

// composedWork runs kernels that are composed of the workload's choices.
type composedWork struct{ base }

func (c composedWork) check() (string, error) { return "", c.checkForms() }

// limits: with workload.compiler.fusion loop, a run is one launch, in which no region or recorded launch could begin.
func (c composedWork) limits() (l limits, err error) {
	w := c.workload()
	if w.Recipe != compose.NoRecipe {
		l.tune = errSearched
	}
	if w.Fusion == compose.LoopFusion {
		key, _ := c.e.Sample.Key()
		l.region = keyError("region",
			": a run with workload.compiler.fusion loop is one launch, and counts as a whole: expected no region, or fusion "+
				"none")
		l.sample = keyError(key, ": cannot be sampled: parts are chosen among launches and within them, and a run "+
			"with workload.compiler.fusion loop is one, whose super-steps would have no cycles of their own: expected 0, or "+
			"fusion none")
		l.record = keyError("workload.compiler.fusion",
			": loop: a trace is of a run whose kernels the host launches: expected none")
	}
	return l, nil
}

// errSearched is the error of a search over a workload that has no choices to search.
var errSearched = errors.New("workload: expected heddle's compiled kernels, or a GraphIt program, without trace and " +
	"recipe, and an algorithm without features, since the search is over their choices")

func (c composedWork) label() string {
	on, off := formName(*c.workload(), true), formName(*c.workload(), false)
	if on == off {
		return on
	}
	return on + ", and on a graph that is not scale-free " + off
}

func (c composedWork) graph() graphUse { return c.graphFor(string(c.workload().Algorithm)) }

// graphFor returns the dependence on the graph of work that computes the named algorithm.
func (b base) graphFor(name string) graphUse {
	w := b.workload()
	a, err := algorithm.ByName(name)
	if err != nil || b.e.Graph.File != "" || w.Recipe != compose.NoRecipe ||
		a.Undirected || a.NoLoops || a.Weighted || a.Fits != nil || a.FromSource && w.Source >= 0 ||
		a.Target && w.Target >= 0 {
		return thisGraph
	}
	return anyGraph
}

func (c composedWork) superSteps() uint64 { return c.superStepsOf() }

// superStepsOf estimates how often a built-in algorithm handles every edge: once if it has a frontier.
func (b base) superStepsOf() uint64 {
	if b.workload().Algorithm != workload.PageRank {
		return 1
	}
	return uint64(max(1, b.workload().Iterations))
}

func (c composedWork) stopsEarly() bool {
	a, err := algorithm.ByName(string(c.workload().Algorithm))
	return err == nil && c.workload().Iterations > 0 && a.Stopped != nil
}

func (c composedWork) resolvesAuto() bool { return c.workload().Recipe == compose.NoRecipe }

func (c composedWork) edges(g *graph.Graph) uint64 { return edgesOfWhole(g, c.workload()) }

func (c composedWork) rehearse(_ context.Context, v *vetting, d *host.Rehearsal, g *graph.Graph) (compose.Memory,
	error) {
	return v.compose(d, g, *c.workload())
}

func (c composedWork) run(ctx context.Context, d *counted, g *graph.Graph) (workResult, error) {
	res, err := compose.Run(ctx, d, g, *c.workload())
	return workResult{
		launched: res.Launched(), steps: len(res.Steps), seen: traversalStatistics, source: g.AsRead(res.Source),
		left:   res.Left,
		layout: res.Layout, building: res.Built.Seconds(), verified: res.Verified,
	}, err
}

// checkForms returns an error for incompatible choices. A recipe chooses by the graph, so both of its forms are
// checked.
func (c composedWork) checkForms() error {
	e := c.e
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

// checkRecipe returns an error for keys that contradict the recipe.
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

// Kernel names the point's choices, with auto resolved.
func (p *Point) Kernel() string { return p.work().label() }

// formName names the resolved choices of a workload on a scale-free graph, or on another.
func formName(w workload.Workload, scaleFree bool) string {
	w, err := compose.WithRecipe(w, scaleFree)
	plan, errPlan := compose.NewPlan(w)
	if err = errors.Join(err, errPlan); err != nil { // Points has checked it
		panic("BUG: experiment: " + err.Error())
	}
	return plan.Name()
}

// edgesToHandle returns the number of edges that a run will handle; 0: unknown in advance.
func edgesToHandle(g *graph.Graph, w hosted, e *config.Experiment) uint64 {
	n := w.edges(g)
	if most := e.Stop.MaxEdges; most > 0 && n > 0 {
		return min(n, most)
	}
	return n
}

// edgesOfWhole returns the number of edges that a complete run of a built-in algorithm handles; 0: unknown in advance.
func edgesOfWhole(g *graph.Graph, w *workload.Workload) uint64 {
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

func withSource(t stats.Tree, source uint32) stats.Tree {
	return append(t, stats.Count("source", "vertex",
		"Vertex at which the algorithm began, as numbered in the graph that was read or generated; 0 if it has none.",
		uint64(source)))
}

// mostVertices is a maximum over launches, the only host statistic that does not add up.
const mostVertices = "frontier.max_vertices"

// traversalStatistics sums the host's observations of super-steps: of one, or of all.
func traversalStatistics(steps []compose.Step) stats.Tree {
	var vertices, most, edges, pulls uint64
	for _, s := range steps {
		vertices, edges, most = vertices+s.Frontier, edges+s.Edges, max(most, s.Frontier)
		if s.Direction == direction.Pull {
			pulls++
		}
	}
	return append(stats.Tree{
		stats.Count("frontier.vertices", "vertices",
			"Active at the beginning of a super-step, over all super-steps; all vertices, for active sets without a "+
				"size.",
			vertices),
		stats.Count(mostVertices, "vertices", "Most vertices active in a super-step.", most),
		stats.Count("frontier.edges", "edges", "That leave active vertices, over all super-steps.", edges),
		stats.Count("frontier.pulls", "super-steps", "In the direction pull.", pulls),
	}, balanceStatistics(steps)...)
}

// imbalanceStatistics averages, weighted by edges, how unevenly launches spread their edges.
func imbalanceStatistics(launches int, of func(i int) (edges uint64, b compose.Balance)) stats.Tree {
	var handled uint64
	var lanes, warps, cores float64
	for i := range launches {
		edges, b := of(i)
		n := float64(edges)
		handled += edges
		lanes, warps, cores = lanes+n*b.Lanes, warps+n*b.Warps, cores+n*b.Cores
	}
	const doc = "Most edges that one of them handled in a super-step over the mean, averaged over super-steps by " +
		"their edges: "
	return stats.Tree{
		stats.Ratio("imbalance.lanes", "most/mean", doc+"lanes.", lanes, float64(handled)),
		stats.Ratio("imbalance.warps", "most/mean", doc+"warps.", warps, float64(handled)),
		stats.Ratio("imbalance.cores", "most/mean", doc+"cores.", cores, float64(handled)),
	}
}

// balanceStatistics returns the host's statistics of the traversals of a user's program, which has no frontier.
func balanceStatistics(steps []compose.Step) stats.Tree {
	return imbalanceStatistics(len(steps), func(i int) (uint64, compose.Balance) {
		return steps[i].Handled(), steps[i].Balance
	})
}
