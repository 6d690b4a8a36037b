package featured_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/accel"
	"heddle/configs"
	"heddle/configs/schema"
	"heddle/graph"
	"heddle/graph/graphspec"
	"heddle/internal/testenv"
	"heddle/isa/emu"
	"heddle/kernels/compose"
	"heddle/kernels/feature"
	"heddle/kernels/featured"
	"heddle/kernels/featured/featuredtest"
	"heddle/kernels/host"
	"heddle/kernels/layout"
	"heddle/kernels/schedule"
	"heddle/kernels/workload"
)

// testWorkload is one with the defaults.
func testWorkload() workload.Workload { return schema.New[workload.Workload]("").Default() }

// functional is a machine with the unit that a schedule needs.
func functional(t *testing.T, cfg emu.Config, w *workload.Workload) host.Device {
	t.Helper()
	d, err := tryFunctional(cfg, w)
	require.NoError(t, err)
	return d
}

// tryFunctional returns an error for workloads that the unit does not fit.
func tryFunctional(cfg emu.Config, w *workload.Workload) (host.Device, error) {
	var unit accel.Spec
	if s, err := schedule.ByName(string(w.Schedule)); err == nil && s.Unit != nil {
		unit = configs.DefaultUnit(accel.KindNamed(s.UnitName()))
	}
	return host.NewFunctional(cfg, unit)
}

// pick draws one of a list.
func pick[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

// TestRandomRuns draws every choice that features have, on machines of every width, with every schedule and layout: a
// run is refused for a reason, or every super-step of it is right.
func TestRandomRuns(t *testing.T) {
	ran, refused := map[string]int{}, 0
	for seed := range testenv.Cases(t, 120, 1500) {
		r := rand.New(rand.NewPCG(seed, 41))
		w := testWorkload()
		a := feature.Algorithms()[seed%uint64(len(feature.Algorithms()))].Name
		w.Algorithm = workload.Algorithm(a)
		w.Schedule, w.Layout = workload.Schedule(pick(r, schedule.All()).Name), workload.Auto
		if r.IntN(3) == 0 {
			w.Layout = workload.Layout(pick(r, layout.Layouts()).Name)
		}
		if strings.HasPrefix(string(w.Layout), "virtual") {
			w.VirtualDegree = 1 + r.IntN(9)
		}
		w.Features = workload.Features{
			Count: pick(r, []int{1, 2, 3, 4, 5, 7, 8, 1 + r.IntN(128)}), Aware: r.IntN(3) > 0, Changes: r.IntN(2) == 0,
			Epsilon: pick(r, []float64{0, 1e-4, 1e-3, 0.1, 1e9}), Unsent: pick(r, []workload.Choice{"lost", "kept"}),
			Folding: workload.Choice(pick(r, feature.Foldings())), Pipelined: r.IntN(3) == 0,
			Lambda: pick(r, []float64{1e-3, 0.05, 10, math.Pow(10, -3+12*r.Float64())}),
			Group:  pick(r, []workload.Choice{"warp", "block"}), Vertices: pick(r, []workload.Choice{"all", "touched"}),
			Retracts: pick(r, []workload.Choice{"merged", "separate"}),
			Solver:   pick(r, []workload.Choice{"elimination", "inverse"}),
			Coupling: pick(r, []workload.Choice{"edge", "graph"}),
			Sets:     pick(r, []int{1, 1, 2, 1 + r.IntN(8)}),
		}
		w.Direction = pick(r, []workload.Choice{workload.Auto, "push", "pull"})
		featuredtest.Fit(r, &w)
		w.Damping, w.Seed = pick(r, []float64{0, 0.5, 0.85, 1, r.Float64()}), r.Uint64()
		w.Iterations = 1 + r.IntN(6)
		w.Unroll = workload.Choice(pick(r, []compose.Unrolling{"1", "2", "4", "8", "auto", "auto", "auto"}))
		w.Spill = workload.Choice(pick(r, compose.Spills()))
		lanes := 1 << r.IntN(6)
		cfg := emu.Config{Cores: 1 + r.IntN(3), Warps: 1 + r.IntN(4), Threads: lanes,
			ScratchpadBytes: 1 << (10 + r.IntN(7)), Quantum: 1 + r.IntN(200), MaxInstrs: 1 << 28}
		scale := 1 + r.IntN(6)
		if a == "als" && w.Features.Count > 32 { // each vertex eliminates k³ elements
			scale = min(scale, 3)
		}
		g := randomGraph(t, r, scale, a == "bp" && r.IntN(8) > 0)
		name := fmt.Sprintf("%d: %s, %d vertices, %d lanes, %+v, layout %s", seed, featured.Name(&w), g.Vertices(),
			lanes, w.Features, w.Layout)
		d, err := tryFunctional(cfg, &w)
		if err != nil {
			require.ErrorContains(t, err, "(core.scratchpad_bytes)", name)
			refused++
			continue
		}
		if err := featured.Check(&w, d.Shape()); err != nil {
			require.True(t, isRefusal(err), "%s: %v", name, err)
			require.False(t, w.Unroll == "auto" && strings.Contains(err.Error(), "workload.compiler.unroll"), err)
			refused++
			continue
		}
		res, err := featured.Run(context.Background(), d, g, &w)
		require.False(t, err != nil && w.Unroll == "auto" && strings.Contains(err.Error(), "workload.compiler.unroll"), err)
		if err != nil && (isRefusal(err) || a == "als" && strings.Contains(err.Error(), "or a system singular")) {
			refused++
			continue
		}
		require.NoError(t, err, name)
		require.True(t, res.Verified)
		handles(t, &res, g.Vertices(), w.Features.Changes, name)
		ran[string(w.Algorithm)]++
	}
	t.Log(ran, refused)
	for _, a := range feature.Algorithms() {
		require.Greater(t, ran[a.Name], 2, a.Name)
	}
}

// TestFeaturesOfVirtualVertices runs the algorithms whose edges have features on rows in parts: an edge's number, and
// so its features, must be csr's.
func TestFeaturesOfVirtualVertices(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 42))
	for _, a := range []string{"bp", "mmr", "mml"} {
		for _, l := range []workload.Layout{"virtual", "virtual-coalesced"} {
			for _, aware := range []bool{false, true} {
				w := testWorkload()
				w.Algorithm, w.Schedule, w.Layout, w.VirtualDegree = workload.Algorithm(a), "vertex", l, 3
				w.Features.Aware = aware
				cfg := emu.Config{Cores: 2, Warps: 4, Threads: 8, Quantum: 7, MaxInstrs: 1 << 28}
				d, err := tryFunctional(cfg, &w)
				require.NoError(t, err)
				res, err := featured.Run(context.Background(), d, randomGraph(t, r, 6, true), &w)
				require.NoError(t, err, "%s, %s, aware %v", a, l, aware)
				require.True(t, res.Verified)
			}
		}
	}
}

