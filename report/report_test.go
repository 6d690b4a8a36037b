package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"heddle/internal/testenv"
	"heddle/report"
)

var update = flag.Bool("update", false, "write the golden files anew")

// The data behind every figure, as text.
func TestFiguresGolden(t *testing.T) {
	var b strings.Builder
	for _, f := range report.Figures(read(t, fixture(), sweepConfig)) {
		outline(&b, &f)
	}
	file := filepath.Join("testdata", "figures.golden")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
}

func outline(b *strings.Builder, f *report.Figure) {
	fmt.Fprintf(b, "%s: %s [%s: %s] %q\n", f.ID, f.Kind, f.Group, f.Choice, f.Title)
	fmt.Fprintf(b, "  x %+v  y %+v  line %g\n", f.X, f.Y, f.Line)
	if len(f.Columns) > 0 {
		fmt.Fprintf(b, "  columns %q rows %q\n", f.Columns, f.Rows)
	}
	for _, s := range f.Series {
		fmt.Fprintf(b, "  %q bound=%v other=%v %.4g %.4g %q\n", s.Name, s.Bound, s.Other, s.Values, s.Points, s.Labels)
	}
	for _, row := range f.Cells {
		fmt.Fprintf(b, "  %.4g\n", row)
	}
	if f.Note != "" {
		fmt.Fprintf(b, "  note %q\n", f.Note)
	}
}

func find(t *testing.T, figures []report.Figure, id string) report.Figure {
	t.Helper()
	for _, f := range figures {
		if f.ID == id {
			return f
		}
	}
	require.Fail(t, "no figure", id)
	return report.Figure{}
}

// The geomean is over the inputs that all variants have; a point without a verified result is in no figure.
func TestSpeedups(t *testing.T) {
	s := fixture()
	s.Points[1]["speedup"] = 8
	designs := find(t, report.Figures(read(t, s, sweepConfig)), "points-speedup")
	require.NotContains(t, designs.Columns, "geomean", "over designs")
	inputs := strings.NewReplacer("machine.core.warps", "graph.rmat.scale", "machine.l1d.bytes", "graph.rmat.edge_factor")
	for _, p := range s.Points {
		axes := p["axes"].(map[string]string)
		axes["graph.rmat.scale"], axes["graph.rmat.edge_factor"] = axes["machine.core.warps"], axes["machine.l1d.bytes"]
		delete(axes, "machine.core.warps")
		delete(axes, "machine.l1d.bytes")
	}
	f := find(t, report.Figures(read(t, s, inputs.Replace(sweepConfig))), "points-speedup")
	require.Equal(t, "geomean", f.Columns[6])
	weaver := f.Series[0]
	require.Equal(t, "weaver", weaver.Name, "the baseline is the line at 1")
	require.Equal(t, report.Number(8), weaver.Values[0])
	require.True(t, math.IsNaN(float64(weaver.Values[5])), "the failed point")
	require.InDelta(t, math.Pow(8*2*2*2*2, 1.0/5), float64(weaver.Values[6]), 1e-12)
	require.Contains(t, f.Note, "5 of 6")
}

// A line over an axis with which another changes would show the effect of both: there is none.
func TestNoLineOverAConfoundedAxis(t *testing.T) {
	s := &summary{Experiment: "tied"}
	for i, algorithm := range []string{"bfs", "pagerank"} {
		for _, schedule := range []string{"vertex", "weaver"} {
			s.add(map[string]string{"workload.schedule": schedule, "workload.max_iterations": fmt.Sprint(i),
				"workload.algorithm": algorithm}, 1000, 1)
		}
	}
	config := "compare: {workload.schedule: [vertex, weaver]}\nsweep: {'workload.max_iterations, workload.algorithm': " +
		"[[0, bfs], [1, pagerank]]}"
	groups := map[string]bool{}
	for _, f := range report.Figures(read(t, s, config)) {
		groups[f.Group] = true
	}
	require.True(t, groups["points"])
	require.False(t, groups["over-workload.max_iterations"] || groups["over-workload-max-iterations"], groups)
}

