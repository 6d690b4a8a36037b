package pagerank

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/kernels/host"
	"heddle/sim"
)

func timed(t testing.TB, name string, set ...string) *host.Timed {
	t.Helper()
	l, err := configs.LoadMachine(name, nil, set)
	require.NoError(t, err)
	d, err := host.NewTimed(l.Value, sim.Options{MaxCycles: 20_000_000})
	require.NoError(t, err)
	return d
}

// TestTimed: with time, the same instructions are executed as without, and the ranks
// are the reference's.
func TestTimed(t *testing.T) {
	for _, machine := range []string{"vortex-1c4w4t", "vortex-6c32w32t"} {
		for _, d := range devices()[:2] {
			for _, name := range []string{"none", "single", "star", "empty", "skewed", "sparse"} {
				t.Run(machine+"/"+d.name+"/"+name, func(t *testing.T) {
					t.Parallel()
					g, dev := graphs()[name], timed(t, machine)
					s := dev.Shape()
					want, err := Run(context.Background(), d.untimed(t, shape{s.Cores, s.Warps, s.Threads}), g, options(d.schedule))
					require.NoError(t, err)
					got, err := Run(context.Background(), dev, g, options(d.schedule))
					require.NoError(t, err)
					require.True(t, got.Verified)
					sum := got.Init.Cycles
					for i, step := range got.Steps {
						require.Equal(t, want.Steps[i].Gather.Stats, step.Gather.Stats)
						require.Equal(t, want.Steps[i].Apply.Stats, step.Apply.Stats)
						require.Positive(t, step.Gather.Cycles)
						sum += step.Cycles()
					}
					require.Equal(t, sum, got.Times.Cycles)
					again, err := Run(context.Background(), timed(t, machine), g, options(d.schedule))
					require.NoError(t, err)
					require.Equal(t, got, again, "same input, same cycles")
				})
			}
		}
	}
}

// TestLaunchOverhead: it is added, and changes nothing else.
func TestLaunchOverhead(t *testing.T) {
	g, o := star(70), options(Vertex)
	var runs []Result
	for _, o.LaunchOverhead = range []uint64{0, 2000} {
		r, err := Run(context.Background(), timed(t, "vortex-1c4w4t"), g, o)
		require.NoError(t, err)
		runs = append(runs, r)
	}
	require.Equal(t, runs[0].Times.Total()+runs[1].Times.Launches*2000, runs[1].Times.Total())
	require.Equal(t, runs[0].Steps, runs[1].Steps)
}
