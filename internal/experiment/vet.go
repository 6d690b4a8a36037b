package experiment

import (
	"context"
	"errors"
	"fmt"

	"heddle/configs"
	"heddle/internal/schema"
	"heddle/kernels/algorithm"
	"heddle/kernels/compose"
	"heddle/kernels/graph"
	"heddle/kernels/graph/graphspec"
	"heddle/kernels/host"
)

// Vet refuses points that cannot run: machines without room for what a schedule or a unit needs, vertices that the graph
// does not have, graphs that an algorithm does not work on. It does what a run does before its first launch. Points that
// are done are left out.
func (r *Runner) Vet(ctx context.Context, l *schema.Loaded[configs.Experiment], done map[int]Outcome) error {
	v := vetting{compiled: map[string]*compose.Compiled{}, seen: map[string]bool{}}
	for i := range r.Points {
		_, ok := done[i]
		if place := r.Points[i].without(len(r.Points[i].Place) - 1); ok || v.once("place "+place) {
			continue // of points that differ in their seed alone, one stands for all
		}
		if err := v.point(ctx, r, i); err != nil {
			return atPoint(l, &r.Points[i], err)
		}
	}
	return nil
}

// atPoint says where an error's key is given, and at which point it is wrong.
func atPoint(l *schema.Loaded[configs.Experiment], p *Point, err error) error {
	var key *compose.KeyError
	if errors.As(err, &key) {
		if o, ok := l.Origin(key.Key); ok && o.Layer != schema.Default {
			err = fmt.Errorf("%s: %w", o, err)
		}
	}
	if len(p.Axes) == 0 {
		return err
	}
	return fmt.Errorf("at the point %s: %w", Label(p.Axes), err)
}

// vetting remembers what has been looked at, since most points of a sweep are alike in what they need.
type vetting struct {
	compiled map[string]*compose.Compiled // by shape of machine and workload
	seen     map[string]bool
}

// once reports whether something has been looked at before, and remembers it.
func (v *vetting) once(what string) (before bool) {
	before = v.seen[what]
	v.seen[what] = true
	return before
}

func (v *vetting) point(ctx context.Context, r *Runner, i int) error {
	cfg := &r.Points[i].Config
	if cfg.Workload.Trace != "" {
		_, err := r.graphs.trace(cfg.Workload.Trace)
		return err
	}
	d, err := host.NewRehearsal(&cfg.Machine)
	if err != nil {
		return err
	}
	if v.once(fmt.Sprintf("%+v %s %+v %s", d.Shape(), unitText(d, &cfg.Machine.Core), cfg.Workload, graphspec.Schema.YAML(cfg.Graph))) {
		return nil
	}
	if !asksGraph(cfg) {
		return v.standIn(d, cfg)
	}
	g, release, err := r.graphs.get(ctx, cfg.Graph)
	if err != nil {
		return err
	}
	defer release()
	if cfg.Workload.Kernel == configs.Handwritten {
		return nil
	}
	return v.rehearse(d, g, cfg.Workload)
}

// asksGraph reports whether it depends on the graph if a point can run. Graphs of generators are made first only if it does: they may
// take minutes, and other points need not wait for them.
func asksGraph(cfg *configs.Experiment) bool {
	w := &cfg.Workload
	a, err := algorithm.ByName(string(w.Algorithm))
	if err != nil || cfg.Graph.File != "" || w.Recipe != compose.NoRecipe {
		return true
	}
	return a.Undirected || a.NoLoops || a.Weighted || a.Fits != nil || a.FromSource && w.Source >= 0 || a.Target && w.Target >= 0
}

// standIn rehearses on a small graph whose edges have weights of the same kind.
func (v *vetting) standIn(d *host.Rehearsal, cfg *configs.Experiment) error {
	if cfg.Workload.Kernel == configs.Handwritten {
		return nil
	}
	g, err := graph.Load(graphspec.Graph{Grid: &graphspec.Grid{Width: 2, Height: 2}, Weights: cfg.Graph.Weights})
	if err != nil {
		return err
	}
	return v.rehearse(d, g, cfg.Workload)
}

func (v *vetting) rehearse(d *host.Rehearsal, g *graph.Graph, w configs.Workload) error {
	w, err := compose.ForGraph(w, g)
	if err != nil {
		return err
	}
	p, err := compose.NewPlan(w)
	if err != nil {
		return err
	}
	p.Weights = g.WeightKind()
	key := fmt.Sprintf("%+v %s %s %d %t", d.Shape(), p.Name(), p.Weights, p.Width, p.Residual)
	c := v.compiled[key]
	if c == nil {
		if c, err = compose.Compile(p, d.Shape()); err != nil {
			return err
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
