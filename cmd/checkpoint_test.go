package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
)

// long has one point of many super-steps, long enough to be ended within.
const long = `
name: many
machine: vortex-1c4w4t
graph: {erdos_renyi: {vertices: 300, edges: 1500}}
workload: {max_iterations: 40}
stats: {interval: 5000}
`

// checkpointIn returns the path of the one checkpoint that the experiment has; "" if it has none.
func checkpointIn(dir string) string {
	files, _ := filepath.Glob(filepath.Join(dir, "results", "many", "checkpoints", "point-*.checkpoint"))
	if len(files) != 1 {
		return ""
	}
	return files[0]
}

// interrupted runs it with checkpoints until there is one, ends it with a signal, and returns its messages.
func interrupted(t *testing.T, heddle, dir string, s os.Signal, more ...string) string {
	t.Helper()
	var errs strings.Builder
	c := exec.Command(heddle, append([]string{"run", "long.yaml", "--checkpoint", "1ms", "--heartbeat", "1h"},
		more...)...)
	c.Dir, c.Stderr = dir, &errs
	require.NoError(t, c.Start())
	before := time.Now()
	require.Eventually(t, func() bool {
		info, err := os.Stat(checkpointIn(dir))
		return err == nil && info.ModTime().After(before)
	}, time.Minute, 2*time.Millisecond)
	require.NoError(t, c.Process.Signal(s))
	require.Error(t, c.Wait(), "it was done before")
	return errs.String()
}

// TestCheckpoints: a point that was killed, or interrupted, resumes with a message; its files are gone when it has
// ended. Checkpoints that are damaged, or of another kind of run, are refused with a remedy, before anything runs.
func TestCheckpoints(t *testing.T) {
	testenv.NeedSlow(t, "it interrupts runs again and again")
	heddle, dir := buildHeddle(t), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "long.yaml"), []byte(long), 0o644))
	code, _, stderr := start(t, heddle, dir, "run", "long.yaml", "--out", "calm/results", "--checkpoint", "0")
	require.Zero(t, code, stderr)

	require.NotContains(t, interrupted(t, heddle, dir, syscall.SIGKILL), "goes on")
	file := checkpointIn(dir)
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(file), ".tmp-KILLED"), []byte("half a file"), 0o644))
	said := interrupted(t, heddle, dir, os.Interrupt)
	require.Regexp(t, `point \(the only one\): goes on from super-step \d+, \d+s in\n`, said)
	require.Regexp(t, `point \(the only one\): the same command goes on from super-step \d+, \d+s in\n`, said)
	require.NoFileExists(t, filepath.Join(filepath.Dir(file), ".tmp-KILLED"))

	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, bad := range []struct {
		name  string
		bytes []byte
		says  string
	}{
		{"cut off", whole[:len(whole)-9], "this checkpoint is damaged: its checksum is another: remove the file"},
		{"empty", nil, "this checkpoint is damaged: it is cut off: remove the file"},
		{"another file", []byte(strings.Repeat("name: many\n", 20)), "this checkpoint is damaged: it does not begin as one"},
		{"a bit", append(append([]byte{}, whole[:999]...), append([]byte{whole[999] ^ 4}, whole[1000:]...)...), "this checkpoint is damaged: its checksum is another"},
	} {
		require.NoError(t, os.WriteFile(file, bad.bytes, 0o644))
		code, _, stderr := start(t, heddle, dir, "run", "long.yaml")
		require.Equal(t, exitUsage, code, bad.name)
		require.Contains(t, stderr, filepath.Base(file)+": "+bad.says, bad.name)
	}
	require.NoError(t, os.WriteFile(file, whole, 0o644))
	code, _, stderr = start(t, heddle, dir, "run", "long.yaml", "--check")
	require.Equal(t, exitUsage, code, stderr)
	require.Contains(t, stderr, "is a checkpoint of something else:\n  --check: false, now true")
	require.Contains(t, stderr, "--fresh")
	code, _, stderr = start(t, heddle, dir, "run", "long.yaml", "--set=workload.max_iterations=2")
	require.Zero(t, code, "another point begins anew, and leaves the checkpoint: "+stderr)
	require.NotContains(t, stderr, "goes on from")

	code, _, stderr = start(t, heddle, dir, "run", "long.yaml", "--threads", "3", "--max-cycles", "10")
	require.Equal(t, exitNoProgress, code, stderr)
	require.Contains(t, stderr, "the same command goes on from")
	code, _, stderr = start(t, heddle, dir, "run", "long.yaml", "--threads", "2")
	require.Zero(t, code, stderr)
	require.Contains(t, stderr, "goes on from super-step")
	require.NoDirExists(t, filepath.Dir(file))
	require.Equal(t, content(t, filepath.Join(dir, "calm")), content(t, dir),
		"the store's row, as that of an undisturbed run")

	interrupted(t, heddle, dir, syscall.SIGKILL, "--fresh")
	require.FileExists(t, file)
	code, _, stderr = start(t, heddle, dir, "run", "long.yaml", "--fresh")
	require.Zero(t, code, stderr)
	require.NotContains(t, stderr, "goes on")
}
