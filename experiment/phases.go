package experiment

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

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
	var list [][]Setting
	var of [][]Phase
	for i := range points {
		if phases := Phases(outcomes[i].Stats.Tree()); phases != nil {
			list, of = append(list, points[i].Axes), append(of, phases)
		}
	}
	if len(of) == 0 {
		return
	}
	shown := newAxes(varyingKeys(settingsOf(points)), list)
	header := table.Row{}
	for _, title := range shown.titles {
		header = append(header, title)
	}
	n := len(header)
	if n == 0 {
		header = append(header, "share of time")
	}
	first := len(header)
	for _, p := range of[0] {
		header = append(header, p.Name)
	}
	header = append(header, "scheduler-cycles")
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(header)
	largest := make([]float64, len(of[0]))
	for i, phases := range of {
		row, total := table.Row(shown.row(list[i])), uint64(0)
		if n == 0 {
			row = append(row, "(the only one)")
		}
		for k, p := range phases {
			total += p.Cycles
			row = append(row, fmt.Sprintf("%.1f %%", 100*p.Share))
			largest[k] = max(largest[k], p.Share)
		}
		t.AppendRow(append(row, Thousands(total)))
	}
	f := fitted(t, header, rightFrom(first+1, len(header)), &shown)
	f.Drop = slices.Concat([]int{len(header) - 1}, shown.implied, phasesToDrop(largest, first))
	f.Render(w)
}

// phasesToDrop returns the columns of phases, from the first, in the order in which they are left out: those that are
// small in all points come first.
func phasesToDrop(largest []float64, first int) (order []int) {
	for k := range largest {
		order = append(order, k)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(largest[a], largest[b]) })
	for i := range order {
		order[i] += first
	}
	return order
}

// rightFrom right-aligns columns, numbered from 1.
func rightFrom(first, last int) (right []table.ColumnConfig) {
	for n := first; n <= last; n++ {
		right = append(right, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	return right
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
