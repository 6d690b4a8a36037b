package lower_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graphit"
	"heddle/graphit/eval"
	"heddle/graphit/lower"
	"heddle/graphit/programs"
	"heddle/internal/testenv"
	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

const wideHeader = `element Vertex end
element Edge end
const edges : edgeset{Edge}(Vertex, Vertex, int) = load(argv[1]);
const vertices : vertexset{Vertex} = edges.getVertices();
`

// doubles is three rounds of PageRank, a least and a greatest number, and the language's functions, in doubles.
const doubles = wideHeader + `const rank : vector{Vertex}(double) = 1.0 / 3;
const next : vector{Vertex}(double) = 0.1;
const low : vector{Vertex}(double) = 1000.0;
const logs : vector{Vertex}(double) = 0.0;
const down : vector{Vertex}(int) = 0;
const as_float : vector{Vertex}(float) = 0.0;
const degree : vector{Vertex}(int) = edges.getOutDegrees();
const damp : double = 0.85;
func send(src : Vertex, dst : Vertex, weight : int)
    next[dst] += rank[src] / degree[src] - weight * 0.001;
    low[dst] min= rank[src] * weight;
end
func after(v : Vertex)
    var was : double = rank[v];
    rank[v] = 0.15 + damp * next[v];
    if was > rank[v]
        next[v] = -fabs(was - rank[v]);
    else
        next[v] = 0.0;
    end
end
func last(v : Vertex)
    logs[v] = log(to_double(degree[v] + 1)) - max(low[v], 2.5);
    down[v] = floor(100.5 * log(to_double(degree[v] + 1)));
    as_float[v] = logs[v];
end
func main()
    for i in 0:3
        #one# edges.apply(send);
        vertices.apply(after);
    end
    vertices.apply(last);
end`

// TestDoubles: doubles are doubles, under every schedule: they are nearer the reference's than a float can be, and the
// evaluator's bounds are as narrow.
func TestDoubles(t *testing.T) {
	g := odd(t)
	for _, s := range testenv.Some(t, 0, len(languageSchedules), languageSchedules) {
		r, err := lower.Run(context.Background(), device(t, testWorkload(t)), g, parse(t, "d", withSchedule(doubles, s)),
			lower.Options{Args: []string{"d", "graph"}, Workload: testWorkload(t)})
		require.NoError(t, err, s)
		require.True(t, r.Verified)
		want := ranks(t)
		for n, w := range want {
			got := math.Float64frombits(uint64(r.Vectors[0].High[n])<<32 | uint64(r.Vectors[0].Words[n]))
			require.InEpsilon(t, w, got, 1e-13, "rank[%d] under %s", n, s)
		}
		r.Vectors[0].Words[0] ^= 1 << 9 // a wrong bit among the last ten is found
		p, err := lower.Build(parse(t, "d", doubles), nil, false)
		require.NoError(t, err)
		ref, err := eval.Evaluate(context.Background(), p, g, eval.Options{Args: []string{"d", "graph"}}, nil)
		require.NoError(t, err)
		require.ErrorIs(t, ref.Compare(p.Vectors[0], r.Vectors[0].Words, r.Vectors[0].High), eval.ErrCheck)
	}
	note := parse(t, "d", doubles)
	p, err := lower.Build(note, nil, false)
	require.NoError(t, err)
	require.Contains(t, p.Notes[0].Text, "--float")
	p, err = lower.Build(note, nil, true)
	require.NoError(t, err)
	require.Empty(t, p.Notes)
	r, err := lower.Run(context.Background(), device(t, testWorkload(t)), g, note,
		lower.Options{Args: []string{"d", "graph"}, Workload: testWorkload(t), Float: true})
	if err == nil {
		require.Nil(t, r.Vectors[0].High)
	} else {
		require.ErrorContains(t, err, "min= of real numbers")
	}
}

// ranks are those of the program, computed here.
func ranks(t *testing.T) []float64 {
	g := odd(t)
	rank, next := make([]float64, g.Vertices()), make([]float64, g.Vertices())
	for v := range rank {
		rank[v], next[v] = 1.0/3, 0.1
	}
	csr := g.CSR()
	for range 3 {
		for v := range rank {
			for i, w := range csr.Row(v) {
				next[w] += rank[v]/float64(csr.Degree(v)) - float64(int32(csr.Weights[int(csr.Offsets[v])+i]))*0.001
			}
		}
		for v := range rank {
			was := rank[v]
			rank[v] = 0.15 + 0.85*next[v]
			next[v] = 0
			if was > rank[v] {
				next[v] = -math.Abs(was - rank[v])
			}
		}
	}
	return rank
}

