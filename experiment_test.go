package heddle_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle"
)

func parse(t *testing.T, set ...string) *heddle.Experiment {
	t.Helper()
	e, err := heddle.ParseExperiment("small.yaml", []byte(text), set...)
	require.NoError(t, err)
	return e
}

// TestStoredIsInMemory: a run stored in a directory, its results when opened again, and a run in memory are the same.
func TestStoredIsInMemory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "small")
	inMemory, err := parse(t).Run(context.Background(), heddle.ExperimentOptions{Jobs: 2})
	require.NoError(t, err)
	stored, err := parse(t).Run(context.Background(), heddle.ExperimentOptions{Dir: dir, Threads: 2})
	require.NoError(t, err)
	opened, err := heddle.OpenResults(dir)
	require.NoError(t, err)
	require.Equal(t, "small", opened.Name)
	require.Len(t, opened.Points, 4)
	for i := range opened.Points {
		for _, r := range []*heddle.Results{inMemory, stored} {
			r.Points[i].Seconds = opened.Points[i].Seconds
			require.Equal(t, values(opened.Points[i]), values(r.Points[i]))
			a, b := r.Points[i], opened.Points[i]
			a.Stats, a.Steps, b.Stats, b.Steps = nil, nil, nil, nil
			require.Equal(t, b, a)
		}
	}
	for _, file := range []string{"results.sqlite", "summary.csv", "summary.json", "config.resolved.yaml"} {
		_, err := os.Stat(filepath.Join(dir, file))
		require.NoError(t, err)
	}
}

// values are all statistics, of the point and its steps, as text.
func values(r heddle.PointResult) (all []string) {
	for _, s := range r.Stats {
		all = append(all, s.Name+" "+s.String())
	}
	for _, step := range r.Steps {
		for _, s := range step.Stats {
			all = append(all, s.Name+" "+s.String())
		}
	}
	return all
}

func TestExperimentRefuses(t *testing.T) {
	ctx := context.Background()
	_, err := parse(t).Run(ctx, heddle.ExperimentOptions{Jobs: -1})
	require.ErrorContains(t, err, "expected none below 0")
	_, err = heddle.LoadExperiment("no-such", "")
	require.ErrorContains(t, err, `no experiment "no-such"`)
	_, err = heddle.OpenResults(t.TempDir())
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = parse(t, "workload.algorithm.source=999").Run(ctx, heddle.ExperimentOptions{})
	require.ErrorContains(t, err, "workload.algorithm.source = 999: the graph has vertices 0 to 31")

	dir := filepath.Join(t.TempDir(), "small")
	_, err = parse(t).Run(ctx, heddle.ExperimentOptions{Dir: dir})
	require.NoError(t, err)
	_, err = parse(t, "workload.algorithm.source=1").Run(ctx, heddle.ExperimentOptions{Dir: dir})
	require.NoError(t, err, "another form of the experiment is simulated")
	simulated := 0
	count := func(int, heddle.PointResult) { simulated++ }
	_, err = parse(t).Run(ctx, heddle.ExperimentOptions{Dir: dir, Finished: count})
	require.NoError(t, err)
	require.Zero(t, simulated, "and what was there is kept")
	other := heddle.ExperimentOptions{Dir: filepath.Join(t.TempDir(), "other"), Results: []string{filepath.Dir(dir)},
		Finished: count}
	_, err = parse(t).Run(ctx, other)
	require.NoError(t, err)
	require.Zero(t, simulated, "there is a folder that has it")
	_, err = parse(t).Run(ctx, heddle.ExperimentOptions{Dir: dir, Fresh: true, Finished: other.Finished})
	require.NoError(t, err)
	require.Equal(t, 4, simulated)

	r, err := parse(t).Run(ctx, heddle.ExperimentOptions{MaxCycles: 10})
	require.ErrorIs(t, err, heddle.ErrFailed)
	require.Len(t, r.Points, 4)
	require.Equal(t, "limit", r.Points[3].Failure)
	require.False(t, r.Points[3].Verified)
	require.ErrorContains(t, r.Points[3].Err, "cycle limit reached")
}
