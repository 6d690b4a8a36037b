package feature_test

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
	"heddle/kernels/emit"
	"heddle/kernels/emit/emittest"
	"heddle/kernels/feature"
	"heddle/kernels/ir"
)

// collaborate runs body in each group of a core, one vertex a group, and returns an array that body has stored to.
// in are k words of each vertex, and k×k of each where it is called "matrix".
func collaborate(t *testing.T, p *feature.Plan, in map[string][]float32, out string, words int,
	body func(g *feature.Group, v feature.Place)) []float32 {
	t.Helper()
	k := emit.New("test")
	g := p.Group(k)
	vertex := k.Div(k.LaneID(), k.U32(uint32(p.GroupLanes())))
	if p.BlockWarps() > 1 {
		vertex = k.Div(k.WarpID(), k.U32(uint32(p.BlockWarps())))
	}
	body(g, g.Of(vertex))
	kernel, err := k.Build()
	require.NoError(t, err)
	m := emittest.New(1, p.Warps, p.Lanes)
	args, places := map[string]uint32{}, map[string]uint32{}
	for name, x := range in {
		places[name] = m.Place(feature.Words(x))
	}
	if _, there := places[out]; !there {
		places[out] = m.Place(make([]uint32, words))
	}
	for _, param := range kernel.Params {
		args[param.Name] = places[param.Name]
	}
	m.Run(t, kernel, args)
	got := make([]float32, words)
	for i, w := range m.Words(places[out], words) {
		got[i] = math.Float32frombits(w)
	}
	return got
}

// TestCollaborativeOperations: each of them, for every number of lanes and of features up to 70 and 128, by groups, by
// single lanes and by thread blocks, against a loop on the host; without testenv.LongVariable, for some numbers of
// features with each number of lanes.
func TestCollaborativeOperations(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	for lanes := 1; lanes <= 32; lanes *= 2 {
		for _, k := range testenv.Some(t, bits.Len(uint(lanes)), 6,
			[]int{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 70, 128}) {
			for _, aware := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d lanes/%d features/aware %v", lanes, k, aware), func(t *testing.T) {
					testOperations(t, r, &feature.Plan{Algorithm: &feature.Algorithm{}, K: k, Aware: aware,
						Lanes: lanes, Warps: 1})
				})
			}
			for n, warps := range []int{2, 3, 4, 6, 8, 32} { // of a core; a block's divide them
				p := &feature.Plan{Algorithm: &feature.Algorithm{}, K: k, Aware: true, Block: true, Lanes: lanes,
					Warps: warps}
				if p.BlockWarps() == 1 || (k+n)%3 > 0 { // for time, a third
					continue
				}
				t.Run(fmt.Sprintf("%d lanes/%d features/blocks of %d of %d warps", lanes, k, p.BlockWarps(), warps),
					func(t *testing.T) {
						testOperations(t, r, p)
					})
			}
		}
	}
}

