package sampled

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"heddle/sim"
	"heddle/sim/stats"
)

// Launch is a launch of a run of which some super-steps were simulated in time and the others emulated.
type Launch struct {
	sim.Result
	Kernel  any
	Stratum int    // of its super-step
	Active  uint64 // edges of the active set; 0: of all vertices
	Cold    bool   // with its kernel's first launch, which tells of others only where nothing else does
	Timed   bool
	Counts  stats.Part // of the machine, if it was simulated in time
}

// Order is how much the work of super-steps depends on the order of warps.
type Order uint8

const (
	Unordered Order = iota // not at all: super-steps do not read what they write
	Waves                  // little: a frontier spreads from one vertex, and its members rarely change each other
	Ordered                // much: a value can pass through many vertices in a super-step
)

// Constants of the estimate of emulated launches.
const (
	// samePace and stepPace are the standard deviation of the logarithm of cycles a warp instruction about the rate
	// that the launch's neighbours give, where a simulated launch of the kernel in the stratum has as many instructions
	// (to 1 %), and elsewhere, as the runs of docs/guide/sampling.md have shown them. They count as much as stepWeight
	// launches.
	samePace   = 0.004
	stepPace   = 0.03
	stepWeight = 4
	// coldPace is the same for cold launches.
	coldPace = 0.1
	// warmError is the standard deviation of the error that all strata share, relative to the emulated part: emulation
	// leaves caches almost as simulation does.
	warmError = 0.01
	// orderError is the standard deviation of the work that another order of warps makes, relative to the emulated part:
	// connected components of grids have taken up to 13 % more warp instructions. waveError is the same for shortest
	// paths, whose active vertices rarely improve each other: 0.2 % more on two grids.
	orderError = 0.09
	waveError  = 0.02
	// outside is the same for launches that are larger or smaller than all simulated ones of the kernel by a factor of
	// two or more.
	outside = 0.25
)

// Steps is the estimated outcome of a run.
type Steps struct {
	Cycles []float64  // of each launch
	Half   []float64  // of each emulated launch: its share of the run's interval, not an interval of its own
	Total  float64    // cycles
	Error  float64    // half the 95 % confidence interval of the total
	Counts stats.Tree // of the machine; nil: all launches were simulated
}

// EstimateSteps estimates the cycles of emulated launches. In a stratum they take as many cycles a warp instruction as
// the simulated launches of the same kernel that have a similar number of instructions: between two of them, on the
// straight line through their logarithms. ok is false if a kernel was never simulated.
func EstimateSteps(all []Launch, order Order) (s Steps, ok bool) {
	curves, cells := curvesOf(all), newCells()
	s = Steps{Cycles: make([]float64, len(all)), Half: make([]float64, len(all))}
	weights := make([]float64, len(all))
	left := 0.0
	for i := range all {
		l := &all[i]
		if s.Cycles[i] = float64(l.Cycles); l.Timed {
			s.Total += s.Cycles[i]
			continue
		}
		c := curves[l.Kernel]
		if c == nil {
			return Steps{}, false
		}
		at := c.at(float64(l.WarpInstrs), float64(l.Active))
		s.Cycles[i] = at.perInstr * float64(l.WarpInstrs)
		s.Total, left = s.Total+s.Cycles[i], left+s.Cycles[i]
		at.share(c, s.Cycles[i], weights)
		cells.at(place{l.Kernel, l.Stratum}).add(s.Cycles[i], c.pace(&at, l))
	}
	if left == 0 {
		return s, true
	}
	variance := 0.0
	for i := range cells.all {
		variance += cells.all[i].variance()
	}
	shared := math.Hypot(warmError, [...]float64{Unordered: 0, Waves: waveError, Ordered: orderError}[order])
	s.Error = math.Hypot(stats.Student95(stepWeight)*math.Sqrt(variance), stats.Student95(1000)*shared*left)
	for i := range all {
		if !all[i].Timed {
			s.Half[i] = s.Error * s.Cycles[i] / left
		}
	}
	s.Counts = stepCounts(all, weights, left, s.Error, groupsOf(all, curves, cells))
	return s, true
}

// place identifies a cell, the launches of a kernel in a stratum.
type place struct {
	kernel  any
	stratum int
}

// cell holds the emulated launches of a kernel in a stratum. Their errors have a part in common, that of the simulated
// launches from which the rate is, and one of their own.
type cell struct {
	place
	cycles, common, own float64
}

// cells holds them in the order of their first launches: a sum in a map's order would differ in its last digits.
type cells struct {
	all []cell
	of  map[place]int
}

func newCells() *cells { return &cells{of: map[place]int{}} }

func (c *cells) at(p place) *cell {
	i, ok := c.of[p]
	if !ok {
		i, c.all = len(c.all), append(c.all, cell{place: p})
		c.of[p] = i
	}
	return &c.all[i]
}

func (c *cell) add(cycles, pace float64) {
	c.cycles += cycles
	c.common += cycles * pace
	c.own += cycles * cycles * pace * pace
}

func (c *cell) variance() float64 { return c.common*c.common + c.own }

