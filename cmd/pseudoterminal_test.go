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

	"heddle/internal/pty"
	"heddle/internal/testenv"
)

// twelve is a sweep of twelve points, each of a moment.
const twelve = `name: twelve
machine: vortex-1c4w4t
graph: {erdos_renyi: {vertices: 300, edges: 2000}}
workload: {algorithm: pagerank, max_iterations: 1}
compare:
  - {name: vertex, schedule: vertex}
  - {name: weaver, schedule: weaver, machine: vortex-1c4w4t-weaver}
sweep:
  machine.core.lsu_queue: [2, 4, 8]
  machine.core.weaver.table_latency: [1, 4, 16]
`

// lengthy is a sweep whose first points end soon and whose last takes minutes.
const lengthy = `name: long
machine: vortex-1c4w4t
graph: {erdos_renyi: {vertices: 300, edges: 2000}}
workload: {algorithm: pagerank}
sweep: {workload.max_iterations: [1, 2, 100000]}
`

// runsOnTerminals is the program and how often to run it: with testenv.LongVariable often, with the race detector.
func runsOnTerminals(t *testing.T) (program string, times int) {
	t.Helper()
	times = int(testenv.Cases(t, 2, 50))
	if testenv.Long(t) == 0 {
		return buildHeddle(t), times
	}
	program = filepath.Join(t.TempDir(), "heddle")
	out, err := exec.Command("go", "build", "-race", "-pgo=off", "-o", program, "./heddle").CombinedOutput()
	require.NoError(t, err, string(out))
	return program, times
}

// inNew returns a directory with an experiment.
func inNew(t *testing.T, name, text string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	return dir
}

// onTerminal starts a program in a directory on a terminal of 24 rows and 80 columns.
func onTerminal(t *testing.T, dir, program string, args ...string) *pty.Program {
	t.Helper()
	c := exec.Command(program, args...)
	c.Dir = dir
	return pty.Start(t, 24, 80, c)
}

// shownPlain requires that a program leaves whole lines that fit on its terminal, without the bars that it drew while
// it ran. It returns them.
func shownPlain(t *testing.T, p *pty.Program) string {
	t.Helper()
	text := strings.Join(p.Lines(), "\n")
	for _, line := range p.Wrapped() { // but for messages with users' names
		require.Regexp(t, `^(\^C)?heddle: `, line, "of more than 80 columns")
	}
	require.Empty(t, p.Unknown(), "controls")
	require.NotContains(t, text, "points done", "the foot is taken away")
	require.NotContains(t, text, "kcycles/s")
	require.NotRegexp(t, `(?m)^ *\d+ s  .* simulated`, text, "a search's")
	return text
}

// A sweep draws bars, ends, and leaves its table: each time.
func TestASweepOnATerminal(t *testing.T) {
	program, times := runsOnTerminals(t)
	dir := inNew(t, "twelve.yaml", twelve)
	for range times {
		p := onTerminal(t, dir, program, "run", "twelve.yaml", "--fresh", "--jobs", "4")
		require.Zero(t, p.Wait(), p.Output())
		require.Contains(t, p.Output(), "12 points done", "bars were drawn")
		require.Contains(t, p.Output(), "[", "bars were drawn")
		text := shownPlain(t, p)
		require.Equal(t, 12, strings.Count(text, "│ yes "), text)
		require.NotContains(t, text, "DATA RACE")
		require.Contains(t, text, "results in results/twelve")
	}
}

// The size of a terminal may change while bars are drawn, to any, and lines are still whole at the end.
func TestResizedTerminals(t *testing.T) {
	testenv.NeedSlow(t, "it repeats runs on many sizes")
	dir := inNew(t, "long.yaml", strings.Replace(lengthy, "[1, 2, ", "[1, 2, 3, 4, 5, 6, 7, 8, ", 1))
	p := onTerminal(t, dir, buildHeddle(t), "run", "long.yaml", "--jobs", "3")
	p.Await(" points done")
	for _, size := range [][2]int{{24, 120}, {10, 40}, {1, 1}, {2, 8}, {0, 0}, {50, 20}, {3, 200}, {24, 80}} {
		p.Resize(size[0], size[1])
		time.Sleep(200 * time.Millisecond) // bars are drawn for this size, mostly
	}
	log := filepath.Join(dir, "results", "long", "log.txt")
	p.Until("all but one are stored", func() bool { return verifiedIn(log) == 8 })
	p.Type(pty.CtrlC)
	require.Equal(t, exitInterrupted, p.Wait(), p.Output())
	text := strings.Join(p.Lines(), "\n")
	require.Empty(t, p.Unknown())
	require.Equal(t, 8, strings.Count(text, "│ yes "), text)
	require.NotRegexp(t, `points done.*\n(.*\n)*.*results in`, text[strings.Index(text, "┌"):])
}

