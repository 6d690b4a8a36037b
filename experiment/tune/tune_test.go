package tune_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/experiment/config"
	"heddle/experiment/tune"
	"heddle/internal/testenv"
)

// spaces are those that tests share: a search does not change its space, and finding the legal candidates takes a
// second.
var spaces = map[string]*tune.Space{}

// space is that of an algorithm on a small machine, with less of it if that is said.
func space(t *testing.T, algorithm string, only ...string) *tune.Space {
	t.Helper()
	key := strings.Join(append([]string{algorithm}, only...), " ")
	if s := spaces[key]; s != nil {
		return s
	}
	e, err := config.Parse("test", []byte("name: t\nmachine: vortex-1c4w4t\ngraph: {erdos_renyi: {vertices: 9, edges: "+
		"9}}\nworkload: {algorithm: "+algorithm+"}\n"))
	require.NoError(t, err)
	axes := tune.Axes(&e.Machine, tune.Software)
	for _, o := range only {
		require.NoError(t, tune.Restrict(axes, o))
	}
	s, err := tune.NewSpace(e.Workload, &e.Machine, axes)
	require.NoError(t, err)
	require.Equal(t, "bfs/vertex/csr/push/queue+none",
		map[bool]string{true: s.Name(s.Find(e.Workload)), false: "bfs/vertex/csr/push/queue+none"}[algorithm == "bfs"])
	spaces[key] = s
	return s
}

// made are cycles that follow from a seed: each choice is worth something by itself, and a little beside others.
func made(s *tune.Space, seed uint64) []uint64 {
	r := rand.New(rand.NewPCG(seed, 7))
	worth := make([][]float64, len(s.Axes))
	for a := range worth {
		for range s.Axes[a].Values {
			worth[a] = append(worth[a], 1+2*r.Float64())
		}
	}
	cycles := make([]uint64, len(s.Candidates))
	for i, c := range s.Candidates {
		x := 1000.0 * (1 + 0.02*r.Float64())
		for a, v := range c {
			x *= worth[a][v]
		}
		cycles[i] = uint64(x)
	}
	return cycles
}

// evaluator answers with made cycles, as simulations would.
type evaluator struct {
	cycles []uint64
	asked  []int
	spent  uint64
}

func (e *evaluator) evaluate(_ context.Context, list []int, most uint64) (out []tune.Trial, err error) {
	for _, i := range list {
		e.asked = append(e.asked, i)
		t := tune.Trial{Candidate: i, Cycles: e.cycles[i]}
		if most > 0 && t.Cycles > most {
			t.Cycles, t.Abandoned = most, true
		}
		e.spent += t.Cycles
		out = append(out, t)
	}
	return out, nil
}

// TestSearch: a search finds the best candidate where choices have gains of their own, simulates none twice, begins
// with the requested one, and its counts are right.
func TestSearch(t *testing.T) {
	missed, looked, candidates := 0, 0, 0
	seeds := testenv.Cases(t, 3, 20)
	algorithms := testenv.Some(t, 0, 4, []string{"bfs", "pagerank", "sssp", "k-core"}) // a space of each takes seconds
	spaces := len(algorithms) * int(seeds)
	for _, algorithm := range algorithms {
		s := space(t, algorithm)
		for seed := range seeds {
			e := &evaluator{cycles: made(s, seed)}
			search := &tune.Search{Space: s, Evaluate: e.evaluate, First: 3}
			trials, err := search.Run(context.Background())
			require.NoError(t, err)
			require.Equal(t, 3, e.asked[0])
			once := slices.Clone(e.asked)
			slices.Sort(once)
			require.Equal(t, slices.Compact(slices.Clone(once)), once, "nothing twice")
			require.Len(t, trials, len(e.asked))
			least := slices.Min(e.cycles)
			if float64(e.cycles[search.Best()]) > 1.02*float64(least) {
				missed++
				t.Logf("%s, seed %d: %.2f times the best", algorithm, seed,
					float64(e.cycles[search.Best()])/float64(least))
			}
			looked, candidates = looked+len(e.asked), candidates+len(s.Candidates)
			o, found := search.Outcome()
			require.True(t, found)
			require.Equal(t, e.spent, o.Cycles)
			require.Equal(t, len(e.asked), o.Simulated)
			require.Equal(t, e.cycles[search.Best()], o.Best.Cycles)
			require.InDelta(t, float64(e.cycles[3])/float64(o.Best.Cycles), o.Best.Speedup, 1e-9)
			for _, w := range o.Worth {
				if w.Best {
					require.Equal(t, o.Best.Cycles, w.Cycles, "the fastest with the best's value is the best")
				}
			}
		}
	}
	t.Logf("%d of %d missed, %d of %d candidates looked at", missed, spaces, looked, candidates)
	require.LessOrEqual(t, missed, spaces*14/80,
		"of spaces in which choices are worth something by themselves, but not all go together")
}

