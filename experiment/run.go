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
	"heddle/sim"
	"heddle/sim/stats"
	"heddle/traces"
)

// Outcome is the result of a point.
type Outcome struct {
	Point    int
	Graph    string  // content hash; "": there was none
	Cycles   uint64  // launches, and the host's overhead for them
	Half     float64 // half the 95 % confidence interval of sampled cycles; 0: they are exact
	Stats    stats.Packed
	Steps    []store.Step // nil too of what a Book has stored
	Verified bool
	// what a result is called that nobody verifies: a replayed trace's, or Unchecked; "": it is verified
	Replay string
	// why it ended before it was done: PartialEdges, PartialRegion, max_iterations=N; "": it did not
	Partial  string
	Samples  *sim.Samples // of its intervals; nil: none, or in the store
	Seconds  float64      // of the host
	Building float64      // of these, for the layout's arrays; 0 of an earlier run's point, too
	Err      error
}

// Counts reports whether the point has a result to compare others with: a verified one, a replayed one, or that of a
// part of a run, as asked for.
func (o *Outcome) Counts() bool {
	return (o.Verified || o.Replay != "" || o.Partial != "") && o.Err == nil
}

// Observer is told how a run goes. Its methods are called from several goroutines.
type Observer interface {
	Started(point int, edges uint64) // that it will handle; 0: not known
	Running(point int, p sim.Progress)
	Finished(o Outcome)
}

// Monitor is shown the machines of points while they run.
type Monitor interface {
	Begin(ctx context.Context, point int, edges uint64, m *sim.Machine) Monitored
}

// Monitored is one of them. It is told by the goroutine that simulates.
type Monitored interface {
	Step(n int) // super-step n begins, from 1
	End(err error)
}

// Runner runs points.
type Runner struct {
	Points    []Point
	Done      map[int]Outcome         // points that are not run again
	Elsewhere map[int]bool            // points that are another process's to run
	Known     map[string]GraphSummary // their graphs, by content hash
	Jobs      int                     // points at the same time; 0: 1
	// host processors that simulate a point; 0: what the points at the same time leave
	Threads   int
	MaxCycles uint64 // of a point; 0: no limit
	// the same, for each point as it begins; nil: MaxCycles alone. What has more cycles is of no interest
	Abandon     func(point int) uint64
	Check       bool          // hold every message between units to the invariants; costs host time
	TimeLimit   time.Duration // of a point on the host; 0: no limit
	MemoryLimit uint64        // of the process, in bytes; 0: no limit
	Observer    Observer
	Watch       func(m *sim.Machine) error // is given the machine of each point before it runs; nil: nobody looks
	Monitor     Monitor                    // nil: none
	Checkpoints Checkpoints
	Brief       bool // outcomes that the observer has been given have no super-steps afterwards: it keeps them

	graphs graphCache
	memory memoryWatch
	active atomic.Int64  // points that run, or wait for one that does to end
	needs  map[int]*need // of points, as far as they have been vetted

	vetting *vetting // by which more points are vetted
}

// Run simulates all points, several at a time. It goes on when one fails; ctx ends it.
// Outcomes are in the order of the points; of points that were not begun they are zero, with an error.
// What ran out of memory beside others is run once more, alone.
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

// RunSome simulates those points alone, stored or not. Of others, outcomes are zero.
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
	jobs := atATime(r.Jobs, len(todo), resources.Processors())
	r.graphs.room = r.MemoryLimit / graphShare
	r.graphs.want(r.Points, todo)
	again := r.several(ctx, jobs, todo, outcomes)
	if jobs > 1 {
		r.graphs.want(r.Points, again)
		r.several(ctx, 1, again, outcomes)
	}
}

// manyJobs may run at the same time on any number of processors: more make nothing faster, and each takes memory.
const manyJobs = 64

// atATime is how many of so many points run at the same time.
func atATime(jobs, points, processors int) int {
	return max(1, min(jobs, points, max(processors, manyJobs)))
}

// graphShare is the part of a limited memory that graphs which no point works on may have.
const graphShare = 4

