package cmd

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"heddle/experiment"
	"heddle/experiment/store"
)

// printPhases prints the shares of phases in the time.
func printPhases(w io.Writer, phases []experiment.Phase) {
	if phases == nil {
		return
	}
	t := newTable(w, "phase", "share", "scheduler-cycles", "warp-cycles", "warp instructions")
	for _, p := range phases {
		t.AppendRow(table.Row{
			p.Name, fmt.Sprintf("%.1f %%", 100*p.Share), experiment.Thousands(p.Cycles), experiment.Thousands(p.Warps),
			experiment.Thousands(p.Instrs),
		})
	}
	t.SetColumnConfigs(rightFrom(2, 5))
	t.Render()
}

// rightFrom right-aligns columns.
func rightFrom(first, last int) (out []table.ColumnConfig) {
	for n := first; n <= last; n++ {
		out = append(out, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	return out
}

// stepColumns lists the statistics of a super-step that are shown.
var stepColumns = []struct{ title, stat, format string }{
	{"frontier", "frontier.vertices", "%.0f"}, {"edges", "edges", "%.0f"},
	{"lanes max/mean", "imbalance.lanes", "%.2f"}, {"warps max/mean", "imbalance.warps", "%.2f"}, {"cores max/mean",
		"imbalance.cores", "%.2f"},
	{"warp instrs", "warp_instrs", "%.0f"}, {"atomics", "atomics", "%.0f"}, {"barriers", "barriers", "%.0f"},
	{"shuffles", "shuffles", "%.0f"}, {"scratchpad", "scratchpad.accesses", "%.0f"},
}

// showSteps prints the launches of a point's super-steps, with the shares of phases.
func (f *resultsFlags) showSteps(w io.Writer, p *store.Point, match *regexp.Regexp) error {
	if f.json {
		return stepsTable(p, match).Write(w, "json")
	}
	header := []any{"step", "kernel", "cycles"}
	shown := stepsOf(p)
	for _, c := range shown {
		header = append(header, c.title)
	}
	t := newTable(w, header...)
	for i := range p.Steps {
		t.AppendRow(stepRow(&p.Steps[i], shown))
	}
	t.SetColumnConfigs(rightFrom(3, len(header)))
	t.Render()
	return nil
}

// stepColumn is a column of a table of super-steps. size orders the columns of one kind: the last are left out where
// there is no room.
type stepColumn struct {
	title string
	text  func(*store.Step) string
	size  float64
}

// stepsOf returns the columns of a point's super-steps: those with something in them, first the size of a step and its
// balance, then the shares of phases, the largest first, then other counts.
func stepsOf(p *store.Point) (columns []stepColumn) {
	var counts, phases []stepColumn
	for _, c := range stepColumns {
		one := stepColumn{title: c.title, text: func(s *store.Step) string {
			if v, ok := s.Stats.Get(c.stat); ok {
				return fmt.Sprintf(c.format, v.Float())
			}
			return ""
		}}
		for i := range p.Steps {
			v, _ := p.Steps[i].Stats.Get(c.stat)
			one.size = max(one.size, v.Float())
		}
		if counts = append(counts, one); one.size == 0 {
			counts = counts[:len(counts)-1]
		}
	}
	for _, x := range experiment.Phases(p.Stats.Tree()) {
		if x.Cycles > 0 {
			phases = append(phases, stepColumn{x.Name, func(s *store.Step) string { return shareOf(s, x.Name) }, x.Share})
		}
	}
	slices.SortStableFunc(phases, func(a, b stepColumn) int { return cmp.Compare(b.size, a.size) })
	first := min(len(counts), firstSteps)
	return slices.Concat(counts[:first], phases, counts[first:])
}

// firstSteps is the number of counts before the phases.
const firstSteps = 3

// shareOf formats the share of a phase in a launch.
func shareOf(s *store.Step, phase string) string {
	for _, x := range experiment.Phases(s.Stats) {
		if x.Name == phase {
			return fmt.Sprintf("%.0f %%", 100*x.Share)
		}
	}
	return ""
}

func stepRow(s *store.Step, columns []stepColumn) table.Row {
	row := table.Row{s.Step, s.Kernel, experiment.Cycles(s.Cycles, s.Half)}
	for _, c := range columns {
		row = append(row, c.text(s))
	}
	return row
}

// cyclesCI95 is the name of the column with half the 95 % confidence intervals of sampled cycles.
const cyclesCI95 = "cycles_ci95"

// stepsTable returns a table with a row for each launch in a super-step, and a column for each statistic.
func stepsTable(p *store.Point, match *regexp.Regexp) *store.Table {
	t := &store.Table{Columns: []store.Column{{Name: "step", Kind: store.Integer}, {Name: "kernel", Kind: store.Text},
		{Name: "cycles", Kind: store.Integer}}}
	at := map[string]int{}
	if p.Half != 0 {
		at[cyclesCI95] = len(t.Columns)
		t.Columns = append(t.Columns, store.Column{Name: cyclesCI95, Kind: store.Number})
	}
	for _, s := range p.Steps {
		for _, x := range s.Stats {
			if _, ok := at[x.Name]; !ok && match.MatchString(x.Name) {
				at[x.Name] = len(t.Columns)
				t.Columns = append(t.Columns, store.Column{Name: x.Name, Kind: store.Number})
			}
		}
	}
	for _, s := range p.Steps {
		row := make([]any, len(t.Columns))
		row[0], row[1], row[2] = int64(s.Step), s.Kernel, int64(s.Cycles)
		if i, ok := at[cyclesCI95]; ok {
			row[i] = s.Half
		}
		for _, x := range s.Stats {
			if i, ok := at[x.Name]; ok {
				row[i] = x.Float()
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
