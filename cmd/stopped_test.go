package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMaxIterations: a search that workload.max_iterations stops is verified, and called stopped wherever its result
// appears; an algorithm that cannot be verified then is refused by the key's place before anything runs.
func TestMaxIterations(t *testing.T) {
	heddle, dir := buildHeddle(t), t.TempDir()
	text := "name: s\nmachine: vortex-1c4w4t\n" +
		"graph: {erdos_renyi: {vertices: 90, edges: 200}, clean: {symmetrise: true}}\n" +
		"workload: {algorithm: bfs, source: 3, max_iterations: 2}\ncompare: {workload.schedule: [vertex, warp]}\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "s.yaml"), []byte(text), 0o644))

	for _, args := range [][]string{{"config", "check", "s.yaml"}, {"run", "s.yaml", "--dry-run"}, {"run", "s.yaml"}} {
		code, _, stderr := start(t, heddle, dir, append(args, "--set", "workload.algorithm=bc")...)
		require.Equal(t, 2, code, stderr)
		require.Contains(t, stderr, "s.yaml:4:55: workload.max_iterations = 2: what bc has come to before its end cannot "+
			"be verified")
		require.Contains(t, stderr, "give region.to: 2 and region.verify: false")
		require.NoDirExists(t, filepath.Join(dir, "results"))
	}

	code, stdout, stderr := start(t, heddle, dir, "run", "s.yaml", "--columns", "80")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "│ yes (stopped after 2) │")
	require.Contains(t, stdout+stderr, "a run ends after 2 super-steps, done or not")
	log, err := os.ReadFile(filepath.Join(dir, "results", "s", "log.txt"))
	require.NoError(t, err)
	require.Contains(t, string(log), "verified as far as it went, stopped after 2 super-steps with ")

	data, err := os.ReadFile(filepath.Join(dir, "results", "s", "summary.json"))
	require.NoError(t, err)
	var summary struct {
		Points []struct {
			Verified bool
			Partial  string
			Speedup  *float64
			Stats    map[string]float64
		}
	}
	require.NoError(t, json.Unmarshal(data, &summary))
	require.Len(t, summary.Points, 2)
	for _, p := range summary.Points {
		require.True(t, p.Verified)
		require.Equal(t, "max_iterations=2", p.Partial)
		require.NotNil(t, p.Speedup)
		require.Positive(t, p.Stats["frontier.left"])
	}

	code, stdout, stderr = start(t, heddle, dir, "results", "list", "s")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "yes (stopped after 2)")
	code, _, stderr = start(t, heddle, dir, "report", "results/s")
	require.Zero(t, code, stderr)
	page, err := filepath.Glob(filepath.Join(dir, "results", "s", "*.html"))
	require.NoError(t, err)
	require.NotEmpty(t, page)
	data, err = os.ReadFile(page[0])
	require.NoError(t, err)
	require.Contains(t, string(data), "2 of 2 points have a verified result, 2 of them of runs that "+
		"workload.max_iterations has stopped before they were done")
}
