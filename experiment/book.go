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

// Book is the directory that a run of an experiment leaves: the store, which every point is in as it ends, and the
// summaries, which are made of it at the end. Its methods may be called from several goroutines.
type Book struct {
	Dir    string
	runner *Runner
	ledger *Ledger
	name   string
	jobs   int
	start  time.Time

	mu       sync.Mutex
	outcomes []Outcome // of all points, without super-steps, which are in the store, unless outcomes are to have them
	err      error     // what could not be stored
}

// BookOptions say what of an earlier run's directory counts.
type BookOptions struct {
	Fresh bool // nothing: what is there is put aside
	Retry bool // what has failed does not: it is run again
	Steps bool // outcomes keep their super-steps, for a directory that adopts them
	Jobs  int  // that the summary names
}

// ErrNotRun is the error of a point that has not been begun.
var ErrNotRun = errors.New("not run")

// OpenBook opens a directory, or makes it, and takes over what is stored there: the runner does not run it again. A
// *ChangedError refuses results of something else.
func OpenBook(dir string, l *schema.Loaded[config.Experiment], r *Runner, o BookOptions) (*Book, error) {
	b := &Book{Dir: dir, runner: r, name: l.Value.Name, jobs: o.Jobs, start: time.Now()}
	r.Brief = !o.Steps
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var err error
	if b.ledger, err = OpenLedger(dir, l.Value, version.Text(), r, o.Fresh); err != nil {
		return nil, err
	}
	if err := errors.Join(b.resume(o.Retry), r.VetCheckpoints()); err != nil {
		return nil, errors.Join(err, b.ledger.Close())
	}
	if err := files.Write(filepath.Join(dir, "config.resolved.yaml"), l.AnnotatedYAML()); err != nil {
		return nil, errors.Join(err, b.ledger.Close())
	}
	return b, nil
}

// resume takes over what is stored.
func (b *Book) resume(retry bool) (err error) {
	b.runner.Done = b.ledger.Found()
	if b.runner.Done == nil {
		b.runner.Done = map[int]Outcome{}
	}
	if b.runner.Known, err = b.ledger.Graphs(); err != nil {
		return err
	}
	b.outcomes = make([]Outcome, len(b.runner.Points))
	for i := range b.outcomes {
		o, ok := b.runner.Done[i]
		if b.outcomes[i] = o; !ok {
			b.outcomes[i] = Outcome{Point: i, Err: ErrNotRun}
		}
		if class := Class(o.Err); !Final(class) || retry && class != "" {
			delete(b.runner.Done, i)
		}
	}
	return nil
}

// Path is the store's.
func (b *Book) Path() string { return b.ledger.Path() }

// Adopt takes over what has been simulated for others, by its configuration, as if it had been run here, before the
// run.
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

// Put stores an outcome. What cannot be stored had better end the run: the work would be lost.
func (b *Book) Put(o Outcome) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.ledger.Put(&o)
	o.Samples = nil // in the store, if they are kept at all
	if b.runner.Brief {
		o.Steps = nil
	}
	b.outcomes[o.Point] = o
	if b.err == nil {
		b.err = err
	}
	return err
}

// Grow makes room for the points that its runner has more by now.
func (b *Book) Grow() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := len(b.outcomes); i < len(b.runner.Points); i++ {
		b.outcomes = append(b.outcomes, Outcome{Point: i, Err: ErrNotRun})
	}
}

// Outcome holds what is known of a point by now: ErrNotRun, if it has not been begun.
func (b *Book) Outcome(point int) Outcome {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.outcomes[point]
}

// SummaryError says that results are stored, and their summaries are not.
type SummaryError struct {
	Path string // of the store
	Err  error
}

func (e *SummaryError) Error() string {
	return fmt.Sprintf("no summary.json and summary.csv: %v; all results are in %s, and the same command writes the summaries", e.Err, e.Path)
}

func (e *SummaryError) Unwrap() error { return e.Err }

// StoreError says that a run ended since a result could not be stored.
type StoreError struct {
	Stored, Points int
	Err            error
}

func (e *StoreError) Error() string {
	return fmt.Sprintf("%v; %d of %d points are stored, and the same command goes on from them", e.Err, e.Stored,
		e.Points)
}

func (e *StoreError) Unwrap() error { return e.Err }

// unstored is the error of a run whose results could not be stored.
func (b *Book) unstored() error {
	n, _, _, err := b.ledger.store.Progress()
	return errors.Join(&StoreError{n, len(b.runner.Points), b.err}, err, b.ledger.Close())
}

// End writes the summaries of what a run came to, and closes everything. It returns all points' outcomes. nil: as far
// as each is known by now. A *SummaryError comes with both: no result is lost.
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

// summarise writes the summaries, unless they are of these points already.
func (b *Book) summarise(s *Summary) error {
	done, err := b.ledger.store.Summarised()
	if err != nil {
		return err
	}
	if done && len(b.ledger.found) == len(b.outcomes) && summariesIn(b.Dir) {
		return nil
	}
	if err := s.Write(b.Dir); err != nil {
		return err
	}
	return b.ledger.store.SetSummarised()
}

// Close closes everything of a run that does not begin.
func (b *Book) Close() error { return b.ledger.Close() }

// Stored are the outcomes in a directory, by point, without super-steps. A store that cannot be read has none to go by.
func Stored(dir string) map[int]Outcome { return storedAs(dir, store.Want{Stats: true}) }

// Computed are those that have cycles, without statistics: such points can run. If they are of another experiment,
// OpenBook says so.
func Computed(dir string) map[int]Outcome {
	all := storedAs(dir, store.Want{})
	maps.DeleteFunc(all, func(_ int, o Outcome) bool { return o.Cycles == 0 })
	return all
}

func storedAs(dir string, want store.Want) map[int]Outcome {
	s, err := store.OpenRead(filepath.Join(dir, store.File))
	if err != nil {
		return nil
	}
	defer s.Close() //nolint:errcheck // read only
	all := map[int]Outcome{}
	if err := s.Each(want, func(p *store.Point) error { all[p.Position] = outcome(p); return nil }); err != nil {
		return nil
	}
	return all
}
