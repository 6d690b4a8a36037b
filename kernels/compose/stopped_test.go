package compose

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph"
	"heddle/internal/testenv"
	"heddle/kernels/algorithm"
	"heddle/kernels/reference"
	"heddle/kernels/workload"
	"heddle/sim"
)

// stoppable are the plans whose runs max_iterations may stop before their end.
func stoppable(plans []*Plan) (list []*Plan) {
	for _, p := range plans {
		if p.Algorithm.Stopped != nil {
			list = append(list, p)
		}
	}
	return list
}

// stoppedWorkload draws the workload of a plan, and where it stops.
func stoppedWorkload(r *rand.Rand, p *Plan, g *graph.Graph) workload.Workload {
	w := workloadOf(p)
	w.Source, w.Target = r.IntN(g.Vertices()), r.IntN(g.Vertices())
	w.Iterations, w.Delta, w.Seed = 1+r.IntN(1+r.IntN(9)), 1+r.IntN(8), r.Uint64()
	return w
}

// TestStopped: runs that stop after any number of super-steps have the reference's result at that point, interpreted,
// compiled, timed and functional, fused or not; and changes to their results are found.
func TestStopped(t *testing.T) {
	plans := stoppable(share(t, legal, covering, 0))
	plans = append(plans, stoppable(share(t, fusable, coveringFused, 0))...)
	var ran, early atomic.Int64
	var tampered tampering
	t.Run("", func(t *testing.T) {
		for i, p := range plans {
			t.Run(p.Name(), func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(uint64(i), 38))
				for range testenv.Cases(t, 2, 4) {
					g := degenerate(t, r, p)
					w := stoppedWorkload(r, p, g)
					if p.Algorithm.Target && w.Source == w.Target {
						continue
					}
					ran.Add(1)
					if stopped := stoppedRun(t, r, p, g, w); stopped.Left > 0 {
						early.Add(1)
						if r.IntN(3) == 0 {
							tampered.with(t, r, stopped)
						}
					}
				}
			})
		}
	})
	require.Greater(t, early.Load(), ran.Load()/4, "most runs must not be over before they are stopped")
	t.Logf("%d of %d runs have been stopped; of %d changes to their results %d were found", early.Load(), ran.Load(),
		tampered.made.Load(), tampered.found.Load())
	require.Greater(t, tampered.found.Load(), tampered.made.Load()*9/10)
}

// stoppedRun runs it on the interpreter, or if it is fused on the emulator, and once in a while in time.
func stoppedRun(t *testing.T, r *rand.Rand, p *Plan, g *graph.Graph, w workload.Workload) *run {
	what := fmt.Sprintf("%d vertices, %d edges, from %d to %d, at most %d super-steps, delta %d", g.Vertices(),
		g.Edges(), w.Source, w.Target, w.Iterations, w.Delta)
	q, err := NewPlan(w)
	require.NoError(t, err)
	q.Weights = g.WeightKind()
	if r.IntN(8) == 0 && p.Runs(timed(t, p).Shape()) == nil {
		res, err := Run(context.Background(), timed(t, p), g, w)
		require.NoError(t, err, what)
		require.True(t, res.Verified && len(res.Steps) <= w.Iterations, what)
	}
	var stopped *run
	if p.Fused {
		d := functional(t, p)
		c, err := Compile(q, d.Shape())
		require.NoError(t, err)
		stopped, err = c.newRun(d, g, w)
		require.NoError(t, err)
	} else {
		m := newInterpreter(t, p.Schedule.UnitName(), 2, 3, 4)
		ks, err := q.Build(coreOf(m.shape))
		require.NoError(t, err)
		stopped, err = newRun(m, q, ks, g, w)
		require.NoError(t, err)
	}
	res, err := stopped.runAndVerify(context.Background())
	require.NoError(t, err, what)
	require.True(t, res.Verified && len(res.Steps) <= w.Iterations, what)
	require.False(t, res.Left > 0 && len(res.Steps) < w.Iterations, what)
	return stopped
}

