package eval_test

import (
	"context"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs/schema"
	"heddle/graphit"
	"heddle/graphit/eval"
	"heddle/graphit/graphir"
	"heddle/graphit/programs"
	"heddle/kernels/graph"
	"heddle/kernels/graph/graphspec"
	"heddle/kernels/reference"
)

func load(t *testing.T, settings ...string) *graph.Graph {
	l, err := graphspec.Schema.Load(schema.Input{Set: settings})
	require.NoError(t, err)
	g, err := graph.Load(l.Value)
	require.NoError(t, err)
	return g
}

func build(t *testing.T, src string) *graphir.Program {
	f, err := graphit.Parse("p.gt", []byte(src))
	require.NoError(t, err)
	require.NoError(t, graphit.Check(f))
	p, err := graphir.Build(f)
	require.NoError(t, err)
	require.NoError(t, p.Run(nil, nil))
	return p
}

// evaluate runs a program on the reference, and returns a vector.
func evaluate(t *testing.T, src string, g *graph.Graph, out *strings.Builder, vector string, args ...string) []eval.Value {
	p := build(t, src)
	if out == nil {
		out = &strings.Builder{}
	}
	h := eval.NewHost(p, g, eval.Options{Args: append([]string{"p", "g"}, args...), Output: out, MaxSteps: 100000})
	r := eval.NewReference(h)
	require.NoError(t, h.Run(context.Background(), r))
	var list []eval.Value
	for _, v := range p.Vectors {
		if v.Name == vector {
			for n := range g.Vertices() {
				list = append(list, r.Element(v, n))
			}
		}
	}
	return list
}

func words(list []eval.Value) (w []uint32) {
	for _, v := range list {
		w = append(w, uint32(v.I))
	}
	return w
}

// TestPrograms: what our programs compute is what the references of the composed kernels do.
func TestPrograms(t *testing.T) {
	source := func(name string) string {
		src, err := programs.Source(name)
		require.NoError(t, err)
		return string(src)
	}
	for _, settings := range [][]string{
		{"rmat.scale=8", "rmat.edge_factor=6", "weights.from=random", "weights.max=20"},
		{"rmat.scale=7", "rmat.edge_factor=4", "clean.symmetrise=true", "clean.drop_duplicates=true", "clean.drop_self_loops=true", "weights.from=random"},
	} {
		g := load(t, settings...)
		start := g.DrawSources(1, 1)[0]
		from := itoa(start)
		parents := evaluate(t, source("bfs"), g, nil, "parent", from)
		require.NoError(t, reference.CheckParents(g.CSR(), start, words(parents)))
		for _, v := range parents {
			for _, p := range v.Any { // all that a race may leave are parents
				require.NotEqual(t, int64(-1), p)
			}
		}
		distances, err := reference.Distances(g, start)
		require.NoError(t, err)
		for _, name := range []string{"sssp", "delta_stepping"} {
			got := words(evaluate(t, source(name), g, nil, "distance", from))
			for v, d := range distances {
				require.Equal(t, min(d, math.MaxInt32), got[v], "%s %d", name, v)
			}
		}
		check := reference.NewPageRankCheck(g.CSR(), 0.85)
		for range 5 {
			check.Step()
		}
		for v, x := range evaluate(t, source("pagerank"), g, nil, "rank", "5") {
			require.InDelta(t, check.Rank[v], x.F, check.Bound[v])
			require.Less(t, x.E, 20*check.Bound[v], "the bound is of the same size as one that was derived for the algorithm")
			require.Positive(t, x.E)
		}
		if settings[2] == "clean.symmetrise=true" {
			require.Equal(t, reference.Components(g.CSR()), words(evaluate(t, source("cc"), g, nil, "label")))
			require.Equal(t, reference.CoreNumbers(g.CSR()), words(evaluate(t, source("k_core"), g, nil, "core")))
		}
		var floats []uint32
		for _, v := range evaluate(t, source("bc"), g, nil, "dependency", from) {
			floats = append(floats, math.Float32bits(float32(v.F)))
		}
		floats[start] = 0
		want := make([]float32, len(floats))
		for i, w := range floats {
			want[i] = math.Float32frombits(w)
		}
		require.NoError(t, reference.CheckDependencies(g.CSR(), start, want))
	}
}

func itoa(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