// TestBlocksDoNotWait: a layout whose threads wait for those of all cores is refused where thread blocks share an edge.
func TestBlocksDoNotWait(t *testing.T) {
	for _, way := range []workload.Choice{"push", "pull"} {
		w := testWorkload()
		w.Algorithm, w.Schedule, w.Layout, w.Direction = "lp", "edge", "edge-blocking", way
		w.Features.Changes, w.Features.Count, w.Features.Group = false, 8, "block"
		cfg := emu.Config{Cores: 2, Warps: 4, Threads: 4, MaxInstrs: 1 << 28}
		err := featured.Check(&w, functional(t, cfg, &w).Shape())
		require.ErrorContains(t, err, "workload.layout = edge-blocking")
		w.Features.Group = "warp"
		_, err = featured.Run(t.Context(), functional(t, cfg, &w), randomGraph(t, rand.New(rand.NewPCG(3, 3)), 5, true), &w)
		require.NoError(t, err)
	}
}

// handles checks that traversals tell how many vertices they handle: with changes, as many as the super-step before has
// left active, and all elsewhere.
func handles(t *testing.T, res *featured.Result, vertices int, changes bool, name string) {
	t.Helper()
	if res.Steps < 2 {
		return
	}
	each, lone := res.Traversals/res.Steps, res.Traversals%res.Steps // at most one is lone
	for i := range res.Launched {
		l := &res.Launched[i]
		if l.Traversal == nil || l.Step <= lone {
			continue
		}
		want, step := vertices, (l.Step-lone-1)/each
		if changes && step > 0 {
			want = res.Active[step-1]
		}
		require.EqualValues(t, want, l.Traversal.Frontier, "%s, super-step %d", name, step+1)
	}
}

