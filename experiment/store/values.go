package store

import (
	"database/sql"
	"fmt"
	"math"
	"strconv"
	"strings"

	"heddle/sim/stats"
)

// name is a row of the table of names.
type name struct {
	id         int64
	name, unit string
	doc        string
	ratio      bool
}

func (n *name) sum() int64 {
	return new(digest).ints(n.id).text(n.name, n.unit, n.doc).truths(n.ratio).sum()
}

// readNames reads the table of names.
func readNames(tx *sql.Tx) (list []name, err error) {
	err = each(tx, "SELECT id, name, unit, doc, ratio, sum FROM names", func(r *sql.Rows) error {
		var n name
		var sum int64
		if err := r.Scan(&n.id, &n.name, &n.unit, &n.doc, &n.ratio, &sum); err != nil {
			return err
		}
		if n.sum() != sum {
			return damaged("the name of statistic %d", n.id)
		}
		list = append(list, n)
		return nil
	})
	return list, err
}

// nameID returns the number of a statistic's name. It stores a new name, and updates unit and doc if they have changed.
func (s *Store) nameID(tx *sql.Tx, of *stats.Stat) (int64, error) {
	if s.names == nil {
		list, err := readNames(tx)
		if err != nil {
			return 0, err
		}
		s.names = map[string]name{}
		for _, n := range list {
			s.names[n.name], s.lastName = n, max(s.lastName, n.id)
		}
	}
	_, counted := of.Uint()
	n, ok := s.names[of.Name]
	if ok && n.unit == of.Unit && n.doc == of.Doc {
		return n.id, nil
	}
	n = name{id: n.id, name: of.Name, unit: of.Unit, doc: of.Doc, ratio: ok && n.ratio || !ok && !counted}
	// INSERT OR REPLACE would do for both, but has SQLite allocate 64 KiB for a journal of the statement: for the
	// hundreds of names of a new store that took a tenth of a small experiment's CPU time.
	statement := "UPDATE names SET name = ?2, unit = ?3, doc = ?4, ratio = ?5, sum = ?6 WHERE id = ?1"
	if !ok {
		s.lastName++
		n.id = s.lastName
		statement = "INSERT INTO names (id, name, unit, doc, ratio, sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
	}
	_, err := tx.Exec(statement, n.id, n.name, n.unit, n.doc, n.ratio, n.sum())
	s.names[of.Name] = n
	return n.id, err
}

// packed holds the statistics of a row as JSON: values by the numbers of their names, and half the confidence intervals
// of estimates.
type packed struct {
	stats  string
	halves sql.NullString
}

// packed packs a tree.
func (s *Store) packed(tx *sql.Tx, t stats.Tree) (v packed, err error) {
	all, halves := []byte{'{'}, []byte{'{'}
	for i := range t {
		id, err := s.nameID(tx, &t[i])
		if err != nil {
			return v, err
		}
		if all, err = appendValue(appendKey(all, id), &t[i]); err != nil {
			return v, err
		}
		if t[i].Half != 0 {
			if halves, err = appendFloat(appendKey(halves, id), t[i].Half); err != nil {
				return v, fmt.Errorf("the confidence interval of %s: %w", t[i].Name, err)
			}
		}
	}
	v.stats = string(append(all, '}'))
	if len(halves) > 1 {
		v.halves = sql.NullString{String: string(append(halves, '}')), Valid: true}
	}
	return v, nil
}

func appendKey(b []byte, id int64) []byte {
	if len(b) > 1 {
		b = append(b, ',')
	}
	return append(strconv.AppendInt(append(b, '"'), id, 10), '"', ':')
}

func appendValue(b []byte, s *stats.Stat) ([]byte, error) {
	n, counted := s.Uint()
	switch {
	case n > math.MaxInt64:
		return b, fmt.Errorf("%s = %d does not fit into the store", s.Name, n)
	case counted:
		return strconv.AppendUint(b, n, 10), nil
	}
	b, err := appendFloat(b, s.Float())
	if err != nil {
		err = fmt.Errorf("%s: %w", s.Name, err)
	}
	return b, err
}

// infinite is a literal that SQLite reads as infinity.
const infinite = "9e999"

// appendFloat appends a number with a point or an exponent, which distinguishes it from a count.
func appendFloat(b []byte, x float64) ([]byte, error) {
	switch {
	case math.IsNaN(x):
		return b, fmt.Errorf("%v does not fit into the store", x)
	case math.IsInf(x, 1):
		return append(b, infinite...), nil
	case math.IsInf(x, -1):
		return append(b, "-"+infinite...), nil
	}
	from := len(b)
	b = strconv.AppendFloat(b, x, 'g', -1, 64)
	if !strings.ContainsAny(string(b[from:]), ".e") {
		b = append(b, ".0"...)
	}
	return b, nil
}

// reader unpacks the statistics of rows.
type reader struct {
	names map[int64]stats.Stat // by number, without values
	tree  stats.Tree           // reused by each read
}

func newReader(tx *sql.Tx) (*reader, error) {
	list, err := readNames(tx)
	if err != nil {
		return nil, err
	}
	r := &reader{names: map[int64]stats.Stat{}}
	for _, n := range list {
		r.names[n.id] = stats.Count(n.name, n.unit, n.doc, 0)
	}
	return r, nil
}

// read unpacks a row's statistics. The result is valid until the next read.
func (r *reader) read(v *packed) (stats.Tree, error) {
	r.tree = r.tree[:0]
	var at map[int64]int // of estimates
	if v.halves.Valid {
		at = map[int64]int{}
	}
	err := eachValue(v.stats, func(id int64, text string) error {
		s, ok := r.names[id]
		if !ok {
			return fmt.Errorf("damaged: a statistic of name %d, which is not there", id)
		}
		if n, err := strconv.ParseUint(text, 10, 63); err == nil {
			s = stats.Count(s.Name, s.Unit, s.Doc, n)
		} else if x, ok := parseFloat(text); ok {
			s = stats.Constant(s.Name, s.Unit, s.Doc, x)
		} else {
			return fmt.Errorf("damaged: %s has value %.20q", s.Name, text)
		}
		if v.halves.Valid {
			at[id] = len(r.tree)
		}
		r.tree = append(r.tree, s)
		return nil
	})
	if err != nil || !v.halves.Valid {
		return r.tree, err
	}
	return r.tree, eachValue(v.halves.String, func(id int64, text string) error {
		i, ok := at[id]
		x, number := parseFloat(text)
		if !ok || !number {
			return fmt.Errorf("damaged: a confidence interval %.20q of name %d", text, id)
		}
		r.tree[i].Half = x
		return nil
	})
}

func parseFloat(text string) (x float64, ok bool) {
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil || math.IsInf(x, 0)
}

// eachValue visits the pairs of {"7":123,"9":0.25}.
func eachValue(text string, visit func(id int64, value string) error) error {
	wrong := func() error { return fmt.Errorf("damaged: values %.20q", text) }
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return wrong()
	}
	for rest := text[1 : len(text)-1]; rest != ""; {
		var pair string
		pair, rest, _ = strings.Cut(rest, ",")
		key, value, ok := strings.Cut(pair, ":")
		if !ok || len(key) < 3 || key[0] != '"' || key[len(key)-1] != '"' {
			return wrong()
		}
		id, err := strconv.ParseInt(key[1:len(key)-1], 10, 64)
		if err != nil {
			return wrong()
		}
		if err := visit(id, value); err != nil {
			return err
		}
	}
	return nil
}
