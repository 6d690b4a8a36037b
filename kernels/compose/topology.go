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
func (p *Plan) topology(d direction.Direction) (*ir.Kernel, error) {
	if p.Layout.Gathers != "" {
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
			write := func() {
				g.Phase(isa.PhaseGatherSum, func() { g.Store(g.Addr(p.Layout.Gathers), at.Edge, g.contribution(&e)) })
			}
			counts := g.sends(e.Src)
			if filter := p.Algorithm.EdgeFilter; filter != nil { // only algorithms with all vertices active have one
				counts = filter(g.Kernel, &e)
			}
			if counts != nil {
				g.When(counts, write)
				return
			}
			write()
		})
	})
	return g.Kernel.Build()
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
