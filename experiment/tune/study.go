package tune

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"heddle/experiment"
	"heddle/internal/files"
	"heddle/internal/fit"
)

// Study is a set of searches: one for each problem, a point of the sweep, and each variant of compare.
type Study struct {
	Name     string     `json:"name"`
	Variants []string   `json:"variants"` // the first is the baseline
	Problems []*Problem `json:"problems"`
}

// Problem is one point of the sweep.
type Problem struct {
	Axes  []experiment.Setting    `json:"axes"`
	Graph experiment.GraphSummary `json:"graph"`
	Of    []*Solution             `json:"of"` // by variant
}

// Solution is the result of the search for a problem and a variant.
type Solution struct {
	Variant string             `json:"variant"`
	Version string             `json:"version"` // of the program
	Seconds float64            `json:"seconds"` // host time of all simulations
	Outcome Outcome            `json:"outcome"`
	First   map[string]float64 `json:"first_stats"` // statistics of the first candidate, by name
	Best    map[string]float64 `json:"best_stats"`  // statistics of the best
	Stalls  string             `json:"best_stalls"` // longest stalls of the best's schedulers
}

// Explained lists the statistics that explain differences in speed between kernels.
var Explained = []struct{ Name, Title, Format string }{
	{"core.commit.instructions", "warp instructions", "%.3g"},
	{"edges", "edges", "%.3g"},
	{"simd_efficiency", "active lanes", "%.0f%%"},
	{"ipc", "IPC", "%.2f"},
	{"atomics", "atomics", "%.3g"},
	{"l1d.hit_rate", "L1D hits", "%.0f%%"},
	{"dram.bytes_per_cycle", "DRAM B/cycle", "%.1f"},
}

// first names the baseline of the speedups, a schedule of the first variant.
func (s *Study) first() string { return s.Problems[0].base().Outcome.First.Choices[ScheduleKey] }

// base returns the first variant's solution.
func (p *Problem) base() *Solution { return p.Of[0] }

// Over returns the speedup of a variant's best over the first variant's first candidate.
func (p *Problem) Over(variant int) float64 {
	return speedupOver(p.base().Outcome.First.Cycles, p, variant)
}

// OverBest returns the speedup of a variant's best over the first variant's best.
func (p *Problem) OverBest(variant int) float64 {
	return speedupOver(p.base().Outcome.Best.Cycles, p, variant)
}

// OverFixed returns the speedup of a variant's best over the best of the first variant's schedules, each with the
// choices that suit it.
func (p *Problem) OverFixed(variant int) float64 {
	least := p.base().Outcome.First.Cycles
	for _, r := range p.base().Outcome.Schedules {
		if !r.AtLeast {
			least = min(least, r.Cycles)
		}
	}
	return speedupOver(least, p, variant)
}

func speedupOver(cycles uint64, p *Problem, variant int) float64 {
	if variant >= len(p.Of) || p.Of[variant].Outcome.Best.Cycles == 0 {
		return math.NaN()
	}
	return float64(cycles) / float64(p.Of[variant].Outcome.Best.Cycles)
}

