package sampled

import (
	"math"

	"heddle/sim"
	"heddle/sim/stats"
)

// Launch is a launch of a run of which some super-steps were simulated in time and the others emulated.
type Launch struct {
	sim.Result
	Kernel  any
	Stratum int // of its super-step
	Timed   bool
	Counts  stats.Part // of the machine, if it was simulated in time
}

// Constants of the estimate of emulated launches.
const (
	// StepScatter is the standard deviation of the logarithm of cycles a warp instruction between the launches of a
	// kernel in a stratum, as the runs of docs/guide/sampling.md have shown it. It counts as much as stepWeight launches:
	// a stratum of which one launch was simulated shows no scatter of its own.
	StepScatter = 0.03
	stepWeight  = 4
	// elsewhere is the same for a kernel of which no launch of the stratum was simulated, but one of another stratum.
	elsewhere = 0.25
	// StepError is the standard deviation of the error that scatter does not show, relative to the emulated part: an
	// emulated launch leaves the L2 as it was, and executes warps in another order.
	StepError = 0.005
)

// Steps is the estimated outcome of a run.
type Steps struct {
	Cycles []float64  // of each launch
	Half   []float64  // of each emulated launch: its share of the run's interval, not an interval of its own
	Total  float64    // cycles
	Error  float64    // half the 95 % confidence interval of the total
	Counts stats.Tree // of the machine; nil: all launches were simulated
}

// cell is the launches of a kernel in a stratum.
type cell struct {
	timed, emulated []int   // launches
	instrs, cycles  float64 // of the timed ones
	left            float64 // warp instructions of the emulated ones
	perInstr        float64 // cycles
	far             bool    // it has no timed launch: perInstr is another stratum's
	from            *cell   // that the rate is from
}

// EstimateSteps estimates the cycles of emulated launches: in each stratum, those of a kernel take as many cycles a warp
// instruction as the simulated ones (a separate ratio estimator: Cochran, Sampling Techniques, 1977, ch. 6.11). ok is
// false if a kernel was never simulated.
func EstimateSteps(all []Launch) (s Steps, ok bool) {
	cells, order := cellsOf(all)
	freedom, scatter := float64(stepWeight), stepWeight*StepScatter*StepScatter
	for _, c := range order {
		if !c.rate(order, all) {
			return Steps{}, false
		}
		for _, i := range c.timed {
			if len(c.timed) > 1 {
				d := math.Log(float64(all[i].Cycles) / float64(max(all[i].WarpInstrs, 1)) / c.perInstr)
				scatter += d * d
			}
		}
		freedom += float64(max(0, len(c.timed)-1))
	}
	scatter /= freedom
	s = Steps{Cycles: make([]float64, len(all)), Half: make([]float64, len(all))}
	variance, left := 0.0, 0.0
	for _, c := range order {
		n, rest := float64(len(c.timed)), c.left*c.perInstr
		v := scatter
		if c.far {
			n, v = 1, elsewhere*elsewhere
		}
		if m := float64(len(c.emulated)); m > 0 {
			variance += rest * rest * v * (1/n + 1/m)
		}
		left += rest
	}
	for i := range all {
		l := &all[i]
		if s.Cycles[i] = float64(l.Cycles); !l.Timed {
			s.Cycles[i] = cells[l.cell()].perInstr * float64(l.WarpInstrs)
		}
		s.Total += s.Cycles[i]
	}
	if left == 0 {
		return s, true
	}
	t := stats.Student95(int(freedom))
	s.Error = math.Hypot(t*math.Sqrt(variance), stats.Student95(1000)*StepError*left)
	for i := range all {
		if !all[i].Timed {
			s.Half[i] = s.Error * s.Cycles[i] / left
		}
	}
	s.Counts = stepCounts(all, order, left, s.Error)
	return s, true
}

// place identifies a cell.
type place struct {
	kernel  any
	stratum int
}

func (l *Launch) cell() place { return place{l.Kernel, l.Stratum} }

// cellsOf groups launches; order is that of their first.
func cellsOf(all []Launch) (cells map[place]*cell, order []*cell) {
	cells = map[place]*cell{}
	for i := range all {
		l := &all[i]
		c := cells[l.cell()]
		if c == nil {
			c = &cell{}
			cells[l.cell()] = c
			order = append(order, c)
		}
		if !l.Timed {
			c.emulated, c.left = append(c.emulated, i), c.left+float64(l.WarpInstrs)
			continue
		}
		c.timed = append(c.timed, i)
		c.instrs, c.cycles = c.instrs+float64(l.WarpInstrs), c.cycles+float64(l.Cycles)
	}
	return cells, order
}

// rate sets the cycles a warp instruction: without timed launches, those of the kernel's stratum with the most similar
// launches. It reports false if there is none.
func (c *cell) rate(order []*cell, all []Launch) bool {
	c.from = c
	if len(c.timed) == 0 {
		c.from, c.far = nil, true
		l, nearest := &all[c.emulated[0]], math.Inf(1)
		for _, o := range order {
			if len(o.timed) == 0 || all[o.timed[0]].Kernel != l.Kernel {
				continue
			}
			mine := c.left / float64(len(c.emulated))
			if d := math.Abs(math.Log(max(mine, 1) / max(o.instrs/float64(len(o.timed)), 1))); d < nearest {
				c.from, nearest = o, d
			}
		}
	}
	if c.from == nil {
		return false
	}
	c.perInstr = c.from.cycles / max(c.from.instrs, 1)
	return true
}

// stepCounts returns the machine's statistics: those of the timed launches, each also in place of the emulated ones of
// its cell, by warp instructions.
func stepCounts(all []Launch, order []*cell, left, half float64) stats.Tree {
	var out stats.Tree
	var sum, timed sim.Result
	weights := map[int]float64{}
	for _, c := range order {
		for _, i := range c.from.timed {
			weights[i] += c.left / max(c.from.instrs, 1)
		}
	}
	p := stats.Parts{Rest: left, Relative: half / left}
	var values []stats.Values
	for i := range all {
		l := &all[i]
		sum.Stats = sum.Plus(&l.Stats)
		if !l.Timed {
			continue
		}
		timed.Cycles, timed.Stats = timed.Cycles+l.Cycles, timed.Plus(&l.Stats)
		if out == nil {
			out = l.Counts.Tree()
		} else {
			v := l.Counts.Values()
			for j := range out {
				out[j] = out[j].Plus(v.Next())
			}
		}
		if weights[i] > 0 {
			p.Cycles, p.Instrs = append(p.Cycles, float64(l.Cycles)), append(p.Instrs, float64(l.WarpInstrs))
			p.Weights, values = append(p.Weights, weights[i]), append(values, l.Counts.Values())
		}
	}
	p.Simulated = float64(timed.Cycles)
	whole := sim.Sampled{Result: sum, Begin: sim.Interval{Counts: stats.PackPart(out),
		Pace: sim.Pace{Cycles: timed.Cycles, WarpInstrs: timed.WarpInstrs}}}
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
