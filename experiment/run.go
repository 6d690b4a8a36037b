package experiment

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"heddle/experiment/config"
	"heddle/experiment/store"
	"heddle/graph"
	"heddle/internal/resources"
	"heddle/kernels/compose"
	"heddle/kernels/host"
	"heddle/kernels/program"
	"heddle/sim"
	"heddle/sim/stats"
	"heddle/traces"
)

// Outcome is the result of a point, or of its failure.
type Outcome struct {
	Point int
	Graph string // content hash; "": the graph was not loaded
	// Numbering identifies the numbers that the graph's vertices were read with (graph.Graph.Numbering).
	Numbering string
	Cycles    uint64  // of the launches, with the host's overhead for them
	Half      float64 // half the 95 % confidence interval of sampled cycles; 0: they are exact
	Stats     stats.Packed
	Steps     []store.Step // launches by super-step; nil if only the store keeps them
	Verified  bool
	// Replay is the verdict on a result that is not verified: of a replayed trace, or Unchecked. "": it is verified.
	Replay string
	// Partial is the reason for an early end: PartialEdges, PartialRegion, max_iterations=N. "": the run was complete.
	Partial  string
	Samples  *sim.Samples // statistics over time; nil: none, or only in the store
	Seconds  float64      // of the host
	Building float64      // the part of Seconds that built the layout's arrays; not stored
	Err      error
}

// Counts reports whether the result can be compared: it is verified, replayed, or of the part of a run that was asked
// for.
func (o *Outcome) Counts() bool {
	return (o.Verified || o.Replay != "" || o.Partial != "") && o.Err == nil
}

// Observer receives the progress of a run. For each point that is simulated here, the Runner calls Started, Running any
// number of times, and Finished; a point that runs out of memory and is run again alone has a second Started before its
// only Finished. A point that fails before its machine is built has no Started. Methods are called concurrently.
type Observer interface {
	Started(point int, edges uint64) // edges it will handle; 0: unknown
	Running(point int, p sim.Progress)
	Finished(o Outcome)
}

// Monitor gives access to the machines of points while they run.
type Monitor interface {
	Begin(ctx context.Context, point int, edges uint64, m *sim.Machine) Monitored
}

// Monitored is a monitored machine. Its methods are called by the goroutine that simulates.
type Monitored interface {
	Step(n int) // super-step n begins, from 1
	End(err error)
}

// Runner runs the points of an experiment, each on a machine of its own.
//
// Order of calls: set the exported fields; Vet, which refuses points that cannot run and measures the memory of each;
// EstimateMemory, EstimateCost; OpenBook, which sets Done and Known; NewForecast, which reads Done; then Run.
// Checkpoints must be set before OpenBook, which checks the files; Observer, Watch, Monitor and Abandon before Run. A
// search adds points later: Grow, Book.Grow and RunSome for each batch. Fields must not change while points run.
type Runner struct {
	Points    []Point
	Done      map[int]Outcome         // points that are not run again
	Elsewhere map[int]bool            // points that another process runs
	Known     map[string]GraphSummary // graphs of points in Done, by content hash
	Recheck   map[int]Outcome         // known outcomes of points that are run all the same, and have to be the same
	Jobs      int                     // number of points that run concurrently; 0: 1
	// Threads is the number of processors that simulate a point; 0: a share of those that concurrent points leave.
	Threads   int
	MaxCycles uint64 // limit for each point; 0: none
	// Abandon returns a limit of the cycles that count (of a sampled point: and of the host), asked when the point
	// starts; nil: none. A search sets it to the cycles of its best point. Points that exceed it end with a failure of
	// the class Limit, the others as if there were none.
	Abandon     func(point int) uint64
	Check       bool          // check the invariants of every message between units, at a cost of host time
	TimeLimit   time.Duration // for each point on the host; 0: none
	MemoryLimit uint64        // of the process, in bytes; 0: none
	Observer    Observer
	Watch       func(m *sim.Machine) error // receives the machine of each point before it runs; may be nil
	Monitor     Monitor                    // nil: none
	Checkpoints Checkpoints
	Brief       bool // drop super-steps from outcomes once the observer has received them

	graphs graphCache
	memory memoryWatch
	active atomic.Int64  // points that are running or queued
	needs  map[int]*need // memory of the points that have been vetted

	vetting *vetting // shared between Vet and Grow
}

