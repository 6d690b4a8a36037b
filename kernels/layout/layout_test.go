package layout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/kernels/direction"
	"heddle/kernels/emit"
	"heddle/kernels/emit/emittest"
	"heddle/kernels/graph"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
)

// sample has empty rows at both ends and between, parallel edges, a loop, and weights.
func sample(t *testing.T, field string) *graph.Graph {
	lines := []string{"2 3 10", "2 3 11", "2 5 12", "4 2 13", "4 4 14", "6 2 15", "6 3 16", "6 5 17", "6 6 18"}
	for i := range lines {
		if field == "pattern" {
			lines[i] = lines[i][:3]
		}
	}
	text := fmt.Sprintf("%%%%MatrixMarket matrix coordinate %s general\n7 7 %d\n%s\n", field, len(lines), strings.Join(lines, "\n"))
	g, err := graph.Read("t.mtx", strings.NewReader(text), graph.ReadOptions{})
	require.NoError(t, err)
	return g
}

// TestEdges: in every layout and direction, every edge is found by its number, with its vertex, and in a row of that.
func TestEdges(t *testing.T) {
	for _, l := range layout.Layouts() {
		for _, d := range []direction.Direction{direction.Push, direction.Pull} {
			for _, field := range []string{"integer", "pattern", "real"} {
				t.Run(fmt.Sprint(l.Name, d, field), func(t *testing.T) { bothWays(t, l, d, sample(t, field)) })
			}
		}
	}
}

// bothWays goes through the edges by their numbers and by rows.
func bothWays(t *testing.T, l *layout.Layout, d direction.Direction, g *graph.Graph) {
	t.Helper()
	if l.Virtual == nil || !l.Virtual.Splits {
		require.Equal(t, edges(g), run(t, l, d, g, byNumber))
	}
	if !l.Bare {
		require.Equal(t, edges(g), run(t, l, d, g, byRow))
	}
}

// byNumber visits edges as the schedule edge does.
func byNumber(k *emit.Kernel, l *layout.Layout, view layout.View, visit func(id, vertex ir.Value)) {
	k.Strided(k.Count("edges"), func(id ir.Value) {
		vertex := view.SearchVertex(id)
		if l.Bare || l.Virtual != nil {
			visit(id, vertex)
			return
		}
		in := view.Neighbours(vertex, vertex)
		k.When(k.And(k.Ge(id, in.Begin), k.Lt(id, in.End)), func() { visit(id, vertex) })
	})
}

// byRow visits edges as the schedule vertex does.
func byRow(k *emit.Kernel, _ *layout.Layout, view layout.View, visit func(id, vertex ir.Value)) {
	k.Strided(view.RowCount(), func(row ir.Value) {
		vertex := view.Vertex(row)
		in := view.Neighbours(row, vertex)
		if in.Step == nil {
			in.Step = k.U32(1)
		}
		k.For(in.Begin, in.End, in.Step, func(id ir.Value) { visit(id, vertex) })
	})
}

// edge is what a kernel sees of one.
type edge struct{ src, dst, weight, asFloat uint32 }

func edges(g *graph.Graph) (all []edge) {
	out := g.CSR()
	for u := range g.Vertices() {
		for e := out.Offsets[u]; e < out.Offsets[u+1]; e++ {
			w := 1.0
			if out.Weights != nil {
				w = g.WeightKind().Float(out.Weights[e])
			}
			all = append(all, edge{uint32(u), out.IDs[e], uint32(w), uint32(w)})
		}
	}
	return all
}

// run reads all edges by a kernel, and sorts them.
func run(t *testing.T, l *layout.Layout, d direction.Direction, g *graph.Graph, each func(*emit.Kernel, *layout.Layout, layout.View, func(id, vertex ir.Value))) (all []edge) {
	k := emit.New("test")
	view := l.In(k, d, g.WeightKind())
	each(k, l, view, func(id, vertex ir.Value) { store(k, g, view, id, vertex) })
	kernel, err := k.Build()
	require.NoError(t, err)
	m, arrays := emittest.New(1, 2, 4), layout.NewArrays(g)
	args := map[string]uint32{"vertices": uint32(g.Vertices()), "edges": uint32(g.Edges())}
	if l.Virtual != nil {
		args[layout.RowCount(l.Rows(d))] = uint32(l.Virtual.Rows(g, l.Rows(d)))
	}
	for _, p := range kernel.Params {
		if data, ok := arrays.Array(p.Name); ok {
			args[p.Name] = m.Place(data)
		} else if own := l.Array(p.Name); own != nil {
			args[p.Name] = m.Place(own.Words(g))
		}
	}
	n := g.Edges()
	args["out"] = m.Place(make([]uint32, 4*n))
	m.Run(t, kernel, args)
	for out := m.Words(args["out"], 4*n); len(out) > 0; out = out[4:] {
		all = append(all, edge{out[0], out[1], out[2], out[3]})
	}
	slices.SortFunc(all, func(a, b edge) int {
		return slices.Compare([]uint32{a.src, a.dst, a.weight}, []uint32{b.src, b.dst, b.weight})
	})
	return all
}

