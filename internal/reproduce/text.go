package reproduce

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"heddle/configs"
	"heddle/internal/experiment"
)

// Write writes an outcome for people.
func (o *Outcome) Write(w io.Writer, p *configs.Pack) {
	for i := range o.Figures {
		o.Figures[i].write(w)
	}
	fmt.Fprintf(w, "%s, %s: %s\n", p.Paper.Venue, p.Figure, flow(p.Statement))
	t := newTable(w)
	t.AppendHeader(table.Row{"statement", "ours", "published", "ratio", "rule", "holds"})
	for _, c := range o.Checks {
		t.AppendRow(table.Row{c.says(), c.ours(), c.published(), c.ratio(), c.Rule, c.Holds})
	}
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 1, WidthMax: 72, WidthMaxEnforcer: text.WrapSoft}, {Number: 2, Align: text.AlignRight}, {Number: 3, Align: text.AlignRight}, {Number: 4, Align: text.AlignRight}})
	t.Render()
	for _, f := range o.Failures {
		fmt.Fprintln(w, "FAILED", f)
	}
	for _, a := range o.Absent {
		fmt.Fprintf(w, "%s is not there: left out (--graphs names the directory)\n", a)
	}
	fmt.Fprintf(w, "scaled: %s\natomics: %s\n%d points, %s\nThe statement holds: %s\n", flow(p.ScaledIn(o.Variant)), strings.Join(o.Atomics, ", "), o.Points, o.Host.text(), o.Holds)
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
	if c.Decides {
		return flow(c.Says)
	}
	return "(not counted) " + flow(c.Says)
}

func (c *CheckOutcome) ours() string {
	if c.Ours == nil {
		return "–"
	}
	return number(*c.Ours)
}

func (c *CheckOutcome) published() string {
	if c.Published == nil {
		return "–"
	}
	return strconv.FormatFloat(*c.Published, 'f', -1, 64)
}

func (c *CheckOutcome) ratio() string {
	if c.Ratio == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", *c.Ratio)
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

// values says what a figure's values are.
func (f *FigureOutcome) values() string {
	if len(f.Over) == 0 {
		return f.Metric
	}
	return f.Metric + ", " + f.Mean + " over " + strings.Join(f.Over, ", ")
}

func (f *FigureOutcome) write(w io.Writer) {
	fmt.Fprintf(w, "%s (%s)\n", f.Title, f.values())
	t := newTable(w)
	header := table.Row{""}
	configs := []table.ColumnConfig{}
	for i, s := range f.Series {
		header = append(header, s)
		configs = append(configs, table.ColumnConfig{Number: i + 2, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.AppendHeader(header)
	for c, name := range f.Columns {
		t.AppendRow(append(table.Row{name}, f.row(c)...))
	}
	t.SetColumnConfigs(configs)
	t.Render()
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
