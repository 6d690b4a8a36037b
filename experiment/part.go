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

// Reasons for which a run ended early (Outcome.Partial).
const (
	PartialEdges  = "max_edges"
	PartialRegion = "region"
	// partialSteps is followed by the number of super-steps after which max_iterations stopped a run with vertices
	// still active. Its result is verified against a reference that is stopped likewise.
	partialSteps = "max_iterations="
)

// leftName is the statistic of a run that max_iterations may stop before it is done.
const leftName = "frontier.left"

// withLeft appends the number of vertices still active when max_iterations ended a run.
func withLeft(t stats.Tree, left int) stats.Tree {
	return append(t, stats.Count(leftName, "vertices",
		"Active when workload.max_iterations ended the run; all vertices, for active sets without a size; 0: the "+
			"run was complete. Present only with max_iterations, for algorithms that end by themselves.",
		uint64(left)))
}

// stopped returns the reason of a run that max_iterations stopped after steps super-steps; empty: it was complete.
func stopped(t stats.Tree, steps int) string {
	if left, ok := t.Get(leftName); !ok || left.Float() == 0 {
		return ""
	}
	return fmt.Sprint(partialSteps, steps)
}

// errRegionEnds ends a run after its region, which is not a failure.
var errRegionEnds = errors.New("the region has ended")

// partialEnd separates an early end that was asked for from a failure.
func partialEnd(err error) (why string, failure error) {
	switch {
	case errors.As(err, new(*sim.EdgeLimitError)):
		return PartialEdges, nil
	case errors.Is(err, errRegionEnds):
		return PartialRegion, nil
	}
	return "", err
}

// sampling returns the configured sampling of statistics over time; nil: none.
func sampling(e *config.Experiment) *sim.Sampling {
	if e.Stats.Interval == 0 {
		return nil
	}
	return &sim.Sampling{Interval: e.Stats.Interval, Keys: e.Stats.Keys, MaxRows: e.Stats.MaxRows}
}

// inRegion reports whether super-step n is in the region; compose.InitStep stands for the init kernel.
func inRegion(r config.Region, n int) bool { return n >= r.From && (r.To == 0 || n <= r.To) }

// counted is the device of a run, of which the launches inside the region are counted. Outside the region, launches are
// executed functionally, which keeps caches, row buffers and graph units warm, or simulated like the region.
//
// The region begins with the machine or in BeginStep(From), and ends in BeginStep(To+1) or, at the latest, in end,
// which the runner calls after the work; times and counts are final then.
type counted struct {
	host.Device
	machine      *sim.Machine
	region       config.Region
	overhead     uint64
	stepOverhead uint64
	monitored    Monitored     `checkpoint:"assembled"`
	functional   func(on bool) // switches functional execution outside the region
	checkpointer *checkpointer `checkpoint:"assembled"` // nil: no checkpoints

	launchFunctional func(ctx context.Context, p *isa.Program, arg uint32) error // executes a launch that is not counted

	sample *sampledRun   `checkpoint:"assembled"` // nil: every launch is simulated; a sampled run has no checkpoints
	steps  *sampledSteps `checkpoint:"assembled"` // nil: not by super-step; as sample

	check  bool         `checkpoint:"assembled"` // accesses of a user's program are checked
	bounds *boundsCheck `checkpoint:"assembled"` // nil: they are not

	cycleBound uint64 `checkpoint:"assembled"` // beyond which the run is abandoned; 0: none

	warming      bool // a run before the one that counts
	begun, ended bool
	step         int        // the super-step that has begun
	stepped      bool       // it has launched nothing
	times        host.Times // of the region
	statsBefore  stats.Tree // statistics when the region began; nil: it began with the machine
	counts       stats.Tree // statistics of the region, set by end
}

func newCounted(device host.Device, d *host.Timed, e *config.Experiment, functional bool) *counted {
	c := &counted{
		Device: device, machine: d.Machine, region: e.Region, overhead: uint64(e.Workload.LaunchOverhead),
		stepOverhead: uint64(e.Workload.StepOverhead),
		functional:   func(bool) {}, launchFunctional: d.LaunchFunctional,
	}
	if functional {
		d.Machine.PrepareFunctional()
	}
	if c.region.Outside == config.Functional && !c.region.Whole() {
		c.functional = d.SetFunctional
		d.Machine.PrepareFunctional()
	}
	if a := alternation(e); a != nil {
		d.SetAlternation(a)
		c.sample = &sampledRun{lastLaunch: d.Sampled}
	}
	if e.Sample.Steps > 0 {
		c.steps = newSampledSteps(d, e)
	}
	c.functional(true)
	if c.warming = c.region.WarmRuns > 0; !c.warming {
		c.beginRun()
	}
	return c
}

// beginRun begins the run that counts, and with it a region without a first super-step.
func (c *counted) beginRun() {
	if c.warming = false; c.region.From == 0 {
		c.begin()
	}
}

