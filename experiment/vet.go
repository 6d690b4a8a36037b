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

// Vet refuses points that cannot run: machines without room for what a schedule or a unit needs, vertices that the
// graph does not have, graphs that an algorithm does not work on. It does what a run does before its first launch.
// Points that are done are left out.
func (r *Runner) Vet(ctx context.Context, l *schema.Loaded[config.Experiment], done map[int]Outcome) error {
	r.vetting = &vetting{compiled: map[string]*compose.Compiled{}, seen: map[string]int{}, needs: map[string]*need{},
		graphs: map[graphspec.Weights][]*graph.Graph{}}
	r.needs = map[int]*need{}
	return r.vet(ctx, l, 0, done)
}

// Grow adds points to those of a search, and refuses those that cannot run. No point runs meanwhile. Vet comes first.
func (r *Runner) Grow(ctx context.Context, l *schema.Loaded[config.Experiment], more ...Point) error {
	from := len(r.Points)
	r.Points = append(r.Points, more...)
	return r.vet(ctx, l, from, nil)
}

// vet looks at points from one on.
func (r *Runner) vet(ctx context.Context, l *schema.Loaded[config.Experiment], from int, done map[int]Outcome) error {
	v := r.vetting
	for i := from; i < len(r.Points); i++ {
		if _, ok := done[i]; ok || r.Elsewhere[i] {
			continue
		}
		place := "place " + r.Points[i].without(len(r.Points[i].Place)-1)
		if first, ok := v.seen[place]; ok { // of points that differ in their seed alone, one stands for all
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

// atPoint says where an error's key is given, and at which point it is wrong.
func atPoint(l *schema.Loaded[config.Experiment], p *Point, err error) error {
	return of(p, fromKey(l, err, p.Settings))
}

// vetting remembers what has been looked at, since most points of a sweep are alike in what they need.
type vetting struct {
	compiled map[string]*compose.Compiled // by shape of machine and workload
	seen     map[string]int               // which point was looked at
	needs    map[string]*need
	graphs   map[graphspec.Weights][]*graph.Graph // stand-ins
}

// point returns what a point needs; nil: of a trace.
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

// rehearsed does what a run does before its first launch, on the graph, or in its place on others. Graphs of generators
// are made first only if it depends on them whether the point can run: they may take minutes, and other points need not
// wait for them.
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

// standIns are small graphs by which the memory of arrays follows from numbers of vertices and edges.
var standIns = [3]struct{ vertices, edges float64 }{{1024, 3968}, {4096, 3968}, {1024, 15872}}

// standIn rehearses on small graphs whose edges have weights of the same kind.
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

// compose rehearses composed kernels, of which those that are alike are compiled once.
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

// unitText tells graph units apart that the host configures.
func unitText(d *host.Rehearsal, c *configs.Core) string {
	if d.Hand() == nil {
		return ""
	}
	return fmt.Sprintf("%+v", c.Unit.Spec)
}
