// Package sampled estimates the time of launches of which only parts were simulated in time.
//
// Between those parts a launch is executed functionally, with a running estimate of its time (package core, estimate).
// The estimate is wrong by a factor that changes slowly. Where an interval was simulated in time, the factor is known:
// the interval's cycles divided by the estimate's, beside it, for as many instructions. A stretch between intervals
// takes its estimate times the median of the neighbouring factors: a ratio estimator with an auxiliary variable that is
// known everywhere (Cochran, Sampling Techniques, 1977, ch. 6); SMARTS (Wunderlich et al., ISCA 2003) is one with the
// number of instructions.
//
// Every figure has half a 95 % confidence interval, of two parts: the scatter of the factors, and an error that
// sampling does not show, from the estimate's own order of warps (ModelError).
package sampled

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"heddle/sim"
	"heddle/sim/stats"
)

// Constants of the estimate.
const (
	// number of intervals whose factors determine a stretch's, half of them on either side.
	near = 6
	// number of intervals of a kernel's launches that are kept for its next launch.
	kept = 24
	// ModelError is the standard deviation of the error that remains when factors are known exactly, relative to the
	// functionally executed part: in functional execution warps progress a little faster or slower relative to each
	// other than in timed execution, so that a launch's last warps begin their end with more or less work left. It was
	// chosen after the outcomes of docs/guide/sampling.md had been seen.
	ModelError = 0.03
	// priorScatter is the standard deviation of a factor about its neighbours, as the runs of docs/guide/sampling.md
	// have shown it, which counts as much as priorWeight intervals.
	priorScatter = 0.12
	priorWeight  = 4
	// trusted is by how much the estimate alone is off, as a logarithm, where it has what a kernel does: 20 % (tested of
	// graph kernels and micro-programs). Where factors differ from 1 by more, it is open whether they or the estimate are
	// wrong: intervals may be too short for what goes on. The excess then counts as a standard deviation.
	trusted = 0.2
	// unknown is the same as ModelError while no interval of a kernel has been simulated.
	unknown = 0.25
)

// Estimate is the estimated outcome of a launch.
type Estimate struct {
	Cycles float64
	Half   float64    // of the 95 % confidence interval; 0: all of it was simulated
	Counts stats.Tree // of the machine
}

// Estimator estimates launches, one after the other. The zero value is ready.
type Estimator struct {
	kernels map[any]*kernel
}

// kernel holds the data of a kernel's launches.
type kernel struct {
	factors   []float64
	intervals []sim.Interval
	told      []bool // whether a factor is of an interval that shows all phases of the kernel, as the longest do
}

// Launch estimates a launch of a kernel.
func (e *Estimator) Launch(of any, s *sim.Sampled) Estimate {
	if s.Whole() {
		return Estimate{Cycles: float64(s.Begin.Cycles), Counts: s.Begin.Counts.Tree()}
	}
	if e.kernels == nil {
		e.kernels = map[any]*kernel{}
	}
	k := e.kernels[of]
	if k == nil {
		k = &kernel{}
		e.kernels[of] = k
	}
	at := len(k.factors)
	for i := range s.Intervals {
		if f, ok := factor(s, i); ok {
			k.factors, k.intervals = append(k.factors, f), append(k.intervals, s.Intervals[i])
		}
	}
	k.computeFactors()
	out := k.launch(s, at)
	if n := len(k.factors) - kept; n > 0 {
		k.factors, k.intervals = slices.Clone(k.factors[n:]), slices.Clone(k.intervals[n:])
	}
	return out
}

// factor returns an interval's cycles divided by the estimate on both sides for its instructions.
func factor(s *sim.Sampled, i int) (f float64, ok bool) {
	v, after := &s.Intervals[i], &s.Rest
	if i+1 < len(s.Intervals) {
		after = &s.Intervals[i+1].Before
	}
	var paces []float64
	for _, p := range [...]sim.Pace{v.Before.Last, after.First} {
		if p.WarpInstrs > 0 && p.Cycles > 0 {
			paces = append(paces, cpi(p))
		}
	}
	if len(paces) == 0 || v.Cycles == 0 {
		return 0, false
	}
	return cpi(v.Pace) / stat.GeometricMean(paces, nil), true
}

