package silicon

import (
	"math"
	"slices"
)

// Key identifies a simulation.
type Key struct {
	Machine   string `json:"machine"`
	Unroll    string `json:"unroll"`
	Graph     string `json:"graph"`
	Algorithm string `json:"algorithm"`
	Schedule  string `json:"schedule"`
}

// Simulated is the outcome of a simulation.
type Simulated struct {
	Key
	Cycles     uint64 `json:"cycles"` // on the device
	Overhead   int    `json:"launch_overhead"`
	Launches   uint64 `json:"launches"` // of the whole run
	SuperSteps uint64 `json:"super_steps"`
}

// Against selects the rows of a file that cycles are compared with.
type Against struct {
	Variant string `json:"variant"`
	Config  string `json:"config"`
}

// Point is a schedule's time on silicon beside its cycles.
type Point struct {
	Schedule string `json:"schedule"`
	Times
	Cycles  uint64 `json:"cycles"`
	Scaled  Number `json:"us"` // the cycles as microseconds
	Speedup struct {
		Silicon Number `json:"silicon"`
		Heddle  Number `json:"heddle"`
	} `json:"speedup"` // over vertex mapping

	row      *Row
	launched float64 // cycles with the host's overhead
}

// Case is how the schedules of an algorithm on a graph compare.
type Case struct {
	Graph     string `json:"graph"`
	Algorithm string `json:"algorithm"`
	Tau       Number `json:"tau"`
	Pairs     Pairs  `json:"pairs"`
	Regret    Number `json:"regret"`
	Best      string `json:"best"` // schedule on silicon
	Pick      string `json:"pick"` // by cycles
	Errors
	Launches Number  `json:"launches"` // the part of all times that empty launches take
	FloorTau Number  `json:"floor_tau"`
	Floor    Pairs   `json:"floor_pairs"`
	WithTau  Number  `json:"with_launches_tau"`
	Points   []Point `json:"points"`
}

// BySchedule is how far cycles of one schedule are off, over all cases.
type BySchedule struct {
	Schedule string `json:"schedule"`
	Ratio    Number `json:"ratio"` // geometric mean of scaled cycles over time
	Least    Number `json:"least"`
	Most     Number `json:"most"`
	Launches Number `json:"launches"`
}

// Summary aggregates all cases.
type Summary struct {
	Cases  int    `json:"cases"`
	Of     int    `json:"of"`  // that the file has
	Tau    Number `json:"tau"` // mean
	Pairs  Pairs  `json:"pairs"`
	Regret Number `json:"regret"` // geometric mean
	Worst  Number `json:"worst"`
	Errors
	FloorTau Number `json:"floor_tau"`
	Floor    Pairs  `json:"floor_pairs"`
	WithTau  Number `json:"with_launches_tau"`
}

// Comparison is a machine's cycles beside silicon's times.
type Comparison struct {
	Machine string `json:"machine"`
	Unroll  string `json:"unroll"`
	Against
	Nanoseconds Number       `json:"ns_per_cycle"` // the scale
	Summary     Summary      `json:"summary"`
	Schedules   []BySchedule `json:"schedules"`
	Cases       []Case       `json:"cases"`
	Left        []string     `json:"left_out,omitempty"` // rows whose time is that of empty launches
	Steps       []Steps      `json:"other_super_steps,omitempty"`
}

// Steps are the numbers of super-steps of a case that silicon and simulation do not share.
type Steps struct {
	Graph     string `json:"graph"`
	Algorithm string `json:"algorithm"`
	Silicon   Range  `json:"silicon"`
	Heddle    Range  `json:"heddle"`
}

// Range is from the least to the most.
type Range struct {
	From int `json:"from"`
	To   int `json:"to"`
}

func (r *Range) take(n int) {
	if r.To == 0 {
		r.From, r.To = n, n
	}
	r.From, r.To = min(r.From, n), max(r.To, n)
}