// The steps of the waterfall lead from the baseline's cycles to those of the fastest variant.
func TestWaterfall(t *testing.T) {
	s := &summary{Experiment: "why"}
	for i, schedule := range []string{"vertex", "weaver"} {
		memory, issued := []float64{700, 300}[i], []float64{200, 240}[i]
		p := s.add(map[string]string{"workload.schedule": schedule}, 10+memory+issued, []float64{1, 910. / 550}[i])
		p["stats"] = map[string]float64{"cycles": 10 + memory + issued, "device_cycles": memory + issued,
			"core.cycles": memory + issued, "core0.cycles": memory + issued, "launch.overhead_cycles": 10, "launch.count": 1,
			"core.scheduler.issued": issued, "core.scheduler.stall.scoreboard.memory": memory}
	}
	f := find(t, report.Figures(read(t, s, "compare: {workload.schedule: [vertex, weaver]}")), "why")
	require.Equal(t, []string{"A  vertex", "number of instructions", "waiting for memory", "B  weaver"}, f.Columns)
	require.True(t, f.Series[0].Gap)
	at := float64(f.Series[1].Values[0])
	require.Equal(t, 910.0, at)
	for c := 1; c < 3; c++ {
		gap, less, plus := float64(f.Series[0].Values[c]), float64(f.Series[2].Values[c]), float64(f.Series[3].Values[c])
		require.InDelta(t, min(at, at-less+plus), gap, 1e-9, "a step begins where the one before ends")
		at += plus - less
	}
	require.InDelta(t, 550, at, 1e-9)
	require.Equal(t, 550.0, float64(f.Series[1].Values[3]))
	require.Contains(t, f.Note, "B is 1.65 times as fast as A: less waiting for memory")
	require.NotContains(t, string(f.SVG()), "NaN")
}

// Ticks have the labels of report.labels, and files no folders or suffixes.
func TestTicksHaveLabels(t *testing.T) {
	s := &summary{Experiment: "labels"}
	for _, graph := range []string{"data/road.el", "data/kron.el.gz"} {
		for _, warps := range []string{"2", "4"} {
			s.add(map[string]string{"workload.schedule": "vertex", "graph.file": graph, "machine.core.warps": warps}, 1000, 1)
			s.add(map[string]string{"workload.schedule": "edge", "graph.file": graph, "machine.core.warps": warps}, 1000, 1)
		}
	}
	f := find(t, report.Figures(read(t, s, "compare: {workload.schedule: [vertex, edge]}\nsweep: {graph.file: "+
		"[data/road.el, data/kron.el.gz], machine.core.warps: [2, 4]}\n"+
		"report: {labels: [data/road.el=California, machine.core.warps=W]}")), "points-speedup")
	require.Equal(t, []string{"California W=2", "California W=4", "kron W=2", "kron W=4"}, f.Columns)
}

// Shares of a stack are of all parts, also of those that are too small for a colour of their own.
func TestStacksAddUp(t *testing.T) {
	s := fixture()
	for i := range 12 {
		for _, p := range s.Points {
			p["stats"].(map[string]float64)[fmt.Sprintf("core.scheduler.stall.s%02d", i)] = float64(i + 1)
		}
	}
	f := find(t, report.Figures(read(t, s, sweepConfig)), "schedulers")
	require.Len(t, f.Series, 9)
	require.True(t, f.Series[8].Other)
	require.Contains(t, f.Note, "Other: s00, s01,")
	for c := range f.Columns {
		sum := 0.0
		for _, one := range f.Series {
			sum += float64(one.Values[c])
		}
		require.InDelta(t, 1, sum, 1e-9)
	}
}

// More lines than colours become means over the other axes, which the figure states.
func TestTooManyLinesBecomeMeans(t *testing.T) {
	s := &summary{Experiment: "many"}
	for x := 1; x <= 2; x++ {
		for y := 1; y <= 9; y++ {
			s.add(map[string]string{"x": fmt.Sprint(x), "y": fmt.Sprint(y)}, float64(x*y*100), nil)
		}
	}
	figures := report.Figures(read(t, s, "sweep: {x: [1, 2], y: [1, 2, 3, 4, 5, 6, 7, 8, 9]}"))
	f := find(t, figures, "over-x-cycles")
	require.Len(t, f.Series, 1)
	require.Equal(t, "Geometric means over y. ", f.Note)
	require.InDelta(t, 2, float64(f.Series[0].Points[1][1]/f.Series[0].Points[0][1]), 1e-12)
	require.Len(t, find(t, figures, "over-y-cycles").Series, 2)
}

