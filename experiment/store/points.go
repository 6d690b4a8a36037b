package store

import (
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"

	"heddle/sim/stats"
)

// row is a point as a row of the table points.
type row struct {
	Point
	id               int64
	values           packed
	steps, intervals int // number of rows that the point has in the tables of super-steps and intervals
	configSum, sum   int64
}

// digest returns the checksum of the row without the configuration, which has a checksum of its own because it is not
// always read.
func (r *row) digest() int64 {
	var d digest
	d.text(r.Identity, r.Graph, r.Version, r.Replay, r.Partial, r.Failure, r.Error, r.Finished, r.values.stats,
		r.values.halves.String)
	d.ints(int64(r.Position), int64(r.Baseline), int64(r.Cycles), int64(r.steps), int64(r.intervals))
	d.floats(r.Half, r.Seconds).truths(r.Verified, r.values.halves.Valid)
	for _, a := range r.Axes {
		d.text(a.Key, a.Value)
	}
	if r.Model != "" { // older rows have no model, and keep their checksums
		d.text(r.Model, r.Numbering)
	}
	return d.sum()
}

// stepSum returns the checksum of the row of a launch, the place-th of its point.
func stepSum(place int, s *Step, v *packed) int64 {
	return new(digest).text(s.Kernel, v.stats, v.halves.String).ints(int64(place), int64(s.Step),
		int64(s.Cycles)).floats(s.Half).truths(v.halves.Valid).sum()
}

// intervalSum returns the checksum of the row of an interval.
func intervalSum(place int, from, to uint64, v *packed) int64 {
	return new(digest).text(v.stats).ints(int64(place), int64(from), int64(to)).sum()
}

// Put stores a point, replacing the one at its position.
func (s *Store) Put(p *Point) error {
	return s.transact(func(tx *sql.Tx) error { return s.put(tx, p) })
}

func (s *Store) put(tx *sql.Tx, p *Point) error {
	// A result that was put aside, of an equal point, is not needed any more.
	if _, err := tx.Exec("DELETE FROM stored_points WHERE position = ?1 OR identity = ?2 AND position < 0", p.Position,
		p.Identity); err != nil {
		return err
	}
	id, err := s.insertPoint(tx, p)
	if err != nil {
		return err
	}
	return errors.Join(insertAxes(tx, id, p.Axes), s.insertSteps(tx, id, p.Steps), s.insertSamples(tx, id, p.Samples),
		s.outdate(tx))
}

