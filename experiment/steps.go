package experiment

import (
	"context"
	"fmt"
	"math"
	"math/bits"

	"heddle/experiment/config"
	"heddle/isa"
	"heddle/kernels/algorithm"
	"heddle/kernels/compose"
	"heddle/kernels/host"
	"heddle/kernels/workload"
	"heddle/sim"
	"heddle/sim/sampled"
	"heddle/sim/stats"
)

// sampledSteps runs the launches of a run sampled by super-step: of super-steps that are alike, a stratum, one of every
// so many is simulated in time and the others are emulated. Which of them is decided at their first launch, from what
// is known by then. The times of emulated launches are known when the run has ended.
type sampledSteps struct {
	device *host.Timed
	every  int
	config *config.Experiment
	strata map[likeness]*stratum

	order sampled.Order // Ordered: super-steps are executed in the order that functional execution estimates

	// Of the current group of launches: a super-step, or what precedes it (a split of waiting vertices).
	decided     bool
	of          *stratum
	timed, warm bool
	cold        bool
	active      activeSize
	instrs      uint64  // warp instructions so far
	filled      float64 // how often its simulated launches have filled the caches (sim.Machine.Filled)
	from        int     // number of its first launch
	first       *isa.Program

	simulated uint64 // warp instructions in time

	last     map[*isa.Program]lastGroup // of the groups that began with a program
	counts   stats.Tree                 // of the machine, after the last timed launch
	launches []sampled.Launch
	later    []*sim.Later
	wrong    error
}

// beginning is the number of a run's first launches that are simulated where the active set changes from super-step to
// super-step: they are small ones, and a run that is soon over gains nothing by leaving out the few others. Chosen
// after sixty runs had been seen, of which the worst, 9 % off, left out two launches of fifteen. Large launches end it:
// it is over when beginningInstrs warp instructions have been simulated, a quarter of a second's. Chosen after 48 other
// runs had been seen, whose errors it hardly changes (from 0.35 to 0.41 % in the mean; 2.7 % at worst).
const (
	beginning       = 16
	beginningInstrs = 100_000
)

// filledOver is how often a kernel's first super-step must have filled the caches behind the L1s for it to be like the
// next one although it found them cold: they keep no more than one filling. Of 57 whole runs of PageRank, the first
// steps of the nine that filled them three times or more took as long as the second to 0.2 %; one that did so 2.3 times
// took 2.3 % longer, and others up to 2.7 times as long. Chosen after these had been seen.
const filledOver = 3

// likeness is what super-steps of a stratum have in common; sizes by powers of two.
type likeness struct {
	first           *isa.Program // the kernel launched first, which also tells the direction
	vertices, edges int          // of the active set
	before          int          // warp instructions of the last one of this kernel, if it had as many of both
	cold            bool         // it is the kernel's first, which finds none of its data in the caches
}

// activeSize is the size of an active set; all vertices if the set does not list its members.
type activeSize struct{ vertices, edges uint64 }

// lastGroup is the group of launches before that began with the same program.
type lastGroup struct {
	activeSize
	instrs uint64
	same   bool     // as many as the group before it
	tells  *stratum // its stratum, if it was the first but tells of later groups, too; nil: it does not
}

type stratum struct {
	number int
	seen   int // super-steps
}

func newSampledSteps(d *host.Timed, e *config.Experiment) *sampledSteps {
	return &sampledSteps{device: d, every: e.Sample.Steps, config: e, strata: map[likeness]*stratum{},
		last: map[*isa.Program]lastGroup{}}
}

// expect takes into account what is known of a run before it begins: dense, that its super-steps handle all edges.
// Where a vertex may become active again, a super-step that reads what it has written itself leaves other vertices
// active in another order of warps; of programs of the user's, this is assumed. From a single source that is rare: the
// vertices of a frontier are not on one path.
func (s *sampledSteps) expect(dense bool) {
	if s == nil {
		return
	}
	e := s.config
	if !dense {
		s.order = sampled.Ordered
	}
	switch e.Workload.Kind() {
	case workload.KindFeatures: // edges read values and write sums, vertices the reverse
		s.order = sampled.Unordered
	case workload.KindComposed:
		if p, err := compose.NewPlan(e.Workload); err == nil {
			s.order = orderOf(p.Algorithm)
		}
	}
}

func orderOf(a *algorithm.Algorithm) sampled.Order {
	switch {
	case a.Once || a.Dense:
		return sampled.Unordered
	case a.FromSource:
		return sampled.Waves
	}
	return sampled.Ordered
}

// begin begins a super-step.
func (s *sampledSteps) begin() {
	s.close()
	s.active = activeSize{}
}

// frontier begins the launches that work on an active set.
func (s *sampledSteps) frontier(vertices, edges uint64) {
	s.close()
	s.active = activeSize{vertices, edges}
}

// close ends a group of launches.
func (s *sampledSteps) close() {
	if s.decided {
		s.last[s.first] = lastGroup{s.active, s.instrs, s.last[s.first].instrs == s.instrs, s.tells()}
	}
	s.decided, s.instrs, s.filled = false, 0, 0
}