// Run simulates all points that are not done, Jobs at a time, and returns the outcomes of all points in order. The
// failure of a point does not stop the others; ctx does, and points that have not started then have an outcome with
// only an error. Points that ran out of memory beside others are run again alone.
func (r *Runner) Run(ctx context.Context) []Outcome {
	outcomes := make([]Outcome, len(r.Points))
	var todo []int
	for i := range r.Points {
		o, ok := r.Done[i]
		switch outcomes[i] = o; {
		case ok:
		case r.Elsewhere[i]:
			outcomes[i] = Outcome{Point: i, Err: ErrNotRun}
		default:
			todo = append(todo, i)
		}
	}
	r.run(ctx, todo, outcomes)
	return outcomes
}

// RunSome simulates the points of todo alone, whether they are done or not. Other outcomes are zero.
func (r *Runner) RunSome(ctx context.Context, todo []int) []Outcome {
	outcomes := make([]Outcome, len(r.Points))
	r.run(ctx, todo, outcomes)
	return outcomes
}

func (r *Runner) run(ctx context.Context, todo []int, outcomes []Outcome) {
	r.memory.limit, r.memory.used = r.MemoryLimit, processMemory
	watching, stop := context.WithCancel(ctx)
	defer stop()
	if r.MemoryLimit > 0 {
		go r.memory.watch(watching)
	}
	jobs := concurrentPoints(r.Jobs, len(todo), resources.Processors())
	r.graphs.room = r.MemoryLimit / graphShare
	r.graphs.want(r.Points, todo)
	again := r.runPoints(ctx, jobs, todo, outcomes)
	if jobs > 1 {
		r.graphs.want(r.Points, again)
		r.runPoints(ctx, 1, again, outcomes)
	}
}

// manyJobs bounds the points that run concurrently on fewer processors: more take memory and gain nothing.
const manyJobs = 64

// concurrentPoints returns the number of points that run concurrently.
func concurrentPoints(jobs, points, processors int) int {
	return max(1, min(jobs, points, max(processors, manyJobs)))
}

// graphShare is the divisor of the memory limit that gives the room for idle graphs.
const graphShare = 4

// runPoints runs points, jobs at a time, and returns those that ran out of memory. These are not reported as finished
// unless they ran alone, since they will run again.
func (r *Runner) runPoints(ctx context.Context, jobs int, todo []int, outcomes []Outcome) (again []int) {
	next := make(chan int)
	r.active.Store(int64(len(todo)))
	var wg sync.WaitGroup
	for range jobs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range next {
				outcomes[i] = r.runPoint(ctx, i)
				r.active.Add(-1)
				if jobs == 1 || Class(outcomes[i].Err) != OutOfMemory {
					r.Observer.Finished(outcomes[i])
				}
				outcomes[i].Samples = nil // the observer has stored them
				if r.Brief {
					outcomes[i].Steps = nil
				}
			}
		}()
	}
	for _, i := range todo {
		if ctx.Err() != nil {
			outcomes[i] = Outcome{Point: i, Err: ctx.Err()}
			continue
		}
		next <- i
	}
	close(next)
	wg.Wait()
	for _, i := range todo {
		if Class(outcomes[i].Err) == OutOfMemory {
			again = append(again, i)
		}
	}
	return again
}

