package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/experiment/store"
	"heddle/internal/testenv"
	"heddle/sim/stats"
)

// ended is the outcome of a process.
type ended struct {
	code   int // 128 + the signal that ended it, as a shell says
	stderr string
}

func exitOf(t *testing.T, err error) int {
	t.Helper()
	var e *exec.ExitError
	if err == nil {
		return 0
	}
	require.ErrorAs(t, err, &e)
	if w := e.Sys().(syscall.WaitStatus); w.Signaled() {
		return 128 + int(w.Signal())
	}
	return e.ExitCode()
}

// to runs a program in a directory with its output going somewhere.
func to(t *testing.T, out *os.File, dir, program string, args ...string) ended {
	t.Helper()
	c := exec.Command(program, args...)
	var stderr bytes.Buffer
	c.Dir, c.Stdout, c.Stderr = dir, out, &stderr
	err := c.Run()
	return ended{exitOf(t, err), stderr.String()}
}

// Programs that print a line, and lines without end.
const (
	greeting = "_start: li t0, 0x40\n li a1, '!'\n sb a1, 0(t0)\n li a1, 10\n sb a1, 0(t0)\n li t0, 0x88\n sw zero, " +
		"0(t0)\n tmc zero\n"
	forever = "_start: li t0, 0x40\n li a1, 10\nloop: sb a1, 0(t0)\n j loop\n"
)

// tiny is an experiment of a moment.
const tiny = `name: tiny
machine: vortex-1c4w4t
graph: {erdos_renyi: {vertices: 50, edges: 200}}
workload: {algorithm: pagerank, max_iterations: 1}
`

// A process says when its output cannot be written, by a message and its exit code, whatever the command.
func TestOutputThatCannotBeWritten(t *testing.T) {
	heddle, dir := buildHeddle(t), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tiny.yaml"), []byte(tiny), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "hello.s"), []byte(greeting), 0o644))
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	null, err := os.OpenFile("/dev/null", os.O_WRONLY, 0)
	require.NoError(t, err)
	require.Equal(t, ended{0, ""}, to(t, null, dir, heddle, "run", "tiny.yaml", "--quiet"))
	for _, args := range [][]string{
		{"run", "tiny.yaml"}, {"run", "tiny.yaml", "--fresh"}, {"run", "tiny.yaml", "--json"}, {"run", "tiny.yaml", "--dry-run"},
		{"results", "list"}, {"results", "list", "tiny"}, {"results", "show", "tiny", "1"}, {"results", "sql", "tiny", "SELECT 1"}, {"results", "export", "tiny"},
		{"disasm", "hello.s"}, {"isa"}, {"stats", "describe"}, {"kernel", "list", "--count"}, {"kernel", "choices"}, {"config", "list"}, {"report", "tiny"},
		{"graph", "list"}, {"reproduce"}, {"exec", "hello.s", "--functional"}, {"exec", "hello.s", "--machine", "vortex-1c4w4t"}, {"--help"},
	} {
		got := to(t, full, dir, heddle, args...)
		require.Equal(t, exitFailed, got.code, "%v: %s", args, got.stderr)
		require.Contains(t, got.stderr, "heddle: standard output: no space left on device", "%v", args)
	}
}

// A window's file that cannot be written ends the run, and is named once.
func TestAWindowThatCannotBeWritten(t *testing.T) {
	heddle, dir := buildHeddle(t), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tiny.yaml"), []byte(tiny), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "endless.s"), []byte(forever), 0o644))
	for _, args := range [][]string{
		{"inspect", "tiny.yaml", "--perfetto", "/dev/full"}, {"exec", "endless.s", "--machine", "vortex-1c4w4t", "--perfetto", "/dev/full"},
	} {
		require.Equal(t, ended{exitFailed, "heddle: /dev/full: no space left on device"},
			withoutProgress(to(t, nil, dir, heddle, args...)), "%v", args)
	}
}

// withoutProgress drops a run's messages of progress.
func withoutProgress(e ended) ended {
	var kept []string
	for _, l := range strings.Split(e.stderr, "\n") {
		if strings.HasPrefix(l, "heddle:") {
			kept = append(kept, l)
		}
	}
	e.stderr = strings.Join(kept, "\n")
	return e
}

