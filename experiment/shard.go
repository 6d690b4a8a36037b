package experiment

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"heddle/experiment/config"
	"heddle/experiment/store"
	"heddle/internal/files"
	"heddle/internal/version"
)

// Shard is a part of an experiment's points that a process of its own runs: each n-th point from the i-th on, so that
// neighbours, which mostly cost alike, are in different shards.
type Shard struct{ I, N int } // I from 1; N is 0 for the whole experiment

// MaxShards is the largest number of tasks that Slurm accepts in an array by default.
const MaxShards = 1000

// ParseShard reads i/n.
func ParseShard(text string) (s Shard, err error) {
	i, n, ok := strings.Cut(text, "/")
	if s.I, err = strconv.Atoi(i); err == nil {
		s.N, err = strconv.Atoi(n)
	}
	if err != nil || !ok || s.N < 1 || s.N > MaxShards || s.I < 1 || s.I > s.N {
		return Shard{}, fmt.Errorf("%q: expected i/n, such as 2/8: the i-th of n parts of the points, i from 1, n "+
			"at most %d",
			text, MaxShards)
	}
	return s, nil
}

// Has reports whether the shard has a point.
func (s Shard) Has(point int) bool { return s.N == 0 || point%s.N == s.I-1 }

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.I, s.N) }

// ShardDir is the directory of the shards' results within an experiment's results directory.
const ShardDir = "shards"

// Dir returns the shard's directory within an experiment's.
func (s Shard) Dir(dir string) string {
	if s.N == 0 {
		return dir
	}
	return filepath.Join(dir, ShardDir, fmt.Sprintf("%d-of-%d", s.I, s.N))
}

// Shards returns the directories of an experiment's shards that have a store, without those of an earlier form of the
// experiment that dir has results of: their points are found by identity.
func Shards(dir string) ([]string, error) {
	stores, err := filepath.Glob(filepath.Join(dir, ShardDir, "*", store.File))
	now, errNow := identify(dir)
	var dirs []string
	for _, s := range stores {
		shard := filepath.Dir(s)
		if of, err := identify(shard); errNow == nil && err == nil && sameExperiment(dir, shard, now, of) != nil {
			continue
		}
		dirs = append(dirs, shard)
	}
	return dirs, err
}

// Ended returns the points that have a final outcome in an experiment's results or its shards', which other processes
// may be writing. A store that cannot be read at the moment is skipped.
func Ended(dir string) map[int]bool {
	all := map[int]bool{}
	shards, _ := Shards(dir) // the pattern is well-formed
	for _, d := range append(shards, dir) {
		s, err := store.OpenRead(filepath.Join(d, store.File))
		if err != nil {
			continue
		}
		heads, err := s.Heads()
		_ = s.Close() // read only
		if err != nil {
			continue
		}
		for i, h := range heads {
			if Final(h.Failure) {
				all[i] = true
			}
		}
	}
	return all
}

// Merged is the result of a merge.
type Merged struct {
	Name   string
	Dir    string
	Points int // of the experiment
	Stored int
	New    int // stored by this merge
	Failed int
}

// DifferentError reports that results to be merged are of different experiments.
type DifferentError struct {
	A, B        string
	Differences []string
}

func (e *DifferentError) Error() string {
	return fmt.Sprintf("%s and %s are results of different things:\n  %s", e.A, e.B,
		strings.Join(e.Differences, "\n  "))
}

