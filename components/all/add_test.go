package all_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// heddleWith builds the command with one more graph unit, as CONTRIBUTING.md describes: the folder of its component, a
// line in components/all, a file of schedules, and an entry in kernels/schedule. Nothing else is touched.
func heddleWith(t *testing.T, unit string) (command string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	dir := t.TempDir()
	replace := map[string]string{}
	edit := func(file, old, new string) {
		text, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		edited := strings.Replace(string(text), old, new, 1)
		require.NotEqual(t, string(text), edited)
		to := filepath.Join(dir, filepath.Base(file))
		require.NoError(t, os.WriteFile(to, []byte(edited), 0o644))
		replace[filepath.Join(root, file)] = to
	}
	edit("components/all/all.go", "import (\n", "import (\n\t_ \"heddle/components/"+unit+"\"\n")
	edit("kernels/schedule/schedule.go", "hwwl, eghw}", "hwwl, eghw, "+unit+"}")
	for file, from := range map[string]string{
		"components/" + unit + "/" + unit + ".go": unit + "/" + unit + ".go",
		"components/" + unit + "/kind.go":         unit + "/kind.go",
		"kernels/schedule/" + unit + ".go":        "schedule/" + unit + ".go",
	} {
		replace[filepath.Join(root, file)] = filepath.Join(root, "components/all/testdata", from)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o644))
	command = filepath.Join(dir, "heddle")
	c := exec.Command("go", "build", "-pgo=off", "-ldflags=-w", "-overlay", filepath.Join(dir, "overlay.json"), "-o", command, "./cmd/heddle")
	c.Dir = root
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return command
}

// echo has every lane of a warp ask the unit, and ends with 0 if cores have it, and it answers with what it was asked.
const echo = `
_start:	li t0, -1
	tmc t0
	csrr a0, vx_tid
	addi a0, a0, 70
	nothing.echo a1, a0
	sub a2, a1, a0
	li t0, 1
	tmc t0
	csrr a3, units
	li a4, 1<<16
	sub a3, a3, a4
	or a2, a2, a3
	sw a2, 0x88(zero)
	tmc zero
`

// TestAddAUnit: a folder and a line make a unit that has instructions, a section of a machine with a knob, a functional
// model without time, statistics, a flag of heddle exec, and a schedule whose results are verified.
func TestAddAUnit(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command once more")
	}
	command := heddleWith(t, "nothing")
	t.Chdir(t.TempDir())
	run := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(command, args...).CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	refused := func(says string, args ...string) {
		t.Helper()
		out, err := exec.Command(command, args...).CombinedOutput()
		require.Error(t, err)
		require.Contains(t, string(out), says)
	}
	require.NoError(t, os.WriteFile("echo.s", []byte(echo), 0o644))
	run("exec", "echo.s", "--untimed", "--nothing")
	refused("this machine has no nothing unit", "exec", "echo.s", "--untimed")
	refused("choose one: --weaver, --graphpeg, --hwwl, --eghw, --nothing", "exec", "echo.s", "--untimed", "--nothing", "--weaver")
	cycles := func(delay string) int {
		out := run("exec", "echo.s", "--machine", "vortex-1c4w4t", "--set", "core.nothing.delay="+delay, "--check")
		n, err := strconv.Atoi(regexp.MustCompile(`(\d+) cycles`).FindStringSubmatch(out)[1])
		require.NoError(t, err)
		return n
	}
	require.Equal(t, 30, cycles("31")-cycles("1"))
	refused("core.nothing: the core has a Weaver", "exec", "echo.s", "--machine", "vortex-1c4w4t-weaver", "--set", "core.nothing.delay=2")
	refused("core.nothing.delay: expected an integer 1..1000 (cycles)",
		"exec", "echo.s", "--machine", "vortex-1c4w4t", "--set", "core.nothing.delay=0")
	require.Contains(t, run("config", "schema", "--markdown"),
		"`nothing`: each thread walks the row of the vertex that the unit answers with.")
	require.Contains(t, run("isa", "--markdown"), "bit 3 hwwl, bit 16 nothing present")
	described := run("stats", "describe", "--machine", "vortex-1c4w4t", "--set", "core.nothing.delay=2", "nothing")
	require.Contains(t, described, "Requests answered.")

	require.NoError(t, os.WriteFile("e.yaml", []byte(`
name: e
machine: {extends: vortex-1c4w4t, core: {nothing: {}}}
graph: {erdos_renyi: {vertices: 60, edges: 200}}
compare: {workload.schedule: [vertex, nothing]}
sweep: {workload.algorithm: [pagerank, bfs, sssp], machine.core.nothing.delay: [1, 40]}
`), 0o644))
	require.Equal(t, 12, strings.Count(run("run", "e.yaml", "--check"), "│ yes "))
	refused("nothing: the machine's cores have no unit that does nothing; give machine.core.nothing",
		"run", "e.yaml", "--set", "machine=vortex-1c4w4t", "--set", "compare={}", "--set", "sweep={}", "--set", "workload.schedule=nothing")
}