// longs adds up, multiplies, divides and compares integers of 64 bits.
const longs = wideHeader + `const total : vector{Vertex}(uint_64) = 0;
const share : vector{Vertex}(uint_64) = 0;
const least : vector{Vertex}(uint_64) = 18;
const large : vector{Vertex}(int) = 0;
const real : vector{Vertex}(double) = 0.0;
func add(src : Vertex, dst : Vertex, weight : int)
    var a : uint_64 = src + 1;
    total[dst] += a * 3000000000 * weight;
    least[dst] min= a * a * 65536 * 65536 / (weight + 1);
end
func split(v : Vertex)
    share[v] = total[v] / (v + 7);
    real[v] = total[v];
    var limit : uint_64 = 500000;
    limit = limit * 1000000;
    if share[v] * (v + 7) == total[v] or total[v] > limit
        large[v] = 1;
    end
end
func main()
    #one# edges.apply(add);
    vertices.apply(split);
    print total.sum();
end`

// TestLongs: uint_64 holds what 32 bits do not, under every schedule.
func TestLongs(t *testing.T) {
	g := odd(t)
	csr := g.CSR()
	want := make([]uint64, g.Vertices())
	for v := range want {
		for i, w := range csr.Row(v) {
			want[w] += uint64(v+1) * 3000000000 * uint64(csr.Weights[int(csr.Offsets[v])+i])
		}
	}
	for _, s := range languageSchedules {
		r, err := lower.Run(context.Background(), device(t, testWorkload(t)), g, parse(t, "l", withSchedule(longs, s)),
			lower.Options{Args: []string{"l", "graph"}, Workload: testWorkload(t)})
		require.NoError(t, err, s)
		for v, w := range want {
			at := r.Vectors[0]
			require.Equal(t, w, uint64(at.High[v])<<32|uint64(at.Words[v]), "total[%d] under %s", v, s)
			at = r.Vectors[1]
			require.Equal(t, w/uint64(v+7), uint64(at.High[v])<<32|uint64(at.Words[v]), "share[%d] under %s", v, s)
		}
	}
	_, err := lower.Run(context.Background(), device(t, testWorkload(t)), g,
		parse(t, "l", strings.Replace(longs, "18;", "0;", 1)+"\n% "),
		lower.Options{Args: []string{"l", "graph"}, Workload: testWorkload(t)})
	require.NoError(t, err)
	_, err = lower.Run(context.Background(), device(t, testWorkload(t)), g,
		parse(t, "l", strings.Replace(longs, "a * a * 65536", "a * 4000000000 * 4000000000 * 65536", 1)),
		lower.Options{Args: []string{"l", "graph"}, Workload: testWorkload(t)})
	require.ErrorContains(t, err, "which is what is checked of a uint_64")
}

const setCover = `element Vertex end
element Edge end
const edges : edgeset{Edge}(Vertex, Vertex) = load(argv[1]);
const vertices : vertexset{Vertex} = edges.getVertices();
const D : vector{Vertex}(uint);
const sizes : vector{Vertex}(int) = edges.getOutDegrees();
const pq : priority_queue{Vertex}(uint);
const scale : double = 1.0 / log(1.1);
func get_bucket_clamped(size : int) -> bucket : int
    if size == 0
        bucket = 4294967295;
    else
        bucket = floor(scale * log(to_double(size)));
    end
end
func begin(v : Vertex)
    D[v] = get_bucket_clamped(sizes[v]);
end
extern func extern_function(active : vertexset{Vertex}) -> output : vertexset{Vertex};
extern func get_cover_size() -> size : int;
func main()
    vertices.apply(begin);
    pq = new priority_queue{Vertex}(uint)(false, false, D, 0, 0, false, -1);
    while (1)
        var ready : vertexset{Vertex} = pq.dequeue_ready_set();
        if pq.finished()
            break;
        end
        ready.applyUpdatePriorityExtern(extern_function);
        delete ready;
    end
    print get_cover_size();
end`

// TestSetCover: a queue with higher priorities first, whose vertices an extern function of sets moves. Every vertex
// with an edge to it is covered, and the cover is not much larger than a greedy one.
func TestSetCover(t *testing.T) {
	src, err := programs.Extern("set_cover.gt")
	require.NoError(t, err)
	g := odd(t)
	csr := g.CSR()
	schedules := []string{"schedule=cta", "direction=pull", "schedule=vertex", "schedule=edge"}
	for _, s := range testenv.Some(t, 0, 4, schedules) {
		f, err := graphit.Parse("cover.gt", []byte(setCover))
		require.NoError(t, err)
		with, err := graphit.Parse("cover.extern.gt", src)
		require.NoError(t, err)
		require.NoError(t, f.Link(with))
		require.NoError(t, graphit.Check(f))
		w := testWorkload(t, s)
		r, err := lower.Run(context.Background(), device(t, w), g, f,
			lower.Options{Args: []string{"cover", "graph"}, Workload: w})
		require.NoError(t, err, s)
		in := map[uint32]bool{}
		for _, x := range r.Vectors {
			if x.Var.Name == "in_cover" {
				for v, yes := range x.Words {
					in[uint32(v)] = yes == 1
				}
			}
		}
		covered, size := make([]bool, g.Vertices()), 0
		for v := range covered {
			if !in[uint32(v)] {
				continue
			}
			size++
			for _, u := range csr.Row(v) {
				covered[u] = true
			}
		}
		for v := range covered {
			for _, u := range csr.Row(v) {
				require.True(t, covered[u], "vertex %d, of %d", u, v)
			}
		}
		require.Less(t, size, 20)
		require.Positive(t, size)
	}
}

