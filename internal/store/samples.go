package store

import (
	"database/sql"
	"fmt"
	"math"

	"heddle/sim/stats"
)

func insertSamples(tx *sql.Tx, id int64, samples []Sample) error {
	if len(samples) == 0 {
		return nil
	}
	names, err := sampleNames(tx, samples[0].Values)
	if err != nil {
		return err
	}
	interval, err := tx.Prepare("INSERT INTO intervals (point, place, start, stop) VALUES (?, ?, ?, ?)")
	if err != nil {
		return err
	}
	defer interval.Close() //nolint:errcheck // ends with the transaction
	value, err := tx.Prepare("INSERT INTO samples (point, place, name, value) VALUES (?, ?, ?, ?)")
	if err != nil {
		return err
	}
	defer value.Close() //nolint:errcheck // ends with the transaction
	for i, s := range samples {
		if s.To > math.MaxInt64 {
			return fmt.Errorf("cycle %d does not fit into the store", s.To)
		}
		if _, err := interval.Exec(id, i, int64(s.From), int64(s.To)); err != nil {
			return err
		}
		for k, x := range s.Values {
			v, _, err := column(x)
			if err != nil {
				return err
			}
			if _, err := value.Exec(id, i, names[k], v); err != nil {
				return err
			}
		}
	}
	return nil
}

// sampleNames are the numbers of the statistics' names.
func sampleNames(tx *sql.Tx, of []stats.Stat) (ids []int64, err error) {
	for _, s := range of {
		var id int64
		_, counted := s.Uint()
		if err := tx.QueryRow(putName, s.Name, s.Unit, s.Doc, !counted).Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// Timeline is a table of a point's intervals: start, stop, and a column for each statistic. It has no rows
// if none were sampled.
func (s *Store) Timeline(position int) (*Table, error) {
	t := &Table{Columns: []Column{{"start", Integer}, {"stop", Integer}}}
	at := map[int64]int{}
	err := s.each(`SELECT DISTINCT n.id, n.name, n.ratio FROM samples s JOIN names n ON n.id = s.name JOIN points p ON p.id = s.point
		WHERE p.position = ? AND s.place = 0 ORDER BY n.id`, func(r *sql.Rows) error {
		var id int64
		var name string
		var ratio bool
		err := r.Scan(&id, &name, &ratio)
		at[id] = len(t.Columns)
		kind := Integer
		if ratio {
			kind = Number
		}
		t.Columns = append(t.Columns, Column{name, kind})
		return err
	}, position)
	if err != nil {
		return nil, s.wrap(err)
	}
	err = s.each("SELECT i.start, i.stop FROM intervals i JOIN points p ON p.id = i.point WHERE p.position = ? ORDER BY i.place", func(r *sql.Rows) error {
		row := make([]any, len(t.Columns))
		var start, stop int64
		err := r.Scan(&start, &stop)
		row[0], row[1] = start, stop
		t.Rows = append(t.Rows, row)
		return err
	}, position)
	if err != nil {
		return nil, s.wrap(err)
	}
	err = s.each("SELECT s.place, s.name, s.value FROM samples s JOIN points p ON p.id = s.point WHERE p.position = ?", func(r *sql.Rows) error {
		var place, name int64
		var v any
		if err := r.Scan(&place, &name, &v); err != nil {
			return err
		}
		column, ok := at[name]
		if !ok || place < 0 || place >= int64(len(t.Rows)) {
			return fmt.Errorf("damaged: a sample of interval %d, which is not there", place)
		}
		t.Rows[place][column] = v
		return nil
	}, position)
	return t, s.wrap(err)
}

// Timelines is a table of all points' intervals, with the points' numbers from 1.
func (s *Store) Timelines(points []Point) (*Table, error) {
	w := wide{at: map[string]int{}}
	w.column("point", Integer)
	for i := range points {
		t, err := s.Timeline(points[i].Position)
		if err != nil {
			return nil, err
		}
		for _, c := range t.Columns {
			w.column(c.Name, c.Kind)
		}
		for _, r := range t.Rows {
			row := make([]any, len(w.Columns))
			row[0] = int64(points[i].Position + 1)
			for k, v := range r {
				row[w.at[t.Columns[k].Name]] = v
			}
			w.Rows = append(w.Rows, row)
		}
	}
	for i, r := range w.Rows { // points that came before a column was known
		w.Rows[i] = append(r, make([]any, len(w.Columns)-len(r))...)
	}
	return &w.Table, nil
}
