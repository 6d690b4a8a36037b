package sim

import "math"

// rhythm finds the number of warp instructions over which the pace of a kernel evens out. Where warps pass through
// phases together, such as those of a thread block that registers vertices and then walks their edges, a short interval
// shows one phase, and the functional execution beside it another. It observes functional execution in windows of an
// interval's length, and accumulates the differences between neighbours of several windows: Allan's variance
// (Proceedings of the IEEE, 1966), on which drifts have little effect.
type rhythm struct {
	window  uint64 // warp instructions
	ends    [mostWindows + 1]Pace
	n       int // windows of the current stretch
	squares [len(spans)]float64
	pairs   [len(spans)]int
}

// spans are the numbers of windows of which neighbours are compared.
var spans = [...]int{1, 2, 3, 4, 6, 8, 12, 16}

const (
	// largest number of windows observed in a stretch.
	mostWindows = 256
	// fewPairs of neighbours show nothing.
	fewPairs = 4
	// uneven is how much neighbouring windows differ, as a standard deviation of logarithms, when an interval shows one
	// phase of several; even is how much longer ones do that show all. Kernels on skewed, clustered and uniform graphs
	// have 0.02 to 0.13 with windows of docs/guide/sampling.md's interval, those with phases 0.3 to 0.5.
	uneven = 0.2
	even   = 0.1
)

// begin begins a stretch.
func (r *rhythm) begin(p Pace) { r.ends[0], r.n = p, 0 }

// note records the machine's pace.
func (r *rhythm) note(p Pace) {
	if r.n < mostWindows && p.WarpInstrs >= r.ends[r.n].WarpInstrs+r.window {
		r.n++
		r.ends[r.n] = p
	}
}

// end adds a stretch's windows to those of the stretches before.
func (r *rhythm) end() {
	for k, span := range spans {
		for i := span; i+span <= r.n; i++ {
			before, after := r.ends[i].since(r.ends[i-span]), r.ends[i+span].since(r.ends[i])
			if before.Cycles > 0 && after.Cycles > 0 {
				d := math.Log(after.perInstr() / before.perInstr())
				r.squares[k] += d * d / 2
				r.pairs[k]++
			}
		}
	}
	r.n = 0
}

// perInstr is the cycles of a warp instruction.
func (p Pace) perInstr() float64 { return float64(p.Cycles) / float64(p.WarpInstrs) }

// deviation is how much neighbours of a number of windows differ; known: there were enough.
func (r *rhythm) deviation(k int) (d float64, known bool) {
	if r.pairs[k] < fewPairs {
		return 0, false
	}
	return math.Sqrt(r.squares[k] / float64(r.pairs[k])), true
}

// length returns the number of warp instructions that an interval needs to cover all phases; longest, if it cannot be
// determined.
func (r *rhythm) length(longest uint64) uint64 {
	if d, known := r.deviation(0); !known || d <= uneven {
		return r.window
	}
	for k, span := range spans[1:] {
		if d, known := r.deviation(k + 1); known && d <= even {
			return uint64(span) * r.window
		}
	}
	return max(longest, r.window)
}
