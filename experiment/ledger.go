package experiment

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"heddle/experiment/checkpoint"
	"heddle/experiment/config"
	"heddle/experiment/store"
)

// Ledger is the store of a running experiment. It holds the lock of the results directory, identifies each stored point
// by configuration, graph and program, and refuses to mix results of different experiments.
type Ledger struct {
	runner  *Runner
	version string
	store   *store.Store
	lock    *os.File
	stored  map[int]Outcome // outcomes stored before it was opened
}

// ChangedError reports stored results of another experiment, program or graph.
type ChangedError struct {
	Path        string
	Differences []string
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s holds results of something else:\n  %s\nThey would not go together. Start anew with "+
		"--fresh (what is there is kept under another name), or give the new results another name",
		e.Path, strings.Join(e.Differences, "\n  "))
}

// OpenLedger opens or creates the store in a results directory. It fails if another process has it open, and with a
// *ChangedError if it has cycles of another experiment. fresh renames an existing store first.
func OpenLedger(dir string, e config.Experiment, version string, r *Runner, fresh bool) (*Ledger, error) {
	lock, err := acquire(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, err
	}
	l := &Ledger{runner: r, version: version, lock: lock}
	e.Run, e.Report = config.Host{}, config.Report{} // results do not depend on them
	if err := l.open(filepath.Join(dir, store.File), e, fresh); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (l *Ledger) open(path string, e config.Experiment, fresh bool) (err error) {
	if fresh {
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
	was, ok, err := l.store.Experiment()
	if err != nil {
		return err
	}
	if ok {
		empty, err := l.vet(was, e)
		if err == nil || !empty || !errors.As(err, new(*ChangedError)) {
			return err
		}
	}
	l.stored = nil
	return l.store.Begin(store.Experiment{Name: e.Name, Version: l.version, Config: string(config.Schema.YAML(e)),
		Points: len(l.runner.Points)})
}

// acquire takes the lock that keeps two processes from writing the same results. The system releases it when the file
// is closed or the process ends.
func acquire(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(
			fmt.Errorf("%s: another heddle is running this experiment: wait for it, or name other results with "+
				"--set name=NAME or --out DIRECTORY", path),
			f.Close())
	}
	return f, nil
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

// vet compares the stored experiment with the one about to run, and loads the stored outcomes. empty reports whether no
// stored point has cycles: such a store may be reused after the experiment has been corrected.
func (l *Ledger) vet(was store.Experiment, e config.Experiment) (empty bool, err error) {
	changed := &ChangedError{Path: l.store.Path()}
	if was.Version != l.version {
		changed.add("the program's version: %s, now %s", was.Version, l.version)
	}
	if err := changed.config("", was.Config, string(config.Schema.YAML(e))); err != nil {
		return false, err
	}
	other := len(changed.Differences) > 0
	l.stored, empty = map[int]Outcome{}, true
	var unlike []store.Point // with another identity: another configuration, or an older form of identity
	err = l.store.Each(store.Want{Stats: true, Steps: !l.runner.Brief}, func(p *store.Point) error {
		empty = empty && p.Cycles == 0
		l.stored[p.Position] = outcome(p)
		if other {
			return nil
		}
		if p.Position >= len(l.runner.Points) || p.Identity != l.identity(p.Position, p.Graph) {
			unlike = append(unlike, store.Point{Position: p.Position})
		}
		return l.vetGraph(p, changed)
	})
	for i := 0; i < len(unlike) && err == nil; i++ {
		err = l.vetPoint(unlike[i].Position, changed)
	}
	if err == nil && len(changed.Differences) > 0 {
		err = changed
	}
	return empty, err
}

const maxDifferences = 20

func (e *ChangedError) add(format string, args ...any) {
	if len(e.Differences) < maxDifferences {
		e.Differences = append(e.Differences, fmt.Sprintf(format, args...))
	}
}

// config adds the keys in which two configurations differ.
func (e *ChangedError) config(at, a, b string) error {
	if a == b {
		return nil
	}
	was, err := config.Parse("stored configuration", []byte(a))
	if err != nil {
		e.add("%sthe configuration: the stored one is not valid for this program: %v", at, err)
		return nil
	}
	now, err := config.Parse("configuration", []byte(b))
	if err != nil {
		return err
	}
	for _, d := range config.Schema.Diff(was, now) {
		e.add("%s%s: %s, now %s", at, d.Key, d.A, d.B)
	}
	return nil
}

// ConfigDifferences lists the keys in which two stored configurations differ.
func ConfigDifferences(a, b string) []string {
	var e ChangedError
	if err := e.config("", a, b); err != nil {
		e.add("B's configuration is none for this program: %v", err)
	}
	return e.Differences
}

// vetPoint adds the differences between the configuration of a stored point and the current one at its position.
func (l *Ledger) vetPoint(position int, changed *ChangedError) error {
	if position >= len(l.runner.Points) {
		changed.add("point %d: is no more", position+1)
		return nil
	}
	p, _, err := l.store.Point(position)
	if err != nil || p == nil {
		return err
	}
	now := &l.runner.Points[position]
	return changed.config(fmt.Sprintf("point %s: ", Label(now.Axes)), p.Config, now.YAML())
}

// vetGraph compares the graph of a stored point with the current one. Generated graphs follow from configuration and
// version; graph files are loaded and traces' headers read, since their contents may have changed.
func (l *Ledger) vetGraph(p *store.Point, changed *ChangedError) error {
	if p.Position >= len(l.runner.Points) {
		return nil
	}
	now := &l.runner.Points[p.Position]
	what, hash := "graph "+now.Config.Graph.File, ""
	switch path := now.Config.Workload.Trace; {
	case path != "":
		t, err := l.runner.graphs.trace(path)
		if err != nil {
			return err
		}
		what, hash = "trace "+path, t.hash
	case now.Config.Graph.File == "" || len(changed.Differences) > 0:
		return nil
	default:
		g, err := l.runner.graphs.describe(now.Config.Graph)
		if err != nil {
			return err
		}
		hash = g.hash
	}
	if hash != p.Graph {
		changed.add("point %s: the content of %s: sha256 %s, now %s", Label(now.Axes), what, p.Graph, hash)
	}
	return nil
}

// identity returns the identity of a point on a graph.
func (l *Ledger) identity(point int, graph string) string {
	return Identity(l.runner.Points[point].Digest(), graph, l.version)
}

// Identity returns the hash of everything that determines a result: the configuration's Digest, the graph's hash and
// the program's version.
func Identity(config, graph, version string) string {
	h := sha256.New()
	fmt.Fprintf(h, "heddle point 2\n%d %d %d\n%s%s%s", len(config), len(graph), len(version), config, graph, version)
	return fmt.Sprintf("%x", h.Sum(nil))
}

// StoredError is a failure of an earlier run, read from the store.
type StoredError struct{ Failure, Message string }

func (e *StoredError) Error() string { return e.Message }

// Found returns the outcomes, by point, that were stored when the ledger was opened.
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
		Point: p.Position, Graph: p.Graph, Cycles: p.Cycles, Half: p.Half, Stats: p.Stats, Steps: p.Steps,
		Verified: p.Verified, Replay: p.Replay, Partial: p.Partial, Seconds: p.Seconds,
	}
	if p.Failure != "" {
		o.Err = &StoredError{p.Failure, p.Error}
	}
	return o
}