// Parts that an older or foreign summary lacks are left out without an error.
func TestASummaryWithLess(t *testing.T) {
	s := &summary{Experiment: "one"}
	s.Points = []map[string]any{{"cycles": 5, "verified": true}}
	r := read(t, s, "{")
	require.Empty(t, report.Figures(r))
	page, err := report.Page(r, nil)
	require.NoError(t, err)
	require.Contains(t, string(page), "1 of 1 points")
}

func TestWhatIsNoResultIsRefused(t *testing.T) {
	dir := t.TempDir()
	_, err := report.Read(dir)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = report.Find(dir)
	require.ErrorContains(t, err, "expected a directory with a summary.json")
	for _, text := range []string{"", "[]", "{}", `{"points": []}`, `{"points": [null]}`,
		`{"points": [{"cycles": -1}]}`, `{"points": [{"stats": {"a": "x"}}]}`} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "summary.json"), []byte(text), 0o644))
		_, err := report.Read(dir)
		require.ErrorContains(t, err, "summary.json: expected", text)
	}
}

// evil would run, if it became part of the page.
const evil = `</script></style></title></textarea><script>window.pwned=1</script><img src=x onerror=window.pwned=1>"'` +
	"`${pwned=1}` <!-- ]]> \u2028\x00&lt;\\"

// hostile puts it wherever a result has text.
func hostile() (*summary, string) {
	s := fixture()
	s.Experiment, s.Version = evil, evil
	s.Graphs = map[string]any{evil: map[string]any{"source": evil}}
	for i := range s.Statistics {
		s.Statistics[i].Unit, s.Statistics[i].Doc = evil, evil
	}
	for i, p := range s.Points {
		p["axes"].(map[string]string)[evil] = fmt.Sprint(i%3, evil)
		p["config"], p["error"], p["failure"], p["graph"] = fmt.Sprintf("%q: %q", evil, fmt.Sprint(i, evil)), evil,
			evil, evil
		p["stats"].(map[string]float64)["core.scheduler."+evil] = 9
		p["stats"].(map[string]float64)[evil] = 1e300
		p["speedup"] = -1
	}
	return s, fmt.Sprintf("compare: {workload.schedule: [], %q: []}\nsweep: {machine.core.warps: []}\n%s", evil,
		"# "+strings.NewReplacer("\x00", "", "\u2028", "").Replace(evil))
}

func TestHostileTextStaysText(t *testing.T) {
	s, config := hostile()
	r := read(t, s, config)
	require.NotEmpty(t, r.Compare)
	figures := report.Figures(r)
	require.NotEmpty(t, figures)
	page, err := report.Page(r, figures)
	require.NoError(t, err)
	doc, err := html.Parse(bytes.NewReader(page))
	require.NoError(t, err)
	elements := map[string]int{}
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode {
			elements[n.Data]++
			for _, a := range n.Attr {
				require.False(t, strings.HasPrefix(a.Key, "on"), "<%s %s>", n.Data, a.Key)
			}
		}
	}
	require.Equal(t, 3, elements["script"], "the data, ECharts, and ours")
	require.Zero(t, elements["img"])
	require.Equal(t, 1, elements["style"])
	for i := range figures {
		require.Regexp(t, `^[a-z0-9_-]+$`, figures[i].ID)
		require.NotContains(t, svgElements(t, figures[i].SVG()), "script")
	}
}

// svgElements checks that an SVG is well-formed and counts its elements.
func svgElements(t *testing.T, svg []byte) map[string]int {
	t.Helper()
	count := map[string]int{}
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return count
		}
		require.NoError(t, err, "%s", svg)
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
			for _, a := range e.Attr {
				require.NotContains(t, a.Value, "NaN")
				require.NotContains(t, a.Value, "Inf")
			}
		}
	}
}

