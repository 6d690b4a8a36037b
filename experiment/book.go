package experiment

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"heddle/configs/schema"
	"heddle/experiment/config"
	"heddle/experiment/store"
	"heddle/internal/files"
	"heddle/internal/resources"
	"heddle/internal/version"
)

// Book is the results directory of a run: the store, into which every point is written as soon as it ends, and the
// summaries, which are derived from the store at the end. Its methods may be called from several goroutines.
//
// OpenBook comes after Runner.Vet, so that an experiment that cannot run leaves no directory; then come Adopt, if
// results of another run are taken over, Put for every outcome, and End. Close replaces End where the run never starts.
type Book struct {
	Dir    string
	runner *Runner
	ledger *Ledger
	name   string
	jobs   int
	start  time.Time

	mu       sync.Mutex
	outcomes []Outcome // of all points; super-steps are left to the store unless BookOptions.Steps is set
	err      error     // the first failure to store an outcome
}

// BookOptions selects which results of earlier runs are reused.
type BookOptions struct {
	Fresh  bool // none: an existing store is renamed
	Retry  bool // only successful ones: failed points run again
	Search Search
	// Recheck is the share, from 0 to 1, of the known points that are simulated again and compared.
	Recheck float64
	Steps   bool // keep super-steps in the outcomes, for a directory that will adopt them
	Jobs    int  // recorded in the summary
}

// ErrNotRun is the error of a point that has not started.
var ErrNotRun = errors.New("not run")

// OpenBook opens or creates a results directory and sets r.Done and r.Known to the known outcomes and their graphs, so
// that those points do not run again. Other points there stay stored, and are in no table.
func OpenBook(dir string, l *schema.Loaded[config.Experiment], r *Runner, o BookOptions) (*Book, error) {
	b := &Book{Dir: dir, runner: r, name: l.Value.Name, jobs: o.Jobs, start: time.Now()}
	r.Brief = !o.Steps
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var err error
	if b.ledger, err = OpenLedger(dir, l.Value, r, LedgerOptions{Version: version.Text(),
		Model: version.Model(), Fresh: o.Fresh, Search: o.Search}); err != nil {
		return nil, err
	}
	if err := errors.Join(b.resume(&o), r.VetCheckpoints()); err != nil {
		return nil, errors.Join(err, b.ledger.Close())
	}
	if err := files.Write(filepath.Join(dir, "config.resolved.yaml"), l.AnnotatedYAML()); err != nil {
		return nil, errors.Join(err, b.ledger.Close())
	}
	return b, nil
}

// resume loads the stored outcomes. Failures that may not recur, and with retry all failures, are left to run again.
func (b *Book) resume(options *BookOptions) (err error) {
	b.runner.Done = b.ledger.Found()
	if b.runner.Known, err = b.ledger.Graphs(); err != nil {
		return err
	}
	b.outcomes = make([]Outcome, len(b.runner.Points))
	for i := range b.outcomes {
		o, ok := b.runner.Done[i]
		if b.outcomes[i] = o; !ok {
			b.outcomes[i] = Outcome{Point: i, Err: ErrNotRun}
		}
		if class := Class(o.Err); !Final(class) || options.Retry && class != "" {
			delete(b.runner.Done, i)
		}
	}
	if options.Recheck > 0 {
		b.runner.Recheck = b.ledger.known.draw(b.runner.Done, b.runner.Elsewhere, options.Recheck)
		for i := range b.runner.Recheck {
			delete(b.runner.Done, i)
		}
	}
	return nil
}

// Known returns where the outcomes were found.
func (b *Book) Known() *Known { return b.ledger.known }

// Path returns the path of the store.
func (b *Book) Path() string { return b.ledger.Path() }

// Adopt stores outcomes of equal configurations (by Point.Digest) from other runs as if they had been simulated here.
// It must be called before the run starts.
func (b *Book) Adopt(all map[string]Outcome, graphs map[string]GraphSummary) error {
	maps.Copy(b.runner.Known, graphs)
	for i := range b.runner.Points {
		o, ok := all[b.runner.Points[i].Digest()]
		if _, done := b.runner.Done[i]; done || !ok || !Final(Class(o.Err)) {
			continue
		}
		o.Point = i
		b.runner.Done[i] = o
		if err := b.Put(o); err != nil {
			return err
		}
	}
	return nil
}

