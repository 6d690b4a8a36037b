package report_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/tools"
	"heddle/report"
)

// sized is an experiment with a table of three sizes on two graphs; the largest table is slower than the middle one.
func sized(unit, key string) *summary {
	s := &summary{Experiment: "sized"}
	for i, graph := range []string{"a.el", "b.el"} {
		scale := float64(1 + 3*i)
		config := "machine: {extends: vortex-1c4w4t, core: {warps: 2, threads: 2, scratchpad_bytes: 64KiB%s}}\n"
		p := s.add(map[string]string{"variant": "plain", "graph.file": graph}, 3600*scale, 1)
		p["config"] = fmt.Sprintf(config, "")
		for _, of := range []struct {
			entries int
			speedup float64
		}{{4, 2}, {2, 1.5}, {8, 1.8}} {
			axes := map[string]string{"variant": unit, "graph.file": graph, key: fmt.Sprint(of.entries)}
			p := s.add(axes, 3600*scale/of.speedup, of.speedup)
			p["config"] = fmt.Sprintf(config, fmt.Sprintf(", %s: {%s: %d}", unit, key, of.entries))
		}
	}
	return s
}

func sizedConfig(unit, key string) string {
	return fmt.Sprintf("compare: [{name: plain}, {name: %s, sweep: {%s: [2, 4, 8]}}]\nsweep: {graph.file: [a.el, b.el]}",
		unit, key)
}

// TestQueryOverArea: a point for each design at the area of its table, means over graphs, and the Pareto front.
func TestQueryOverArea(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // a GraphPEG needs no Yosys
	r := read(t, sized("graphpeg", "alwt_entries"), sizedConfig("graphpeg", "alwt_entries"))
	panels, err := r.Query(report.Query{X: report.UnitArea})
	require.NoError(t, err)
	require.Len(t, panels, 1)
	f := panels[0]
	require.Equal(t, "mm² at 28 nm: ALWTs alone (98 bits an entry)", f.X.Name)
	require.Equal(t, []string{"plain", "graphpeg", "Pareto front"}, names(f.Series))
	require.Equal(t, [][2]report.Number{{0, 1}}, f.Series[0].Points)
	require.Equal(t, []string{"2", "4", "8"}, f.Series[1].Tags)
	const entry = 98 * (0.127e-6 + 1.3*3*0.127e-6) / 2
	for i, want := range [][2]float64{{2, 1.5}, {4, 2}, {8, 1.8}} {
		require.InEpsilon(t, want[0]*entry, float64(f.Series[1].Points[i][0]), 1e-9)
		require.InEpsilon(t, want[1], float64(f.Series[1].Points[i][1]), 1e-9)
	}
	var front []float64 // with its steps
	for _, p := range f.Series[2].Points {
		front = append(front, float64(p[1]))
	}
	require.InDeltaSlice(t, []float64{1, 1, 1.5, 1.5, 2}, front, 1e-9)
	require.Contains(t, f.Note, "Geometric means over file.")
	require.Contains(t, f.Note, "which reach from 0.41 to 1.59 times them. ")
	require.Contains(t, f.Note, "the Pareto front has the same points.")

	panels, err = r.Query(report.Query{X: report.MachineArea, Value: "cycles"})
	require.NoError(t, err)
	plain := float64(panels[0].Series[0].Points[0][0])
	require.Greater(t, plain, 0.0)
	require.InEpsilon(t, plain+8*entry, float64(panels[0].Series[1].Points[2][0]), 1e-9)
	panels, err = r.Query(report.Query{X: report.MachineArea, Value: "l1d.hit_rate"})
	require.NoError(t, err)
	require.Len(t, panels[0].Series, 2, "no front of values that are neither better nor worse")
	_, err = r.Query(report.Query{X: report.MachineArea, Kind: report.Bars})
	require.ErrorContains(t, err, "--kind bars: over area expected scatter or lines")
	picture, err := report.Draw(panels, report.Style{}, report.SVG)
	require.NoError(t, err)
	require.Contains(t, string(picture), ">8<", "the points' tags")

	weaver := read(t, sized("weaver", "st_entries"), sizedConfig("weaver", "st_entries"))
	_, err = weaver.Query(report.Query{X: report.MachineArea})
	require.ErrorContains(t, err, "--x area: yosys is not installed (Debian: apt-get install yosys)")
	eghw := read(t, sized("eghw", "lookahead"), sizedConfig("eghw", "lookahead"))
	_, err = eghw.Query(report.Query{X: report.MachineArea})
	require.ErrorContains(t, err, "core.eghw: there is no SystemVerilog of it")
}

// TestQueryOverAreaOfWeavers: Weavers are mapped, and have no front with units that are not.
func TestQueryOverAreaOfWeavers(t *testing.T) {
	t.Setenv("PATH", filepath.Dir(tools.Need(t, "yosys"))+":/usr/bin:/bin")
	s := sized("weaver", "st_entries")
	r := read(t, s, sizedConfig("weaver", "st_entries"))
	panels, err := r.Query(report.Query{X: report.UnitArea})
	require.NoError(t, err)
	f := panels[0]
	require.Equal(t, "mm² at 28 nm: Weavers", f.X.Name)
	p := f.Series[1].Points
	require.Less(t, float64(p[0][0]), float64(p[1][0]), "4 entries take more than 2")
	require.Equal(t, "Pareto front", f.Series[2].Name)

	s.Points = append(s.Points, sized("graphpeg", "alwt_entries").Points[1])
	panels, err = read(t, s, sizedConfig("weaver", "st_entries")).Query(report.Query{X: report.UnitArea})
	require.NoError(t, err)
	require.NotContains(t, names(panels[0].Series), "Pareto front")
	require.Contains(t, panels[0].Note, "No Pareto front: ALWTs alone (98 bits an entry) and Weavers are not alike.")
}
