package reproduce

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"heddle/configs"
	"heddle/internal/experiment"
	"heddle/internal/report"
)

// Verdict says whether a statement holds.
type Verdict string

// The verdicts.
const (
	Yes    Verdict = "yes"
	Partly Verdict = "partly"
	No     Verdict = "no"
	NotRun Verdict = "not run" // no point has a verified result for it
)

// Outcome is what a variant of a pack came to. It is what --json prints, and what the
// documentation is made of. Keys stay; more may come.
type Outcome struct {
	Pack     string          `json:"pack"`
	Variant  configs.Variant `json:"variant"`
	Holds    Verdict         `json:"holds"`
	Checks   []CheckOutcome  `json:"checks"`
	Figures  []FigureOutcome `json:"figures"`
	Machines []string        `json:"machines"` // what is simulated, by experiment
	Graphs   []string        `json:"graphs"`
	Atomics  []string        `json:"atomics"` // modes in which atomics were performed
	Absent   []string        `json:"absent,omitempty"`
	Points   int             `json:"points"`
	Failures []string        `json:"failures,omitempty"`
	Version  string          `json:"version"`
	Host     Host            `json:"host"`
}

// Host is what it cost.
type Host struct {
	Seconds   float64 `json:"seconds"`           // from begin to end of each point, added up, also of those that had been stored
	Processor float64 `json:"processor_seconds"` // that this process used; 0 if points had been stored
	SimCycles uint64  `json:"simulated_cycles"`
	Jobs      int     `json:"jobs"` // points at the same time
}

// CheckOutcome is one check: ours beside the published number.
type CheckOutcome struct {
	Says        string   `json:"says"`
	Ours        *float64 `json:"ours"`
	Published   *float64 `json:"published"` // null: the paper prints none
	Where       string   `json:"where,omitempty"`
	Unit        string   `json:"unit,omitempty"`
	Ratio       *float64 `json:"ratio"`  // ours over published
	Values      int      `json:"values"` // that ours is made of
	Rule        string   `json:"rule"`
	Holds       Verdict  `json:"holds"`
	Decides     bool     `json:"decides"`
	Explanation string   `json:"explanation,omitempty"` // why it was not run
}

// FigureOutcome is a table of values: a row for each column of the figure.
type FigureOutcome struct {
	Name    string       `json:"name"`
	Title   string       `json:"title"`
	Metric  string       `json:"metric"`
	Over    []string     `json:"over,omitempty"` // keys in which points differ that share a value
	Mean    string       `json:"mean,omitempty"` // how such a value is made
	Columns []string     `json:"columns"`
	Series  []string     `json:"series"`
	Values  [][]*float64 `json:"values"` // by column, then series
	Drawing string       `json:"drawing,omitempty"`

	figure *report.Figure
}

// Evaluate says what holds of a pack, given the points of a variant.
func Evaluate(p *configs.Pack, v configs.Variant, points []Point) (*Outcome, error) {
	o := &Outcome{Pack: p.Name, Variant: v, Checks: []CheckOutcome{}, Figures: []FigureOutcome{}, Points: len(points)}
	for i := range p.Checks {
		if c := &p.Checks[i]; slices.Contains(c.Variants, configs.Choice(v)) {
			out, err := evaluate(p, c, points)
			if err != nil {
				return nil, fmt.Errorf("%s: checks[%d]: %w", p.File, i, err)
			}
			o.Checks = append(o.Checks, out)
		}
	}
	for i := range p.Figures {
		if f := &p.Figures[i]; slices.Contains(f.Variants, configs.Choice(v)) {
			out, err := newFigure(p, f, points)
			if err != nil {
				return nil, fmt.Errorf("%s: figures[%d]: %w", p.File, i, err)
			}
			o.Figures = append(o.Figures, out)
		}
	}
	o.Holds = overall(o.Checks)
	o.describe(points)
	return o, nil
}

// overall is the pack's verdict, of the checks that decide: yes if all hold, no if none does,
// else partly. What was not run leaves it open.
func overall(checks []CheckOutcome) Verdict {
	count := map[Verdict]int{}
	n := 0
	for _, c := range checks {
		if c.Decides {
			count[c.Holds]++
			n++
		}
	}
	switch {
	case n == 0 || count[NotRun] == n:
		return NotRun
	case count[Yes] == n:
		return Yes
	case count[Yes]+count[Partly] == 0:
		return No
	}
	return Partly
}

