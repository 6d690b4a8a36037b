package cmd

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	root "heddle"
	"heddle/experiment/store"
)

// someResults runs a small experiment twice: results/a, and results/b with another L1D.
func someResults(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("e.yaml", []byte(`
name: a
machine: vortex-1c4w4t
graph: {erdos_renyi: {vertices: 60, edges: 200}}
compare: {workload.schedule: [vertex, edge]}
sweep: {workload.algorithm.damping: [0.5, 0.6]}
`), 0o644))
	_, errs, code := heddle(t, "run", "./e.yaml")
	require.Equal(t, exitOK, code, errs)
	_, errs, code = heddle(t, "run", "./e.yaml", "--set", "name=b", "--set", "machine.l1d.bytes=1KiB")
	require.Equal(t, exitOK, code, errs)
}

// results runs heddle results, which succeeds.
func results(t *testing.T, args ...string) string {
	t.Helper()
	out, errs, code := heddle(t, append([]string{"results"}, args...)...)
	require.Equal(t, exitOK, code, errs)
	return out
}

// TestGrowing: an experiment grows, and reuses another's results; points that it lost are kept until collected, and
// speedups are over any variant.
func TestGrowing(t *testing.T) {
	someResults(t)
	run := func(says string, args ...string) string {
		out, errs, code := heddle(t, append([]string{"run", "e.yaml"}, args...)...)
		require.Equal(t, exitOK, code, errs)
		require.Contains(t, errs, says)
		return out
	}
	run("4 of 6 points known\n", "--set", "sweep={workload.algorithm.damping: [0.4, 0.5, 0.6]}")
	run("4 of 6 points known (4 from a)\n", "--set", "name=c", "--set",
		"compare=[{name: slow, schedule: warp}, {name: v, schedule: vertex}, {name: e, schedule: edge}]")
	run("2 of 2 points known; 1 of them are simulated again", "--set", "sweep={workload.algorithm.damping: [0.6]}",
		"--recheck",
		"1%")
	require.Contains(t, results(t, "gc", "a", "--dry-run"), "4 points to delete")
	require.Contains(t, results(t, "list", "a", "--json"), `"workload.algorithm.damping": "0.6"`)
	run("6 of 6 points known\n", "--set", "sweep={workload.algorithm.damping: [0.4, 0.5, 0.6]}")
	run("4 of 4 points known\n")
	require.Contains(t, results(t, "gc"), "2 points deleted")
	require.Contains(t, results(t, "gc"), "0 points deleted")
	run("4 of 6 points known\n", "--set", "sweep={workload.algorithm.damping: [0.4, 0.5, 0.6]}")

	var list, over []struct {
		Cycles  float64 `json:"cycles"`
		Speedup float64 `json:"speedup"`
		Variant string  `json:"variant"`
	}
	require.NoError(t, json.Unmarshal([]byte(results(t, "list", "c", "--json")), &list))
	require.NoError(t, json.Unmarshal([]byte(results(t, "list", "c", "--json", "--baseline", "e")), &over))
	require.Len(t, list, 6)
	for i := range list {
		at := map[string]int{"slow": i, "v": i - 1, "e": i - 2}[list[i].Variant]
		require.InDelta(t, list[at].Cycles/list[i].Cycles, list[i].Speedup, 1e-9)
		require.InDelta(t, list[at+2].Cycles/over[i].Cycles, over[i].Speedup, 1e-9)
	}
	require.Contains(t, results(t, "export", "c", "--baseline", "v", "--format", "markdown"), "| v | 0.5 | ")
	for _, args := range [][]string{{"report", "c"}, {"figure", "c"}, {"results", "list", "c"},
		{"results", "show", "c", "1"}} {
		_, errs, code := heddle(t, append(args, "--baseline", "e")...)
		require.Equal(t, exitOK, code, errs)
		_, errs, code = heddle(t, append(args, "--baseline", "none")...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, errs, "there is no such variant: expected one of variant=slow, variant=v, variant=e")
	}
}

