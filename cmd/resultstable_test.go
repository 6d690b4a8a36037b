package cmd

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestResultsTable(t *testing.T) {
	someResults(t)
	require.Regexp(t, `^speedup by schedule\n.+\n│ damping │ vertex │ edge │\n.+\n│ 0.5 +│ +1\.00 │ \d\.\d\d │\n│ 0.6 `,
		results(t, "table", "a"))
	out := results(t, "table", "a", "--rows", "schedule", "--columns", "damping,80", "--value", "cycles")
	require.Regexp(t, `│ schedule │ +0.5 │ +0.6 │`, out)
	require.Regexp(t, `│ edge +│ +\d+,\d{3} │ +\d+,\d{3} │`, out)

	// No graph unit has an area; the machine of all points is the same.
	require.Regexp(t, `│ 0.5 +│ +– │ +– │`, results(t, "table", "a", "--value", "speedup/unit_area"))
	require.NotContains(t, results(t, "table", "a", "--value", "speedup/area"), "–")
	value := func(value string) (cells []float64) {
		var m struct{ Cells []struct{ Value float64 } }
		require.NoError(t, json.Unmarshal([]byte(results(t, "table", "a", "--format", "json", "--value", value)), &m))
		for _, c := range m.Cells {
			cells = append(cells, c.Value)
		}
		return cells
	}
	cycles, perArea := value("cycles"), value("cycles/area")
	for i := range cycles {
		require.InEpsilon(t, cycles[0]/perArea[0], cycles[i]/perArea[i], 1e-9)
	}
	require.InDelta(t, 0.08, cycles[0]/perArea[0], 0.06, "mm²")

	latex := results(t, "table", "a", "--format", "latex")
	require.Contains(t, latex, "\\begin{tabular}{lS[table-format=1.2]S[table-format=1.2]}\n\\toprule\n"+
		"damping & {vertex} & {edge} \\\\")
	require.Regexp(t, `0\.5 & 1\.00 & \d\.\d\d \\\\`, latex)
	require.Regexp(t, `\| 0\.6 \| 0\.\d{3} \| 0\.\d{3} \|`,
		results(t, "table", "a", "--value", "l1d.hit_rate", "--format", "markdown"))

	var m struct {
		Value string
		Cells []struct {
			Row, Column map[string]string
			Value       float64
		}
	}
	require.NoError(t, json.Unmarshal([]byte(results(t, "table", "a", "--format", "json", "--value", "cycles")), &m))
	require.Len(t, m.Cells, 4)
	var points []map[string]any
	require.NoError(t, json.Unmarshal([]byte(results(t, "list", "a", "--json")), &points))
	require.Equal(t, points[3]["cycles"], m.Cells[3].Value)
	require.Equal(t, map[string]string{"workload.schedule": "edge"}, m.Cells[3].Column)
	lines := strings.Split(results(t, "table", "a", "--format", "csv", "--where", "damping=0.6"), "\n")
	require.Equal(t, "vertex,edge", lines[0])

	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--rows", "damp"}, "--rows damp: is no axis: expected some of schedule, damping"},
		{[]string{"--rows", "schedule", "--columns", "schedule"}, "has a place already"},
		{[]string{"--rows", "schedule", "--columns", "-3"}, "--columns -3: expected axes, or a width"},
		{[]string{"--value", "l1d.hitrate"},
			"--value l1d.hitrate: no point with a result has it; did you mean l1d.hit_rate?"},
		{[]string{"--where", "damping=2"}, "--where damping=2: no point has that"},
		{[]string{"--format", "xls"}, "--format xls: expected one of table, latex, markdown, csv, json"},
	} {
		_, errs, code := heddle(t, append([]string{"results", "table", "a"}, c.args...)...)
		require.Equal(t, exitUsage, code, c.args)
		require.Contains(t, errs, c.says)
	}
}

// On a terminal a sweep of many points is a matrix; elsewhere it has a row a point.
func TestALargeSweepIsAMatrix(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("e.yaml", []byte(`
name: many
machine: vortex-1c4w4t
graph: {erdos_renyi: {vertices: 30, edges: 60}}
workload: {algorithm: bfs}
compare: {workload.schedule: [vertex, edge, warp]}
sweep:
  workload.layout: [auto, csr]
  machine.l1d.bytes: [1KiB, 2KiB, 4KiB]
exclude: [{workload.schedule: edge, workload.layout: csr}]
`), 0o644))
	out, errs, code := heddle(t, "run", "e.yaml", "--quiet", "--columns", "80")
	require.Equal(t, exitOK, code, errs)
	require.Regexp(t, `speedup by schedule\n[^\n]+\n│ layout │ bytes │ vertex │ edge │ warp │\n`, out)
	require.Regexp(t, `│ csr +│ 4KiB +│ +1.00 │ +– │ \d\.\d\d │`, out)
	require.Contains(t, out, "verified: yes 15\nall points with their cycles: heddle results list many\n")
	out, errs, code = heddle(t, "run", "e.yaml", "--quiet")
	require.Equal(t, exitOK, code, errs)
	require.Equal(t, 15, strings.Count(out, "│ yes "))
}
