package experiment

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"heddle/experiment/checkpoint"
	"heddle/experiment/config"
	"heddle/experiment/store"
)

// Ledger is the store of a running experiment. It holds the lock of the results directory, and identifies points by
// all that determines their results, so that a result is found wherever it was simulated, and whatever form the
// experiment had then.
type Ledger struct {
	runner  *Runner
	version string
	model   string
	store   *store.Store
	lock    *os.File
	known   *Known
	stored  map[int]Outcome // outcomes stored before it was opened, or copied from other stores

	generated map[string]bool // graphs whose content it has stored, by specOf
}

// LedgerOptions configure the opening of a ledger.
type LedgerOptions struct {
	Version string // of the program
	Model   string // of the parts that determine results, as version.Model
	Fresh   bool   // an existing store is renamed, and no results are looked for
	Search  Search
}

// OpenLedger opens or creates the store in a results directory and makes it that of the experiment: results of its
// points are given their positions, also those of an earlier form of the experiment, and copied from other stores;
// points that the experiment does not have are put aside, and stay stored. It fails if another process has the store
// open.
func OpenLedger(dir string, e config.Experiment, r *Runner, o LedgerOptions) (*Ledger, error) {
	lock, err := acquire(filepath.Join(dir, store.LockFile))
	if err != nil {
		return nil, err
	}
	l := &Ledger{runner: r, version: o.Version, model: o.Model, lock: lock, known: &Known{},
		stored: map[int]Outcome{}, generated: map[string]bool{}}
	if err := l.open(dir, e, &o); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// recordOf returns a store's record of an experiment. It leaves out keys on which no result depends.
func recordOf(e config.Experiment, version, model string, points int) store.Experiment {
	e.Run, e.Report = config.Host{}, config.Report{}
	return store.Experiment{Name: e.Name, Version: version, Model: model, Config: string(config.Schema.Canonical(e)),
		Points: points}
}

func (l *Ledger) open(dir string, e config.Experiment, o *LedgerOptions) (err error) {
	path := filepath.Join(dir, store.File)
	if o.Fresh {
		if err := putAside(path, time.Now()); err != nil {
			return err
		}
		if err := l.runner.Checkpoints.Clear(); err != nil {
			return err
		}
	}
	if l.store, err = store.Open(path); err != nil {
		return err
	}
	if !o.Fresh {
		if l.known, err = l.runner.Find(dir, o.Search, l.model); err != nil {
			return err
		}
	}
	if err := l.arrange(recordOf(e, l.version, l.model, len(l.runner.Points))); err != nil {
		return err
	}
	return l.store.Each(store.Want{Stats: true, Steps: !l.runner.Brief}, func(p *store.Point) error {
		l.stored[p.Position] = outcome(p)
		return nil
	})
}

// arrange gives the known points their places. Points of other stores follow in transactions of their own.
func (l *Ledger) arrange(e store.Experiment) error {
	by := l.known.byStore()
	if err := l.putKnownContents(); err != nil {
		return err
	}
	was, ok, err := l.store.Experiment()
	if err != nil {
		return err
	}
	if own := by[l.known.own]; !ok || was != e || !l.known.inPlace(own) {
		if err := l.store.Arrange(e, l.moves(own)); err != nil {
			return err
		}
	}
	delete(by, l.known.own)
	for _, path := range slices.Sorted(maps.Keys(by)) {
		if err := l.takeRows(path, by[path]); err != nil {
			return err
		}
	}
	return nil
}

// Grow copies the results of points that have been added to the runner since from other stores, and returns their
// outcomes.
func (l *Ledger) Grow() (map[int]Outcome, error) {
	found, err := l.known.grow()
	if err != nil || len(found) == 0 {
		return nil, err
	}
	all := map[int]Outcome{}
	by := map[string][]int{}
	for _, i := range found {
		path := l.known.points[i].path
		by[path] = append(by[path], i)
	}
	for _, path := range slices.Sorted(maps.Keys(by)) {
		if err := l.takeRows(path, by[path]); err != nil {
			return nil, err
		}
		for _, i := range by[path] {
			if _, taken := l.known.points[i]; !taken {
				continue
			}
			p, _, err := l.store.Point(i)
			if err != nil {
				return nil, err
			}
			p.Steps = nil // the store has them
			all[i] = outcome(p)
			l.known.Grown++
		}
	}
	return all, nil
}

// takeRows copies points from another store. If it has changed or is damaged, the missing points are simulated.
func (l *Ledger) takeRows(path string, points []int) error {
	err := l.store.TakeRows(path, l.moves(points))
	if err == nil || store.Full(err) {
		return err
	}
	l.known.Skipped = append(l.known.Skipped, err)
	for _, i := range points {
		delete(l.known.points, i)
	}
	return nil
}

// moves returns the places of known points.
func (l *Ledger) moves(points []int) (moves []store.Move) {
	for _, i := range points {
		p := &l.runner.Points[i]
		moves = append(moves, store.Move{ID: l.known.points[i].entry.ID, Place: store.Place{
			Position: i, Baseline: p.Baseline, Identity: l.known.wanted[i], Axes: storedAxes(p), Config: p.YAML(),
		}})
	}
	return moves
}

func init() { store.KeyName = config.Schema.Path }

// storedAxes returns a point's axes by the names of keys that never change.
func storedAxes(p *Point) (axes []store.Axis) {
	for _, a := range p.Axes {
		if f, ok := config.Schema.Lookup(a.Key); ok {
			a.Key = f.Canonical()
		}
		axes = append(axes, store.Axis(a))
	}
	return axes
}

// acquire takes the lock that keeps two processes from writing the same results. The system releases it when the file
// is closed or the process ends.
func acquire(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(&busyError{path}, f.Close())
	}
	return f, nil
}

