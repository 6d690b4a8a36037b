package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
	"heddle/experiment/store"
	"heddle/internal/testenv"
	"heddle/sim/stats"
)

// many has points of some milliseconds each.
const many = `
name: many
machine: vortex-1c4w4t
graph: {erdos_renyi: {vertices: 150, edges: 600}}
workload: {max_iterations: 2}
compare: {workload.schedule: [vertex, edge]}
sweep: {machine.l1d.ways: [1, 2, 4], workload.algorithm.damping: [0.5, 0.6]}
seeds: [1, 2]
stats: {interval: 500}
`

// content is the content of a store, without values that depend on the host.
func content(t *testing.T, dir string) map[int]store.Point {
	t.Helper()
	s, err := store.OpenRead(filepath.Join(dir, "results", "many", store.File))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, store.ErrEmpty) {
		return nil
	}
	require.NoError(t, err)
	defer s.Close() //nolint:errcheck // read only
	_, rows, err := s.Query("PRAGMA integrity_check")
	require.NoError(t, err)
	require.Equal(t, [][]any{{"ok"}}, rows)
	points, err := s.Points()
	require.NoError(t, err)
	all := map[int]store.Point{}
	for _, p := range points {
		p.Seconds, p.Finished = 0, ""
		p.Samples = samples(t, s, p.Position)
		all[p.Position] = p
	}
	return all
}

// samples are a stored point's, as the program made them.
func samples(t *testing.T, s *store.Store, position int) (out []store.Sample) {
	t.Helper()
	table, err := s.Timeline(position)
	require.NoError(t, err)
	for _, r := range table.Rows {
		one := store.Sample{From: uint64(r[0].(int64)), To: uint64(r[1].(int64))}
		for i, v := range r[2:] {
			require.NotNil(t, v, "a sample is missing")
			one.Values = append(one.Values, stats.Constant(table.Columns[i+2].Name, "", "", toFloat(v)))
		}
		out = append(out, one)
	}
	return out
}

func toFloat(v any) float64 {
	if n, ok := v.(int64); ok {
		return float64(n)
	}
	return v.(float64)
}

// verified counts the points that the log says have ended well.
func verified(t *testing.T, dir string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "results", "many", "log.txt"))
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	require.NoError(t, err)
	return bytes.Count(text, []byte("  verified: "))
}

func workplace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "many.yaml"), []byte(many), 0o644))
	return dir
}

// killWhen runs heddle, and kills it when something holds; done reports whether it was done before.
func killWhen(t *testing.T, heddle, dir string, jobs int, holds func() bool) (done bool) {
	t.Helper()
	c := exec.Command(heddle, "run", "many.yaml", "--jobs", fmt.Sprint(jobs))
	c.Dir = dir
	require.NoError(t, c.Start())
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for {
		select {
		case err := <-ended:
			return err == nil
		case <-time.After(time.Millisecond):
			if holds() {
				c.Process.Kill() //nolint:errcheck // it may be gone
			}
		}
	}
}

func never() bool { return false }

// passed holds once that time has passed.
func passed(d time.Duration) func() bool {
	begin := time.Now()
	return func() bool { return time.Since(begin) > d }
}