// The first Ctrl-C ends a run, while bars are drawn too. Points that have ended are stored, and go into the summary.
func TestCtrlC(t *testing.T) {
	dir := inNew(t, "long.yaml", lengthy)
	p := onTerminal(t, dir, buildHeddle(t), "run", "long.yaml", "--jobs", "1")
	log := filepath.Join(dir, "results", "long", "log.txt")
	p.Until("two points are stored", func() bool { return verifiedIn(log) == 2 })
	p.Await("2 of 3 points done, 1 running")
	typed := time.Now()
	p.Type(pty.CtrlC)
	require.Equal(t, exitInterrupted, p.Wait(), p.Output())
	require.Less(t, time.Since(typed), atOnce)
	text := shownPlain(t, p)
	require.Equal(t, 2, strings.Count(text, "│ yes"), text)
	require.Contains(t, text, "interrupted")
	require.FileExists(t, filepath.Join(dir, "results", "long", "summary.json"))
	p = onTerminal(t, dir, buildHeddle(t), "run", "long.yaml", "--jobs", "1", "--max-cycles", "1000000")
	require.Equal(t, exitNoProgress, p.Wait(), p.Output())
	require.Contains(t, shownPlain(t, p), "2 of 3 points known")
}

// stopWhileRunning stops the terminal of a run until its points are verified. Its last screen is plain, unless the test
// was late to let the terminal go on: a run that has ended waits two seconds for it (internal/live), leaves the bars,
// and says in its log that it is done.
func stopWhileRunning(t *testing.T) (late bool) {
	t.Helper()
	dir := inNew(t, "twelve.yaml", twelve)
	p := onTerminal(t, dir, buildHeddle(t), "run", "twelve.yaml", "--jobs", "2")
	p.Await(" points done")
	p.Type(pty.CtrlS)
	log := filepath.Join(dir, "results", "twelve", "log.txt")
	p.Until("all points are verified", func() bool { return verifiedIn(log) == 12 })
	p.Type(pty.CtrlQ)
	b, err := os.ReadFile(log)
	require.NoError(t, err)
	late = strings.Contains(string(b), "done in")
	require.Zero(t, p.Wait(), p.Output())
	require.Equal(t, 12, strings.Count(strings.Join(p.Lines(), "\n"), "│ yes "), p.Output())
	if !late {
		shownPlain(t, p)
	}
	return late
}

// A stopped terminal (Ctrl-S) stops no point, and a signal still ends the run.
func TestAStoppedTerminal(t *testing.T) {
	late := true
	for n := 0; late && n < 5; n++ {
		late = stopWhileRunning(t)
	}
	require.False(t, late, "the terminal goes on soon after a run has ended, in one of five")

	dir := inNew(t, "long.yaml", lengthy)
	for begun, args := range map[string][]string{" points done": {"run", "long.yaml"},
		"": {"exec", "endless.s", "--functional"}} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "endless.s"), []byte(forever), 0o644))
		p := onTerminal(t, dir, buildHeddle(t), args...)
		p.Until("it is at work", func() bool { return p.Output() != "" && strings.Contains(p.Output(), begun) })
		p.Type(pty.CtrlS)
		time.Sleep(500 * time.Millisecond)
		sent := time.Now()
		require.NoError(t, syscall.Kill(p.Pid(), syscall.SIGTERM))
		require.Equal(t, exitInterrupted, p.Wait(), args)
		require.Less(t, time.Since(sent), atOnce)
	}
	require.FileExists(t, filepath.Join(dir, "results", "long", "summary.json"))
}

// A search shows its line, ends at Ctrl-C, goes on, and leaves its tables.
func TestTuneOnATerminal(t *testing.T) {
	testenv.NeedSlow(t, "it searches on a terminal")
	dir := inNew(t, "one.yaml", strings.Replace(tiny, "name: tiny", "name: one", 1))
	args := []string{"tune", "one.yaml", "--jobs", "2", "--only", "schedule=vertex,edge,cta", "--only",
		"layout=csr,csr-csc,coo", "--points"}
	p := onTerminal(t, dir, buildHeddle(t), append(args, "3000")...) // of which the key ends all but a few
	p.Await(" simulated, best ")
	p.Type(pty.CtrlC)
	require.Equal(t, exitInterrupted, p.Wait(), p.Output())
	require.Contains(t, shownPlain(t, p), "heddle: interrupted")
	p = onTerminal(t, dir, buildHeddle(t), append(args, "30")...)
	p.Resize(24, 60)
	p.Await(" simulated")
	p.Resize(24, 80)
	require.Zero(t, p.Wait(), p.Output())
	require.Contains(t, shownPlain(t, p), "points known")
}

