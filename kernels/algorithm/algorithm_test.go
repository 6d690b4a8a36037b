package algorithm

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph"
	"heddle/graph/graphspec"
	"heddle/kernels/reference"
)

func read(t *testing.T, kind string, lines ...string) *graph.Graph {
	text := fmt.Sprintf("%%%%MatrixMarket matrix coordinate %s\n4 4 %d\n%s\n", kind, len(lines),
		strings.Join(lines, "\n"))
	g, err := graph.Read("t.mtx", strings.NewReader(text), graph.ReadOptions{})
	require.NoError(t, err)
	return g
}

func TestChoices(t *testing.T) {
	for _, a := range Algorithms() {
		require.NotEmpty(t, a.Doc)
		found, err := ByName(a.Name)
		require.NoError(t, err)
		require.Same(t, a, found)
		var names []string
		for _, x := range a.Arrays {
			names = append(names, x.Name)
		}
		require.Contains(t, names, a.Result)
		require.Contains(t, names, a.Into)
		require.Equal(t, a.Dense || a.Sends != nil, !a.Sum.Tells(), "%s: a frontier needs a sum that tells of changes",
			a.Name)
	}
	_, err := ByName("gcn")
	require.ErrorContains(t, err, `no algorithm "gcn"`)
}

// TestAccepts: graphs on which a kernel would go wrong are refused, and it is said why.
func TestAccepts(t *testing.T) {
	oneWay := read(t, "integer general", "1 2 3", "2 1 3", "3 4 1")
	require.ErrorContains(t, cc.Accepts(oneWay), "give graph.clean.symmetrise: true")
	require.NoError(t, cc.Accepts(read(t, "integer symmetric", "2 1 3", "4 3 1")))
	require.NoError(t, sssp.Accepts(oneWay))
	require.ErrorContains(t, sssp.Accepts(read(t, "integer general", "1 2 -3")), "not negative")
	require.ErrorContains(t, sssp.Accepts(read(t, "real general", "1 2 0.5")), "integer weights")
	require.ErrorContains(t, sssp.Accepts(read(t, "integer general", "1 2 1073741824")), "might not fit 32 bits")
	require.NoError(t, sssp.Accepts(read(t, "integer general", "1 2 1073741823")))
	require.NoError(t, sssp.Accepts(read(t, "pattern general", "1 2")))
	looped := read(t, "pattern symmetric", "2 1", "3 3")
	require.NoError(t, cc.Accepts(looped))
	require.NoError(t, triangles.Accepts(read(t, "pattern symmetric", "2 1", "3 1")))
	require.ErrorContains(t, triangles.Accepts(looped), "give graph.clean.drop_self_loops: true")
	require.ErrorContains(t, triangles.Accepts(oneWay), "give graph.clean.symmetrise: true")
	require.ErrorContains(t, triangles.Accepts(read(t, "pattern symmetric", "2 1", "2 1")),
		"triangles: the edge from 0 to 1 is there twice: give graph.clean.drop_duplicates: true")
	require.ErrorContains(t, colouring.Accepts(looped),
		"colouring: vertex 2 has an edge to itself: give graph.clean.drop_self_loops: true")
}