// TestUnderflow: results below f32's normal range are verified, for the largest possible lambda, and for other
// algorithms with weights as small.
func TestUnderflow(t *testing.T) {
	ran := map[string]int{}
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(seed, 42))
		w := testWorkload()
		a := feature.Algorithms()[seed%uint64(len(feature.Algorithms()))].Name
		if seed%2 == 0 {
			a = "als"
		}
		w.Algorithm, w.Layout, w.Iterations = workload.Algorithm(a), workload.Auto, 1+r.IntN(12)
		w.Damping, w.Seed = pick(r, []float64{0, 0x1p-30, 0.5, 1}), r.Uint64()
		w.Features = workload.Features{
			Count: 1 + r.IntN(6), Aware: r.IntN(2) == 0, Changes: r.IntN(2) == 0,
			Lambda: math.Pow(10, -3+12*r.Float64()), Unsent: "lost",
			Solver: pick(r, []workload.Choice{"elimination", "inverse"}), Folding: "none", Group: "warp",
			Vertices: "all", Retracts: "merged", Sets: 1, Coupling: pick(r, []workload.Choice{"edge", "graph"}),
		}
		featuredtest.Fit(r, &w)
		g := randomGraph(t, r, 1+r.IntN(4), a == "bp")
		cfg := emu.Config{Cores: 1, Warps: 2, Threads: 4, MaxInstrs: 1 << 28}
		name := fmt.Sprintf("%d: %s, %d vertices, %d iterations, %+v", seed, featured.Name(&w), g.Vertices(),
			w.Iterations, w.Features)
		d := functional(t, cfg, &w)
		if featured.Check(&w, d.Shape()) != nil {
			continue
		}
		res, err := featured.Run(t.Context(), d, g, &w)
		if err != nil && (isRefusal(err) || strings.Contains(err.Error(), "or a system singular")) {
			continue
		}
		require.NoError(t, err, name)
		require.True(t, res.Verified, name)
		ran[a]++
	}
	t.Log(ran)
	require.Greater(t, ran["als"], 30)
}

// TestOneCouplingConverges on graphs of all kinds, to other beliefs than a matrix an edge.
func TestOneCouplingConverges(t *testing.T) {
	var star, clique strings.Builder
	for v := 1; v < 60; v++ {
		fmt.Fprintf(&star, "0 %d\n%d 0\n", v, v)
		for u := range v {
			if v < 24 {
				fmt.Fprintf(&clique, "%d %d\n%d %d\n", u, v, v, u)
			}
		}
	}
	tail := clique.String() + "23 24\n24 23\n24 25\n25 24\n25 26\n26 25\n"
	r := rand.New(rand.NewPCG(7, 7))
	graphs := map[string]*graph.Graph{"random": randomGraph(t, r, 7, true)}
	for name, text := range map[string]string{"star": star.String(), "clique with a tail": tail} {
		g, err := graph.Read(name, strings.NewReader(text), graph.ReadOptions{})
		require.NoError(t, err)
		graphs[name] = g
	}
	for name, g := range graphs {
		var values [2][]uint32
		for i, coupling := range []workload.Choice{"edge", "graph"} {
			w := testWorkload()
			w.Algorithm, w.Layout, w.Damping = "bp", workload.Auto, 0.85
			w.Features.Changes, w.Features.Coupling = true, coupling
			res, err := featured.Run(t.Context(), functional(t, emu.Config{Cores: 1, Warps: 2, Threads: 4, MaxInstrs: 1 << 28},
				&w), g, &w)
			require.NoError(t, err, name)
			require.True(t, res.Converged && res.Verified, name)
			values[i] = res.Values
			t.Log(name, coupling, res.Steps, res.Active)
		}
		require.NotEqual(t, values[0], values[1], name)
	}
}

// TestOverflow: weights near the maximum float32 lead to a verified, finite result, or to an error that names the
// number that was too large, but never to a wrong result.
func TestOverflow(t *testing.T) {
	refused, ran := map[string]int{}, 0
	for seed := range uint64(90) {
		r := rand.New(rand.NewPCG(seed, 43))
		w := testWorkload()
		a := []string{"lp", "aggregate", "als"}[seed%3]
		w.Algorithm, w.Layout, w.Iterations, w.Seed = workload.Algorithm(a), workload.Auto, 1+r.IntN(3), r.Uint64()
		w.Features.Changes, w.Features.Count = r.IntN(2) == 0, 1+r.IntN(4)
		w.Features.Solver = pick(r, []workload.Choice{"elimination", "inverse"})
		if a != "als" {
			w.Features.Solver = "elimination"
		}
		var text strings.Builder
		for range 4 + r.IntN(12) {
			fmt.Fprintf(&text, "%d %d %g\n", r.IntN(5), r.IntN(5), math.Pow(10, 37+1.53*r.Float64()))
		}
		g, err := graph.Read("large.txt", strings.NewReader(text.String()), graph.ReadOptions{})
		require.NoError(t, err)
		res, err := featured.Run(t.Context(),
			functional(t, emu.Config{Cores: 1, Warps: 2, Threads: 4, MaxInstrs: 1 << 28}, &w), g, &w)
		if err != nil {
			require.Regexp(t, `(sum|ratings|gram) of vertex \d+, word \d+, is .*a float32 holds up to 3.403e\+38|a number was too large for f32|more than a float32 holds`, err.Error(), "%d: %s\n%s", seed, a, &text)
			refused[a]++
			continue
		}
		ran++
		for _, x := range res.Values {
			require.False(t, math.IsInf(float64(math.Float32frombits(x)), 0))
		}
	}
	t.Log(refused, ran)
	require.Greater(t, min(refused["lp"], refused["aggregate"], refused["als"], ran), 5)
}

