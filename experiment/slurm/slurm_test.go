package slurm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// commandIs makes a script the only command on PATH of that name.
func commandIs(t *testing.T, name, script string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755))
	t.Setenv("PATH", dir)
}

func TestRanges(t *testing.T) {
	for want, numbers := range map[string][]int{
		"": nil, "4": {4}, "1-3": {1, 2, 3}, "1-3,7": {1, 2, 3, 7}, "2,4,6": {2, 4, 6}, "0,5-6,9": {0, 5, 6, 9},
	} {
		require.Equal(t, want, ranges(numbers))
	}
}

func TestArguments(t *testing.T) {
	a := Array{
		Name: "my", Dir: "/d", Tasks: []int{1, 2, 5}, Log: "l-%A-%a", CPUs: 4, Memory: 256<<20 + 1,
		Time:    61 * time.Second,
		Options: []string{"--time=9", "--partition=long"}, Script: "task.sh",
	}
	require.Equal(t, strings.Fields(`--parsable --job-name=my --chdir=/d --array=1-2,5 --output=l-%A-%a --open-mode=append --ntasks=1
		--cpus-per-task=4 --mem=257M --time=2 --time=9 --partition=long task.sh`), a.arguments(), "rounded up; options go last")
	a.Time = 0
	require.Contains(t, a.arguments(), "--time=1", "0 would be without limit")
}

func TestSubmit(t *testing.T) {
	for _, c := range []struct{ script, job, says string }{
		{"echo 17", "17", ""},
		{"echo '17;cluster'", "17", ""},
		{"echo Submitted batch job 17", "", `sbatch: expected the number of a job; found "Submitted batch job 17"`},
		{"echo 'sbatch: error: Invalid partition' >&2; exit 1", "", "sbatch: error: Invalid partition"},
		{"exit 3", "", "sbatch: exit status 3"},
		{"printf '%0900d' 0 >&2; exit 1", "", "sbatch: " + strings.Repeat("0", 400) + "…"},
	} {
		commandIs(t, "sbatch", c.script+"\n")
		job, err := (&Array{Tasks: []int{1}}).Submit(context.Background())
		require.Equal(t, c.job, job, c.script)
		if c.says == "" {
			require.NoError(t, err, c.script)
			continue
		}
		require.EqualError(t, err, c.says, c.script)
	}
}

func TestQueue(t *testing.T) {
	for _, c := range []struct {
		script string
		want   State
		says   string
	}{
		{"echo RUNNING; echo PENDING; echo RUNNING", State{"RUNNING": 2, "PENDING": 1}, ""},
		{"true", State{}, ""},
		{"echo PENDING launch failed requeued held; echo RUNNING None; echo 'PENDING (Resources)'; echo PENDING None; echo PENDING Resources",
			State{"PENDING (launch failed requeued held)": 1, "RUNNING": 1, "PENDING (Resources)": 2, "PENDING": 1},
			""},
		{"echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1", nil, ""},
		{"echo 'squeue: error: Unable to contact slurm controller' >&2; exit 1", nil, "Unable to contact slurm controller"},
	} {
		commandIs(t, "squeue", c.script+"\n")
		s, err := Queue(context.Background(), "17")
		require.Equal(t, c.want, s, c.script)
		if c.says == "" {
			require.NoError(t, err, c.script)
			continue
		}
		require.ErrorContains(t, err, c.says)
	}
}

func TestStateIsListedByCount(t *testing.T) {
	require.Equal(t, "3 pending, 2 completing, 2 running", State{"RUNNING": 2, "PENDING": 3, "COMPLETING": 2}.String())
	require.Empty(t, fmt.Sprint(State{}))
	require.Equal(t, "2 pending (JobHeldUser), 1 running", State{"PENDING (JobHeldUser)": 2, "RUNNING": 1}.String())
	require.True(t, State{"PENDING (JobHeldUser)": 2, "PENDING (launch failed requeued held)": 1}.Held())
	require.False(t, State{"PENDING (JobHeldUser)": 2, "RUNNING": 1}.Held())
	require.False(t, State{"PENDING": 2}.Held())
	require.False(t, State{}.Held())
}

func TestWhyATaskHasEnded(t *testing.T) {
	for output, want := range map[string]string{
		"": "", "12 of 20 points\n": "",
		"slurmstepd: error: *** JOB 5 ON host CANCELLED AT 2026-01-02T03:04:05 DUE TO TIME LIMIT ***\n":                  "its time limit",
		"slurmstepd: error: Detected 1 oom_kill event in StepId=5.batch. Some of the step tasks have been OOM Killed.\n": "its memory limit",
		"slurmstepd: error: *** JOB 5 ON host CANCELLED AT 2026-01-02T03:04:05 ***\n":                                    "scancel, or its administrator",
	} {
		require.Equal(t, want, Ended(output), output)
	}
}

func TestWithoutSlurm(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Queue(context.Background(), "17")
	var missing *MissingError
	require.ErrorAs(t, err, &missing)
	require.Contains(t, err.Error(), "squeue is not on PATH: expected Slurm's commands on this host")
}

func TestCancelled(t *testing.T) {
	commandIs(t, "squeue", "exec /bin/sleep 60\n")
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := Queue(ctx, "17")
	require.ErrorIs(t, err, context.DeadlineExceeded)
}
