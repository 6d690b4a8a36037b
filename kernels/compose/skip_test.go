package compose

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph"
	"heddle/kernels/workload"
)

// hubs has vertices with long rows, in which the sources come first that are active when the hubs are reached: the
// first vertex has edges to the active spokes, and each of these one to another spoke; every spoke has edges to all
// hubs.
func hubs(spokes, active, n int) *graph.Graph {
	var lines []string
	edge := func(a, b int) { lines = append(lines, fmt.Sprintf("%d %d 1", max(a, b), min(a, b))) }
	for s := 2; s <= 1+spokes; s++ {
		if s <= 1+active {
			edge(s, 1)
		} else {
			edge(s, s-active)
		}
		for h := range n {
			edge(s, 2+spokes+h)
		}
	}
	return read(1+spokes+n, lines...)
}

// TestSettled: under the Weaver sssp's destinations that nothing can improve are not registered, and once they are
// settled the rest of their edges is dropped, which finds something to drop at hubs. Every result is checked as ever.
func TestSettled(t *testing.T) {
	const spokes, n = 600, 3
	g := hubs(spokes, 200, n)
	issued, hits := map[string]uint64{}, map[string]uint64{}
	for _, set := range []string{"settled=false", "settled=true", "settled=true skip=filtered"} {
		w := choose(append(strings.Fields(set), "schedule=weaver", "direction=pull", "algorithm=sssp")...)
		w.Source, w.Target, w.Seed = 0, -1, 1
		p, err := NewPlan(w)
		require.NoError(t, err)
		d := timed(t, p)
		r, err := Run(t.Context(), d, g, w)
		require.NoError(t, err)
		require.True(t, r.Verified)
		for name, to := range map[string]map[string]uint64{"weaver.edges.issued": issued, "weaver.skip.hits": hits} {
			s, ok := d.Machine.Statistics().Get(name)
			require.True(t, ok)
			to[set], _ = s.Uint()
		}
	}
	require.Zero(t, hits["settled=true"])
	require.Less(t, issued["settled=true"], issued["settled=false"], "what is settled is not registered")
	require.GreaterOrEqual(t, hits["settled=true skip=filtered"], uint64(n))
	require.Less(t, issued["settled=true skip=filtered"], issued["settled=true"])
}

// TestSkip: when a hub is decided, the Weaver hands out no more of its edges, whenever the kernel says so; the earlier
// it does, the fewer have been handed out. The result is checked as ever.
func TestSkip(t *testing.T) {
	const spokes, n = 600, 3
	g := hubs(spokes, 200, n)
	issued := map[string]uint64{}
	for _, skip := range []string{"early", "filtered"} {
		for _, algorithm := range []string{"bfs", "bfs-parents"} {
			w := choose("schedule=weaver", "direction=pull", "algorithm="+algorithm, "skip="+skip)
			w.Source, w.Target, w.Seed = 0, -1, 1
			p, err := NewPlan(w)
			require.NoError(t, err)
			d := timed(t, p)
			r, err := Run(t.Context(), d, g, w)
			require.NoError(t, err)
			require.True(t, r.Verified)
			count := func(name string) uint64 {
				s, ok := d.Machine.Statistics().Get(name)
				require.True(t, ok, name)
				c, _ := s.Uint()
				return c
			}
			require.GreaterOrEqual(t, count("weaver.skip.hits"), uint64(n),
				"every hub is longer than what is under way")
			require.Equal(t, count("weaver.edges.registered"),
				count("weaver.edges.issued")+count("weaver.edges.dropped"))
			require.Greater(t, count("weaver.edges.dropped"), uint64(n*spokes/3),
				"of what is registered in the step that decides them")
			issued[fmt.Sprint(algorithm, " ", skip)] = count("weaver.edges.issued")
		}
	}
	for _, algorithm := range []workload.Algorithm{"bfs", "bfs-parents"} {
		require.Less(t, issued[string(algorithm)+" early"], issued[string(algorithm)+" filtered"])
	}
}