// Compare compares simulations of a machine with rows of a file. Rows without a simulation are left out, and so
// are simulations without a row.
func (c *Campaign) Compare(machine, unroll string, against Against, simulated map[Key]Simulated) *Comparison {
	r := &Comparison{Machine: machine, Unroll: unroll, Against: against}
	steps := map[[2]string]*[2]Range{}
	for i := range c.Rows {
		row := &c.Rows[i]
		s, ok := simulated[Key{machine, unroll, row.Graph, row.Algorithm, row.Schedule}]
		if !ok || s.Cycles == 0 || row.Variant != against.Variant || row.Config != against.Config {
			continue
		}
		if row.Net() <= 0 {
			r.Left = append(r.Left, row.Graph+" "+row.Algorithm+" "+row.Schedule)
			continue
		}
		at := r.at(row)
		at.Points = append(at.Points, newPoint(row, &s))
		key := [2]string{row.Graph, row.Algorithm}
		if steps[key] == nil {
			steps[key] = &[2]Range{}
		}
		steps[key][0].take(row.SuperSteps)
		steps[key][1].take(int(s.SuperSteps))
	}
	r.sort(c)
	r.evaluate()
	r.Summary.Of = c.cases(against)
	for i := range r.Cases {
		k := &r.Cases[i]
		if s := steps[[2]string{k.Graph, k.Algorithm}]; s[1].To < s[0].From || s[1].From > s[0].To {
			r.Steps = append(r.Steps, Steps{k.Graph, k.Algorithm, s[0], s[1]})
		}
	}
	return r
}

// cases counts the algorithms on graphs that rows have.
func (c *Campaign) cases(of Against) int {
	seen := map[[2]string]bool{}
	for i := range c.Rows {
		if r := &c.Rows[i]; r.Variant == of.Variant && r.Config == of.Config {
			seen[[2]string{r.Graph, r.Algorithm}] = true
		}
	}
	return len(seen)
}

// at is the case of a row.
func (r *Comparison) at(row *Row) *Case {
	i := slices.IndexFunc(r.Cases, func(k Case) bool { return k.Graph == row.Graph && k.Algorithm == row.Algorithm })
	if i < 0 {
		i = len(r.Cases)
		r.Cases = append(r.Cases, Case{Graph: row.Graph, Algorithm: row.Algorithm})
	}
	return &r.Cases[i]
}

func newPoint(row *Row, s *Simulated) Point {
	launches := float64(s.Launches)
	if algorithmNamed(row.Algorithm).gather { // whose launches alone were measured
		launches = float64(row.Launches)
	}
	return Point{Schedule: row.Schedule, Times: row.Times, Cycles: s.Cycles, row: row,
		launched: float64(s.Cycles) + launches*float64(s.Overhead)}
}

// sort puts cases into the order of the file's graphs and of algorithms, and points into that of schedules. Cases of
// one schedule compare nothing.
func (r *Comparison) sort(c *Campaign) {
	r.Cases = slices.DeleteFunc(r.Cases, func(k Case) bool { return len(k.Points) < 2 })
	graphs := make([]string, len(c.Graphs))
	for i, g := range c.Graphs {
		graphs[i] = g.Name
	}
	at := func(k *Case) int {
		return slices.Index(graphs, k.Graph)*len(algorithms) + slices.Index(algorithmNames(), k.Algorithm)
	}
	slices.SortFunc(r.Cases, func(a, b Case) int { return at(&a) - at(&b) })
	for i := range r.Cases {
		slices.SortFunc(r.Cases[i].Points, func(a, b Point) int {
			return slices.Index(Schedules, a.Schedule) - slices.Index(Schedules, b.Schedule)
		})
	}
}

// of lists a value of points.
func of(points []Point, value func(p *Point) float64) []float64 {
	values := make([]float64, len(points))
	for i := range points {
		values[i] = value(&points[i])
	}
	return values
}