// busyError reports results that another process is writing.
type busyError struct{ path string }

func (e *busyError) Error() string {
	return e.path + ": another heddle is running this experiment: wait for it, or name other results with --set " +
		"name=NAME or --out DIRECTORY"
}

// putAside renames a store and SQLite's files beside it.
func putAside(path string, now time.Time) error {
	to := strings.TrimSuffix(path, ".sqlite") + now.UTC().Format("-20060102T150405.000Z") + ".sqlite"
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(path+suffix, to+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// differences lists the keys in which configurations differ.
type differences []string

const maxDifferences = 20

func (d *differences) add(format string, args ...any) {
	if len(*d) < maxDifferences {
		*d = append(*d, fmt.Sprintf(format, args...))
	}
}

// config adds the keys in which two configurations differ.
func (d *differences) config(a, b string) error {
	if a == b {
		return nil
	}
	was, err := config.Parse("stored configuration", []byte(a))
	if err != nil {
		d.add("the configuration: the stored one is not valid for this program: %v", err)
		return nil
	}
	now, err := config.Parse("configuration", []byte(b))
	if err != nil {
		return err
	}
	for _, x := range config.Schema.Diff(was, now) {
		d.add("%s: %s, now %s", x.Key, x.A, x.B)
	}
	return nil
}

// ConfigDifferences lists the keys in which two stored configurations differ.
func ConfigDifferences(a, b string) []string {
	var d differences
	if err := d.config(a, b); err != nil {
		d.add("B's configuration is none for this program: %v", err)
	}
	return d
}

// StoredError is a failure of an earlier run, read from the store.
type StoredError struct{ Failure, Message string }

func (e *StoredError) Error() string { return e.Message }

// Found returns the outcomes, by point, that were stored when the ledger had been opened.
func (l *Ledger) Found() map[int]Outcome { return l.stored }

// Outcomes reads the stored outcomes, by point.
func (l *Ledger) Outcomes() (map[int]Outcome, error) {
	points, err := l.store.Points()
	if err != nil {
		return nil, err
	}
	return Outcomes(points), nil
}

// Graphs reads the descriptions of the stored points' graphs, by content hash.
func (l *Ledger) Graphs() (map[string]GraphSummary, error) {
	graphs, err := l.store.Graphs()
	out := map[string]GraphSummary{}
	for _, g := range graphs {
		out[g.Hash] = GraphSummary{Source: g.Source, Vertices: g.Vertices, Edges: g.Edges, MaxInDegree: g.MaxInDegree}
	}
	return out, err
}

// Outcomes returns the outcomes of stored points by position.
func Outcomes(points []store.Point) map[int]Outcome {
	out := map[int]Outcome{}
	for i := range points {
		out[points[i].Position] = outcome(&points[i])
	}
	return out
}

func outcome(p *store.Point) Outcome {
	o := Outcome{
		Point: p.Position, Graph: p.Graph, Numbering: p.Numbering, Cycles: p.Cycles, Half: p.Half,
		Stats: p.Stats, Steps: p.Steps,
		Verified: p.Verified, Replay: p.Replay, Partial: p.Partial, Seconds: p.Seconds,
	}
	o.Err = storedError(p.Failure, p.Error)
	return o
}

func storedError(failure, message string) error {
	if failure == "" {
		return nil
	}
	return &StoredError{failure, message}
}

// Put stores an outcome, unless the point was interrupted, had no graph or could not resume from its checkpoint: then
// it has no result, and runs again. A known point that is rechecked keeps its result.
func (l *Ledger) Put(o *Outcome) error {
	if Class(o.Err) == Interrupted || o.Graph == "" || errors.As(o.Err, new(*checkpoint.DamagedError)) ||
		errors.As(o.Err, new(*ForeignError)) {
		return nil
	}
	if _, known := l.runner.Recheck[o.Point]; known {
		return nil
	}
	row := l.runner.Row(o)
	row.Version, row.Model, row.Finished = l.version, l.model, time.Now().UTC().Format(time.RFC3339)
	row.Identity = Identity(l.runner.Points[o.Point].Key(), o.Graph, o.Numbering, l.model)
	if g := l.content(o.Point, o.Graph, o.Numbering); len(g) > 0 {
		if err := l.store.PutGenerated(g...); err != nil {
			return err
		}
	}
	about, ok := l.runner.graphs.about(&l.runner.Points[o.Point].Config)
	if !ok {
		about, ok = l.runner.Known[o.Graph]
	}
	if ok {
		if err := l.store.PutGraph(store.Graph{
			Hash: o.Graph, Source: about.Source, Vertices: about.Vertices, Edges: about.Edges,
			MaxInDegree: about.MaxInDegree,
		}); err != nil {
			return err
		}
	}
	if err := l.store.Put(&row); err != nil || !Final(Class(o.Err)) {
		return err
	}
	return l.runner.removeCheckpoint(o.Point)
}

// content returns the content of a point's graph if it is generated and was not stored yet, so that the point is known
// without generating it.
func (l *Ledger) content(point int, hash, numbering string) []store.Generated {
	p := &l.runner.Points[point]
	if p.Config.Workload.Trace != "" || p.Config.Graph.File != "" {
		return nil
	}
	spec := specOf(p.Config.Graph)
	if l.generated[spec] {
		return nil
	}
	l.generated[spec] = true
	return []store.Generated{{Spec: spec, Model: l.model, Hash: hash, Numbering: numbering}}
}

// putKnownContents stores the contents of the known points' generated graphs, which other stores or models may have.
func (l *Ledger) putKnownContents() error {
	stored, err := l.store.Generated()
	if err != nil {
		return err
	}
	for _, g := range stored {
		l.generated[g.Spec] = l.generated[g.Spec] || g.Model == l.model
	}
	var list []store.Generated
	for i := range l.known.points {
		d := &l.known.graphs[i]
		list = append(list, l.content(i, d.hash, d.numbering)...)
	}
	if len(list) == 0 {
		return nil
	}
	return l.store.PutGenerated(list...)
}

// Row converts an outcome to a row of the store, without identity, version and time.
func (r *Runner) Row(o *Outcome) store.Point {
	p := &r.Points[o.Point]
	row := store.Point{
		Position: o.Point, Baseline: p.Baseline, Config: p.YAML(), Graph: o.Graph,
		Numbering: o.Numbering, Cycles: o.Cycles, Half: o.Half,
		Verified: o.Verified && o.Err == nil,
		Replay:   o.Replay, Partial: o.Partial, Failure: Class(o.Err), Seconds: o.Seconds, Stats: o.Stats,
		Steps: o.Steps,
	}
	if o.Samples != nil {
		for _, s := range o.Samples.Rows {
			row.Samples = append(row.Samples, store.Sample(s))
		}
	}
	row.Axes = storedAxes(p)
	if o.Err != nil {
		row.Error = o.Err.Error()
	}
	return row
}

// Rows converts outcomes to rows.
func (r *Runner) Rows(outcomes []Outcome) []store.Point {
	rows := make([]store.Point, len(outcomes))
	for i := range outcomes {
		rows[i] = r.Row(&outcomes[i])
	}
	return rows
}

// Count stores the number of points, to which a search adds while it runs.
func (l *Ledger) Count() error { return l.store.Count(len(l.runner.Points)) }

// Path returns the path of the store.
func (l *Ledger) Path() string { return l.store.Path() }

// Close closes the store and releases the lock.
func (l *Ledger) Close() error {
	var err error
	if l.store != nil {
		err = l.store.Close()
	}
	return errors.Join(err, l.lock.Close())
}
