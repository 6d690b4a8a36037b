package compose

import (
	"context"
	"fmt"

	"heddle/isa"
	"heddle/kernels/activeset"
	"heddle/kernels/direction"
	"heddle/kernels/emit"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
	"heddle/kernels/schedule"
)

// Arrays of the rows of listed vertices, if the layout has virtual vertices: the new active set of GRAssembler's
// initTopology (PACT '22, §4.2).
const (
	activeRows = "active.rows"
	rowsSize   = "active.rows.size"
)

// Prepares reports whether a kernel of the layout precedes each gather of a direction: to list the virtual vertices of
// listed vertices (other sets are tested for the vertex of each virtual one), or to write the contributions of edges.
func (p *Plan) Prepares(d direction.Direction) bool {
	return p.listsRows(d) || p.Layout.Gathers != ""
}

// listsRows reports whether virtual vertices are listed before each gather of a direction.
func (p *Plan) listsRows(d direction.Direction) bool {
	return p.Layout.Virtual != nil && (p.Set.Lists || p.Compacts(d))
}

// topology builds that kernel.
func (p *Plan) topology(d direction.Direction, core schedule.Core) (*ir.Kernel, error) {
	switch {
	case p.Schedule.Shards:
		return p.writeWindows(d, core)
	case p.Layout.Gathers != "":
		return p.gatherAhead(d)
	}
	return p.listRows(d)
}

// gatherAhead builds the kernel that writes the contribution of each edge of an active source to the place where the
// gather reads it. Edges are visited in the order of the layout: shards window by window, with ascending sources in
// each.
func (p *Plan) gatherAhead(d direction.Direction) (*ir.Kernel, error) {
	g := p.begin("topology-"+p.way(d), d)
	view := p.Layout.In(g.Kernel, d, p.Weights)
	g.Phase(isa.PhaseEdgeAccess, func() {
		view.Slots(g.SpreadThread(), g.NumThreads(), func(at layout.Slot) {
			e := view.Edge(at.Edge, at.Vertex)
			g.writeAhead(&e, func() ir.Value { return g.contribution(&e) })
		})
	})
	return g.Kernel.Build()
}

// writeAhead writes an edge's contribution to the place where the gather reads it, if the edge counts.
func (g *gather) writeAhead(e *layout.Edge, value func() ir.Value) {
	write := func() {
		g.Phase(isa.PhaseGatherSum, func() { g.Store(g.Addr(g.Layout.Gathers), e.ID, value()) })
	}
	counts := g.sends(e.Src)
	if filter := g.Algorithm.EdgeFilter; filter != nil { // only algorithms with all vertices active have one
		counts = filter(g.Kernel, e)
	}
	if counts != nil {
		g.When(counts, write)
		return
	}
	write()
}

// writeWindows does the same as gatherAhead with a thread block for each shard of sources, which writes its vertices'
// windows in all shards (CuSha's fourth stage, here a launch of its own, so that no block reads what another is
// writing, and no super-step sees its own results). What a vertex contributes along all of its edges alike is computed
// once, into the scratchpad.
func (p *Plan) writeWindows(d direction.Direction, core schedule.Core) (*ir.Kernel, error) {
	alike, err := p.contributesAlike(d)
	if err != nil {
		return nil, err
	}
	g := p.begin("topology-"+p.way(d), d)
	s := g.makeSite(core)
	view := s.View.(layout.ShardView)
	g.Phase(isa.PhaseEdgeAccess, func() {
		s.EachShard(view, func(n ir.Value, sh *schedule.Shard) {
			if alike {
				g.Phase(isa.PhaseGatherSum, func() {
					sh.Each(s, func(i, v ir.Value) {
						e := view.Given(v, v, g.U32(0))
						g.Store(sh.Sums, i, g.contribution(&e))
					})
				})
				g.Barrier()
			}
			view.Windows(n, &sh.Threads, func(e layout.Edge) {
				g.writeAhead(&e, func() ir.Value {
					if alike {
						return g.Load(p.Algorithm.Sum.Type, sh.Sums, g.Sub(e.Src, sh.First))
					}
					return g.contribution(&e)
				})
			})
			if alike {
				g.Barrier() // the block's next shard takes the same words
			}
		})
	})
	return g.Kernel.Build()
}