// curve holds the simulated launches of a kernel by their number of warp instructions.
type curve struct {
	knots   []knot
	scatter float64 // variance of the logarithm of a knot's rate about its neighbours'
}

// knot is the simulated launches of about as many instructions, by their numbers of active edges: where the lanes of a
// warp have an active vertex each, its instructions are those of the one with the most edges.
type knot struct {
	points   []point
	launches int
	instrs   float64
}

// point is the simulated launches of about as many instructions and active edges.
type point struct {
	launches       []int
	strata         []int // of each
	active         float64
	instrs, cycles float64
}

func (k *knot) size() float64      { return k.instrs / float64(k.launches) }
func (p *point) perInstr() float64 { return p.cycles / max(p.instrs, 1) }

// alike is the ratio of instructions, or of active edges, up to which launches are in one knot, or in one point of it.
const alike = 1.01

func curvesOf(all []Launch) map[any]*curve {
	timed := map[any][]int{}
	for _, cold := range [...]bool{false, true} {
		had := maps.Clone(timed)
		for i := range all {
			l := &all[i]
			if l.Timed && l.Cold == cold && had[l.Kernel] == nil && l.WarpInstrs > 0 && l.Cycles > 0 {
				timed[l.Kernel] = append(timed[l.Kernel], i)
			}
		}
	}
	curves := map[any]*curve{}
	for kernel, launches := range timed {
		slices.SortStableFunc(launches, func(a, b int) int { return cmp.Compare(all[a].WarpInstrs, all[b].WarpInstrs) })
		c := &curve{}
		for len(launches) > 0 {
			n := 1 // of the next knot
			sum := float64(all[launches[0]].WarpInstrs)
			for n < len(launches) && float64(all[launches[n]].WarpInstrs) <= alike*sum/float64(n) {
				sum += float64(all[launches[n]].WarpInstrs)
				n++
			}
			c.knots = append(c.knots, knotOf(all, launches[:n]))
			launches = launches[n:]
		}
		c.measure()
		curves[kernel] = c
	}
	return curves
}

func knotOf(all []Launch, launches []int) (k knot) {
	slices.SortStableFunc(launches, func(a, b int) int { return cmp.Compare(all[a].Active, all[b].Active) })
	for _, i := range launches {
		l := &all[i]
		if n := len(k.points); n == 0 || float64(l.Active) > alike*k.points[n-1].active {
			k.points = append(k.points, point{active: float64(l.Active)})
		}
		p := &k.points[len(k.points)-1]
		p.launches, p.strata = append(p.launches, i), append(p.strata, l.Stratum)
		p.instrs, p.cycles = p.instrs+float64(l.WarpInstrs), p.cycles+float64(l.Cycles)
		k.launches, k.instrs = k.launches+1, k.instrs+float64(l.WarpInstrs)
	}
	return k
}

// between is where a number is between two others, of which those of a sorted list are called by index.
type between struct {
	below, above int
	part         float64 // of above
}

func (k *knot) at(active float64) (at between, perInstr float64) {
	n, _ := slices.BinarySearchFunc(k.points, active, func(p point, x float64) int { return cmp.Compare(p.active, x) })
	at.below, at.above = max(0, n-1), min(n, len(k.points)-1)
	a, b := &k.points[at.below], &k.points[at.above]
	if b.active > a.active {
		at.part = (active - a.active) / (b.active - a.active)
	}
	return at, (1-at.part)*a.perInstr() + at.part*b.perInstr()
}

// measure computes the scatter: how far knots are from the line through their neighbours, a knot in the middle of two
// having 1.5 times the variance of one.
func (c *curve) measure() {
	sum, weight := stepWeight*stepPace*stepPace, float64(stepWeight)
	for i := 1; i+1 < len(c.knots); i++ {
		k, without := &c.knots[i], curve{knots: []knot{c.knots[i-1], c.knots[i+1]}}
		at := without.at(k.size(), k.points[len(k.points)/2].active)
		d := math.Log(k.points[len(k.points)/2].perInstr() / at.perInstr)
		sum += d * d / 1.5
		weight++
	}
	c.scatter = sum / weight
}

// rate is the estimate of cycles a warp instruction at a number of them, between two knots or at one.
type rate struct {
	between
	ofBelow, ofAbove between // their points
	perInstr         float64
	same             *point  // of as many instructions and active edges; nil: none
	beyond           float64 // logarithm of how many times larger or smaller than all knots
}

func (c *curve) at(instrs, active float64) (r rate) {
	instrs = max(instrs, 1)
	n, _ := slices.BinarySearchFunc(c.knots, instrs, func(k knot, x float64) int { return cmp.Compare(k.size(), x) })
	r.below, r.above = max(0, n-1), min(n, len(c.knots)-1)
	a, b := &c.knots[r.below], &c.knots[r.above]
	x, y := math.Log(a.size()), math.Log(b.size())
	switch at := math.Log(instrs); {
	case r.below == r.above:
		r.beyond = math.Abs(at - x)
	case y > x:
		r.part = (at - x) / (y - x)
	}
	var below, above float64
	r.ofBelow, below = a.at(active)
	r.ofAbove, above = b.at(active)
	r.perInstr = math.Exp((1-r.part)*math.Log(below) + r.part*math.Log(above))
	for _, k := range [...]*knot{a, b} {
		if math.Abs(math.Log(instrs/k.size())) >= math.Log(alike) {
			continue
		}
		for i := range k.points {
			if p := &k.points[i]; active <= alike*p.active && p.active <= alike*active {
				r.same = p
			}
		}
	}
	return r
}

