package layout_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph"
	"heddle/kernels/direction"
	"heddle/kernels/emit"
	"heddle/kernels/emit/emittest"
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
	text := fmt.Sprintf("%%%%MatrixMarket matrix coordinate %s general\n7 7 %d\n%s\n", field, len(lines),
		strings.Join(lines, "\n"))
	g, err := graph.Read("t.mtx", strings.NewReader(text), graph.ReadOptions{})
	require.NoError(t, err)
	return g
}

// variants are a layout as it is, and with every option that a workload can set.
func variants(l *layout.Layout) map[string]*layout.Layout {
	list := map[string]*layout.Layout{"": l}
	if l.Sized != nil {
		for _, n := range []int{1, 2, 3, 5, 9} {
			list[fmt.Sprint("/", n)] = l.Sized(layout.Sizes{BlockVertices: n, BlockBy: layout.ByBoth, VirtualDegree: n,
				ShardVertices: n, ELLWidth: n, Diagonals: n})
		}
	}
	for name, x := range maps.Clone(list) {
		if x.Columns != nil {
			list[name+"/rows"], list[name+"/columns"] = x.Columns(false), x.Columns(true)
		}
	}
	return list
}

// TestEdges: in every layout and direction, every edge is found by its number, with its vertex, and in a row of that.
func TestEdges(t *testing.T) {
	for _, l := range layout.Layouts() {
		for name, l := range variants(l) {
			for _, d := range []direction.Direction{direction.Push, direction.Pull} {
				for _, g := range graphs(t) {
					t.Run(fmt.Sprint(l.Name, name, d, g.WeightKind(), g.Vertices()),
						func(t *testing.T) { bothWays(t, l, d, g) })
				}
			}
		}
	}
}

// graphs are those of several kinds of weights, one vertex, and none of edges.
func graphs(t *testing.T) []*graph.Graph {
	list := []*graph.Graph{sample(t, "integer"), sample(t, "pattern"), sample(t, "real")}
	for _, text := range []string{"1 1 0\n", "1 1 3\n1 1\n1 1\n1 1\n", "5 5 0\n", "40 40 3\n40 1\n1 40\n39 40\n"} {
		g, err := graph.Read("t.mtx", strings.NewReader("%%MatrixMarket matrix coordinate pattern general\n"+text),
			graph.ReadOptions{})
		require.NoError(t, err)
		list = append(list, g)
	}
	return list
}

// bothWays goes through the edges by their numbers and by rows.
func bothWays(t *testing.T, l *layout.Layout, d direction.Direction, g *graph.Graph) {
	t.Helper()
	want := edges(g)
	if l.Virtual == nil || !l.Virtual.Splits {
		require.Equal(t, want, run(t, l, d, g, byNumber))
	}
	if l.HasRows(d) {
		require.Equal(t, want, run(t, l, d, g, byRow))
	}
	if l.Rest != nil {
		main := *l
		main.Rest = nil
		require.Len(t, want, len(run(t, &main, d, g, byNumber))+int(l.NumbersOf(g)[layout.RestEdges(l.Rows(d))]))
	}
}

// byNumber visits edges as the schedule edge does.
func byNumber(k *emit.Kernel, _ *layout.Layout, view layout.View, visit func(id, vertex ir.Value)) {
	view.Slots(k.SpreadThread(), k.NumThreads(), func(s layout.Slot) {
		held := func() { when(k, view.Holds(s.Edge, s.Vertex), func() { visit(s.Edge, s.Vertex) }) }
		if s.There == nil {
			held()
			return
		}
		k.When(s.There(), held)
	})
}

// byRow visits edges as the schedule vertex does.
func byRow(k *emit.Kernel, l *layout.Layout, view layout.View, visit func(id, vertex ir.Value)) {
	if l.Bare {
		byNumber(k, l, view, visit)
		return
	}
	k.Strided(view.RowCount(), func(row ir.Value) {
		vertex := view.Vertex(row)
		in := view.Neighbours(row, vertex)
		if in.Step == nil {
			in.Step = k.U32(1)
		}
		k.For(in.Begin, in.End, in.Step, func(id ir.Value) {
			when(k, view.Holds(id, vertex), func() { visit(id, vertex) })
		})
	})
}