// TestKilled kills the program at random moments, by the clock and by its log. No stored point is lost or stored by
// halves, at most the points in flight have to run again, and in the end the store equals that of an undisturbed run.
func TestKilled(t *testing.T) {
	testenv.NeedSlow(t, "it repeats runs and kills them")
	heddle := buildHeddle(t)
	calm := workplace(t)
	start := time.Now()
	require.True(t, killWhen(t, heddle, calm, 2, never))
	whole := time.Since(start)
	want := content(t, calm)
	require.Len(t, want, 24)
	for _, p := range want {
		require.Greater(t, len(p.Samples), 3)
	}

	r := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	dir, stored, finished := workplace(t), 0, 0
	most := int(testenv.Cases(t, 6, 50))
	for kills, partial := 0, 0; kills < most; kills++ {
		jobs := 1 + r.IntN(3)
		logged := verified(t, dir)
		when := passed(time.Duration(r.Int64N(int64(whole / 3))))
		if more := 1 + r.IntN(6); kills%2 > 0 { // however busy the host is
			when = func() bool { return verified(t, dir) >= logged+more }
		}
		done := killWhen(t, heddle, dir, jobs, when)
		now := content(t, dir)
		for i, p := range now {
			require.Equal(t, want[i], p, "a point by halves, or of other content")
		}
		require.GreaterOrEqual(t, len(now), stored, "a stored point was lost")
		require.LessOrEqual(t, verified(t, dir)-logged, len(now)-stored+jobs, "more was lost than the points in flight")
		if stored = len(now); stored > 0 && stored < len(want) {
			partial++
		}
		if done {
			require.Equal(t, want, now)
			dir, stored, finished = workplace(t), 0, finished+1
		}
		if kills == most-1 {
			t.Logf("an undisturbed run took %v; %d kills, after %d of which the store was partial; %d runs came to their end",
				whole, most, partial, finished)
			require.Positive(t, partial)
		}
	}
	code, stdout, stderr := startOK(t, heddle, dir)
	require.Zero(t, code, stderr)
	require.Equal(t, want, content(t, dir))
	require.Equal(t, 12, strings.Count(stdout, " yes "), "a row for both seeds")
}

func startOK(t *testing.T, heddle, dir string) (code int, stdout, stderr string) {
	t.Helper()
	return start(t, heddle, dir, "run", "many.yaml", "--check")
}

// Ctrl-C ends a run at once, with its own exit code, the summaries written and the store whole.
func TestInterrupted(t *testing.T) {
	heddle, dir := buildHeddle(t), workplace(t)
	c := exec.Command(heddle, "run", "many.yaml", "--jobs", "1", "--set", "workload.max_iterations=20", "--heartbeat",
		"10ms")
	var errs bytes.Buffer
	c.Dir, c.Stderr = dir, &errs
	require.NoError(t, c.Start())
	require.Eventually(t, func() bool { return verified(t, dir) > 0 }, time.Minute, time.Millisecond)
	require.NoError(t, c.Process.Signal(os.Interrupt))
	start := time.Now()
	require.Error(t, c.Wait())
	require.Less(t, time.Since(start), 10*time.Second)
	require.Equal(t, exitInterrupted, c.ProcessState.ExitCode(), errs.String())
	require.Contains(t, errs.String(), "interrupted")
	require.NotEmpty(t, content(t, dir))
	summary, err := os.ReadFile(filepath.Join(dir, "results", "many", "summary.json"))
	require.NoError(t, err)
	require.Contains(t, string(summary), `"failure":"interrupted"`)
	require.NoFileExists(t, filepath.Join(dir, "results", "many", store.File+"-wal"), "closed in good order")
}

// A dry run lists the points, their cost, and axes without effect, and writes nothing.
func TestDryRun(t *testing.T) {
	t.Chdir(workplace(t))
	out, errs, code := heddle(t, "run", "./many.yaml", "--dry-run", "--jobs", "2")
	require.Equal(t, exitOK, code, errs)
	require.Regexp(t, `(?m)^ +1  schedule=vertex ways=1 damping=0.5 seed=1  2,400 edges, about \d+`, out)
	require.Contains(t, out, "24 points, 24 to run: 57,600 edges")
	require.Empty(t, errs)
	require.NoDirExists(t, "results")

	out, errs, code = heddle(t, "run", "./many.yaml", "--dry-run", "--json", "--set",
		"sweep={machine: [vortex-1c4w4t, ./m.yaml]}")
	require.Equal(t, exitUsage, code, errs)
	require.Empty(t, out)
	require.NoError(t, os.WriteFile("m.yaml", []byte("extends: vortex-1c4w4t\n"), 0o644))
	out, errs, code = heddle(t, "run", "./many.yaml", "--dry-run", "--json", "--set",
		"sweep={machine: [vortex-1c4w4t, ./m.yaml]}")
	require.Equal(t, exitOK, code, errs)
	require.Equal(t, "heddle: warning: machine changes nothing: points that differ in it alone have the same machine, "+
		"graph and workload\n", errs)
	var cost experiment.Cost
	require.NoError(t, json.Unmarshal([]byte(out), &cost))
	require.Len(t, cost.Points, 8)
	require.Equal(t, "edge", cost.Points[2].Axes["workload.schedule"])
}

