package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"heddle/experiment/config"
	"heddle/experiment/store"
	"heddle/graph"
	"heddle/isa"
	"heddle/kernels/compose"
	"heddle/kernels/host"
	"heddle/kernels/reference"
	"heddle/kernels/workload"
	"heddle/sim"
	"heddle/sim/stats"
)

// work is the computation of a point, one implementation for each kind of workload: kinds differ nowhere else. A value
// is made from a configuration when it is needed; it reads the configuration and the points' programs, both of which
// may be shared.
//
// Order of calls: check when points are laid out, then limits; vetting calls graph and, for hosted work, rehearse; a
// run calls run. The other methods may be called at any time after check.
type work interface {
	// check refuses combinations that are invalid on every graph. It returns the SHA-256 of the program that the
	// configuration names; "": there is no program.
	check() (sha256 string, err error)
	// label names the resolved choices, without auto (Point.Kernel).
	label() string
	// identity returns the hash that check returned.
	identity() string
	// limits returns the features that this work does not support. An error is one of check's.
	limits() (limits, error)
	// graph returns how the work depends on the graph before it runs.
	graph() graphUse
	// superSteps estimates how often the work handles every edge of the graph.
	superSteps() uint64
	// costKey is equal for points whose measured costs apply to each other.
	costKey() string
	// stopsEarly reports whether max_iterations may stop the run before it is done.
	stopsEarly() bool
	// resolvesAuto reports whether auto selects among choices; recipes and programs have none.
	resolvesAuto() bool
	// began describes, for a notice, where a run began, and the key to change so that it reaches more.
	began(source uint64) (what, advice string)
	// lines returns the source lines of the instructions; nil: unknown.
	lines() *isa.Lines
	// notes returns notices about how the work is run.
	notes() []string
}

// hosted is work with a host program: all kinds but the replay of a trace, which has no graph in memory.
type hosted interface {
	work
	// edges returns the number of edges that a run on the graph handles; 0: not known in advance.
	edges(g *graph.Graph) uint64
	// rehearse does everything that a run does before its first launch, and returns the host memory that this takes.
	rehearse(ctx context.Context, v *vetting, d *host.Rehearsal, g *graph.Graph) (compose.Memory, error)
	// functional reports whether the work has launches that are not counted; the machine is prepared for them.
	functional() bool
	// run executes the work and checks its result. With an error, it returns the launches so far.
	run(ctx context.Context, d *counted, g *graph.Graph) (workResult, error)
}

// graphUse is the dependence of work on the graph before it runs.
type graphUse uint8

const (
	anyGraph  graphUse = iota // any graph decides as well as the point's own
	thisGraph                 // the point's graph decides whether it can run
	noGraph                   // the work has no graph
)

// limits holds, for each feature, why a workload does not support it, by the key to change; nil: supported.
type limits struct {
	region, sample, stop, record, export, tune error
}

// refused returns the limit that an experiment exceeds.
func (l *limits) refused(e *config.Experiment) error {
	switch {
	case l.region != nil && !e.Region.Whole():
		return l.region
	case l.stop != nil && e.Stop.MaxEdges > 0:
		return l.stop
	case l.sample != nil && e.Sample.On():
		return l.sample
	}
	return nil
}

// keyError returns the error for the value of a key.
func keyError(key, format string, args ...any) error {
	return &compose.KeyError{Key: key, Msg: fmt.Sprintf(format, args...)}
}

// kinds has a constructor for each kind of workload.
var kinds = [...]func(base) work{
	workload.KindComposed: func(b base) work { return composedWork{b} },
	workload.KindFeatures: func(b base) work { return featureWork{b} },
	workload.KindGraphIt:  func(b base) work { return graphItWork{b} },
	workload.KindProgram:  func(b base) work { return ownProgramWork{b} },
	workload.KindTrace:    func(b base) work { return traceReplay{b} },
}

// workOf returns the work of a configuration, which it keeps and does not change.
func workOf(e *config.Experiment, programs *programs) work {
	return kinds[e.Workload.Kind()](base{e, programs})
}

// work returns the work of the point.
func (p *Point) work() work { return workOf(&p.Config, p.programs) }

// checkWork refuses a workload that cannot run as the experiment asks, and records the hash of its program in e.
func checkWork(e *config.Experiment, programs *programs) error {
	if err := refuseForeign(&e.Workload); err != nil {
		return err
	}
	w := workOf(e, programs)
	sum, err := w.check()
	if err != nil {
		return err
	}
	if sum != "" {
		e.Workload.Host.SHA256 = sum
	}
	l, err := w.limits()
	if err != nil {
		return err
	}
	return l.refused(e)
}

// refuseForeign refuses keys of other kinds of workload. Beside a trace, the schema refuses every other key.
func refuseForeign(w *workload.Workload) error {
	switch w.Kind() {
	case workload.KindTrace, workload.KindGraphIt:
		return nil
	case workload.KindFeatures:
		return noGraphIt(w)
	}
	return errors.Join(noGraphIt(w), noFeatures(w))
}