// tells returns the stratum of a kernel's first group if that is like later ones although it found the caches cold. Not
// where the order of warps matters: the work changes from step to step there.
func (s *sampledSteps) tells() *stratum {
	if !s.cold || !s.timed || s.filled < filledOver || s.order != sampled.Unordered {
		return nil
	}
	for i := range s.launches[s.from:] {
		s.launches[s.from+i].Cold = false
	}
	return s.of
}

// decide chooses whether the group of launches that begins with a program is simulated in time. The program's first is:
// it finds the caches cold, and has taken up to 2.7 times as long as the next one. Unless it has filled them so often
// that this made no difference, that one is simulated, too, and finds the caches as they are: behind an emulated step,
// PageRank on a graph of the L2's size took 16 % less time again and again, as the order in which a FIFO cache has once
// been filled decides what it keeps.
func (s *sampledSteps) decide(p *isa.Program) {
	last, known := s.last[p]
	like := likeness{p, bits.Len64(s.active.vertices), bits.Len64(s.active.edges), 0, !known}
	if last.activeSize == s.active {
		like.before = bits.Len64(last.instrs)
	}
	of := s.strata[like]
	if of == nil {
		if of = last.tells; of == nil || last.activeSize != s.active {
			of = &stratum{number: len(s.strata)}
		}
		s.strata[like] = of
	}
	s.decided, s.first, s.of, s.cold, s.from = true, p, of, like.cold, len(s.launches)
	begins := len(s.launches) < beginning && s.simulated < beginningInstrs
	s.timed = of.seen%s.every == 0 || s.active != last.activeSize && begins
	s.warm = !last.same // otherwise the caches have seen the same accesses already
	of.seen++
}

// launch simulates or emulates a launch. Its result has no time yet.
func (s *sampledSteps) launch(ctx context.Context, p *isa.Program, arg uint32) (r sim.Result, err error) {
	if s.device.Machine.Tiles() {
		return r, &UnsampledError{fmt.Sprintf("sample.steps = %d: cannot be sampled: a run on Swarm tiles is one launch: "+
			"expected 0", s.every)}
	}
	if !s.decided {
		s.decide(p)
	}
	l := sampled.Launch{Kernel: p, Stratum: s.of.number, Active: s.active.edges,
		Timed: s.timed, Cold: s.cold}
	if s.timed {
		if s.counts == nil {
			s.counts = s.device.Machine.Statistics()
		}
		if r, err = s.device.Launch(ctx, p, arg); err != nil {
			return r, err
		}
		now := s.device.Machine.Statistics()
		part := now.Since(s.counts)
		l.Counts, s.counts = stats.PackPart(part), now
		s.filled, s.simulated = s.filled+s.device.Machine.Filled(part), s.simulated+r.WarpInstrs
	} else {
		if r, err = s.emulate(ctx, p, arg); err != nil {
			return r, err
		}
	}
	s.instrs += r.WarpInstrs
	l.Result = r
	r.Later = &sim.Later{}
	s.launches, s.later = append(s.launches, l), append(s.later, r.Later)
	return r, nil
}

// emulate executes a launch without time: emulated where that does what is needed, functionally elsewhere.
func (s *sampledSteps) emulate(ctx context.Context, p *isa.Program, arg uint32) (sim.Result, error) {
	if can, warms := s.device.Machine.Emulates(); can && (warms || !s.warm) && s.order != sampled.Ordered {
		return s.device.Emulate(ctx, p, arg, s.warm)
	}
	s.counts = nil // units count what is executed functionally
	return s.device.Execute(ctx, p, arg)
}

// settle computes the times of all launches. whole are the machine's counts, which are those of the timed launches.
func (s *sampledSteps) settle(whole stats.Tree) (t host.Times, counts stats.Tree) {
	e, ok := sampled.EstimateSteps(s.launches, s.order)
	if !ok {
		s.wrong = &UnsampledError{fmt.Sprintf("sample.steps = %d: cannot be sampled: a kernel was simulated in no "+
			"super-step: expected a smaller number, or 0, which simulates everything", s.every)}
		return t, whole
	}
	counts = whole
	if e.Counts != nil {
		counts = e.Counts
	}
	for i, l := range s.later {
		*l = sim.Later{Cycles: uint64(math.Round(e.Cycles[i])), Half: e.Half[i], Estimated: e.Counts != nil}
		t.Cycles, t.Half = t.Cycles+l.Cycles, t.Half+l.Half
	}
	return t, counts
}

// settle ends a run that is sampled by super-step, and completes the records of its launches.
func (c *counted) settle(launched []compose.Launched) error {
	if c.steps == nil {
		return nil
	}
	c.end()
	for i := range launched {
		launched[i].Settle()
	}
	if total := c.times.Total(); c.steps.wrong == nil && c.cycleBound > 0 && total > c.cycleBound {
		return &AbandonedError{total}
	}
	return c.steps.wrong
}