// summary reads summary.json, without the cost of this run.
func summary(t *testing.T, dir string) (s map[string]any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "results", "many", "summary.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &s))
	delete(s, "host")
	for _, p := range s["points"].([]any) {
		delete(p.(map[string]any), "layout_seconds") // of this run, which may have none to simulate
	}
	return s
}

// Limits of time and memory end points, with their class and exit code; the same command without them
// runs those again, whichever limit it was: without testenv.LongVariable, the first.
func TestLimitsOfTimeAndMemory(t *testing.T) {
	testenv.NeedSlow(t, "it runs points to their limits")
	heddle := buildHeddle(t)
	for i, c := range []struct{ flag, class, says string }{
		{"--time-limit=1ms", experiment.Limit, "time limit reached: 1ms"},
		{"--memory-limit=1MiB", experiment.OutOfMemory, "memory limit reached: the process has"},
		{"--max-cycles=100", experiment.Limit, "cycle limit reached: 100 cycles"},
	} {
		dir := workplace(t)
		code, stdout, stderr := start(t, heddle, dir, "run", "many.yaml", c.flag, "--jobs=1",
			"--set=workload.max_iterations=20", "--set=seeds=[1]", "--set=sweep={}")
		require.Equal(t, exitNoProgress, code, stderr)
		require.Contains(t, stderr, c.says)
		require.Contains(t, stdout, "NO: "+c.class)
		for _, p := range content(t, dir) {
			require.Equal(t, c.class, p.Failure)
		}
		if i > 0 && testenv.Long(t) == 0 {
			continue
		}
		code, stdout, stderr = start(t, heddle, dir, "run", "many.yaml", "--set=workload.max_iterations=20",
			"--set=seeds=[1]", "--set=sweep={}")
		require.Equal(t, exitOK, code, stderr)
		require.NotContains(t, stdout, "NO: ")
		require.Len(t, content(t, dir), 2)
	}
}

func TestResume(t *testing.T) {
	heddle, dir := buildHeddle(t), workplace(t)
	code, _, stderr := start(t, heddle, dir, "run", "many.yaml", "--max-cycles", "2000")
	require.Equal(t, exitNoProgress, code, stderr)
	some := content(t, dir)
	classes := map[string]int{}
	for _, p := range some {
		classes[p.Failure]++
	}
	require.Equal(t, map[string]int{"limit": 24}, classes)

	// Points that reached a limit are run again.
	code, _, stderr = startOK(t, heddle, dir)
	require.Zero(t, code, stderr)
	require.Equal(t, 24, verified(t, dir))
	all := content(t, dir)

	// Stored points are not, and the summaries come from the store.
	before := summary(t, dir)
	require.Len(t, before["graphs"], 2)
	require.NoError(t, os.Remove(filepath.Join(dir, "results", "many", "summary.json")))
	code, _, stderr = startOK(t, heddle, dir)
	require.Zero(t, code, stderr)
	require.Contains(t, stderr, "24 of 24 points known")
	require.Equal(t, 24, verified(t, dir))
	require.Equal(t, all, content(t, dir))
	require.Equal(t, before, summary(t, dir))

	code, stdout, stderr := start(t, heddle, dir, "run", "many.yaml", "--set", "machine.l1d.mshrs=3", "--dry-run")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "24 points, 24 to run")
	require.Equal(t, all, content(t, dir))

	lock, err := os.OpenFile(filepath.Join(dir, "results", "many", "lock"), os.O_RDWR, 0)
	require.NoError(t, err)
	defer lock.Close() //nolint:errcheck // of a test
	require.NoError(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	code, _, stderr = startOK(t, heddle, dir)
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "another heddle is running this experiment")
}
