package cmd

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
	"heddle/internal/tools"
)

// slurmConfig is a cluster of this host alone, without systemd, control groups or accounting.
const slurmConfig = `ClusterName=heddle
SlurmctldHost=HOST(127.0.0.1)
SlurmUser=USER
SlurmdUser=USER
SlurmctldPort=26817
SlurmdPort=26818
AuthType=auth/munge
AuthInfo=socket=DIR/munge/socket
CredType=cred/munge
StateSaveLocation=DIR/state
SlurmdSpoolDir=DIR/spool
SlurmctldPidFile=DIR/slurmctld.pid
SlurmdPidFile=DIR/slurmd.pid
SlurmctldLogFile=DIR/slurmctld.log
SlurmdLogFile=DIR/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1
KillWait=5
MinJobAge=30
NodeName=HOST NodeAddr=127.0.0.1 CPUs=4 RealMemory=8000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`

// startSlurm starts a cluster for this process and those that it starts. It ends with the test.
func startSlurm(t *testing.T) {
	t.Helper()
	for _, name := range []string{"munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel"} {
		tools.Need(t, name)
	}
	dir, err := os.MkdirTemp("", "slurm") // a socket's path is short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	host, err := os.Hostname()
	require.NoError(t, err)
	host, _, _ = strings.Cut(host, ".")
	who, err := user.Current()
	require.NoError(t, err)
	for _, sub := range []string{"munge", "state", "spool"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, sub), 0o700))
	}
	key := make([]byte, 1024)
	_, err = rand.Read(key)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "munge", "key"), key, 0o600))
	config := filepath.Join(dir, "slurm.conf")
	require.NoError(t,
		os.WriteFile(config, []byte(strings.NewReplacer("HOST", host, "USER", who.Username, "DIR",
			dir).Replace(slurmConfig)), 0o644))
	t.Setenv("SLURM_CONF", config)
	at := func(name string) string { return filepath.Join(dir, "munge", name) }
	daemon(t, dir, "munged", "--foreground", "--force", "--socket="+at("socket"), "--key-file="+at("key"),
		"--pid-file="+at("pid"), "--seed-file="+at("seed"), "--log-file="+at("log"))
	require.Eventually(t, func() bool { _, err := os.Stat(at("socket")); return err == nil }, 30*time.Second,
		50*time.Millisecond)
	daemon(t, dir, "slurmctld", "-D")
	daemon(t, dir, "slurmd", "-D", "-N", host)
	idle := func() bool {
		out, err := exec.Command("sinfo", "--noheader", "--format=%T").Output()
		return err == nil && strings.TrimSpace(string(out)) == "idle"
	}
	if !reached(idle, time.Minute) {
		for _, log := range []string{"munged.out", "slurmctld.log", "slurmd.log"} {
			text, _ := os.ReadFile(filepath.Join(dir, log))
			t.Logf("%s:\n%s", log, text)
		}
		t.Fatal("the cluster does not come up")
	}
}

func reached(condition func() bool, within time.Duration) bool {
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if condition() {
			return true
		}
	}
	return false
}

// daemon starts a program that ends with the test.
func daemon(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	out, err := os.Create(filepath.Join(dir, name+".out"))
	require.NoError(t, err)
	c := exec.Command(name, args...)
	c.Stdout, c.Stderr = out, out
	require.NoError(t, c.Start())
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		done := make(chan error, 1)
		go func() { done <- c.Wait() }()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			_ = c.Process.Kill()
			<-done
		}
		_ = out.Close()
	})
}

const clusterExperiment = `name: many
machine: vortex-1c4w4t
graph: {erdos_renyi: {vertices: 110, edges: 300}}
compare: [{name: vertex}, {name: edge, schedule: edge}]
sweep: {workload.launch_overhead: {from: 1, to: 100, step: 1}}
`

