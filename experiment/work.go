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

// work is what a point's workload asks for, by its kind: the one place in which kinds differ. It is made of a
// configuration when it is needed, and reads that and the programs of the points, both of which may be shared.
//
// The order of calls: check, when points are laid out, then limits; what vets points asks for graph and, of a hosted
// one, rehearse; a run calls run. The others may be called at any time after check.
type work interface {
	// check refuses what does not go together, as far as no graph decides it. It returns the SHA-256 of the program
	// that the configuration names; "": the configuration says all.
	check() (sha256 string, err error)
	// label names what the choices come to, auto replaced: Point.Kernel.
	label() string
	// identity is what check returned.
	identity() string
	// limits are what cannot be done with it. An error is one of check's.
	limits() (limits, error)
	// graph is what of the graph it depends on.
	graph() graphUse
	// superSteps is about how often it handles every edge of the graph.
	superSteps() uint64
	// costKey is the same for points whose measured costs apply to each other.
	costKey() string
	// stopsEarly reports whether max_iterations may stop the run before it is done.
	stopsEarly() bool
	// resolvesAuto reports whether auto has chosen among choices: no recipe and no program has.
	resolvesAuto() bool
	// began is where a run began, and what to change so that it reaches more, in a notice.
	began(source uint64) (what, advice string)
	// lines are those of the source of its instructions; nil: none are known.
	lines() *isa.Lines
	// notes are notices about how it is run.
	notes() []string
}

// hosted is work with a host program: all but the replay of a trace, which has no graph in memory and launches itself.
type hosted interface {
	work
	// edges is how many a run on the graph handles; 0: not known before.
	edges(g *graph.Graph) uint64
	// rehearse does what a run does before its first launch, and returns the memory of the host that takes.
	rehearse(ctx context.Context, v *vetting, d *host.Rehearsal, g *graph.Graph) (compose.Memory, error)
	// untimed reports whether it launches what counts nowhere, for which the machine is prepared.
	untimed() bool
	// run computes it, and compares the result with what is right. With an error it returns what was done so far.
	run(ctx context.Context, d *counted, g *graph.Graph) (ran, error)
}

// graphUse is what of a graph some work depends on before it runs.
type graphUse uint8

const (
	anyGraph  graphUse = iota // whether it can run does not depend on the graph: a stand-in will do
	thisGraph                 // it does
	noGraph                   // there is none
)

// limits say why something cannot be done with a workload, by the key to change; nil: it can.
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

// keyError refuses a key.
func keyError(key, format string, args ...any) error {
	return &compose.KeyError{Key: key, Msg: fmt.Sprintf(format, args...)}
}

// kinds of work, by the kind of workload.
var kinds = [...]func(base) work{
	workload.KindComposed:    func(b base) work { return composed{b} },
	workload.KindHandwritten: func(b base) work { return handwritten{b} },
	workload.KindFeatures:    func(b base) work { return featuring{b} },
	workload.KindGraphIt:     func(b base) work { return graphItWork{b} },
	workload.KindProgram:     func(b base) work { return ownProgram{b} },
	workload.KindTrace:       func(b base) work { return replayed{b} },
}

// workOf is a configuration's. It keeps e, and changes nothing.
func workOf(e *config.Experiment, programs *programs) work {
	return kinds[e.Workload.Kind()](base{e, programs})
}

// work is a point's.
func (p *Point) work() work { return workOf(&p.Config, p.programs) }

// checkWork refuses a workload that cannot run, or not as the experiment wants it, and writes down which program it is.
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

// refuseForeign refuses keys that belong to other kinds of workload. Beside a trace the schema refuses all.
func refuseForeign(w *workload.Workload) error {
	switch kind := w.Kind(); kind {
	case workload.KindTrace, workload.KindGraphIt:
		return nil
	case workload.KindFeatures:
		return noGraphIt(w)
	case workload.KindProgram:
		if w.Kernel != workload.Compiled {
			return keyError("workload.kernel",
				" = %s: there is no such kernel beside workload.program %s, which brings its own: "+
					"expected compiled, the default", w.Kernel, w.Program)
		}
	}
	return errors.Join(noGraphIt(w), noFeatures(w))
}

// Exportable refuses experiments whose kernels are no program that could be exported.
func Exportable(e *config.Experiment) error {
	l, _ := workOf(e, &programs{}).limits() // what is wrong beside that, its points are refused for
	return l.export
}

// Tunable refuses experiments that have no choices to search.
func Tunable(e *config.Experiment) error {
	l, _ := workOf(e, &programs{}).limits() // what is wrong beside that, its points are refused for
	return l.tune
}

// workNotes are the notices about how points' work is run, each once.
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

// base is what most kinds have in common.
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
func (base) untimed() bool      { return false }
func (base) graph() graphUse    { return thisGraph }
func (b base) costKey() string {
	return b.workload().Kind().String() + " " + string(b.workload().Algorithm)
}
func (base) edges(*graph.Graph) uint64 { return 0 }

func (b base) began(source uint64) (what, advice string) {
	if b.workload().Source < 0 {
		what = fmt.Sprintf("the search from vertex %d, which was drawn,", source)
		return what, "another workload.seed, or a workload.source"
	}
	return fmt.Sprintf("the search from vertex %d", source), "another workload.source"
}

// ran is what a run has come to.
type ran struct {
	launched []compose.Launched
	prefix   string // of the names by which launches are booked
	steps    int    // super-steps, or traversals of edges, that were done
	// seen is what the host saw of traversals, of one or of all; nil: nothing.
	seen     func(traversals []compose.Step) stats.Tree
	source   uint32 // where it began, by its number in the graph as it was read; 0 too if it has none
	left     int    // vertices that are active where max_iterations has ended it
	layout   []graph.Region
	building float64 // seconds of the host for the layout's arrays

	verified  bool
	unchecked bool // nothing says what is right
}

// result is what a run has come to of which a region counts.
type result struct {
	ran
	region     config.Region
	times      host.Times   // of the region
	superSteps int          // in the region
	booked     []store.Step // its init kernel, and its super-steps'
	software   stats.Tree   // what the host saw of the super-steps
	stopped    string       // by max_iterations, with vertices active; empty: it was over
}

// runWork runs a point's work, and books what is of the region.
func runWork(ctx context.Context, d *counted, g *graph.Graph, w hosted, region config.Region) (result, error) {
	did, err := w.run(ctx, d, g)
	r := result{ran: did, region: region}
	r.book()
	if w.stopsEarly() {
		r.software = withLeft(r.software, r.left)
		r.stopped = stopped(r.software, r.steps)
	}
	if (errors.Is(err, reference.ErrWrong) || errors.As(err, new(*reference.RangeError))) && g.Renumbered() {
		err = fmt.Errorf("%w (vertices have the numbers that graph.clean.compact_ids and graph.reorder have given them)",
			err)
	}
	return r, err
}

// book books the launches that are of the region. What the host saw of a traversal stands with its first launch.
func (r *result) book() {
	var counted []compose.Step
	last := compose.InitStep
	for i := range r.launched {
		l := &r.launched[i]
		if !inside(r.region, l.Step) {
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

// step books a kernel of a super-step, if it is of the region.
func (r *result) step(n int, kernel string, s *sim.Result, more ...stats.Stat) {
	if inside(r.region, n) {
		r.booked = append(r.booked, store.Step{
			Step: n, Kernel: kernel, Cycles: s.Cycles, Half: s.Half, Stats: append(s.Statistics(), more...).Final(),
		})
	}
}