// alternation converts the experiment's sampling from instructions of a warp to instructions of the whole machine; nil:
// no sampling.
func alternation(e *config.Experiment) *sim.Alternation {
	if e.Sample.Period == 0 {
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
	c.functional(false)
	if c.region.From > 0 || c.region.WarmRuns > 0 {
		c.statsBefore = c.machine.Statistics()
	}
	c.machine.BeginSamples()
}

// end ends the region unless it has ended, or the run is not the one that counts.
func (c *counted) end() {
	if c.ended || c.warming {
		return
	}
	c.ended, c.counts = true, c.machine.Statistics()
	if c.statsBefore != nil {
		c.counts = c.counts.Since(c.statsBefore)
	}
	if c.sample != nil {
		c.counts = c.sample.totals
	}
	if c.steps != nil {
		var t host.Times
		t, c.counts = c.steps.settle(c.counts)
		c.times.Cycles, c.times.Half = t.Cycles, t.Half
	}
	c.machine.EndSamples()
	c.functional(true)
}

// BeginStep begins or ends the region at the start of super-step n.
func (c *counted) BeginStep(n int) error {
	c.monitored.Step(n)
	if c.warming {
		return nil
	}
	if n != c.step {
		c.step, c.stepped = n, true
	}
	if !c.begun && n == c.region.From {
		c.begin()
	}
	if c.steps != nil {
		c.steps.begin()
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

// Frontier passes the size of the active set to the machine.
func (c *counted) Frontier(n int, vertices, edges uint64) {
	host.Frontier(c.Device, n, vertices, edges)
	if c.steps != nil {
		c.steps.frontier(vertices, edges)
	}
}

// Launch runs a program, and counts it if the region is open.
func (c *counted) Launch(ctx context.Context, p *isa.Program, arg uint32) (sim.Result, error) {
	if c.steps != nil && c.begun && !c.ended {
		r, err := c.steps.launch(ctx, p, arg)
		c.count(r)
		return r, err
	}
	bounded := c.boundLaunch()
	r, err := c.Device.Launch(ctx, p, arg)
	if c.begun && !c.ended {
		if c.sample != nil && err == nil {
			c.sample.estimate(p, &r)
		}
		c.count(r)
		if c.sample != nil && err == nil && c.cycleBound > 0 && c.times.Total() > c.cycleBound {
			err = &AbandonedError{c.times.Total()}
		}
		err = c.abandoned(bounded, err)
	}
	if out := c.bounds.err(); out != nil && ctx.Err() == nil { // other errors may be its consequences
		err = out
	}
	return r, err
}

// count counts a launch by the host, and with the first of a super-step what the host does between super-steps.
func (c *counted) count(r sim.Result) {
	c.times.Add(r, c.overhead)
	if c.stepped {
		c.stepped = false
		c.times.Overhead += c.stepOverhead
	}
}

// boundLaunch makes the next launch end when it exceeds the rest of the run's bound, if it counts. A sampled launch is
// compared with the bound when it has been estimated.
func (c *counted) boundLaunch() bool {
	if c.cycleBound == 0 || c.sample != nil || c.steps != nil {
		return false
	}
	if !c.begun || c.ended {
		c.machine.Bound(0)
		return false
	}
	c.machine.Bound(max(1, c.cycleBound-min(c.cycleBound, c.times.Cycles)))
	return true
}

// abandoned returns the error of a launch, which is an *AbandonedError if it has exceeded the run's bound: then that
// many cycles count.
func (c *counted) abandoned(bounded bool, err error) error {
	if !bounded || !errors.As(err, new(*sim.BoundError)) {
		return err
	}
	c.times.Cycles = max(c.times.Cycles, c.cycleBound)
	return &AbandonedError{c.times.Total()}
}

// LaunchParts runs a program and counts its parts. A run that is one launch has no region, so everything counts.
func (c *counted) LaunchParts(ctx context.Context, p *isa.Program, arg uint32, ended func(sim.Part) error) (sim.Result,
	error) {
	parted, ok := c.Device.(host.Parted)
	if !ok {
		return sim.Result{}, errors.New("workload.compiler.fusion: loop, or configKernelFusion: this device does not " +
			"report " +
			"when a kernel has ended within a launch: expected none")
	}
	bounded := c.boundLaunch()
	rest, err := parted.LaunchParts(ctx, p, arg, func(part sim.Part) error {
		c.times.Cycles += part.Cycles
		return ended(part)
	})
	c.times.Add(rest, c.overhead)
	return rest, c.abandoned(bounded, err)
}

// LaunchFunctional executes a program functionally, after the region has ended.
func (c *counted) LaunchFunctional(ctx context.Context, p *isa.Program, arg uint32) error {
	return c.launchFunctional(ctx, p, arg)
}

// sampledRun estimates the launches of a sampled run.
type sampledRun struct {
	lastLaunch func() *sim.Sampled // the intervals of the last launch
	estimates  sampled.Estimator
	totals     stats.Tree // estimates, summed over launches
}

// estimate replaces the cycles of a launch, of which only intervals were simulated, by an estimate.
func (s *sampledRun) estimate(p *isa.Program, r *sim.Result) {
	e := s.estimates.Launch(p, s.lastLaunch())
	r.Cycles, r.Half, r.Sampled = uint64(math.Round(e.Cycles)), e.Half, true
	if s.totals == nil {
		s.totals = e.Counts
		return
	}
	for i := range s.totals {
		s.totals[i] = s.totals[i].Plus(e.Counts[i])
	}
}

// Bounds of half a confidence interval relative to the cycles; a wider one makes the estimate useless. By super-step it
// is smaller: a run whose left-out steps may do other work than in time is refused unless it leaves out little.
const (
	maxRelativeError = 0.3
	maxStepsError    = 0.15
)

// checkPrecision returns an error for an estimate that is too imprecise.
func checkPrecision(o *Outcome, s *config.Sample) error {
	most := maxRelativeError
	if s.Steps > 0 {
		most = maxStepsError
	}
	if o.Half <= most*float64(o.Cycles) {
		return nil
	}
	known := fmt.Sprintf("cycles are known to ±%.0f %% only", 100*o.Half/float64(o.Cycles))
	if s.Steps > 0 {
		return &UnsampledError{fmt.Sprintf("sample.steps = %d: cannot be sampled: %s, since super-steps are unlike "+
			"those that were simulated: expected a smaller number, or 0, which simulates everything", s.Steps, known)}
	}
	return &UnsampledError{fmt.Sprintf("sample.period = %d: cannot be sampled: %s, since launches are too short to have "+
		"more intervals, or do in them what intervals do not show: expected a smaller period, or 0, which simulates "+
		"everything", s.Period, known)}
}

// UnsampledError is the end of a sampled run that tells too little of its cycles.
type UnsampledError struct{ text string }

func (e *UnsampledError) Error() string { return e.text }

// checkCounted returns an error for a run of which nothing was counted.
func checkCounted(o *Outcome, res *result) error {
	switch from := res.region.From; {
	case from > 0 && res.superSteps == 0:
		return fmt.Errorf("region.from = %d: the run was over after %d super-steps, so nothing was counted", from,
			res.steps)
	case o.Cycles == 0:
		return errors.New("no cycle was counted: nothing was launched")
	}
	return nil
}

// Part describes which part of a run is counted and where the run ends; empty: all of it.
func Part(e *config.Experiment) string {
	var parts []string
	r := e.Region
	switch {
	case r.From == 0 && r.To == 0:
	case r.To == 0:
		parts = append(parts, fmt.Sprintf("cycles and statistics are of super-step %d and those behind it", r.From))
	case r.From == 0:
		parts = append(parts, fmt.Sprintf("cycles and statistics are of the init kernel and super-steps up to %d",
			r.To))
	default:
		parts = append(parts, fmt.Sprintf("cycles and statistics are of super-steps %d to %d", r.From, r.To))
	}
	if n := r.WarmRuns; n > 0 {
		parts = append(parts, fmt.Sprintf("%d run(s) before it have warmed the caches", n))
	}
	if !r.Verify {
		parts = append(parts, "the run ends there, so its result is partial, and not verified")
	}
	if n := e.Stop.MaxEdges; n > 0 {
		parts = append(parts, fmt.Sprintf("a run ends after %s edges; its result is partial then, and not verified",
			Thousands(n)))
	}
	if n := e.Workload.Iterations; workOf(e, nil).stopsEarly() {
		parts = append(parts, fmt.Sprintf("a run ends after %s super-steps, done or not; its result is verified as "+
			"far as it has come by then", Thousands(uint64(n))))
	}
	return strings.Join(parts, "; ")
}

// CheckSampling returns an error if stats.keys names statistics that a point's machine does not have.
func CheckSampling(points []Point) error {
	seen := map[string]bool{}
	for i := range points {
		e, coords := &points[i].Config, points[i].Coordinates
		if e.Stats.Interval == 0 || len(coords) > 0 &&
			coords[len(coords)-1] > 0 { // other seeds have the same machine
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

// Coarse collects the points whose intervals had to be longer than stats.interval.
type Coarse struct {
	points         int
	asked, longest uint64
	rows           int
}

// Add takes a point that has ended into account.
func (c *Coarse) Add(p *Point, o *Outcome) {
	if o.Samples == nil || o.Samples.Interval == p.Config.Stats.Interval {
		return
	}
	c.points++
	c.asked, c.rows, c.longest = p.Config.Stats.Interval, p.Config.Stats.MaxRows, max(c.longest, o.Samples.Interval)
}

// Text returns a warning; "" without such points.
func (c *Coarse) Text() string {
	if c.points == 0 {
		return ""
	}
	return fmt.Sprintf(
		"stats.interval = %d: %d points would have had stats.max_rows = %d intervals or more; theirs are up to %s "+
			"cycles",
		c.asked, c.points, c.rows, Thousands(c.longest))
}

// UseCores makes coming launches use the first cores only; for machines of Swarm tiles.
func (c *counted) UseCores(n int) error { return c.machine.UseCores(n) }
