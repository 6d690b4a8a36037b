package report_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/report"
)

// numbers are a series' values, by column or point.
func numbers(s report.Series) (out []report.Number) {
	for _, p := range s.Points {
		out = append(out, p[1])
	}
	return append(out, s.Values...)
}

// TestQuery: a figure has the points' own values where it claims to.
func TestQuery(t *testing.T) {
	r := read(t, fixture(), sweepConfig)
	panels, err := r.Query(report.Query{Value: "cycles", X: "warps", Panel: "bytes",
		Labels: map[string]string{"weaver": "Weaver", "1KiB": "1 KB", "machine.core.warps": "warps a core"}})
	require.NoError(t, err)
	require.Len(t, panels, 2)
	f := panels[0]
	require.Equal(t, "1 KB", f.Choice)
	require.Equal(t, "16KiB", panels[1].Choice)
	require.Equal(t, report.Lines, f.Kind)
	require.Equal(t, "warps a core", f.X.Name)
	require.Equal(t, []string{"2", "4", "16"}, f.X.Names)
	require.True(t, f.X.Log)
	require.Equal(t, []string{"vertex", "Weaver"}, names(f.Series))
	require.Equal(t, []report.Number{1000, 800, 600}, numbers(f.Series[0]))
	require.Equal(t, []report.Number{500, 400, 300}, numbers(f.Series[1]))
	require.Equal(t, "Cycles by warps a core", f.Title)

	panels, err = r.Query(report.Query{Kind: report.Bars, Where: map[string]string{"l1d.bytes": "1KiB"}})
	require.NoError(t, err)
	f = panels[0]
	require.Equal(t, "speedup", f.Y.Name)
	require.Equal(t, []string{"2", "4", "16"}, f.Columns, "the first axis that is left")
	require.Equal(t, []string{"weaver"}, names(f.Series), "the baseline is the line at 1")
	require.Equal(t, []report.Number{2, 2, 2}, numbers(f.Series[0]))
	require.InDelta(t, 1, f.Line, 0)
	require.Equal(t, "Speedup over vertex. ", f.Note)

	panels, err = r.Query(report.Query{Value: "cycles", X: "variant", Colour: "bytes", Kind: report.Bars})
	require.NoError(t, err)
	require.Equal(t, []string{"vertex", "weaver"}, panels[0].Columns)
	require.Equal(t, "l1d bytes", panels[0].Legend, "16KiB alone would say nothing")
	require.Empty(t, panels[0].X.Name, "variants have names")
	require.Empty(t, f.Legend)
	require.Equal(t, "warps", f.X.Name)
	require.Len(t, panels, 3, "no mean over warps, which are designs")
	require.Equal(t, "4", panels[1].Choice)
	require.InDelta(t, 800, float64(numbers(panels[1].Series[0])[0]), 0)

	for says, q := range map[string]report.Query{
		"no axis of fixture":   {X: "entries"},
		"expected bars, lines": {Kind: report.Heat},
		"cycles would be a mean over machine.l1d.bytes, which is no input: choose points by": {Value: "cycles",
			X: "variant", Panel: "warps"},
		"--mean: would be over machine.core.warps": {Kind: report.Bars, Mean: true, X: "warps",
			Where: map[string]string{"l1d.bytes": "1KiB"}},
		"no point with a result":    {Value: "nothing"},
		"expected one of 2, 4, 16":  {Where: map[string]string{"warps": "3"}},
		"expected one of variant, ": {Panel: "no"},
		"--from 2.5: expected":      {From: 2.5},
		"--from NaN: expected":      {From: math.NaN()},
		"--from -Inf: expected":     {From: math.Inf(-1)},
	} {
		_, err := r.Query(q)
		require.ErrorContains(t, err, says)
	}
}

// TestQueryBounds: a figure has as many panels as a page can show, and may begin at its least value, which need not be
// that of a baseline that it does not draw.
func TestQueryBounds(t *testing.T) {
	r := read(t, fixture(), sweepConfig)
	_, err := r.Query(report.Query{From: 2})
	require.NoError(t, err, "the speedups are 2, the baseline's is 1")
	s := &summary{Experiment: "panels"}
	for i := range 25 {
		s.add(map[string]string{"variant": "vertex", "bytes": fmt.Sprint(i), "warps": "2"}, 1000, 1)
	}
	r = read(t, s, "compare: [{name: vertex}]\nsweep: {bytes: [1, 4], warps: [2]}")
	_, err = r.Query(report.Query{Value: "cycles", X: "warps", Panel: "bytes"})
	require.ErrorContains(t, err, "25 panels, one for each value of bytes: expected 24 at most")
}