func cpi(p sim.Pace) float64 { return float64(p.Cycles) / float64(max(p.WarpInstrs, 1)) }

// launch estimates a launch whose first interval has an index among the kernel's.
func (k *kernel) launch(s *sim.Sampled, at int) Estimate {
	n := len(s.Intervals)
	timed, covered := float64(s.Begin.Cycles), s.Begin.WarpInstrs
	alone := float64(s.Rest.Cycles) // estimate of what is not simulated
	beside := make([]float64, n+1)  // cycles of the stretch before each interval, and after the last
	for i := range s.Intervals {
		v := &s.Intervals[i]
		timed += float64(v.Cycles)
		before := float64(v.Before.Cycles + warm(v).Cycles)
		beside[i] = k.factor(at+i) * before
		alone += before
		covered += v.WarpInstrs + v.Before.WarpInstrs + v.Warm.WarpInstrs
	}
	beside[n] = k.factor(at+n) * float64(s.Rest.Cycles)
	covered += s.Rest.WarpInstrs
	rest := 0.0
	for _, c := range beside {
		rest += c
	}
	relative := k.error(1)
	if alone > 0 && rest > 0 {
		relative = k.error(rest / alone)
	}
	if left := float64(s.WarpInstrs - covered); left > 0 { // ended during the switch to functional execution
		more := left * cpi(s.Begin.Pace)
		if done := covered - s.Begin.WarpInstrs; rest > 0 && done > 0 {
			more = rest * left / float64(done)
		}
		for i := range beside {
			beside[i] += more / float64(n+1)
		}
		rest += more
	}
	out := Estimate{Cycles: timed + rest, Half: relative * rest}
	out.Counts = k.counts(s, beside, rest, relative, out.Half/out.Cycles)
	return out
}

// warm estimates the cycles of a warm-up: by the pace before it.
func warm(v *sim.Interval) sim.Pace {
	p := v.Warm
	if v.Before.Last.WarpInstrs > 0 {
		p.Cycles = uint64(cpi(v.Before.Last) * float64(p.WarpInstrs))
	}
	return p
}

// computeFactors computes the factors of the intervals. Before a kernel is known to have phases, its intervals are too
// short to cover them all.
func (k *kernel) computeFactors() {
	least, most := uint64(math.MaxUint64), uint64(0)
	for i := range k.intervals {
		n := k.intervals[i].Length
		least, most = min(least, n), max(most, n)
	}
	k.told = k.told[:0]
	for i := range k.intervals {
		v := &k.intervals[i]
		k.told = append(k.told, least == most || 2*min(v.Length, v.WarpInstrs) >= most)
	}
}

// good returns the usable factors, and the number of them before a position.
func (k *kernel) good(place int) (factors []float64, before int) {
	for i, f := range k.factors {
		if k.told[i] {
			factors = append(factors, f)
		}
		if i == place-1 {
			before = len(factors)
		}
	}
	if place > len(k.factors) {
		before = len(factors) + place - len(k.factors)
	}
	return factors, before
}

// factor is the median of those next to a place: the intervals before it, and from it on.
func (k *kernel) factor(place int) float64 {
	factors, place := k.good(place)
	from, to := max(0, place-near/2), min(len(factors), place+near/2)
	if from >= to {
		if len(factors) == 0 {
			return 1
		}
		from, to = max(0, len(factors)-near/2), len(factors)
	}
	return median(factors[from:to])
}

func median(values []float64) float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// error returns half the 95 % confidence interval of the functionally executed part, relative to it. applied is the
// factor that its estimate has been multiplied by.
func (k *kernel) error(applied float64) float64 {
	factors, _ := k.good(0)
	n := len(factors)
	if n == 0 {
		return stats.Student95(1000) * unknown
	}
	// Differences between neighbours show scatter and hardly any drift. With few intervals they show little; a prior
	// from other kernels then has the weight of some intervals.
	squares := priorWeight * priorScatter * priorScatter
	for i, f := range factors[1:] {
		d := math.Log(f / factors[i])
		squares += d * d / 2
	}
	freedom := priorWeight + n - 1
	// The median's variance is π/2 times the mean's.
	variance := squares / float64(freedom) / float64(n) * math.Pi / 2
	t := stats.Student95(freedom)
	doubt := max(0, math.Abs(math.Log(applied))-trusted)
	return math.Hypot(t*math.Sqrt(variance), stats.Student95(1000)*math.Hypot(ModelError, doubt))
}

