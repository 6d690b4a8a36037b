package pagerank

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/internal/testenv"
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

// settings are the machine of that name with a device's Weaver.
func (d device) settings(machine string) (name string, set []string) {
	if d.weaver == nil {
		return machine, nil
	}
	return machine + "-weaver", []string{
		fmt.Sprintf("core.weaver.st_entries=%d", d.weaver.STEntries),
		fmt.Sprintf("core.weaver.mask_by_unit=%v", d.weaver.MaskByUnit),
	}
}

// TestTimed: with time, the ranks are the reference's too, and the same input gives
// the same cycles. Without a Weaver, whose order of answers depends on time, the same
// instructions are executed as without time.
func TestTimed(t *testing.T) {
	for _, machine := range []string{"vortex-1c4w4t", "vortex-6c32w32t"} {
		for i, d := range devices() {
			if d.weaver != nil && d.weaver.STEntries < 512 && machine != "vortex-1c4w4t" {
				continue // thousands of epochs
			}
			for _, name := range testenv.Some(t, i, 4, []string{"skewed", "single", "star", "empty", "karate", "sparse"}) {
				t.Run(machine+"/"+d.name+"/"+name, func(t *testing.T) {
					t.Parallel()
					g := graphs()[name]
					preset, set := d.settings(machine)
					dev := timed(t, preset, set...)
					s := dev.Shape()
					want, err := Run(context.Background(), d.functional(t, shape{s.Cores, s.Warps, s.Threads}), g,
						options(d.schedule))
					require.NoError(t, err)
					got, err := Run(context.Background(), dev, g, options(d.schedule))
					require.NoError(t, err)
					require.True(t, got.Verified)
					sum := got.Init.Cycles
					for i, step := range got.Steps {
						if d.weaver == nil {
							require.Equal(t, want.Steps[i].Gather.Stats, step.Gather.Stats)
						}
						require.Equal(t, want.Steps[i].Apply.Stats, step.Apply.Stats)
						require.Positive(t, step.Gather.Cycles)
						sum += step.Cycles()
					}
					require.Equal(t, sum, got.Times.Cycles)
					if name != "skewed" {
						return
					}
					again, err := Run(context.Background(), timed(t, preset, set...), g, options(d.schedule))
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
