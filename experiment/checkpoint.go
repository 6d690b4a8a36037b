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

// Checkpoints configures the checkpoints from which a point that was killed resumes.
//
// Life of a checkpoint: a run takes the census of its state in counted.Resume, before its first launch, and loads the
// file of an earlier run into it if there is one. counted.Keep writes a file between two super-steps once Every has
// passed; each replaces the one before. It is deleted when the point has ended for good; a point that was
// interrupted, or met a limit, keeps it.
type Checkpoints struct {
	Dir string // directory of the files; "": no checkpoints
	// Every is the host time after which the next start of a super-step writes a checkpoint; 0: none are written.
	Every  time.Duration
	Binary func() string                  // hash of this executable: a state can be loaded by the same build only
	Say    func(point int, notice string) // shows a notice to the user; may be nil
	Log    func(point int, notice string) // records a notice in the log alone; may be nil
}

// CheckpointDir is the directory of checkpoints within a results directory.
const CheckpointDir = "checkpoints"

// checkpointPath returns the path of a point's checkpoint. Its name follows from the configuration, so that it is the
// point's wherever the experiment has it.
func (r *Runner) checkpointPath(point int) string {
	return filepath.Join(r.Checkpoints.Dir, fmt.Sprintf("point-%.12x.checkpoint", r.Points[point].Digest()))
}

// notify calls f, which may be nil, with a formatted notice.
func notify(f func(int, string), point int, format string, args ...any) {
	if f != nil {
		f(point, fmt.Sprintf(format, args...))
	}
}