// store writes down an edge.
func store(k *emit.Kernel, g *graph.Graph, view layout.View, id, row ir.Value) {
	e := view.Edge(id, row)
	at := k.Address(k.Addr("out"), k.Shl(id, k.U32(2)))
	asFloat := k.ToU32(e.Weight(ir.F32))
	word := asFloat
	if g.WeightKind() != graph.FloatWeights {
		word = e.Weight(ir.U32)
	}
	for i, v := range []ir.Value{e.Src, e.Dst, word, asFloat} {
		k.Store(at, k.U32(uint32(i)), v)
	}
}

// TestBlocks: of any size, edges of a block follow each other, blocks ascend, and every edge is there once.
func TestBlocks(t *testing.T) {
	blocked, err := layout.ByName("block-coo")
	require.NoError(t, err)
	g := sample(t, "integer")
	for _, vertices := range []int{1, 2, 3, 7, g.Vertices(), 1 << 27} {
		l := blocked.Sized(layout.Sizes{BlockVertices: vertices})
		for _, d := range []direction.Direction{direction.Push, direction.Pull} {
			bothWays(t, l, d, g)
		}
		from, to := l.Array("block-coo.sources").Words(g), l.Array("block-coo.destinations").Words(g)
		for e := 1; e < len(from); e++ {
			before, now := int(to[e-1])/vertices, int(to[e])/vertices
			require.LessOrEqual(t, before, now, "blocks of %d", vertices)
			if before == now {
				require.LessOrEqual(t, from[e-1], from[e], "by source within a block")
			}
		}
	}
}

// TestVirtual: virtual vertices of any size have no more edges, as few rows as that takes, and those of a vertex follow each other.
func TestVirtual(t *testing.T) {
	g := sample(t, "integer")
	for _, name := range []string{"virtual", "virtual-coalesced"} {
		byName, err := layout.ByName(name)
		require.NoError(t, err)
		for _, degree := range []int{1, 2, 3, 4, 5, 1 << 27} {
			l := byName.Sized(layout.Sizes{VirtualDegree: degree})
			for x, rows := range map[layout.End]*graph.Adjacency{layout.Source: g.CSR(), layout.Destination: g.CSC()} {
				bothWays(t, l, direction.Direction(x), g)
				var want []uint32
				firsts := l.Array(l.Virtual.Firsts(x)).Words(g)
				for v := range g.Vertices() {
					require.EqualValues(t, len(want), firsts[v])
					for range (rows.Degree(v) + degree - 1) / degree {
						want = append(want, uint32(v))
					}
				}
				require.EqualValues(t, len(want), firsts[g.Vertices()])
				require.Equal(t, want, l.Array([]string{"virtual-csr", "virtual-csc"}[x]+".vertices").Words(g))
				require.Equal(t, len(want), l.Virtual.Rows(g, x))
			}
		}
		begins := byName.Sized(layout.Sizes{VirtualDegree: 3}).Array("virtual-csr.begins")
		if name == "virtual" {
			require.Equal(t, []uint32{0, 3, 5, 8, 9}, begins.Words(g))
		}
	}
}

func TestChoices(t *testing.T) {
	for _, l := range layout.Layouts() {
		require.NotEmpty(t, l.Doc)
		found, err := layout.ByName(l.Name)
		require.NoError(t, err)
		require.Same(t, l, found)
	}
	_, err := layout.ByName("dia")
	require.ErrorContains(t, err, `no layout "dia"`)
	_, ok := layout.NewArrays(sample(t, "pattern")).Array("csr.tails")
	require.False(t, ok)
	_, ok = layout.NewArrays(sample(t, "pattern")).Array("rank")
	require.False(t, ok)
}

// Which rows a layout has decides which schedules it goes with.
func TestFits(t *testing.T) {
	fits := map[string][2]bool{"csr": {true, false}, "csc": {false, true}, "csr-csc": {true, true}, "coo": {true, true}, "virtual": {true, true}, "virtual-coalesced": {true, true}}
	for _, l := range layout.Layouts() {
		require.Equal(t, fits[l.Name], [2]bool{l.Fits(direction.Push), l.Fits(direction.Pull)}, l.Name)
	}
}