func evaluate(p *configs.Pack, c *configs.Check, points []Point) (o CheckOutcome, err error) {
	o = CheckOutcome{Says: c.Says, Rule: rule(c), Holds: NotRun, Decides: c.Decides}
	published := math.NaN()
	if v, ok := p.Published[c.Published]; ok {
		published = v.Value
		o.Published, o.Where, o.Unit = &v.Value, v.Where, v.Unit
	}
	list, err := samples(&c.Quantity, c.Metric, points)
	if err == nil {
		err = together(checkNames(c), list)
	}
	if err != nil {
		return o, err
	}
	o.Values = len(list)
	ours, ok := reduce(c, list)
	if !ok {
		o.Explanation = "no verified points have a value for it"
		return o, nil
	}
	o.Ours = &ours
	if o.Published != nil && published != 0 {
		ratio := ours / published
		o.Ratio = &ratio
	}
	o.Holds = verdict(c, ours, published)
	return o, nil
}

func rule(c *configs.Check) string {
	if c.Partly == "" {
		return c.Holds
	}
	return c.Holds + "; partly " + c.Partly
}

func verdict(c *configs.Check, ours, published float64) Verdict {
	for _, r := range []struct {
		text string
		is   Verdict
	}{{c.Holds, Yes}, {c.Partly, Partly}} {
		if r.text == "" {
			continue
		}
		parsed, err := configs.ParseRule(r.text)
		if err != nil {
			panic(fmt.Sprintf("BUG: reproduce: a rule that was checked: %v", err))
		}
		if parsed.Met(ours, published) {
			return r.is
		}
	}
	return No
}

// describe says what was run.
func (o *Outcome) describe(points []Point) {
	for i := range points {
		p := &points[i]
		o.Host.Seconds += p.Seconds
		o.Host.SimCycles += p.Cycles
		addOnce(&o.Atomics, atomics(p))
		if !p.Verified {
			o.Failures = append(o.Failures, p.Experiment+" "+p.Label+": "+p.Failure)
		}
	}
}

func addOnce(list *[]string, s string) {
	if !slices.Contains(*list, s) {
		*list = append(*list, s)
	}
}

// atomics says how a point's machine performs atomics.
func atomics(p *Point) string {
	mode := p.Config["machine.atomics.mode"]
	if p.Config["machine.atomics.combine"] == "true" {
		mode += " combined"
	}
	return mode
}

// Check refuses a pack whose checks or figures put points together that differ in a key which they do not
// name, given the points that a variant lays out; with all, which is where no graph is absent, also one of
// which some choose no points.
func Check(p *configs.Pack, v configs.Variant, points []Point, all bool) error {
	var bad []string
	test := func(what string, variants []configs.Choice, q *configs.Quantity, along string, names []string) {
		if !slices.Contains(variants, configs.Choice(v)) {
			return
		}
		list, err := pairs(q, points)
		if err == nil {
			err = together(names, list)
		}
		switch {
		case err != nil:
			bad = append(bad, fmt.Sprintf("%s: %v", what, err))
		case all && len(list) == 0:
			bad = append(bad, fmt.Sprintf("%s: no point of the %s variant meets %v (and has a partner that meets %v)", what, v, q.Of, q.Over))
		case all && along != "" && len(series(along, names, list)) == 0:
			bad = append(bad, fmt.Sprintf("%s.along: %s has no numbers", what, along))
		}
	}
	for i := range p.Checks {
		c := &p.Checks[i]
		test(fmt.Sprintf("checks[%d]", i), c.Variants, &c.Quantity, c.Along, checkNames(c))
	}
	for i := range p.Figures {
		f := &p.Figures[i]
		test(fmt.Sprintf("figures[%d] (%s)", i, f.Name), f.Variants, &f.Quantity, "", figureNames(f))
	}
	if bad != nil {
		return fmt.Errorf("%s: %s", p.File, strings.Join(bad, "\n"+p.File+": "))
	}
	return nil
}

// Machine says what an experiment simulates.
func Machine(p *experiment.Point) string {
	m := &p.Config.Machine
	s := fmt.Sprintf("%s: %d × %d cores × %d warps × %d threads, L1D %d KiB", p.Config.Name, m.Sockets, m.CoresPerSocket, m.Core.Warps, m.Core.Threads, m.L1D.Bytes>>10)
	if m.L2 != nil {
		s += fmt.Sprintf(", L2 %d KiB", m.L2.Bytes>>10)
	}
	return s + ", memory " + m.Memory.Preset
}

// Graphs says what an experiment's graphs are like, each once, in the order of its points.
func Graphs(s *experiment.Summary) (list []string) {
	for _, p := range s.Points {
		if g, ok := s.About.Graphs[p.Graph]; ok {
			addOnce(&list, fmt.Sprintf("%s, %s vertices, %s edges", g.Source, experiment.Thousands(uint64(g.Vertices)), experiment.Thousands(uint64(g.Edges))))
		}
	}
	return list
}