// removeCheckpoint deletes the checkpoint of a point that has ended.
func (r *Runner) removeCheckpoint(point int) error {
	c := &r.Checkpoints
	if c.Dir == "" {
		return nil
	}
	if err := os.Remove(r.checkpointPath(point)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	os.Remove(c.Dir) //nolint:errcheck // it is not empty while other points have checkpoints
	return nil
}

// Tidy deletes the incomplete files of a program that was killed. No other process may be writing to the directory.
func (c *Checkpoints) Tidy() {
	left, _ := filepath.Glob(filepath.Join(c.Dir, ".tmp-*")) // the pattern is well-formed
	for _, name := range left {
		os.Remove(name) //nolint:errcheck // a leftover only takes space
	}
}

// Clear deletes the checkpoints of all points.
func (c *Checkpoints) Clear() error {
	files, _ := filepath.Glob(filepath.Join(c.Dir, "*.checkpoint"))
	c.Tidy()
	for _, name := range files {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	os.Remove(c.Dir) //nolint:errcheck // it may not exist, or hold files of others
	return nil
}

// checkpointHeader identifies the run that a checkpoint belongs to, and records how far it had come.
type checkpointHeader struct {
	Binary  string
	Config  string // configuration of the point, as YAML
	Graph   string // content hash
	Step    int    // the next super-step
	Cycle   uint64
	Edges   uint64
	Seconds float64 // of the host, over all runs of the point
	Check   bool    // whether the machine accounts for every message (Runner.Check)
	Threads int     // number of threads that the machine was assembled for
}

// ForeignError reports a checkpoint of another program, configuration or graph.
type ForeignError struct {
	Path        string
	Differences []string
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s is a checkpoint of something else:\n  %s\nGo on with what it was written by, or remove the "+
		"file (--fresh removes all), and the point begins anew",
		e.Path, strings.Join(e.Differences, "\n  "))
}

// VetCheckpoints returns an error if a checkpoint of a point that is to run is damaged or belongs to another program or
// configuration. It deletes the checkpoints of points that have ended.
func (r *Runner) VetCheckpoints() error {
	r.Checkpoints.Tidy()
	for i := range r.Points {
		if _, done := r.Done[i]; done {
			if err := r.removeCheckpoint(i); err != nil {
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

// openedCheckpoint is a checkpoint from which a point resumes. A nil pointer stands for a run from the start.
type openedCheckpoint struct {
	checkpointHeader
	file *checkpoint.File
}

func (k *openedCheckpoint) close() {
	if k != nil {
		k.file.Close() //nolint:errcheck // read only
	}
}

// openCheckpoint opens the checkpoint of a point; nil if there is none. With graph "" the graph is not compared.
func (r *Runner) openCheckpoint(i int, graph string) (*openedCheckpoint, error) {
	if r.Checkpoints.Dir == "" {
		return nil, nil
	}
	path := r.checkpointPath(i)
	f, err := checkpoint.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	k := &openedCheckpoint{file: f}
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

// foreign lists the reasons for which a checkpoint does not belong to a point.
func (r *Runner) foreign(k *openedCheckpoint, i int, graph string) []string {
	var d differences
	if k.Binary != r.Checkpoints.Binary() {
		d.add("the program: another build of heddle has written it")
	}
	if err := d.config(k.Config, r.Points[i].YAML()); err != nil {
		d.add("%v", err)
	}
	if graph != "" && graph != k.Graph {
		d.add("the graph: sha256 %s, now %s", k.Graph, graph)
	}
	if k.Check != r.Check {
		d.add("--check: %v, now %v", k.Check, r.Check)
	}
	return d
}

// layouts excludes everything that is not state of a run: its constant inputs, and derived values that the resumed run
// recomputes. Hooks only observe.
var layouts = checkpoint.NewLayouts(checkpoint.Rules{
	Opaque: []reflect.Type{
		reflect.TypeFor[graph.Graph](), reflect.TypeFor[graph.Image](), reflect.TypeFor[ir.Kernel](),
		reflect.TypeFor[isa.Program](),
		reflect.TypeFor[compose.Plan](), reflect.TypeFor[compose.Compiled](),
	},
	// A launch decodes its instructions again, and checkpoints are written between launches.
	Forgotten: []reflect.Type{reflect.TypeFor[emu.Op]()},
	Assembled: map[reflect.Type][]string{
		reflect.TypeFor[akita.HookableBase](): {"Hooks", "hookList"},
		reflect.TypeFor[akita.SerialEngine](): {"simulationEndHandlers"},
	},
})

// checkpointer writes the checkpoints of one point's run, and loads the one that it resumes from. A nil pointer does
// neither.
type checkpointer struct {
	*Checkpoints
	path           string           // of the file
	header         checkpointHeader // of the next checkpoint
	point          int
	from           *openedCheckpoint  // the checkpoint to resume from; nil: none
	census         *checkpoint.Census // nil: the state cannot be saved
	unkept         bool               // reported that there are none
	lastWrite      time.Time          // time of the last write, at first of the start
	started        time.Time
	earlierSeconds float64           // host seconds of earlier runs of this point
	lastHeader     *checkpointHeader // header of the file on disk; nil: no file

	observer Observer
}

// runState is the root from which the census reaches the whole state of a run.
type runState struct {
	counted *counted
	program any
}

// newCheckpointer returns the checkpointer of a run; nil if it neither writes checkpoints nor resumes.
func (r *Runner) newCheckpointer(i int, cfg *config.Experiment, g *graph.Graph, threads int,
	from *openedCheckpoint) *checkpointer {
	if r.Checkpoints.Dir == "" || r.Checkpoints.Every == 0 && from == nil {
		return nil
	}
	h := checkpointHeader{Config: r.Points[i].YAML(), Graph: g.Hash(), Check: r.Check, Threads: threads}
	k := &checkpointer{Checkpoints: &r.Checkpoints, path: r.checkpointPath(i), header: h, point: i, from: from,
		started:  time.Now(),
		observer: r.Observer}
	k.lastWrite = k.started
	return k
}

// Resume takes the census of the run's state, and overwrites it with that of a checkpoint if the point resumes. The
// host program calls it once, before its first launch, when all of its state has been allocated.
func (c *counted) Resume(program any) (resumed bool, err error) {
	k := c.checkpointer
	if k == nil {
		return false, nil
	}
	k.census, err = checkpoint.NewCensus(&runState{c, program}, layouts)
	if k.from == nil {
		if err != nil {
			notify(k.Say, k.point, "warning: no checkpoints: %v", err)
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
	k.earlierSeconds = k.from.Seconds
	if o, ok := k.observer.(Resumer); ok {
		o.Resumed(k.point, time.Duration(k.earlierSeconds*float64(time.Second)))
	}
	notify(k.Say, k.point, "goes on from super-step %d, %s in", k.from.Step, roughDuration(k.earlierSeconds))
	k.lastHeader = &k.from.checkpointHeader
	return true, nil
}

// Keeping reports whether the run writes checkpoints, or resumes from one.
func (c *counted) Keeping() bool { return c.checkpointer != nil }

// Unkept reports, once, that a checkpoint is due and why there are none.
func (c *counted) Unkept(why string) {
	k := c.checkpointer
	if k == nil || k.unkept || k.Every == 0 || time.Since(k.lastWrite) < k.Every {
		return
	}
	k.unkept = true
	notify(k.Say, k.point, "warning: no checkpoints: %s", why)
}

// Keep writes a checkpoint before super-step step, if one is due. The run continues if that fails.
func (c *counted) Keep(step int) {
	k := c.checkpointer
	if k == nil || k.census == nil || k.Every == 0 || time.Since(k.lastWrite) < k.Every {
		return
	}
	p := c.machine.Progress()
	k.header.Step, k.header.Cycle, k.header.Edges = step, p.Cycle, p.Edges
	k.header.Seconds = k.earlierSeconds + time.Since(k.started).Seconds()
	begin := time.Now()
	if size, err := k.write(); err != nil {
		notify(k.Say, k.point, "warning: no checkpoint at super-step %d: %v", step, err)
	} else {
		last := k.header
		k.lastHeader = &last
		notify(k.Log, k.point, "checkpoint at super-step %d, %s in: %s in %.1f s", step,
			roughDuration(k.header.Seconds),
			Bytes(uint64(size)), time.Since(begin).Seconds())
	}
	k.lastWrite = time.Now()
}

// ended tells the user where a point resumes that ended prematurely.
func (k *checkpointer) ended(err error) {
	if k != nil && k.lastHeader != nil && !Final(Class(err)) {
		notify(k.Say, k.point, "the same command goes on from super-step %d, %s in", k.lastHeader.Step,
			roughDuration(k.lastHeader.Seconds))
	}
}

func (k *checkpointer) write() (size int64, err error) {
	if err := os.MkdirAll(k.Dir, 0o755); err != nil {
		return 0, err
	}
	k.header.Binary = k.Binary()
	return checkpoint.Write(k.path, &k.header, k.census)
}

// secondsBefore returns the host seconds that earlier runs spent on the point.
func (k *checkpointer) secondsBefore() float64 {
	if k == nil {
		return 0
	}
	return k.earlierSeconds
}

// Resumer is implemented by observers that distinguish resumed points.
type Resumer interface {
	// Resumed follows Started, with the host time that earlier runs of the point took.
	Resumed(point int, before time.Duration)
}

// roughDuration formats seconds in the unit that suits their magnitude.
func roughDuration(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < time.Minute:
		return d.Round(time.Second).String()
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}

// threads returns the number of threads to assemble the machine for: a resumed machine keeps its partition.
func (k *openedCheckpoint) threads(now int) int {
	if k == nil {
		return now
	}
	return cmp.Or(k.Threads, 1)
}

// limit caps the worker threads at the number that is asked for now, which may be lower than before.
func (k *openedCheckpoint) limit(m *sim.Machine, threads int) {
	if k != nil {
		m.System.LimitWorkers(max(1, threads))
	}
}
