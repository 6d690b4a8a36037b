package reproduce

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/internal/fit"
)

// Write writes an outcome for people.
func (o *Outcome) Write(w io.Writer, p *config.Pack) {
	for i := range o.Figures {
		o.Figures[i].write(w)
	}
	paragraph(w, fmt.Sprintf("%s, %s: %s", p.Paper.Venue, p.Figure, flow(p.Statement)), "  ")
	for i := range o.Checks {
		o.Checks[i].write(w, o.Readings)
	}
	fmt.Fprintln(w)
	for _, r := range o.Readings {
		verdict := ""
		if o.counts() {
			verdict = fmt.Sprintf(" (%s)", r.Holds)
		}
		paragraph(w, fmt.Sprintf("%s%s: %s%s", r.Name, verdict, r.Says, r.chosen()), "  ")
	}
	for _, f := range o.Failures {
		fmt.Fprintln(w, "FAILED", f)
	}
	for _, a := range o.Absent {
		fmt.Fprintf(w, "%s is not there: left out (--graphs names the directory)\n", a)
	}
	paragraph(w, "scaled: "+flow(p.ScaledIn(o.Variant)), "  ")
	paragraph(w, "atomics: "+strings.Join(o.Atomics, ", "), "  ")
	paragraph(w, o.points()+", "+o.Host.text(), "  ")
	if !o.counts() {
		paragraph(w, "Nothing is judged: numbers are compared one by one on the page of results that --record writes.", "  ")
		return
	}
	paragraph(w, fmt.Sprintf("The statement holds: %s", o.Holds), "  ")
}

// counts reports whether the pack has a statement that is judged.
func (o *Outcome) counts() bool {
	return slices.ContainsFunc(o.Checks, func(c CheckOutcome) bool { return c.counted() })
}

// standard is the line width if the terminal's is unknown.
const standard = 80

// narrowest is as far as lines are wrapped.
const narrowest = 20

func width(w io.Writer) int {
	if columns := fit.Columns(w); columns > 0 {
		return max(columns, narrowest)
	}
	return standard
}

// paragraph writes a text in lines that a terminal has room for, all but the first indented.
func paragraph(w io.Writer, s, indent string) {
	fmt.Fprintln(w, strings.Join(fit.Lines(s, width(w)-len(indent)), "\n"+indent))
}

// write writes a check: the statement, and its outcome under the readings that change it.
func (c *CheckOutcome) write(w io.Writer, readings []ReadingOutcome) {
	says := c.says() + " (" + c.Rule + ")"
	if c.Published != nil {
		says = fmt.Sprintf("%s: published %s (%s)", c.says(), c.published(), c.Rule)
	}
	paragraph(w, says, "  ")
	line := ""
	for k := range c.Readings {
		n := &c.Readings[k]
		if k > 0 && (n.Same || n.Ours == nil) {
			continue
		}
		one := "    " + readings[k].Name + " " + n.text()
		if line != "" && len([]rune(line+one)) > width(w) {
			fmt.Fprintln(w, line)
			line = ""
		}
		line += one
	}
	fmt.Fprintln(w, line)
}

// points describes how many points were run.
func (o *Outcome) points() string {
	text := fmt.Sprintf("%d points", o.Points)
	if o.Sampled > 0 {
		text += fmt.Sprintf(", %d of them sampled", o.Sampled)
	}
	if o.Parts > 0 {
		text += fmt.Sprintf(", %d of them parts of runs, not verified", o.Parts)
	}
	return text
}

// chosen describes when a reading was chosen, if relevant.
func (r *ReadingOutcome) chosen() string {
	if r.After {
		return " (chosen after outcomes)"
	}
	return ""
}

func newTable(w io.Writer) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	return t
}

// flow drops the line breaks of YAML.
func flow(s string) string { return strings.Join(strings.Fields(s), " ") }

func (c *CheckOutcome) says() string {
	if c.counted() {
		return flow(c.Says)
	}
	return "(not counted) " + flow(c.Says)
}

// text returns a number, and whether the statement holds with it.
func (n *Number) text() string {
	switch {
	case n.Ours == nil:
		return "–"
	case n.Same:
		return "="
	}
	return n.ours() + n.other() + " " + string(n.Holds)
}

// other is the arithmetic mean in brackets, where it differs from the geometric one in the printed digits.
func (n *Number) other() string {
	if n.Arithmetic == 0 || number(n.Arithmetic) == number(*n.Ours) {
		return ""
	}
	return fmt.Sprintf(" (arithmetic %s)", number(n.Arithmetic))
}

// ours is the number with its interval.
func (n *Number) ours() string {
	if n.Half == 0 {
		return number(*n.Ours)
	}
	return fmt.Sprintf("%s ± %.0f %%", number(*n.Ours), 100*n.Half/math.Abs(*n.Ours))
}

func (c *CheckOutcome) published() string {
	if c.Published == nil {
		return "–"
	}
	return strconv.FormatFloat(*c.Published, 'f', -1, 64)
}

// number writes counts whole, and others with three or four digits.
func number(v float64) string {
	switch {
	case v == math.Trunc(v) && math.Abs(v) < 1e15 && v >= 0 && v >= 1000:
		return experiment.Thousands(uint64(v))
	case math.Abs(v) >= 1000 && v > 0 && v < 1e15:
		return experiment.Thousands(uint64(math.Round(v)))
	case math.Abs(v) >= 1:
		return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// values describes a figure's values.
func (f *FigureOutcome) values() string {
	if len(f.Over) == 0 {
		return f.Metric
	}
	return f.Metric + ", " + f.Mean + " over " + strings.Join(f.Over, ", ")
}

func (f *FigureOutcome) write(w io.Writer) {
	paragraph(w, fmt.Sprintf("%s (%s)", f.Title, f.values()), "  ")
	t := newTable(w)
	header := table.Row{""}
	configs := []table.ColumnConfig{}
	fitted := fit.Table{Writer: t, Names: []string{"columns"}, Widths: make([]int, 1+len(f.Series))}
	for i, s := range f.Series {
		fitted.Names, fitted.Drop = append(fitted.Names, s), append([]int{i + 1}, fitted.Drop...)
		header = append(header, s)
		configs = append(configs, table.ColumnConfig{Number: i + 2, Align: text.AlignRight,
			AlignHeader: text.AlignRight})
	}
	t.AppendHeader(header)
	for c, name := range f.Columns {
		fitted.Widths[0] = max(fitted.Widths[0], text.StringWidthWithoutEscSequences(name))
		t.AppendRow(append(table.Row{name}, f.row(c)...))
	}
	fitted.Configs = configs
	fitted.Render(w)
}

func (f *FigureOutcome) row(c int) (r table.Row) {
	for _, v := range f.Values[c] {
		if v == nil {
			r = append(r, "–")
			continue
		}
		r = append(r, number(*v))
	}
	return r
}
