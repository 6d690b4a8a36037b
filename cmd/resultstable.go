package cmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"heddle/components/accel"
	"heddle/experiment"
	"heddle/experiment/store"
	"heddle/internal/fit"
	"heddle/internal/suggest"
	"heddle/report"
)

// tableFlags holds the flags of heddle results table.
type tableFlags struct {
	of            *resultsFlags
	rows, columns []string
	where         []string
	value, format string
	paired        bool
}

func (f *resultsFlags) table() *cobra.Command {
	t := &tableFlags{of: f}
	c := f.command("table NAME", "Show one value of all points as a matrix",
		"  heddle results table quickstart\n  heddle results table study --rows graph,algorithm --columns schedule --value "+
			"speedup\n  heddle results table study --value l1d.hit_rate --where algorithm=bfs --format latex > hits.tex",
		cobra.ExactArgs(1), func(w io.Writer, args []string) error { return t.show(w, args[0]) })
	c.Long = `Show one value of all points as a matrix: a row and a column for each combination of the values of some
axes.

Axes go by their last parts (schedule, l1d.bytes); by default, the first that varies is in columns and the others are
in rows. Points that differ in their seeds alone are one cell, with the mean and half its 95 % confidence interval.
Speedups over inputs have a row of geometric means. --paired compares columns seed by seed: a difference that is
smaller than its interval is not significant. latex is for booktabs and siunitx, all numbers with equal decimals; csv
and json have full keys, values and digits.`
	c.Flags().StringSliceVar(&t.rows, "rows", nil, "`axes` in rows, KEY,KEY")
	c.Flags().StringSliceVar(&t.columns, "columns", nil,
		"`axes` in columns, KEY,KEY; a number is the width of the table, as of others")
	c.Flags().StringArrayVar(&t.where, "where", nil, "only points with this `key=value` (may be repeated)")
	c.Flags().StringVar(&t.value, "value", "",
		"speedup, cycles or a `statistic` (default: speedup, or cycles where nothing is compared); with /area or "+
			"/unit_area behind it, by mm² of the machine or of its graph units")
	c.Flags().BoolVar(&t.paired, "paired", false,
		"differences to the first column, each of two points with the same seed")
	c.Flags().StringVar(&t.format, "format", "table", strings.Join(experiment.PivotFormats, ", "))
	addBaseline(c, &f.baseline)
	return c
}

func (t *tableFlags) show(w io.Writer, name string) error {
	w, err := t.width(w)
	if err != nil {
		return err
	}
	t.value = accel.StatisticOf(t.value)
	points, e, err := t.of.points(name, store.Want{Stats: true, Config: t.perArea() != ""})
	if err != nil {
		return err
	}
	valued, err := t.valued(points)
	if err == nil && t.perArea() != "" {
		valued, err = t.overArea(points, valued)
	}
	if err != nil {
		return err
	}
	p, err := experiment.NewPivot(valued, t.value, t.rows, t.columns)
	if err != nil {
		return err
	}
	if t.paired {
		if err := p.Pair(valued); err != nil {
			return fmt.Errorf("--paired: %w", err)
		}
	}
	labels, err := report.LabelsOf(e.Config)
	if err != nil {
		return err
	}
	return p.Write(w, t.format, labels)
}

// width takes the width of the table out of --columns, which names axes here as well.
func (t *tableFlags) width(w io.Writer) (io.Writer, error) {
	var axes []string
	for _, text := range t.columns {
		n, err := strconv.Atoi(text)
		switch {
		case err != nil:
			axes = append(axes, text)
		case n < 0 || n > mostColumns:
			return nil, fmt.Errorf("--columns %d: expected axes, or a width of 0..%d", n, mostColumns)
		default:
			w = fit.Writer{Writer: w, Columns: n}
		}
	}
	t.columns = axes
	return w, nil
}

// valued returns the chosen points with the chosen value.
func (t *tableFlags) valued(points []store.Point) (list []experiment.Valued, err error) {
	speedups := store.Speedups(points)
	value := strings.TrimSuffix(t.value, t.perArea())
	if t.value == "" {
		if t.value = "cycles"; len(speedups) > 0 {
			t.value = "speedup"
		}
	}
	value = cmp.Or(value, t.value)
	known := false
	for i := range points {
		p := &points[i]
		if !t.chosen(p) {
			continue
		}
		v := experiment.Valued{Axes: settings(p), Value: math.NaN()}
		stat, has := p.Stats.Get(value)
		known = known || has
		speedup, compared := speedups[p.Position]
		switch {
		case !p.Counts():
		case value == "cycles":
			v.Value, v.Half = float64(p.Cycles), p.Half
		case value == "speedup" && compared:
			v.Value, v.Half = speedup.Value, speedup.Half
		case has:
			v.Value, v.Half = stat.Float(), stat.Half
		}
		list = append(list, v)
	}
	switch {
	case len(list) == 0:
		return nil, fmt.Errorf("--where %s: no point has that", strings.Join(t.where, " --where "))
	case value == "speedup" && len(speedups) == 0:
		return nil, fmt.Errorf("--value speedup: nothing is compared: expected cycles, or a statistic")
	case value != "cycles" && value != "speedup" && !known:
		return nil, fmt.Errorf("--value %s: no point with a result has it%s: heddle stats describe names all", t.value,
			suggest.DidYouMean(t.value, statNames(points)))
	}
	return list, nil
}

// perArea returns the area by which the value is divided; "": by none.
func (t *tableFlags) perArea() string {
	if _, by, ok := strings.Cut(t.value, "/"); ok && report.IsArea(by) {
		return "/" + by
	}
	return ""
}

// overArea divides the chosen points' values by the areas of their machines in mm²; none by an area of zero.
func (t *tableFlags) overArea(points []store.Point, valued []experiment.Valued) ([]experiment.Valued, error) {
	var areas report.Areas
	at := 0
	for i := range points {
		if !t.chosen(&points[i]) {
			continue
		}
		v := &valued[at]
		at++
		a, err := areas.Of(context.Background(), t.perArea()[1:], points[i].Config)
		if err != nil {
			return nil, fmt.Errorf("--value %s: %w", t.value, err)
		}
		if v.Value, v.Half = v.Value/a.Middle(), v.Half/a.Middle(); a.High == 0 {
			v.Value, v.Half = math.NaN(), 0
		}
	}
	return valued, nil
}

func statNames(points []store.Point) (names []string) {
	for i := range points {
		for _, s := range points[i].Stats.Tree() {
			if !experiment.Single(s.Name) {
				names = append(names, s.Name)
			}
		}
		if len(names) > 0 {
			break
		}
	}
	return names
}

// chosen reports whether a point has all settings of --where.
func (t *tableFlags) chosen(p *store.Point) bool {
	for _, term := range t.where {
		if !experiment.HasSetting(settings(p), term) {
			return false
		}
	}
	return true
}