// TestSlurm runs 200 points in 4 tasks and kills two of them, one with SIGKILL: missing points are named, the same
// command runs them and no others, and the results are those of a single process.
func TestSlurm(t *testing.T) {
	testenv.NeedLong(t, "it runs 200 points three times; TestSlurmOnATerminal runs twelve")
	startSlurm(t)
	heddle := buildHeddle(t)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("many.yaml", []byte(clusterExperiment), 0o644))
	launch := func() (c *exec.Cmd, errs *bytes.Buffer) {
		errs = &bytes.Buffer{}
		c = exec.Command(heddle, "run", "many.yaml", "--launcher", "slurm", "--tasks", "4", "--poll", "200ms",
			"--sbatch=--comment=mine", "--set", "workload.algorithm.damping=0.8")
		c.Stderr = errs
		return c, errs
	}
	c, errs := launch()
	require.NoError(t, c.Start())
	killed := []int{2, 3}
	for i, task := range killed {
		log := fmt.Sprintf("results/many/shards/%d-of-4/log.txt", task)
		require.True(t, reached(func() bool { return verifiedIn(log) >= 5 }, 2*time.Minute),
			"task %d stores nothing: %s", task, errs)
		j := launched(t)
		args := [][]string{{"--signal=KILL"}, {"--full"}}[i]
		out, err := exec.Command("scancel", append(args, fmt.Sprintf("%s_%d", j.Job, task))...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	require.Error(t, c.Wait())
	require.Equal(t, exitFailed, c.ProcessState.ExitCode(), errs)
	require.Regexp(t, `points are missing: task 2, 3 of slurm job \d+ ended before they did`, errs.String())
	require.Contains(t, errs.String(), "200 points in 4 tasks")
	require.Regexp(t, `4 running; \d+ of 200 points have ended|[123] running, .*; \d+ of 200 points have ended`,
		errs.String())
	first := map[int]int{}
	for task := 1; task <= 4; task++ {
		first[task] = verifiedIn(fmt.Sprintf("results/many/shards/%d-of-4/log.txt", task))
	}
	require.Equal(t, []int{50, 50}, []int{first[1], first[4]})
	require.Less(t, first[2], 50)
	require.Less(t, first[3], 50)

	c, errs = launch()
	var out bytes.Buffer
	c.Stdout = &out
	require.NoError(t, c.Run(), errs)
	require.Contains(t, errs.String(), fmt.Sprintf("%d points in 2 tasks", 100-first[2]-first[3]))
	require.Contains(t, out.String(), "range of 100")
	require.NoDirExists(t, "results/many/shards")
	require.NoFileExists(t, "results/many/slurm/job.json")

	whole := exec.Command(heddle, "run", "many.yaml", "--set", "workload.algorithm.damping=0.8", "--out", "whole")
	require.NoError(t, whole.Run())
	require.Equal(t, figuresOf(t, "whole/many/summary.json"), figuresOf(t, "results/many/summary.json"),
		"nothing is lost, and nothing is there twice")

	c, errs = launch()
	require.NoError(t, c.Run(), errs)
	require.NotContains(t, errs.String(), "slurm job", "stored points are not run again")
}

// launched is the job that a launcher has submitted.
func launched(t *testing.T) (j job) {
	t.Helper()
	text, err := os.ReadFile("results/many/slurm/job.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &j))
	return j
}

// verifiedIn counts the points that a log says have been verified.
func verifiedIn(log string) int {
	text, _ := os.ReadFile(log)
	return strings.Count(string(text), "  verified: ")
}

// figuresOf are a summary's points without values that depend on the host.
func figuresOf(t *testing.T, file string) any {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var s map[string]any
	require.NoError(t, json.Unmarshal(text, &s))
	require.Len(t, s["points"], 200)
	delete(s, "host")
	for _, p := range s["points"].([]any) {
		delete(p.(map[string]any), "host_seconds")
		delete(p.(map[string]any), "layout_seconds")
	}
	return s
}