func net(p *Point) float64      { return p.Net() }
func cycles(p *Point) float64   { return float64(p.Cycles) }
func atLeast(p *Point) float64  { return p.Min - p.Null }
func atMost(p *Point) float64   { return p.P90 - p.Null }
func withNull(p *Point) float64 { return p.Median }
func launched(p *Point) float64 { return p.launched }
func tau(k *Case) float64       { return float64(k.Tau) }
func regret(k *Case) float64    { return float64(k.Regret) }
func floorTau(k *Case) float64  { return float64(k.FloorTau) }
func withTau(k *Case) float64   { return float64(k.WithTau) }
func ofCases(cases []Case, value func(k *Case) float64) []float64 {
	values := make([]float64, len(cases))
	for i := range cases {
		values[i] = value(&cases[i])
	}
	return values
}

// evaluate fills in everything that follows from the points.
func (r *Comparison) evaluate() {
	var all []Point
	for i := range r.Cases {
		all = append(all, r.Cases[i].Points...)
	}
	scale := Scale(of(all, net), of(all, cycles))
	r.Nanoseconds = Number(1000 * scale)
	s := &r.Summary
	s.Worst = Number(math.NaN())
	for i := range r.Cases {
		k := &r.Cases[i]
		k.evaluate(scale)
		s.Pairs, s.Floor = s.Pairs.plus(k.Pairs), s.Floor.plus(k.Floor)
		if !(s.Worst >= k.Regret) {
			s.Worst = k.Regret
		}
	}
	s.Cases = len(r.Cases)
	s.Tau, s.Regret = Number(mean(ofCases(r.Cases, tau))), Number(geomean(ofCases(r.Cases, regret)))
	s.FloorTau, s.WithTau = Number(mean(ofCases(r.Cases, floorTau))), Number(mean(ofCases(r.Cases, withTau)))
	s.Errors = ErrorsOf(of(all, net), of(all, cycles), scale)
	for _, name := range Schedules {
		own := slices.DeleteFunc(slices.Clone(all), func(p Point) bool { return p.Schedule != name })
		if len(own) > 0 {
			r.Schedules = append(r.Schedules, bySchedule(name, own, scale))
		}
	}
}

func bySchedule(name string, points []Point, scale float64) BySchedule {
	ratios := of(points, func(p *Point) float64 { return scale * cycles(p) / p.Net() })
	return BySchedule{name, Number(geomean(ratios)), Number(slices.Min(ratios)), Number(slices.Max(ratios)),
		launchShare(points)}
}

func launchShare(points []Point) Number {
	null, all := 0.0, 0.0
	for i := range points {
		null, all = null+points[i].Null, all+points[i].Median
	}
	return Number(null / all)
}

func (k *Case) evaluate(scale float64) {
	truth, sim := of(k.Points, net), of(k.Points, cycles)
	k.Tau, k.Pairs = Number(Tau(truth, sim)), Order(truth, truth, sim)
	regret, pick := Regret(truth, sim)
	_, best := Regret(truth, truth)
	k.Regret, k.Pick, k.Best = Number(regret), k.Points[pick].Schedule, k.Points[best].Schedule
	k.Errors = ErrorsOf(truth, sim, scale)
	k.Launches = launchShare(k.Points)
	least, most := of(k.Points, atLeast), of(k.Points, atMost)
	k.FloorTau = Number(Tau(least, most))
	k.Floor = Order(truth, least, most)
	k.WithTau = Number(math.NaN()) // durations of kernels alone have no launches to leave in
	if k.Launches > 0 {
		k.WithTau = Number(Tau(of(k.Points, withNull), of(k.Points, launched)))
	}
	vertex := slices.IndexFunc(k.Points, func(p Point) bool { return p.Schedule == Schedules[0] })
	for i := range k.Points {
		p := &k.Points[i]
		p.Scaled = Number(scale * cycles(p))
		p.Speedup.Silicon, p.Speedup.Heddle = Number(math.NaN()), Number(math.NaN())
		if vertex >= 0 {
			v := &k.Points[vertex]
			p.Speedup.Silicon, p.Speedup.Heddle = Number(v.Net()/p.Net()), Number(cycles(v)/cycles(p))
		}
	}
}
