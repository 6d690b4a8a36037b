package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
)

// snippet matches a command or a snippet of docs/guide/python.md, with the module that it needs besides pandas.
var snippet = regexp.MustCompile("(?s)```(sh|python)(?: (\\w+))?\n(.*?)```")

// smaller are settings with which the quickstart takes no time.
const smaller = ` --set graph.file=./small.txt` +
	` --set "compare={workload.schedule: [vertex, edge, weaver], machine: [vortex-1c4w4t, vortex-1c4w4t, vortex-1c4w4t-weaver]}"`

// TestPythonPage runs docs/guide/python.md as its reader would: the commands, the run on a smaller graph and smaller
// machines, then the snippets as one notebook.
func TestPythonPage(t *testing.T) {
	testenv.NeedSlow(t, "it follows a page of the guide")
	text, err := os.ReadFile("../docs/guide/python.md")
	require.NoError(t, err)
	python := ""
	// the first may be a user's own, without Debian's packages
	for _, p := range []string{"python3", "/usr/bin/python3"} {
		if python == "" && hasModules(p, "pandas", "matplotlib") {
			python = p
		}
	}
	if python == "" {
		t.Skip("python3 has no pandas or no matplotlib: install python3-pandas and python3-matplotlib (.ci/install.sh)")
	}
	t.Chdir(t.TempDir())
	smallGraph(t)
	needs := map[string]string{"": "pandas", "parquet": "pyarrow", "duckdb": "duckdb"}
	var notebook strings.Builder
	snippets := 0
	for _, m := range snippet.FindAllStringSubmatch(string(text), -1) {
		if m[1] == "sh" {
			for _, line := range strings.Split(strings.TrimSpace(m[3]), "\n") {
				if line == "heddle run quickstart" {
					line += smaller
				}
				require.NotContains(t, play(t, line), "NO: ", line)
			}
			continue
		}
		module, known := needs[m[2]]
		require.True(t, known, m[2])
		if !hasModules(python, module) {
			t.Logf("skipped the snippet on %s: python3 has no %s, which Debian 12 does not have either", m[2], module)
			continue
		}
		snippets++
		notebook.WriteString(m[3])
	}
	require.GreaterOrEqual(t, snippets, 7)
	require.NoError(t, os.WriteFile("notebook.py", []byte(notebook.String()), 0o644))
	c := exec.Command(python, "notebook.py")
	c.Env = append(os.Environ(), "MPLBACKEND=Agg", "COLUMNS=80", "MPLCONFIGDIR="+t.TempDir())
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
	for _, s := range []string{"stats.simd_efficiency", "l1d_hit_rate", "weaver", "dram.reads", "gather_sum"} {
		require.Contains(t, string(out), s)
	}
	require.NotContains(t, string(out), "Warning")
	require.FileExists(t, filepath.Join(".", "speedup.svg"))
}

// hasModules looks for modules without importing them, which takes seconds.
func hasModules(python string, names ...string) bool {
	const find = "import sys, importlib.util; sys.exit(not all(importlib.util.find_spec(m) for m in sys.argv[1:]))"
	return exec.Command(python, append([]string{"-c", find}, names...)...).Run() == nil
}
