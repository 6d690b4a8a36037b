package documents

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// echo has every lane of a warp ask the unit, and ends with 0 if the cores have it and it returns its operand.
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

// addedUnit tests the unit that the recipe adds, with the command that the recipes build: the unit has instructions, a
// section of a machine with a knob, a functional model, statistics, a flag of heddle exec, and a schedule whose results
// are verified.
func addedUnit(t *testing.T, command string) {
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
	run("exec", "echo.s", "--functional", "--nothing")
	refused("this machine has no nothing unit", "exec", "echo.s", "--functional")
	refused("choose one: --weaver, --graphpeg, --hwwl, --eghw, --nothing", "exec", "echo.s", "--functional", "--nothing",
		"--weaver")
	cycles := func(delay string) int {
		out := run("exec", "echo.s", "--machine", "vortex-1c4w4t", "--set", "core.nothing.delay="+delay, "--check")
		n, err := strconv.Atoi(regexp.MustCompile(`(\d+) cycles`).FindStringSubmatch(out)[1])
		require.NoError(t, err)
		return n
	}
	require.Equal(t, 30, cycles("31")-cycles("1"))
	refused("core.nothing: the core has a Weaver", "exec", "echo.s", "--machine", "vortex-1c4w4t-weaver", "--set",
		"core.nothing.delay=2")
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
		"run", "e.yaml", "--set", "machine=vortex-1c4w4t", "--set", "compare={}", "--set", "sweep={}", "--set",
		"workload.schedule=nothing")
}