// TestQuick: a quick search simulates at most a third of a whole one's candidates, comes within a fifth of the best in
// the mean, and tries its hints.
func TestQuick(t *testing.T) {
	worst, quick, whole := 0.0, 0, 0
	for _, algorithm := range []string{"bfs", "pagerank"} {
		s := space(t, algorithm)
		sum := 0.0
		seeds := testenv.Cases(t, 3, 20)
		for seed := range seeds {
			cycles := made(s, seed)
			looked := func(search tune.Search) (int, uint64) {
				e := &evaluator{cycles: cycles}
				search.Space, search.Evaluate = s, e.evaluate
				_, err := search.Run(context.Background())
				require.NoError(t, err)
				require.False(t, search.Spent())
				for _, h := range search.Hints {
					require.Contains(t, e.asked, h)
				}
				return len(e.asked), cycles[search.Best()]
			}
			n, found := looked(tune.Search{Quick: true})
			m, _ := looked(tune.Search{})
			quick, whole = quick+n, whole+m
			least := slices.Min(cycles)
			sum += math.Log(float64(found) / float64(least))
			best := slices.Index(cycles, least)
			n, found = looked(tune.Search{Quick: true, Hints: s.Named([]string{"none", s.Name(best)})})
			require.Equal(t, least, found, "it is told the best")
			require.Less(t, n, 200)
		}
		mean := math.Exp(sum / float64(seeds))
		worst = max(worst, mean)
		t.Logf("%s: %.3f times the best, geometric mean", algorithm, mean)
	}
	t.Logf("%d candidates instead of %d", quick, whole)
	require.Less(t, 3*quick, whole)
	require.Less(t, worst, 1.2)
}

// TestEarlyLayouts: a quick search tries layouts that split rows with schedules that are slow without them.
func TestEarlyLayouts(t *testing.T) {
	s := space(t, "bfs")
	e := &evaluator{cycles: made(s, 3)}
	best := -1
	for i := range e.cycles {
		if !strings.HasPrefix(s.Name(i), "bfs/vertex/") {
			continue
		}
		e.cycles[i] *= 1000
		if strings.HasPrefix(s.Name(i), "bfs/vertex/virtual/push/") {
			e.cycles[i] = 100
			best = i
		}
	}
	search := tune.Search{Space: s, Evaluate: e.evaluate, Quick: true}
	_, err := search.Run(context.Background())
	require.NoError(t, err)
	require.Equal(t, e.cycles[best], e.cycles[search.Best()])
}

// TestAll: every candidate, none abandoned.
func TestAll(t *testing.T) {
	s := space(t, "bfs", "schedule=vertex,warp", "warps_per_core=0,3")
	for _, c := range s.Candidates {
		require.Len(t, c, len(s.Axes))
	}
	e := &evaluator{cycles: made(s, 1)}
	search := &tune.Search{Space: s, Evaluate: e.evaluate}
	_, err := search.All(context.Background())
	require.NoError(t, err)
	require.Len(t, e.asked, len(s.Candidates))
	require.Equal(t, slices.Min(e.cycles), e.cycles[search.Best()])
	o, _ := search.Outcome()
	require.Zero(t, o.Abandoned)
	require.Equal(t, slices.Max(e.cycles), o.Worst.Cycles)
	require.Len(t, o.Schedules, 2, "each schedule with its best choices")
}

