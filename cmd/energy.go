package cmd

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/experiment/store"
	"heddle/internal/fit"
	"heddle/internal/plain"
	"heddle/sim/energy"
)

// energyFlags holds the flags of heddle energy.
type energyFlags struct {
	of    *resultsFlags
	table string
}

// newEnergy returns heddle energy.
func newEnergy() *cobra.Command {
	f := &resultsFlags{}
	e := energyFlags{of: f}
	c := f.addJSON(f.command("energy NAME [POINT]...",
		"Compute the energy of an experiment's points from their statistics",
		"  heddle energy quickstart\n  heddle energy quickstart 2\n  heddle energy study schedule=warp schedule=weaver "+
			"--table my.yaml\n  heddle energy quickstart --json | jq '.points[] | [.point, .joules.nominal]'",
		cobra.MinimumNArgs(1), nil))
	c.RunE = func(c *cobra.Command, args []string) error { return e.run(c.OutOrStdout(), args[0], args[1:]) }
	c.Long = `Compute the energy of an experiment's points from their statistics: counted events times a table's
energies, DRAM commands by a data sheet's formula, leakage and clock by time. Nothing is simulated.
docs/guide/cost.md states which values are measured, modelled or assumed, and how to use your own
(--table FILE).

A POINT is its number, or values of its axes with commas between them (weaver; schedule=warp,kron). One point is broken
down by event; several are compared, with the baseline of each, or the first one where nothing is compared.

Values are known within bounds only. In brackets is the interval of 95 % of 4,000 draws, each value drawn
between its low and high; a ratio takes the same draws for both points, so that common errors cancel.
Order is less or more where the ratio is below or above 1 with any values between their bounds, and else
depends.`
	c.Flags().StringVar(&f.out, "out", "results", "`directory` of the results' directories")
	c.Flags().StringVar(&e.table, "table", config.EnergyByMachine, "`table` of energies: "+
		strings.Join(energy.Names(), ", ")+", a file, or machine: the one for each machine's memory")
	addBaseline(c, &f.baseline)
	return c
}

// energyPoint is the energy of a point.
type energyPoint struct {
	Point    int                `json:"point"`
	Axes     map[string]string  `json:"axes"`
	Cycles   uint64             `json:"cycles"`
	Joules   energy.Range       `json:"joules"`
	Interval [2]float64         `json:"joules_ci95"`
	Half     float64            `json:"joules_of_estimate_ci95,omitempty"`
	Watts    float64            `json:"watts"`
	Dynamic  float64            `json:"dynamic_watts"`
	Delay    float64            `json:"energy_delay"`
	Parts    []energy.Share     `json:"parts"`
	Baseline int                `json:"baseline,omitempty"` // number of a point; 0: none
	Ratio    *energy.Comparison `json:"ratio,omitempty"`
	Product  *energy.Comparison `json:"energy_delay_ratio,omitempty"`
	Result   *energy.Result     `json:"result"`

	stored *store.Point
}

func (e *energyFlags) run(w io.Writer, name string, chosen []string) error {
	by, err := experiment.NewEnergies(e.table)
	if err != nil {
		return err
	}
	s, err := e.of.open(name)
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // read only
	var points []*energyPoint
	with := map[int]*energyPoint{} // by position
	if err := s.Each(store.Want{Config: true, Stats: true}, func(p *store.Point) error {
		if !p.Counts() {
			return nil
		}
		x, err := energyOfPoint(p, by)
		if err != nil {
			return fmt.Errorf("point %d: %w", p.Position+1, err)
		}
		points, with[p.Position] = append(points, x), x
		return nil
	}); err != nil {
		return err
	}
	if points, err = chosenPoints(points, chosen); err != nil {
		return err
	}
	compareEnergies(points, with)
	switch {
	case e.of.json:
		return printJSON(w, map[string]any{"experiment": name, "points": points})
	case len(points) == 1:
		return printEnergy(w, points[0])
	}
	printEnergies(w, points)
	return nil
}

