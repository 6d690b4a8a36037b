// Package store keeps the results of an experiment in one SQLite file.
//
// Points are stored in transactions: however the program ends, a point is stored completely or not at all, and earlier
// points are unaffected. Every row has a checksum, which readers verify. The package does not know how points are run.
//
// A stored point has a position in the experiment, or none (a number below 0) after the experiment has changed and does
// not have it any more: it was put aside, and only Index and Arrange see it.
//
// Life of a store: Open creates the file or migrates it to the current schema; Arrange records the experiment, and
// gives the points that are stored their positions in it; Put replaces the point at a position; SetSummarised records
// that the summaries beside the file are up to date, which the next Put revokes; Close turns the write-ahead log back
// into a single file. Readers use OpenRead, also while a run is writing.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"modernc.org/sqlite" // also the driver "sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"heddle/internal/files"
	"heddle/sim/stats"
)

// File is the name of the store in a results directory.
const File = "results.sqlite"

// Experiment identifies the experiment that a store belongs to.
type Experiment struct {
	Name    string
	Version string // of the program
	Model   string // digest of the program's sources that cycles depend on; "": not recorded
	Config  string // resolved, as YAML
	Points  int    // number of points of the experiment, stored or not
}

// Axis is the value of one axis at a point.
type Axis struct{ Key, Value string }

// Step holds the cycles and statistics of one launch in a super-step.
type Step struct {
	Step   int // from 1; 0: before the first super-step
	Kernel string
	Cycles uint64
	Half   float64 // half the 95 % confidence interval of the cycles; 0: they are exact
	Stats  stats.Tree
}

// Graph describes a graph.
type Graph struct {
	Hash, Source                 string
	Vertices, Edges, MaxInDegree int
}

// Point is the outcome of one point.
type Point struct {
	Identity string // hash of everything that determines the result
	Position int    // in the experiment, from 0; below 0: put aside
	Baseline int    // position of the point its speedup is relative to; -1: none
	Axes     []Axis
	Config   string // resolved, as YAML
	Graph    string // content hash
	// Numbering is the SHA-256 of the numbers that the graph's vertices had when it was read; "": they have kept them.
	Numbering string
	Version   string // of the program
	Model     string // digest of the program's sources that cycles depend on; "": not recorded
	Cycles    uint64
	Half      float64 // half the 95 % confidence interval of the cycles; 0: they are exact
	Verified  bool
	Replay    string // verdict on a result that is not verified, as of a replayed trace; "": none
	Partial   string // reason for which the run ended early; "": it was complete
	Failure   string // class of the error; "": none
	Error     string
	Seconds   float64 // of the host
	Finished  string  // UTC, RFC 3339
	Stats     stats.Packed
	Steps     []Step
	Samples   []Sample // written by Put only; Timeline reads them
}

// Sample holds the counts from the cycle after From to the cycle To.
type Sample struct {
	From, To uint64
	Values   []stats.Stat // the same statistics in all samples of a point
}

// Counts reports whether the point has a result that can be compared.
func (p *Point) Counts() bool {
	return p.Failure == "" && (p.Verified || p.Replay != "" || p.Partial != "")
}

// Store is an open file.
type Store struct {
	db     *sql.DB
	path   string
	writes bool

	names      map[string]name // cache of the table of names; nil: not read yet
	lastName   int64           // the highest number in names
	graphs     map[string]bool // hashes that are known to be stored
	summarised bool            // the row may record that the summaries are up to date
	baselines  map[int]int     // by position, instead of the stored ones; nil: those
}

// application is SQLite's application_id: "hedl".
const application = 0x6865646c