func TestSVGs(t *testing.T) {
	figures := report.Figures(read(t, fixture(), sweepConfig))
	for i := range figures {
		svgElements(t, figures[i].SVG())
	}
	speedup := find(t, figures, "points-speedup")
	require.Equal(t, 0, fills(&speedup, "#0072B2"), "vertex is the line at 1")
	require.Equal(t, 5+1, fills(&speedup, "#E69F00"), "weaver's bars of 5 points, and its legend's")
	schedulers := find(t, figures, "schedulers")
	require.Equal(t, 11+1, fills(&schedulers, "#77AADD"), "issued, of 11 points")
	require.Equal(t, 11+1, fills(&schedulers, "#EE8866"), "memory")
	lines := find(t, figures, "over-machine-core-warps-cycles")
	require.Equal(t, 3+1, fills(&lines, "#E69F00"), "marks of 3 points, and the legend's")
	require.Equal(t, 2+1, fills(&lines, "#D55E00"), "one of them has failed")
	heat := find(t, figures, "map-machine-l1d-bytes-machine-core-warps-cycles-vertex")
	require.Equal(t, 1, fills(&heat, "#FDE725"), "the most")
	require.Equal(t, 1, fills(&heat, "#440154"), "the least")
}

// fills counts the shapes of a colour.
func fills(f *report.Figure, colour string) int {
	return strings.Count(string(f.SVG()), `style="fill:`+colour)
}

// TestColours: however many series there are, no two have the same colour, and texts of any length and number leave
// room for the figure.
func TestColours(t *testing.T) {
	testenv.NeedSlow(t, "it draws large figures in all formats")
	f := &report.Figure{Kind: report.Bars, Title: strings.Repeat("a long title ", 30), Note: "a note",
		Y: report.Scale{Name: "cycles"}, Columns: []string{"a", strings.Repeat("b", 80)}}
	for i := range 24 {
		f.Series = append(f.Series, report.Series{Name: fmt.Sprintf("series %d of a name that is long", i),
			Values: []report.Number{report.Number(1 + i), 3}})
	}
	seen := map[string]int{}
	for _, m := range regexp.MustCompile(`style="fill:(#[0-9A-F]{6})" />`).FindAllStringSubmatch(string(f.SVG()), -1) {
		seen[m[1]]++
	}
	delete(seen, "#FFFFFF")
	require.Len(t, seen, 24)
	for c, n := range seen {
		require.Equal(t, 3, n, "%s: two bars, and the legend's", c)
	}
	for _, style := range []report.Style{{Width: 72, Height: 72, Font: 4}, {Width: 240, Font: 40}, {}} {
		for _, format := range []report.Format{report.SVG, report.PDF, report.PNG} {
			one, err := report.Draw([]*report.Figure{f, f, f}, style, format)
			require.NoError(t, err)
			again, err := report.Draw([]*report.Figure{f, f, f}, style, format)
			require.NoError(t, err)
			require.True(t, bytes.Equal(one, again), "%s: the same figure is the same file", format)
		}
	}
	_, err := report.Draw([]*report.Figure{f}, report.Style{Width: 7200, Height: 7200}, report.PNG)
	require.ErrorContains(t, err, "a PNG of 30000 by 30000 pixels: expected 100 million at most")
	_, err = report.Draw([]*report.Figure{f}, report.Style{}, "gif")
	require.ErrorContains(t, err, "expected svg, pdf or png")
}

func TestWrite(t *testing.T) {
	dir := fixture().write(t, sweepConfig)
	file, size, err := report.Write(dir, "")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "report.html"), file)
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Len(t, page, size)
	for _, text := range []string{"fixture", "11 of 12 points", "a graph", "vertex 3: rank 0.5, expected 0.25",
		"heddle v1", "5 MiB", "machine.core.warps"} {
		require.Contains(t, string(page), text)
	}
	for _, f := range []string{"points-speedup", "schedulers", "warps", "phases", "roofline-bytes"} {
		require.FileExists(t, filepath.Join(dir, "figures", f+".svg"))
	}
	again, _, err := report.Write(dir, filepath.Join(t.TempDir(), "page.html"))
	require.NoError(t, err)
	other, err := os.ReadFile(again)
	require.NoError(t, err)
	require.Equal(t, page, other, "the same results make the same page")
}

