package experiment

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment/config"
	"heddle/kernels/workload"
	"heddle/sim/stats"
)

// TestWarnings: a search that is over at once is named, and so is a speedup over other work, unless only the schedule
// is another.
func TestWarnings(t *testing.T) {
	graphs := map[string]GraphSummary{"a": {Source: "a.el", Vertices: 5000, Edges: 10000},
		"b": {Source: "b.el", Vertices: 5000, Edges: 9000}}
	point := func(baseline, source int) Point {
		return Point{Baseline: baseline, Config: config.Experiment{Workload: workload.Workload{Algorithm: "bfs",
			Source: source}}}
	}
	outcome := func(graph string, source, vertices, edges uint64) Outcome {
		return Outcome{Graph: graph, Verified: true, Stats: stats.Pack(stats.Tree{
			stats.Count("source", "", "", source), stats.Count("frontier.vertices", "", "", vertices),
			stats.Count("frontier.edges", "", "", edges),
		})}
	}
	of := func(a, b Point, x, y Outcome) []string { return Warnings([]Point{a, b}, []Outcome{x, y}, graphs) }
	whole := outcome("a", 7, 5000, 9999)

	require.Empty(t, of(point(-1, 7), point(0, 7), whole, whole))
	require.Empty(t, of(point(-1, 7), point(0, 7), whole, outcome("a", 7, 9000, 15000)), "the schedule's own")
	require.Empty(t, of(point(-1, 7), point(0, 7), whole, outcome("a", 7, 60, 100)), "one in a hundred")

	slightly := of(point(-1, -1), point(-1, 3), outcome("a", 7, 4, 3), outcome("a", 3, 60, 99))
	require.Len(t, slightly, 2)
	require.Contains(t, slightly[0], "the search from vertex 7, which was drawn, of a.el reaches 4 of 5,000 vertices "+
		"and 3 of 10,000 edges")
	require.Contains(t, slightly[0], "another workload.algorithm.seed")
	require.Contains(t, slightly[1], "the search from vertex 3 of a.el reaches 60 of 5,000 vertices and 99 of 10,000 "+
		"edges")
	require.Contains(t, slightly[1], "give another workload.algorithm.source that")

	require.Contains(t, of(point(-1, 7), point(0, 3), whole, outcome("a", 3, 4000, 8000))[0],
		"handles 8,000 edges and its baseline 9,999, "+
			"so that its speedup compares different work: they begin at vertices 3 and 7")
	require.Contains(t, of(point(-1, 7), point(0, 7), whole, outcome("b", 7, 4000, 8000))[0],
		"their graphs have 9,000 and 10,000 edges")
	program := point(-1, -1)
	program.Config.Workload.Program, program.Config.Workload.Arguments = "bfs.gt", []string{"7"}
	require.Contains(t, of(program, point(0, 7), outcome("a", 0, 5000, 9999), outcome("a", 7, 4000, 8000))[0],
		"compares different work: they run bfs and bfs.gt", "and a program has no workload.algorithm.source")
	stopped := point(0, 7)
	stopped.Config.Workload.Iterations = 3
	require.Contains(t, of(point(-1, 7), stopped, whole, outcome("a", 7, 4000, 8000))[0],
		"workload.max_iterations is 3 and 0")

	early := func(o Outcome) Outcome {
		o.Partial = "max_iterations=3"
		return o
	}
	few, more := early(outcome("a", 7, 4000, 8000)), early(outcome("a", 7, 5, 6))
	require.Empty(t, of(point(-1, 7), point(0, 7), few, more),
		"levels are the same under all schedules, and few edges are as asked for")
	relaxing := func(baseline int) Point {
		p := point(baseline, 7)
		p.Config.Workload.Algorithm = "sssp"
		return p
	}
	require.Contains(t, of(relaxing(-1), relaxing(0), few, more)[0],
		"handles other edges than its baseline, so that its speedup compares "+
			"different work: both are stopped by workload.max_iterations=3, and sssp progresses faster")
	require.Empty(t, of(relaxing(-1), relaxing(0), few, few))
	require.Empty(t, of(relaxing(-1), relaxing(0), whole, few), "a run and a part of one have no speedup")

	part, failed := outcome("a", 7, 1, 1), outcome("a", 7, 1, 1)
	part.Partial, failed.Verified = PartialEdges, false
	require.Empty(t, of(point(-1, 7), point(0, 7), part, failed), "parts of runs, and failures, are said elsewhere")
	require.Empty(t, of(point(-1, 7), point(0, 7), outcome("none", 7, 1, 1), Outcome{Graph: "a", Verified: true}))
}