func testOperations(t *testing.T, r *rand.Rand, p *feature.Plan) {
	k := p.K
	vertices := max(1, p.Lanes/p.GroupLanes())
	if p.BlockWarps() > 1 {
		vertices = p.Warps / p.BlockWarps()
	}
	x := make([]float32, vertices*k)
	for i := range x {
		x[i] = r.Float32()*10 - 3
	}
	in := map[string][]float32{"x": x}
	of := func(v int) []float32 { return x[v*k : (v+1)*k] }
	each := func(body func(g *feature.Group, v feature.Place,
		x feature.Feature) func(i feature.Index) ir.Value) []float32 {
		return collaborate(t, p, in, "out", len(x), func(g *feature.Group, v feature.Place) {
			value := body(g, v, g.Let(func(i feature.Index) ir.Value { return g.Load("x", v, i) }))
			g.Each(func(i feature.Index) { g.Store("out", v, i, value(i)) })
		})
	}
	same := func(got []float32, bound float64, want func(v, f int) float64) {
		t.Helper()
		for i, y := range got {
			w := want(i/k, i%k)
			require.InDelta(t, w, float64(y), bound*math.Max(1, math.Abs(w)), "feature %d of vertex %d", i%k, i/k)
		}
	}
	sum := func(v int) (s float64) {
		for _, y := range of(v) {
			s += float64(y)
		}
		return s
	}
	sums := each(func(g *feature.Group, _ feature.Place, x feature.Feature) func(feature.Index) ir.Value {
		s := g.Sum(x.At)
		return func(feature.Index) ir.Value { return s }
	})
	same(sums, 1e-4, func(v, _ int) float64 { return sum(v) })
	same(sums, 0, func(v, _ int) float64 { return float64(p.HostSum(of(v))) })
	same(each(func(g *feature.Group, _ feature.Place, x feature.Feature) func(feature.Index) ir.Value {
		s := g.Max(x.At)
		return func(feature.Index) ir.Value { return s }
	}), 0, func(v, _ int) float64 {
		most := math.Inf(-1)
		for _, y := range of(v) {
			most = max(most, float64(y))
		}
		return most
	})
	for _, above := range []float32{-4, 6.5, 6.95, 8} {
		same(each(func(g *feature.Group, _ feature.Place, x feature.Feature) func(feature.Index) ir.Value {
			found := g.Any(func(i feature.Index) ir.Value { return g.Gt(x.At(i), g.F32(above)) })
			return func(feature.Index) ir.Value { return g.Select(found, g.F32(1), g.F32(0)) }
		}), 0, func(v, _ int) float64 {
			for _, y := range of(v) {
				if y > above {
					return 1
				}
			}
			return 0
		})
	}
	same(each(func(g *feature.Group, v feature.Place, x feature.Feature) func(feature.Index) ir.Value {
		last := g.U32(uint32(k - 1))
		first := g.Pick(x, last)
		return func(i feature.Index) ir.Value { return g.Sub(x.At(i), first) }
	}), 0, func(v, f int) float64 { return float64(of(v)[f] - of(v)[k-1]) })
	for i := range x {
		x[i] = r.Float32()
	}
	same(each(func(g *feature.Group, _ feature.Place, x feature.Feature) func(feature.Index) ir.Value {
		divided, _ := g.Normalise(x)
		return divided.At
	}), 1e-5,
		func(v, f int) float64 { return float64(of(v)[f]) / sum(v) })
	testSolve(t, r, p, vertices)
}

// testSolve: Solve's result solves a system with a symmetric positive definite matrix; so does the product of Inverse's
// result and the right side.
func testSolve(t *testing.T, r *rand.Rand, p *feature.Plan, vertices int) {
	k := p.K
	if k > 33 {
		return // a minute each
	}
	matrix, right := make([]float32, vertices*k*k), make([]float32, vertices*k)
	for v := range vertices {
		for row := range k {
			right[v*k+row] = r.Float32()
			for c := range row + 1 {
				x := r.Float32()
				if c == row {
					x += float32(k)
				}
				matrix[(v*k+row)*k+c], matrix[(v*k+c)*k+row] = x, x
			}
		}
	}
	got := collaborate(t, p, map[string][]float32{"matrix": matrix, "right": right}, "out", vertices*k,
		func(g *feature.Group, v feature.Place) {
			x := g.Solve("matrix", "right", v)
			g.Each(func(i feature.Index) { g.Store("out", v, i, x.At(i)) })
		})
	solves := func(got []float32) {
		t.Helper()
		for v := range vertices {
			for row := range k {
				s := 0.0
				for c := range k {
					s += float64(matrix[(v*k+row)*k+c]) * float64(got[v*k+c])
				}
				require.InDelta(t, float64(right[v*k+row]), s, 1e-4)
			}
		}
	}
	solves(got)
	if k > 17 {
		return // it takes three times as long
	}
	in := map[string][]float32{"matrix": matrix, "right": right, "column": make([]float32, vertices*k)}
	solves(collaborate(t, p, in, "out", vertices*k, func(g *feature.Group, v feature.Place) {
		g.Inverse("matrix", "column", v)
		x := g.Let(func(i feature.Index) ir.Value { return g.Load("right", v, i) })
		g.Each(func(i feature.Index) { g.Store("out", v, i, g.Product(x, "matrix", v, i)) })
	}))
	inverse := collaborate(t, p, in, "matrix", vertices*k*k,
		func(g *feature.Group, v feature.Place) { g.Inverse("matrix", "column", v) })
	for v := range vertices {
		for row := range k {
			for c := range k {
				s := 0.0
				for n := range k {
					s += float64(matrix[(v*k+row)*k+n]) * float64(inverse[(v*k+n)*k+c])
				}
				want := 0.0
				if row == c {
					want = 1
				}
				require.InDelta(t, want, s, 1e-4)
			}
		}
	}
}
