package eval_test

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs/schema"
	"heddle/graph"
	"heddle/graph/graphspec"
	"heddle/graphit"
	"heddle/graphit/eval"
	"heddle/graphit/graphir"
	"heddle/graphit/programs"
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
func evaluate(t *testing.T, src string, g *graph.Graph, out *strings.Builder, vector string,
	args ...string) []eval.Value {
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

// TestPrograms: our programs compute the same results as the references of the composed kernels.
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
			for _, p := range v.Any { // every possible outcome of the race is a parent
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
			require.Less(t, x.E, 20*check.Bound[v],
				"the bound is of the same size as one that was derived for the algorithm")
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

const declarations = "element Vertex end\nelement Edge end\nconst edges : edgeset{Edge}(Vertex, Vertex) = " +
	"load(argv[1]);\n" +
	"const vertices : vertexset{Vertex} = edges.getVertices();\nconst A : vector{Vertex}(int) = -1;\nconst R : " +
	"vector{Vertex}(float) = 0.1;\n"

// small is a graph in which 2 and 3 race for 1, and nothing races for 0.
func small(t *testing.T) *graph.Graph {
	g, err := graph.Read("g", strings.NewReader("2 1\n3 1\n1 0\n"), graph.ReadOptions{})
	require.NoError(t, err)
	return g
}

// TestRefusals: values that races or roundings decide are never accepted by chance.
func TestRefusals(t *testing.T) {
	put := "func put(src : Vertex, dst : Vertex) A[dst] = src; end\n"
	for _, c := range []struct{ program, says string }{
		{put + "func main() edges.apply(put); print A[1] == -1; end", ""},
		{put + "func main() edges.apply(put); if A[1] == 2 print 1; end end", "the condition depends on roundings, or on which of several racing"},
		{put + "func main() edges.apply(put); if A[0] == 1 print 1; end end", ""},
		{put + "func main() edges.apply(put); print A[1] + 1; end", "depends on which of several racing assignments came last"},
		{put + "func main() edges.apply(put); A[A[1]] = 0; end", "which element it is depends on which"},
		{"func sum(src : Vertex, dst : Vertex) R[dst] += 0.1; end\nfunc main() edges.apply(sum); if R[0] < 0.2 print 1; end end", "the condition depends on roundings"},
		{"func sum(src : Vertex, dst : Vertex) R[dst] += 0.1; end\nfunc main() edges.apply(sum); if R[0] < 0.25 print 1; end end", ""},
		{"func half(v : Vertex) R[v] = 0.5; end func sum(src : Vertex, dst : Vertex) R[dst] += 2.0; end\n" +
			"func main() vertices.apply(half); edges.apply(sum); if R[1] == 4.5 print 1; end end", "the condition depends on roundings"},
		{"func two(v : Vertex) R[v] = 2.0; end func sum(src : Vertex, dst : Vertex) R[dst] += 2.0; end\n" +
			// whole numbers are exact
			"func main() vertices.apply(two); edges.apply(sum); if R[1] == 6.0 print 1; end end", ""},
		{"func main() print argv[1]; end", ""},
		{"func main() A[4] = 1; end", "A[4]: the vector has elements 0 to 3"},
		{"func main() print atoi(argv[9]); end", "the program asks for argv[9]"},
		{"func div(v : Vertex) A[v] = 7 / (v - 1); end func main() vertices.apply(div); end", "p.gt:7:31: 7 / (v - 1) divides 7 by 0 (vertex 1)"},
		{"func div(v : Vertex) if v != 1 and 7 / (v - 1) > 1 A[v] = 7 / (v - 1); end end func main() vertices.apply(div); end", ""},
		{"func top(v : Vertex) A[v] = 2147483647; end func low(src : Vertex, dst : Vertex) A[dst] min= A[src] + 0; end\n" +
			"func main() vertices.apply(top); edges.apply(low); print A[0]; end", ""}, // nothing is reached
		{"func top(v : Vertex) A[v] = 2147483647; end func low(src : Vertex, dst : Vertex) A[dst] min= 2147483646 + 1; end\n" +
			"func main() vertices.apply(top); edges.apply(low); print A[0]; end", "A[0] min= 2147483647, from vertex 1: that is the greatest int, which reads as not reached"},
		{"func put(src : Vertex, dst : Vertex) R[dst] = 1.0 / src; end\nfunc main() edges.apply(put); end", "edges race to assign real numbers"},
	} {
		p := build(t, declarations+c.program)
		h := eval.NewHost(p, small(t), eval.Options{Args: []string{"p", "g"}})
		err := h.Run(context.Background(), eval.NewReference(h))
		if c.says == "" {
			require.NoError(t, err, c.program)
		} else {
			require.ErrorContains(t, err, c.says, c.program)
		}
	}
}

// TestEndless: loops that do not end are stopped, wherever they are, and those that end are not.
func TestEndless(t *testing.T) {
	defer eval.SetMaxRounds(1000)()
	step := "func step(src : Vertex, dst : Vertex) A[dst] += 1; end\n"
	for _, c := range []struct{ program, says string }{
		{"func main() while true end end", "p.gt:7:13: the loop has gone round 1000 times without an operator: it does not end"},
		{"func main() for i in 0:2000000000 end end", "p.gt:7:13: the loop has gone round 1000 times without an operator"},
		{"func main() for i in 0:1000 end end", ""},
		{"func f(v : Vertex) A[v] = 1; end func main() while true vertices.apply(f); end end",
			"more than 262144 operators over vertices have run without one over edges: the program does not end"},
		{"func main() for i in 0:100 for j in 0:100 A[0] = j; end end end", "p.gt:7:28: the loop has gone round 1000 times"},
		{"func f(v : Vertex) while v != 1 A[v] = 2; end end func main() vertices.apply(f); end", "p.gt:7:20: the loop has gone round 1000 times without an operator: it does not end (vertex 0)"},
		{"func g(v : Vertex) for i in 0:100 A[v] = i; end end func f(v : Vertex) for i in 0:100 g(v); end end func main() vertices.apply(f); end", "(vertex 0)"},
		{step + "func main() while true edges.apply(step); end end", "p.gt:8:24: more than 50 operators over edges have run: the program does not end"},
		{step + "func main() for i in 0:40 edges.apply(step); for j in 0:900 end end end", ""},
	} {
		h := eval.NewHost(build(t, declarations+c.program), small(t),
			eval.Options{Args: []string{"p", "g"}, MaxSteps: 50})
		err := h.Run(context.Background(), eval.NewReference(h))
		if c.says == "" {
			require.NoError(t, err, c.program)
			continue
		}
		require.ErrorContains(t, err, c.says, c.program)
		require.ErrorIs(t, err, eval.ErrStopped, c.program)
	}
}

// TestCompare: a result that differs is refused, as is one that is too far off, and one that no race leaves.
func TestCompare(t *testing.T) {
	p := build(t, declarations+"func put(src : Vertex, dst : Vertex) A[dst] = src; end func sum(src : Vertex, dst : "+
		"Vertex) R[dst] += 0.1; end\n"+
		"func main() edges.apply(put); edges.apply(sum); end")
	h := eval.NewHost(p, small(t), eval.Options{Args: []string{"p", "g"}})
	r := eval.NewReference(h)
	require.NoError(t, h.Run(context.Background(), r))
	a, f := p.Vectors[0], p.Vectors[1]
	none := uint32(math.MaxUint32)
	for _, ok := range [][]uint32{{1, 2, none, none}, {1, 3, none, none}} {
		require.NoError(t, r.Compare(a, ok, nil))
	}
	for _, wrong := range [][]uint32{{1, 0, none, none}, {2, 2, none, none}, {1, 2, none, 0}, {1, 2, none}} {
		require.ErrorIs(t, r.Compare(a, wrong, nil), eval.ErrCheck)
	}
	bits := func(first float32) []uint32 {
		tenth := math.Float32bits(0.1)
		return []uint32{math.Float32bits(first), math.Float32bits(float32(0.1) + float32(0.1) + float32(0.1)), tenth,
			tenth}
	}
	require.NoError(t, r.Compare(f, bits(0.2), nil))
	require.ErrorIs(t, r.Compare(f, bits(0.2000002), nil), eval.ErrCheck, "some units in the last place")
}

// TestSumBeyondFloat: where a float has overflowed that the reference's sum has not, the message says so.
func TestSumBeyondFloat(t *testing.T) {
	p := build(t, declarations+"func sum(src : Vertex, dst : Vertex) R[dst] += 2.0e38; end\n"+
		"func main() edges.apply(sum); end")
	h := eval.NewHost(p, small(t), eval.Options{Args: []string{"p", "g"}})
	r := eval.NewReference(h)
	require.NoError(t, h.Run(context.Background(), r))
	inf, two := math.Float32bits(float32(math.Inf(1))), math.Float32bits(2e38)
	err := r.Compare(p.Vectors[1], []uint32{two, inf, two, two}, nil)
	require.ErrorIs(t, err, eval.ErrCheck)
	require.ErrorContains(t, err, "a float holds up to 3.4e+38")
}

// TestInfinities: an infinity is compared as one, whatever its origin, and values derived from a division by something
// that may be 0 are not verified.
func TestInfinities(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		body  string
		right []float32 // none: nothing is
		wrong []float32
	}{
		{"R[v] = 1.0e38 * 1.0e38;", []float32{inf}, []float32{0, -inf, 3e38, nan}},
		{"R[v] = 0.0 - 1.0e38 * 1.0e38;", []float32{-inf}, []float32{0, inf, 3e38, nan}},
		{"R[v] = 1.0e38 * 0.1 * 1.0e38 * 0.3;", []float32{inf}, []float32{0, -inf, nan}},
		{"R[v] = 1.0 / (0.1 * 0.1 - 0.01);", nil, []float32{0, 1, inf, -inf, nan}},
	} {
		p := build(t, declarations+"func f(v : Vertex) "+c.body+" end\nfunc main() vertices.apply(f); end")
		h := eval.NewHost(p, small(t), eval.Options{Args: []string{"p", "g"}})
		r := eval.NewReference(h)
		require.NoError(t, h.Run(context.Background(), r))
		check := func(x float32) error {
			return r.Compare(p.Vectors[1], slices.Repeat([]uint32{math.Float32bits(x)}, 4), nil)
		}
		for _, x := range c.right {
			require.NoError(t, check(x), "%s %v", c.body, x)
		}
		for _, x := range c.wrong {
			require.ErrorIs(t, check(x), eval.ErrCheck, "%s %v", c.body, x)
		}
	}
}