// Put stores an outcome, unless the point was interrupted, had no graph or could not resume from its checkpoint: then
// it has no result, and runs again.
func (l *Ledger) Put(o *Outcome) error {
	if Class(o.Err) == Interrupted || o.Graph == "" || errors.As(o.Err, new(*checkpoint.DamagedError)) ||
		errors.As(o.Err, new(*ForeignError)) {
		return nil
	}
	row := l.runner.Row(o)
	row.Identity, row.Version, row.Finished = l.identity(o.Point, o.Graph), l.version,
		time.Now().UTC().Format(time.RFC3339)
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
	return l.runner.Checkpoints.Remove(o.Point)
}

// Row converts an outcome to a row of the store, without identity, version and time.
func (r *Runner) Row(o *Outcome) store.Point {
	p := &r.Points[o.Point]
	row := store.Point{
		Position: o.Point, Baseline: p.Baseline, Config: p.YAML(), Graph: o.Graph, Cycles: o.Cycles, Half: o.Half,
		Verified: o.Verified && o.Err == nil,
		Replay:   o.Replay, Partial: o.Partial, Failure: Class(o.Err), Seconds: o.Seconds, Stats: o.Stats,
		Steps: o.Steps,
	}
	if o.Samples != nil {
		for _, s := range o.Samples.Rows {
			row.Samples = append(row.Samples, store.Sample(s))
		}
	}
	for _, a := range p.Axes {
		row.Axes = append(row.Axes, store.Axis(a))
	}
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
