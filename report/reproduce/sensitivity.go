package reproduce

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"heddle/experiment/config"
	"heddle/internal/files"
)

// Sensitivity is how far single knobs, each over its plausible range and all others as described, move the numbers of a
// pack.
type Sensitivity struct {
	Pack    string         `json:"pack"`
	Variant config.Variant `json:"variant"`
	Knobs   []KnobOutcome  `json:"knobs"` // that moves most first
	Median  float64        `json:"median_error"`
	Rho     *float64       `json:"rho"`
	Numbers []string       `json:"numbers"`               // the statements with a published number
	Only    []string       `json:"experiments,omitempty"` // that were run; none: all
	Points  int            `json:"points"`
	Version string         `json:"version"`
	Host    Host           `json:"host"`
}

// KnobOutcome is a knob's effect.
type KnobOutcome struct {
	Name   string       `json:"name"`
	Source string       `json:"source"`
	Moves  float64      `json:"moves"` // the largest factor between a number at two of the range's ends, or as described
	Of     string       `json:"of"`    // that number's statement
	Ends   []EndOutcome `json:"ends"`
}

// EndOutcome is the effect of one end of a knob's range.
type EndOutcome struct {
	End    string   `json:"end"`
	Set    []string `json:"set"`
	Shift  float64  `json:"shift"` // geometric mean of the numbers over those as described
	Median float64  `json:"median_error"`
	Rho    *float64 `json:"rho"`
	Points int      `json:"points"` // that it changes
}

// NewSensitivity derives the effects of knobs from an outcome whose readings are the ends of their ranges.
func NewSensitivity(p *config.Pack, knobs []config.Knob, o *Outcome) *Sensitivity {
	s := &Sensitivity{Pack: o.Pack, Variant: o.Variant, Points: o.Points, Version: o.Version, Host: o.Host,
		Numbers: []string{}, Only: p.Studied, Knobs: []KnobOutcome{}}
	var checks []CheckOutcome
	for _, c := range o.Checks {
		if c.counted() && c.Published != nil && *c.Published > 0 && c.Readings[0].Ours != nil {
			checks = append(checks, c)
			s.Numbers = append(s.Numbers, flow(c.Says))
		}
	}
	s.Median, s.Rho = errorOf(checks, 0)
	for i := range knobs {
		k := KnobOutcome{Name: knobs[i].Name, Source: flow(knobs[i].Source), Moves: 1}
		low, high := slices.Repeat([]float64{1}, len(checks)), slices.Repeat([]float64{1}, len(checks))
		for _, end := range knobs[i].Ends() {
			at := slices.IndexFunc(o.Readings, func(r ReadingOutcome) bool { return r.Name == end.Name })
			if at < 0 {
				continue
			}
			e := EndOutcome{End: strings.TrimPrefix(end.Name, k.Name+" "), Set: end.Rules[0].Set, Points: o.Readings[at].Points}
			sum, n := 0.0, 0
			for c := range checks {
				if r, ok := shift(&checks[c], at); ok {
					low[c], high[c], sum, n = min(low[c], r), max(high[c], r), sum+math.Log(r), n+1
				}
			}
			if n > 0 {
				e.Shift = math.Exp(sum / float64(n))
			}
			e.Median, e.Rho = errorOf(checks, at)
			k.Ends = append(k.Ends, e)
		}
		for c := range checks {
			if f := high[c] / low[c]; f > k.Moves {
				k.Moves, k.Of = f, flow(checks[c].Says)
			}
		}
		if len(k.Ends) > 0 {
			s.Knobs = append(s.Knobs, k)
		}
	}
	slices.SortStableFunc(s.Knobs, func(a, b KnobOutcome) int { return cmp.Compare(b.Moves, a.Moves) })
	return s
}

// shift is a number under a reading over that as described.
func shift(c *CheckOutcome, reading int) (float64, bool) {
	n := c.Readings[reading].Ours
	if n == nil || *n <= 0 || *c.Readings[0].Ours <= 0 {
		return 1, false
	}
	return *n / *c.Readings[0].Ours, true
}

// errorOf is the median error under a reading, and Spearman's rho, which three numbers at least have.
func errorOf(checks []CheckOutcome, reading int) (median float64, rho *float64) {
	var list []pair
	for i := range checks {
		if n := checks[i].Readings[reading].Ours; n != nil {
			list = append(list, pair{*checks[i].Published, *n})
		}
	}
	a := agree(list)
	if len(list) == 0 {
		return 0, nil
	}
	return a.median, finite(a.rho)
}

const sensitivityName = "-sensitivity"

// Save writes the study and its chart.
func (s *Sensitivity) Save(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	name := filepath.Join(dir, File(s.Pack, s.Variant)+sensitivityName)
	return errors.Join(files.Write(name+".json", append(text, '\n')), files.Write(name+".svg", s.tornado()))
}

// ReadSensitivity reads a study; nil if there is none.
func ReadSensitivity(dir, pack string, v config.Variant) (*Sensitivity, error) {
	name := filepath.Join(dir, File(pack, v)+sensitivityName+".json")
	text, err := files.Read(name, maxOutcome)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var s Sensitivity
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &s, nil
}