// Exportable returns an error for experiments whose kernels cannot be exported as a program.
func Exportable(e *config.Experiment) error {
	l, _ := workOf(e, &programs{}).limits() // other errors are reported for its points
	return l.export
}

// Tunable returns an error for experiments that have no choices to search.
func Tunable(e *config.Experiment) error {
	l, _ := workOf(e, &programs{}).limits() // other errors are reported for its points
	return l.tune
}

// workNotes returns the notices about how points' work is run, each once.
func workNotes(points []Point) (notes []string) {
	for i := range points {
		for _, note := range points[i].work().notes() {
			if !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
	}
	return notes
}

// base implements the methods that most kinds share.
type base struct {
	e        *config.Experiment
	programs *programs
}

func (b base) workload() *workload.Workload { return &b.e.Workload }

func (base) identity() string   { return "" }
func (base) superSteps() uint64 { return 1 }
func (base) stopsEarly() bool   { return false }
func (base) resolvesAuto() bool { return false }
func (base) lines() *isa.Lines  { return nil }
func (base) notes() []string    { return nil }
func (base) functional() bool   { return false }
func (base) graph() graphUse    { return thisGraph }
func (b base) costKey() string {
	return b.workload().Kind().String() + " " + string(b.workload().Algorithm)
}
func (base) edges(*graph.Graph) uint64 { return 0 }

func (b base) began(source uint64) (what, advice string) {
	if b.workload().Source < 0 {
		what = fmt.Sprintf("the search from vertex %d, which was drawn,", source)
		return what, "another workload.algorithm.seed, or a workload.algorithm.source"
	}
	return fmt.Sprintf("the search from vertex %d", source), "another workload.algorithm.source"
}

// workResult is the raw outcome of a run, complete or up to an error.
type workResult struct {
	launched []compose.Launched
	prefix   string // of the names under which launches are recorded
	steps    int    // completed super-steps or traversals of edges
	// seen computes the host's statistics of traversals; nil: none.
	seen     func(traversals []compose.Step) stats.Tree
	source   uint32 // the source vertex, numbered as in the graph that was read; 0 also without one
	left     int    // vertices still active when max_iterations ended the run
	layout   []graph.Region
	building float64 // seconds of the host for the layout's arrays

	verified  bool
	unchecked bool // there is no expected result
}

// result is the outcome of a run, with the part of it that is in the region.
type result struct {
	workResult
	region     config.Region
	times      host.Times   // of the region
	superSteps int          // in the region
	records    []store.Step // of the init kernel and of the super-steps
	software   stats.Tree   // the host's statistics of the super-steps
	stopped    string       // the reason if max_iterations stopped the run with vertices active; empty: it was complete
}

// arrayBytes returns the size of the run's arrays.
func (r *workResult) arrayBytes() (sum uint64) {
	for _, a := range r.layout {
		sum += a.Size
	}
	return sum
}

// runWork runs a point's work, and records the launches in the region.
func runWork(ctx context.Context, d *counted, g *graph.Graph, w hosted, region config.Region) (result, error) {
	d.steps.expect(w.edges(g) >= uint64(max(1, g.Edges())))
	for range region.WarmRuns {
		if _, err := w.run(ctx, d, g); err != nil {
			return result{region: region}, err
		}
	}
	if region.WarmRuns > 0 {
		d.beginRun()
	}
	done, err := w.run(ctx, d, g)
	if wrong := d.settle(done.launched); err == nil {
		err = wrong
	}
	r := result{workResult: done, region: region}
	r.book()
	if w.stopsEarly() {
		r.software = withLeft(r.software, r.left)
		r.stopped = stopped(r.software, r.steps)
	}
	if (errors.Is(err, reference.ErrWrong) || errors.As(err, new(*reference.RangeError))) && g.Renumbered() {
		err = fmt.Errorf("%w (vertices have the numbers that graph.clean.compact_ids and graph.reorder have given "+
			"them)",
			err)
	}
	return r, err
}

// book records the launches in the region. The host's statistics of a traversal belong to its first launch.
func (r *result) book() {
	var counted []compose.Step
	last := compose.InitStep
	for i := range r.launched {
		l := &r.launched[i]
		if !inRegion(r.region, l.Step) {
			continue
		}
		var seen stats.Tree
		if l.Traversal != nil && r.seen != nil {
			seen = r.seen([]compose.Step{*l.Traversal})
		}
		r.step(l.Step, r.prefix+l.Kernel, &l.Result, seen...)
		if l.Traversal == nil {
			continue
		}
		counted = append(counted, *l.Traversal)
		if l.Step > last { // launches are in the order of their steps
			last, r.superSteps = l.Step, r.superSteps+1
		}
	}
	if r.seen != nil {
		r.software = withSource(r.seen(counted), r.source)
	}
}

// step records a launch of super-step n if the region has it.
func (r *result) step(n int, kernel string, s *sim.Result, more ...stats.Stat) {
	if inRegion(r.region, n) {
		r.records = append(r.records, store.Step{
			Step: n, Kernel: kernel, Cycles: s.Cycles, Half: s.Half, Stats: append(s.Statistics(), more...).Final(),
		})
	}
}
