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
	// nearPace, and farPace times the logarithm of the ratio of instructions, bound it where the stratum has a simulated
	// launch of the kernel. Of 48 other runs, launches with as many instructions to 5 % differed from the stratum's first
	// by 0.03 to 0.06 in the root of the mean square, by algorithm, and less alike ones by less than this. Chosen after
	// these had been seen.
	nearPace = 0.05
	farPace  = 1.5
	// warmError is the standard deviation of the error that all strata share, relative to the emulated part: emulation
	// leaves caches almost as simulation does.
	warmError = 0.01
	// orderError is the standard deviation of the work that another order of warps makes, relative to the emulated part.
	// Of 19 runs of connected components on drawn grids, executed in the order that the estimate of time gives, two were
	// off by 5 and 6 %, others by 2 % or less. Chosen after these (0.09 before, as emulation had been 13 % off).
	// waveError is the same for shortest paths, whose active vertices rarely improve each other: 0.2 % more on two grids.
	orderError = 0.045
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
// straight line through their logarithms; of those that have as many, the ones with a similar number of active edges.
// ok is false if a kernel was never simulated.
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
