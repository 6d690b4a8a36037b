package sampled

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

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

// between is a place between two neighbours in a sorted list, given by their indices.
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

// measure computes the scatter: how far the knots' middle points are from the line through their neighbours', one in
// the middle of two having 1.5 times the variance of one.
func (c *curve) measure() {
	sum, weight := stepWeight*stepPace*stepPace, float64(stepWeight)
	for i := 1; i+1 < len(c.knots); i++ {
		k, without := &c.knots[i], curve{knots: []knot{c.knots[i-1], c.knots[i+1]}}
		middle := &k.points[len(k.points)/2]
		at := without.at(k.size(), middle.active)
		d := math.Log(middle.perInstr() / at.perInstr)
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
	case r.same != nil && slices.Contains(r.same.strata, l.Stratum):
		return samePace
	case r.beyond > math.Ln2:
		return outside
	}
	return min(math.Sqrt(c.scatter)*(1+r.beyond), nearPace+farPace*c.distance(l))
}

// distance returns how far from a launch's number of instructions the nearest of its stratum's simulated ones is, in
// logarithms.
func (c *curve) distance(l *Launch) float64 {
	least := math.Inf(1)
	for i := range c.knots {
		k := &c.knots[i]
		away := math.Abs(math.Log(float64(max(l.WarpInstrs, 1)) / k.size()))
		if away < least && slices.ContainsFunc(k.points, func(p point) bool {
			return slices.Contains(p.strata, l.Stratum)
		}) {
			least = away
		}
	}
	return least
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