// When the reader of its output is gone, a program ends as others do: by SIGPIPE, without a message.
func TestNobodyReads(t *testing.T) {
	heddle, dir := buildHeddle(t), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "endless.s"), []byte(forever), 0o644))
	for _, args := range [][]string{{"isa"}, {"exec", "endless.s", "--functional"}} {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		require.NoError(t, r.Close())
		require.Equal(t, ended{128 + int(syscall.SIGPIPE), ""}, withoutProgress(to(t, w, dir, heddle, args...)), "%v",
			args)
		require.NoError(t, w.Close())
	}
}

// signalled starts a program, sends it a signal once ready reports true, and returns how it ended and how long that
// took.
func signalled(t *testing.T, s syscall.Signal, dir string, ready func(pid int) bool, program string,
	args ...string) (ended, time.Duration) {
	t.Helper()
	c := exec.Command(program, args...)
	var stderr bytes.Buffer
	c.Dir, c.Stdout, c.Stderr = dir, io.Discard, &stderr
	require.NoError(t, c.Start())
	for begin := time.Now(); !ready(c.Process.Pid); time.Sleep(10 * time.Millisecond) {
		if time.Since(begin) > time.Minute {
			c.Process.Kill() //nolint:errcheck // it fails anyway
			t.Fatalf("%v: not ready after a minute: %s", args, stderr.String())
		}
	}
	sent := time.Now()
	require.NoError(t, c.Process.Signal(s))
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	select {
	case err := <-done:
		return ended{exitOf(t, err), stderr.String()}, time.Since(sent)
	case <-time.After(time.Minute):
		c.Process.Kill() //nolint:errcheck // it fails anyway
		t.Fatalf("%v: goes on a minute after %v", args, s)
		panic("unreachable")
	}
}

// atWork reports whether a command has begun its long part.
func atWork(pid int) bool { return testenv.Used(pid) > 500*time.Millisecond }

// atOnce is the time within which a command ends that would go on for minutes: a busy host's.
const atOnce = 20 * time.Second

// The first signal ends a command, whatever it is doing, and leaves nothing half done.
func TestSignalsEndAtOnce(t *testing.T) {
	heddle, dir := buildHeddle(t), t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	write("tiny.yaml", tiny)
	const large = "rmat: {scale: 24, edge_factor: 32}"
	write("large.yaml", strings.Replace(tiny, "erdos_renyi: {vertices: 50, edges: 200}", large, 1))
	require.Zero(t, to(t, nil, dir, heddle, "run", "tiny.yaml").code)
	const query = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c"
	for _, args := range [][]string{
		{"graph", "gen", "rmat", "--scale", "24", "--edge-factor", "32", "-o", "large.txt"},
		{"results", "sql", "tiny", query},
		{"run", "large.yaml"},
	} {
		for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
			got, took := signalled(t, s, dir, atWork, heddle, args...)
			require.Equal(t, exitInterrupted, got.code, "%v: %s", args, got.stderr)
			require.Contains(t, got.stderr, "interrupted")
			require.Less(t, took, atOnce, "%v", args)
		}
	}
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range list {
		require.NotContains(t, e.Name(), "tmp")
		require.NotEqual(t, "large.txt", e.Name())
	}
}

