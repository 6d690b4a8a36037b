package cmd

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLookAtAProgram: the report of a program of one's own names its lines, and its kernels rather than the marks in
// them.
func TestLookAtAProgram(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("p.yaml", []byte(`name: p
machine: vortex-1c4w4t
graph: {erdos_renyi: {vertices: 40, edges: 100}}
workload:
  program: in-degree.s
  host: {graph: [coo], arrays: ["degree[vertices]"], steps: [count], result: degree, check: in-degree}
`), 0o644))
	out, errs, code := heddle(t, "inspect", "p.yaml", "--report")
	require.Zero(t, code, errs)
	require.Regexp(t, `in-degree\.s:\d+`, out)
	require.Contains(t, out, "turn+0x")
	require.NotContains(t, out, "heddle.edge")
}