// Figures of an earlier report that this one does not draw are removed; other files stay.
func TestStaleFiguresAreRemoved(t *testing.T) {
	dir := fixture().write(t, sweepConfig)
	_, _, err := report.Write(dir, "")
	require.NoError(t, err)
	figures := filepath.Join(dir, "figures")
	require.NoError(t, os.WriteFile(filepath.Join(figures, "mine.svg"), []byte("<svg/>"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(figures, "notes.txt"), nil, 0o644))
	before, err := os.ReadDir(figures)
	require.NoError(t, err)
	s := fixture()
	s.Points = s.Points[:2]
	text, err := json.Marshal(s)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "summary.json"), text, 0o644))
	_, _, err = report.Write(dir, "")
	require.NoError(t, err)
	after, err := os.ReadDir(figures)
	require.NoError(t, err)
	r, err := report.Read(dir)
	require.NoError(t, err)
	require.Len(t, after, len(report.Figures(r))+2)
	require.Less(t, len(after), len(before))
	require.FileExists(t, filepath.Join(figures, "mine.svg"))
	require.FileExists(t, filepath.Join(figures, "notes.txt"))
}

// Nothing in a page is loaded from elsewhere.
func TestSelfContained(t *testing.T) {
	r := read(t, fixture(), sweepConfig)
	page, err := report.Page(r, report.Figures(r))
	require.NoError(t, err)
	doc, err := html.Parse(bytes.NewReader(page))
	require.NoError(t, err)
	for n := range doc.Descendants() {
		for _, a := range n.Attr {
			if a.Key == "src" || a.Key == "href" {
				require.True(t, strings.HasPrefix(a.Val, "#"), a.Val)
			}
		}
	}
	require.Contains(t, string(page), `content="default-src 'none'; script-src 'sha256-`)
}

func FuzzReport(f *testing.F) {
	s, config := hostile()
	text, err := json.Marshal(s)
	require.NoError(f, err)
	f.Add(text, []byte(config))
	text, err = json.Marshal(fixture())
	require.NoError(f, err)
	f.Add(text, []byte(sweepConfig))
	f.Fuzz(func(t *testing.T, summary, config []byte) {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "summary.json"), summary, 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "config.resolved.yaml"), config, 0o644))
		r, err := report.Read(dir)
		if err != nil {
			return
		}
		figures := report.Figures(r)
		for i := range figures {
			svgElements(t, figures[i].SVG())
		}
		_, err = report.Page(r, figures)
		require.NoError(t, err)
	})
}

// Points that differ in their seed alone are one place in the figures, with their mean; keys that
// go together are one dimension.
func TestSeedsAndAxesThatGoTogether(t *testing.T) {
	const t1 = 12.706204736174707 // the 97.5 % quantile of Student's t with one degree of freedom: tan(0.475 pi)
	s := &summary{Experiment: "seeds"}
	for i, x := range []string{"1", "2"} {
		for j, seed := range []string{"7", "8"} {
			s.add(map[string]string{"a.x": x, "a.y": fmt.Sprint(10 + i), "seed": seed},
				[]float64{100, 400, 50, 200}[2*i+j], nil)
		}
	}
	r := read(t, s, `sweep: {"a.x, a.y": [[1, 10], [2, 11]]}`)
	require.Equal(t, 2, r.Seeds)
	require.Equal(t, "x=1 y=10  seed=7", r.Points[0].Label)
	figures := report.Figures(r)
	bars := find(t, figures, "points-cycles")
	require.Equal(t, []string{"x=1 y=10", "x=2 y=11"}, bars.Columns)
	require.InDeltaSlice(t, []float64{250, 125},
		[]float64{float64(bars.Series[0].Values[0]), float64(bars.Series[0].Values[1])}, 1e-9)
	require.InDeltaSlice(t, []float64{t1 * 150, t1 * 75},
		[]float64{float64(bars.Series[0].Errors[0]), float64(bars.Series[0].Errors[1])}, 1e-6)
	require.Equal(t, "Arithmetic means over 2 seeds, and 95 % confidence intervals. ", bars.Note)
	require.Equal(t, 6, strings.Count(string(bars.SVG()), `stroke:#222222;stroke-width:0.8`),
		"two whiskers of three lines")
	line := find(t, figures, "over-a-x-cycles")
	require.Len(t, line.Series, 1)
	require.InDelta(t, 125, float64(line.Series[0].Points[1][1]), 1e-9)
	require.InDelta(t, t1*75, float64(line.Series[0].Errors[1]), 1e-6)
	for _, f := range figures {
		require.NotEqual(t, report.Heat, f.Kind, "of axes that go together")
	}
}

