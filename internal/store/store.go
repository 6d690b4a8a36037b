// Package store keeps the results of an experiment in one SQLite file.
//
// A point is wholly there or not at all: whatever ends the program, what was stored before stays.
// It knows rows only, not what runs them.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite" // also the driver "sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"heddle/internal/files"
	"heddle/sim/stats"
)

// File is the store's name in an experiment's directory.
const File = "results.sqlite"

// Experiment identifies the experiment that a store belongs to.
type Experiment struct {
	Name    string
	Version string // of the program
	Config  string // resolved, as YAML
	Points  int    // that the experiment has
}

// Axis is the value of one axis at a point.
type Axis struct{ Key, Value string }

// Step holds the cycles of one kernel in one super-step.
type Step struct {
	Step   int // from 1; 0: before the first
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
	Identity string // hash of configuration, graph and program version
	Position int    // in the experiment, from 0
	Baseline int    // position of the point its speedup is relative to; -1: none
	Axes     []Axis
	Config   string // resolved, as YAML
	Graph    string // content hash
	Version  string // of the program
	Cycles   uint64
	Half     float64 // half the 95 % confidence interval of the cycles; 0: they are exact
	Verified bool
	Replay   string // what a replayed trace's result is called, which nobody verified; "": it was executed
	Partial  string // why the run was ended before it was done; "": it was not
	Failure  string // its class; "": none
	Error    string
	Seconds  float64 // of the host
	Finished string  // UTC, RFC 3339
	Stats    stats.Tree
	Steps    []Step
	Samples  []Sample // to be stored; Points does not read them
}

// Sample holds the counts from the cycle after From to the cycle To.
type Sample struct {
	From, To uint64
	Values   []stats.Stat // the same statistics in all of a point's
}

// Counts reports whether the point has a result to compare others with.
func (p *Point) Counts() bool {
	return p.Failure == "" && (p.Verified || p.Replay != "" || p.Partial != "")
}

// Store is an open file.
type Store struct {
	db     *sql.DB
	path   string
	writes bool
}

// application is SQLite's application_id: "hedl".
const application = 0x6865646c

// Open opens a store to write, and makes it if it is not there.
func Open(path string) (*Store, error) {
	if err := regular(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if err := known(path); err != nil {
		return nil, err
	}
	s, err := open(path, "rwc", "busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)")
	if err != nil {
		return nil, err
	}
	s.writes = true
	if err := s.migrate(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// known refuses what is no store of this program's, or a newer one's, before a byte of it changes.
func known(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil // to be made
	}
	s, err := open(path, "ro", "query_only(1)", "busy_timeout(10000)")
	if err != nil {
		return err
	}
	_, err = s.vet()
	if needsRecovery(err) {
		err = nil // who opens it to write is told then
	}
	return errors.Join(err, s.Close())
}

// needsRecovery reports whether a file cannot be read before what a killed program left half done is undone:
// Full reports whether an error is that the file system has no room for the database, or could not write it.
func Full(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && (e.Code()&0xff == sqlite3.SQLITE_FULL || e.Code()&0xff == sqlite3.SQLITE_IOERR)
}

// a rollback, a recovery, or a WAL without its index.
func needsRecovery(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_READONLY
}

// OpenRead opens a store to read. What a killed program left half done is undone first, which writes.
func OpenRead(path string) (*Store, error) {
	if err := regular(path); err != nil {
		return nil, err
	}
	s, err := openRead(path)
	if needsRecovery(err) {
		if err := recovered(path); err != nil {
			return nil, err
		}
		return openRead(path)
	}
	return s, err
}

// recovered lets SQLite end, or undo, what was being written when a program was killed.
func recovered(path string) error {
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
		err = fmt.Errorf("%s: has schema version %d, and this program reads %d: run its experiment again, which brings it up to date", path, v, len(migrations))
	case err == nil:
		err = s.alone()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// alone keeps a user's query from writing other files, by ATTACH or VACUUM INTO.
func (s *Store) alone() error {
	ctx := context.Background()
	c, err := s.db.Conn(ctx)
	if err != nil {
		return s.wrap(err)
	}
	_, err = sqlite.Limit(c, sqlite3.SQLITE_LIMIT_ATTACHED, 0)
	return s.wrap(errors.Join(err, c.Close()))
}

// regular refuses what SQLite would wait for, such as a pipe.
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

// Close ends the use of the file. What was written to is left as a single file, which can be copied, and
// read where nothing may be written; that waits for the next time while somebody reads it.
func (s *Store) Close() error {
	if s.writes {
		s.db.Exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE") //nolint:errcheck // see above
	}
	return s.db.Close()
}

// ErrEmpty is a store that was killed while it was made.
var ErrEmpty = errors.New("nothing is stored yet")

// Path is the file's.
func (s *Store) Path() string { return s.path }

func (s *Store) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", s.path, err)
}

// vet returns the version of the schema, 0 of an empty file; it refuses files that are no store.
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
		return 0, fmt.Errorf("%s: has schema version %d, and this program knows up to %d: use a newer heddle", s.path, version, len(migrations))
	}
	return version, nil
}

