package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	akita "github.com/sarchlab/akita/v3/sim"

	"heddle/experiment/checkpoint"
	"heddle/experiment/config"
	"heddle/graph"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/kernels/compose"
	"heddle/kernels/ir"
	"heddle/sim"
)

// Checkpoints say where and how often points write down how far they are, so that one that is killed goes on from
// there.
type Checkpoints struct {
	Dir string // of their files; "": none
	// host time between those of a point, which are at beginnings of super-steps; 0: none
	Every  time.Duration
	Binary func() string                  // tells this program from all others: a state is of one program
	Say    func(point int, notice string) // tells the user; nil: nobody
	Log    func(point int, notice string) // keeps what need not be told; nil: nobody
}

// CheckpointDir is the directory of checkpoints in an experiment's.
const CheckpointDir = "checkpoints"

// path is a point's file.
func (c *Checkpoints) path(point int) string {
	return filepath.Join(c.Dir, fmt.Sprintf("point-%d.checkpoint", point+1))
}

// told tells f of something.
func told(f func(int, string), point int, format string, args ...any) {
	if f != nil {
		f(point, fmt.Sprintf(format, args...))
	}
}

// Remove removes a point's file: it has ended.
func (c *Checkpoints) Remove(point int) error {
	if c.Dir == "" {
		return nil
	}
	if err := os.Remove(c.path(point)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	os.Remove(c.Dir) //nolint:errcheck // others may have theirs there
	return nil
}

// Tidy removes what a program that was killed has left half written. Nobody else may write in the directory.
func (c *Checkpoints) Tidy() {
	left, _ := filepath.Glob(filepath.Join(c.Dir, ".tmp-*")) // the pattern is right
	for _, name := range left {
		os.Remove(name) //nolint:errcheck // it only takes room
	}
}

// Clear removes all.
func (c *Checkpoints) Clear() error {
	files, _ := filepath.Glob(filepath.Join(c.Dir, "*.checkpoint"))
	c.Tidy()
	for _, name := range files {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	os.Remove(c.Dir) //nolint:errcheck // it may not be there, or hold what is not ours
	return nil
}

// checkpointHeader says of what a checkpoint is, and how far its point was.
type checkpointHeader struct {
	Binary  string
	Config  string // the point's, as YAML
	Graph   string // content hash
	Step    int    // the super-step that comes
	Cycle   uint64
	Edges   uint64
	Seconds float64 // of the host
	Check   bool    // the machine keeps books of messages
	Threads int     // for which the machine was assembled
}

// ForeignError is a checkpoint of something else.
type ForeignError struct {
	Path        string
	Differences []string
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s is a checkpoint of something else:\n  %s\nGo on with what it was written by, or remove the file (--fresh removes all), and the point begins anew",
		e.Path, strings.Join(e.Differences, "\n  "))
}

// VetCheckpoints refuses checkpoints of points that are to run if they are not of this program and these
// configurations, or not whole. Those of points that have ended are removed.
func (r *Runner) VetCheckpoints() error {
	r.Checkpoints.Tidy()
	for i := range r.Points {
		if _, done := r.Done[i]; done {
			if err := r.Checkpoints.Remove(i); err != nil {
				return err
			}
			continue
		}
		f, err := r.openCheckpoint(i, "")
		if err != nil {
			return err
		}
		if f != nil {
			f.close()
		}
	}
	return nil
}

// kept is a checkpoint that a point goes on from.
type kept struct {
	checkpointHeader
	file *checkpoint.File
}

func (k *kept) close() {
	if k != nil {
		k.file.Close() //nolint:errcheck // read only
	}
}

// openCheckpoint opens that of a point, if there is one. Without a graph's hash it may be of any graph.
func (r *Runner) openCheckpoint(i int, graph string) (*kept, error) {
	if r.Checkpoints.Dir == "" {
		return nil, nil
	}
	path := r.Checkpoints.path(i)
	f, err := checkpoint.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	k := &kept{file: f}
	if err := f.Header(&k.checkpointHeader); err != nil {
		k.close()
		return nil, err
	}
	if foreign := r.foreign(k, i, graph); len(foreign) > 0 {
		k.close()
		return nil, &ForeignError{path, foreign}
	}
	return k, nil
}

// foreign lists why a checkpoint is not a point's.
func (r *Runner) foreign(k *kept, i int, graph string) []string {
	var d ChangedError
	if k.Binary != r.Checkpoints.Binary() {
		d.add("the program: another build of heddle has written it")
	}
	if err := d.config("", k.Config, r.Points[i].YAML()); err != nil {
		d.add("%v", err)
	}
	if graph != "" && graph != k.Graph {
		d.add("the graph: sha256 %s, now %s", k.Graph, graph)
	}
	if k.Check != r.Check {
		d.add("--check: %v, now %v", k.Check, r.Check)
	}
	return d.Differences
}

// rules exclude what is not state of a run: constants that it is made of, and what is prepared again. Hooks only look
// on.
var layouts = checkpoint.NewLayouts(checkpoint.Rules{
	Opaque: []reflect.Type{
		reflect.TypeFor[graph.Graph](), reflect.TypeFor[graph.Image](), reflect.TypeFor[ir.Kernel](),
		reflect.TypeFor[isa.Program](),
		reflect.TypeFor[compose.Plan](), reflect.TypeFor[compose.Compiled](),
	},
	// Instructions are decoded again at a launch; between two of them none is under way.
	Forgotten: []reflect.Type{reflect.TypeFor[emu.Op]()},
	Assembled: map[reflect.Type][]string{
		reflect.TypeFor[akita.HookableBase](): {"Hooks", "hookList"},
		reflect.TypeFor[akita.SerialEngine](): {"simulationEndHandlers"},
	},
})

// keeper keeps the state of one point's run.
type keeper struct {
	*Checkpoints
	header checkpointHeader // of the next checkpoint
	point  int
	from   *kept              // what it goes on from; nil: nothing
	census *checkpoint.Census // nil: there can be none
	since  time.Time          // when the last one was written, or the point begun
	begun  time.Time
	spent  float64           // seconds of the host before that
	last   *checkpointHeader // of the checkpoint that there is; nil: none

	observer Observer
}

// state is all that a run has.
type state struct {
	counted *counted
	program any
}

// newKeeper makes what keeps a point; nil: nothing does.
func (r *Runner) newKeeper(i int, cfg *config.Experiment, g *graph.Graph, threads int, from *kept) *keeper {
	if r.Checkpoints.Dir == "" || r.Checkpoints.Every == 0 && from == nil {
		return nil
	}
	h := checkpointHeader{Config: r.Points[i].YAML(), Graph: g.Hash(), Check: r.Check, Threads: threads}
	k := &keeper{Checkpoints: &r.Checkpoints, header: h, point: i, from: from, begun: time.Now(), observer: r.Observer}
	k.since = k.begun
	return k
}

// Resume takes the census of the run, and gives it the state that it goes on from.
func (c *counted) Resume(program any) (resumed bool, err error) {
	k := c.keeper
	if k == nil {
		return false, nil
	}
	k.census, err = checkpoint.NewCensus(&state{c, program}, layouts)
	if k.from == nil {
		if err != nil {
			told(k.Say, k.point, "warning: no checkpoints: %v", err)
		}
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("checkpoints: %w", err)
	}
	defer k.from.close()
	if err := k.from.file.Load(k.census); err != nil {
		return false, err
	}
	k.spent = k.from.Seconds
	if o, ok := k.observer.(Resumer); ok {
		o.Resumed(k.point, time.Duration(k.spent*float64(time.Second)))
	}
	told(k.Say, k.point, "goes on from super-step %d, %s in", k.from.Step, span(k.spent))
	k.last = &k.from.checkpointHeader
	return true, nil
}

// Keep writes the state down, if it is time. Who cannot write goes on.
func (c *counted) Keep(step int) {
	k := c.keeper
	if k == nil || k.census == nil || k.Every == 0 || time.Since(k.since) < k.Every {
		return
	}
	p := c.machine.Progress()
	k.header.Step, k.header.Cycle, k.header.Edges = step, p.Cycle, p.Edges
	k.header.Seconds = k.spent + time.Since(k.begun).Seconds()
	begin := time.Now()
	if size, err := k.write(); err != nil {
		told(k.Say, k.point, "warning: no checkpoint at super-step %d: %v", step, err)
	} else {
		last := k.header
		k.last = &last
		told(k.Log, k.point, "checkpoint at super-step %d, %s in: %s in %.1f s", step, span(k.header.Seconds),
			Bytes(uint64(size)), time.Since(begin).Seconds())
	}
	k.since = time.Now()
}

// over tells the user of a point that has ended before its time where it will go on.
func (k *keeper) over(err error) {
	if k != nil && k.last != nil && !Final(Class(err)) {
		told(k.Say, k.point, "the same command goes on from super-step %d, %s in", k.last.Step, span(k.last.Seconds))
	}
}

func (k *keeper) write() (size int64, err error) {
	if err := os.MkdirAll(k.Dir, 0o755); err != nil {
		return 0, err
	}
	k.header.Binary = k.Binary()
	return checkpoint.Write(k.path(k.point), &k.header, k.census)
}

// before are the seconds that the host had spent on the point before it went on.
func (k *keeper) before() float64 {
	if k == nil {
		return 0
	}
	return k.spent
}

// Resumer is an observer that wants to know of points that go on.
type Resumer interface {
	// Resumed comes behind Started: the point has taken that time already.
	Resumed(point int, before time.Duration)
}

// span is a time for people.
func span(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < time.Minute:
		return d.Round(time.Second).String()
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}

// threadsOf is for how many threads a point's machine is assembled: one that goes on keeps its parts.
func (k *kept) threads(now int) int {
	if k == nil {
		return now
	}
	return cmp.Or(k.Threads, 1)
}

// limit has no more threads tick the machine than are asked for now.
func (k *kept) limit(m *sim.Machine, threads int) {
	if k != nil {
		m.System.LimitWorkers(max(1, threads))
	}
}