func when(k *emit.Kernel, p ir.Value, body func()) {
	if p == nil {
		body()
		return
	}
	k.When(p, body)
}

// edge is an edge as a kernel sees it.
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
func run(t *testing.T, l *layout.Layout, d direction.Direction, g *graph.Graph,
	each func(*emit.Kernel, *layout.Layout, layout.View, func(id, vertex ir.Value))) (all []edge) {
	k := emit.New("test")
	for p := l; p != nil; p = p.Rest {
		view := p.In(k, d, g.WeightKind())
		each(k, p, view, func(id, vertex ir.Value) { store(k, g, view, id, vertex) })
	}
	kernel, err := k.Build()
	require.NoError(t, err)
	m, arrays := emittest.New(1, 2, 4), layout.NewArrays(g)
	args := l.NumbersOf(g)
	args["vertices"], args["edges"] = uint32(g.Vertices()), uint32(g.Edges())
	if l.Virtual != nil && l.HasRows(d) {
		args[layout.RowCount(l.Rows(d))] = uint32(l.Virtual.Rows(g, l.Rows(d)))
	}
	for _, p := range kernel.Params {
		if data, ok := arrays.Array(p.Name); ok {
			args[p.Name] = m.Place(data)
		} else if own := l.Array(p.Name); own != nil {
			args[p.Name] = m.Place(own.Words(g))
		}
	}
	args["count"], args["out"] = m.Place([]uint32{0}), m.Place(make([]uint32, 4*(g.Edges()+1)))
	m.Run(t, kernel, args)
	n := int(m.Words(args["count"], 1)[0])
	require.LessOrEqual(t, n, g.Edges())
	for out := m.Words(args["out"], 4*n); len(out) > 0; out = out[4:] {
		all = append(all, edge{out[0], out[1], out[2], out[3]})
	}
	slices.SortFunc(all, func(a, b edge) int {
		return slices.Compare([]uint32{a.src, a.dst, a.weight}, []uint32{b.src, b.dst, b.weight})
	})
	return all
}

// store writes down an edge.
func store(k *emit.Kernel, g *graph.Graph, view layout.View, id, vertex ir.Value) {
	e := view.Edge(id, vertex)
	place := k.Shl(k.AtomicAdd(k.Addr("count"), k.U32(0), k.U32(1)), k.U32(2))
	asFloat := k.ToU32(e.Weight(ir.F32))
	word := asFloat
	if g.WeightKind() != graph.FloatWeights {
		word = e.Weight(ir.U32)
	}
	for i, v := range []ir.Value{e.Src, e.Dst, word, asFloat} {
		k.Store(k.Addr("out"), k.Add(place, k.U32(uint32(i))), v)
	}
}

// TestBlocks: of any size and kind, edges of a block follow each other, blocks ascend, edges in them are sorted, and
// every edge is there once.
func TestBlocks(t *testing.T) {
	g := sample(t, "integer")
	for _, name := range []string{"block-coo", "edge-blocking", "gshard", "gshard-windows"} {
		byName, err := layout.ByName(name)
		require.NoError(t, err)
		for _, vertices := range []int{1, 2, 3, 7, g.Vertices(), 1 << 27} {
			for _, by := range layout.Bys() {
				if (name == "gshard" || name == "gshard-windows") && by != layout.ByDestination {
					continue
				}
				l := byName.Sized(layout.Sizes{BlockVertices: vertices, ShardVertices: vertices, BlockBy: by})
				for _, d := range []direction.Direction{direction.Push, direction.Pull} {
					bothWays(t, l, d, g)
				}
				for x, order := range []string{"by-source", "by-destination"} {
					array := func(part string) []uint32 { return l.Array(name + "-" + order + "." + part).Words(g) }
					ends := [2][]uint32{array("sources"), array("destinations")}
					key := func(e int) []uint32 {
						n := uint32(vertices)
						block := map[layout.By][]uint32{
							layout.ByDestination: {ends[1][e] / n}, layout.BySource: {ends[0][e] / n},
							layout.ByBoth: {ends[x][e] / n, ends[1-x][e] / n},
						}[by]
						return append(block, ends[x][e], ends[1-x][e])
					}
					for e := 1; e < g.Edges(); e++ {
						require.LessOrEqual(t, slices.Compare(key(e-1), key(e)), 0, "%s of %d by %s, %s", name,
							vertices, by, order)
					}
				}
			}
		}
	}
}