// Points that differ in more than their seed are not put together without a word: where axes go together and one
// does not follow from the other, each of its values has a line; a mean names the axes that it is over.
func TestPointsThatDifferInAKeyThatIsNotShown(t *testing.T) {
	s := &summary{Experiment: "banks"}
	for i, at := range [][2]string{{"20", "12"}, {"40", "12"}, {"60", "12"}, {"60", "48"}} {
		s.add(map[string]string{"m.sockets": at[0], "l2.banks": at[1]}, []float64{300, 200, 220, 140}[i], nil)
	}
	figures := report.Figures(read(t, s, `sweep: {"m.sockets, l2.banks": [[20, 12], [40, 12], [60, 12], [60, 48]]}`))
	line := find(t, figures, "over-m-sockets-cycles")
	require.Len(t, line.Series, 2)
	require.Equal(t, "banks=12", line.Series[0].Name)
	require.Equal(t, [][2]report.Number{{20, 300}, {40, 200}, {60, 220}}, line.Series[0].Points)
	require.Equal(t, [][2]report.Number{{60, 140}}, line.Series[1].Points)
	require.Empty(t, line.Note)

	s = &summary{Experiment: "map"}
	for _, x := range []string{"1", "2"} {
		for _, y := range []string{"1", "2"} {
			for i, z := range []string{"a", "b"} {
				s.add(map[string]string{"x": x, "y": y, "z": z}, []float64{100, 400}[i], nil)
			}
		}
	}
	heat := find(t, report.Figures(read(t, s, "sweep: {x: [1, 2], y: [1, 2], z: [a, b]}")), "map-y-x-cycles")
	require.InDelta(t, 200, float64(heat.Cells[0][0]), 1e-9)
	require.Equal(t, "Geometric means over z. ", heat.Note)
}

// Values with the same first 48 characters are different entries nevertheless.
func TestLongValuesAreDifferentPlaces(t *testing.T) {
	s := &summary{Experiment: "long"}
	const graph = "{rmat: {scale: 11, edge_factor: 64}, clean: {symmetrise: true}, weights: {from: random, seed: "
	s.add(map[string]string{"graph": graph + "1}}", "x": "1"}, 100, nil)
	s.add(map[string]string{"graph": graph + "2}}", "x": "1"}, 300, nil)
	s.add(map[string]string{"graph": graph + "1}}", "x": "2"}, 50, nil)
	s.add(map[string]string{"graph": graph + "2}}", "x": "2"}, 150, nil)
	figures := report.Figures(read(t, s, "sweep: {graph: [], x: [1, 2]}"))
	bars := find(t, figures, "points-cycles")
	require.Equal(t, []report.Number{100, 300, 50, 150}, bars.Series[0].Values)
	require.Len(t, bars.Columns, 4)
	require.NotEqual(t, bars.Columns[0], bars.Columns[1])
	require.Len(t, find(t, figures, "over-x-cycles").Series, 2)
}