// distinct drops repeated paths.
func distinct(paths []string) (list []string) {
	for _, p := range paths {
		if p = filepath.Clean(p); !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// Merge merges the points of several results of one experiment into a directory, which may hold some already, and
// writes its summaries. Two different results of a point are an error unless one of them is a failure. With dir "", the
// directory is that of the experiment's name below out.
func Merge(dir, out string, from []string) (*Merged, error) { return merge(dir, out, from, lockStore) }

// MergeSnapshot merges the points stored so far into dir, while other processes may be writing to from.
func MergeSnapshot(dir string, from []string) error {
	_, err := merge(dir, "", from, func(string) (func(), error) { return func() {}, nil })
	return err
}

func merge(dir, out string, from []string, lock func(path string) (release func(), err error)) (*Merged, error) {
	var unlock []func()
	defer func() {
		for _, f := range unlock {
			f()
		}
	}()
	var first store.Experiment
	from = distinct(from)
	for i, path := range from {
		release, err := lock(path)
		if err != nil {
			return nil, err
		}
		unlock = append(unlock, release)
		e, err := identify(path)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			first = e
		}
		if err := sameExperiment(from[0], path, first, e); err != nil {
			return nil, err
		}
	}
	if dir == "" {
		dir = filepath.Join(out, first.Name)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	m := &Merged{Name: first.Name, Dir: dir}
	if err := m.mergeInto(dir, first, from); err != nil {
		return nil, err
	}
	if err := copyResolved(dir, from); err != nil {
		return nil, err
	}
	return m, Summaries(dir)
}

// mergeInto merges the stores without writing summaries.
func (m *Merged) mergeInto(dir string, first store.Experiment, from []string) error {
	lock, err := acquire(filepath.Join(dir, store.LockFile))
	if err != nil {
		return err
	}
	defer lock.Close() //nolint:errcheck // a lock
	to, err := store.Open(filepath.Join(dir, store.File))
	if err != nil {
		return err
	}
	defer to.Close() //nolint:errcheck // every transaction has been committed
	was, ok, err := to.Experiment()
	if err != nil {
		return err
	}
	if !ok {
		err = to.Begin(first)
	} else {
		err = sameExperiment(dir, from[0], was, first)
	}
	if err != nil {
		return err
	}
	for _, path := range from {
		if err := m.takeBetter(to, path); err != nil {
			return err
		}
	}
	stored, failed, _, err := to.Progress()
	m.Points, m.Stored, m.Failed = first.Points, stored, failed
	return err
}

// takeBetter copies those points of one store that are missing in to, or better than there.
func (m *Merged) takeBetter(to *store.Store, path string) error {
	have, err := to.Heads()
	if err != nil {
		return err
	}
	file := storeFile(path)
	s, err := store.OpenRead(file)
	if err != nil {
		return err
	}
	all, err := s.Heads()
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	var take []int
	for _, position := range slices.Sorted(maps.Keys(all)) {
		now, is := have[position], all[position]
		_, stored := have[position]
		better, err := betterHead(now, is, stored)
		if err != nil {
			return fmt.Errorf("%s: point %d: %w", path, position+1, err)
		}
		if better {
			take = append(take, position)
		}
		if !stored {
			m.New++
		}
	}
	return to.Take(file, take)
}

// betterHead reports whether the result is replaces the result now of the same point, if one is stored. A success
// replaces a failure, and a final failure one that may not recur.
func betterHead(now, is store.Head, stored bool) (bool, error) {
	switch {
	case !stored:
		return true, nil
	case now.Identity != is.Identity:
		return false, errors.New("its configuration, graph or program is another one than that of the point which " +
			"is stored")
	case is.Failure != "":
		return now.Failure != "" && Final(is.Failure) && !Final(now.Failure), nil
	case now.Failure != "":
		return true, nil
	case now.Cycles != is.Cycles || now.Verified != is.Verified || now.Partial != is.Partial:
		return false, fmt.Errorf("%s cycles, and %s are stored: the same point cannot come to both",
			Thousands(is.Cycles), Thousands(now.Cycles))
	}
	return false, nil
}

// storeFile returns the store in a results directory; a path of a store is returned as it is.
func storeFile(path string) string {
	if strings.HasSuffix(path, ".sqlite") {
		return path
	}
	return filepath.Join(path, store.File)
}

// lockStore keeps other processes from writing to results while they are read.
func lockStore(path string) (release func(), err error) {
	lock := filepath.Join(filepath.Dir(storeFile(path)), store.LockFile)
	if _, err := os.Stat(lock); err != nil {
		return func() {}, nil // results that were copied without the lock file
	}
	f, err := acquire(lock)
	if err != nil {
		return nil, fmt.Errorf("%s is being written: wait for its run to end", path)
	}
	return func() { f.Close() }, nil //nolint:errcheck // a lock
}

func identify(path string) (e store.Experiment, err error) {
	s, err := store.OpenRead(storeFile(path))
	if errors.Is(err, os.ErrNotExist) {
		return e, fmt.Errorf("%s: no results: expected a directory with a %s", path, store.File)
	}
	if err != nil {
		return e, err
	}
	e, ok, err := s.Experiment()
	if err == nil && !ok {
		err = fmt.Errorf("%s: %w", path, store.ErrEmpty)
	}
	return e, errors.Join(err, s.Close())
}

func sameExperiment(a, b string, was, is store.Experiment) error {
	e := &DifferentError{A: a, B: b}
	if cmp.Or(was.Model, was.Version) != cmp.Or(is.Model, is.Version) {
		e.Differences = append(e.Differences, fmt.Sprintf("the program's version: %s, and %s", was.Version, is.Version))
	}
	e.Differences = append(e.Differences, ConfigDifferences(was.Config, is.Config)...)
	if was.Points != is.Points {
		e.Differences = append(e.Differences, fmt.Sprintf("%d points, and %d", was.Points, is.Points))
	}
	if len(e.Differences) > 0 {
		return e
	}
	return nil
}

const resolvedFile = "config.resolved.yaml"

// copyResolved copies the resolved configuration from the first of the merged results that has it.
func copyResolved(dir string, from []string) error {
	to := filepath.Join(dir, resolvedFile)
	if _, err := os.Stat(to); err == nil {
		return nil
	}
	for _, path := range from {
		text, err := files.Read(filepath.Join(filepath.Dir(storeFile(path)), resolvedFile), maxResolved)
		if err == nil {
			return files.Write(to, text)
		}
	}
	return nil
}

// maxResolved bounds the size of a resolved configuration.
const maxResolved = 16 << 20

// Summaries writes the summaries of a results directory from its store.
func Summaries(dir string) error {
	s, err := store.OpenRead(filepath.Join(dir, store.File))
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // read only
	summary, err := summaryOf(s, "")
	if err != nil {
		return err
	}
	return summary.Write(dir)
}

// Current returns an up-to-date summary.json: the file in the directory, or one derived from the store if that has
// newer points, as during a run, or if speedups are to be relative to another variant (SetBaseline; "": as in the
// experiment).
func Current(dir, baseline string) ([]byte, error) {
	s, err := store.OpenRead(filepath.Join(dir, store.File))
	if err != nil && baseline != "" {
		return nil, fmt.Errorf("baseline %s: expected results with a store: %w", baseline, err)
	}
	if err != nil { // results that were copied without the store, or are older than stores
		return readSummary(dir)
	}
	defer s.Close() //nolint:errcheck // read only
	if done, err := s.Summarised(); err != nil || done && baseline == "" {
		text, errRead := readSummary(dir)
		return text, errors.Join(err, errRead)
	}
	summary, err := summaryOf(s, baseline)
	if errors.Is(err, store.ErrEmpty) && baseline == "" {
		return readSummary(dir)
	}
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = summary.WriteJSON(&b)
	return b.Bytes(), err
}

// maxSummary bounds the size of summary.json, generously for 100,000 points.
const maxSummary = 2 << 30

func readSummary(dir string) ([]byte, error) {
	return files.Read(filepath.Join(dir, summaryJSON), maxSummary)
}

// summaryOf derives a summary from a store, with the baseline that the experiment has or another.
func summaryOf(s *store.Store, baseline string) (*Summary, error) {
	e, ok, err := s.Experiment()
	if err == nil && !ok {
		err = fmt.Errorf("%s: %w", s.Path(), store.ErrEmpty)
	}
	if err != nil {
		return nil, err
	}
	graphs, err := s.Graphs()
	if err != nil {
		return nil, err
	}
	r, stored, err := storedRunner(&e, s)
	if err != nil {
		return nil, err
	}
	if baseline != "" {
		if err := SetBaseline(r.Points, baseline); err != nil {
			return nil, err
		}
	}
	for _, g := range graphs {
		r.Known[g.Hash] = GraphSummary{Source: g.Source, Vertices: g.Vertices, Edges: g.Edges,
			MaxInDegree: g.MaxInDegree}
	}
	outcomes := make([]Outcome, len(r.Points))
	host := HostSummary{Jobs: 1}
	for i := range outcomes {
		o, ok := stored[i]
		if outcomes[i] = o; !ok {
			outcomes[i] = Outcome{Point: i, Err: ErrNotRun}
		}
		host.Seconds += o.Seconds
	}
	summary := r.Summarise(e.Name, e.Version, outcomes, host)
	summary.steps = s
	return summary, nil
}

// storedRunner expands the stored experiment and reads its outcomes. The configuration of a stored point replaces the
// expanded one, since only it has the values that --set gave inside a section which is an axis.
func storedRunner(e *store.Experiment, s *store.Store) (*Runner, map[int]Outcome, error) {
	l, err := config.ParseWith("stored configuration", []byte(e.Config), nil)
	if err != nil {
		return nil, nil, err
	}
	points, err := Points(l, nil)
	if err != nil {
		return nil, nil, err
	}
	stored := map[int]Outcome{}
	err = s.Each(store.Want{Config: true, Stats: true}, func(row *store.Point) (err error) {
		if row.Position >= len(points) {
			return fmt.Errorf("point %d is stored, and the experiment has %d", row.Position+1, len(points))
		}
		stored[row.Position] = outcome(row)
		p := &points[row.Position]
		if p.YAML() == row.Config {
			return nil
		}
		p.Config, err = config.Parse("stored configuration of a point", []byte(row.Config))
		p.digest = &digest{}
		return err
	})
	return &Runner{Points: points, Known: map[string]GraphSummary{}}, stored, err
}

// Align makes a store that is in a directory that of the experiment, as OpenLedger does, before parts of it run
// elsewhere; create makes one that is not there. Processes that do so at the same time wait for each other.
func Align(dir string, e config.Experiment, r *Runner, search Search, create bool) error {
	is := recordOf(e, version.Text(), version.Model(), len(r.Points))
	was, err := identify(dir)
	if err != nil && !create {
		return nil //nolint:nilerr // nothing to be aligned
	}
	if err == nil && was == is && !create {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for try := 0; ; try++ {
		l, err := OpenLedger(dir, e, r, LedgerOptions{Version: is.Version, Model: is.Model, Search: search})
		if err == nil {
			return l.Close()
		}
		if try == alignTries || !errors.As(err, new(*busyError)) {
			return err
		}
		time.Sleep(alignPause)
	}
}

// Align tries so often, for some 5 s.
const (
	alignTries = 50
	alignPause = 100 * time.Millisecond
)

// PutAside renames the store of a directory, so that a run begins anew.
func PutAside(dir string) error {
	err := os.MkdirAll(dir, 0o755)
	if err != nil {
		return err
	}
	lock, err := acquire(filepath.Join(dir, store.LockFile))
	if err != nil {
		return err
	}
	return errors.Join(putAside(filepath.Join(dir, store.File), time.Now()), lock.Close())
}