// tampering counts changes to results, and those that are found.
type tampering struct{ made, found atomic.Int64 }

// with changes the values of vertices one by one. Where all runs are alike, every change must be found but to another
// right tree, and to the other side of a vertex that is as near to both ends; of relaxations, a value that is less than
// all paths bring must be.
func (c *tampering) with(t *testing.T, r *rand.Rand, stopped *run) {
	a := stopped.Plan.Algorithm
	verify := func(values []uint32) error {
		return a.Verify(&stopped.problem, &algorithm.Outcome{Result: values, Steps: len(stopped.Steps),
			Undone: stopped.undone()})
	}
	require.NoError(t, verify(stopped.Values))
	for v, value := range stopped.Values {
		for _, other := range []uint32{value + 1, value - 1, r.Uint32N(12), reference.Unreached, value / 2} {
			if other == value {
				continue
			}
			values := slices.Clone(stopped.Values)
			values[v] = other
			err := verify(values)
			c.made.Add(1)
			if err != nil {
				require.ErrorIs(t, err, reference.ErrWrong)
				c.found.Add(1)
				continue
			}
			switch a.Name {
			case "bfs-parents", "stcon", "sssp", "cc":
			default:
				t.Fatalf("vertex %d of %s had %d after %d super-steps, and passes with %d", v, a.Name, int32(value),
					len(stopped.Steps), int32(other))
			}
		}
	}
}

// TestStoppedAlike: what an algorithm declares as the same at a super-step is the same under all schedules and
// directions; what it does not may be another.
func TestStoppedAlike(t *testing.T) {
	g := tiny()["skewed"]
	for _, a := range algorithm.Algorithms() {
		// any of several trees and sides is right
		if a.Stopped == nil || !a.Stopped.Alike || a.Name == "bfs-parents" || a.Name == "stcon" {
			continue
		}
		for k := 1; k < 6; k++ {
			var first []uint32
			for _, schedule := range []string{"vertex", "edge", "strict", "cta"} {
				w := choose("algorithm="+a.Name, "schedule="+schedule)
				w.Source, w.Target, w.Iterations = 3, 5, k
				res, err := runFunctional(t, g, w)
				require.NoError(t, err)
				if first == nil {
					first = res.Values
				}
				require.Equal(t, first, res.Values, "%s under %s after %d super-steps", a.Name, schedule, k)
			}
		}
	}
}

// TestNotStopped: an algorithm of which nothing can be said before its end refuses max_iterations by its key, before
// anything runs.
func TestNotStopped(t *testing.T) {
	refused := 0
	for _, a := range algorithm.Algorithms() {
		w := choose("algorithm=" + a.Name)
		w.Iterations, w.Damping = 3, 0.85
		_, err := NewPlan(w)
		if a.Stops() {
			require.NoError(t, err)
			continue
		}
		refused++
		var key *KeyError
		require.ErrorAs(t, err, &key)
		require.Equal(t, "workload.max_iterations", key.Key)
		require.ErrorContains(t, err, "give region.to: 3 and region.verify: false")
	}
	require.Equal(t, 2, refused, "bc and cc-soman")
}

// TestStoppedInTime: with time, where the super-steps of a fused run are parts of one launch, too.
func TestStoppedInTime(t *testing.T) {
	g := tiny()["chain"]
	for _, fuse := range []bool{false, true} {
		for _, name := range []string{"bfs", "sssp", "cc", "k-core"} {
			w := choose("algorithm="+name, "schedule=vertex")
			w.Source, w.Iterations, w.Fusion = 0, 2, "none"
			if fuse {
				w.Fusion = LoopFusion
			}
			p, err := NewPlan(w)
			require.NoError(t, err)
			res, err := Run(context.Background(), timedOf(t, p, "2/4/4", sim.Options{}), g, w)
			require.NoError(t, err)
			require.True(t, res.Verified)
			require.Len(t, res.Steps, 2)
			require.Positive(t, res.Left, name)
		}
	}
}