// Put stores an outcome. The caller should end the run on an error, since the results of further points would be lost.
func (b *Book) Put(o Outcome) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.ledger.Put(&o)
	o.Samples = nil // the store has them, if they are kept at all
	if b.runner.Brief {
		o.Steps = nil
	}
	b.outcomes[o.Point] = o
	if b.err == nil {
		b.err = err
	}
	return err
}

// Grow adds entries for points that have been added to the runner since, with the outcomes of those that are known
// (Search.Grows). No point may be running.
func (b *Book) Grow() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := len(b.outcomes); i < len(b.runner.Points); i++ {
		b.outcomes = append(b.outcomes, Outcome{Point: i, Err: ErrNotRun})
	}
	found, err := b.ledger.Grow()
	if err != nil || len(found) == 0 {
		return err
	}
	for i, o := range found {
		b.outcomes[i] = o
	}
	graphs, err := b.ledger.Graphs()
	maps.Copy(b.runner.Known, graphs)
	return err
}

// Outcome returns the current outcome of a point; its error is ErrNotRun if the point has not started.
func (b *Book) Outcome(point int) Outcome {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.outcomes[point]
}

// SummaryError reports that all results were stored but the summaries could not be written.
type SummaryError struct {
	Path string // of the store
	Err  error
}

func (e *SummaryError) Error() string {
	return fmt.Sprintf(
		"no summary.json and summary.csv: %v; all results are in %s, and the same command writes the summaries",
		e.Err, e.Path)
}

func (e *SummaryError) Unwrap() error { return e.Err }

// StoreError reports that a run ended because a result could not be stored.
type StoreError struct {
	Stored, Points int
	Err            error
}

func (e *StoreError) Error() string {
	return fmt.Sprintf("%v; %d of %d points are stored, and the same command goes on from them", e.Err, e.Stored,
		e.Points)
}

func (e *StoreError) Unwrap() error { return e.Err }

// unstored closes the ledger and returns the error of a run whose results could not be stored.
func (b *Book) unstored() error {
	n, _, _, err := b.ledger.store.Progress()
	return errors.Join(&StoreError{n, len(b.runner.Points), b.err}, err, b.ledger.Close())
}

// End writes the summaries and closes the store. It returns the summary and the outcomes of all points; if outcomes is
// nil, those that were stored so far. With a *SummaryError, both are valid: no result is lost.
func (b *Book) End(outcomes []Outcome) (*Summary, []Outcome, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil {
		return nil, nil, b.unstored()
	}
	if err := b.ledger.Count(); err != nil {
		return nil, nil, errors.Join(err, b.ledger.Close())
	}
	if outcomes == nil {
		outcomes = b.outcomes
	}
	for i, known := range b.runner.Recheck {
		if Class(outcomes[i].Err) == Interrupted {
			outcomes[i] = known
		}
	}
	b.outcomes = outcomes
	host := HostSummary{Seconds: time.Since(b.start).Seconds(), PeakRSSBytes: resources.PeakRSS(), Jobs: b.jobs}
	summary := b.runner.Summarise(b.name, version.Text(), b.outcomes, host)
	summary.steps = b.ledger.store
	err := b.summarise(summary)
	if errClose := b.ledger.Close(); errClose != nil {
		return nil, nil, errClose
	}
	if err != nil {
		err = &SummaryError{b.ledger.Path(), err}
	}
	return summary, b.outcomes, err
}

// summarise writes the summaries unless those on disk already cover the same points.
func (b *Book) summarise(s *Summary) error {
	done, err := b.ledger.store.Summarised()
	if err != nil {
		return err
	}
	if done && len(b.ledger.stored) == len(b.outcomes) && summariesIn(b.Dir) {
		return nil
	}
	if err := s.Write(b.Dir); err != nil {
		return err
	}
	return b.ledger.store.SetSummarised()
}

// Close closes the store of a run that does not start.
func (b *Book) Close() error { return b.ledger.Close() }

// Stored returns the outcomes in a directory by point, without super-steps; none if the store cannot be read.
func Stored(dir string) map[int]Outcome {
	s, err := store.OpenRead(filepath.Join(dir, store.File))
	if err != nil {
		return nil
	}
	defer s.Close() //nolint:errcheck // read only
	all := map[int]Outcome{}
	if err := s.Each(store.Want{Stats: true}, func(p *store.Point) error {
		all[p.Position] = outcome(p)
		return nil
	}); err != nil {
		return nil
	}
	return all
}