// migrate brings the schema up to date, in one transaction: a program killed here leaves the version it
// found, never one between, which readers would refuse.
func (s *Store) migrate() error {
	version, err := s.vet()
	if err != nil || version == len(migrations) {
		return err
	}
	return s.transact(func(tx *sql.Tx) error {
		for _, m := range migrations[version:] {
			if _, err := tx.Exec(m); err != nil {
				return err
			}
		}
		_, err := tx.Exec(fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", len(migrations), application))
		return err
	})
}

// transact does all of do, or nothing.
func (s *Store) transact(do func(*sql.Tx) error) error {
	tx, err := s.db.Begin()
	if err != nil {
		return s.wrap(err)
	}
	if err := do(tx); err != nil {
		return s.wrap(errors.Join(err, tx.Rollback()))
	}
	return s.wrap(tx.Commit())
}

// Experiment returns what the store is of; ok is false of a new one.
func (s *Store) Experiment() (e Experiment, ok bool, err error) {
	err = s.db.QueryRow("SELECT name, version, config, points FROM experiment").Scan(&e.Name, &e.Version, &e.Config, &e.Points)
	if errors.Is(err, sql.ErrNoRows) {
		return e, false, nil
	}
	return e, err == nil, s.wrap(err)
}

// Progress counts the points that are stored, and those of them that failed, and says when the last ended.
func (s *Store) Progress() (stored, failed int, last string, err error) {
	err = s.db.QueryRow("SELECT count(*), count(*) FILTER (WHERE failure <> ''), coalesce(max(finished), '') FROM points").Scan(&stored, &failed, &last)
	return stored, failed, last, s.wrap(err)
}

// Begin says what the store is of.
func (s *Store) Begin(e Experiment) error {
	return s.transact(func(tx *sql.Tx) error {
		if _, err := tx.Exec("DELETE FROM points"); err != nil {
			return err
		}
		_, err := tx.Exec("INSERT OR REPLACE INTO experiment (only, name, version, config, points) VALUES (1, ?, ?, ?, ?)", e.Name, e.Version, e.Config, e.Points)
		return err
	})
}

// Count says how many points the experiment has, where it has more than when it began.
func (s *Store) Count(points int) error {
	_, err := s.db.Exec("UPDATE experiment SET points = max(points, ?)", points)
	return s.wrap(err)
}

// PutGraph stores what a graph is like, if that is not there.
func (s *Store) PutGraph(g Graph) error {
	return s.transact(func(tx *sql.Tx) error {
		_, err := tx.Exec(
			"INSERT OR IGNORE INTO graphs (hash, source, vertices, edges, max_in_degree) VALUES (?, ?, ?, ?, ?)",
			g.Hash, g.Source, g.Vertices, g.Edges, g.MaxInDegree)
		return err
	})
}

// Graphs reads what graphs are like, by their hash.
func (s *Store) Graphs() (graphs []Graph, err error) {
	err = s.each("SELECT hash, source, vertices, edges, max_in_degree FROM graphs ORDER BY hash", func(r *sql.Rows) error {
		var g Graph
		err := r.Scan(&g.Hash, &g.Source, &g.Vertices, &g.Edges, &g.MaxInDegree)
		graphs = append(graphs, g)
		return err
	})
	return graphs, s.wrap(err)
}

// Put stores a point, in place of the one in its position.
func (s *Store) Put(p *Point) error {
	return s.transact(func(tx *sql.Tx) error {
		if _, err := tx.Exec("DELETE FROM points WHERE position = ?", p.Position); err != nil {
			return err
		}
		id, err := insertPoint(tx, p)
		if err != nil {
			return err
		}
		return errors.Join(insertAxes(tx, id, p.Axes), insertStats(tx, id, p.Stats), insertSteps(tx, id, p.Steps), insertSamples(tx, id, p.Samples))
	})
}

func insertPoint(tx *sql.Tx, p *Point) (id int64, err error) {
	if p.Cycles > math.MaxInt64 {
		return 0, fmt.Errorf("%d cycles do not fit into the store", p.Cycles)
	}
	var baseline any
	if p.Baseline >= 0 {
		baseline = p.Baseline
	}
	r, err := tx.Exec(`INSERT INTO points (identity, position, baseline, config, graph, version, cycles, half, verified, replay, partial, failure, error, host_seconds, finished)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		p.Identity, p.Position, baseline, p.Config, p.Graph, p.Version, int64(p.Cycles), half(p.Half), p.Verified, p.Replay, p.Partial, p.Failure, p.Error, p.Seconds, p.Finished)
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

func insertAxes(tx *sql.Tx, id int64, axes []Axis) error {
	for i, a := range axes {
		if _, err := tx.Exec("INSERT INTO axes (point, place, key, value) VALUES (?, ?, ?, ?)", id, i, a.Key, a.Value); err != nil {
			return err
		}
	}
	return nil
}

func insertStats(tx *sql.Tx, id int64, tree stats.Tree) error {
	return insertTree(tx, "INSERT INTO statistics (point, place, name, value, half) VALUES (?, ?, ?, ?, ?)", []int64{id}, []stats.Tree{tree})
}

// insertTree stores statistics of points or steps.
func insertTree(tx *sql.Tx, into string, ids []int64, trees []stats.Tree) error {
	if len(trees) == 0 {
		return nil
	}
	name, err := tx.Prepare(putName)
	if err != nil {
		return err
	}
	defer name.Close() //nolint:errcheck // ends with the transaction
	value, err := tx.Prepare(into)
	if err != nil {
		return err
	}
	defer value.Close() //nolint:errcheck // ends with the transaction
	known := map[string]int64{}
	for k, tree := range trees {
		for i, s := range tree {
			v, counted, err := column(s)
			if err != nil {
				return err
			}
			nameID, ok := known[s.Name]
			if !ok {
				if err := name.QueryRow(s.Name, s.Unit, s.Doc, !counted).Scan(&nameID); err != nil {
					return err
				}
				known[s.Name] = nameID
			}
			if _, err := value.Exec(ids[k], i, nameID, v, half(s.Half)); err != nil {
				return err
			}
		}
	}
	return nil
}

// putName finds a name, or adds it.
const putName = "INSERT INTO names (name, unit, doc, ratio) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET unit = excluded.unit, doc = excluded.doc RETURNING id"

// half is half a confidence interval as SQLite has it: NULL of what is exact.
func half(h float64) any {
	if h == 0 {
		return nil
	}
	return h
}

// column is a statistic's value as SQLite has it.
func column(s stats.Stat) (v any, counted bool, err error) {
	n, counted := s.Uint()
	switch {
	case n > math.MaxInt64:
		return nil, counted, fmt.Errorf("%s = %d does not fit into the store", s.Name, n)
	case counted:
		return int64(n), true, nil
	}
	return s.Float(), false, nil
}

func insertSteps(tx *sql.Tx, id int64, steps []Step) error {
	var ids []int64
	var trees []stats.Tree
	for _, s := range steps {
		r, err := tx.Exec("INSERT INTO super_steps (point, step, kernel, cycles, half) VALUES (?, ?, ?, ?, ?)", id, s.Step, s.Kernel, int64(s.Cycles), half(s.Half))
		if err != nil {
			return err
		}
		step, err := r.LastInsertId()
		if err != nil {
			return err
		}
		ids, trees = append(ids, step), append(trees, s.Stats)
	}
	return insertTree(tx, "INSERT INTO step_statistics (super_step, place, name, value, half) VALUES (?, ?, ?, ?, ?)", ids, trees)
}

// Points reads all points, in the experiment's order.
func (s *Store) Points() ([]Point, error) {
	points, byID, err := s.rows()
	if err != nil {
		return nil, s.wrap(err)
	}
	err = errors.Join(s.axes(points, byID), s.statistics(points, byID), s.steps(points, byID))
	return points, s.wrap(err)
}

func (s *Store) rows() (points []Point, byID map[int64]int, err error) {
	byID = map[int64]int{}
	err = s.each(`SELECT id, identity, position, coalesce(baseline, -1), config, graph, version, cycles, coalesce(half, 0), verified, replay, partial, failure, error, host_seconds, finished
		FROM points ORDER BY position`, func(r *sql.Rows) error {
		var p Point
		var id, cycles int64
		err := r.Scan(&id, &p.Identity, &p.Position, &p.Baseline, &p.Config, &p.Graph, &p.Version, &cycles, &p.Half,
			&p.Verified, &p.Replay, &p.Partial, &p.Failure, &p.Error, &p.Seconds, &p.Finished)
		p.Cycles = uint64(cycles)
		if p.Position < 0 && err == nil {
			err = fmt.Errorf("point %d has position %d, which no program writes: the file is damaged", id, p.Position)
		}
		byID[id] = len(points)
		points = append(points, p)
		return err
	})
	return points, byID, err
}

func (s *Store) axes(points []Point, byID map[int64]int) error {
	return s.each("SELECT point, key, value FROM axes ORDER BY point, place", func(r *sql.Rows) error {
		var id int64
		var a Axis
		err := r.Scan(&id, &a.Key, &a.Value)
		p, unknown := of(points, byID, id)
		p.Axes = append(p.Axes, a)
		return errors.Join(err, unknown)
	})
}

func (s *Store) statistics(points []Point, byID map[int64]int) error {
	return s.each("SELECT s.point, n.name, n.unit, n.doc, s.value, coalesce(s.half, 0) FROM statistics s JOIN names n ON n.id = s.name ORDER BY s.point, s.place", func(r *sql.Rows) error {
		var id int64
		var name, unit, doc string
		var value any
		var half float64
		if err := r.Scan(&id, &name, &unit, &doc, &value, &half); err != nil {
			return err
		}
		p, err := of(points, byID, id)
		stat, wrong := statOf(name, unit, doc, value)
		stat.Half = half
		p.Stats = append(p.Stats, stat)
		return errors.Join(err, wrong)
	})
}

func statOf(name, unit, doc string, value any) (stats.Stat, error) {
	switch v := value.(type) {
	case int64:
		return stats.Count(name, unit, doc, uint64(v)), nil
	case float64:
		return stats.Constant(name, unit, doc, v), nil
	}
	return stats.Stat{}, fmt.Errorf("%s: a %T is no value", name, value)
}

func (s *Store) steps(points []Point, byID map[int64]int) error {
	type place struct{ point, step int }
	at := map[int64]place{}
	err := s.each("SELECT id, point, step, kernel, cycles, coalesce(half, 0) FROM super_steps ORDER BY point, step, id", func(r *sql.Rows) error {
		var row, id, cycles int64
		var st Step
		err := r.Scan(&row, &id, &st.Step, &st.Kernel, &cycles, &st.Half)
		st.Cycles = uint64(cycles)
		p, unknown := of(points, byID, id)
		at[row] = place{byID[id], len(p.Steps)}
		p.Steps = append(p.Steps, st)
		return errors.Join(err, unknown)
	})
	if err != nil {
		return err
	}
	return s.each("SELECT s.super_step, n.name, n.unit, n.doc, s.value, coalesce(s.half, 0) FROM step_statistics s JOIN names n ON n.id = s.name ORDER BY s.super_step, s.place", func(r *sql.Rows) error {
		var row int64
		var name, unit, doc string
		var value any
		var half float64
		if err := r.Scan(&row, &name, &unit, &doc, &value, &half); err != nil {
			return err
		}
		to, ok := at[row]
		if !ok {
			return fmt.Errorf("damaged: a statistic of super-step %d, which is not there", row)
		}
		stat, err := statOf(name, unit, doc, value)
		stat.Half = half
		step := &points[to.point].Steps[to.step]
		step.Stats = append(step.Stats, stat)
		return err
	})
}

// of finds the point of a row. A damaged file may have rows of none.
func of(points []Point, byID map[int64]int, id int64) (*Point, error) {
	i, ok := byID[id]
	if !ok {
		return &Point{}, fmt.Errorf("damaged: a row of point %d, which is not there", id)
	}
	return &points[i], nil
}

func (s *Store) each(query string, row func(*sql.Rows) error, args ...any) error {
	r, err := s.db.Query(query, args...)
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

// MaxRows bounds what a user's query may return.
const MaxRows = 1_000_000

// Query runs one SELECT of a user's. Values are int64, float64, string or nil.
func (s *Store) Query(query string) (columns []string, rows [][]any, err error) {
	r, err := s.db.Query(query)
	if err != nil {
		return nil, nil, s.wrap(err)
	}
	defer r.Close() //nolint:errcheck // read only
	if columns, err = r.Columns(); err != nil {
		return nil, nil, s.wrap(err)
	}
	for r.Next() {
		if len(rows) == MaxRows {
			return nil, nil, fmt.Errorf("more than %d rows: say LIMIT", MaxRows)
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
