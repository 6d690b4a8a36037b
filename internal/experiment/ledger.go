package experiment

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"heddle/configs"
	"heddle/internal/checkpoint"
	"heddle/internal/store"
)

// Ledger is the store of an experiment that is being run: what is in it is not run again.
type Ledger struct {
	runner  *Runner
	version string
	store   *store.Store
	lock    *os.File
}

// ChangedError refuses to continue: what is stored is not of this experiment, program or graph.
type ChangedError struct {
	Path        string
	Differences []string
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s holds results of something else:\n  %s\nThey would not go together. Start anew with --fresh (what is there is kept under another name), or give the new results another name",
		e.Path, strings.Join(e.Differences, "\n  "))
}

// OpenLedger opens the store in an experiment's directory, or begins one. It refuses one that another
// process is writing, or that has cycles of something else: a *ChangedError. fresh puts aside what is there.
func OpenLedger(dir string, e configs.Experiment, version string, r *Runner, fresh bool) (*Ledger, error) {
	lock, err := acquire(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, err
	}
	l := &Ledger{runner: r, version: version, lock: lock}
	e.Run, e.Report = configs.Host{}, configs.Report{} // no figure depends on them
	if err := l.open(filepath.Join(dir, store.File), e, fresh); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (l *Ledger) open(path string, e configs.Experiment, fresh bool) (err error) {
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
		empty, err := l.empty()
		if err != nil {
			return err
		}
		if err := l.vet(was, e); err == nil || !empty || !errors.As(err, new(*ChangedError)) {
			return err
		}
	}
	return l.store.Begin(store.Experiment{Name: e.Name, Version: l.version, Config: string(configs.ExperimentSchema.YAML(e)), Points: len(l.runner.Points)})
}

// empty reports whether no stored point has cycles. Such a store may become that of an experiment that has been
// corrected.
func (l *Ledger) empty() (bool, error) {
	points, err := l.store.Points()
	return !slices.ContainsFunc(points, func(p store.Point) bool { return p.Cycles > 0 }), err
}

// acquire takes the lock that keeps two processes from running one experiment; it ends with the process.
func acquire(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(
			fmt.Errorf("%s: another heddle is running this experiment: wait for it, or name other results with --set name=NAME or --out DIRECTORY", path),
			f.Close())
	}
	return f, nil
}