func TestResults(t *testing.T) {
	someResults(t)
	require.NoError(t, os.Mkdir("results/broken", 0o755))
	require.NoError(t, os.WriteFile("results/broken/"+store.File, []byte(strings.Repeat("no database", 100)), 0o644))
	out := results(t, "list")
	require.Regexp(t, `│ a +│ +4 │ +4 │ +0 │ \d{4}-`, out)
	require.Contains(t, out, "not a database")
	out = results(t, "list", "a")
	require.Regexp(t, `│ +2 │ edge +│ 0.5 +│ +[0-9,]+ │ +\d\.\d\d× │ yes`, out)

	var list []map[string]any
	text, err := os.ReadFile("results/a/summary.json")
	require.NoError(t, err)
	var s struct {
		Points []struct {
			Cycles  float64
			Speedup float64
			Stats   map[string]float64
		}
	}
	require.NoError(t, json.Unmarshal(text, &s))
	require.NoError(t, json.Unmarshal([]byte(results(t, "list", "a", "--json")), &list))
	require.Len(t, list, 4)
	require.Equal(t, s.Points[3].Cycles, list[3]["cycles"])
	require.Equal(t, s.Points[3].Speedup, list[3]["speedup"])

	require.NoError(t, json.Unmarshal([]byte(results(t, "show", "results/a", "4", "--stats", "^l1d", "--json")), &list))
	require.Equal(t, s.Points[3].Stats["l1d.reads"], list[0]["stats.l1d.reads"])
	require.NotContains(t, list[0], "stats.ipc")
	require.Contains(t, results(t, "show", "a", "1"), "workload.schedule = vertex")
	require.NotContains(t, results(t, "show", "a", "1"), "core0.")
	require.Contains(t, results(t, "show", "a", "1", "--all"), "core0.")

	require.Regexp(t, `│ gather_sum +│ +\d+\.\d % │( +[0-9,]+ │){3}`, results(t, "show", "a", "1"))
	steps := results(t, "show", "a", "1", "--steps")
	require.Regexp(t, `│ +0 │ init +│`, steps)
	require.Regexp(t, `│ +1 │ gather-pull +│ +[0-9,]+ │ +60 │ +400 │ +\d+\.\d\d │`, steps)
	var kernels []map[string]any
	require.NoError(t, json.Unmarshal([]byte(results(t, "show", "a", "1", "--steps", "--stats", "^edges$", "--json")),
		&kernels))
	require.Len(t, kernels, 3)
	require.Equal(t, map[string]any{"step": 1.0, "kernel": "gather-pull", "cycles": kernels[1]["cycles"],
		"edges": 400.0}, kernels[1])

	// A point's configuration is an experiment with the same result.
	require.NoError(t, os.WriteFile("p.yaml", []byte(results(t, "show", "a", "3", "--config")), 0o644))
	out, errs, code := heddle(t, "run", "./p.yaml", "--set", "name=p", "--json")
	require.Equal(t, exitOK, code, errs)
	require.NoError(t, json.Unmarshal([]byte(out), &s))
	require.Len(t, s.Points, 1)
	require.NoError(t, json.Unmarshal([]byte(results(t, "list", "a", "--json")), &list))
	require.Equal(t, list[2]["cycles"], s.Points[0].Cycles)
}

func TestResultsDiff(t *testing.T) {
	someResults(t)
	require.Contains(t, results(t, "diff", "a", filepath.Join("results", "a", store.File)),
		"4 points are the same in everything, 0 differ; 0 only in A, 0 only in B")
	out := results(t, "diff", "a", "b", "--stats", "^cycles$")
	require.Contains(t, out, "machine.l1d.bytes: 16KiB, now 1KiB")
	require.Equal(t, 4, strings.Count(out, "│ cycles │"))
	require.Contains(t, out, "0 points are the same in everything, 4 differ")
	var c store.Comparison
	require.NoError(t, json.Unmarshal([]byte(results(t, "diff", "a", "b", "--json")), &c))
	require.Equal(t, 4, c.Differ)
	require.InDelta(t, 1, *c.Differences[0].Ratio, 0.5)
	require.NotEqual(t, 1.0, *c.Differences[0].Ratio, "a smaller cache changes the cycles of a small graph, up or down")
	require.NoError(t, json.Unmarshal([]byte(results(t, "diff", "a", "b", "--stats", `^l1d\.read_misses$`, "--json")),
		&c))
	require.Equal(t, 4, c.Differ)
	for _, d := range c.Differences {
		require.Greater(t, *d.Ratio, 1.0, "a smaller cache misses more often: %+v", d)
	}
}

func TestResultsExportAndSQL(t *testing.T) {
	someResults(t)
	records, err := csv.NewReader(strings.NewReader(results(t, "export", "a"))).ReadAll()
	require.NoError(t, err)
	require.Len(t, records, 5)
	results(t, "export", "a", "--format", "parquet", "--file", "a.parquet")
	file, err := os.ReadFile("a.parquet")
	require.NoError(t, err)
	require.Equal(t, "PAR1", string(file[:4]))
	require.True(t, json.Valid([]byte(results(t, "export", "a", "--format", "json"))))

	var rows []map[string]any
	require.NoError(t, json.Unmarshal([]byte(results(t, "sql", "a",
		"SELECT p.point, p.cycles, s.value AS edges FROM points p JOIN stats s USING (point) WHERE s.name = 'edges' ORDER "+
			"BY 1", "--json")), &rows))
	require.Len(t, rows, 4)
	require.Equal(t, 400.0, rows[3]["edges"])
	require.Contains(t, results(t, "sql", "a", "SELECT count(*) AS n FROM super_steps WHERE kernel = 'gather-pull'"),
		"│ 4 │")
}