// TestBlocksOfEqualEdges: blocks are as many as of equal vertices, ascend with the vertices' numbers, and have their
// share of the edges, give or take those of a vertex; edges are ordered by them.
func TestBlocksOfEqualEdges(t *testing.T) {
	for _, g := range []*graph.Graph{sample(t, "integer"), hubs(t)} {
		for _, name := range []string{"block-coo", "edge-blocking"} {
			byName, err := layout.ByName(name)
			require.NoError(t, err)
			for _, vertices := range []int{1, 2, 3, 7, g.Vertices() - 1, g.Vertices(), 1 << 27} {
				for _, by := range layout.Bys() {
					l := byName.Sized(layout.Sizes{BlockVertices: vertices, BlockBy: by, BlockEqual: layout.EqualEdges})
					for _, d := range []direction.Direction{direction.Push, direction.Pull} {
						bothWays(t, l, d, g)
					}
					ofEqualEdges(t, l, g, vertices, by)
				}
			}
		}
	}
}

// hubs returns a graph of two vertices that most edges leave, others that many enter, and some without edges.
func hubs(t *testing.T) *graph.Graph {
	var text strings.Builder
	for i := range 60 {
		fmt.Fprintf(&text, "%d %d\n%d %d\n", 5, i, 40, 7+i%9)
	}
	text.WriteString("0 63\n")
	g, err := graph.Read("g.txt", strings.NewReader(text.String()), graph.ReadOptions{})
	require.NoError(t, err)
	return g
}

func ofEqualEdges(t *testing.T, l *layout.Layout, g *graph.Graph, vertices int, by layout.By) {
	blocks, edges := (g.Vertices()+vertices-1)/vertices, g.Edges()
	of := func(rows *graph.Adjacency) []int { // by the edges before each vertex
		var list []int
		held, most := make([]int, blocks), 0
		for v := range g.Vertices() {
			list = append(list, min(int(rows.Offsets[v])*blocks/edges, blocks-1))
			held[list[v]] += rows.Degree(v)
			most = max(most, rows.Degree(v))
		}
		for _, n := range held {
			require.InDelta(t, float64(edges)/float64(blocks), n, float64(most)+1)
		}
		require.True(t, slices.IsSorted(list))
		return list
	}
	blockOf := [2][]int{of(g.CSR()), of(g.CSC())}
	for x, order := range []string{"by-source", "by-destination"} {
		array := func(part string) []uint32 { return l.Array(l.Name + "-" + order + "." + part).Words(g) }
		ends := [2][]uint32{array("sources"), array("destinations")}
		key := func(e int) []int {
			at := func(x int) int { return blockOf[x][ends[x][e]] }
			block := map[layout.By][]int{
				layout.ByDestination: {at(1)}, layout.BySource: {at(0)}, layout.ByBoth: {at(x), at(1 - x)},
			}[by]
			return append(block, int(ends[x][e]), int(ends[1-x][e]))
		}
		for e := 1; e < edges; e++ {
			require.LessOrEqual(t, slices.Compare(key(e-1), key(e)), 0, "%s of %d by %s, %s", l.Name, vertices, by, order)
		}
	}
}

