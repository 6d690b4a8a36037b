package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// slurmIs puts scripts in place of Slurm's commands: sbatch runs all tasks of an array at once, as batch says, and
// squeue prints queue until scancel is called.
func slurmIs(t *testing.T, batch, queue string) (cancelled string) {
	t.Helper()
	dir := t.TempDir()
	cancelled = filepath.Join(dir, "cancelled")
	for name, text := range map[string]string{
		"sbatch":  batch + "\necho 7\n",
		"squeue":  fmt.Sprintf("[ -e %s ] || printf '%s'\n", cancelled, queue),
		"scancel": "echo \"$@\" > " + cancelled + "\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text), 0o755))
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return cancelled
}

const fewExperiment = `name: many
machine: vortex-1c4w4t
graph: {erdos_renyi: {vertices: 110, edges: 300}}
sweep: {workload.launch_overhead: [1, 2, 3]}
`

// runTasks runs the script that is sbatch's last argument for two tasks.
const runTasks = `for s; do :; done
for i in 1 2; do SLURM_ARRAY_TASK_ID=$i "$s" >/dev/null 2>&1 || exit 1; done`

// A controller that was started again may hold tasks whose points are all stored: the command ends, and they go.
func TestHeldTasksWithoutPointsAreNotWaitedFor(t *testing.T) {
	heddle, dir := buildHeddle(t), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "many.yaml"), []byte(fewExperiment), 0o644))
	cancelled := slurmIs(t, runTasks, `PENDING launch failed requeued held\n`)
	begin := time.Now()
	code, out, errs := start(t, heddle, dir, "run", "many.yaml", "--launcher", "slurm", "--tasks", "2", "--poll",
		"100ms")
	require.Equal(t, exitOK, code, errs)
	require.Less(t, time.Since(begin), time.Minute)
	require.Contains(t, errs, "1 pending (launch failed requeued held)")
	require.Contains(t, errs, "all points are stored; the tasks that are left (1 pending (launch failed requeued held)) "+
		"are cancelled")
	require.FileExists(t, cancelled)
	require.Contains(t, out, "verified")
}

// A task that Slurm has ended is named with the cause.
func TestTasksThatSlurmEndsAreNamedWithTheReason(t *testing.T) {
	heddle, dir := buildHeddle(t), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "many.yaml"), []byte(fewExperiment), 0o644))
	slurmIs(t, `echo 'slurmstepd: error: *** JOB 7 ON h CANCELLED AT 2026-01-02T03:04:05 DUE TO TIME LIMIT ***' > results/many/slurm/7-2.log`, "")
	code, _, errs := start(t, heddle, dir, "run", "many.yaml", "--launcher", "slurm", "--tasks", "2", "--poll", "100ms")
	require.Equal(t, exitFailed, code, errs)
	require.Contains(t, errs, "3 of 3 points are missing: task 1, 2 of slurm job 7 ended before they did")
	require.Contains(t, errs, "Slurm ended task 2 by its time limit: --sbatch=--time=MINUTES")
}