// Geomean returns the geometric mean of a quantity over the problems that keep accepts; nil: all.
func (s *Study) Geomean(of func(p *Problem) float64, keep func(p *Problem) bool) float64 {
	sum, n := 0.0, 0
	for _, p := range s.Problems {
		if x := of(p); (keep == nil || keep(p)) && !math.IsNaN(x) && x > 0 {
			sum, n = sum+math.Log(x), n+1
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return math.Exp(sum / float64(n))
}

// Groups returns the values of an axis of the problems, in the order of their first occurrence.
func (s *Study) Groups(axis int) (values []string) {
	for _, p := range s.Problems {
		if v := p.Axes[axis].Value; !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
}

// mostStudy bounds the size of a study's file.
const mostStudy = 256 << 20

// ReadStudy reads a study's file, study.json.
func ReadStudy(path string) (*Study, error) {
	data, err := files.Read(path, mostStudy)
	if err != nil {
		return nil, err
	}
	s := &Study{}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("%s: expected the study.json of a study: %w", path, err)
	}
	for _, p := range s.Problems {
		if p == nil || slices.Contains(p.Of, nil) {
			return nil, fmt.Errorf("%s: expected the study.json of a study: a problem is null", path)
		}
	}
	return s, nil
}

// Find returns the problem with the axes and its solution for a variant; nil if there is none. The study may be nil.
func (s *Study) Find(axes []experiment.Setting, variant string) (*Problem, *Solution) {
	if s == nil {
		return nil, nil
	}
	for _, p := range s.Problems {
		for _, x := range p.Of {
			if x.Variant == variant && slices.Equal(p.Axes, axes) {
				return p, x
			}
		}
	}
	return nil, nil
}

// BestOf returns the best kernels of a variant over all problems, each once.
func (s *Study) BestOf(variant string) (kernels []string) {
	for _, p := range s.Problems {
		for _, x := range p.Of {
			if k := x.Outcome.Best.Kernel; x.Variant == variant && !slices.Contains(kernels, k) {
				kernels = append(kernels, k)
			}
		}
	}
	return kernels
}

// speedupText formats a speedup.
func speedupText(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return fmt.Sprintf("%.2f", x)
}

// Write prints the speedups of each variant's best.
func (s *Study) Write(w io.Writer) {
	for _, part := range []struct {
		title string
		of    func(p *Problem, v int) float64
		from  int
	}{
		{"times as fast as " + s.first(), (*Problem).Over, 0},
		{"times as fast as the best of " + s.Variants[0], (*Problem).OverBest, 1},
	} {
		if part.from >= len(s.Variants) {
			continue
		}
		header := []any{""}
		for _, v := range s.Variants[part.from:] {
			header = append(header, v)
		}
		t := fit.New(w, header...)
		t.SetTitle(part.title)
		for _, p := range s.Problems {
			row := table.Row{p.Title()}
			for v := part.from; v < len(s.Variants); v++ {
				row = append(row, speedupText(part.of(p, v)))
			}
			t.AppendRow(row)
		}
		t.AppendSeparator()
		row := table.Row{"geometric mean"}
		for v := part.from; v < len(s.Variants); v++ {
			row = append(row, speedupText(s.Geomean(func(p *Problem) float64 { return part.of(p, v) }, nil)))
		}
		t.AppendRow(row)
		t.Render()
	}
	if line := s.ended(); line != "" {
		fmt.Fprintln(w, line)
	}
}

// ended reports the number of searches that their budget or --quick ended; empty: none.
func (s *Study) ended() string {
	ended, quick, all := 0, 0, 0
	for _, p := range s.Problems {
		for _, x := range p.Of {
			all++
			switch {
			case x.Outcome.Spent:
				ended++
			case x.Outcome.Quick:
				quick++
			}
		}
	}
	var lines []string
	if ended > 0 {
		lines = append(lines, fmt.Sprintf("%d of %d searches were ended by their budget: there may be better kernels.",
			ended, all))
	}
	if quick > 0 {
		lines = append(lines, fmt.Sprintf("%d of %d searches were quick ones (heddle tune --quick), each to its end.",
			quick, all))
	}
	return strings.Join(lines, "\n")
}

// markdown writes a table.
func markdown(b *strings.Builder, header []string, rows [][]string) {
	line := func(cells []string) { fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | ")) }
	line(header)
	rule := []string{"---"}
	for range header[1:] {
		rule = append(rule, "--:")
	}
	line(rule)
	for _, r := range rows {
		line(r)
	}
	b.WriteString("\n")
}

// Markdown returns the tables of a study's page.
func (s *Study) Markdown() string {
	var b strings.Builder
	if line := s.ended(); line != "" {
		b.WriteString(line + "\n\n")
	}
	b.WriteString("### Graphs\n\n")
	s.graphs(&b)
	b.WriteString("### Speedups, geometric means\n\n")
	s.means(&b)
	b.WriteString("### Each problem\n\nHow many times as fast as " + s.first() +
		" (its cycles in thousands) the best of each is; in brackets, as the best of " + s.Variants[0] + ".\n\n")
	s.each(&b)
	b.WriteString("### The best kernels\n\n")
	s.kernels(&b)
	b.WriteString("### Each schedule of " + s.Variants[0] + ", with its best choices\n\nHow many times as fast as " +
		s.first() + "; `<`: it was abandoned.\n\n")
	s.schedules(&b)
	b.WriteString("### Gains of the choices, of " + s.Variants[0] + "\n\n")
	s.options(&b)
	b.WriteString("### Why\n\n")
	s.why(&b)
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// graphs writes the sizes of the problems' graphs, each once.
func (s *Study) graphs(b *strings.Builder) {
	var rows [][]string
	seen := map[experiment.GraphSummary]bool{}
	for _, p := range s.Problems {
		g := p.Graph
		if seen[g] {
			continue
		}
		seen[g] = true
		rows = append(rows, []string{
			short(g.Source), experiment.Thousands(uint64(g.Vertices)), experiment.Thousands(uint64(g.Edges)),
			fmt.Sprintf("%.1f", float64(g.Edges)/float64(max(g.Vertices, 1))),
			experiment.Thousands(uint64(g.MaxInDegree)),
		})
	}
	markdown(b, []string{"graph", "vertices", "edges", "edges a vertex", "most edges into a vertex"}, rows)
}

// means writes the geometric means, over all problems and over the groups of each axis.
func (s *Study) means(b *strings.Builder) {
	header := []string{"over", "of"}
	header = append(header, s.Variants...)
	var rows [][]string
	for _, part := range []struct {
		title string
		of    func(p *Problem, v int) float64
	}{
		{s.first(), (*Problem).Over}, {"the best schedule of " + s.Variants[0], (*Problem).OverFixed},
		{"the tuned best of " + s.Variants[0], (*Problem).OverBest},
	} {
		add := func(title string, keep func(p *Problem) bool) {
			row := []string{part.title, title}
			for v := range s.Variants {
				row = append(row, speedupText(s.Geomean(func(p *Problem) float64 { return part.of(p, v) }, keep)))
			}
			rows = append(rows, row)
		}
		add(fmt.Sprintf("all %d", len(s.Problems)), nil)
		for axis := range s.Problems[0].Axes {
			for _, value := range s.Groups(axis) {
				add(short(value), func(p *Problem) bool { return p.Axes[axis].Value == value })
			}
		}
	}
	markdown(b, header, rows)
}

// short returns a value without the directory and suffixes of a file.
func short(value string) string {
	value = value[strings.LastIndexByte(value, '/')+1:]
	for _, suffix := range []string{".gz", ".txt", ".mtx", ".edges"} {
		value = strings.TrimSuffix(value, suffix)
	}
	return value
}

// Title returns a problem's name in a table.
func (p *Problem) Title() string {
	var parts []string
	for _, a := range p.Axes {
		parts = append(parts, short(a.Value))
	}
	return strings.Join(parts, ", ")
}

func (s *Study) each(b *strings.Builder) {
	header := append([]string{"problem", s.first()}, s.Variants...)
	var rows [][]string
	for _, p := range s.Problems {
		row := []string{p.Title(), fmt.Sprintf("%.4g", float64(p.base().Outcome.First.Cycles)/1000)}
		for v := range s.Variants {
			cell := speedupText(p.Over(v))
			if v > 0 {
				cell += " (" + speedupText(p.OverBest(v)) + ")"
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	markdown(b, header, rows)
}

func (s *Study) kernels(b *strings.Builder) {
	var rows [][]string
	for _, p := range s.Problems {
		row := []string{p.Title()}
		for _, x := range p.Of {
			_, kernel, _ := strings.Cut(x.Outcome.Best.Kernel, "/")
			row = append(row, "`"+kernel+"`")
		}
		rows = append(rows, row)
	}
	markdown(b, append([]string{"problem"}, s.Variants...), rows)
}

func (s *Study) schedules(b *strings.Builder) {
	var names []string
	for _, p := range s.Problems {
		for _, r := range p.base().Outcome.Schedules {
			if n := r.Choices[ScheduleKey]; !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	var rows [][]string
	for _, p := range s.Problems {
		row := []string{p.Title()}
		for _, n := range names {
			cell := "–"
			for _, r := range p.base().Outcome.Schedules {
				if r.Choices[ScheduleKey] == n {
					cell = speedupText(r.Speedup)
					if r.AtLeast {
						cell = "< " + cell
					}
				}
			}
			row = append(row, cell)
		}
		rows = append(rows, append(row, speedupText(p.Over(0))))
	}
	mean := []string{"geometric mean"}
	for _, n := range names {
		mean = append(mean, speedupText(s.Geomean(func(p *Problem) float64 {
			for _, r := range p.base().Outcome.Schedules {
				if r.Choices[ScheduleKey] == n && !r.AtLeast {
					return r.Speedup
				}
			}
			return math.NaN()
		}, nil)))
	}
	rows = append(rows, append(mean, speedupText(s.Geomean(func(p *Problem) float64 { return p.Over(0) }, nil))))
	markdown(b, append(append([]string{"problem"}, names...), "tuned"), rows)
}

// Options describes how far apart the candidates of the first variant are, as GRAssembler (PACT '22, §6.2) counts it,
// over the candidates that were simulated to their ends.
type Options struct {
	Second     float64 // the second's time over the best's, geometric mean
	MostSecond float64 // and at most
	Layouts    float64 // part of the seconds that have another layout than the best
	Worst      float64 // the slowest's time over the best's, geometric mean
	Problems   int     // that have a second
}

// Options returns the options of the study's problems.
func (s *Study) Options() (o Options) {
	second, worst, others := 0.0, 0.0, 0
	for _, p := range s.Problems {
		x := &p.base().Outcome
		if x.Second == nil || x.Worst == nil || x.Best.Cycles == 0 {
			continue
		}
		o.Problems++
		gap := float64(x.Second.Cycles) / float64(x.Best.Cycles)
		second, worst = second+math.Log(gap), worst+math.Log(float64(x.Worst.Cycles)/float64(x.Best.Cycles))
		o.MostSecond = max(o.MostSecond, gap)
		if x.Second.Choices[LayoutKey] != x.Best.Choices[LayoutKey] {
			others++
		}
	}
	if n := float64(o.Problems); n > 0 {
		o.Second, o.Worst, o.Layouts = math.Exp(second/n), math.Exp(worst/n), float64(others)/n
	}
	return o
}

func (s *Study) options(b *strings.Builder) {
	o := s.Options()
	header := []string{"", s.Name, "GRAssembler, §6.2"}
	markdown(b, header, [][]string{
		{"time of the second over the best, geometric mean", speedupText(o.Second), "1.168"},
		{"at most", speedupText(o.MostSecond), "2.08"},
		{"seconds with another layout than the best", fmt.Sprintf("%.0f %%", 100*o.Layouts), "52.78 %"},
		{"time of the worst over the best, geometric mean", speedupText(o.Worst), "21.48"},
	})
}

// why writes the statistics of the best kernels and of the first side by side.
func (s *Study) why(b *strings.Builder) {
	header := []string{"problem", "kernel", "cycles"}
	for _, x := range Explained {
		header = append(header, x.Title)
	}
	header = append(header, "top stalls")
	var rows [][]string
	for _, p := range s.Problems {
		add := func(name string, cycles uint64, stats map[string]float64, stalls string) {
			row := []string{p.Title(), name, fmt.Sprintf("%.4gk", float64(cycles)/1000)}
			for _, x := range Explained {
				v, ok := stats[x.Name]
				if strings.Contains(x.Format, "%%") {
					v *= 100
				}
				cell := fmt.Sprintf(x.Format, v)
				if !ok {
					cell = "–"
				}
				row = append(row, strings.ReplaceAll(cell, "e+0", "e"))
			}
			rows = append(rows, append(row, stalls))
		}
		add(s.first(), p.base().Outcome.First.Cycles, p.base().First, "")
		for _, x := range p.Of {
			add(x.Variant, x.Outcome.Best.Cycles, x.Best, cmp.Or(x.Stalls, "–"))
		}
	}
	markdown(b, header, rows)
}
