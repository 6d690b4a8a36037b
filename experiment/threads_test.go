package experiment_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
	"heddle/internal/testenv"
	"heddle/kernels/schedule"
	"heddle/sim"
)

// TestThreadsChangeNothing: under every schedule, and so with every graph unit, a point comes to the same on however
// many processors it is simulated: cycles, all statistics, and every super-step's. Without testenv.LongVariable a
// schedule has one number of processors besides 1.
func TestThreadsChangeNothing(t *testing.T) {
	all := schedule.All()
	for n, s := range testenv.Some(t, 0, len(all), all) {
		t.Run(s.Name, func(t *testing.T) {
			machine := "vortex-6c32w32t"
			if s.Unit != nil {
				machine = machineWith(t, s.UnitName())
			}
			set := []string{
				"machine=" + machine, "workload.schedule=" + s.Name, "machine.sockets=5", "machine.core.warps=4", "machine.core.threads=8",
				"machine.l2={}", "machine.concentrator={}", "graph.erdos_renyi.vertices=100", "graph.erdos_renyi.edges=500",
			}
			text := small + "compare: {workload.algorithm: [bfs, pagerank]}\nworkload: {source: 3}\n"
			p := points(t, text, set...)
			// the super-steps around it are executed functionally
			p = append(p, points(t, text+"region: {from: 2, to: 2}\n", set...)[0])
			want := onThreads(t, p, 1)
			for _, threads := range testenv.Some(t, n, 1, []int{2, 3, 8}) {
				for i, o := range onThreads(t, p, threads) {
					require.Equal(t, want[i].Cycles, o.Cycles, "%d threads", threads)
					require.Equal(t, want[i].Stats, o.Stats, "%d threads", threads)
					require.Equal(t, want[i].Steps, o.Steps, "%d threads", threads)
				}
			}
		})
	}
}

// insist has threads tick together where that does not pay, too.
func insist(m *sim.Machine) error {
	m.System.Insist()
	return nil
}

func onThreads(t *testing.T, p []experiment.Point, threads int) []experiment.Outcome {
	r := &experiment.Runner{Points: p, Jobs: 1, Threads: threads, Observer: experiment.Quiet{}, Watch: insist}
	outcomes := r.Run(context.Background())
	for _, o := range outcomes {
		require.NoError(t, o.Err)
		require.True(t, o.Verified)
	}
	return outcomes
}

// TestThreadsAreNoPartOfAPoint: a store that was begun with some number of threads goes on with another.
func TestThreadsAreNoPartOfAPoint(t *testing.T) {
	a, b := points(t, small), points(t, small+"run: {threads: 7}\n")
	require.Equal(t, a[0].YAML(), b[0].YAML())
}
