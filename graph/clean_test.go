package graph

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs/schema"
	"heddle/graph/graphspec"
)

// spec is a graph as --set gives it.
func spec(t testing.TB, set ...string) graphspec.Graph {
	t.Helper()
	l, err := graphspec.Schema.Load(schema.Input{Set: set})
	require.NoError(t, err)
	return l.Value
}

func load(t testing.TB, set ...string) *Graph {
	t.Helper()
	g, err := Load(spec(t, set...))
	require.NoError(t, err)
	return g
}

func cleaned(t *testing.T, text string, c graphspec.Clean) *Graph {
	t.Helper()
	g := read(t, "g.txt", text)
	require.NoError(t, g.clean(c))
	return g
}

func TestClean(t *testing.T) {
	const text = "# Nodes: 6\n0 0\n1 2\n2 1\n3 1\n3 1\n4 4\n"
	for _, c := range []struct {
		name   string
		clean  graphspec.Clean
		edges  string
		record Record
	}{
		{"nothing", graphspec.Clean{}, "0>0 1>2 2>1 3>1 3>1 4>4", Record{}},
		{"loops", graphspec.Clean{DropSelfLoops: true}, "1>2 2>1 3>1 3>1", Record{SelfLoopsDropped: 2}},
		{"symmetrise", graphspec.Clean{Symmetrise: true}, "0>0 1>2 1>3 1>3 2>1 3>1 3>1 4>4", Record{ReversesAdded: 2}},
		{"duplicates", graphspec.Clean{DropDuplicates: true}, "0>0 1>2 2>1 3>1 4>4", Record{DuplicatesDropped: 1}},
		{"compact", graphspec.Clean{CompactIDs: true}, "0>0 1>2 2>1 3>1 3>1 4>4", Record{VerticesDropped: 1}},
		{"all", graphspec.Clean{DropSelfLoops: true, Symmetrise: true, DropDuplicates: true, CompactIDs: true}, "0>1 0>2 1>0 2>0",
			Record{SelfLoopsDropped: 2, ReversesAdded: 2, DuplicatesDropped: 2, VerticesDropped: 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := cleaned(t, text, c.clean)
			require.Equal(t, c.edges, list(g))
			require.Equal(t, 6-c.record.VerticesDropped, g.Vertices())
			got := Record{
				SelfLoopsDropped: g.Record.SelfLoopsDropped, ReversesAdded: g.Record.ReversesAdded,
				DuplicatesDropped: g.Record.DuplicatesDropped, VerticesDropped: g.Record.VerticesDropped,
			}
			require.Equal(t, c.record, got)
		})
	}
}

func TestCleanWithWeights(t *testing.T) {
	const text = "0 1 7\n1 0 5\n0 1 -2\n0 2 1.5\n"
	g := cleaned(t, text, graphspec.Clean{Symmetrise: true})
	require.Equal(t, "0>1:-2 0>1:5 0>1:7 0>2:1.5 1>0:-2 1>0:5 1>0:7 2>0:1.5", list(g),
		"an edge of another weight is another edge")
	require.True(t, g.Summarise().Symmetric)
	g = cleaned(t, text, graphspec.Clean{Symmetrise: true, DropDuplicates: true})
	require.Equal(t, "0>1:-2 0>2:1.5 1>0:-2 2>0:1.5", list(g), "the smallest weight stays")
}

func TestWeights(t *testing.T) {
	file := load(t, "file=facebook_combined", "clean.symmetrise=true", "weights.from=random", "weights.min=3",
		"weights.max=9", "weights.seed=5")
	require.Equal(t, "int, random 3..9, seed 5", file.Record.Weights)
	require.True(t, file.Summarise().Symmetric, "an edge weighs the same both ways")
	count := map[uint32]int{}
	for _, w := range file.CSR().Weights {
		count[w]++
	}
	require.Len(t, count, 7)
	for w, n := range count {
		require.InDelta(t, file.Edges()/7, n, 1000, "weight %d", w)
	}

	// Renumbering moves weights with their edges.
	again := load(t, "file=facebook_combined", "clean.symmetrise=true", "weights.from=random", "weights.min=3",
		"weights.max=9", "weights.seed=5", "reorder.order=random")
	require.NotEqual(t, file.Hash(), again.Hash())
	sorted := func(g *Graph) []uint32 { return slices.Sorted(slices.Values(g.CSR().Weights)) }
	require.Equal(t, sorted(file), sorted(again))
	require.True(t, again.Summarise().Symmetric)

	other := load(t, "file=facebook_combined", "clean.symmetrise=true", "weights.from=random", "weights.min=3",
		"weights.max=9", "weights.seed=6")
	require.NotEqual(t, file.CSR().Weights, other.CSR().Weights)
	require.Nil(t, load(t, "file=facebook_combined").CSR().Weights)
}

