package experiment_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
)

func parse(t *testing.T, set ...string) *experiment.Experiment {
	t.Helper()
	e, err := experiment.Parse("small.yaml", []byte(text), set...)
	require.NoError(t, err)
	return e
}

// TestStoredIsInMemory: a run in a directory, what is opened from there, and a run in memory are the same.
func TestStoredIsInMemory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "small")
	inMemory, err := parse(t).Run(context.Background(), experiment.Options{Jobs: 2})
	require.NoError(t, err)
	stored, err := parse(t).Run(context.Background(), experiment.Options{Dir: dir, Threads: 2})
	require.NoError(t, err)
	opened, err := experiment.Open(dir)
	require.NoError(t, err)
	require.Equal(t, "small", opened.Name)
	require.Len(t, opened.Points, 4)
	for i := range opened.Points {
		for _, r := range []*experiment.Results{inMemory, stored} {
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
func values(r experiment.Result) (all []string) {
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

func TestRefuses(t *testing.T) {
	ctx := context.Background()
	_, err := parse(t).Run(ctx, experiment.Options{Jobs: -1})
	require.ErrorContains(t, err, "expected none below 0")
	_, err = experiment.Load("no-such", "")
	require.ErrorContains(t, err, `no experiment "no-such"`)
	_, err = experiment.Open(t.TempDir())
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = parse(t, "workload.source=999").Run(ctx, experiment.Options{})
	require.ErrorContains(t, err, "workload.source = 999: the graph has vertices 0 to 31")

	dir := filepath.Join(t.TempDir(), "small")
	_, err = parse(t).Run(ctx, experiment.Options{Dir: dir})
	require.NoError(t, err)
	_, err = parse(t, "workload.source=1").Run(ctx, experiment.Options{Dir: dir})
	require.ErrorContains(t, err, "workload.source: 0, now 1")
	_, err = parse(t, "workload.source=1").Run(ctx, experiment.Options{Dir: dir, Fresh: true})
	require.NoError(t, err)

	r, err := parse(t).Run(ctx, experiment.Options{MaxCycles: 10})
	require.ErrorIs(t, err, experiment.ErrFailed)
	require.Len(t, r.Points, 4)
	require.Equal(t, "limit", r.Points[3].Failure)
	require.False(t, r.Points[3].Verified)
	require.ErrorContains(t, r.Points[3].Err, "cycle limit reached")
}