// pace returns the standard deviation of a launch's rate, relative to it.
func (c *curve) pace(r *rate, l *Launch) float64 {
	switch {
	case l.Cold:
		return max(coldPace, math.Sqrt(c.scatter))
	case r.same != nil && slices.Contains(r.same.strata, l.Stratum):
		return samePace
	case r.beyond > math.Ln2:
		return outside
	}
	return math.Sqrt(c.scatter) * (1 + r.beyond)
}

// share adds an emulated launch's cycles to those that simulated ones stand for.
func (r *rate) share(c *curve, cycles float64, weights []float64) {
	for _, x := range [...]struct {
		knot, point int
		part        float64
	}{
		{r.below, r.ofBelow.below, (1 - r.part) * (1 - r.ofBelow.part)},
		{r.below, r.ofBelow.above, (1 - r.part) * r.ofBelow.part},
		{r.above, r.ofAbove.below, r.part * (1 - r.ofAbove.part)},
		{r.above, r.ofAbove.above, r.part * r.ofAbove.part},
	} {
		p := &c.knots[x.knot].points[x.point]
		for _, i := range p.launches {
			weights[i] += x.part * cycles / p.cycles
		}
	}
}

// groupsOf returns the emulated kernels, of which the simulated launches are parts.
func groupsOf(all []Launch, curves map[any]*curve, cells *cells) (groups []stats.Group) {
	known, part := map[any]bool{}, make([]int, len(all))
	for i := range all[1:] {
		if part[i+1] = part[i]; all[i].Timed {
			part[i+1]++
		}
	}
	for i := range cells.all {
		kernel := cells.all[i].kernel
		if known[kernel] {
			continue
		}
		known[kernel] = true
		cycles, variance := 0.0, 0.0
		for j := range cells.all {
			if c := &cells.all[j]; c.kernel == kernel {
				cycles, variance = cycles+c.cycles, variance+c.variance()
			}
		}
		g := stats.Group{Pace: math.Sqrt(variance) / max(cycles, 1)}
		for j := range curves[kernel].knots {
			k := &curves[kernel].knots[j]
			knot := stats.Knot{Size: math.Log(k.size())}
			for _, p := range k.points {
				var parts []int
				for _, i := range p.launches {
					parts = append(parts, part[i])
				}
				knot.Points = append(knot.Points, parts)
			}
			g.Knots = append(g.Knots, knot)
		}
		groups = append(groups, g)
	}
	return groups
}

// stepCounts returns the machine's statistics: those of the timed launches, and weights as much of each in place of the
// emulated ones.
func stepCounts(all []Launch, weights []float64, left, half float64, groups []stats.Group) stats.Tree {
	var out stats.Tree
	var sum, timed sim.Result
	p, values := stats.Parts{Rest: left, Relative: half / left, Groups: groups}, []stats.Values{}
	for i := range all {
		l := &all[i]
		sum.Stats = sum.Plus(&l.Stats)
		if !l.Timed {
			continue
		}
		timed.Cycles, timed.Stats = timed.Cycles+l.Cycles, timed.Plus(&l.Stats)
		p.Cycles, p.Instrs = append(p.Cycles, float64(l.Cycles)), append(p.Instrs, float64(l.WarpInstrs))
		p.Weights, values = append(p.Weights, weights[i]), append(values, l.Counts.Values())
		if out == nil {
			out = l.Counts.Tree()
			continue
		}
		v := l.Counts.Values()
		for j := range out {
			out[j] = out[j].Plus(v.Next())
		}
	}
	p.Simulated = float64(timed.Cycles)
	whole := sim.Sampled{Result: sum, Begin: sim.Interval{Counts: stats.PackPart(out),
		Pace: sim.Pace{Cycles: timed.Cycles, WarpInstrs: timed.WarpInstrs}}}
	calibrate(&p, float64(sum.WarpInstrs-timed.WarpInstrs))
	for j := range out {
		out[j] = p.Extrapolate(out[j], func(i int) stats.Stat { return values[i].Next() })
	}
	exact(out, &whole, half/(left+p.Simulated))
	exactSteps(out, &sum)
	return out
}

// exactSteps sets the counts that emulated launches have too, beyond those of exact.
func exactSteps(t stats.Tree, sum *sim.Result) {
	known := sim.Instructions(sum.Stats).Map()
	for i, x := range t {
		if k, ok := known[x.Name]; ok {
			if n, counted := k.Uint(); counted {
				t[i] = x.Exact(n)
			}
		}
		if x.Name == "warp_iterations" {
			t[i] = x.Exact(sum.Iterations)
		}
	}
}