// A variant that lacks an axis, as a baseline lacks its unit's, is a horizontal line across the figures; one that has
// other axes is left out of lines over this one, and the figure notes it.
func TestVariantsWithAxesOfTheirOwn(t *testing.T) {
	s := &summary{Experiment: "own"}
	add := func(variant, key, value string, cycles float64) {
		axes := map[string]string{"variant": variant}
		if key != "" {
			axes[key] = value
		}
		s.add(axes, cycles, 1000/cycles)
	}
	add("vertex", "", "", 1000)
	for i, v := range []string{"8", "16"} {
		add("weaver", "w.latency", v, float64(500+100*i))
		add("peg", "p.entries", v, float64(400-100*i))
	}
	r := read(t, s, "compare: [{name: vertex}, {name: weaver, sweep: {w.latency: [8, 16]}}, {name: peg, sweep: "+
		"{p.entries: [8, 16]}}]\nsweep: {}")
	require.Equal(t, []string{"vertex", "weaver", "peg"}, r.Variants)
	require.Equal(t, "peg  entries=16", r.Points[4].Label)
	figures := report.Figures(r)
	bars := find(t, figures, "points-cycles")
	require.Equal(t, []string{"latency=8", "entries=8", "latency=16", "entries=16"}, bars.Columns)
	require.Equal(t, []bool{true, false, false},
		[]bool{bars.Series[0].Level, bars.Series[1].Level, bars.Series[2].Level})
	require.Equal(t, []report.Number{1000, 1000, 1000, 1000}, bars.Series[0].Values)
	require.Equal(t, 4+2, fills(&bars, "#E69F00")+fills(&bars, "#009E73"), "bars of weaver and peg, and the legend's")
	require.Zero(t, fills(&bars, "#0072B2"), "vertex is a line across")
	require.Equal(t, []string{"weaver", "peg"}, names(find(t, figures, "points-speedup").Series))

	line := find(t, figures, "over-w-latency-cycles")
	require.Equal(t, []string{"vertex", "weaver"}, names(line.Series))
	require.True(t, line.Series[0].Level)
	require.Equal(t, [][2]report.Number{{8, 1000}, {16, 1000}}, line.Series[0].Points)
	require.Equal(t, [][2]report.Number{{8, 500}, {16, 600}}, line.Series[1].Points)
	require.Equal(t, "Without peg, whose points have other axes.", line.Note)
	require.Equal(t, []string{"8", "16"}, line.X.Names)
	require.Zero(t, fills(&line, "#0072B2"), "no marks on the line across, nor in the legend")
	require.Equal(t, 2+1, fills(&line, "#E69F00"))
	for _, f := range figures {
		require.NotEqual(t, report.Heat, f.Kind, "no point has both axes")
	}
	page, err := report.Page(r, figures)
	require.NoError(t, err)
	require.Contains(t, string(page), ">–</td>")
}

func names(series []report.Series) (names []string) {
	for _, s := range series {
		names = append(names, s.Name)
	}
	return names
}

// With an axis that all have, a baseline has a line for each of its values.
func TestAVariantsOwnAxisBesideOneOfAll(t *testing.T) {
	s := &summary{Experiment: "both"}
	for i, q := range []string{"1", "2"} {
		s.add(map[string]string{"variant": "vertex", "q": q}, float64(1000+i), 1)
		for k, e := range []string{"4", "8", "16"} {
			s.add(map[string]string{"variant": "peg", "q": q, "e": e}, float64(100*(i+1)+k), 2)
		}
	}
	figures := report.Figures(read(t, s, "compare:\n- {name: vertex}\n- {name: peg, sweep: {e: [4, 8, 16]}}\nsweep: {q: "+
		"[1, 2]}"))
	bars := find(t, figures, "points-cycles")
	require.Len(t, bars.Columns, 6)
	require.False(t, bars.Series[0].Level)
	require.Equal(t, []report.Number{1000, 1000, 1000, 1001, 1001, 1001}, bars.Series[0].Values)
	lines := find(t, figures, "over-e-cycles")
	require.Equal(t, []string{"vertex  q=1", "peg  q=1", "vertex  q=2", "peg  q=2"}, names(lines.Series))
	require.Equal(t, [][2]report.Number{{4, 1001}, {8, 1001}, {16, 1001}}, lines.Series[2].Points)
	require.Equal(t, []string{"vertex", "peg  e=4", "peg  e=8", "peg  e=16"},
		names(find(t, figures, "over-q-cycles").Series))
	require.Len(t, find(t, figures, "map-e-q-cycles-peg").Cells, 2)
}