// TestSumOfLabelsOverflows: labels that each fit a float32, and whose sum does not, would come to nothing on the
// machine, and in a reference that computes as it does.
func TestSumOfLabelsOverflows(t *testing.T) {
	g, err := graph.Read("large.txt", strings.NewReader("0 1 3e38\n2 1 3e38\n"), graph.ReadOptions{})
	require.NoError(t, err)
	sums := 0
	for seed := range uint64(20) {
		w := testWorkload()
		w.Algorithm, w.Layout, w.Iterations, w.Seed = "lp", workload.Auto, 1, seed
		w.Features.Count = 3
		_, err := featured.Run(t.Context(), functional(t, emu.Config{Cores: 1, Warps: 1, Threads: 4}, &w), g, &w)
		require.ErrorContains(t, err, "float32 holds", "seed %d", seed)
		require.ErrorContains(t, err, "vertex 1", "seed %d", seed)
		if strings.Contains(err.Error(), "vertex 1: its 3 sums of labels add up to more than a float32 holds") {
			sums++
		}
	}
	require.Positive(t, sums)
}

// isRefusal reports whether an error says which choice does not go together with the others.
func isRefusal(err error) bool {
	var plan *compose.Refused
	var key *compose.KeyError
	return errors.As(err, &plan) || errors.As(err, &key)
}

// randomGraph may have vertices without edges, loops and duplicates.
func randomGraph(t *testing.T, r *rand.Rand, scale int, symmetric bool) *graph.Graph {
	t.Helper()
	l, err := graphspec.Schema.Load(schema.Input{Set: []string{
		fmt.Sprint("rmat.scale=", scale), fmt.Sprint("rmat.edge_factor=", 1+r.IntN(6)),
		fmt.Sprint("rmat.seed=", r.Uint64()),
		"weights.from=" + pick(r, []string{"random", "unit"}), fmt.Sprint("weights.max=", 1+r.IntN(64)), fmt.Sprint("clean.symmetrise=", symmetric || r.IntN(2) == 0),
	}})
	require.NoError(t, err)
	g, err := graph.Load(l.Value)
	require.NoError(t, err)
	return g
}

// TestChoicesAgree: the mapping of features to lanes does not change which vertices are active, and accumulated changes
// lead to the same labels as full recomputation, within epsilon.
func TestChoicesAgree(t *testing.T) {
	g, err := graph.Load(graphspec.Graph{
		RMAT:    &graphspec.RMAT{Scale: 7, EdgeFactor: 8, A: 0.57, B: 0.19, C: 0.19},
		Weights: graphspec.Weights{From: graphspec.RandomWeights, Min: 1, Max: 64},
		Clean:   graphspec.Clean{Symmetrise: true},
	})
	require.NoError(t, err)
	for _, a := range feature.Algorithms() {
		var all []featured.Result
		for _, aware := range []bool{false, true} {
			for _, fold := range feature.Foldings() {
				w := testWorkload()
				w.Algorithm, w.Schedule = workload.Algorithm(a.Name), "warp"
				w.Features.Aware, w.Features.Changes, w.Features.Folding = aware, false, workload.Choice(fold)
				res, err := featured.Run(context.Background(),
					functional(t, emu.Config{Cores: 2, Warps: 4, Threads: 8}, &w), g, &w)
				require.NoError(t, err, featured.Name(&w))
				require.True(t, res.Converged || a.Steps > 0)
				require.True(t, res.Steps > 3 || res.Steps == a.Steps)
				all = append(all, res)
			}
		}
		for _, res := range all[1:] {
			require.InDelta(t, all[0].Steps, res.Steps, 1, a.Name)
			first := min(2, len(res.Active))
			require.Equal(t, all[0].Active[:first], res.Active[:first], a.Name)
		}
	}
}