// A run whose terminal is closed leaves its summaries, as one that is interrupted does, also while it makes a graph.
func TestARunThatIsHungUpIsSummarised(t *testing.T) {
	heddle := buildHeddle(t)
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT} {
		dir := t.TempDir()
		// nearly all time goes to making graphs
		text := "name: two\nmachine: vortex-1c4w4t\nworkload: {algorithm: pagerank, max_iterations: 1}\n" +
			"seeds: [1, 2, 3, 4, 5, 6, 7, 8]\ngraph: {rmat: {scale: 16, edge_factor: 16}}\nstop: {max_edges: 1000}\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, "two.yaml"), []byte(text), 0o644))
		log := filepath.Join(dir, "results", "two", "log.txt")
		ready := func(int) bool {
			b, _ := os.ReadFile(log)
			return bytes.Contains(b, []byte("partial (max_edges)"))
		}
		got, took := signalled(t, s, dir, ready, heddle, "run", "two.yaml", "--jobs", "1")
		require.Equal(t, exitInterrupted, got.code, got.stderr)
		require.Less(t, took, atOnce)
		b, err := os.ReadFile(filepath.Join(dir, "results", "two", "summary.json"))
		require.NoError(t, err)
		var sum struct {
			Points []struct{ Partial, Failure string }
		}
		require.NoError(t, json.Unmarshal(b, &sum))
		require.Len(t, sum.Points, 8)
		require.Equal(t, "max_edges", sum.Points[0].Partial)
		require.NotEmpty(t, sum.Points[7].Failure)
		done, err := os.ReadFile(log)
		require.NoError(t, err)
		require.Contains(t, string(done), "done in")
	}
}

// A run under nohup is not ended by the end of its terminal.
func TestAnIgnoredHangUpStaysIgnored(t *testing.T) {
	heddle, dir := buildHeddle(t), t.TempDir()
	c := exec.Command("sh", "-c", `trap "" HUP; exec "$0" "$@"`, heddle, "exec", "endless.s", "--functional",
		"--max-instrs", "20000000")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "endless.s"), []byte("_start: j _start\n"), 0o644))
	c.Dir = dir
	require.NoError(t, c.Start())
	require.Eventually(t, func() bool { return testenv.Used(c.Process.Pid) > 100*time.Millisecond }, time.Minute,
		time.Millisecond)
	if err := c.Process.Signal(syscall.SIGHUP); !errors.Is(err, os.ErrProcessDone) {
		require.NoError(t, err)
	}
	require.Equal(t, exitNoProgress, exitOf(t, c.Wait()))
}

// Foreign text is shown as text: no line of its own, no escape sequence, no reordering.
func TestNamesAreShownPlain(t *testing.T) {
	heddle, dir := buildHeddle(t), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tiny.yaml"), []byte(tiny), 0o644))
	const nasty = "a\x1b[31m\u202eb\r"
	for _, args := range [][]string{
		{"run", "tiny.yaml", "--set", "name=" + nasty}, {"graph", "info", "./" + nasty}, {"exec", nasty, "--functional"}, {"trace", "info", nasty}, {"frobnicate" + nasty},
	} {
		code, stdout, stderr := start(t, heddle, dir, args...)
		require.Equal(t, exitUsage, code, "%q", args)
		require.Empty(t, stdout)
		require.Contains(t, stderr, `\x1b[31m\u202eb\r`, "%q", args)
		require.NotContains(t, stderr, "\x1b")
		require.NotContains(t, stderr, "\u202e")
	}
	code, _, stderr := start(t, heddle, dir, "run", "tiny.yaml")
	require.Zero(t, code, stderr)
	storeAgain(t, filepath.Join(dir, "results", "tiny", store.File), func(e *store.Experiment, p *store.Point) {
		e.Version, p.Version, p.Failure, p.Error = nasty, nasty, nasty, nasty
		tree := p.Stats.Tree()
		named := []stats.Tree{tree}
		for _, s := range p.Steps {
			named = append(named, s.Stats)
		}
		for _, t := range named {
			for i := range t {
				t[i].Unit = nasty
			}
		}
		p.Stats = stats.Pack(tree)
	})
	for _, args := range [][]string{{"list"}, {"list", "tiny"}, {"show", "tiny", "1"},
		{"sql", "tiny", "SELECT failure FROM points"}, {"diff", "tiny", "tiny"}} {
		code, stdout, stderr := start(t, heddle, dir, append([]string{"results"}, args...)...)
		require.Zero(t, code, stderr)
		require.NotContains(t, stdout, "\x1b", "%v", args)
		require.NotContains(t, stdout, "\u202e", "%v", args)
		if args[0] != "list" {
			require.Contains(t, stdout, `a\x1b[31m\u202eb\r`, "%v: it is there to be shown", args)
		}
	}
}
