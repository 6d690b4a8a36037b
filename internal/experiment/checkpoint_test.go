package experiment_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/internal/experiment"
	"heddle/sim"
	"heddle/units"
)

// killer is a monitor that ends a point at the beginning of a super-step.
type killer struct {
	at   int
	kill context.CancelFunc
}

func (k *killer) Begin(context.Context, int, uint64, *sim.Machine) experiment.Monitored { return k }

func (k *killer) Step(n int) {
	if n == k.at {
		k.kill()
	}
}

func (k *killer) End(error) {}

// killed runs points with checkpoints at every super-step, and ends them at the beginning of one.
func killed(t *testing.T, p []experiment.Point, c experiment.Checkpoints, at, threads int) experiment.Outcome {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r := &experiment.Runner{Points: p, Jobs: 1, Threads: threads, Checkpoints: c, Observer: experiment.Quiet{}, Watch: insist}
	if at > 0 {
		r.Monitor = &killer{at, cancel}
	}
	return r.Run(ctx)[0]
}

// TestAKilledPointGoesOn: under every schedule, and so with every graph unit, a point that was ended at a super-step and goes
// on from its checkpoint comes to the same as one that was not: cycles, all statistics, every super-step's.
func TestAKilledPointGoesOn(t *testing.T) {
	for _, s := range units.Schedules() {
		t.Run(s.Name, func(t *testing.T) {
			machine := "vortex-6c32w32t"
			if s.Unit != "" {
				machine = configs.MachinesWith(units.ByName(s.Unit))[0]
			}
			set := []string{
				"machine=" + machine, "workload.schedule=" + s.Name, "machine.sockets=2", "machine.core.warps=4", "machine.core.threads=8",
				"machine.l2={}", "machine.concentrator={}", "graph.erdos_renyi.vertices=200", "graph.erdos_renyi.edges=800",
			}
			for _, w := range []string{
				"algorithm: bfs", "algorithm: sssp", "algorithm: cc", "algorithm: k-core", "algorithm: bc, direction: push",
				"algorithm: pagerank, max_iterations: 3", "algorithm: bfs, active_set: bytemap", "algorithm: sssp, order: near-far",
			} {
				if s.Name == "edge" && strings.HasSuffix(w, "near-far") {
					continue // edges are walked as they lie, and not by the piles' vertices
				}
				t.Run(w, func(t *testing.T) { goesOn(t, points(t, small+"workload: {source: 3, "+w+"}\n", set...)) })
			}
		})
	}
}

// goesOn ends a point at its second, third... super-step, and has it go on.
func goesOn(t *testing.T, p []experiment.Point) {
	want := killed(t, p, experiment.Checkpoints{}, 0, 1)
	if want.Err != nil {
		t.Skip(want.Err)
	}
	steps := want.Steps[len(want.Steps)-1].Step
	for at := 2; at <= steps; at += 1 + at/2 {
		var said []string
		c := experiment.Checkpoints{Dir: filepath.Join(t.TempDir(), "c"), Every: 1, Binary: func() string { return "this" }, Say: func(_ int, s string) { said = append(said, s) }}
		o := killed(t, p, c, at, 1)
		require.ErrorIs(t, o.Err, context.Canceled)
		require.Empty(t, said)
		c.Every = time.Hour
		o = killed(t, p, c, 0, 1)
		require.NoError(t, o.Err)
		// k-core and near-far begin a super-step behind the one before, where they look for its vertices.
		require.Regexp(t, fmt.Sprintf("^goes on from super-step (%d|%d), 0s in$", at-1, at), strings.Join(said, ""))
		require.Equal(t, want.Cycles, o.Cycles)
		require.Equal(t, want.Stats, o.Stats)
		require.Equal(t, want.Steps, o.Steps)
		require.True(t, o.Verified)
	}
}