// TestWindows: every edge is in the window of its ends' shards, and in no other; the concatenated windows of a shard
// have every edge that leaves its vertices, once.
func TestWindows(t *testing.T) {
	g := sample(t, "integer")
	for _, vertices := range []int{1, 2, 7, g.Vertices(), 1 << 27} {
		of := layout.Sizes{ShardVertices: vertices}
		byName := func(name string) *layout.Layout {
			l, err := layout.ByName(name)
			require.NoError(t, err)
			return l.Sized(of)
		}
		array := func(l *layout.Layout, part string) []uint32 { return l.Array(l.Name + "-by-source." + part).Words(g) }
		l, n := byName("gshard"), uint32(vertices)
		shards := l.Shards.Count(g)
		require.EqualValues(t, shards, l.NumbersOf(g)["gshard-by-source.count"])
		begins, sources, destinations := array(l, "windows"), array(l, "sources"), array(l, "destinations")
		require.Len(t, begins, shards*shards+1)
		require.EqualValues(t, g.Edges(), begins[len(begins)-1])
		require.True(t, slices.IsSorted(begins))
		for w := range len(begins) - 1 {
			for e := begins[w]; e < begins[w+1]; e++ {
				require.EqualValues(t, w, int(destinations[e]/n)*shards+int(sources[e]/n))
			}
		}
		for i, at := range array(l, "shards")[1:] {
			require.Equal(t, begins[(i+1)*shards], at)
		}
		l = byName("gshard-windows")
		begins, mapper, of2 := array(l, "begins-of-windows"), array(l, "mapper"), array(l, "sources-of-windows")
		require.Len(t, begins, shards+1)
		for i := range shards {
			for k := begins[i]; k < begins[i+1]; k++ {
				require.EqualValues(t, i, of2[k]/n)
				require.Equal(t, sources[mapper[k]], of2[k])
			}
		}
		seen := slices.Clone(mapper)
		slices.Sort(seen)
		for e, at := range seen {
			require.EqualValues(t, e, at)
		}
		require.Len(t, seen, g.Edges())
	}
}

// TestTooManyWindows: windows are listed up to 64 MiB of them; side by side they need no list.
func TestTooManyWindows(t *testing.T) {
	byName := func(name string) *layout.Shards {
		l, err := layout.ByName(name)
		require.NoError(t, err)
		return l.Sized(layout.Sizes{ShardVertices: 2}).Shards
	}
	for vertices, says := range map[int]string{2 * 4096: "", 2*4096 + 1: "4097 shards have 16785409 windows"} {
		text := fmt.Sprintf("%%%%MatrixMarket matrix coordinate pattern general\n%d %d 1\n1 2\n", vertices, vertices)
		g, err := graph.Read("t.mtx", strings.NewReader(text), graph.ReadOptions{})
		require.NoError(t, err)
		require.NoError(t, byName("gshard-windows").Accepts(g))
		if err := byName("gshard").Accepts(g); says == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, says)
		}
	}
}

// TestSegments: a segment begins where the block changes, and nowhere else.
func TestSegments(t *testing.T) {
	g := sample(t, "integer")
	byName, err := layout.ByName("edge-blocking")
	require.NoError(t, err)
	for _, n := range []uint32{1, 2, 3, 7, 1 << 20} {
		l := byName.Sized(layout.Sizes{BlockVertices: int(n), BlockBy: layout.ByDestination})
		for _, order := range []string{"by-source", "by-destination"} {
			array := func(part string) []uint32 { return l.Array("edge-blocking-" + order + "." + part).Words(g) }
			ends, want := array("destinations"), []uint32{}
			for e := range ends {
				if e == 0 || ends[e]/n != ends[e-1]/n {
					want = append(want, uint32(e))
				}
			}
			require.Equal(t, append(want, uint32(g.Edges())), array("segments"))
			require.EqualValues(t, len(want), l.NumbersOf(g)["edge-blocking-"+order+".blocks"])
		}
	}
}

// TestVirtual: virtual vertices of any size have no more edges, as few rows as that takes, and those of a vertex follow
// each other.
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
	fits := map[string][2]bool{"csr": {true, false}, "csc": {false, true}, "csr-csc": {true, true}, "coo": {true, true},
		"virtual": {true, true}, "virtual-coalesced": {true, true}, "block-coo": {true, false}, "gshard": {true, false}, "gshard-windows": {true, false}, "ell-csr": {true, true}, "ell-coo": {true, true}, "dia-coo": {true, true}}
	for _, l := range layout.Layouts() {
		require.Equal(t, fits[l.Name], [2]bool{l.Fits(direction.Push), l.Fits(direction.Pull)}, l.Name)
	}
}
