package cmd

import (
	"encoding/json"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBarriersOrderAccesses: thread blocks that share a core of several issue slices exchange through the scratchpad,
// and with ordered_barrier no access is overtaken at their barriers. Without it, the two points go wrong, and the
// message says what to do.
func TestBarriersOrderAccesses(t *testing.T) {
	program := buildHeddle(t)
	for _, ordered := range []string{"true", "false"} {
		dir := inNew(t, "blocks.yaml", `name: blocks
machine: {extends: gpu-16sm, sockets: 1, core: {ordered_barrier: `+ordered+`}}
workload:
  {algorithm: bfs, direction: push, active_set: queue, schedule: twce, scan: scratchpad, compiler: {spill: registers}}
graph: {rmat: {scale: 10, edge_factor: 16}}
sweep:
  "graph.rmat.seed, workload.cta_threads, machine.core.warps": [[2, 128, 16], [3, 64, 16]]
`)
		c := exec.Command(program, "run", "blocks.yaml", "--json")
		c.Dir = dir
		out, err := c.Output()
		if ordered == "true" {
			require.NoError(t, err)
		}
		var summary struct {
			Points []struct {
				Verified bool
				Error    string
			}
		}
		require.NoError(t, json.Unmarshal(out, &summary), "%s", out)
		require.Len(t, summary.Points, 2)
		for _, p := range summary.Points {
			require.Equal(t, ordered == "true", p.Verified, p.Error)
			if !p.Verified {
				require.Contains(t, p.Error, "set machine.core.ordered_barrier to true")
			}
		}
	}
}
