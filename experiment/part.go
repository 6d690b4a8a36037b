package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"heddle/configs"
	"heddle/experiment/config"
	"heddle/isa"
	"heddle/kernels/host"
	"heddle/sim"
	"heddle/sim/sampled"
	"heddle/sim/stats"
)

// Why a run ended before it was done.
const (
	PartialEdges  = "max_edges"
	PartialRegion = "region"
	// partialSteps begins the reason of a run that max_iterations has stopped while vertices were active; the number of
	// super-steps follows. Its result is verified, as far as it has come.
	partialSteps = "max_iterations="
)

// leftName is the statistic of a run that max_iterations may stop before it is done.
const leftName = "frontier.left"

// withLeft adds how many vertices are active where max_iterations has ended a run.
func withLeft(t stats.Tree, left int) stats.Tree {
	return append(t, stats.Count(leftName, "vertices",
		"Active when workload.max_iterations ended the run; all, where the "+
			"active set does not tell; 0: the run was over. There only with max_iterations, of algorithms that end by themselves.",
		uint64(left)))
}

// stopped is the reason of a run that has been stopped after so many super-steps, by its statistics; empty: it was not.
func stopped(t stats.Tree, steps int) string {
	if left, ok := t.Get(leftName); !ok || left.Float() == 0 {
		return ""
	}
	return fmt.Sprint(partialSteps, steps)
}

// errRegionEnds ends a run behind its region.
var errRegionEnds = errors.New("the region has ended")

// partial tells an end that was asked for from a failure.
func partial(err error) (why string, failure error) {
	switch {
	case errors.As(err, new(*sim.EdgeLimitError)):
		return PartialEdges, nil
	case errors.Is(err, errRegionEnds):
		return PartialRegion, nil
	}
	return "", err
}

// sampling is the configured sampling; nil: none.
func sampling(e *config.Experiment) *sim.Sampling {
	if e.Stats.Interval == 0 {
		return nil
	}
	return &sim.Sampling{Interval: e.Stats.Interval, Keys: e.Stats.Keys, MaxRows: e.Stats.MaxRows}
}

// inside reports whether a super-step, from 1, is of a region; initStep is the init kernel.
func inside(r config.Region, n int) bool { return n >= r.From && (r.To == 0 || n <= r.To) }

// counted is a machine of whose run a region counts. What lies outside the region is executed without time, which
// leaves caches, row buffers and graph units warm, or simulated like the region.
type counted struct {
	host.Device
	machine  *sim.Machine
	region   config.Region
	overhead uint64
	shown    Monitored     `checkpoint:"assembled"`
	untimed  func(on bool) // for what lies outside the region
	keeper   *keeper       `checkpoint:"assembled"` // nil: nobody keeps the run's state

	check func(ctx context.Context, p *isa.Program, arg uint32) error // executes a launch that counts nowhere

	sample *sample `checkpoint:"assembled"` // nil: everything is simulated; what is sampled has no checkpoints

	begun, ended bool
	times        host.Times // of the region
	before       stats.Tree // nil: it begins with the machine
	counts       stats.Tree // of the region, when it has ended
}

func newCounted(device host.Device, d *host.Timed, e *config.Experiment, untimed bool) *counted {
	c := &counted{
		Device: device, machine: d.Machine, region: e.Region, overhead: uint64(e.Workload.LaunchOverhead),
		untimed: func(bool) {}, check: d.LaunchUntimed,
	}
	if untimed {
		d.Machine.PrepareUntimed()
	}
	if c.region.Outside == config.Untimed && !c.region.Whole() {
		c.untimed = d.SetUntimed
		d.Machine.PrepareUntimed()
	}
	if a := alternation(e); a != nil {
		d.SetAlternation(a)
		c.sample = &sample{last: d.Sampled}
	}
	c.untimed(true)
	if c.region.From == 0 {
		c.begin()
	}
	return c
}

// alternation is an experiment's sampling on its machine; nil: nothing is sampled.
func alternation(e *config.Experiment) *sim.Alternation {
	if !e.Sample.On() {
		return nil
	}
	m := &e.Machine
	warps := uint64(m.Sockets * m.CoresPerSocket * m.Core.Warps)
	of := func(n int) uint64 { return uint64(n) * warps }
	return &sim.Alternation{Begin: of(e.Sample.Begin), Period: of(e.Sample.Period), Warm: of(e.Sample.WarmUp),
		Measure: of(e.Sample.Interval)}
}

func (c *counted) begin() {
	c.begun = true
	c.untimed(false)
	if c.region.From > 0 {
		c.before = c.machine.Statistics()
	}
	c.machine.BeginSamples()
}

// end ends the region, if it has not.
func (c *counted) end() {
	if c.ended {
		return
	}
	c.ended, c.counts = true, c.machine.Statistics()
	if c.before != nil {
		c.counts = c.counts.Since(c.before)
	}
	if c.sample != nil {
		c.counts = c.sample.totals
	}
	c.machine.EndSamples()
	c.untimed(true)
}

// BeginStep begins and ends the region.
func (c *counted) BeginStep(n int) error {
	c.shown.Step(n)
	if !c.begun && n == c.region.From {
		c.begin()
	}
	if c.region.To == 0 || n <= c.region.To {
		return nil
	}
	c.end()
	if !c.region.Verify {
		return errRegionEnds
	}
	return nil
}

// Frontier tells the machine the active set of a super-step.
func (c *counted) Frontier(n int, vertices, edges uint64) {
	host.Frontier(c.Device, n, vertices, edges)
}

