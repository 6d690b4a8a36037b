package cmd

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment/silicon"
	"heddle/internal/testenv"
)

// siliconFile has times of three schedules of two algorithms on a path of four vertices and a graph that is not there.
func siliconFile(t *testing.T) (file, graphs string) {
	t.Helper()
	dir := t.TempDir()
	file, graphs = filepath.Join(dir, "gpu.csv"), filepath.Join(dir, "graphs")
	var b strings.Builder
	b.WriteString("variant,graph,n,m,alg,config,sched,super_steps,launches,us_med,us_min,us_p90,us_null\n")
	for _, g := range []string{"path,4,6", "lost,9,9"} {
		for _, alg := range []string{"pr-pull", "bfs"} {
			for i, s := range []string{"edge", "vertex", "warp"} {
				for j, config := range []string{"whole", "half"} {
					us := 10 * (i + 1) * (j + 1)
					fmt.Fprintf(&b, "as is,%s,%s,%s,%s,3,4,%d,%d,%d,2\n", g, alg, config, s, us, us-1, us+1)
				}
			}
		}
	}
	require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o600))
	require.NoError(t, os.Mkdir(graphs, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(graphs, "path.txt"), []byte("0 1\n1 2\n2 3\n"), 0o600))
	return file, graphs
}

// TestValidateSilicon: from the file to tables, a page, a figure and stored points, which another choice of schedules
// finds again.
func TestValidateSilicon(t *testing.T) {
	file, graphs := siliconFile(t)
	dir := t.TempDir()
	args := []string{"validate", "--silicon", file, "--graphs", graphs, "--machine", "vortex-1c4w4t", "--out", dir,
		"--jobs", "1"}
	out, errs, code := heddle(t, append(args, "--schedules", "vertex,edge", "--columns", "80")...)
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, errs, "lost: no file of it in "+graphs)
	require.Contains(t, out, "vortex-1c4w4t beside whole, as is; unroll auto")
	require.Contains(t, out, "Left out, since there is no such graph: lost.")
	results := filepath.Join(dir, "silicon", "vortex-1c4w4t", "path")
	require.FileExists(t, filepath.Join(results, "config.resolved.yaml"))

	page, picture := filepath.Join(dir, "page.md"), filepath.Join(dir, "scatter.svg")
	cycles := filepath.Join(dir, "cycles.csv")
	_, errs, code = heddle(t, append(args, "--config", "half,whole", "--unroll", "auto,1", "--markdown", page,
		"--scatter", picture, "--cycles", cycles)...)
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, errs, "4 of 84 points known")
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(text), "![Scaled cycles over time on silicon](scatter.svg)")
	require.Contains(t, string(text), "--unroll=auto --unroll=1")
	require.Contains(t, string(text), "| silicon, whole | half |")
	require.FileExists(t, picture)
	text, err = os.ReadFile(cycles)
	require.NoError(t, err)
	require.Len(t, strings.Split(strings.TrimSpace(string(text)), "\n"), 1+2*2*3)

	out, errs, code = heddle(t, append(args, "--unroll", "auto,1", "--json")...)
	require.Equal(t, exitOK, code, errs)
	require.Contains(t, errs, "12 of 84 points known")
	var r silicon.Report
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Len(t, r.Comparisons, 2)
	require.Len(t, r.Comparisons[0].Cases, 2)
	require.Positive(t, r.Comparisons[0].Cases[1].Points[2].Cycles)
	require.Zero(t, r.Failed)

	// a point that fails is left out and named, and so is the command's exit code
	out, _, code = heddle(t, append(args, "--max-cycles", "10", "--fresh")...)
	require.Equal(t, exitNoProgress, code, out)
}

