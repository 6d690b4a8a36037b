package compose

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/graph"
	"heddle/graph/graphspec"
	"heddle/kernels/host"
	"heddle/sim"
)

// TestCoresShareFewVertices: with fewer vertices than the machine has lanes, all cores have as many
// edges to handle. Handed out core by core, 3,600 vertices would be those of four cores of six.
func TestCoresShareFewVertices(t *testing.T) {
	g, err := graph.Load(graphspec.Graph{Grid: &graphspec.Grid{Width: 60, Height: 60, Seed: 1}})
	require.NoError(t, err)
	for schedule, machine := range map[string]string{
		"vertex": "vortex-6c32w32t", "warp": "vortex-6c32w32t", "cta": "vortex-6c32w32t", "strict": "vortex-6c32w32t",
		"weaver": "vortex-6c32w32t-weaver", "eghw": "vortex-6c32w32t-eghw",
	} {
		t.Run(schedule, func(t *testing.T) {
			t.Parallel()
			l, err := configs.LoadMachine(machine, nil, nil)
			require.NoError(t, err)
			d, err := host.NewTimed(l.Value, sim.Options{MaxCycles: 5_000_000})
			require.NoError(t, err)
			w := choose("algorithm=pagerank", "schedule="+schedule)
			w.Iterations = 1
			_, err = Run(context.Background(), d, g, w)
			require.NoError(t, err)
			lanes := d.LaneEdges(nil)
			edges, most, perCore := uint64(0), uint64(0), len(lanes)/6
			for core := range 6 {
				n := uint64(0)
				for _, e := range lanes[core*perCore : (core+1)*perCore] {
					n += e
				}
				edges, most = edges+n, max(most, n)
			}
			require.EqualValues(t, g.Edges(), edges)
			require.Less(t, float64(most)*6/float64(edges), 1.15)
		})
	}
}
