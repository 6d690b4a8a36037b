package experiment_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
)

// Summaries that cannot be written lose no result, and are written when the run is given again.
func TestResultsDoNotNeedTheirSummaries(t *testing.T) {
	dir := t.TempDir()
	l, r := largeSweep(t, 10)
	b, err := experiment.OpenBook(dir, l, r, experiment.BookOptions{Jobs: 1})
	require.NoError(t, err)
	for i := range 10 {
		require.NoError(t, b.Put(outcomeOfMany(i)))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "summary.json"), 0o755))
	_, out, err := b.End(nil)
	require.ErrorAs(t, err, new(*experiment.SummaryError))
	require.ErrorContains(t, err, "all results are in "+filepath.Join(dir, "results.sqlite"))
	require.Len(t, out, 10)
	require.True(t, out[9].Counts())

	require.NoError(t, os.Remove(filepath.Join(dir, "summary.json")))
	l, r = largeSweep(t, 10)
	b, err = experiment.OpenBook(dir, l, r, experiment.BookOptions{Jobs: 1})
	require.NoError(t, err)
	require.Len(t, r.Done, 10)
	_, _, err = b.End(nil)
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(dir, "summary.json"))
}
