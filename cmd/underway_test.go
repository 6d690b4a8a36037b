package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/experiment/store"
)

// TestARunUnderWayIsRead: the points of a run that have ended are shown while it continues, and
// when it was killed.
func TestARunUnderWayIsRead(t *testing.T) {
	program := buildHeddle(t)
	dir := inNew(t, "long.yaml", lengthy)
	run := exec.Command(program, "run", "long.yaml", "--quiet", "--jobs", "1")
	run.Dir = dir
	require.NoError(t, run.Start())
	ended := make(chan error, 1)
	go func() { ended <- run.Wait() }()
	stored := func() bool {
		s, err := store.OpenRead(filepath.Join(dir, "results", "long", store.File))
		if err != nil {
			return false
		}
		defer s.Close() //nolint:errcheck // read only
		n, _, _, err := s.Progress()
		return err == nil && n == 2
	}
	require.Eventually(t, stored, time.Minute, 20*time.Millisecond)
	require.NoError(t, os.Symlink("long", filepath.Join(dir, "results", "again")))
	read := func() {
		for _, args := range [][]string{
			{"report", "long"}, {"report", "long", "again", "--out", "two.html"}, {"results", "list", "long"}, {"results", "show", "long", "2"}, {"results", "export", "long", "--format", "csv"},
			{"results", "export", "long", "--format", "latex"}, {"results", "diff", "long", "long"},
			{"figure", "long", "--value", "cycles", "--x", "workload.max_iterations", "--out", "f.svg"},
		} {
			c := exec.Command(program, args...)
			c.Dir = dir
			out, err := c.CombinedOutput()
			require.NoError(t, err, "%v: %s", args, out)
		}
		page, err := os.ReadFile(filepath.Join(dir, "results", "long", "report.html"))
		require.NoError(t, err)
		require.Contains(t, string(page), "not run")
	}
	read()
	require.NoFileExists(t, filepath.Join(dir, "results", "long", "summary.json"))
	select {
	case err := <-ended:
		require.FailNow(t, "the run has ended", "%v", err)
	default:
	}
	require.NoError(t, run.Process.Signal(syscall.SIGKILL))
	require.Error(t, <-ended)
	read()
}