// TestQueryOfOwnAxes: a series that lacks the axis is a horizontal line, and one that has other axes is left out.
func TestQueryOfOwnAxes(t *testing.T) {
	s := &summary{Experiment: "own"}
	for _, bytes := range []string{"1", "4"} {
		for _, p := range []struct {
			variant, key, value string
			cycles              float64
		}{{"vertex", "", "", 1000}, {"weaver", "w.latency", "8", 500}, {"weaver", "w.latency", "16", 600},
			{"peg", "p.entries", "8", 400}, {"peg", "p.entries", "16", 300}} {
			axes := map[string]string{"variant": p.variant, "bytes": bytes}
			if p.key != "" {
				axes[p.key] = p.value
			}
			s.add(axes, p.cycles, 1000/p.cycles)
		}
	}
	r := read(t, s, "compare: [{name: vertex}, {name: weaver, sweep: {w.latency: [8, 16]}}, {name: peg, sweep: "+
		"{p.entries: [8, 16]}}]\nsweep: {bytes: [1, 4]}")
	panels, err := r.Query(report.Query{Value: "cycles", X: "latency"})
	require.NoError(t, err)
	require.Len(t, panels, 2, "of bytes, which is a design")
	f := panels[0]
	require.Equal(t, []string{"vertex", "weaver"}, names(f.Series))
	require.True(t, f.Series[0].Level)
	require.Len(t, numbers(f.Series[0]), 2)
	for _, v := range numbers(f.Series[0]) {
		require.InDelta(t, 1000, float64(v), 1e-9)
	}
	require.Contains(t, f.Note, "Without peg, whose points have other axes.")
	require.NotContains(t, f.Note, "eometric")
}

// TestQueryMeansOverInputs: over graphs there are geometric means, and a column of them.
func TestQueryMeansOverInputs(t *testing.T) {
	s := &summary{Experiment: "inputs"}
	for i, graph := range []string{"a.el", "b.el"} {
		s.add(map[string]string{"graph.file": graph, "w.k": "x"}, float64(100+300*i), nil)
		s.add(map[string]string{"graph.file": graph, "w.k": "y"}, float64(200+600*i), nil)
	}
	r := read(t, s, "sweep: {graph.file: [a.el, b.el], w.k: [x, y]}")
	panels, err := r.Query(report.Query{X: "w.k"})
	require.NoError(t, err)
	for i, want := range []float64{200, 400} {
		require.InEpsilon(t, want, float64(numbers(panels[0].Series[0])[i]), 1e-9)
	}
	require.Equal(t, "Geometric means over file. ", panels[0].Note)
	panels, err = r.Query(report.Query{X: "file", Kind: report.Bars, Mean: true})
	require.NoError(t, err)
	require.Len(t, panels, 2, "one for each k")
	require.InEpsilon(t, 200, float64(numbers(panels[0].Series[0])[2]), 1e-9)
	require.Equal(t, "geomean", panels[0].Columns[2])
}

// TestQueryOfSeeds: points that differ in their seed have a mean with its confidence interval.
func TestQueryOfSeeds(t *testing.T) {
	s := &summary{Experiment: "seeds"}
	for i, seed := range []string{"1", "2", "3"} {
		s.add(map[string]string{"a.x": "1", "seed": seed}, float64(100+10*i), nil)
		s.add(map[string]string{"a.x": "2", "seed": seed}, 200, nil)
	}
	panels, err := read(t, s, "sweep: {a.x: [1, 2]}").Query(report.Query{})
	require.NoError(t, err)
	f := panels[0]
	require.Equal(t, []report.Number{110, 200}, numbers(f.Series[0]))
	require.InDelta(t, 4.303*10/1.7320508, float64(f.Series[0].Errors[0]), 0.01)
	require.InDelta(t, 0, float64(f.Series[0].Errors[1]), 1e-9)
	require.Contains(t, f.Note, "Means over 3 seeds, and 95 % confidence intervals.")
}
