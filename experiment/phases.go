package experiment

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	terminal "heddle/internal/fit"
	"heddle/kernels/compose"
	"heddle/sim/stats"
)

// Phase is the time spent in a phase.
type Phase struct {
	Name   string
	Cycles uint64 // of schedulers
	Warps  uint64 // cycles of resident warps
	Instrs uint64 // of warps
	Share  float64
}

// Phases are the shares of a point's, or a launch's, time, in the phases' order; none if no time passed.
func Phases(t stats.Tree) (out []Phase) {
	const prefix, suffix = "core.phase.", ".scheduler_cycles"
	total := uint64(0)
	for _, s := range t {
		name, ok := strings.CutPrefix(s.Name, prefix)
		if name, ok2 := strings.CutSuffix(name, suffix); ok && ok2 {
			instrs, _ := t.Get(prefix + name + ".warp_instrs")
			warps, _ := t.Get(prefix + name + ".warp_cycles")
			p := Phase{Name: name, Cycles: uint64(s.Float()), Warps: uint64(warps.Float()),
				Instrs: uint64(instrs.Float())}
			total += p.Cycles
			out = append(out, p)
		}
	}
	if total == 0 {
		return nil
	}
	for i := range out {
		out[i].Share = float64(out[i].Cycles) / float64(total)
	}
	return out
}

// WritePhases writes where time went: for each point the share of each phase.
func WritePhases(w io.Writer, points []Point, outcomes []Outcome) {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	var header table.Row
	keys := shown(points)
	for i := range points {
		phases := Phases(outcomes[i].Stats.Tree())
		if phases == nil {
			continue
		}
		titles, row, total := table.Row{"share of time"}, table.Row{Label(varying(keys, &points[i]))}, uint64(0)
		for _, p := range phases {
			titles, total = append(titles, p.Name), total+p.Cycles
			row = append(row, fmt.Sprintf("%.1f %%", 100*p.Share))
		}
		if header == nil {
			header = append(titles, "scheduler-cycles")
			t.AppendHeader(header)
		}
		t.AppendRow(append(row, Thousands(total)))
	}
	if header == nil {
		return
	}
	var right []table.ColumnConfig
	for n := 2; n <= len(header); n++ {
		right = append(right, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	f := &terminal.Table{Writer: t, Configs: right, Widths: make([]int, len(header)), Drop: []int{len(header) - 1}}
	f.Widths[0] = axisWidth
	for _, name := range header {
		f.Names = append(f.Names, fmt.Sprint(name))
	}
	for i := len(header) - 2; i > 0; i-- {
		f.Drop = append(f.Drop, i)
	}
	f.Render(w)
}

// varying are a point's settings that others have not: of keys that are shown, and the seed.
func varying(keys []string, p *Point) (out []Setting) {
	for _, s := range p.Axes {
		if s.Key == SeedKey || slices.Contains(keys, s.Key) {
			out = append(out, s)
		}
	}
	return out
}

// Unlike says where auto has given variants of compare other choices than their baseline: an active set, a dedup, a
// layout or a direction that no axis names.
func Unlike(points []Point) (notes []string) {
	for _, c := range compose.Resolved() {
		for i := range points {
			p := &points[i]
			if p.Baseline < 0 || !p.work().resolvesAuto() || !points[p.Baseline].work().resolvesAuto() ||
				slices.ContainsFunc(p.Axes, func(s Setting) bool { return s.Key == "workload."+c.Key }) {
				continue
			}
			mine, base := c.Of(p.Config.Workload), c.Of(points[p.Baseline].Config.Workload)
			if note := fmt.Sprintf("workload.%s of %s is %s, and of the baseline %s", c.Key, variantName(p), mine,
				base); mine != base && !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
	}
	return notes
}

// variantName is short where the workload tells a variant.
func variantName(p *Point) string {
	var workload []Setting
	for _, s := range p.Variant {
		if strings.HasPrefix(s.Key, "workload.") {
			workload = append(workload, s)
		}
	}
	if len(workload) == 0 {
		return VariantLabel(p)
	}
	return Label(workload)
}