// TestValidateSiliconBlocks: points have the thread blocks of the configuration that they are compared with, and
// configurations of other blocks are not compared at once.
func TestValidateSiliconBlocks(t *testing.T) {
	file, graphs := siliconFile(t)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(string(text), "warp", "cta")), "\n")
	for i := range lines {
		switch {
		case i == 0:
			lines[i] += ",block"
		case strings.Contains(lines[i], "whole"):
			lines[i] += ",16"
		default:
			lines[i] += ",8"
		}
	}
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	dir := t.TempDir()
	cta := map[string]string{}
	for config, known := range map[string]string{"whole": "", "half": "cta_threads: 8 "} {
		cycles := filepath.Join(dir, config+".csv")
		args := []string{"validate", "--silicon", file, "--graphs", graphs, "--machine", "vortex-1c4w4t", "--out", dir,
			"--algorithms", "bfs", "--config"}
		_, errs, code := heddle(t, append(args, config, "--cycles", cycles, "--json")...)
		require.Equal(t, exitOK, code, errs)
		resolved, err := os.ReadFile(filepath.Join(dir, "silicon", "vortex-1c4w4t", "path", "config.resolved.yaml"))
		require.NoError(t, err)
		require.Contains(t, string(resolved), known)
		text, err := os.ReadFile(cycles)
		require.NoError(t, err)
		for _, l := range strings.Split(string(text), "\n") {
			if strings.Contains(l, ",cta,") {
				cta[config] = l
			}
		}
		_, errs, code = heddle(t, append(args, "whole,half")...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, strings.Join(strings.Fields(errs), " "), "thread blocks of whole have 16 threads, and "+
			"those of half 8: expected the same")
	}
	require.NotEmpty(t, cta["whole"])
	require.NotEmpty(t, cta["half"])
	require.NotEqual(t, cta["whole"], cta["half"])
}

// TestValidateSiliconRefuses meaningless input, before anything runs.
func TestValidateSiliconRefuses(t *testing.T) {
	file, graphs := siliconFile(t)
	other := filepath.Join(t.TempDir(), "other.csv")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(other, []byte(strings.ReplaceAll(string(text), "path,4,6", "path,4,8")), 0o600))
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--graph", "path"}, "--graph: expected --silicon beside it"},
		{[]string{"--sampling", "--jobs", "2"}, "--jobs: expected --silicon beside it"},
		{[]string{"--silicon", file, "--sampling"}, "silicon"},
		{[]string{"--silicon", file + "x"}, "no such file"},
		{[]string{"--silicon", file, "--config", "third"}, "--config third: expected some of whole, half"},
		{[]string{"--silicon", file, "--schedules", "cta"}, "--schedules cta: expected some of vertex, warp, edge"},
		{[]string{"--silicon", file, "--unroll", "2"}, "--unroll 2: expected some of auto, 1"},
		{[]string{"--silicon", file, "--graph", "lost"}, "none of its graphs is in " + graphs},
		{[]string{"--silicon", file, "--machine", "nothing"}, "nothing"},
		{[]string{"--silicon", file, "--machine", "a", "--machine", "./x/a.yaml"}, "./x/a.yaml: has the name of a"},
		{[]string{"--silicon", file, "--scatter", "x.gif"}, "expected a name that ends in .svg"},
		{[]string{"--silicon", other, "--graph", "path"}, "other.csv:2: path has n = 4 and m = 8, and "},
	} {
		dir := t.TempDir()
		args := append([]string{"validate"}, c.args...)
		if c.args[0] == "--silicon" {
			args = append(args, "--graphs", graphs, "--out", dir)
		}
		_, errs, code := heddle(t, args...)
		require.NotEqual(t, exitOK, code, c.args)
		require.Contains(t, strings.Join(strings.Fields(errs), " "), c.says, c.args)
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left, c.args)
	}
}

// TestSiliconCycles: the pages beside silicon were made of cycles that are simulated now.
func TestSiliconCycles(t *testing.T) {
	testenv.NeedSlow(t, "it simulates recorded points again")
	for _, c := range []struct{ times, cycles, machine, schedules string }{
		{"h100.csv", "cycles.csv", "vortex-6c32w32t", "strict,warp"},
		{"h100-heddle.csv", "cycles-heddle.csv", "gpu-60sm", "edge,strict"},
	} {
		cycles := filepath.Join(t.TempDir(), "cycles.csv")
		_, errs, code := heddle(t, "validate", "--silicon", "../docs/results/silicon/"+c.times, "--machine", c.machine,
			"--graph", "facebook", "--algorithms", "pr-push", "--schedules", c.schedules, "--cycles", cycles,
			"--out", t.TempDir(), "--json")
		require.Equal(t, exitOK, code, errs)
		got, err := os.ReadFile(cycles)
		require.NoError(t, err)
		recorded, err := os.ReadFile("../docs/results/silicon/" + c.cycles)
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSpace(string(got)), "\n")
		require.Len(t, lines, 3)
		for _, l := range lines {
			require.Contains(t, string(recorded), l+"\n", "run the command of the page again")
		}
	}
}