// runPoint runs a point within its limits. A panic becomes the outcome of this point alone.
func (r *Runner) runPoint(ctx context.Context, i int) (o Outcome) {
	start := time.Now()
	defer func() {
		if p := recover(); p != nil {
			o.Err = &Crash{fmt.Sprint(p), debug.Stack()}
		}
		o.Point = i
		o.Seconds += time.Since(start).Seconds()
		d := r.graphs.loaded(&r.Points[i].Config)
		o.Graph, o.Numbering = d.hash, d.numbering
	}()
	if err := ctx.Err(); err != nil {
		return Outcome{Err: err}
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	running := r.memory.begin(end)
	defer r.memory.end(running)
	if r.TimeLimit > 0 {
		t := time.AfterFunc(r.TimeLimit, func() { end(&TimeLimitError{r.TimeLimit}) })
		defer t.Stop()
	}
	o = r.simulate(ctx, i)
	if Class(o.Err) == Interrupted {
		o.Err = context.Cause(ctx)
	}
	if known, ok := r.Recheck[i]; ok && o.Err == nil {
		o.Err = recheck(&known, &o)
	}
	o.Err = overtaken(&r.Points[i].Config, o.Err)
	return o
}

func (r *Runner) simulate(ctx context.Context, i int) (o Outcome) {
	cfg := &r.Points[i].Config
	if _, ok := r.Points[i].work().(hosted); !ok {
		return r.replay(ctx, i)
	}
	g, release, err := r.graphs.get(ctx, cfg.Graph)
	if err != nil {
		return Outcome{Err: err}
	}
	defer release()
	return r.execute(ctx, i, g, nil)
}

// LeastLimit returns the stricter of two limits, where 0 means none.
func LeastLimit(a, b uint64) uint64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// options returns the options of a point's machine.
func (r *Runner) options(i int) sim.Options {
	cfg := &r.Points[i].Config
	return sim.Options{
		MaxCycles: r.MaxCycles, Check: r.Check, Progress: func(p sim.Progress) { r.Observer.Running(i, p) },
		MaxEdges: cfg.Stop.MaxEdges, Sampling: sampling(cfg), Threads: r.threads(cfg.Machine.Sockets),
		Shared: cfg.Stats.Shared,
	}
}

// manySockets is the number of sockets from which threads pay by default. With fewer, threads mostly wait for each
// other.
const manySockets = 16

// threads returns the number of processors that simulate a point which starts now.
func (r *Runner) threads(sockets int) int {
	if r.Threads > 0 {
		return r.Threads
	}
	return share(resources.Processors(), r.Jobs, int(r.active.Load()), sockets)
}

// share returns the processors of a point when points are left, of which jobs run concurrently.
func share(processors, jobs, points, sockets int) int {
	if sockets < manySockets {
		return 1
	}
	return max(1, processors/min(max(1, jobs), max(1, points)))
}

// watch passes a machine to Watch.
func (r *Runner) watch(m *sim.Machine) error {
	if r.Watch == nil {
		return nil
	}
	return r.Watch(m)
}

// monitor passes a machine to Monitor.
func (r *Runner) monitor(ctx context.Context, i int, edges uint64, m *sim.Machine) Monitored {
	if r.Monitor == nil {
		return unmonitored{}
	}
	return r.Monitor.Begin(ctx, i, edges, m)
}

// unmonitored stands for a machine without a monitor.
type unmonitored struct{}

func (unmonitored) Step(int)  {}
func (unmonitored) End(error) {}

// execute runs the host program of a point on its graph. With a recorder, it writes a trace, and neither writes nor
// reads checkpoints.
func (r *Runner) execute(ctx context.Context, i int, g *graph.Graph, rec *traces.Recorder) (o Outcome) {
	config, err := r.forGraph(i, g)
	if err != nil {
		return Outcome{Err: err}
	}
	cfg, opt := &config, r.options(i)
	w := workOf(cfg, r.Points[i].programs).(hosted) // simulate and Record have checked that it is hosted
	edges := edgesToHandle(g, w, cfg) * uint64(1+cfg.Region.WarmRuns)
	r.Observer.Started(i, edges)
	var keep *checkpointer
	var from *openedCheckpoint
	threads := opt.Threads
	if rec != nil {
		opt.Source = rec.Source
	} else if !cfg.Sample.On() && cfg.Region.WarmRuns == 0 {
		// estimates of a sampled point are outside the machine, and would not be saved; nor would the number of the run
		if from, err = r.openCheckpoint(i, g.Hash()); err != nil {
			return Outcome{Err: err}
		}
		defer from.close()
		opt.Threads = from.threads(threads)
		keep = r.newCheckpointer(i, cfg, g, opt.Threads, from)
	}
	d, err := host.NewTimed(cfg.Machine, opt)
	if err != nil {
		return Outcome{Err: err}
	}
	defer d.Machine.Close() //nolint:errcheck // nothing is left to be lost
	from.limit(d.Machine, threads)
	defer func() { keep.ended(o.Err) }()
	if err := r.watch(d.Machine); err != nil {
		return Outcome{Err: err}
	}
	shown := r.monitor(ctx, i, edges, d.Machine)
	defer func() { shown.End(o.Err) }()
	var device host.Device = d
	if rec != nil {
		if err := rec.Attach(d.Machine); err != nil {
			return Outcome{Err: err}
		}
		device = recordingDevice{d, rec}
	}
	c := newCounted(device, d, cfg, w.functional())
	c.monitored, c.checkpointer, c.check = shown, keep, opt.Check
	if r.Abandon != nil {
		c.cycleBound = r.Abandon(i)
		if c.sample != nil { // whose cycles are estimates, and not the machine's
			c.cycleBound = LeastLimit(r.MaxCycles, c.cycleBound)
		}
	}
	res, err := runWork(ctx, c, g, w, cfg.Region)
	c.end()
	res.times = c.times
	if rec != nil && err == nil {
		res.describeRun(&rec.Meta)
	}
	o = outcomeOf(&res, c.counts, d.Machine, &cfg.Sample, err)
	o.Seconds = keep.secondsBefore()
	return o
}

// outcomeOf returns the outcome of a run that ended with err.
func outcomeOf(res *result, counts stats.Tree, m *sim.Machine, sample *config.Sample, err error) Outcome {
	o := Outcome{
		Cycles: res.times.Total(), Half: res.times.Half, Verified: res.verified, Steps: res.records,
		Samples: m.EndSamples(), Building: res.building,
	}
	if o.Partial, o.Err = partialEnd(err); err == nil {
		o.Partial = res.stopped
	}
	if res.unchecked {
		o.Replay = Unchecked
	}
	o.Stats = stats.Pack(statistics(counts, res, o.Partial))
	if o.Err == nil {
		o.Err = checked(&o, res, m, sample)
	}
	return o
}

// checked returns an error for an outcome without information, or one that breaks an invariant. The sums are not
// checked if stop.max_edges ended the run within a launch.
func checked(o *Outcome, res *result, m *sim.Machine, s *config.Sample) error {
	if err := checkCounted(o, res); err != nil || o.Partial == PartialEdges {
		return err
	}
	err := errors.Join(checkPrecision(o, s), CheckSteps(o.Stats.Tree(), o.Steps))
	if o.Partial != PartialRegion {
		err = errors.Join(m.CheckInvariants(), err)
	}
	return err
}

// forGraph returns a point's configuration with the recipe's choices for the graph.
func (r *Runner) forGraph(i int, g *graph.Graph) (c config.Experiment, err error) {
	c = r.Points[i].Config
	c.Workload, err = compose.ForGraph(c.Workload, g)
	return c, err
}

// CheckSteps returns an error unless the statistics of the launches add up to those of the run.
func CheckSteps(whole stats.Tree, steps []store.Step) error {
	sums := map[string]uint64{}
	for i := range steps {
		for _, s := range steps[i].Stats {
			n, _ := s.Uint()
			sums[s.Name] += n
		}
	}
	for _, s := range whole {
		n, counted := s.Uint()
		if sum, ok := sums[s.Name]; ok && counted && s.Name != mostVertices && sum != n {
			return &sim.BrokenInvariant{Place: "launches", Invariant: "they add up to the run",
				Detail: fmt.Sprintf("%s: %d, and together they have %d", s.Name, n, sum)}
		}
	}
	return nil
}

// kernelCycles sums the cycles of launches, and half their 95 % confidence intervals.
type kernelCycles struct {
	cycles uint64
	half   float64
}

func (s *kernelCycles) add(x *store.Step) { s.cycles, s.half = s.cycles+x.Cycles, s.half+x.Half }

func (s kernelCycles) stat(name, doc string) stats.Stat {
	c := stats.Count(name, "cycles", doc, s.cycles)
	c.Half = s.half
	return c
}

// ownKernel is the kind of the kernels of a user's program.
const ownKernel = "program"

// kernelKinds lists the kinds of kernels that have a statistic of their own, kernel.KIND.cycles.
var kernelKinds = []struct{ kind, doc string }{
	{compose.KernelInit, "In the init kernel."},
	{compose.KernelGather, "In the gather kernels: the edges; those of the way back too (bc)."},
	{compose.KernelApply, "In the apply kernels: the vertices."},
	{compose.KernelSplit, "In the kernels that go through vertices which have waited: near-far's far pile, a bucket."},
	{compose.KernelSeed, "In the kernels that begin rounds (k-core)."},
	{compose.KernelCompact, "In the kernels that list the vertices which walk their rows (active sets qnb and rqnb)."},
	{compose.KernelTopology, "In the kernels of layouts that come before gathers: active vertices' virtual ones are " +
		"listed, or the values that edges carry are written beside them (gshard)."},
	{compose.KernelRegister, "In the kernels that put active vertices into the graph units' lists."},
	{compose.KernelLoop, "Between the kernels of a fused run (workload.compiler.fusion, or configKernelFusion of a GraphIt " +
		"program's loop): one lane exchanges the frontier and chooses the next kernel, and the device waits."},
	{ownKernel, "In the kernels of a program of the user's own (workload.program)."},
}

// kindOf returns the kind of a kernel by its stored name. Names of no other kind are edge traversals.
func kindOf(kernel string) string {
	switch {
	case strings.HasPrefix(kernel, program.KernelPrefix):
		return ownKernel
	case strings.HasPrefix(kernel, graphItKernel), strings.HasPrefix(kernel, featureKernel):
		kernel = kernelOf(kernel)
	}
	for _, k := range kernelKinds {
		if k.kind == kernel {
			return kernel
		}
	}
	return compose.KernelGather
}

// statistics combines the machine's statistics with the host's view of the same run.
func statistics(machine stats.Tree, res *result, partial string) stats.Tree {
	var all kernelCycles
	kinds := map[string]kernelCycles{}
	for i := range res.records {
		s := &res.records[i]
		all.add(s)
		kind := kindOf(s.Kernel)
		sum := kinds[kind]
		sum.add(s)
		kinds[kind] = sum
	}
	unfinished := uint64(0)
	if partial == PartialEdges {
		unfinished = res.times.Cycles - min(res.times.Cycles, all.cycles)
	}
	t := stats.Tree{
		kernelCycles{res.times.Total(), res.times.Half}.stat("cycles",
			"Of the whole run: device_cycles and launch.overhead_cycles."),
		kernelCycles{res.times.Cycles, res.times.Half}.stat("device_cycles",
			"From each launch to its last core's end, added up."),
		stats.Count("launch.count", "launches", "Kernels launched.", res.times.Launches),
		stats.Count("launch.overhead_cycles", "cycles", "The host's cycles: launches × launch_overhead, and "+
			"super-steps × step_overhead.",
			res.times.Overhead),
		stats.Count("arrays.bytes", "bytes", "Device memory of the graph and of the program's arrays, without its code, "+
			"stacks and scratchpads. A GPU on which it does not fit cannot run the point.", res.arrayBytes()),
	}
	for _, k := range kernelKinds {
		t = append(t, kinds[k.kind].stat("kernel."+k.kind+".cycles", k.doc))
	}
	t = append(t,
		stats.Count("kernel.unfinished.cycles", "cycles",
			"In a kernel that stop.max_edges ended, and in others of its super-step.", unfinished),
		stats.Count("super_steps", "super-steps", "Done.", uint64(res.superSteps)),
	)
	t = append(t, res.software...)
	for _, s := range machine {
		if s.Name != "cycles" { // equal to device_cycles above
			t = append(t, s)
		}
	}
	return t.Final()
}

// RunStatistics lists the statistics that a run has beside those of its machine, without values.
func RunStatistics() stats.Tree {
	return statistics(nil, &result{software: withLeft(withSource(traversalStatistics(nil), 0), 0)}, "")
}