// TestChecksCheck: checks reject wrong results.
func TestChecksCheck(t *testing.T) {
	p := &Problem{Graph: read(t, "integer symmetric", "2 1 3", "3 1 1", "3 2 1"), Target: 3, Damping: 0.85, Seed: 3,
		Width: 1, Coefficient: Hardware}
	x := floats(drawVector(p))
	f := math.Float32bits
	for name, right := range map[string][]uint32{
		"bfs": {0, 1, 1, none}, "bfs-parents": {0, 0, 0, none}, "sssp": {0, 2, 1, none}, "cc": {0, 0, 0, 3}, "in-degree": {2, 2, 2, 0},
		"k-core": {2, 2, 2, 0}, "stcon": {0, 0, 0, 1}, "colouring": colours(p), "bc": {0, 0, 0, 0}, "triangles": {1, 0, 0, 0},
		"spmv":           {f(3*x[1] + x[2]), f(3*x[0] + x[2]), f(x[0] + x[1]), 0},
		"spmm":           {f(3*x[1] + x[2]), f(3*x[0] + x[2]), f(x[0] + x[1]), 0},
		"graphsum":       {f((x[1] + x[2]) / 2), f((x[0] + x[2]) / 2), f((x[0] + x[1]) / 2), 0},
		"pagerank-delta": {f(0.25), f(0.25), f(0.25), f(0.0375)},
		"pagerank":       {f(0.25), f(0.25), f(0.25), f(0.0375)},
	} {
		a, err := ByName(name)
		require.NoError(t, err)
		require.NoError(t, a.Check(p, &Outcome{Result: right, Steps: 1}), name)
		for v := range right {
			wrong := append([]uint32{}, right...)
			wrong[v] ^= 1 << 20
			require.ErrorContains(t, a.Check(p, &Outcome{Result: wrong, Steps: 1}), fmt.Sprintf("of vertex %d ", v),
				name)
		}
	}
}

// colours are those of a triangle and a vertex apart, from the priorities that the seed draws.
func colours(p *Problem) []uint32 {
	c, drawn := make([]uint32, 4), reference.Priorities(4, priorityKey(p))
	for v := range 3 {
		for w := range 3 {
			if drawn[w] > drawn[v] {
				c[v]++
			}
		}
	}
	return c
}

// TestFits: a problem whose numbers a kernel cannot hold is refused.
func TestFits(t *testing.T) {
	g, err := graph.Load(graphspec.Graph{Grid: &graphspec.Grid{Width: 70, Height: 70, Seed: 1}})
	require.NoError(t, err)
	require.ErrorContains(t, bc.Fits(&Problem{Graph: g}),
		"a float32 counts up to 3.4e+38: give another workload.algorithm.source")
	require.NoError(t, bc.Fits(&Problem{Graph: g, Source: 35*70 + 35}))
}

// TestDrawVector: the same by the same seed, and all in 0..1.
func TestDrawVector(t *testing.T) {
	p := &Problem{Graph: read(t, "pattern general", "1 2"), Seed: 7}
	a := drawVector(p)
	require.Equal(t, a, drawVector(p))
	p.Seed = 8
	require.NotEqual(t, a, drawVector(p))
	for _, x := range floats(a) {
		require.True(t, x >= 0 && x < 1)
	}
}

// TestVectors: a vertex's numbers lie side by side, and a wrong one is named.
func TestVectors(t *testing.T) {
	p := &Problem{Graph: read(t, "integer symmetric", "2 1 3", "3 1 1", "3 2 1"), Seed: 3, Width: 2,
		Coefficient: Hardware}
	x := floats(drawVector(p))
	require.Len(t, x, 8)
	f := math.Float32bits
	right := []uint32{f(3*x[2] + x[4]), f(3*x[3] + x[5]), f(3*x[0] + x[4]), f(3*x[1] + x[5]), f(x[0] + x[2]),
		f(x[1] + x[3]), 0, 0}
	require.NoError(t, spmm.Check(p, &Outcome{Result: right}))
	require.Equal(t, 8, spmm.Size("y", p))
	require.Equal(t, 8, graphSum.Size("x", p))
	require.Equal(t, 4, graphSum.Size("in_degree", p))
	right[3] ^= 1 << 20
	require.ErrorContains(t, spmm.Check(p, &Outcome{Result: right}), "product 1 of vertex 1 ")
	sum := make([]uint32, 8)
	for v := range 3 {
		for c := range 2 {
			sum[2*v+c] = f((x[c] + x[2+c] + x[4+c] - x[2*v+c]) / 2)
		}
	}
	require.NoError(t, graphSum.Check(p, &Outcome{Result: sum}))
	sum[7] = f(1e-6)
	require.ErrorContains(t, graphSum.Check(p, &Outcome{Result: sum}), "sum 1 of vertex 3 ")
}
