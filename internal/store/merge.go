package store

import (
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
)

// Head identifies a result of a point.
type Head struct {
	Position                   int
	Identity, Failure, Partial string
	Cycles                     uint64
	Verified                   bool
}

// Heads are those of all stored points, by position.
func (s *Store) Heads() (map[int]Head, error) {
	all := map[int]Head{}
	err := s.each("SELECT position, identity, failure, partial, cycles, verified FROM points", func(r *sql.Rows) error {
		var h Head
		var cycles int64
		err := r.Scan(&h.Position, &h.Identity, &h.Failure, &h.Partial, &cycles, &h.Verified)
		h.Cycles = uint64(cycles)
		all[h.Position] = h
		return err
	})
	return all, s.wrap(err)
}

// Take copies points from another store, in place of those in their positions: all of them, or none. The other one has
// been read by OpenRead, which undoes what a killed program left half done, and nobody writes to it meanwhile.
func (s *Store) Take(path string, positions []int) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	other := (&url.URL{Scheme: "file", Path: abs, RawQuery: "mode=ro"}).String()
	if _, err := s.db.Exec("ATTACH DATABASE ? AS other", other); err != nil {
		return s.wrap(fmt.Errorf("%s: %w", path, err))
	}
	defer s.db.Exec("DETACH DATABASE other") //nolint:errcheck // it ends with the connection
	return s.transact(func(tx *sql.Tx) error {
		for _, q := range []string{
			"INSERT OR IGNORE INTO main.names (name, unit, doc, ratio) SELECT name, unit, doc, ratio FROM other.names ORDER BY id",
			"INSERT OR IGNORE INTO main.graphs SELECT * FROM other.graphs",
		} {
			if _, err := tx.Exec(q); err != nil {
				return err
			}
		}
		for _, p := range positions {
			if err := takePoint(tx, p); err != nil {
				return fmt.Errorf("%s: point %d: %w", path, p+1, err)
			}
		}
		return nil
	})
}

const pointColumns = "identity, position, baseline, config, graph, version, cycles, half, verified, replay, partial, failure, error, host_seconds, finished"

// Tables of a point, whose rows follow it. Names have other numbers in another store.
var pointTables = []string{
	"INSERT INTO main.axes (point, place, key, value) SELECT ?1, place, key, value FROM other.axes WHERE point = ?2",
	`INSERT INTO main.statistics (point, place, name, value, half) SELECT ?1, s.place, m.id, s.value, s.half
		FROM other.statistics s JOIN other.names n ON n.id = s.name JOIN main.names m ON m.name = n.name WHERE s.point = ?2`,
	"INSERT INTO main.intervals (point, place, start, stop) SELECT ?1, place, start, stop FROM other.intervals WHERE point = ?2",
	`INSERT INTO main.samples (point, place, name, value) SELECT ?1, s.place, m.id, s.value
		FROM other.samples s JOIN other.names n ON n.id = s.name JOIN main.names m ON m.name = n.name WHERE s.point = ?2`,
}

func takePoint(tx *sql.Tx, position int) error {
	if _, err := tx.Exec("DELETE FROM main.points WHERE position = ?", position); err != nil {
		return err
	}
	var from int64
	if err := tx.QueryRow("SELECT id FROM other.points WHERE position = ?", position).Scan(&from); err != nil {
		return err
	}
	r, err := tx.Exec("INSERT INTO main.points ("+pointColumns+") SELECT "+pointColumns+" FROM other.points WHERE id = ?", from)
	if err != nil {
		return err
	}
	to, err := r.LastInsertId()
	if err != nil {
		return err
	}
	for _, q := range pointTables {
		if _, err := tx.Exec(q, to, from); err != nil {
			return err
		}
	}
	return takeSteps(tx, to, from)
}

func takeSteps(tx *sql.Tx, to, from int64) error {
	rows, err := tx.Query("SELECT id FROM other.super_steps WHERE point = ? ORDER BY step, id", from)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // read to its end, which closes it
	var steps []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		steps = append(steps, id)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, id := range steps {
		r, err := tx.Exec(
			"INSERT INTO main.super_steps (point, step, kernel, cycles, half) SELECT ?, step, kernel, cycles, half FROM other.super_steps WHERE id = ?",
			to, id)
		if err != nil {
			return err
		}
		step, err := r.LastInsertId()
		if err != nil {
			return err
		}
		if _, err := tx.Exec(`INSERT INTO main.step_statistics (super_step, place, name, value, half) SELECT ?1, s.place, m.id, s.value, s.half
			FROM other.step_statistics s JOIN other.names n ON n.id = s.name JOIN main.names m ON m.name = n.name WHERE s.super_step = ?2`, step, id); err != nil {
			return err
		}
	}
	return nil
}
