package cmd

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestConfigCheckFinds what would end a run before it begins: names that are nearly right, graphs that are not there,
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