// Open opens a store for writing, and creates it if it does not exist.
func Open(path string) (*Store, error) {
	if err := regular(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if err := checkFile(path); err != nil {
		return nil, err
	}
	s, err := open(path, "rwc", "busy_timeout(10000)", "journal_mode(WAL)", logPages, "synchronous(FULL)",
		"foreign_keys(1)")
	if err != nil {
		return nil, err
	}
	s.writes, s.summarised = true, true
	if err := s.migrate(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// logPages bounds SQLite's write-ahead log, in pages. The default of 4 MB could fill a small file system that has room
// for the results.
const logPages = "wal_autocheckpoint(128)"

// checkFile returns an error for a file that is not a store, or has a newer schema, before Open changes it.
func checkFile(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil // Open creates it
	}
	s, err := open(path, "ro", "query_only(1)", "busy_timeout(10000)")
	if err != nil {
		return err
	}
	_, err = s.vet()
	if needsRecovery(err) {
		err = nil // opening it for writing recovers it, or reports the error
	}
	return errors.Join(err, s.Close())
}

// Full reports whether an error means that the file system is full or failed to write.
func Full(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && (e.Code()&0xff == sqlite3.SQLITE_FULL || e.Code()&0xff == sqlite3.SQLITE_IOERR)
}

// needsRecovery reports whether a file cannot be read before the unfinished transaction of a killed program has been
// rolled back, which takes write access.
func needsRecovery(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_READONLY
}

// OpenRead opens a store for reading. An unfinished transaction of a killed program is rolled back first, and a store
// of an older schema is brought up to date unless a run is writing to it; both write to the file.
func OpenRead(path string) (*Store, error) {
	s, err := OpenCurrent(path)
	var older *OlderError
	if !errors.As(err, &older) {
		return s, err
	}
	if err := upgrade(path); err != nil {
		return nil, fmt.Errorf("%w, and cannot be brought up to date: %w", older, err)
	}
	return openRead(path)
}

// OpenCurrent is OpenRead without bringing an older store up to date, which older programs could then not open: that is
// an *OlderError.
func OpenCurrent(path string) (*Store, error) {
	if err := regular(path); err != nil {
		return nil, err
	}
	s, err := openRead(path)
	if needsRecovery(err) {
		if err := recoverFile(path); err != nil {
			return nil, err
		}
		return openRead(path)
	}
	return s, err
}

// OlderError reports a store of an older schema.
type OlderError struct {
	path    string
	version int
}

func (e *OlderError) Error() string {
	return fmt.Sprintf("%s: has schema version %d, and this program reads %d", e.path, e.version, len(migrations))
}

// LockFile is the name of the file, beside the store, that a run locks. An older program that is running could not
// store its results any more if its store were brought up to date.
const LockFile = "lock"

// upgrade brings a store up to date.
func upgrade(path string) error {
	if lock, err := os.OpenFile(filepath.Join(filepath.Dir(path), LockFile), os.O_RDWR, 0); err == nil {
		defer lock.Close() //nolint:errcheck // releases the lock
		if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			return errors.New("a run is writing to it")
		}
	}
	s, err := Open(path)
	if err != nil {
		return err
	}
	return s.Close()
}

// recoverFile lets SQLite recover a file that a killed program left.
func recoverFile(path string) error {
	s, err := open(path, "rw", "busy_timeout(10000)")
	if err != nil {
		return err
	}
	_, err = s.vet()
	return errors.Join(err, s.Close())
}

func openRead(path string) (*Store, error) {
	s, err := open(path, "ro", "query_only(1)", "busy_timeout(10000)")
	if err != nil {
		return nil, err
	}
	v, err := s.vet()
	switch {
	case err == nil && v == 0:
		err = s.wrap(ErrEmpty)
	case err == nil && v < len(migrations):
		err = &OlderError{path, v}
	case err == nil:
		err = s.denyAttach()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// denyAttach prevents queries from writing to other files by ATTACH or VACUUM INTO.
func (s *Store) denyAttach() error {
	ctx := context.Background()
	c, err := s.db.Conn(ctx)
	if err != nil {
		return s.wrap(err)
	}
	_, err = sqlite.Limit(c, sqlite3.SQLITE_LIMIT_ATTACHED, 0)
	return s.wrap(errors.Join(err, c.Close()))
}

// regular returns an error for files on which SQLite would block, such as pipes.
func regular(path string) error {
	f, err := files.Open(path)
	if err != nil {
		return err
	}
	return f.Close()
}

func open(path, mode string, pragmas ...string) (*Store, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	q := url.Values{"mode": {mode}, "_txlock": {"immediate"}}
	for _, p := range pragmas {
		q.Add("_pragma", p)
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: abs, RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // one connection, one order of writes
	return &Store{db: db, path: path}, nil
}

// Close closes the file. A written store is left as a single file, which can be copied, and read on a read-only file
// system; while another process is reading it, that is left to the next Close.
func (s *Store) Close() error {
	if s.writes {
		s.db.Exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE") //nolint:errcheck // see above
	}
	return s.db.Close()
}

// ErrEmpty is the error of a store whose creation was interrupted.
var ErrEmpty = errors.New("nothing is stored yet")

// Path returns the path of the file.
func (s *Store) Path() string { return s.path }

func (s *Store) wrap(err error) error {
	if err == nil || errors.As(err, new(*files.Error)) { // it names a file already
		return err
	}
	return &files.Error{Path: s.path, Err: err}
}

// vet returns the version of the schema, 0 for an empty file, and an error for a file that is not a store.
func (s *Store) vet() (version int, err error) {
	var app, tables int
	if err := s.db.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return 0, s.wrap(err)
	}
	if err := s.db.QueryRow("PRAGMA application_id").Scan(&app); err != nil {
		return 0, s.wrap(err)
	}
	if err := s.db.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		return 0, s.wrap(err)
	}
	switch {
	case tables > 0 && app != application:
		return 0, fmt.Errorf("%s: is a database, but not of heddle's results", s.path)
	case version < 0:
		return 0, fmt.Errorf("%s: has schema version %d, which no program writes: the file is damaged", s.path, version)
	case version > len(migrations):
		return 0, fmt.Errorf("%s: has schema version %d, and this program knows up to %d: use a newer heddle", s.path,
			version, len(migrations))
	}
	return version, nil
}

// migrate upgrades the schema in one transaction, so that a program killed meanwhile never leaves an intermediate
// version, which readers would refuse.
func (s *Store) migrate() error {
	version, err := s.vet()
	if err != nil || version == len(migrations) {
		return err
	}
	return s.transact(func(tx *sql.Tx) error {
		for _, m := range migrations[version:] {
			if _, err := tx.Exec(m.tables); err != nil {
				return err
			}
			if m.rows == nil {
				continue
			}
			if err := m.rows(tx); err != nil {
				return err
			}
		}
		_, err := tx.Exec(fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", len(migrations),
			application))
		return err
	})
}

// transact runs do in a transaction. On an error it drops the caches, which may have entries that were rolled back.
func (s *Store) transact(do func(*sql.Tx) error) error {
	tx, err := s.db.Begin()
	if err != nil {
		return s.wrap(err)
	}
	if err = do(tx); err != nil {
		err = errors.Join(err, tx.Rollback())
	} else {
		err = tx.Commit()
	}
	if err != nil { // the file is as before: names that it has been given are not in it
		s.names, s.graphs, s.summarised = nil, nil, true
	}
	return s.wrap(err)
}

// snapshot runs read in a transaction, in which it sees no writes of other processes.
func (s *Store) snapshot(read func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(context.Background(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return s.wrap(err)
	}
	return s.wrap(errors.Join(read(tx), tx.Rollback()))
}

// Experiment returns the experiment that Begin recorded; ok is false if there is none yet.
func (s *Store) Experiment() (e Experiment, ok bool, err error) {
	err = s.snapshot(func(tx *sql.Tx) error { e, ok, err = experimentIn(tx); return err })
	return e, ok, err
}

func experimentIn(tx *sql.Tx) (e Experiment, ok bool, err error) {
	var sum int64
	err = tx.QueryRow("SELECT name, version, model, config, points, sum FROM experiment").Scan(&e.Name,
		&e.Version, &e.Model, &e.Config, &e.Points, &sum)
	if errors.Is(err, sql.ErrNoRows) {
		return e, false, nil
	}
	if err == nil && e.sum() != sum {
		err = damaged("the experiment's row")
	}
	return e, err == nil, err
}

func (e *Experiment) sum() int64 {
	d := new(digest).text(e.Name, e.Version, e.Config).ints(int64(e.Points))
	if e.Model != "" { // older rows have no model, and keep their checksums
		d.text(e.Model)
	}
	return d.sum()
}

func (e *Experiment) put(tx *sql.Tx) error {
	_, err := tx.Exec("INSERT OR REPLACE INTO experiment (only, name, version, model, config, points, sum) VALUES "+
		"(1, ?, ?, ?, ?, ?, ?)",
		e.Name, e.Version, e.Model, e.Config, e.Points, e.sum())
	return err
}

// Progress returns the numbers of stored and failed points, and the time at which the last one ended.
func (s *Store) Progress() (stored, failed int, last string, err error) {
	err = s.db.QueryRow("SELECT count(*), count(*) FILTER (WHERE failure <> ''), coalesce(max(finished), '') FROM "+
		"points").Scan(&stored, &failed, &last)
	return stored, failed, last, s.wrap(err)
}

// Count raises the recorded number of points, to which a search adds.
func (s *Store) Count(points int) error {
	e, ok, err := s.Experiment()
	if err != nil || !ok || e.Points >= points {
		return err
	}
	e.Points = points
	return s.transact(e.put)
}

// Summarised reports whether the summaries beside the store are up to date.
func (s *Store) Summarised() (yes bool, err error) {
	err = s.db.QueryRow("SELECT summarised FROM experiment").Scan(&yes)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return yes, s.wrap(err)
}

// SetSummarised records that the summaries are up to date, until the next point is stored.
func (s *Store) SetSummarised() error {
	_, err := s.db.Exec("UPDATE experiment SET summarised = 1")
	s.summarised = true
	return s.wrap(err)
}

// outdate revokes SetSummarised.
func (s *Store) outdate(tx *sql.Tx) error {
	if !s.summarised {
		return nil
	}
	_, err := tx.Exec("UPDATE experiment SET summarised = 0")
	s.summarised = false
	return err
}

// PutGraph stores the description of a graph unless it is stored already.
func (s *Store) PutGraph(g Graph) error {
	if s.graphs[g.Hash] {
		return nil
	}
	return s.transact(func(tx *sql.Tx) error { return s.putGraph(tx, &g) })
}

func (s *Store) putGraph(tx *sql.Tx, g *Graph) error {
	_, err := tx.Exec("INSERT OR IGNORE INTO graphs (hash, source, vertices, edges, max_in_degree, sum) VALUES (?, "+
		"?, ?, ?, ?, ?)",
		g.Hash, g.Source, g.Vertices, g.Edges, g.MaxInDegree, g.sum())
	if s.graphs == nil {
		s.graphs = map[string]bool{}
	}
	s.graphs[g.Hash] = true
	return err
}

func (g *Graph) sum() int64 {
	return new(digest).text(g.Hash, g.Source).ints(int64(g.Vertices), int64(g.Edges), int64(g.MaxInDegree)).sum()
}

// Graphs reads the descriptions of graphs, sorted by hash.
func (s *Store) Graphs() (graphs []Graph, err error) {
	err = s.snapshot(func(tx *sql.Tx) error {
		return each(tx, "SELECT hash, source, vertices, edges, max_in_degree, sum FROM graphs ORDER BY hash",
			func(r *sql.Rows) error {
				var g Graph
				var sum int64
				err := r.Scan(&g.Hash, &g.Source, &g.Vertices, &g.Edges, &g.MaxInDegree, &sum)
				if err == nil && sum != g.sum() {
					err = damaged("the row of graph %.12s", g.Hash)
				}
				graphs = append(graphs, g)
				return err
			})
	})
	return graphs, err
}

func each(tx *sql.Tx, query string, row func(*sql.Rows) error, args ...any) error {
	r, err := tx.Query(query, args...)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // read only
	for r.Next() {
		if err := row(r); err != nil {
			return err
		}
	}
	return r.Err()
}

// MaxRows bounds the result of a query.
const MaxRows = 1_000_000

// Query runs a user's SELECT. Values are int64, float64, string or nil.
func (s *Store) Query(query string) (columns []string, rows [][]any, err error) {
	r, err := s.db.Query(query)
	if err != nil {
		if m := err.Error(); strings.Contains(m, "no such column") && strings.Contains(m, "position") {
			err = fmt.Errorf("%w: points are numbered from 1, in the column point", err)
		}
		return nil, nil, s.wrap(err)
	}
	defer r.Close() //nolint:errcheck // read only
	if columns, err = r.Columns(); err != nil {
		return nil, nil, s.wrap(err)
	}
	for r.Next() {
		if len(rows) == MaxRows {
			return nil, nil, fmt.Errorf("more than %d rows: add a LIMIT", MaxRows)
		}
		row, err := scan(r, len(columns))
		if err != nil {
			return nil, nil, s.wrap(err)
		}
		rows = append(rows, row)
	}
	return columns, rows, s.wrap(r.Err())
}

func scan(r *sql.Rows, n int) ([]any, error) {
	row, at := make([]any, n), make([]any, n)
	for i := range row {
		at[i] = &row[i]
	}
	err := r.Scan(at...)
	for i, v := range row {
		if b, ok := v.([]byte); ok {
			row[i] = string(b)
		}
	}
	return row, err
}