// Write writes the study for people.
func (s *Sensitivity) Write(w io.Writer) {
	t := newTable(w)
	t.AppendHeader(table.Row{"knob", "set", "numbers", "median error", "rho", "moves most"})
	t.AppendRow(table.Row{"as described", "", "1", fixed(s.Median), pointed(s.Rho), ""})
	for _, k := range s.Knobs {
		for i, e := range k.Ends {
			most := ""
			if i == 0 {
				most = k.most()
			}
			t.AppendRow(table.Row{k.Name, strings.Join(e.Set, ", "), fixed(e.Shift), fixed(e.Median), pointed(e.Rho), most})
		}
	}
	t.Render()
}

// most describes the number that the knob moves most.
func (k *KnobOutcome) most() string {
	if k.Of == "" {
		return "none"
	}
	return fmt.Sprintf("%s (%s)", fixed(k.Moves), k.Of)
}

func pointed(v *float64) string {
	if v == nil {
		return "–"
	}
	return fixed(*v)
}

// markdown is the study on a pack's page.
func (s *Sensitivity) markdown(b *bytes.Buffer) {
	only := ""
	if len(s.Only) > 0 {
		only = ", of the experiments " + strings.Join(s.Only, ", ") + " alone, for their cost"
	}
	fmt.Fprintf(b, "\n## Sensitivity\n\n%s\n![Sensitivity](%s)\n\n", wrapped(fmt.Sprintf("What the paper leaves open, "+
		"one knob at a time over its plausible range, all else as described, %s%s (`heddle reproduce %s --sensitivity`). "+
		"*Mean*: geometric, of the %d numbers that the paper prints, over those as described. *Moves*: the largest factor "+
		"between two values of one number, and which. It explains, and counts for nothing.",
		s.Variant, only, s.Pack, len(s.Numbers))),
		File(s.Pack, s.Variant)+sensitivityName+".svg")
	b.WriteString("| knob | end | mean | median error | ρ | moves | source |\n|---|---|---:|---:|---:|---|---|\n")
	fmt.Fprintf(b, "| as described | | 1 | %s | %s | | |\n", fixed(s.Median), pointed(s.Rho))
	for _, k := range s.Knobs {
		for i, e := range k.Ends {
			moves, source := "", ""
			if i == 0 {
				moves, source = k.most(), k.Source
			}
			fmt.Fprintf(b, "| %s | `%s` | %s | %s | %s | %s | %s |\n", cell(k.Name), strings.Join(e.Set, ", "), fixed(e.Shift),
				fixed(e.Median), pointed(e.Rho), cell(moves), cell(source))
		}
	}
	fmt.Fprintf(b, "\n%d points, %s, heddle %s.\n", s.Points, s.Host.text(), s.Version)
}

// The chart's sizes in pixels.
const (
	tornadoLeft  = 250.0
	tornadoPlot  = 400.0
	tornadoRight = 60.0
	tornadoRow   = 24.0
	tornadoTop   = 30.0
)

// tornado draws a bar for each knob, from the mean of all numbers at one end of its range to that at the other.
func (s *Sensitivity) tornado() []byte {
	var c scatter
	reach := 0.05
	for _, k := range s.Knobs {
		for _, e := range k.Ends {
			if e.Shift > 0 {
				reach = max(reach, math.Abs(math.Log(e.Shift)))
			}
		}
	}
	x := func(v float64) float64 { return tornadoLeft + tornadoPlot/2*(1+math.Log(v)/reach) }
	width, height := tornadoLeft+tornadoPlot+tornadoRight, tornadoTop+tornadoRow*float64(len(s.Knobs))+40
	fmt.Fprintf(&c.b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%g\" height=\"%g\" "+
		"role=\"img\">\n<title>%s: what single knobs move</title>\n<style>%s</style>\n<rect class=\"paper\" width=\"%g\" "+
		"height=\"%g\"/>\n", width, height, width, height, escaped(s.Pack), scatterStyle, width, height)
	c.text(tornadoLeft+tornadoPlot/2, 18, "middle", "", escaped(s.Pack)+": the numbers over those as described")
	for i, k := range s.Knobs {
		y := tornadoTop + tornadoRow*float64(i)
		c.text(tornadoLeft-8, y+16, "end", "", escaped(k.Name))
		for j, e := range k.Ends {
			if e.Shift <= 0 {
				continue
			}
			from, to := min(x(1), x(e.Shift)), max(x(1), x(e.Shift))
			fmt.Fprintf(&c.b, "<rect class=\"mark p%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%g\"><title>%s: %s"+
				"</title></rect>\n", j, from, y+4, max(to-from, 1), tornadoRow-8,
				escaped(strings.Join(e.Set, ", ")), fixed(e.Shift))
		}
		c.text(tornadoLeft+tornadoPlot+8, y+16, "start", "soft", "× "+fixed(k.Moves))
	}
	foot := tornadoTop + tornadoRow*float64(len(s.Knobs))
	c.line("equal", x(1), tornadoTop, x(1), foot)
	for _, v := range []float64{math.Exp(-reach), math.Exp(-reach / 2), 1, math.Exp(reach / 2), math.Exp(reach)} {
		c.text(x(v), foot+18, "middle", "soft", fixed(v))
	}
	c.b.WriteString("</svg>\n")
	return c.b.Bytes()
}
