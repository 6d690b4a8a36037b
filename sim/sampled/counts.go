package sampled

import (
	"math"

	"heddle/sim"
	"heddle/sim/stats"
)

// groupsOf returns the emulated kernels, of which the simulated launches are parts.
func groupsOf(all []Launch, curves map[any]*curve, cells *cells) (groups []stats.Group) {
	known, part, parts := map[any]bool{}, make([]int, len(all)), 0
	for i := range all {
		if part[i] = parts; all[i].Timed {
			parts++
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
				var of []int
				for _, i := range p.launches {
					of = append(of, part[i])
				}
				knot.Points = append(knot.Points, of)
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