// TestPointsAreNumberedFrom1: a number stands for the same point in every output.
func TestPointsAreNumberedFrom1(t *testing.T) {
	someResults(t)
	_, errs, code := heddle(t, "run", "./e.yaml", "--set", "stats.interval=500", "--set", "seeds=[1, 2]", "--set",
		"name=n")
	require.Equal(t, exitOK, code, errs)
	r, err := root.OpenResults("results/n")
	require.NoError(t, err)
	var want []string // a point's number and cycles
	for i, p := range r.Points {
		require.Equal(t, i+1, p.Point)
		want = append(want, fmt.Sprint(p.Point, " ", p.Cycles))
	}
	require.Len(t, want, 8)
	same := func(source string, rows []map[string]any) {
		t.Helper()
		var got []string
		for _, row := range rows {
			got = append(got, fmt.Sprint(row["point"], " ", row["cycles"]))
		}
		require.Equal(t, want, got, source)
	}
	read := func(text string) (rows []map[string]any) {
		t.Helper()
		require.NoError(t, json.Unmarshal([]byte(text), &rows), text)
		return rows
	}
	file := func(name string) string {
		content, err := os.ReadFile("results/n/" + name)
		require.NoError(t, err)
		return string(content)
	}
	same("export", read(results(t, "export", "n", "--format", "json")))
	same("list", read(results(t, "list", "n", "--json")))
	same("export.csv", rowsOf(t, results(t, "export", "n")))
	same("summary.csv", rowsOf(t, file("summary.csv")))
	var summary struct{ Points, Groups []map[string]any }
	require.NoError(t, json.Unmarshal([]byte(file("summary.json")), &summary))
	same("summary.json", summary.Points)
	require.Equal(t, []any{1.0, 2.0}, summary.Groups[0]["points"], "both seeds of the first group")
	var shown []map[string]any
	for i := range want {
		shown = append(shown, read(results(t, "show", "n", fmt.Sprint(i+1), "--json"))...)
	}
	same("show", shown)
	for _, query := range []string{
		"point, cycles FROM points", "point, cycles FROM speedups",
		"point, value AS cycles FROM stats WHERE name = 'cycles'",
		"point, s.value AS cycles FROM statistics s JOIN names n ON n.id = s.name WHERE n.name = 'cycles'",
		"point, p.cycles FROM points p JOIN axes USING (point) GROUP BY point",
		"point, p.cycles FROM points p JOIN super_steps USING (point) GROUP BY point",
		"point, p.cycles FROM points p JOIN step_stats USING (point) GROUP BY point",
		"point, p.cycles FROM points p JOIN phases USING (point) GROUP BY point",
		"point, p.cycles FROM points p JOIN intervals USING (point) GROUP BY point",
		"point, p.cycles FROM points p JOIN samples USING (point) GROUP BY point",
		"point, p.cycles FROM points p JOIN timeline USING (point) GROUP BY point",
	} {
		same(query, read(results(t, "sql", "n", "SELECT "+query+" ORDER BY point", "--json")))
	}
	require.Equal(t, []map[string]any{{"n": 8.0}}, read(results(t, "sql", "n", `SELECT count(*) AS n FROM points p
		JOIN axes a USING (point) JOIN axes b ON b.point = p.baseline AND b.key = a.key
		WHERE a.key = 'workload.damping' AND a.value = b.value`, "--json")), "a baseline is of the same damping")
	_, errs, _ = heddle(t, "results", "sql", "n", "SELECT position FROM points")
	require.Contains(t, errs, "points are numbered from 1")
}

// rowsOf reads CSV: the values by the names of their columns.
func rowsOf(t *testing.T, text string) (rows []map[string]any) {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(t, err)
	for _, record := range records[1:] {
		row := map[string]any{}
		for i, name := range records[0] {
			row[name] = record[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func TestResultsThatAreNotThere(t *testing.T) {
	someResults(t)
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"list", "c"}, "results/c/results.sqlite: no results"},
		{[]string{"show", "a", "5"}, "no point 5"},
		{[]string{"show", "a", "x"}, "no point x"},
		{[]string{"show", "a", "1", "--stats", "("}, "--stats: error parsing regexp"},
		{[]string{"diff", "a", "./c"}, "no results"},
		{[]string{"export", "a", "--format", "xls"}, "--format xls: expected one of csv, json, parquet, latex, markdown"},
		{[]string{"sql", "a", "SELEC"}, "syntax error"},
		{[]string{"sql", "a", "DELETE FROM stored_points"}, "readonly"},
	} {
		_, errs, code := heddle(t, append([]string{"results"}, c.args...)...)
		require.Equal(t, exitUsage, code, c.args)
		require.Contains(t, errs, c.says)
	}
	require.Contains(t, results(t, "list"), "│ a ")
}
