package experiment

import (
	"context"
	"fmt"

	"heddle/configs"
	"heddle/configs/schema"
	"heddle/experiment/config"
	"heddle/graph"
	"heddle/graph/graphspec"
	"heddle/kernels/compose"
	"heddle/kernels/host"
	"heddle/kernels/workload"
)

// Vet returns an error if a point cannot run: the machine has too little memory for a schedule or unit, the graph lacks
// a vertex, or the algorithm does not support the graph. It performs everything that a run does before its first
// launch, and records the memory that this takes. Points in done are skipped.
func (r *Runner) Vet(ctx context.Context, l *schema.Loaded[config.Experiment], done map[int]Outcome) error {
	r.vetting = &vetting{compiled: map[string]*compose.Compiled{}, seen: map[string]int{}, needs: map[string]*need{},
		graphs: map[graphspec.Weights][]*graph.Graph{}}
	r.needs = map[int]*need{}
	return r.vet(ctx, l, 0, done)
}

// Grow adds points, as a search does, and vets them. It must follow Vet, and no point may be running.
func (r *Runner) Grow(ctx context.Context, l *schema.Loaded[config.Experiment], more ...Point) error {
	from := len(r.Points)
	r.Points = append(r.Points, more...)
	return r.vet(ctx, l, from, nil)
}

// vet vets the points with index from and above.
func (r *Runner) vet(ctx context.Context, l *schema.Loaded[config.Experiment], from int, done map[int]Outcome) error {
	v := r.vetting
	for i := from; i < len(r.Points); i++ {
		if _, ok := done[i]; ok || r.Elsewhere[i] {
			continue
		}
		place := "place " + r.Points[i].without(len(r.Points[i].Coordinates)-1)
		if first, ok := v.seen[place]; ok { // one point represents those that differ in their seed alone
			r.needs[i] = r.needs[first]
			continue
		}
		v.seen[place] = i
		n, err := v.point(ctx, r, i)
		if err != nil {
			return atPoint(l, &r.Points[i], err)
		}
		r.needs[i] = n
	}
	return nil
}

// atPoint adds to an error the point, and the place where its key was given.
func atPoint(l *schema.Loaded[config.Experiment], p *Point, err error) error {
	return withPoint(p, withOrigin(l, err, p.Settings))
}

// vetting caches results, since most points of a sweep have equal needs.
type vetting struct {
	compiled map[string]*compose.Compiled // by shape of machine and workload
	seen     map[string]int               // the point that represents its seeds, by its other coordinates
	needs    map[string]*need
	graphs   map[graphspec.Weights][]*graph.Graph // stand-ins by kind of weights
}

// point returns the memory that a point needs; nil for a trace.
func (v *vetting) point(ctx context.Context, r *Runner, i int) (*need, error) {
	cfg := &r.Points[i].Config
	w, ok := r.Points[i].work().(hosted)
	if !ok {
		_, err := r.graphs.trace(cfg.Workload.Trace)
		return nil, err
	}
	d, err := host.NewRehearsal(&cfg.Machine)
	if err != nil {
		return nil, err
	}
	key := fmt.Sprintf("%+v %s %+v %s", d.Shape(), unitText(d, &cfg.Machine.Core), cfg.Workload,
		graphspec.Schema.YAML(cfg.Graph))
	if n, ok := v.needs[key]; ok {
		return n, nil
	}
	n, err := v.rehearsed(ctx, r, d, &r.Points[i].Config, w)
	if err == nil {
		v.needs[key] = n
	}
	return n, err
}

// rehearsed performs the part of a run before its first launch, on the point's graph or on stand-ins. A graph is
// generated for it only if the graph decides whether the point can run: that may take minutes, which would delay all
// points.
func (v *vetting) rehearsed(ctx context.Context, r *Runner, d *host.Rehearsal, cfg *config.Experiment, w hosted) (*need,
	error) {
	if w.graph() != thisGraph {
		return v.standIn(ctx, d, cfg, w)
	}
	g, release, err := r.graphs.get(ctx, cfg.Graph)
	if err != nil {
		return nil, err
	}
	defer release()
	m, err := w.rehearse(ctx, v, d, g)
	return &need{own: footprint{base: float64(m.Own)}, derived: footprint{base: float64(m.Derived)}}, err
}

// standIns are the sizes of small graphs, chosen so that three rehearsals determine how the memory of arrays depends on
// the numbers of vertices and edges.
var standIns = [3]struct{ vertices, edges float64 }{{1024, 3968}, {4096, 3968}, {1024, 15872}}

// standIn rehearses on small graphs with weights of the same kind, and extrapolates.
func (v *vetting) standIn(ctx context.Context, d *host.Rehearsal, cfg *config.Experiment, w hosted) (*need, error) {
	graphs, err := v.standInGraphs(cfg.Graph.Weights)
	if err != nil {
		return nil, err
	}
	var of [3]compose.Memory
	for i, g := range graphs {
		if of[i], err = w.rehearse(ctx, v, d, g); err != nil {
			return nil, err
		}
	}
	return fitNeeds(of), nil
}

func (v *vetting) standInGraphs(w graphspec.Weights) ([]*graph.Graph, error) {
	for i := len(v.graphs[w]); i < len(standIns); i++ {
		s := standIns[i]
		g, err := graph.Load(graphspec.Graph{ErdosRenyi: &graphspec.ErdosRenyi{Vertices: int(s.vertices),
			Edges: int(s.edges) / 2}, Weights: w})
		if err != nil {
			return nil, err
		}
		v.graphs[w] = append(v.graphs[w], g)
	}
	return v.graphs[w], nil
}

// compose rehearses composed kernels, compiling equal ones once.
func (v *vetting) compose(d *host.Rehearsal, g *graph.Graph, w workload.Workload) (compose.Memory, error) {
	w, err := compose.ForGraph(w, g)
	if err != nil {
		return compose.Memory{}, err
	}
	p, err := compose.NewPlan(w)
	if err != nil {
		return compose.Memory{}, err
	}
	p.Weights = g.WeightKind()
	key := fmt.Sprintf("%+v %s %s %d %t", d.Shape(), p.Name(), p.Weights, p.Width, p.Residual)
	c := v.compiled[key]
	if c == nil {
		if c, err = compose.Compile(p, d.Shape()); err != nil {
			return compose.Memory{}, err
		}
		v.compiled[key] = c
	}
	return c.Rehearse(d, g, w)
}

// unitText distinguishes the configurations of graph units that the host sets up, which affect a rehearsal.
func unitText(d *host.Rehearsal, c *configs.Core) string {
	if d.Hand() == nil {
		return ""
	}
	return fmt.Sprintf("%+v", c.Unit.Spec)
}
