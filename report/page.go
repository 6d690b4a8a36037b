package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"heddle/experiment"
	"heddle/report/echarts"
)

// The parts of a page, beside ECharts.
var (
	//go:embed assets/page.js
	script string
	//go:embed assets/page.css
	style string
	//go:embed assets/page.html
	markup string

	page = template.Must(template.New("page").Funcs(template.FuncMap{
		"thousands": func(n int) string { return experiment.Thousands(uint64(max(n, 0))) },
	}).Parse(markup))
)

// pageData is the data of the template.
type pageData struct {
	*Result
	Policy        template.HTMLAttr
	Library       template.JS
	Script        template.JS
	Style         template.CSS
	Data          scriptData
	First         []group // the figures beside the answer
	Groups        []group
	Table         table
	Failures      []*Point // the first of them
	Failed        int
	Verified      int
	Replayed      int // results of traces, which are not verified
	Partial       int
	Stopped       int // of those that are verified: by max_iterations
	Differences   differences
	Configuration string
}

// scriptData is the input of the page's script, as JSON.
type scriptData struct {
	Figures    []Figure   `json:"figures"`
	Palette    []string   `json:"palette"`
	Stack      []string   `json:"stack"`
	Other      string     `json:"other"`
	Bound      string     `json:"bound"`
	Labels     []string   `json:"labels"` // of the points
	Statistics statistics `json:"statistics"`
}

// statistics are all values: a row for each name.
type statistics struct {
	Note  string           `json:"note"`
	Names []string         `json:"names"`
	Units []string         `json:"units"`
	Docs  []string         `json:"docs"`
	Rows  [][]*json.Number `json:"rows"` // by name, then point
	// Halves are half the widths of the 95 % confidence intervals of sampled statistics, by name and point; 0: exact.
	Halves [][]float64 `json:"halves,omitempty"`
}

// group is one figure of the page, of several that the reader can choose from.
type group struct {
	ID      string
	Title   string
	Choices []string
	Fold    string // title of the fold; "": it is open
}

// Page renders the report.
func Page(r *Result, figures []Figure) ([]byte, error) {
	d := pageData{
		Result: r, Library: template.JS(echarts.Script), Script: template.JS(script), Style: template.CSS(style),
		Policy: policy(), Groups: groups(figures), Table: newTable(r), Differences: compareConfigs(r),
		Configuration: r.Points[0].Config,
		Data: scriptData{
			Figures: figures, Palette: colours(palette, mostSeries(figures)),
			Stack: colours(stackPalette, mostSeries(figures)), Other: otherColour, Bound: boundColour,
			Statistics: newStatistics(r),
		},
	}
	if len(d.Groups) > 0 {
		d.First, d.Groups = d.Groups[:1], d.Groups[1:]
	}
	for _, p := range r.Points {
		d.Data.Labels = append(d.Data.Labels, p.Label)
		switch {
		case p.Verified:
			d.Verified++
			if p.Partial != "" {
				d.Stopped++
			}
		case p.counts() && p.Partial != "":
			d.Partial++
		case p.counts():
			d.Replayed++
		default:
			d.Failed++
			d.Failures = append(d.Failures, p)
		}
	}
	d.Failures = d.Failures[:min(len(d.Failures), maxFailures)]
	var b bytes.Buffer
	err := page.Execute(&b, &d)
	return b.Bytes(), err
}

// maxFailures bounds the messages in a page.
const maxFailures = 500

// policy lets the page's own scripts run, by their hashes, and nothing be loaded from anywhere.
func policy() template.HTMLAttr {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return template.HTMLAttr(fmt.Sprintf(
		`content="default-src 'none'; script-src %s %s; style-src 'unsafe-inline'; img-src data: blob:"`,
		hash(echarts.Script), hash(script)))
}

func groups(figures []Figure) (out []group) {
	for _, f := range figures {
		if len(out) == 0 || out[len(out)-1].ID != f.Group {
			out = append(out, group{ID: f.Group, Title: f.Title, Fold: f.Fold})
		}
		g := &out[len(out)-1]
		g.Choices = append(g.Choices, f.Choice)
	}
	return out
}

// Graphs lists the graphs of the points, each once.
func (d *pageData) GraphList() (out []graphLine) {
	var hashes []string
	for _, p := range d.Points {
		if p.Graph != "" && !slices.Contains(hashes, p.Graph) {
			hashes = append(hashes, p.Graph)
			out = append(out, graphLine{p.Graph, d.About.Graphs[p.Graph]})
		}
	}
	return out
}

type graphLine struct {
	Hash string
	experiment.GraphSummary
}

// Mean is the mean in-degree.
func (g graphLine) Mean() string {
	return fmt.Sprintf("%.1f", float64(g.Edges)/float64(max(g.Vertices, 1)))
}

// Memory is the most that the program needed.
func (d *pageData) Memory() string {
	if d.Host.PeakRSSBytes == 0 { // of a run that has not ended
		return "–"
	}
	return fmt.Sprintf("%d MiB", d.Host.PeakRSSBytes>>20)
}

// Seconds returns the total time of all points.
func (d *pageData) Seconds() string { return fmt.Sprintf("%.1f s", d.Host.Seconds) }

// maxValues bounds the statistics in a page: some 15 MB.
const maxValues = 2_000_000

// newStatistics takes all statistics; of many points only the sums over units, of very many none but the headline.
func newStatistics(r *Result) statistics {
	s := statistics{Names: r.names()}
	for _, few := range []struct {
		note string
		keep func(string) bool
	}{
		{"", func(string) bool { return true }},
		{
			"There are too many points for the statistics of each core, cache and channel: they are in summary.csv.",
			func(n string) bool { return !experiment.Single(n) },
		},
		{"There are too many points for all statistics: they are in summary.csv.",
			func(n string) bool { return !strings.Contains(n, ".") }},
	} {
		s.Note = few.note
		s.Names = slices.DeleteFunc(s.Names, func(n string) bool { return !few.keep(n) })
		if len(s.Names)*len(r.Points) <= maxValues {
			break
		}
	}
	s.describe(r)
	return s
}

func (s *statistics) describe(r *Result) {
	about := map[string]experiment.StatisticSummary{}
	for _, a := range r.About.Statistics {
		about[a.Name] = a
	}
	sampled := r.sampled()
	for _, name := range s.Names {
		a := about[kind(name)]
		s.Units, s.Docs = append(s.Units, a.Unit), append(s.Docs, a.Doc)
		row, halves := make([]*json.Number, len(r.Points)), make([]float64, len(r.Points))
		for i, p := range r.Points {
			if v, ok := p.Stats[name]; ok {
				row[i], halves[i] = &v.Number, v.Half
			}
		}
		s.Rows = append(s.Rows, row)
		if sampled {
			s.Halves = append(s.Halves, halves)
		}
	}
}

// kind is the statistic of all units that one unit's belongs to: core.cycles for
// core3.cycles, weaver.cycles for core3.weaver.cycles, l1d.reads for socket1.l1d.reads.
func kind(name string) string {
	unit, rest, ok := strings.Cut(name, ".")
	switch {
	case !ok || !experiment.Single(name):
		return name
	case unit == "dram":
		_, rest, _ = strings.Cut(rest, ".")
		return "dram." + rest
	case strings.HasPrefix(unit, "core") && !strings.HasPrefix(rest, "weaver."):
		return "core." + rest
	}
	return rest
}
