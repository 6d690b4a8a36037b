package reproduce

import (
	"fmt"
	"slices"
	"strings"

	"heddle/components/cache"
	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/kernels/workload"
	"heddle/report"
)

// Verdict is the outcome of a statement's check.
type Verdict string

// The verdicts.
const (
	Yes    Verdict = "yes"
	Partly Verdict = "partly"
	No     Verdict = "no"
	NotRun Verdict = "not run" // no point has a verified result for it

	// Undecided is the verdict where a sampled number's interval straddles the rule.
	Undecided Verdict = "undecided"
)

// Outcome is the outcome of a variant of a pack: the output of --json, and the source of the documentation. Keys are
// stable; more may be added.
type Outcome struct {
	Format   int              `json:"format,omitempty"` // withIntervals in outcomes of today
	Pack     string           `json:"pack"`
	Variant  config.Variant   `json:"variant"`
	Holds    Verdict          `json:"holds"` // as described
	Readings []ReadingOutcome `json:"readings"`
	Checks   []CheckOutcome   `json:"checks"`
	Figures  []FigureOutcome  `json:"figures"`  // as described
	Machines []string         `json:"machines"` // the simulated machines, by experiment
	Graphs   []string         `json:"graphs"`
	Atomics  []string         `json:"atomics"` // modes in which atomics were performed
	Absent   []string         `json:"absent,omitempty"`
	Points   int              `json:"points"`
	Sampled  int              `json:"sampled,omitempty"` // of them, whose figures are estimates
	Parts    int              `json:"parts,omitempty"`   // of them, of a part of a run, not verified
	Failures []string         `json:"failures,omitempty"`
	Version  string           `json:"version"`
	Host     Host             `json:"host"`
}

// withIntervals is the format from which on numbers of series have intervals.
const withIntervals = 1

// Host is the cost on the host.
type Host struct {
	// from begin to end of each point, added up, also of those that had been stored
	Seconds   float64 `json:"seconds"`
	Processor float64 `json:"processor_seconds"` // that this process used; 0 if points had been stored
	SimCycles uint64  `json:"simulated_cycles"`
	Jobs      int     `json:"jobs"` // points at the same time
}

// ReadingOutcome is the pack's outcome under one reading of the paper.
type ReadingOutcome struct {
	Name   string  `json:"name"`
	Says   string  `json:"says"`
	Source string  `json:"source"`
	After  bool    `json:"chosen_after_outcomes,omitempty"`
	Holds  Verdict `json:"holds"`
	Points int     `json:"points"` // that differ from those as described

	// Identity is a hash of what the reading simulates (identities); empty in outcomes that were recorded without.
	Identity string `json:"identity,omitempty"`
	// Changed: the pack's reading simulates something else by now, or may, if there is no identity. Texts are those
	// that were recorded.
	Changed bool `json:"changed,omitempty"`
}

// CheckOutcome is one check: ours, under each reading, beside the published number.
type CheckOutcome struct {
	Says      string   `json:"says"`
	Quantity  string   `json:"quantity"` // identifies the quantity
	Mark      Mark     `json:"mark"`
	Reason    string   `json:"reason,omitempty"` // of by construction
	Null      *float64 `json:"null"`             // the number if nothing mattered; null: there is none
	Published *float64 `json:"published"`        // null: the paper prints none
	Where     string   `json:"where,omitempty"`
	Unit      string   `json:"unit,omitempty"`
	Rule      string   `json:"rule"`
	Direction string   `json:"direction"` // the rule by which it holds in direction; "": it has none
	Decides   bool     `json:"decides"`
	Readings  []Number `json:"readings"` // in the order of the outcome's
}