// registered counts the runs of TestGoExtern.
var registered int

// TestGoExtern: Go functions as extern functions: of edges, whose emitted code the reference checks, and of main.
func TestGoExtern(t *testing.T) {
	registered++ // names are taken for good
	named := func(text string) string { return strings.ReplaceAll(text, "test_", fmt.Sprintf("test%d_", registered)) }
	src := wideHeader + named(`const A : vector{Vertex}(int) = 0;
const R : vector{Vertex}(double) = 0.0;
extern func test_distance(a : Vertex, b : Vertex) -> d : int;
extern func test_half(x : float) -> y : double;
extern func test_prepare(file : string, n : int);
extern func test_even(of : vertexset{Vertex}) -> some : vertexset{Vertex};
extern func test_wrong(a : Vertex) -> d : int;
func f(src : Vertex, dst : Vertex)
    A[dst] max= test_distance(src, dst) + CALL;
end
func g(v : Vertex)
    R[v] = test_half(v * 1.0);
end
func h(v : Vertex)
    A[v] += 1000;
end
func main()
    test_prepare(argv[1], edges.getVertices());
    #one# edges.apply(f);
    vertices.apply(g);
    var some : vertexset{Vertex} = test_even(vertices);
    some.apply(h);
    print test_distance(3, 9);
end`)
	distance := func(a []float64) float64 { return math.Abs(a[0] - a[1]) }
	add := func(x *graphit.Extern, e lower.ExternEmit) { require.NoError(t, lower.AddExtern(x, e)) }
	add(&graphit.Extern{Signature: named("func test_distance(a : Vertex, b : Vertex) -> d : int"), Value: distance},
		func(k *emit.Kernel, a []ir.Value) ir.Value {
			return k.AsI32(k.Sub(k.Max(a[0], a[1]), k.Min(a[0], a[1])))
		})
	add(&graphit.Extern{
		Signature: named("func test_half(x : float) -> y : double"),
		Value:     func(a []float64) float64 { return a[0] / 2 },
	}, func(k *emit.Kernel, a []ir.Value) ir.Value { return k.Mul(a[0], k.F32(0.5)) })
	add(&graphit.Extern{
		Signature: named("func test_wrong(a : Vertex) -> d : int"),
		Value:     func([]float64) float64 { return 1 },
	}, func(k *emit.Kernel, _ []ir.Value) ir.Value { return k.I32(2) })
	add(&graphit.Extern{Signature: named("func test_prepare(file : string, n : int)"), Main: func(c graphit.ExternCall) float64 {
		require.Equal(t, "graph", c.Text(0))
		require.Equal(t, c.Vertices(), int(c.Number(1)))
		c.Put("A", 5, 77)
		return 0
	}}, nil)
	add(&graphit.Extern{Signature: named("func test_even(of : vertexset{Vertex}) -> some : vertexset{Vertex}"), Main: func(c graphit.ExternCall) float64 {
		var out []uint32
		for _, v := range c.Set(0) {
			if v%2 == 0 && c.Get("A", int(v)) > 3 {
				out = append(out, v)
			}
		}
		c.Return(out)
		return 0
	}}, nil)
	for _, bad := range []struct {
		x    graphit.Extern
		says string
	}{
		{graphit.Extern{Signature: named("func test_distance(a : int) -> d : int"), Value: distance}, "there is one of that name"},
		{graphit.Extern{Signature: "func x(a : int) -> d : int"}, "expected one of Value and Main"},
		{graphit.Extern{Signature: "func x(a : string) -> d : int", Value: distance}, "Value is for numbers"},
		{graphit.Extern{Signature: "func x(", Value: distance}, "its signature"},
	} {
		_, err := graphit.AddExtern(&bad.x)
		require.ErrorContains(t, err, bad.says)
	}
	g := odd(t)
	for _, s := range languageSchedules {
		p := parse(t, "x", withSchedule(strings.Replace(src, "CALL", "1", 1), s))
		r, err := lower.Run(context.Background(), device(t, testWorkload(t)), g, p,
			lower.Options{Args: []string{"x", "graph"}, Workload: testWorkload(t)})
		require.NoError(t, err, s)
		require.True(t, r.Verified)
		require.GreaterOrEqual(t, r.Vectors[0].Words[5], uint32(77))
	}
	p := parse(t, "x", strings.Replace(src, "CALL", named("test_wrong(src)"), 1))
	_, err := lower.Run(context.Background(), device(t, testWorkload(t)), g, p,
		lower.Options{Args: []string{"x", "graph"}, Workload: testWorkload(t)})
	require.ErrorIs(t, err, eval.ErrCheck)
	f, err := graphit.Parse("x", []byte(wideHeader+
		named("extern func test_half(x : int) -> y : double;\nfunc main() end")))
	require.NoError(t, err)
	require.ErrorContains(t, graphit.Check(f), "as the Go function is registered")
}
