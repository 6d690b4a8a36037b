package report_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/report"
)

// TestAnswer: the page's first sentence has the points' own values.
func TestAnswer(t *testing.T) {
	s := fixture()
	*s = summary{Experiment: s.Experiment, Host: s.Host, Points: s.Points[:4]}
	s.Points[1]["speedup"] = 1.5
	s.Points[3]["speedup"] = 6
	r := read(t, s, sweepConfig)
	require.Equal(t, "weaver at l1d bytes 16KiB is 6.00 times as fast as vertex (the best of 2 designs, of which the "+
		"worst, at l1d bytes 1KiB, is 1.50 times as fast).", r.Answer())
	r = read(t, s, sweepConfig+"report: {labels: [weaver=Weaver, bytes=L1D]}")
	require.Contains(t, r.Answer(), "Weaver at L1D 16KiB is 6.00 times as fast as vertex (the best of 2 designs")

	onGraphs := fixture()
	onGraphs.Points = onGraphs.Points[:0:0]
	for _, graph := range []string{"data/road.el", "data/kron2.el"} {
		for v, schedule := range []string{"vertex", "edge", "weaver"} {
			onGraphs.add(map[string]string{"workload.schedule": schedule, "graph.file": graph}, 1000,
				[]float64{1, 0.5, 2}[v]*float64(len(graph)-11))
		}
	}
	require.Equal(t, "weaver is 2.83 times as fast as vertex (the geometric mean over 2 inputs, from 2.00 at file road "+
		"to "+
		"4.00 at file kron2).", read(t, onGraphs, "compare: {workload.schedule: [vertex, edge, weaver]}\n"+
		"sweep: {graph.file: [data/road.el, data/kron2.el]}").Answer())
	for _, p := range onGraphs.Points {
		p["speedup"] = 0.5
	}
	require.Contains(t, read(t, onGraphs, "compare: {workload.schedule: [vertex, edge]}\n"+
		"sweep: {graph.file: [data/road.el, data/kron2.el]}").Answer(), "No variant is faster than vertex; the next, ")

	for _, p := range s.Points {
		p["speedup"] = nil
	}
	require.Equal(t, "Of 4 points the fastest is weaver  bytes=16KiB with 475 cycles; the slowest, vertex  bytes=1KiB, "+
		"takes 2.11 times as long.",
		read(t, s, sweepConfig).Answer())
	s.Points = s.Points[:1]
	require.Equal(t, "fixture takes 1,000 cycles.", read(t, s, sweepConfig).Answer())
	s.Points[0]["verified"], s.Points[0]["failure"] = false, "wrong result"
	require.Equal(t, "No point has a result.", read(t, s, sweepConfig).Answer())
}

// TestOneFigureOfOneAxis: a sweep of one numeric axis is shown as lines, and not as bars too.
func TestOneFigureOfOneAxis(t *testing.T) {
	groups := func(config string, s *summary) (all []string) {
		for _, f := range report.Figures(read(t, s, config)) {
			all = append(all, f.Group)
		}
		return all
	}
	require.Contains(t, groups(sweepConfig, fixture()), "points", "of two axes")
	s := fixture()
	s.Points = s.Points[:0:0]
	for _, warps := range []string{"2", "4"} {
		for _, schedule := range []string{"vertex", "weaver"} {
			s.add(map[string]string{"workload.schedule": schedule, "machine.core.warps": warps}, 1000, 1)
		}
	}
	one := "compare: {workload.schedule: [vertex, weaver]}\nsweep: {machine.core.warps: [2, 4]}"
	require.NotContains(t, groups(one, s), "points")
	require.Contains(t, groups(one, s), "over-machine-core-warps")
}

// TestReportKeys: figures that the experiment asks for are drawn beside the page, which shows them first; those that
// cannot be drawn are named there.
func TestReportKeys(t *testing.T) {
	config := sweepConfig + `report:
  labels: [weaver=Weaver, machine.core.warps=warps a core]
  figures:
    - --value l1d.hit_rate --x warps --panel bytes --out hits.svg --title "L1D hits" --bare
    - --value cycles --x nothing
    - --value cycles --x warps --where bytes=1KiB
`
	dir := fixture().write(t, config)
	file, _, err := report.Write(dir, "")
	require.NoError(t, err)
	hits, err := os.ReadFile(filepath.Join(dir, "figures", "hits.svg"))
	require.NoError(t, err)
	require.Contains(t, string(hits), ">Weaver<")
	require.Contains(t, string(hits), ">warps a core<")
	require.FileExists(t, filepath.Join(dir, "figures", "figure-3.pdf"))
	require.NoFileExists(t, filepath.Join(dir, "figures", "figure-2.pdf"))
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	first, _, _ := strings.Cut(string(page), `<section id="asked">`)
	require.Contains(t, first, `data-group="asked-1"`)
	require.Contains(t, first, "report.figures: figure-2.pdf: nothing: no axis of fixture")

	for says, line := range map[string]string{
		"unknown flag: --valve":           "--valve cycles",
		"Unterminated double-quoted":      `--title "a`,
		"cycles: expected flags of":       "cycles",
		"--out ../x.svg: expected the":    "--out ../x.svg",
		"expected a name that ends in":    "--out x.gif",
		"--width 3: expected a number":    "--width 3",
		"--label x: expected NAME=TEXT":   "--label x",
		"help requested":                  "--help",
		"--out a.svg: an earlier figure":  "--out a.svg",
		"invalid argument \"x\" for":      "--from x",
		"--where bytes: expected NAME=TE": "--where bytes",
	} {
		_, err := report.Specs([]string{"--out a.svg", line})
		require.ErrorContains(t, err, says)
	}
	_, err = report.Specs(make([]string, 101))
	require.ErrorContains(t, err, "101 figures: expected 100 at most")
}

// TestFoldedDifferences: a unit that a variant lacks is one row, in which all of its keys are.
func TestFoldedDifferences(t *testing.T) {
	s := fixture()
	s.Points = s.Points[:2]
	s.Points[1]["config"] = "name: x\nmachine:\n  core:\n    warps: 8\n    weaver: {st_entries: 512, dt_entries: 64, " +
		"latency: {st: 2, dt: 1}}\n"
	dir := s.write(t, sweepConfig)
	file, _, err := report.Write(dir, "")
	require.NoError(t, err)
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(page), `<table id="differences">`)
	table, _, _ := strings.Cut(rest, "</table>")
	require.Contains(t, table, "<td><code>machine.core.weaver</code></td><td>absent</td>")
	require.Contains(t, table, "<summary>4 keys</summary>dt_entries: 64<br>latency.dt: 1<br>latency.st: "+
		"2<br>st_entries: 512<br>")
	require.Equal(t, 1, strings.Count(table, "machine.core.weaver"))
	require.Contains(t, table, "<td><code>machine.core.warps</code></td><td>2</td><td class=\"changed\">8</td>")
}
