package cmd

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// smallRun runs a small experiment with vertex and edge mapping and more keys: in a directory, from a file, with its
// results and the run's output.
func smallRun(t *testing.T, more string) (dir, file, results, out string) {
	t.Helper()
	dir = t.TempDir()
	file = filepath.Join(dir, "e.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`name: small
machine: vortex-1c4w4t
graph: {erdos_renyi: {vertices: 20, edges: 40}}
compare: {workload.schedule: [vertex, edge]}
`+more), 0o644))
	out, stderr, code := heddle(t, "run", file, "--out", dir)
	require.Zero(t, code, stderr)
	return dir, file, filepath.Join(dir, "small"), out
}

func TestReport(t *testing.T) {
	dir, name, results, out := smallRun(t, "")
	require.Contains(t, out, "heddle report "+results+" makes a page of them")

	out, stderr, code := heddle(t, "report", results)
	require.Zero(t, code, stderr)
	require.Contains(t, out, "report in "+filepath.Join(results, "report.html"))
	require.FileExists(t, filepath.Join(results, "figures", "points-speedup.svg"))
	page, err := os.ReadFile(filepath.Join(results, "report.html"))
	require.NoError(t, err)
	require.Contains(t, string(page), "2 of 2 points have a verified result")
	require.Contains(t, string(page), "20 vertices, 80 edges")

	again := filepath.Join(dir, "again")
	out, stderr, code = heddle(t, "run", name, "--out", again, "--report", "--json")
	require.Zero(t, code, stderr)
	require.Equal(t, byte('{'), out[0], "JSON, and nothing else")
	require.FileExists(t, filepath.Join(again, "small", "report.html"))

	_, stderr, code = heddle(t, "report", dir)
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "expected a directory with a summary.json")
}