// putAside renames a store, and what SQLite keeps beside it.
func putAside(path string, now time.Time) error {
	to := strings.TrimSuffix(path, ".sqlite") + now.UTC().Format("-20060102T150405.000Z") + ".sqlite"
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(path+suffix, to+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// vet compares what the store is of with what is about to run.
func (l *Ledger) vet(was store.Experiment, e configs.Experiment) error {
	changed := &ChangedError{Path: l.store.Path()}
	if was.Version != l.version {
		changed.add("the program's version: %s, now %s", was.Version, l.version)
	}
	if err := changed.config("", was.Config, string(configs.ExperimentSchema.YAML(e))); err != nil {
		return err
	}
	if len(changed.Differences) > 0 {
		return changed
	}
	points, err := l.store.Points()
	if err != nil {
		return err
	}
	for i := range points {
		if err := l.vetPoint(&points[i], changed); err != nil {
			return err
		}
	}
	if len(changed.Differences) > 0 {
		return changed
	}
	return nil
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
	was, err := configs.ParseExperiment("stored configuration", []byte(a))
	if err != nil {
		e.add("%sthe configuration: what is stored is none for this program: %v", at, err)
		return nil
	}
	now, err := configs.ParseExperiment("configuration", []byte(b))
	if err != nil {
		return err
	}
	for _, d := range configs.ExperimentSchema.Diff(was, now) {
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

// vetPoint compares a stored point with the one that now is in its place. The graphs of generators
// follow from configuration and version; a file's is read again, and a trace's description.
func (l *Ledger) vetPoint(p *store.Point, changed *ChangedError) error {
	if p.Position >= len(l.runner.Points) {
		changed.add("point %d: is no more", p.Position+1)
		return nil
	}
	at := fmt.Sprintf("point %s: ", Label(l.runner.Points[p.Position].Axes))
	if err := changed.config(at, p.Config, l.runner.Points[p.Position].YAML()); err != nil {
		return err
	}
	cfg := &l.runner.Points[p.Position].Config
	if cfg.Workload.Trace != "" {
		t, err := l.runner.graphs.trace(cfg.Workload.Trace)
		if err == nil && t.hash != p.Graph {
			changed.add("%sthe content of trace %s: sha256 %s, now %s", at, cfg.Workload.Trace, p.Graph, t.hash)
		}
		return err
	}
	spec := cfg.Graph
	if spec.File == "" || len(changed.Differences) > 0 {
		return nil
	}
	g, err := l.runner.graphs.describe(spec)
	if err != nil {
		return err
	}
	if g.hash != p.Graph {
		changed.add("%sthe content of graph %s: sha256 %s, now %s", at, spec.File, p.Graph, g.hash)
	}
	return nil
}

// Identity determines a result: configuration, graph, program.
func Identity(config, graph, version string) string {
	h := sha256.New()
	fmt.Fprintf(h, "heddle point 1\n%d %d %d\n%s%s%s", len(config), len(graph), len(version), config, graph, version)
	return fmt.Sprintf("%x", h.Sum(nil))
}

// StoredError is a failure that was read from the store.
type StoredError struct{ Failure, Message string }

func (e *StoredError) Error() string { return e.Message }

// Outcomes reads what is stored, by point.
func (l *Ledger) Outcomes() (map[int]Outcome, error) {
	points, err := l.store.Points()
	if err != nil {
		return nil, err
	}
	return Outcomes(points), nil
}

// Graphs reads what the graphs of stored points are like, by content hash.
func (l *Ledger) Graphs() (map[string]GraphSummary, error) {
	graphs, err := l.store.Graphs()
	out := map[string]GraphSummary{}
	for _, g := range graphs {
		out[g.Hash] = GraphSummary{Source: g.Source, Vertices: g.Vertices, Edges: g.Edges, MaxInDegree: g.MaxInDegree}
	}
	return out, err
}

// Outcomes are those of stored points, by their position.
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

// Put stores an outcome. One that was interrupted, had no graph or could not go on from its checkpoint is none.
func (l *Ledger) Put(o *Outcome) error {
	if Class(o.Err) == Interrupted || o.Graph == "" || errors.As(o.Err, new(*checkpoint.DamagedError)) || errors.As(o.Err, new(*ForeignError)) {
		return nil
	}
	row := l.runner.Row(o)
	row.Identity, row.Version, row.Finished = Identity(row.Config, o.Graph, l.version), l.version, time.Now().UTC().Format(time.RFC3339)
	about, ok := l.runner.graphs.summaries()[o.Graph]
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

// Row is an outcome as a store has it, but for what the store is of: program and time.
func (r *Runner) Row(o *Outcome) store.Point {
	p := &r.Points[o.Point]
	row := store.Point{
		Position: o.Point, Baseline: p.Baseline, Config: p.YAML(), Graph: o.Graph, Cycles: o.Cycles, Half: o.Half, Verified: o.Verified && o.Err == nil,
		Replay: o.Replay, Partial: o.Partial, Failure: Class(o.Err), Seconds: o.Seconds, Stats: o.Stats, Steps: o.Steps,
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

// Rows are those of all outcomes.
func (r *Runner) Rows(outcomes []Outcome) []store.Point {
	rows := make([]store.Point, len(outcomes))
	for i := range outcomes {
		rows[i] = r.Row(&outcomes[i])
	}
	return rows
}

// Count has the store say how many points there are, which a search makes more.
func (l *Ledger) Count() error { return l.store.Count(len(l.runner.Points)) }

// Path is the store's.
func (l *Ledger) Path() string { return l.store.Path() }

// Close ends the use of the store.
func (l *Ledger) Close() error {
	var err error
	if l.store != nil {
		err = l.store.Close()
	}
	return errors.Join(err, l.lock.Close())
}
