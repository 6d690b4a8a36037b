package cmd

import (
	"fmt"
	"io"
	"regexp"

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
	for _, c := range stepColumns {
		header = append(header, c.title)
	}
	for _, x := range experiment.Phases(p.Stats.Tree()) {
		header = append(header, x.Name)
	}
	t := newTable(w, header...)
	for i := range p.Steps {
		t.AppendRow(stepRow(&p.Steps[i]))
	}
	t.SetColumnConfigs(rightFrom(3, len(header)))
	t.Render()
	return nil
}

func stepRow(s *store.Step) table.Row {
	row := table.Row{s.Step, s.Kernel, experiment.Cycles(s.Cycles, s.Half)}
	for _, c := range stepColumns {
		text := ""
		if v, ok := s.Stats.Get(c.stat); ok {
			text = fmt.Sprintf(c.format, v.Float())
		}
		row = append(row, text)
	}
	for _, x := range experiment.Phases(s.Stats) {
		row = append(row, fmt.Sprintf("%.0f %%", 100*x.Share))
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