// contributesAlike reports whether an edge's contribution depends on its source, and on nothing else of the edge.
func (p *Plan) contributesAlike(d direction.Direction) (bool, error) {
	g := &gather{Kernel: p.kernel("alike"), Plan: p, dir: d}
	source, destination, weight := g.Count("source"), g.Count("destination"), g.Count("weight")
	e := p.Layout.In(g.Kernel, d, p.Weights).Given(source, destination, weight)
	g.Store(g.Addr(p.Layout.Gathers), source, g.contribution(&e))
	k, err := g.Kernel.Build()
	if err != nil {
		return false, err
	}
	// The store has the source for its index.
	return k.Body.Uses(source) > 1 && k.Body.Uses(destination)+k.Body.Uses(weight) == 0, nil
}

// listRows builds the kernel that lists the rows of the active vertices.
func (p *Plan) listRows(d direction.Direction) (*ir.Kernel, error) {
	g := p.begin("topology-"+p.way(d), d)
	g.Phase(isa.PhaseRegistration, func() {
		firsts := g.Addr(p.Layout.Virtual.Firsts(p.Layout.Rows(d)))
		g.Strided(g.set.Places(), func(place ir.Value) {
			v := g.set.Vertex(place)
			first, end := g.Load(ir.U32, firsts, v), g.Load(ir.U32, firsts, g.Add(v, g.U32(1)))
			g.When(g.Lt(first, end), func() {
				to := g.Sub(g.AtomicAdd(g.Addr(rowsSize), g.U32(0), g.Sub(end, first)), first)
				g.For(first, end, g.U32(1), func(row ir.Value) { g.Store(g.Addr(activeRows), g.Add(to, row), row) })
			})
		})
	})
	return g.Kernel.Build()
}

// listedRows is the set of the virtual vertices of listed vertices.
type listedRows struct {
	activeset.Set
	k *emit.Kernel
}

// walked returns the set that a schedule walks: the active set, or the virtual vertices of its members.
func (g *gather) walked(view layout.View) activeset.Set {
	switch {
	case g.Layout.Virtual == nil:
		return g.set
	case g.listsRows(g.dir):
		return listedRows{g.set, g.Kernel}
	}
	return schedule.AllRows{Set: g.set, View: view}
}

// Places returns the number of rows to walk.
func (s listedRows) Places() ir.Value { return s.k.Load(ir.U32, s.k.Addr(rowsSize), s.k.U32(0)) }

// Vertex returns the row at an index.
func (s listedRows) Vertex(place ir.Value) ir.Value {
	return s.k.Load(ir.U32, s.k.Addr(activeRows), place)
}

// prepare launches the kernel of the layout that precedes a gather, if there is one.
func (r *run) prepare(ctx context.Context, s *Step, topology *ir.Kernel) (err error) {
	if topology == nil {
		return nil
	}
	at, lists := r.addresses[rowsSize]
	size := []uint32{0}
	if lists {
		r.WriteWords(at, size)
	}
	if s.Topology, err = r.launch(ctx, topology); err != nil || !lists {
		return err
	}
	if r.ReadWords(at, size); int(size[0]) > r.maxWalk {
		return fmt.Errorf("BUG: compose: the active vertices have %d virtual ones, and there are %d", size[0],
			r.maxWalk)
	}
	return nil
}

// roomOf returns the largest size of a walk over the active set.
func (r *run) roomOf(p *Plan) int {
	g := r.problem.Graph
	if p.Layout.Virtual == nil {
		return p.Set.Room(g.Vertices(), g.Edges(), p.Dedup)
	}
	rows := 0
	for _, d := range p.directions() {
		if !p.Layout.HasRows(d) {
			continue
		}
		rows = max(rows, p.Layout.Virtual.Rows(g, p.Layout.Rows(d)))
	}
	return rows
}

// rowCounts returns the numbers of virtual vertices.
func (r *run) rowCounts() map[string]uint32 {
	counts := map[string]uint32{}
	if v := r.Plan.Layout.Virtual; v != nil {
		for _, d := range r.Plan.directions() {
			if !r.Plan.Layout.HasRows(d) {
				continue
			}
			x := r.Plan.Layout.Rows(d)
			counts[layout.RowCount(x)] = uint32(v.Rows(r.problem.Graph, x))
		}
	}
	return counts
}
