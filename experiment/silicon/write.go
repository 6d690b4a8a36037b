package silicon

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"heddle/internal/fit"
)

// Report is all that a file was compared with.
type Report struct {
	File        string        `json:"file"`
	Comparisons []*Comparison `json:"comparisons"`
	Silicon     []*Comparison `json:"silicon,omitempty"` // its configurations with the first of them
	Absent      []string      `json:"absent,omitempty"`  // graphs
	Failed      int           `json:"failed"`            // points without a result
	Simulated   []Simulated   `json:"simulated"`
}

// NewReport compares simulations with a file's rows: each machine and unrolling in the order of first appearance, with
// all of against.
func (c *Campaign) NewReport(simulated []Simulated, against []Against) *Report {
	r := &Report{File: c.File, Simulated: simulated}
	by := map[Key]Simulated{}
	var kinds [][2]string
	for _, s := range simulated {
		by[s.Key] = s
		if kind := [2]string{s.Machine, s.Unroll}; !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	for _, a := range against {
		for _, k := range kinds {
			if one := c.Compare(k[0], k[1], a, by); len(one.Cases) > 0 {
				r.Comparisons = append(r.Comparisons, one)
			}
		}
		if a.Variant == against[0].Variant && a.Config != against[0].Config {
			r.Silicon = append(r.Silicon, c.itself(a, against[0], by))
		}
	}
	slices.SortStableFunc(r.Comparisons, func(a, b *Comparison) int { return position(kinds, a) - position(kinds, b) })
	return r
}

// position groups the comparisons of one machine.
func position(kinds [][2]string, c *Comparison) int {
	return slices.IndexFunc(kinds, func(k [2]string) bool { return k[0] == c.Machine })
}

// itself compares one of silicon's configurations with another, where there are simulations: the effect of a chip's
// size on a ranking.
func (c *Campaign) itself(from, to Against, simulated map[Key]Simulated) *Comparison {
	seen := map[Key]bool{}
	for w := range simulated {
		w.Machine, w.Unroll = "", ""
		seen[w] = true
	}
	name := "silicon, " + from.Config
	times := map[Key]Simulated{}
	for i := range c.Rows {
		row := &c.Rows[i]
		w := Key{"", "", row.Graph, row.Algorithm, row.Schedule}
		if row.Variant == from.Variant && row.Config == from.Config && row.Net() > 0 && seen[w] {
			w.Machine = name
			times[w] = Simulated{Key: w, Cycles: uint64(1000 * row.Net()), SuperSteps: uint64(row.SuperSteps)}
		}
	}
	return c.Compare(name, "", to, times)
}

// group are comparisons of a machine with the same rows, which differ in unrolling.
type group []*Comparison

func (r *Report) groups() (all []group) {
	for _, c := range r.Comparisons {
		i := slices.IndexFunc(all, func(g group) bool { return g[0].Machine == c.Machine && g[0].Against == c.Against })
		if i < 0 {
			all, i = append(all, nil), len(all)
		}
		all[i] = append(all[i], c)
	}
	return all
}

// title names a group.
func (g group) title() string {
	return fmt.Sprintf("%s beside %s, %s", g[0].Machine, g[0].Config, g[0].Variant)
}

// unrolls describes the values of a cell.
func (g group) unrolls() string {
	return "unroll " + g.cell(func(c *Comparison) string { return c.Unroll })
}

// cell joins the values of all unrollings.
func (g group) cell(of func(c *Comparison) string) string {
	var cells []string
	for _, c := range g {
		cells = append(cells, of(c))
	}
	return strings.Join(cells, "/")
}

// sheet is a table whose columns are numbers but for the first ones. It fits w; nil: it is for Markdown.
func sheet(w io.Writer, left int, header table.Row) table.Writer {
	var right []table.ColumnConfig
	for i := left; i < len(header); i++ {
		right = append(right, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	var t table.Writer
	if w == nil {
		t = table.NewWriter()
		t.AppendHeader(header)
	} else {
		t = fit.New(w, header...)
	}
	t.SetColumnConfigs(right)
	return t
}

func (p Pairs) percent() string { return Number(p.Share()).percent() }

// summary has a row for each comparison. Its variant is named if there are several.
func (r *Report) summary(w io.Writer) table.Writer {
	all := slices.Concat(r.Comparisons, r.Silicon)
	variants := slices.ContainsFunc(all, func(c *Comparison) bool { return c.Variant != all[0].Variant })
	t := sheet(w, 2, table.Row{"machine, unroll", "beside", "tau (noise)", "pairs", "regret", "r", "MAPE", "WMAPE",
		"ns/cycle", "cases", "tau with launches"})
	for _, c := range all {
		s, name, beside := &c.Summary, c.Machine, c.Config
		if c.Unroll != "" {
			name += ", " + c.Unroll
		}
		if variants {
			beside += ", " + c.Variant
		}
		t.AppendRow(table.Row{
			name, beside, s.Tau.text(2) + " (" + s.FloorTau.text(2) + ")",
			s.Pairs.percent() + " (" + s.Floor.percent() + ")", s.Regret.text(2) + " (" + s.Worst.text(2) + ")",
			s.Pearson.text(2), s.MAPE.percent(), s.WMAPE.percent(), c.Nanoseconds.text(3), fmt.Sprintf("%d/%d", s.Cases, s.Of),
			s.WithTau.text(2),
		})
	}
	return t
}

// cases has a row for each algorithm on each graph.
func (g group) cases(w io.Writer) table.Writer {
	t := sheet(w, 2, table.Row{"graph", "algorithm", "tau", "noise: tau", "pairs", "regret", "best", "pick",
		"noise: pairs", "r", "MAPE", "WMAPE", "launches"})
	for i := range g[0].Cases {
		k := &g[0].Cases[i]
		cell := func(text func(k *Case) string) string {
			return g.cell(func(c *Comparison) string {
				if k := c.find(k); k != nil {
					return text(k)
				}
				return "–"
			})
		}
		t.AppendRow(table.Row{
			k.Graph, k.Algorithm, cell(func(k *Case) string { return k.Tau.text(2) }), k.FloorTau.text(2),
			cell(func(k *Case) string { return k.Pairs.percent() }),
			cell(func(k *Case) string { return k.Regret.text(2) }),
			k.Best, cell(func(k *Case) string { return k.Pick }), k.Floor.percent(),
			cell(func(k *Case) string { return k.Pearson.text(2) }),
			cell(func(k *Case) string { return k.MAPE.percent() }),
			cell(func(k *Case) string { return k.WMAPE.percent() }), k.Launches.percent(),
		})
	}
	return t
}

// find is the case of the same algorithm on the same graph; nil: there is none.
func (c *Comparison) find(as *Case) *Case {
	i := slices.IndexFunc(c.Cases, func(k Case) bool { return k.Graph == as.Graph && k.Algorithm == as.Algorithm })
	if i < 0 {
		return nil
	}
	return &c.Cases[i]
}

// speedups over vertex mapping, silicon's first: of each algorithm, over all graphs in the geometric mean, and on each.
func (g group) speedups(w io.Writer, each bool) table.Writer {
	header := table.Row{"algorithm"}
	if each {
		header = append(header, "graph")
	}
	left := len(header)
	names := g[0].measured()[1:]
	for _, s := range names {
		header = append(header, s)
	}
	t := sheet(w, left, header)
	for _, a := range algorithms {
		of := func(graph string) table.Row {
			row := table.Row{a.name}
			if each {
				row = append(row, graph)
			}
			for _, s := range names {
				row = append(row, g.speedup(a.name, graph, s))
			}
			return row
		}
		if !slices.ContainsFunc(g[0].Cases, func(k Case) bool { return k.Algorithm == a.name }) {
			continue
		}
		t.AppendRow(of(""))
		for i := range g[0].Cases {
			if k := &g[0].Cases[i]; each && k.Algorithm == a.name {
				t.AppendRow(of(k.Graph))
			}
		}
	}
	return t
}

// gaps are how far the second-best and the worst schedule are behind the best, silicon's first, each side by its own
// ranking: of each algorithm, over all graphs in the geometric mean, and of all.
func (g group) gaps(w io.Writer) table.Writer {
	t := sheet(w, 1, table.Row{"algorithm", "second/best", "most", "worst/best", "most"})
	of := func(name string) table.Row {
		row := table.Row{name}
		for _, place := range []func([]float64) float64{second, worst} {
			mean, most := g.gap(name, place)
			row = append(row, mean, most)
		}
		return row
	}
	for _, a := range algorithms {
		if slices.ContainsFunc(g[0].Cases, func(k Case) bool { return k.Algorithm == a.name }) {
			t.AppendRow(of(a.name))
		}
	}
	t.AppendRow(of("all"))
	return t
}

// second is the second of some times over the least.
func second(times []float64) float64 {
	slices.Sort(times)
	return times[min(1, len(times)-1)] / times[0]
}

// worst is the longest of some times over the least.
func worst(times []float64) float64 { return slices.Max(times) / slices.Min(times) }

// gap is silicon's and each unrolling's geometric mean and maximum over an algorithm's graphs, or over all cases.
func (g group) gap(algorithm string, place func([]float64) float64) (mean, most string) {
	var means, mosts []string
	take := func(c *Comparison, time func(*Point) float64) {
		var all []float64
		for i := range c.Cases {
			if k := &c.Cases[i]; algorithm == "all" || k.Algorithm == algorithm {
				all = append(all, place(of(k.Points, time)))
			}
		}
		means = append(means, Number(geomean(all)).text(2))
		mosts = append(mosts, Number(slices.Max(all)).text(2))
	}
	take(g[0], net)
	for _, c := range g {
		take(c, cycles)
	}
	return strings.Join(means, "/"), strings.Join(mosts, "/")
}

// measured are the schedules that the comparison has.
func (c *Comparison) measured() (names []string) {
	for _, s := range c.Schedules {
		names = append(names, s.Schedule)
	}
	return names
}

// hasVertex reports whether there is vertex mapping, over which speedups are, and another schedule.
func (g group) hasVertex() bool { return g[0].Schedules[0].Schedule == Schedules[0] }

// speedup is silicon's and each unrolling's, of an algorithm on a graph; "": on all of them, in the geometric mean.
func (g group) speedup(algorithm, graph, schedule string) string {
	var cells []string
	for i, c := range g {
		var silicon, heddle []float64
		for _, k := range c.Cases {
			for _, p := range k.Points {
				if k.Algorithm == algorithm && (graph == "" || k.Graph == graph) && p.Schedule == schedule {
					silicon = append(silicon, float64(p.Speedup.Silicon))
					heddle = append(heddle, float64(p.Speedup.Heddle))
				}
			}
		}
		if i == 0 {
			cells = append(cells, Number(geomean(silicon)).text(1))
		}
		cells = append(cells, Number(geomean(heddle)).text(1))
	}
	return strings.Join(cells, "/")
}

// schedules has a row for each schedule.
func (g group) schedules(w io.Writer) table.Writer {
	t := sheet(w, 1, table.Row{"schedule", "ratio", "least", "most", "launches"})
	for i := range g[0].Schedules {
		s := &g[0].Schedules[i]
		cell := func(value func(s *BySchedule) Number) string {
			return g.cell(func(c *Comparison) string {
				at := slices.IndexFunc(c.Schedules, func(o BySchedule) bool { return o.Schedule == s.Schedule })
				if at < 0 {
					return "–"
				}
				return value(&c.Schedules[at]).text(2)
			})
		}
		t.AppendRow(table.Row{s.Schedule, cell(func(s *BySchedule) Number { return s.Ratio }),
			cell(func(s *BySchedule) Number { return s.Least }), cell(func(s *BySchedule) Number { return s.Most }),
			s.Launches.percent()})
	}
	return t
}

// notes are the remarks below the tables.
func (r *Report) notes() (notes []string) {
	if len(r.Absent) > 0 {
		notes = append(notes, "Left out, since there is no such graph: "+strings.Join(r.Absent, ", ")+".")
	}
	if r.Failed > 0 {
		notes = append(notes, fmt.Sprintf("Left out, since they have no verified result: %d points.", r.Failed))
	}
	for _, c := range r.Comparisons {
		if len(c.Left) > 0 {
			notes = append(notes, fmt.Sprintf("Left out beside %s, %s, where nothing is left without launches: %s.",
				c.Config, c.Variant, strings.Join(c.Left, ", ")))
		}
	}
	if steps := r.otherSteps(); len(steps) > 0 {
		notes = append(notes, "Super-steps that silicon and heddle do not share, as source or weights are others, or "+
			"updates are seen in the super-step that makes them or in the next: "+strings.Join(steps, "; ")+".")
	}
	return slices.Compact(notes)
}

// otherSteps are the numbers of super-steps that are not the same, over all comparisons.
func (r *Report) otherSteps() (list []string) {
	var all []Steps
	for _, c := range r.Comparisons {
		for _, s := range c.Steps {
			i := slices.IndexFunc(all, func(o Steps) bool { return o.Graph == s.Graph && o.Algorithm == s.Algorithm })
			if i < 0 {
				all = append(all, s)
				continue
			}
			all[i].Silicon.add(s.Silicon)
			all[i].Heddle.add(s.Heddle)
		}
	}
	for _, s := range all {
		list = append(list, fmt.Sprintf("%s on %s %s and %s", s.Algorithm, s.Graph, s.Silicon.text(), s.Heddle.text()))
	}
	return list
}

func (r *Range) add(o Range) {
	r.take(o.From)
	r.take(o.To)
}

func (r Range) text() string {
	if r.From == r.To {
		return fmt.Sprint(r.From)
	}
	return fmt.Sprintf("%d to %d", r.From, r.To)
}

// Write writes the tables for a terminal.
func (r *Report) Write(w io.Writer) error {
	out := &errorWriter{w: w}
	for _, g := range r.groups() {
		out.line("%s; %s\n", g.title(), g.unrolls())
		g.cases(out.of()).Render()
		if g.hasVertex() {
			out.line("\nSpeedup over vertex: silicon/%s, geometric mean over graphs\n", g.unrolls())
			g.speedups(out.of(), false).Render()
		}
		out.line("\nSecond and worst schedule over the best: silicon/%s, geometric mean and most over graphs\n", g.unrolls())
		g.gaps(out.of()).Render()
		out.line("\nScaled cycles over silicon's time; %s\n", g.unrolls())
		g.schedules(out.of()).Render()
		out.line("\n")
	}
	r.summary(out.of()).Render()
	for _, n := range r.notes() {
		out.line("%s\n", n)
	}
	return out.err
}

// errorWriter keeps the first error of a writer.
type errorWriter struct {
	w   io.Writer
	err error
}

// of is the writer for a table, which has the same width.
func (e *errorWriter) of() io.Writer { return fit.Writer{Writer: e, Columns: fit.Columns(e.w)} }

// Write is io.Writer's.
func (e *errorWriter) Write(p []byte) (int, error) {
	n, err := e.w.Write(p)
	if e.err == nil {
		e.err = err
	}
	return n, err
}

func (e *errorWriter) line(format string, args ...any) {
	_, _ = io.WriteString(e, fit.Text(fmt.Sprintf(format, args...), fit.Columns(e.w)))
}

// Markdown is the tables as a page, below a text. Of variants after the first, the summary is all.
func (r *Report) Markdown(head string) []byte {
	var b bytes.Buffer
	b.WriteString(head)
	fmt.Fprintf(&b, "\n%s\n", r.summary(nil).RenderMarkdown())
	for _, n := range r.notes() {
		fmt.Fprintf(&b, "\n%s\n", strings.Join(fit.Lines(n, 120), "\n"))
	}
	for _, g := range r.groups() {
		if g[0].Variant != r.Comparisons[0].Variant {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\nCells: %s.\n\n%s\n", g.title(), g.unrolls(), g.cases(nil).RenderMarkdown())
		if g.hasVertex() {
			fmt.Fprintf(&b, "\nSpeedup over vertex mapping, silicon/%s; on all graphs in the geometric mean, and on each:"+
				"\n\n%s\n", g.unrolls(), g.speedups(nil, true).RenderMarkdown())
		}
		fmt.Fprintf(&b, "\nSecond and worst schedule over the best, as GRAssembler counts options (§6.2), silicon/%s; each "+
			"side "+
			"by its own\nranking:\n\n%s\n", g.unrolls(), g.gaps(nil).RenderMarkdown())
		fmt.Fprintf(&b, "\nScaled cycles over silicon's time:\n\n%s\n", g.schedules(nil).RenderMarkdown())
	}
	return b.Bytes()
}

// Cycles returns the simulated cycles as CSV.
func (r *Report) Cycles() []byte {
	var b bytes.Buffer
	b.WriteString("machine,unroll,graph,alg,sched,cycles,launch_overhead,launches,super_steps\n")
	for _, s := range r.Simulated {
		fmt.Fprintf(&b, "%s,%s,%s,%s,%s,%d,%d,%d,%d\n", s.Machine, s.Unroll, s.Graph, s.Algorithm, s.Schedule, s.Cycles,
			s.Overhead, s.Launches, s.SuperSteps)
	}
	return b.Bytes()
}