// TestWhole: with Whole a schedule that is slower than the best is simulated to its end, unless it takes four times as
// long.
func TestWhole(t *testing.T) {
	s := space(t, "bfs", "schedule=vertex,warp,cta", "direction=push", "active_set=queue", "warps_per_core=0",
		"cta_threads=0", "scan=shuffle")
	cycles := make([]uint64, len(s.Candidates))
	for i, c := range s.Candidates {
		cycles[i] = []uint64{1000, 3000, 5000}[c[0]]
	}
	e := &evaluator{cycles: cycles}
	search := &tune.Search{Space: s, Evaluate: e.evaluate, Whole: true}
	_, err := search.Run(context.Background())
	require.NoError(t, err)
	o, _ := search.Outcome()
	require.Equal(t, []uint64{1000, 3000, 4000},
		[]uint64{o.Schedules[0].Cycles, o.Schedules[1].Cycles, o.Schedules[2].Cycles})
	require.Equal(t, []bool{false, false, true},
		[]bool{o.Schedules[0].AtLeast, o.Schedules[1].AtLeast, o.Schedules[2].AtLeast})
}

// TestBudget: a budget ends a search, with a note.
func TestBudget(t *testing.T) {
	s := space(t, "bfs")
	e := &evaluator{cycles: made(s, 2)}
	search := &tune.Search{Space: s, Evaluate: e.evaluate, Budget: tune.Budget{Points: 7}}
	_, err := search.Run(context.Background())
	require.NoError(t, err)
	require.Len(t, e.asked, 7)
	require.True(t, search.Spent())
	none := &tune.Search{Space: s, Evaluate: e.evaluate, Budget: tune.Budget{Spent: func() bool { return true }}}
	trials, err := none.Run(t.Context())
	require.NoError(t, err)
	require.Len(t, trials, 1, "the baseline is simulated whatever the budget")
	require.True(t, none.Spent())
	timed := &tune.Search{Space: s, Evaluate: e.evaluate,
		Budget: tune.Budget{Spent: func() bool { return len(e.asked) > 15 }}}
	_, err = timed.Run(context.Background())
	require.NoError(t, err)
	require.True(t, timed.Spent())
}

// tried counts the candidates that have a value.
func tried(t *testing.T, s *tune.Space, key, value string) (n int) {
	axis := slices.IndexFunc(s.Axes, func(a tune.Axis) bool { return a.Key == key })
	require.GreaterOrEqual(t, axis, 0, key)
	at := slices.Index(s.Axes[axis].Values, value)
	require.GreaterOrEqual(t, at, 0, value)
	for _, c := range s.Candidates {
		if c[axis] == at {
			n++
		}
	}
	return n
}

// TestSpace: candidates are legal, have different kernels, and are those of the restricted axes.
func TestSpace(t *testing.T) {
	all := space(t, "sssp", "workload.schedule=vertex,edge")
	seen := map[string]bool{}
	for i := range all.Candidates {
		require.False(t, seen[all.Name(i)])
		seen[all.Name(i)] = true
		require.Len(t, all.Settings(i), len(all.Axes))
	}
	require.Positive(t, tried(t, all, "workload.order", "buckets"))
	require.Positive(t, tried(t, all, "workload.order.buckets", "2"))
	require.Positive(t, tried(t, all, "workload.order.buckets", "32"))
	require.Positive(t, tried(t, all, "workload.frontier", "qnb-bitmap"))
	require.Positive(t, tried(t, space(t, "bfs"), "workload.frontier", "rqnb-bytemap"))
	require.Zero(t, tried(t, space(t, "bfs"), "workload.order.buckets", "2"), "bfs has no order")
	some := space(t, "sssp", "workload.schedule=edge", "direction=push")
	require.Less(t, len(some.Candidates), len(all.Candidates))
	for i := range some.Candidates {
		require.Equal(t, "edge", some.Settings(i)[0].Value)
	}
	axes := tune.Axes(&configs.Machine{}, tune.Software)
	for _, wrong := range []string{"schedule", "width=3", "schedule=weaver", "warps_per_core=x", "direction=1"} {
		require.ErrorContains(t, tune.Restrict(axes, wrong), "--only "+wrong)
	}
}
