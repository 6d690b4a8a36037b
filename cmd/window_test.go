package cmd

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
)

// A window is written beside a run that says the same as without it.
func TestExecWindow(t *testing.T) {
	dir := t.TempDir()
	konata, perfetto := filepath.Join(dir, "k"), filepath.Join(dir, "p")
	args := []string{"exec", hello, "--machine", "vortex-1c4w4t"}
	want, errs, code := heddle(t, args...)
	require.Equal(t, exitOK, code)
	cycles, _, _ := strings.Cut(errs, " ")
	out, errs, code := heddle(t, append(args, "--window", "cycles=100..1500,warps=0..1", "--konata", konata,
		"--perfetto", perfetto)...)
	require.Equal(t, exitOK, code, errs)
	require.Equal(t, want, out)
	require.Contains(t, errs, cycles+" cycles")
	data, err := os.ReadFile(konata)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(data), "Kanata\t0004\nC=\t100\n"))
	data, err = os.ReadFile(perfetto)
	require.NoError(t, err)
	require.Contains(t, string(data), `"name":"Core0"`)
}

func TestExecWindowRefused(t *testing.T) {
	timed := []string{"--machine", "vortex-1c4w4t"}
	for says, args := range map[string][]string{
		"--konata is for timed machines":               {"--functional", "--konata", "x"},
		"--window: expected --konata FILE, --perf":     append(timed, "--window", "cycles=1..2"),
		"--vcd is for timed machines":                  {"--functional", "--vcd", "x"},
		"--log-file: expected --log FILTER":            append(timed, "--log-file", "x"),
		"--log: wever: the machine has no unit wever":  append(timed, "--log", "wever"),
		"--log is for timed machines":                  {"--functional", "--log", "core0"},
		"--vcd-signals: expected --vcd FILE":           append(timed, "--vcd-signals", "*"),
		"*.fsm: the machine has no such signal":        append(timed, "--vcd", filepath.Join(t.TempDir(), "v"), "--vcd-signals", "*.fsm"),
		"--vcd-signals: /(/: expected a regular":       append(timed, "--vcd", "x", "--vcd-signals", "/(/"),
		"--window lanes=1: expected cycles=A..B":       append(timed, "--window", "lanes=1", "--konata", "x"),
		"--window cores=1: the machine has 1":          append(timed, "--window", "cores=1", "--konata", "x"),
		"a limit of 5 bytes: expected 65536 to":        append(timed, "--window-bytes", "5", "--konata", "x"),
		"--perfetto: open /nowhere/x: no such file or": append(timed, "--perfetto", "/nowhere/x"),
	} {
		_, errs, code := heddle(t, append([]string{"exec", hello}, args...)...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, errs, says)
	}
}

// The signals that --list-signals prints are those that --vcd-signals knows.
func TestListSignals(t *testing.T) {
	out, errs, code := heddle(t, "exec", hello, "--machine", "vortex-1c4w4t-weaver", "--list-signals")
	require.Equal(t, exitOK, code, errs)
	require.Empty(t, errs) // nothing has run
	require.Contains(t, out, "socket0.core0.weaver.fsm ")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i := 0; i < len(lines); i += 17 {
		name, _, _ := strings.Cut(lines[i], " ")
		vcd := filepath.Join(t.TempDir(), "v")
		_, errs, code := heddle(t, "exec", hello, "--machine", "vortex-1c4w4t-weaver", "--window", "cycles=0..200",
			"--vcd", vcd, "--vcd-signals", name)
		require.Equal(t, exitOK, code, errs)
		data, err := os.ReadFile(vcd)
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(string(data), "$var "))
	}
	look, errs, code := heddle(t, "inspect", "quickstart", "--point", "1", "--list-signals")
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, look, ".warp0.state ")
}

// The log and the Perfetto file have the frontier of every super-step, which add up to the run's statistic.
func TestLookFrontier(t *testing.T) {
	dir := t.TempDir()
	small, log, perfetto := filepath.Join(dir, "small.yaml"), filepath.Join(dir, "log"), filepath.Join(dir, "p")
	require.NoError(t, os.WriteFile(small, []byte("name: t\nmachine: vortex-1c4w4t-weaver\ngraph: {erdos_renyi: "+
		"{vertices: 64, edges: 256}}\nworkload: {algorithm: bfs, schedule: weaver}\n"), 0o644))
	out, errs, code := heddle(t, "run", "--json", "--out", dir, small)
	require.Equal(t, exitOK, code, errs)
	var summary struct {
		Points []struct{ Stats map[string]float64 }
	}
	require.NoError(t, json.Unmarshal([]byte(out), &summary))
	_, errs, code = heddle(t, "inspect", small, "--log", "host=step", "--log-file", log, "--perfetto", perfetto)
	require.Equal(t, exitOK, code, errs)
	data, err := os.ReadFile(log)
	require.NoError(t, err)
	vertices, lines := 0, strings.Split(strings.TrimSpace(string(data)), "\n")
	for i, l := range lines {
		var now, step, v, e int
		_, err := fmt.Sscanf(l, "%d host step: %d, %d vertices, %d edges", &now, &step, &v, &e)
		require.NoError(t, err, l)
		require.Equal(t, i+1, step)
		vertices += v
	}
	require.EqualValues(t, summary.Points[0].Stats["frontier.vertices"], vertices)
	data, err = os.ReadFile(perfetto)
	require.NoError(t, err)
	require.Equal(t, len(lines), strings.Count(string(data), `"name":"frontier vertices"`))
}

// heddle inspect takes the cycles that heddle run does, and writes the files.
func TestLook(t *testing.T) {
	konata, perfetto := filepath.Join(t.TempDir(), "k"), filepath.Join(t.TempDir(), "p")
	small := filepath.Join(t.TempDir(), "small.yaml")
	require.NoError(t, os.WriteFile(small, []byte("name: t\nmachine: vortex-1c4w4t-weaver\ngraph: {erdos_renyi: "+
		"{vertices: 64, edges: 256}}\nworkload: {algorithm: bfs, schedule: weaver}\n"), 0o644))
	want, errs, code := heddle(t, "run", "--json", "--out", t.TempDir(), small)
	require.Equal(t, exitOK, code, errs)
	var summary struct{ Points []struct{ Cycles uint64 } }
	require.NoError(t, json.Unmarshal([]byte(want), &summary))
	out, errs, code := heddle(t, "inspect", small, "--window", "cycles=1000..6000", "--konata", konata, "--perfetto",
		perfetto)
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, out, ": "+experiment.Thousands(summary.Points[0].Cycles)+" cycles")
	data, err := os.ReadFile(konata)
	require.NoError(t, err)
	require.Contains(t, string(data), "\tSb\n")
	require.Contains(t, string(data), "\t1\ts2 fill\n")
	require.FileExists(t, perfetto)

	_, errs, code = heddle(t, "inspect", "quickstart", "--konata", konata)
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "--point 0: the experiment has 3 points")
	_, errs, code = heddle(t, "inspect", "quickstart")
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, expectedFiles)
}