// several runs points, so many at a time, and returns those that ran out of memory. They
// are not told of as finished if others ran beside them, since they are not.
func (r *Runner) several(ctx context.Context, jobs int, todo []int, outcomes []Outcome) (again []int) {
	next := make(chan int)
	r.active.Store(int64(len(todo)))
	var wg sync.WaitGroup
	for range jobs {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range next {
				outcomes[i] = r.one(ctx, i)
				r.active.Add(-1)
				if jobs == 1 || Class(outcomes[i].Err) != OutOfMemory {
					r.Observer.Finished(outcomes[i])
				}
				outcomes[i].Samples = nil // the observer's, if it wanted them
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

// one runs a point within its limits. A mistake of ours in it does not take the others along.
func (r *Runner) one(ctx context.Context, i int) (o Outcome) {
	start := time.Now()
	defer func() {
		if p := recover(); p != nil {
			o.Err = &Crash{fmt.Sprint(p), debug.Stack()}
		}
		o.Point = i
		o.Seconds += time.Since(start).Seconds()
		o.Graph = r.graphs.hash(&r.Points[i].Config)
	}()
	if err := ctx.Err(); err != nil {
		return Outcome{Err: err}
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	flight := r.memory.begin(end)
	defer r.memory.end(flight)
	if r.TimeLimit > 0 {
		t := time.AfterFunc(r.TimeLimit, func() { end(&TimeLimitError{r.TimeLimit}) })
		defer t.Stop()
	}
	o = r.simulate(ctx, i)
	if Class(o.Err) == Interrupted {
		o.Err = context.Cause(ctx)
	}
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

// mostCycles is how many a point may have; 0: no limit.
func (r *Runner) mostCycles(i int) uint64 {
	if r.Abandon == nil {
		return r.MaxCycles
	}
	return LeastLimit(r.MaxCycles, r.Abandon(i))
}

// LeastLimit is the stricter of two limits, of which 0 is none.
func LeastLimit(a, b uint64) uint64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// options are those of a point's machine.
func (r *Runner) options(i int) sim.Options {
	cfg, most := &r.Points[i].Config, r.MaxCycles
	if !cfg.Sample.On() { // whose machine has cycles that are not the point's
		most = r.mostCycles(i)
	}
	return sim.Options{
		MaxCycles: most, Check: r.Check, Progress: func(p sim.Progress) { r.Observer.Running(i, p) },
		MaxEdges: cfg.Stop.MaxEdges, Sampling: sampling(cfg), Threads: r.threads(cfg.Machine.Sockets),
	}
}

// manySockets is from how many on threads pay by themselves: with fewer, too much of a cycle is waiting for each other.
const manySockets = 16

// threads returns how many processors simulate a point that begins now.
func (r *Runner) threads(sockets int) int {
	if r.Threads > 0 {
		return r.Threads
	}
	return share(resources.Processors(), r.Jobs, int(r.active.Load()), sockets)
}

// share returns how many processors a point may have when so many are left, so many of them at the same time.
func share(processors, jobs, points, sockets int) int {
	if sockets < manySockets {
		return 1
	}
	return max(1, processors/min(max(1, jobs), max(1, points)))
}

// watch gives a machine to who looks at it.
func (r *Runner) watch(m *sim.Machine) error {
	if r.Watch == nil {
		return nil
	}
	return r.Watch(m)
}

// monitor shows a machine while it runs, if somebody wants that.
func (r *Runner) monitor(ctx context.Context, i int, edges uint64, m *sim.Machine) Monitored {
	if r.Monitor == nil {
		return unmonitored{}
	}
	return r.Monitor.Begin(ctx, i, edges, m)
}

// unmonitored is a machine that nobody is shown.
type unmonitored struct{}

func (unmonitored) Step(int)  {}
func (unmonitored) End(error) {}

// execute runs the kernels of a point, and has them written down if somebody wants that.
func (r *Runner) execute(ctx context.Context, i int, g *graph.Graph, rec *traces.Recorder) (o Outcome) {
	config, err := r.forGraph(i, g)
	if err != nil {
		return Outcome{Err: err}
	}
	cfg, opt := &config, r.options(i)
	w := workOf(cfg, r.Points[i].programs).(hosted) // simulate and Record have seen to it
	edges := edgesToHandle(g, w, cfg)
	r.Observer.Started(i, edges)
	var keep *keeper
	var from *kept
	threads := opt.Threads
	if rec != nil {
		opt.Source = rec.Source
	} else if !cfg.Sample.On() { // what a sampled point has estimated is not in its machine
		if from, err = r.openCheckpoint(i, g.Hash()); err != nil {
			return Outcome{Err: err}
		}
		defer from.close()
		opt.Threads = from.threads(threads)
		keep = r.newKeeper(i, cfg, g, opt.Threads, from)
	}
	d, err := host.NewTimed(cfg.Machine, opt)
	if err != nil {
		return Outcome{Err: err}
	}
	from.limit(d.Machine, threads)
	defer func() { keep.over(o.Err) }()
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
		device = recorded{d, rec}
	}
	c := newCounted(device, d, cfg, w.untimed())
	c.shown, c.keeper = shown, keep
	if r.Abandon != nil && c.sample != nil {
		c.sample.most = r.mostCycles(i)
	}
	res, err := runWork(ctx, c, g, w, cfg.Region)
	c.end()
	res.times = c.times
	if rec != nil && err == nil {
		res.describe(&rec.Meta)
	}
	o = outcomeOf(&res, c.counts, d.Machine, &cfg.Sample, err)
	o.Seconds = keep.before()
	return o
}

// outcomeOf makes the outcome of a run that has ended with err.
func outcomeOf(res *result, counts stats.Tree, m *sim.Machine, sample *config.Sample, err error) Outcome {
	o := Outcome{
		Cycles: res.times.Total(), Half: res.times.Half, Verified: res.verified, Steps: res.booked,
		Samples: m.EndSamples(), Building: res.building,
	}
	if o.Partial, o.Err = partial(err); err == nil {
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

// checked refuses an outcome that says nothing, or breaks an invariant. That of a run which was ended in the middle of
// a launch adds up to nothing.
func checked(o *Outcome, res *result, m *sim.Machine, s *config.Sample) error {
	if err := measured(o, res); err != nil || o.Partial == PartialEdges {
		return err
	}
	err := errors.Join(narrow(o, s), CheckSteps(o.Stats.Tree(), o.Steps))
	if o.Partial != PartialRegion {
		err = errors.Join(m.CheckInvariants(), err)
	}
	return err
}

// forGraph is a point's configuration with what a recipe sets on the graph.
func (r *Runner) forGraph(i int, g *graph.Graph) (c config.Experiment, err error) {
	c = r.Points[i].Config
	c.Workload, err = compose.ForGraph(c.Workload, g)
	return c, err
}

// CheckSteps: what launches have come to adds up to what the whole run has.
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

// spent is the cycles of kernels of one kind, with half the 95 % confidence interval of what is estimated of it.
type spent struct {
	cycles uint64
	half   float64
}

func (s *spent) add(x *store.Step) { s.cycles, s.half = s.cycles+x.Cycles, s.half+x.Half }

func (s spent) stat(name, doc string) stats.Stat {
	c := stats.Count(name, "cycles", doc, s.cycles)
	c.Half = s.half
	return c
}

// ownKernel is the kind of kernel that a program of the user's own has. All others that are not named go through edges.
const ownKernel = "program"

// kernelKinds are the kinds of kernels whose cycles are told apart: kernel.KIND.cycles.
var kernelKinds = []struct{ kind, doc string }{
	{compose.KernelInit, "In the init kernel."},
	{compose.KernelGather, "In the gather kernels: the edges; those of the way back too (bc)."},
	{compose.KernelApply, "In the apply kernels: the vertices."},
	{compose.KernelSplit, "In the kernels that go through vertices which have waited: near-far's far pile, a bucket."},
	{compose.KernelSeed, "In the kernels that begin rounds (k-core)."},
	{compose.KernelCompact, "In the kernels that list the vertices which walk their rows (active sets qnb and rqnb)."},
	{compose.KernelTopology, "In the kernels of layouts that come before gathers: active vertices' virtual ones are listed, or what edges bring " +
		"is written beside them (gshard)."},
	{compose.KernelRegister, "In the kernels that put active vertices into the graph units' lists."},
	{compose.KernelLoop, "Between the kernels of a fused run (workload.fusion, or configKernelFusion of a GraphIt program's loop): one lane " +
		"exchanges the active set and decides what comes next, and the device waits."},
	{ownKernel, "In the kernels of a program of the user's own (workload.program)."},
}

// kindOf is the kind of a kernel.
func kindOf(kernel string) string {
	switch {
	case strings.HasPrefix(kernel, programKernel):
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

// statistics are the machine's, and the host's view of the same run.
func statistics(machine stats.Tree, res *result, partial string) stats.Tree {
	var all spent
	kinds := map[string]spent{}
	for i := range res.booked {
		s := &res.booked[i]
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
		spent{res.times.Total(), res.times.Half}.stat("cycles",
			"Of the whole run: device_cycles and launch.overhead_cycles."),
		spent{res.times.Cycles, res.times.Half}.stat("device_cycles",
			"From each launch to its last core's end, added up."),
		stats.Count("launch.count", "launches", "Kernels launched.", res.times.Launches),
		stats.Count("launch.overhead_cycles", "cycles", "What the host cost: launches × launch_overhead.",
			res.times.Overhead),
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
		if s.Name != "cycles" { // the machine's own: device_cycles
			t = append(t, s)
		}
	}
	return t.Final()
}

// RunStatistics lists what a run has beside its machine's statistics, without values.
func RunStatistics() stats.Tree {
	return statistics(nil, &result{software: withLeft(withSource(software(nil), 0), 0)}, "")
}
