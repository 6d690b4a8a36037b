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

// Phase is the share of time that a phase of the kernels took.
type Phase struct {
	Name   string
	Cycles uint64 // scheduler-cycles
	Warps  uint64 // warp-cycles of resident warps
	Instrs uint64 // warp instructions
	Share  float64
}

// Phases returns the shares of the time of a point or a launch, in the order of the phases; nil if no time passed.
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

// WritePhases writes a table of the share of each phase in the time of each point.
func WritePhases(w io.Writer, points []Point, outcomes []Outcome) {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	var header table.Row
	keys := shownAxes(points)
	for i := range points {
		phases := Phases(outcomes[i].Stats.Tree())
		if phases == nil {
			continue
		}
		titles, row, total := table.Row{"share of time"}, table.Row{Label(distinguishing(keys, &points[i]))}, uint64(0)
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

// distinguishing returns the settings that distinguish a point: those of keys, and the seed.
func distinguishing(keys []string, p *Point) (out []Setting) {
	for _, s := range p.Axes {
		if s.Key == SeedKey || slices.Contains(keys, s.Key) {
			out = append(out, s)
		}
	}
	return out
}

// Unlike names the choices that auto resolved differently for a variant and its baseline: an active set, a dedup, a
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

// variantName names a variant by its settings of the workload if it has any, else as VariantLabel does.
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