// Number is a check's outcome under one reading.
type Number struct {
	Ours        *float64 `json:"ours"`
	Half        float64  `json:"half,omitempty"`       // half the width of its 95 % interval, where points were sampled
	Arithmetic  float64  `json:"arithmetic,omitempty"` // the arithmetic mean, where ours is the geometric one of several
	Ratio       *float64 `json:"ratio"`                // ours over published
	Values      int      `json:"values"`               // that ours is made of
	Same        bool     `json:"same,omitempty"`       // all of them as described: the reading changes none
	Holds       Verdict  `json:"holds"`
	Direction   bool     `json:"in_direction"`          // by the check's rule
	Near        bool     `json:"within_25_percent"`     // of the published value
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

// Evaluate checks a pack's statements, given the points of a variant, of all readings.
func Evaluate(p *config.Pack, v config.Variant, points []Point) (*Outcome, error) {
	o := &Outcome{Format: withIntervals, Pack: p.Name, Variant: v, Checks: []CheckOutcome{}, Figures: []FigureOutcome{}}
	if err := addCosts(p, points); err != nil {
		return nil, err
	}
	under := map[string][]Point{}
	for i := range points {
		under[points[i].Reading] = append(under[points[i].Reading], points[i])
	}
	for i := range p.Checks {
		if c := &p.Checks[i]; slices.Contains(c.Variants, workload.Choice(v)) {
			out, err := evaluate(p, v, c, under)
			if err != nil {
				return nil, fmt.Errorf("%s: checks[%d]: %w", p.File, i, err)
			}
			o.Checks = append(o.Checks, out)
		}
	}
	for i := range p.Figures {
		if f := &p.Figures[i]; slices.Contains(f.Variants, workload.Choice(v)) {
			out, err := newFigure(p, f, under[config.Described])
			if err != nil {
				return nil, fmt.Errorf("%s: figures[%d]: %w", p.File, i, err)
			}
			o.Figures = append(o.Figures, out)
		}
	}
	ids, err := identities(p, v)
	if err != nil {
		return nil, err
	}
	for k, r := range p.Readings[v] {
		out := ReadingOutcome{Name: r.Name, Says: flow(r.Says), Source: flow(r.Source), After: r.After, Identity: ids[k]}
		for i := range under[r.Name] {
			if !under[r.Name][i].Same {
				out.Points++
			}
		}
		o.Readings = append(o.Readings, out)
	}
	o.conclude()
	o.describe(points)
	return o, nil
}

// overall is the pack's verdict, of the checks that count: yes if all hold, no if none does,
// else partly. Checks that were not run leave it open.
func overall(checks []CheckOutcome, of func(*CheckOutcome) Verdict) Verdict {
	count := map[Verdict]int{}
	n := 0
	for i := range checks {
		if checks[i].counted() {
			count[of(&checks[i])]++
			n++
		}
	}
	switch {
	case n == 0 || count[NotRun] == n:
		return NotRun
	case count[Yes] == n:
		return Yes
	case count[Yes]+count[Partly]+count[Undecided] == 0:
		return No
	}
	return Partly
}

func evaluate(p *config.Pack, v config.Variant, c *config.Check, under map[string][]Point) (o CheckOutcome, err error) {
	var numbers []Number
	for _, r := range p.Readings[v] {
		n, err := comesTo(c, under[r.Name])
		if err != nil {
			return o, fmt.Errorf("%s: %w", r.Name, err)
		}
		numbers = append(numbers, n)
	}
	return judge(p, c, numbers, false), nil
}

// comesTo computes a check's number under one reading.
func comesTo(c *config.Check, points []Point) (n Number, err error) {
	list, err := samples(&c.Quantity, c.Metric, points)
	if err == nil {
		err = together(checkNames(c), list)
	}
	if err != nil {
		return n, err
	}
	n.Values, n.Same = len(list), same(list)
	ours, ok := reduce(c, list)
	if !ok {
		n.Explanation = "no verified points have a value for it"
		return n, nil
	}
	n.Ours, n.Half = &ours, half(c, list, ours)
	if c.Reduce == "geomean" && len(list) > 1 {
		n.Arithmetic = mean(values(list))
	}
	return n, nil
}

// describe records the points that were run.
func (o *Outcome) describe(points []Point) {
	for i := range points {
		p := &points[i]
		if p.Same {
			continue
		}
		o.Points++
		o.Host.Seconds += p.Seconds
		o.Host.SimCycles += p.Cycles
		addOnce(&o.Atomics, atomics(p))
		if p.Sampled {
			o.Sampled++
		}
		if p.Part != "" {
			o.Parts++
		}
		if !p.Counts {
			o.Failures = append(o.Failures, p.Reading+": "+p.Experiment+" "+p.Label+": "+p.Failure)
		}
	}
}

func addOnce(list *[]string, s string) {
	if !slices.Contains(*list, s) {
		*list = append(*list, s)
	}
}

// atomics describes how a point's machine performs atomics.
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
func Check(p *config.Pack, v config.Variant, points []Point, all bool) error {
	var bad []string
	test := func(what string, variants []workload.Choice, q *config.Quantity, along string, names []string) {
		if !slices.Contains(variants, workload.Choice(v)) {
			return
		}
		found, err := pairs(q, points)
		list := firsts(groups(q, found))
		if err == nil {
			err = together(names, list)
		}
		switch {
		case err != nil:
			bad = append(bad, fmt.Sprintf("%s: %v", what, err))
		case all && len(list) == 0:
			bad = append(bad, fmt.Sprintf("%s: no point of the %s variant meets %v (and has a partner that meets %v)",
				what, v, q.Of, q.Over))
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

// Machine describes an experiment's machine.
func Machine(p *experiment.Point) string {
	m := &p.Config.Machine
	l1d := fmt.Sprintf("L1D %d KiB", m.L1D.Bytes>>10)
	switch m.L1D.Keeps {
	case cache.ReadOnly:
		l1d += " for what nobody writes"
	case cache.Nothing:
		l1d = "an L1D that keeps nothing"
	}
	s := fmt.Sprintf("%s: %d × %d cores × %d warps × %d threads, %s", p.Config.Name, m.Sockets, m.CoresPerSocket,
		m.Core.Warps, m.Core.Threads, l1d)
	if m.L2 != nil {
		s += fmt.Sprintf(", L2 %d KiB", m.L2.Bytes>>10)
	}
	return s + ", memory " + m.Memory.Preset
}

// Graphs describes an experiment's graphs, each once, in the order of its points.
func Graphs(outcomes []experiment.Outcome, graphs map[string]experiment.GraphSummary) (list []string) {
	for i := range outcomes {
		if g, ok := graphs[outcomes[i].Graph]; ok {
			addOnce(&list, fmt.Sprintf("%s, %s vertices, %s edges", g.Source, experiment.Thousands(uint64(g.Vertices)),
				experiment.Thousands(uint64(g.Edges))))
		}
	}
	return list
}
