package store

import (
	"database/sql"
	"fmt"
	"math"

	"heddle/sim/stats"
)

func (s *Store) insertSamples(tx *sql.Tx, id int64, samples []Sample) error {
	for i, x := range samples {
		if x.To > math.MaxInt64 {
			return fmt.Errorf("cycle %d does not fit into the store", x.To)
		}
		v, err := s.packed(tx, x.Values)
		if err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT INTO stored_intervals (point, place, start, stop, stats, sum) VALUES "+
			"(?, ?, ?, ?, ?, ?)", id, i, int64(x.From), int64(x.To), v.stats, intervalSum(i, x.From, x.To, &v)); err != nil {
			return err
		}
	}
	return nil
}

// readSamples reads the intervals of the point at a position; below 0: of one that was put aside.
func readSamples(tx *sql.Tx, names *reader, position int) (samples []Sample, err error) {
	want := 0
	if err := each(tx, "SELECT intervals FROM stored_points WHERE position = ?",
		func(r *sql.Rows) error { return r.Scan(&want) }, position); err != nil {
		return nil, err
	}
	err = each(tx, "SELECT i.start, i.stop, i.stats, i.sum FROM stored_points p JOIN stored_intervals i ON i.point = "+
		"p.id "+
		"WHERE "+
		"p.position = ? ORDER BY i.place",
		func(r *sql.Rows) error {
			var from, to, sum int64
			var v packed
			if err := r.Scan(&from, &to, &v.stats, &sum); err != nil {
				return err
			}
			x := Sample{From: uint64(from), To: uint64(to)}
			if intervalSum(len(samples), x.From, x.To, &v) != sum {
				return damaged("interval %d of point %d", len(samples)+1, position+1)
			}
			tree, err := names.read(&v)
			x.Values = cloned(tree)
			samples = append(samples, x)
			return err
		}, position)
	if err == nil && len(samples) != want {
		err = fmt.Errorf("damaged: point %d has %d intervals, and %d were stored", position+1, len(samples), want)
	}
	return samples, err
}

// Timeline returns a table of a point's intervals: start, stop, and a column for each statistic. It has no rows if the
// point was not sampled.
func (s *Store) Timeline(position int) (t *Table, err error) {
	err = s.snapshot(func(tx *sql.Tx) error {
		names, err := newReader(tx)
		if err != nil {
			return err
		}
		samples, err := readSamples(tx, names, position)
		if err == nil {
			t = timeline(samples)
		}
		return err
	})
	return t, err
}

func timeline(samples []Sample) *Table {
	w := wideTable{index: map[string]int{}}
	w.column("start", Integer)
	w.column("stop", Integer)
	for _, x := range samples {
		for _, v := range x.Values {
			w.column(v.Name, kindOf(v))
		}
	}
	for _, x := range samples {
		row := make([]any, len(w.Columns))
		row[0], row[1] = int64(x.From), int64(x.To)
		for _, v := range x.Values {
			row[w.index[v.Name]] = valueOf(v)
		}
		w.Rows = append(w.Rows, row)
	}
	return &w.Table
}

// kindOf returns the kind of a statistic's column.
func kindOf(s stats.Stat) Kind {
	if _, counted := s.Uint(); counted {
		return Integer
	}
	return Number
}

// valueOf returns a statistic's value in a column of that kind.
func valueOf(s stats.Stat) any {
	if n, counted := s.Uint(); counted {
		return int64(n)
	}
	return s.Float()
}

// Timelines returns a table of all points' intervals, with the number of the point, from 1.
func (s *Store) Timelines() (*Table, error) {
	w := wideTable{index: map[string]int{}}
	for _, name := range []string{"point", "start", "stop"} {
		w.column(name, Integer)
	}
	err := s.snapshot(func(tx *sql.Tx) error {
		var positions []int
		names, err := newReader(tx)
		if err != nil {
			return err
		}
		err = each(tx, "SELECT point - 1 FROM points WHERE intervals > 0 ORDER BY point", func(r *sql.Rows) error {
			var p int
			err := r.Scan(&p)
			positions = append(positions, p)
			return err
		})
		for _, p := range positions {
			samples, errPoint := readSamples(tx, names, p)
			if err = errPoint; err != nil {
				break
			}
			w.add(p, timeline(samples))
		}
		return err
	})
	for i, r := range w.Rows { // extend rows that precede the first use of a column
		w.Rows[i] = append(r, make([]any, len(w.Columns)-len(r))...)
	}
	return &w.Table, err
}

// add appends the rows of a point's intervals.
func (w *wideTable) add(position int, t *Table) {
	for _, c := range t.Columns {
		w.column(c.Name, c.Kind)
	}
	for _, r := range t.Rows {
		row := make([]any, len(w.Columns))
		row[0] = int64(position + 1)
		for k, v := range r {
			row[w.index[t.Columns[k].Name]] = v
		}
		w.Rows = append(w.Rows, row)
	}
}