// energyOfPoint computes the energy of a stored point.
func energyOfPoint(p *store.Point, by *experiment.Energies) (*energyPoint, error) {
	c, err := config.Parse(fmt.Sprintf("configuration of point %d", p.Position+1), []byte(p.Config))
	if err != nil {
		return nil, err
	}
	r, err := by.Of(&c.Machine, p.Stats.Tree())
	if err != nil {
		return nil, err
	}
	x := &energyPoint{Point: p.Position + 1, Axes: map[string]string{}, Cycles: p.Cycles, Joules: r.Total(),
		Half: r.Half(), Parts: r.Parts(), Result: r, stored: p}
	for _, a := range p.Axes {
		x.Axes[a.Key] = a.Value
	}
	x.Watts, x.Dynamic, x.Delay = r.Watts(x.Joules.Nominal), r.Watts(r.Dynamic()), x.Joules.Nominal*r.Seconds
	return x, nil
}

// chosenPoints returns the points that match any text, in the order of the texts; all without a text.
func chosenPoints(points []*energyPoint, texts []string) (list []*energyPoint, err error) {
	if len(points) == 0 {
		return nil, fmt.Errorf("no point has a result")
	}
	if len(texts) == 0 {
		return points, nil
	}
	for _, text := range texts {
		before := len(list)
		number, err := strconv.Atoi(text)
		for _, p := range points {
			match := err == nil && p.Point == number
			if err != nil {
				match = !slices.ContainsFunc(strings.Split(text, ","), func(term string) bool {
					return !experiment.HasSetting(settings(p.stored), term)
				})
			}
			if match && !slices.Contains(list, p) {
				list = append(list, p)
			}
		}
		if len(list) == before {
			return nil, fmt.Errorf("%s: no further point with a result is that: expected a number of heddle results list, or "+
				"values of axes, as schedule=weaver", text)
		}
	}
	return list, nil
}

// compareEnergies compares each point with its baseline, or with the first one where it has none. Points of different
// tables have no ratio.
func compareEnergies(points []*energyPoint, with map[int]*energyPoint) {
	compared := slices.ContainsFunc(points, func(p *energyPoint) bool { return p.stored.Baseline >= 0 })
	for _, p := range points {
		b := with[p.stored.Baseline]
		if !compared && len(points) > 1 {
			b = points[0]
		}
		if b == nil {
			continue
		}
		p.Interval[0], p.Interval[1] = p.Result.Interval()
		if p.Baseline = b.Point; b == p || b.Result.Table != p.Result.Table {
			continue
		}
		ratio, product := energy.Compare(p.Result, b.Result, false), energy.Compare(p.Result, b.Result, true)
		p.Ratio, p.Product = &ratio, &product
	}
	for _, p := range points {
		if p.Interval[1] == 0 {
			p.Interval[0], p.Interval[1] = p.Result.Interval()
		}
	}
}

// engineering formats a value with a prefix and three digits.
func engineering(v float64, unit string) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Sprintf("%g %s", v, unit)
	}
	prefixes := []string{"p", "n", "µ", "m", "", "k", "M"}
	i := 4
	for ; math.Abs(v) >= 999.5 && i < len(prefixes)-1; i++ {
		v /= 1000
	}
	for ; math.Abs(v) < 0.9995 && i > 0; i-- {
		v *= 1000
	}
	return fmt.Sprintf("%s %s%s", threeDigits(v), prefixes[i], unit)
}

// threeDigits formats a value of 1 to 1,000.
func threeDigits(v float64) string {
	return fmt.Sprintf("%.*f", max(0, 2-int(math.Log10(math.Max(1, math.Abs(v))+1e-9))), v)
}

// bracketed formats a value with bounds that are relative to it.
func bracketed(v float64, bounds [2]float64) string {
	return fmt.Sprintf("%s [%s, %s]", threeDigits(v), threeDigits(bounds[0]), threeDigits(bounds[1]))
}

// printEnergies prints points, their ratios, and their parts.
func printEnergies(w io.Writer, points []*energyPoint) {
	printTables(w, points)
	var axes [][]experiment.Setting
	for _, p := range points {
		axes = append(axes, settings(p.stored))
	}
	titles, values := experiment.AxisColumns(axes)
	header := []any{"point"}
	for _, title := range titles {
		header = append(header, title)
	}
	header = append(header, "energy", "[95 %]", "power", "E·t")
	t := fit.Keeping(w, len(header)-1, header...)
	for i, p := range points {
		row := append(table.Row{p.Point}, values[i]...)
		t.AppendRow(append(row, engineering(p.Joules.Nominal, "J"),
			engineering(p.Interval[0], "")+"–"+engineering(p.Interval[1], "J"), engineering(p.Watts, "W"),
			engineering(p.Delay, "Js")))
	}
	t.SetColumnConfigs(rightFrom(len(titles)+2, len(header)))
	t.Render()
	printRatios(w, points)
	printParts(w, points)
}

