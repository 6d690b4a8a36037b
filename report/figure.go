package report

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is a way to draw.
type Kind string

// The kinds of figures.
const (
	Bars    Kind = "bars"    // upright, side by side, a group for each column
	Stack   Kind = "stack"   // lying, series after series, one for each column
	Lines   Kind = "lines"   // a line for each series
	Area    Kind = "area"    // series after series over x; they add up to a whole
	Heat    Kind = "heat"    // a coloured cell for each column and row
	Scatter Kind = "scatter" // a mark for each point; series that are bounds are lines
)

// Figure is a plot, for the page and for the SVG file.
type Figure struct {
	ID      string     `json:"id"`     // its file's name
	Group   string     `json:"group"`  // figures of a group have one place in the page; the reader chooses
	Choice  string     `json:"choice"` // its name in the group
	Title   string     `json:"title"`
	Note    string     `json:"note"`
	Kind    Kind       `json:"kind"`
	X       Scale      `json:"x"`
	Y       Scale      `json:"y"`
	Columns []string   `json:"columns,omitempty"`
	Rows    []string   `json:"rows,omitempty"`
	Series  []Series   `json:"series,omitempty"`
	Legend  string     `json:"legend,omitempty"` // the quantity of the series; "": their names state it
	Skip    int        `json:"skip,omitempty"`   // colours of series that are left out, so that others keep theirs
	Cells   [][]Number `json:"cells,omitempty"`  // by row, then column
	Line    float64    `json:"line,omitempty"`   // bars, lines: a line at the height of the reference

	Fold string `json:"-"` // the page shows it when the reader asks for that; "": always
}

// Scale is an axis of a figure.
type Scale struct {
	Name    string    `json:"name"`
	Log     bool      `json:"log,omitempty"`
	Percent bool      `json:"percent,omitempty"` // values are shares of 1
	From    float64   `json:"from,omitempty"`    // where the values' axis begins, which is marked; else at 0
	Ticks   []float64 `json:"ticks,omitempty"`   // where marks go; else where they are round
	Names   []string  `json:"names,omitempty"`   // of the ticks
}

// Series are values that share a colour.
type Series struct {
	Name   string      `json:"name"`
	Values []Number    `json:"values,omitempty"` // by column
	Points [][2]Number `json:"points,omitempty"`
	Errors []Number    `json:"errors,omitempty"` // half-widths of the values' or points' 95 % confidence intervals
	Labels []string    `json:"labels,omitempty"` // of the points
	Tags   []string    `json:"-"`                // written beside the points of a picture
	Level  bool        `json:"level,omitempty"`  // of bars or lines: one value everywhere, a line across
	Bound  bool        `json:"bound,omitempty"`  // a limit, not a measurement
	Other  bool        `json:"other,omitempty"`  // series too small for a colour of their own
	Fixed  string      `json:"fixed,omitempty"`  // its colour in every figure of every report; "": by its place
	Gap    bool        `json:"gap,omitempty"`    // of a stack: nothing is drawn, and the next series begins behind it
}

// Figures are all plots that a result has data for.
func Figures(r *Result) []Figure {
	var all []Figure
	for _, make := range []func(*Result) []Figure{overview, why, sweepLines, sweepMaps, stacks, energies, superSteps,
		timelines, roofline} {
		all = append(all, make(r)...)
	}
	all = slices.DeleteFunc(all, func(f Figure) bool { return f.empty() })
	seen := map[string]int{}
	for i := range all {
		id := slug(all[i].ID)
		if seen[id]++; seen[id] > 1 {
			id += fmt.Sprint("-", seen[id])
		}
		all[i].ID, all[i].Group = id, slug(all[i].Group)
	}
	return all
}

// empty reports whether there is nothing to draw.
func (f *Figure) empty() bool {
	some := func(values []Number) bool { return slices.ContainsFunc(values, Number.ok) }
	return !slices.ContainsFunc(f.Cells, some) && !slices.ContainsFunc(f.Series, func(s Series) bool {
		return some(s.Values) || slices.ContainsFunc(s.Points, func(p [2]Number) bool { return p[1].ok() })
	})
}

// slug makes a file name of arbitrary text.
func slug(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, s)
	for strings.Contains(s, "--") {
		s = strings.ReplaceAll(s, "--", "-")
	}
	return strings.Trim(s[:min(len(s), 80)], "-")
}