func TestOrders(t *testing.T) {
	const text = "# Nodes: 6\n0 5 1\n5 1 2\n5 2 3\n3 4 4\n"
	for order, want := range map[graphspec.Order]string{
		graphspec.NoOrder:     "0>5:1 3>4:4 5>1:2 5>2:3",
		graphspec.DegreeOrder: "0>2:2 0>3:3 1>0:1 4>5:4", // 5 0 1 2 3 4
		graphspec.BFSOrder:    "0>1:1 1>2:2 1>3:3 4>5:4", // 0 5 1 2 3 4
	} {
		g := read(t, "g.txt", text)
		g.reorder(graphspec.Reorder{Order: order})
		require.Equal(t, want, list(g), order)
	}
}

// A renumbered graph is the same graph.
func TestOrdersKeepTheGraph(t *testing.T) {
	plain := load(t, "file=facebook_combined", "clean.symmetrise=true").Summarise()
	hashes := map[string]bool{plain.Hash: true}
	for _, o := range []string{"degree", "bfs", "random", "random,2"} {
		order, seed, _ := strings.Cut(o, ",")
		g := load(t, "file=facebook_combined", "clean.symmetrise=true", "reorder.order="+order, "reorder.seed=1"+seed)
		s := g.Summarise()
		require.False(t, hashes[s.Hash], o)
		hashes[s.Hash] = true
		s.Hash = plain.Hash
		require.Equal(t, plain, s, o)
		require.True(t, strings.HasPrefix(g.Record.Order, order))
	}
	g := load(t, "file=facebook_combined", "clean.symmetrise=true", "reorder.order=degree")
	for v := 1; v < g.Vertices(); v++ {
		require.GreaterOrEqual(t, g.CSR().Degree(v-1), g.CSR().Degree(v))
	}
}

func TestLoadErrors(t *testing.T) {
	for _, c := range []struct{ says, set string }{
		{`no graph "facebok": expected a file (with a dot or a slash in its path), or one of facebook_combined`, "file=facebok"},
		{"no such file", "file=./none.txt"},
		{"expected a regular file, found a directory", "file=."},
	} {
		_, err := Load(spec(t, c.set))
		require.ErrorContains(t, err, c.says)
	}
	_, err := Load(graphspec.Graph{})
	require.ErrorContains(t, err, "graph: no source: expected one of file, rmat")
}

func TestSpecIsChecked(t *testing.T) {
	for _, c := range []struct {
		says string
		set  []string
	}{
		{"file and rmat: expected only one", []string{"file=x.txt", "rmat.scale=3"}},
		{"rmat.a: a + b + c = 1.18: expected at most 1", []string{"rmat.scale=3", "rmat.a=0.8"}},
		{"rmat.edge_factor: 549755813888 edges", []string{"rmat.scale=27", "rmat.edge_factor=4096"}},
		{"rmat.scale: missing", []string{"rmat.a=0.5"}},
		{"powerlaw_cluster.edges_per_step: 5: expected less than vertices = 5", []string{"powerlaw_cluster.vertices=5", "powerlaw_cluster.edges_per_step=5"}},
		{"erdos_renyi.edges: 11: 5 vertices have at most 10", []string{"erdos_renyi.vertices=5", "erdos_renyi.edges=11"}},
		{"grid.height: 10000000000 vertices", []string{"grid.width=100000", "grid.height=100000"}},
		{"bipartite.edges: 7: between 2 and 3 vertices there are at most 6", []string{"bipartite.left=2", "bipartite.right=3", "bipartite.edges=7"}},
		{"weights.min: 65: expected at most max = 64", []string{"file=x", "weights.min=65"}},
		{"reorder.order: expected one of none, degree, random, bfs; found \"dgree\"; did you mean degree?", []string{"file=x", "reorder.order=dgree"}},
	} {
		_, err := graphspec.Schema.Load(schema.Input{Set: c.set})
		require.ErrorContains(t, err, c.says)
	}
	_, err := Load(graphspec.Graph{})
	require.ErrorContains(t, err, "graph: no source: expected one of file, rmat")
}