// printRatios prints points over their baselines.
func printRatios(w io.Writer, points []*energyPoint) {
	if !slices.ContainsFunc(points, func(p *energyPoint) bool { return p.Ratio != nil }) {
		return
	}
	fmt.Fprintln(w)
	t := newTable(w, "point", "of", "energy × [95 %]", "order", "E·t × [95 %]", "order", "power ×")
	for _, p := range points {
		if p.Ratio == nil {
			continue
		}
		t.AppendRow(table.Row{p.Point, p.Baseline, bracketed(p.Ratio.Nominal, p.Ratio.Interval), string(p.Ratio.Order),
			bracketed(p.Product.Nominal, p.Product.Interval), string(p.Product.Order),
			threeDigits(p.Ratio.Nominal * p.Ratio.Nominal / p.Product.Nominal)})
	}
	t.Render()
}

// printTables lists the tables of energies, and the consumers that they leave out.
func printTables(w io.Writer, points []*energyPoint) {
	var seen []string
	for _, p := range points {
		r := p.Result
		if slices.Contains(seen, r.Table) {
			continue
		}
		seen = append(seen, r.Table)
		text := fmt.Sprintf("%s: %g nm, %g V, %s MHz. Nominal values; [95 %% of draws].\nNot modelled: %s.\n",
			plain.Line(r.Table), r.NM, r.Volts, experiment.Thousands(uint64(r.ClockMHz+0.5)),
			plain.Line(strings.Join(r.NotModelled, "; ")))
		fmt.Fprint(w, fit.Text(text, fit.Columns(w)))
	}
}

// printParts prints each part's share of each point's energy.
func printParts(w io.Writer, points []*energyPoint) {
	var parts []string
	share := map[string]map[int]float64{}
	for _, p := range points {
		for _, s := range p.Parts {
			if s.Joules.Nominal == 0 {
				continue
			}
			if share[s.Part] == nil {
				parts, share[s.Part] = append(parts, s.Part), map[int]float64{}
			}
			share[s.Part][p.Point] = s.Joules.Nominal / p.Joules.Nominal
		}
	}
	header := []any{"% of energy"}
	for _, p := range points {
		header = append(header, p.Point)
	}
	t := newTable(w, header...)
	for _, part := range parts {
		row := table.Row{part}
		for _, p := range points {
			row = append(row, fmt.Sprintf("%.1f", 100*share[part][p.Point]))
		}
		t.AppendRow(row)
	}
	t.SetColumnConfigs(rightFrom(2, len(header)))
	fmt.Fprintln(w)
	t.Render()
}

// printEnergy prints one point by event.
func printEnergy(w io.Writer, p *energyPoint) error {
	printTables(w, []*energyPoint{p})
	r, total := p.Result, p.Joules.Nominal
	text := fmt.Sprintf("point %d: %s [%s, %s], bounds %s to %s; %s (%s without leakage and standby); E·t %s\n", p.Point,
		engineering(total, "J"), engineering(p.Interval[0], "J"), engineering(p.Interval[1], "J"),
		engineering(p.Joules.Low, "J"), engineering(p.Joules.High, "J"), engineering(p.Watts, "W"),
		engineering(p.Dynamic, "W"), engineering(p.Delay, "Js"))
	fmt.Fprint(w, fit.Text(text, fit.Columns(w)))
	t := newTable(w, "part", "event", "count", "pJ each", "energy", "%")
	for i := range r.Items {
		x := &r.Items[i]
		if x.Count == 0 {
			continue
		}
		each := x.Each.Times(x.Factor)
		event := x.Event
		if x.Assumed {
			event += " (assumed)"
		}
		t.AppendRow(table.Row{x.Part, event, experiment.Thousands(uint64(x.Count + 0.5)),
			fmt.Sprintf("%.3g [%.3g, %.3g]", each.Nominal, each.Low, each.High), engineering(x.Joules().Nominal, "J"),
			fmt.Sprintf("%.1f", 100*x.Joules().Nominal/total)})
	}
	t.SetColumnConfigs(rightFrom(3, 6))
	t.Render()
	_, err := fmt.Fprintln(w, "A power's count is its number times ns. Sources: --json, or the table's file.")
	return err
}