// few is the number of intervals of a launch below which the kernel's earlier launches are included, as so few do not
// show how its statistics scatter.
const few = 4

// counts returns the machine's statistics: those of the timed parts, and for the rest those of the intervals, each
// weighted by the work beside it.
func (k *kernel) counts(s *sim.Sampled, beside []float64, rest, ofRest, relative float64) stats.Tree {
	out := s.Begin.Counts.Tree()
	left, simulated := float64(s.WarpInstrs-s.Begin.WarpInstrs), float64(s.Begin.Cycles)
	for i := range s.Intervals {
		values := s.Intervals[i].Counts.Values()
		for j := range out {
			out[j] = out[j].Plus(values.Next())
		}
		left, simulated = left-float64(s.Intervals[i].WarpInstrs), simulated+float64(s.Intervals[i].Cycles)
	}
	from, of := s.Intervals, beside
	if len(from) < few {
		if from = k.intervals; len(from) == 0 {
			from = []sim.Interval{s.Begin}
		}
		of = make([]float64, len(from)+1)
		for i := range of {
			of[i] = rest / float64(len(of))
		}
	}
	p := stats.Parts{Rest: rest, Simulated: simulated, Relative: ofRest}
	for i := range from {
		c := float64(from[i].Cycles)
		share := (of[i] + of[i+1]) / 2
		if i == 0 {
			share += of[0] / 2
		}
		if i == len(from)-1 {
			share += of[i+1] / 2
		}
		p.Cycles, p.Instrs, p.Weights = append(p.Cycles, c), append(p.Instrs, float64(from[i].WarpInstrs)),
			append(p.Weights, share/max(c, 1))
	}
	calibrate(&p, left)
	values := make([]stats.Values, len(from))
	for i := range from {
		values[i] = from[i].Counts.Values()
	}
	for j := range out {
		out[j] = p.Extrapolate(out[j], func(i int) stats.Stat { return values[i].Next() })
	}
	exact(out, s, relative)
	return out
}

// calibrate changes weights as little as it takes for the parts to have the rest's cycles and warp instructions
// (Deville and Särndal, Calibration Estimators in Survey Sampling, JASA 1992, the linear case). Weights that would
// become negative stay as they are.
func calibrate(p *stats.Parts, instrs float64) {
	var cc, cn, nn, c0, n0 float64
	for i, w := range p.Weights {
		c, n := p.Cycles[i], p.Instrs[i]
		cc, cn, nn, c0, n0 = cc+w*c*c, cn+w*c*n, nn+w*n*n, c0+w*c, n0+w*n
	}
	d := cc*nn - cn*cn
	if d <= 1e-9*cc*nn {
		return
	}
	dc, dn := p.Rest-c0, instrs-n0
	a, b := (dc*nn-dn*cn)/d, (dn*cc-dc*cn)/d
	weights := make([]float64, len(p.Weights))
	for i, w := range p.Weights {
		if weights[i] = w * (1 + a*p.Cycles[i] + b*p.Instrs[i]); weights[i] < 0 {
			return
		}
	}
	p.Weights = weights
}

// exact sets the statistics known for the whole launch: executed instructions, and ratios of them, also to the cycles.
func exact(t stats.Tree, s *sim.Sampled, relative float64) {
	known, begin := s.Executed().Map(), s.Begin.Counts.Tree()
	for i, x := range t {
		if k, ok := known[x.Name]; ok {
			if n, counted := k.Uint(); counted {
				t[i] = x.Exact(n)
			}
		}
		switch x.Name {
		case "ipc":
			t[i] = x.Over(float64(s.WarpInstrs), relative)
		case "edges_per_cycle":
			t[i] = x.Over(float64(s.Edges), relative)
		case "simd_efficiency":
			_, slots := begin[i].Parts()
			t[i] = x.Of(float64(s.ThreadInstrs), slots/float64(s.Begin.WarpInstrs)*float64(s.WarpInstrs))
		}
	}
}
