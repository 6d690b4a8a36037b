package store

import (
	"database/sql"
	"fmt"
	"strings"
)

// pack moves statistics from tables of their own into the rows that they describe, and computes all checksums.
func pack(tx *sql.Tx) error {
	for _, t := range []struct{ rows, into string }{
		{"SELECT point, name, value, half FROM statistics ORDER BY point, place",
			"UPDATE points SET stats = ?2, halves = ?3 WHERE id = ?1"},
		{"SELECT super_step, name, value, half FROM step_statistics ORDER BY super_step, place",
			"UPDATE super_steps SET stats = ?2, halves = ?3 WHERE id = ?1"},
	} {
		if err := packRows(tx, t.rows, func(id int64, v *packed) error {
			_, err := tx.Exec(t.into, id, v.stats, v.halves)
			return err
		}); err != nil {
			return err
		}
	}
	if err := packSamples(tx); err != nil {
		return err
	}
	for _, q := range []string{
		"UPDATE points SET steps = (SELECT count(*) FROM super_steps t WHERE t.point = points.id)",
		"UPDATE points SET intervals = (SELECT count(*) FROM intervals i WHERE i.point = points.id)",
	} {
		if _, err := tx.Exec(q); err != nil {
			return err
		}
	}
	return sumRows(tx)
}

// packRows packs consecutive rows of one owner, and calls done with each result.
func packRows(tx *sql.Tx, query string, done func(id int64, v *packed) error) error {
	var owner int64
	var stats, halves strings.Builder
	end := func() error {
		if stats.Len() == 0 {
			return nil
		}
		v := packed{stats: "{" + stats.String() + "}"}
		if halves.Len() > 0 {
			v.halves = sql.NullString{String: "{" + halves.String() + "}", Valid: true}
		}
		stats.Reset()
		halves.Reset()
		return done(owner, &v)
	}
	err := each(tx, query, func(r *sql.Rows) error {
		var id, name int64
		var value, half any
		if err := r.Scan(&id, &name, &value, &half); err != nil {
			return err
		}
		if id != owner {
			if err := end(); err != nil {
				return err
			}
			owner = id
		}
		if err := addValue(&stats, name, value); err != nil || half == nil {
			return err
		}
		return addValue(&halves, name, half)
	})
	if err != nil {
		return err
	}
	return end()
}

func addValue(b *strings.Builder, name int64, value any) error {
	if b.Len() > 0 {
		b.WriteByte(',')
	}
	fmt.Fprintf(b, `"%d":`, name)
	switch x := value.(type) {
	case int64:
		fmt.Fprint(b, x)
	case float64:
		text, err := appendFloat(nil, x)
		b.Write(text)
		return err
	default:
		return fmt.Errorf("damaged: a statistic of name %d is a %T", name, value)
	}
	return nil
}

func packSamples(tx *sql.Tx) error {
	points, err := numbers(tx, "SELECT DISTINCT point FROM intervals")
	if err != nil {
		return err
	}
	for _, point := range points {
		query := fmt.Sprintf("SELECT place, name, value, NULL FROM samples WHERE point = %d ORDER BY place, name",
			point)
		if err := packRows(tx, query, func(place int64, v *packed) error {
			_, err := tx.Exec("UPDATE intervals SET stats = ? WHERE point = ? AND place = ?", v.stats, point, place)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

func numbers(tx *sql.Tx, query string) (list []int64, err error) {
	err = each(tx, query, func(r *sql.Rows) error {
		var n int64
		err := r.Scan(&n)
		list = append(list, n)
		return err
	})
	return list, err
}

// sumRows sets the checksums of all rows.
func sumRows(tx *sql.Tx) error {
	setName, graph := sumSetter(tx, "names", "id = ?"), sumSetter(tx, "graphs", "hash = ?")
	whole, step := sumSetter(tx, "experiment", "only = ?"), sumSetter(tx, "super_steps", "id = ?")
	interval := sumSetter(tx, "intervals", "point = ? AND place = ?")
	for _, t := range []struct {
		query string
		row   func(r *sql.Rows) error
	}{
		{"SELECT id, name, unit, doc, ratio FROM names", func(r *sql.Rows) error {
			var n name
			if err := r.Scan(&n.id, &n.name, &n.unit, &n.doc, &n.ratio); err != nil {
				return err
			}
			return setName(n.sum(), n.id)
		}},
		{"SELECT hash, source, vertices, edges, max_in_degree FROM graphs", func(r *sql.Rows) error {
			var g Graph
			if err := r.Scan(&g.Hash, &g.Source, &g.Vertices, &g.Edges, &g.MaxInDegree); err != nil {
				return err
			}
			return graph(g.sum(), g.Hash)
		}},
		{"SELECT name, version, config, points FROM experiment", func(r *sql.Rows) error {
			var e Experiment
			if err := r.Scan(&e.Name, &e.Version, &e.Config, &e.Points); err != nil {
				return err
			}
			return whole(e.sum(), 1)
		}},
		{"SELECT row_number() OVER (PARTITION BY point ORDER BY step, id) - 1, id, step, kernel, cycles, " +
			"coalesce(half, 0), stats, halves FROM super_steps", func(r *sql.Rows) error {
			var x Step
			var v packed
			var place int
			var id, cycles int64
			if err := r.Scan(&place, &id, &x.Step, &x.Kernel, &cycles, &x.Half, &v.stats, &v.halves); err != nil {
				return err
			}
			x.Cycles = uint64(cycles)
			return step(stepSum(place, &x, &v), id)
		}},
		{"SELECT point, place, start, stop, stats FROM intervals", func(r *sql.Rows) error {
			var v packed
			var place int
			var point, from, to int64
			if err := r.Scan(&point, &place, &from, &to, &v.stats); err != nil {
				return err
			}
			return interval(intervalSum(place, uint64(from), uint64(to), &v), point, place)
		}},
	} {
		if err := each(tx, t.query, t.row); err != nil {
			return err
		}
	}
	return sumPoints(tx)
}

// sumSetter returns a function that sets the checksum of the table's row at a key.
func sumSetter(tx *sql.Tx, table, key string) func(sum int64, at ...any) error {
	return func(sum int64, at ...any) error {
		_, err := tx.Exec("UPDATE "+table+" SET sum = ? WHERE "+key, append([]any{sum}, at...)...)
		return err
	}
}

func sumPoints(tx *sql.Tx) error {
	axes, err := tx.Prepare("SELECT key, value FROM axes WHERE point = ? ORDER BY place")
	if err != nil {
		return err
	}
	defer axes.Close() //nolint:errcheck // ends with the transaction
	return each(tx, "SELECT "+pointColumns(All, noModel)+" FROM points", func(rows *sql.Rows) error {
		r, err := scanPoint(rows, axes)
		if err != nil {
			return err
		}
		_, err = tx.Exec("UPDATE points SET config_sum = ?, sum = ? WHERE id = ?", new(digest).text(r.Config).sum(),
			r.digest(), r.id)
		return err
	})
}
