package compose

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph"
	"heddle/kernels/algorithm"
	"heddle/kernels/host"
	"heddle/kernels/layout"
	"heddle/kernels/schedule"
	"heddle/kernels/workload"
)

var update = flag.Bool("update", false, "rewrite testdata/per_edge.golden: say why in the commit message")

// TestInstructionsPerEdge: the lengths of the gather kernels' inner loops.
func TestInstructionsPerEdge(t *testing.T) {
	const name = "testdata/per_edge.golden"
	var b strings.Builder
	b.WriteString("# Instructions of one step of the loops that handle edges, and values that live on the stack (6 " +
		"cores × 32 warps × 32 lanes).\n")
	for _, a := range []string{"pagerank", "pagerank-delta", "bfs", "sssp", "cc", "colouring", "bc", "triangles"} {
		for _, s := range schedule.All() {
			if x, err := algorithm.ByName(a); err == nil && s.Shards && !sumsByShards(x) {
				continue
			}
			b.WriteString(line(t, a, s.Name, workload.Auto))
		}
	}
	for _, l := range layout.Layouts() {
		for _, s := range []string{"vertex", "edge"} {
			if l.Rest != nil {
				b.WriteString(line(t, "pagerank", s, workload.Layout(l.Name)))
			}
		}
	}
	if *update {
		require.NoError(t, os.WriteFile(name, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String(), "go test ./kernels/compose -run PerEdge -update")
}

func line(t *testing.T, algorithm, schedule string, l workload.Layout) string {
	p, err := NewPlan(choose("algorithm="+algorithm, "schedule="+schedule, "layout="+string(l)))
	require.NoError(t, err)
	p.Weights = graph.IntWeights
	c, err := Compile(p, host.Shape{
		Cores: 6, Warps: 32, Threads: 32, ScratchpadBytes: 16 << 10, Unit: p.Schedule.UnitName(),
	})
	require.NoError(t, err)
	gather := c.Of(c.Kernels.Gather[p.Direction.Uses[0]])
	return fmt.Sprintf("%-45s %v, spills %d\n", p.Name(), gather.Stats.PerEdge, gather.Stats.Spills)
}