func (s *Store) insertPoint(tx *sql.Tx, p *Point) (id int64, err error) {
	if p.Cycles > math.MaxInt64 {
		return 0, fmt.Errorf("%d cycles do not fit into the store", p.Cycles)
	}
	r := row{Point: *p, steps: len(p.Steps), intervals: len(p.Samples)}
	if r.values, err = s.packed(tx, p.Stats.Tree()); err != nil {
		return 0, err
	}
	r.Baseline = max(-1, p.Baseline)
	done, err := tx.Exec(`INSERT INTO stored_points (identity, position, baseline, config, graph, version, cycles, half,
			verified, replay, partial, failure, error, host_seconds, finished, stats, halves, steps, intervals, config_sum, sum,
			model, numbering)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		p.Identity, p.Position, baselineValue(p.Baseline), p.Config, p.Graph, p.Version, int64(p.Cycles), half(p.Half),
		p.Verified, p.Replay, p.Partial, p.Failure, p.Error,
		p.Seconds, p.Finished, r.values.stats, r.values.halves, r.steps, r.intervals, new(digest).text(p.Config).sum(),
		r.digest(), p.Model, p.Numbering)
	if err != nil {
		return 0, err
	}
	return done.LastInsertId()
}

// half returns half a confidence interval as a value for SQLite: NULL if the estimate is exact.
func half(h float64) any {
	if h == 0 {
		return nil
	}
	return h
}

func insertAxes(tx *sql.Tx, id int64, axes []Axis) error {
	for i, a := range axes {
		if _, err := tx.Exec("INSERT INTO stored_axes (point, place, key, value) VALUES (?, ?, ?, ?)", id, i, a.Key,
			a.Value); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) insertSteps(tx *sql.Tx, id int64, steps []Step) error {
	if len(steps) == 0 {
		return nil
	}
	insert, err := tx.Prepare("INSERT INTO stored_super_steps (point, step, kernel, cycles, half, stats, halves, sum) " +
		"VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
	if err != nil {
		return err
	}
	defer insert.Close() //nolint:errcheck // ends with the transaction
	for i := range steps {
		x := &steps[i]
		v, err := s.packed(tx, x.Stats)
		if err != nil {
			return err
		}
		if _, err := insert.Exec(id, x.Step, x.Kernel, int64(x.Cycles), half(x.Half), v.stats, v.halves,
			stepSum(i, x, &v)); err != nil {
			return err
		}
	}
	return nil
}

// Want selects the parts of points that are read beside their results.
type Want struct{ Config, Stats, Steps bool }

// All selects everything; samples are read by Timeline.
var All = Want{Config: true, Stats: true, Steps: true}

// Each reads all points in the order of the experiment, in one snapshot. visit may keep the points.
func (s *Store) Each(want Want, visit func(*Point) error) error {
	return s.snapshot(func(tx *sql.Tx) error { return everyPoint(tx, want, s.rebased(visit)) })
}

// SetBaselines makes reads of points have other baselines than are stored, by position.
func (s *Store) SetBaselines(of map[int]int) { s.baselines = of }

// rebased returns visit with the baselines of SetBaselines.
func (s *Store) rebased(visit func(*Point) error) func(*Point) error {
	if s.baselines == nil {
		return visit
	}
	return func(p *Point) error {
		p.Baseline = -1
		if b, ok := s.baselines[p.Position]; ok {
			p.Baseline = b
		}
		return visit(p)
	}
}

// everyPoint reads all points. It compares their number with a count that uses no index, to detect a damaged index, and
// that excludes points put aside by the one position which those have, to detect a damaged position.
func everyPoint(tx *sql.Tx, want Want, visit func(*Point) error) error {
	there, read := 0, 0
	row := tx.QueryRow("SELECT count(*) FROM stored_points NOT INDEXED WHERE position <> -id")
	if err := row.Scan(&there); err != nil {
		return err
	}
	err := eachPoint(tx, want, "position >= 0", nil, func(p *Point) error { read++; return visit(p) })
	if err == nil && read != there {
		err = fmt.Errorf("damaged: %d points are there, and %d of them are found", there, read)
	}
	return err
}

// Points reads all points in the order of the experiment, without samples.
func (s *Store) Points() (points []Point, err error) {
	err = s.Each(All, func(p *Point) error { points = append(points, *p); return nil })
	return points, err
}

// Point reads the point at a position, and the results of its baseline; nil if there is none.
func (s *Store) Point(position int) (p, baseline *Point, err error) {
	err = s.snapshot(func(tx *sql.Tx) error {
		if p, err = pointAt(tx, position, All); err != nil || p == nil {
			return err
		}
		if err = s.rebased(func(*Point) error { return nil })(p); err != nil || p.Baseline < 0 {
			return err
		}
		baseline, err = pointAt(tx, p.Baseline, Want{})
		return err
	})
	return p, baseline, err
}

// pointAt reads the point at a position; nil if there is none.
func pointAt(tx *sql.Tx, position int, want Want) (found *Point, err error) {
	err = eachPoint(tx, want, "position = ?", []any{position}, func(p *Point) error { found = p; return nil })
	return found, err
}

// eachPoint reads the points that satisfy a condition, also of those that were put aside.
func eachPoint(tx *sql.Tx, want Want, where string, args []any, visit func(*Point) error) error {
	return readPoints(tx, want, where, args, func(r *row) error { return visit(r.present()) })
}

// KeyName returns the present name of a stored key. Stores have keys by names that never change, by which rows are
// moved and compared; readers of points see the present ones. This package knows no keys: package experiment, which
// does, sets the function.
var KeyName = func(stored string) string { return stored }

// present returns the row's point with the present names of its axes.
func (r *row) present() *Point {
	for i := range r.Axes {
		r.Axes[i].Key = KeyName(r.Axes[i].Key)
	}
	return &r.Point
}

// readPoints is eachPoint with the points' rows.
func readPoints(tx *sql.Tx, want Want, where string, args []any, visit func(*row) error) error {
	from, err := newPointReader(tx)
	if err != nil {
		return err
	}
	defer from.close()
	return from.each(want, where, args, visit)
}

// pointReader reads points in one transaction.
type pointReader struct {
	tx          *sql.Tx
	names       *reader
	axes, steps *sql.Stmt
}

func newPointReader(tx *sql.Tx) (*pointReader, error) {
	names, err := newReader(tx)
	if err != nil {
		return nil, err
	}
	axes, err := tx.Prepare("SELECT key, value FROM stored_axes WHERE point = ? ORDER BY place")
	if err != nil {
		return nil, err
	}
	steps, err := tx.Prepare("SELECT step, kernel, cycles, coalesce(half, 0), stats, halves, sum FROM " +
		"stored_super_steps WHERE point = ? ORDER BY step, id")
	return &pointReader{tx, names, axes, steps}, err
}

func (f *pointReader) close() {
	f.axes.Close()  //nolint:errcheck // ends with the transaction
	f.steps.Close() //nolint:errcheck // ends with the transaction
}

func (f *pointReader) each(want Want, where string, args []any, visit func(*row) error) error {
	return each(f.tx, "SELECT "+pointColumns(want, modelColumns)+" FROM stored_points WHERE "+where+" ORDER BY position",
		func(rows *sql.Rows) error {
			r, err := scanPoint(rows, f.axes)
			if err != nil {
				return err
			}
			if err := r.verify(want); err != nil {
				return err
			}
			if want.Stats {
				tree, err := f.names.read(&r.values)
				if err != nil {
					return err
				}
				r.Stats = stats.Pack(tree)
			}
			if want.Steps {
				if err := r.readSteps(f.names, f.steps); err != nil {
					return err
				}
			}
			return visit(r)
		}, args...)
}

// whole reads the point of a row, with super-steps and samples.
func (f *pointReader) whole(id int64) (p *Point, err error) {
	err = f.each(All, "id = ?", []any{id}, func(r *row) error { p = &r.Point; return nil })
	if err == nil && p == nil {
		err = sql.ErrNoRows
	}
	if err != nil {
		return nil, err
	}
	p.Samples, err = readSamples(f.tx, f.names, p.Position)
	return p, err
}

// Columns that pointColumns takes: those of today's table, and constants in older ones.
const (
	modelColumns = "model, numbering"
	noModel      = "'', ''"
)

// pointColumns returns the columns that scanPoint reads; model is modelColumns or noModel.
func pointColumns(want Want, model string) string {
	config := "''"
	if want.Config {
		config = "config"
	}
	return "id, identity, position, coalesce(baseline, -1), " + config + `, graph, version, cycles, coalesce(half, 0),
		verified, replay, partial, failure, error, host_seconds, finished, stats, halves, steps, intervals, config_sum,
		sum, ` + model
}

func scanPoint(rows *sql.Rows, axes *sql.Stmt) (*row, error) {
	r := &row{}
	var cycles int64
	if err := rows.Scan(&r.id, &r.Identity, &r.Position, &r.Baseline, &r.Config, &r.Graph, &r.Version, &cycles, &r.Half,
		&r.Verified, &r.Replay,
		&r.Partial, &r.Failure, &r.Error, &r.Seconds, &r.Finished, &r.values.stats, &r.values.halves, &r.steps,
		&r.intervals, &r.configSum, &r.sum, &r.Model, &r.Numbering); err != nil {
		return nil, err
	}
	r.Cycles = uint64(cycles)
	list, err := axes.Query(r.id)
	if err != nil {
		return nil, err
	}
	defer list.Close() //nolint:errcheck // read only
	for list.Next() {
		var a Axis
		if err := list.Scan(&a.Key, &a.Value); err != nil {
			return nil, err
		}
		r.Axes = append(r.Axes, a)
	}
	return r, list.Err()
}

// verify checks a row against its checksums.
func (r *row) verify(want Want) error {
	if r.digest() != r.sum || want.Config && new(digest).text(r.Config).sum() != r.configSum {
		return damaged("point %d", r.Position+1)
	}
	return nil
}

// cloned copies a tree whose memory its reader reuses.
func cloned(t stats.Tree) stats.Tree {
	if len(t) == 0 {
		return nil
	}
	return slices.Clone(t)
}

func (r *row) readSteps(names *reader, steps *sql.Stmt) error {
	rows, err := steps.Query(r.id)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // read only
	for rows.Next() {
		var x Step
		var v packed
		var cycles, sum int64
		if err := rows.Scan(&x.Step, &x.Kernel, &cycles, &x.Half, &v.stats, &v.halves, &sum); err != nil {
			return err
		}
		x.Cycles = uint64(cycles)
		if stepSum(len(r.Steps), &x, &v) != sum {
			return damaged("super-step %d of point %d", x.Step, r.Position+1)
		}
		tree, err := names.read(&v)
		if err != nil {
			return err
		}
		x.Stats = cloned(tree)
		r.Steps = append(r.Steps, x)
	}
	if len(r.Steps) != r.steps {
		return fmt.Errorf("damaged: point %d has %d rows of super-steps, and %d were stored", r.Position+1,
			len(r.Steps), r.steps)
	}
	return rows.Err()
}
