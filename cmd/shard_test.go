package cmd

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"heddle/experiment/store"
)

const shardsExperiment = `
name: s
machine: vortex-1c4w4t
graph: {erdos_renyi: {vertices: 40, edges: 100}}
compare: [{name: vertex}, {name: edge, schedule: edge}]
sweep: {workload.launch_overhead: [1, 2, 3], workload.algorithm.damping: [0.5, 0.6]}
stats: {interval: 1000}
`

// Shards have all points together, each once; merged they equal a single run, with super-steps and samples.
func TestShards(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("s.yaml", []byte(shardsExperiment), 0o644))
	_, errs, code := heddle(t, "run", "s.yaml", "--out", "whole")
	require.Equal(t, exitOK, code, errs)
	for _, i := range []string{"1", "3"} {
		out, errs, code := heddle(t, "run", "s.yaml", "--shard", i+"/5")
		require.Equal(t, exitOK, code, errs)
		require.Contains(t, out, "of its ")
		require.NotContains(t, out, "│")
	}
	require.Equal(t, "5 of the 12 points of s are stored in results/s, 5 of them new, 0 failed\n",
		results(t, "merge", "results/s/shards/1-of-5", "results/s/shards/3-of-5"))
	require.Equal(t, "5 of the 12 points of s are stored in results/s, 0 of them new, 0 failed\n",
		results(t, "merge", "results/s/shards/3-of-5", "results/s/shards/1-of-5"))
	out, errs, code := heddle(t, "run", "s.yaml", "--shard", "1/2")
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, out, "shard 1/2: 3 of its 3 points have ended", "others are in the experiment's results")
	require.Contains(t, results(t, "merge", "results/s/shards/1-of-2"),
		"8 of the 12 points of s are stored in results/s, 3 of them new")
	_, errs, code = heddle(t, "report", "results/s/shards/1-of-5", "results/s/shards/3-of-5", "--out", "page.html")
	require.Equal(t, exitOK, code, errs)
	require.FileExists(t, "page.html")
	out, errs, code = heddle(t, "run", "s.yaml")
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, errs, "8 of 12 points known")
	require.Contains(t, out, "range of 6")
	require.Contains(t, results(t, "diff", "results/s", "whole/s"),
		"12 points are the same in everything, 0 differ; 0 only in A, 0 only in B")
	for _, table := range []string{"axes", "statistics", "super_steps", "step_statistics", "intervals", "samples"} {
		require.Equal(t, rows(t, "whole/s/results.sqlite", table), rows(t, "results/s/results.sqlite", table), table)
	}
	require.Equal(t, results(t, "export", "s", "--samples"), results(t, "export", "whole/s", "--samples"))
}

func rows(t *testing.T, file, table string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", file)
	require.NoError(t, err)
	defer db.Close() //nolint:errcheck // read only
	require.NoError(t, db.QueryRow("SELECT count(*) FROM "+table).Scan(&n))
	require.Positive(t, n)
	return n
}

// storeAgain stores a store's points, as another program may have stored them: changed, and whole. Samples are left
// out.
func storeAgain(t *testing.T, file string, change func(*store.Experiment, *store.Point)) {
	t.Helper()
	s, err := store.Open(file)
	require.NoError(t, err)
	e, ok, err := s.Experiment()
	require.NoError(t, err)
	require.True(t, ok)
	points, err := s.Points()
	require.NoError(t, err)
	require.NotEmpty(t, points)
	for i := range points {
		change(&e, &points[i])
	}
	require.NoError(t, s.Begin(e))
	for i := range points {
		require.NoError(t, s.Put(&points[i]))
	}
	require.NoError(t, s.Close())
}

func TestMergesThatAreRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("s.yaml", []byte(shardsExperiment), 0o644))
	for _, args := range [][]string{{"--out", "a"}, {"--out", "b"}, {"--out", "c", "--set", "workload.algorithm.seed=2"}} {
		_, errs, code := heddle(t, append([]string{"run", "s.yaml", "--shard", "1/6"}, args...)...)
		require.Equal(t, exitOK, code, errs)
	}
	const a, b, c = "a/s/shards/1-of-6", "b/s/shards/1-of-6", "c/s/shards/1-of-6"
	refused := func(says string, args ...string) {
		_, errs, code := heddle(t, append([]string{"results", "merge"}, args...)...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, errs, says)
	}
	refused("a/s/shards/1-of-6 and c/s/shards/1-of-6 are results of different things:\n  workload.algorithm.seed: 1, "+
		"now 2", a, c)
	refused("nothing: no results", a, "./nothing")
	changeFirst := func(change func(*store.Point)) {
		storeAgain(t, filepath.Join(b, store.File), func(_ *store.Experiment, p *store.Point) {
			if p.Position == 0 {
				change(p)
			}
		})
	}
	changeFirst(func(p *store.Point) { p.Failure, p.Verified, p.Cycles = "limit", false, 5 })
	require.Contains(t, results(t, "merge", b, a),
		"2 of the 12 points of s are stored in results/s, 2 of them new, 0 failed",
		"a result goes over a limit")
	require.Contains(t, results(t, "merge", b), "0 of them new, 0 failed", "and not the other way")
	changeFirst(func(p *store.Point) { p.Failure, p.Verified = "", true })
	refused("point 1: 5 cycles, and ", b)
	changeFirst(func(p *store.Point) { p.Identity = "x" })
	refused("point 1: its configuration, graph or program is another one", b)
	for _, args := range [][]string{
		{"--shard", "0/2"},
		{"--shard", "3/2"},
		{"--shard", "1"},
		{"--shard", "1/2/3"},
		{"--launcher", "pbs"},
		{"--launcher", "slurm", "--shard", "1/2"},
		{"--tasks", "3"},
		{"--launcher", "slurm", "--tasks", "1001"},
	} {
		_, errs, code := heddle(t, append([]string{"run", "s.yaml"}, args...)...)
		require.Equal(t, exitUsage, code, "%v", args)
		require.Contains(t, errs, "expected")
	}
}

// A shard of an experiment that has changed makes the experiment's results those of the new form, in which known points
// count, and shards of the old form are not merged with it.
func TestAShardOfAGrownExperiment(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("s.yaml", []byte(shardsExperiment), 0o644))
	run := func(want string, args ...string) string {
		out, errs, code := heddle(t, append([]string{"run", "s.yaml"}, args...)...)
		require.Equal(t, exitOK, code, errs)
		require.Contains(t, out+errs, want)
		return out
	}
	run("shard 1/6: 2 of its 2 points", "--shard", "1/6")
	results(t, "merge", "results/s/shards/1-of-6")
	const grown = "sweep={workload.launch_overhead: [1, 2, 3], workload.algorithm.damping: [0.5, 0.6, 0.7]}"
	run("of its 3 points", "--shard", "2/6", "--set", grown)
	require.Contains(t, results(t, "merge", "results/s/shards/2-of-6"),
		"5 of the 18 points of s are stored in results/s, 3 of them new")
	_, errs, code := heddle(t, "results", "merge", "results/s/shards/1-of-6", "results/s/shards/2-of-6")
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "are results of different things:\n  sweep: ")
	run("12 points, 7 to run", "--dry-run")
}