// A pack draws the bars of each of its experiments.
func TestReproduceOnATerminal(t *testing.T) {
	packs, err := filepath.Abs("testdata/packs")
	require.NoError(t, err)
	args := []string{"reproduce", filepath.Join(packs, "tiny.yaml"), "--jobs", "2"}
	dir := t.TempDir()
	lasting := []string{"--set", "workload.max_iterations=100000", "--out", "lasting"}
	p := onTerminal(t, dir, buildHeddle(t), append(args, lasting...)...)
	p.Await(" points done, ")
	p.Type(pty.CtrlC)
	require.Equal(t, exitInterrupted, p.Wait(), p.Output())
	require.Contains(t, shownPlain(t, p), "interrupted")
	long := []string{"--set", "workload.max_iterations=60"} // enough for bars to be drawn on a fast host
	p = onTerminal(t, dir, buildHeddle(t), append(args, long...)...)
	p.Await(" points done, ")
	p.Resize(30, 80)
	require.Zero(t, p.Wait(), p.Output())
	require.Contains(t, shownPlain(t, p), "The statement holds: yes")
}

// Slurm's progress is printed in lines. Ctrl-C leaves the job alone, and the same command waits for it again.
func TestSlurmOnATerminal(t *testing.T) {
	testenv.NeedSlow(t, "it starts a cluster")
	startSlurm(t)
	dir := inNew(t, "twelve.yaml", twelve)
	args := []string{"run", "twelve.yaml", "--launcher", "slurm", "--poll", "100ms", "--set",
		"workload.max_iterations=3"}
	p := onTerminal(t, dir, buildHeddle(t), args...)
	p.Await(" submitted: ")
	p.Resize(24, 100)
	p.Type(pty.CtrlC)
	require.Equal(t, exitInterrupted, p.Wait(), p.Output())
	require.Regexp(t, `interrupted: slurm job \d+ goes on`, shownPlain(t, p))
	p = onTerminal(t, dir, buildHeddle(t), args...)
	require.Zero(t, p.Wait(), p.Output())
	require.Equal(t, 12, strings.Count(shownPlain(t, p), "│ yes "), p.Output())
}

// Commands without bars end at once too.
func TestCtrlCOfOtherCommands(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"graph", "gen", "rmat", "--scale", "24", "--edge-factor", "32", "-o", "large.txt"},
		{"validate", "--machines", "m6"},
	} {
		p := onTerminal(t, dir, buildHeddle(t), args...)
		p.Until("it is at work", func() bool { return atWork(p.Pid()) })
		typed := time.Now()
		p.Resize(10, 60)
		p.Type(pty.CtrlC)
		require.Equal(t, exitInterrupted, p.Wait(), p.Output())
		require.Less(t, time.Since(typed), atOnce)
		// the terminal echoes the key
		require.Regexp(t, `(?m)^(\^C)?heddle: interrupted$`, strings.Join(p.Lines(), "\n"))
	}
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, list, "nothing is left half done")
	p := onTerminal(t, dir, buildHeddle(t), "graph", "gen", "rmat", "--scale", "10", "--edge-factor", "4", "-o",
		"small.txt")
	require.Zero(t, p.Wait(), p.Output())
	require.Empty(t, p.Unknown())
}

// The width of a terminal is found through the writer that watches standard output.
func TestTablesFitARealTerminal(t *testing.T) {
	program := buildHeddle(t)
	someResults(t)
	out := func(args ...string) string {
		p := onTerminal(t, "", program, args...)
		require.Zero(t, p.Wait(), p.Output())
		for _, line := range p.Wrapped() {
			require.True(t, strings.HasPrefix(line, "  heddle "), "%v\n%s", args, p.Output()) // a command to copy
		}
		return p.Output()
	}
	out("run", "e.yaml", "--quiet", "--fresh") // with this program
	for _, args := range [][]string{{"run", "e.yaml", "--quiet"}, {"results", "list", "a"}, {"config", "list"},
		{"run", "--help"}} {
		out(args...)
	}
	require.Contains(t, out("run", "e.yaml", "--quiet"), "no room for")
	p := onTerminal(t, "", program, "run", "e.yaml", "--quiet", "--columns", "0")
	require.Zero(t, p.Wait())
	require.NotContains(t, p.Output(), "no room for")
}