// Launch runs a program, and books it in the region.
func (c *counted) Launch(ctx context.Context, p *isa.Program, arg uint32) (sim.Result, error) {
	r, err := c.Device.Launch(ctx, p, arg)
	if c.begun && !c.ended {
		if c.sample != nil && err == nil {
			c.sample.estimate(p, &r)
		}
		c.times.Add(r, c.overhead)
		if c.sample != nil && err == nil && c.sample.most > 0 && c.times.Total() > c.sample.most {
			err = &AbandonedError{c.times.Total()}
		}
	}
	return r, err
}

// LaunchParts runs a program, and books its parts. All of a run that is one launch counts.
func (c *counted) LaunchParts(ctx context.Context, p *isa.Program, arg uint32, ended func(sim.Part) error) (sim.Result,
	error) {
	parted, ok := c.Device.(host.Parted)
	if !ok {
		return sim.Result{}, errors.New("workload.fusion: loop, or configKernelFusion: this device does not tell when a kernel has ended within a launch: expected none")
	}
	rest, err := parted.LaunchParts(ctx, p, arg, func(part sim.Part) error {
		c.times.Cycles += part.Cycles
		return ended(part)
	})
	c.times.Add(rest, c.overhead)
	return rest, err
}

// LaunchUntimed executes a program without time, behind the end of what counts.
func (c *counted) LaunchUntimed(ctx context.Context, p *isa.Program, arg uint32) error {
	return c.check(ctx, p, arg)
}

// sample is the state of a sampled run.
type sample struct {
	last      func() *sim.Sampled // launch
	most      uint64              // cycles that are of interest; 0: all
	estimates sampled.Estimator
	totals    stats.Tree // of all launches
}

// estimate says what a launch of which parts were simulated comes to.
func (s *sample) estimate(p *isa.Program, r *sim.Result) {
	e := s.estimates.Launch(p, s.last())
	r.Cycles, r.Half, r.Sampled = uint64(math.Round(e.Cycles)), e.Half, true
	if s.totals == nil {
		s.totals = e.Counts
		return
	}
	for i := range s.totals {
		s.totals[i] = s.totals[i].Plus(e.Counts[i])
	}
}

// tooWide is how wide half a confidence interval may be, as a part of the cycles: beyond, the estimate says too little.
const tooWide = 0.3

// narrow refuses an estimate that says too little.
func narrow(o *Outcome, s *config.Sample) error {
	if o.Half <= tooWide*float64(o.Cycles) {
		return nil
	}
	return fmt.Errorf("sample.period = %d: cycles are known to ±%.0f %% only, since launches are too short to have more intervals: expected a smaller period, or 0, which simulates everything",
		s.Period, 100*o.Half/float64(o.Cycles))
}

// measured refuses a run of which nothing was counted.
func measured(o *Outcome, res *result) error {
	switch from := res.region.From; {
	case from > 0 && res.superSteps == 0:
		return fmt.Errorf("region.from = %d: the run was over after %d super-steps, so nothing was counted", from,
			res.steps)
	case o.Cycles == 0:
		return errors.New("no cycle was counted: nothing was launched")
	}
	return nil
}

// Part says which part of a run counts, and where it ends; empty: all of it.
func Part(e *config.Experiment) string {
	var parts []string
	r := e.Region
	switch {
	case r.Whole():
	case r.To == 0:
		parts = append(parts, fmt.Sprintf("cycles and statistics are of super-step %d and those behind it", r.From))
	case r.From == 0:
		parts = append(parts, fmt.Sprintf("cycles and statistics are of the init kernel and super-steps up to %d",
			r.To))
	default:
		parts = append(parts, fmt.Sprintf("cycles and statistics are of super-steps %d to %d", r.From, r.To))
	}
	if !r.Verify {
		parts = append(parts, "the run ends there, so its result is partial, and not verified")
	}
	if n := e.Stop.MaxEdges; n > 0 {
		parts = append(parts, fmt.Sprintf("a run ends after %s edges; its result is partial then, and not verified",
			Thousands(n)))
	}
	if n := e.Workload.Iterations; workOf(e, nil).stopsEarly() {
		parts = append(parts, fmt.Sprintf("a run ends after %s super-steps, done or not; its result is verified as far as it has "+
			"come by then", Thousands(uint64(n))))
	}
	return strings.Join(parts, "; ")
}

// CheckSampling refuses keys of samples that a point's machine does not have.
func CheckSampling(points []Point) error {
	seen := map[string]bool{}
	for i := range points {
		e, place := &points[i].Config, points[i].Place
		if e.Stats.Interval == 0 || len(place) > 0 && place[len(place)-1] > 0 { // another seed is no other machine
			continue
		}
		key := string(configs.Schema.YAML(e.Machine))
		if seen[key] {
			continue
		}
		seen[key] = true
		if _, err := sim.New(e.Machine, sim.Options{Sampling: sampling(e)}); err != nil {
			return fmt.Errorf("at the point %s: stats.keys: %w", Label(points[i].Axes), err)
		}
	}
	return nil
}

// Coarse are the points that had too many intervals for what was asked.
type Coarse struct {
	points         int
	asked, longest uint64
	rows           int
}

// Add looks at a point that has ended.
func (c *Coarse) Add(p *Point, o *Outcome) {
	if o.Samples == nil || o.Samples.Interval == p.Config.Stats.Interval {
		return
	}
	c.points++
	c.asked, c.rows, c.longest = p.Config.Stats.Interval, p.Config.Stats.MaxRows, max(c.longest, o.Samples.Interval)
}

// Text is a warning, if there were any.
func (c *Coarse) Text() string {
	if c.points == 0 {
		return ""
	}
	return fmt.Sprintf(
		"stats.interval = %d: %d points would have had stats.max_rows = %d intervals or more; theirs are up to %s cycles",
		c.asked, c.points, c.rows, Thousands(c.longest))
}
