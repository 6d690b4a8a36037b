package cmd

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// TestConfigCheckFinds errors that would end a run before it begins: misspelt names, missing graphs,
// vertices that they do not have.
func TestConfigCheckFinds(t *testing.T) {
	t.Chdir(t.TempDir())
	const machine, graph = "machine: vortex-6c32w32t\n", "graph: {rmat: {scale: 5}}\n"
	for says, text := range map[string]string{
		"nam: unknown key; did you mean name?":                         "nam: x\n" + machine + graph + "workload: {algorithm: bfs}\n",
		"x.yaml:3:15: graph.file: ./gone.txt: no such f":               "name: x\n" + machine + "graph: {file: ./gone.txt}\nworkload: {algorithm: bfs}\n",
		"source = 99: the graph has vertices 0 to 31":                  "name: x\n" + machine + graph + "workload: {algorithm: bfs, source: 99}\n",
		"a preset that has it: vortex-6c32w32t-weaver":                 "name: x\n" + machine + graph + "workload: {schedule: weaver}\n",
		"machine.core.issue.slices: 3: expected a divisor of 32 warps": "name: x\nmachine: {extends: vortex-6c32w32t, core: {issue: {slices: 3}}}\n" + graph,
		"machine.l1d.bytes: 1000: expected ":                           "name: x\nmachine: {extends: vortex-6c32w32t, l1d: {bytes: 1000}}\n" + graph,
		"did you mean quickstart?":                                     "",
		"did you mean vortex-6c32w32t? (heddle config li":              "vortex-6c32w32",
	} {
		name := "./x.yaml"
		switch {
		case text == "":
			name = "quickstrat"
		case !strings.Contains(text, "\n"):
			name = text
		default:
			require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
		}
		_, errs, code := heddle(t, "config", "check", name)
		require.Equal(t, exitUsage, code, says)
		require.Contains(t, errs, says)
	}
	for _, name := range []string{"quickstart", "vortex-6c32w32t"} {
		out, errs, code := heddle(t, "config", "check", name)
		require.Zero(t, code, errs)
		require.Empty(t, out+errs)
	}
}

// TestTablesBreakNoWords: with more axes than there is room for at 80 columns, values stand side by side, whole.
func TestTablesBreakNoWords(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("x.yaml", []byte(`name: x
machine: vortex-1c4w4t
graph: {rmat: {scale: 4}, clean: {symmetrise: true}}
workload: {algorithm: bfs}
compare: {machine.memory.preset: [hbm2-2gbps, hbm2-2gbps-jedec]}
sweep: {workload.schedule: [vertex, edge], machine.core.warps: [2, 4], workload.algorithm: [bfs, cc]}
`), 0o644))
	_, errs, code := heddle(t, "run", "./x.yaml")
	require.Zero(t, code, errs)
	out := results(t, "list", "x", "--columns", "80")
	for _, line := range strings.Split(out, "\n") {
		require.LessOrEqual(t, utf8.RuneCountInString(line), 80, line)
	}
	require.Contains(t, out, "preset schedule warps")
	require.Contains(t, out, "│ hbm2-2gbps-jedec edge 4 cc ")
	require.Contains(t, results(t, "list", "x", "--columns", "200"), "│ hbm2-2gbps-jedec │ edge ")
}
