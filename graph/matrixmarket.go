package graph

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"heddle/graph/graphspec"
)

// banner is the first line of a MatrixMarket file.
type banner struct{ field, symmetry string }

// bannerWords are the words after %%MatrixMarket, each one of a few.
var bannerWords = []struct {
	allowed []string
	what    string
}{
	{[]string{"matrix"}, `"matrix"`},
	{[]string{"coordinate"}, `"coordinate" (dense matrices are no graphs)`},
	{[]string{"pattern", "integer", "real"}, `"pattern", "integer" or "real"`},
	{[]string{"general", "symmetric", "skew-symmetric"}, `"general", "symmetric" or "skew-symmetric"`},
}

// matrixMarket reads a square sparse matrix: entry (i, j) is an edge from i to
// j. Symmetric ones list one triangle, and mean both.
func (r *reader) matrixMarket() error {
	b, err := r.banner()
	if err != nil {
		return err
	}
	n, entries, err := r.matrixSize()
	if err != nil {
		return err
	}
	if b.field == "real" && r.weights {
		r.column.kind = FloatWeights
	}
	r.record.FileWeights = b.field != "pattern"
	form := b.quickForm(n)
	for listed := uint64(0); ; listed++ {
		listed += uint64(r.quick(form, int(entries-listed)))
		c, ok, err := r.next(nil)
		if err != nil {
			return err
		}
		switch {
		case !ok && listed < entries:
			return r.errorf("the file ends after %d of %d entries", listed, entries)
		case !ok:
			return r.finishMatrix(b, int(n))
		case listed == entries:
			return r.errorf("more than the %d entries that the size line says", entries)
		}
		if err := r.entry(&c, b, n); err != nil {
			return err
		}
	}
}

func (r *reader) banner() (banner, error) {
	c, _, err := r.lines.next("%")
	if err != nil {
		return banner{}, err
	}
	c.word()
	var words [4]string
	for i, w := range bannerWords {
		at := c
		words[i] = strings.ToLower(string(at.word()))
		found := false
		for _, a := range w.allowed {
			found = found || a == words[i]
		}
		if !found {
			return banner{}, r.expected(&c, w.what)
		}
		c = at
	}
	if words[2] == "pattern" && words[3] == "skew-symmetric" {
		return banner{}, r.errorf("a pattern has no sign, and cannot be skew-symmetric")
	}
	return banner{words[2], words[3]}, nil
}

// matrixSize reads "rows columns entries".
func (r *reader) matrixSize() (n, entries uint64, err error) {
	c, ok, err := r.next(nil)
	if err != nil || !ok {
		return 0, 0, orElse(err, r.errorf("the file ends before the size line: expected rows, columns and entries"))
	}
	rows, ok := c.number(graphspec.MaxVertices)
	if !ok {
		return 0, 0, r.expected(&c, "the number of rows, at most 2^27")
	}
	columns, ok := c.number(math.MaxUint32)
	if !ok {
		return 0, 0, r.expected(&c, "the number of columns")
	}
	if rows != columns {
		return 0, 0, r.errorf("%d rows and %d columns: expected a square matrix, rows and columns being the same vertices",
			rows, columns)
	}
	entries, ok = c.number(graphspec.MaxEdges)
	if !ok {
		return 0, 0, r.expected(&c, "the number of entries, at most 2^29")
	}
	if !c.end() {
		return 0, 0, r.expected(&c, "the end of the size line")
	}
	return rows, entries, nil
}

func orElse(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// vertex reads a number in 1..n.
func (r *reader) vertex(c *cursor, n uint64, what string) (uint64, error) {
	at := *c
	v, ok := c.number(n)
	if !ok || v == 0 {
		c = &at
		return 0, r.errorf("expected %s of 1..%d; found %s", what, n, c.describe())
	}
	return v - 1, nil
}

func (r *reader) entry(c *cursor, b banner, n uint64) error {
	row, err := r.vertex(c, n, "a row")
	if err != nil {
		return err
	}
	column, err := r.vertex(c, n, "a column")
	if err != nil {
		return err
	}
	if b.symmetry != "general" && column > row {
		return r.errorf("expected an entry of the lower triangle, as the matrix is %s; found row %d, column %d",
			b.symmetry, row+1, column+1)
	}
	if b.symmetry == "skew-symmetric" && column == row {
		return r.errorf("a skew-symmetric matrix has no entries on its diagonal; found row %d", row+1)
	}
	if err := r.entryValue(c, b); err != nil {
		return err
	}
	return r.add(row, column)
}

// quickForm is the form of most entries; not integers whose negatives are needed, which may be too small.
func (b *banner) quickForm(n uint64) *quickForm {
	f := &quickForm{base: 1, last: n, weight: b.field != "pattern", lower: b.symmetry != "general",
		strict: b.symmetry == "skew-symmetric"}
	if b.field == "integer" && f.strict {
		f.last = 0
	}
	return f
}

func (r *reader) entryValue(c *cursor, b banner) error {
	switch {
	case b.field == "pattern":
	case c.end():
		return r.errorf("expected a value, as the matrix is %s; found the end of the line", b.field)
	case !r.weights:
		c.word()
	case b.field == "integer":
		n, ok := c.integer()
		if !ok {
			return r.expected(c, "an integer of 32 bits")
		}
		if n == math.MinInt32 && b.symmetry == "skew-symmetric" {
			return r.errorf("%d has no negative of 32 bits, which a skew-symmetric matrix needs", n)
		}
		r.column.addInt(n)
	case !r.column.add(c):
		return r.expected(c, "a finite decimal number")
	}
	if !c.end() {
		return r.expected(c, "the end of the line")
	}
	return nil
}

func (r *reader) finishMatrix(b banner, n int) error {
	if err := r.setVertices(n, 0); err != nil {
		return err
	}
	r.record.IDs = fmt.Sprintf("1..%d", n)
	if b.symmetry == "general" {
		return nil
	}
	return r.mirror(b.symmetry == "skew-symmetric")
}

// mirror adds the other triangle.
func (r *reader) mirror(negate bool) error {
	e, listed := &r.edges, r.edges.len()
	weighted := r.column.words.len() > 0
	for i := range listed {
		src, dst := e.src.at(i), e.dst.at(i)
		if src == dst {
			continue
		}
		if err := r.add(uint64(dst), uint64(src)); err != nil {
			return err
		}
		if !weighted {
			continue
		}
		w := r.column.words.at(i)
		if negate {
			w = r.column.kind.negated(w)
		}
		r.column.words.add(w)
	}
	r.record.Mirrored = e.len() - listed
	return nil
}

// negated is the word of the negative weight; that of zero is zero.
func (k WeightKind) negated(w uint32) uint32 {
	switch {
	case k == IntWeights:
		return -w
	case w<<1 == 0:
		return w
	}
	return w ^ 1<<31
}

// dimacs reads the shortest-path format: "p sp vertices arcs", then
// "a source destination weight".
func (r *reader) dimacs() error {
	n, arcs, err := r.problem()
	if err != nil {
		return err
	}
	r.record.FileWeights, r.record.IDs = true, fmt.Sprintf("1..%d", n)
	form := &quickForm{lead: 'a', base: 1, last: n, weight: true, always: true}
	for listed := uint64(0); ; listed++ {
		listed += uint64(r.quick(form, int(arcs-listed)))
		c, ok, err := r.next(nil)
		if err != nil {
			return err
		}
		switch {
		case !ok && listed < arcs:
			return r.errorf("the file ends after %d of %d arcs", listed, arcs)
		case !ok:
			return r.setVertices(int(n), 0)
		case listed == arcs:
			return r.errorf("more than the %d arcs that the p line says", arcs)
		}
		if err := r.arc(&c, n); err != nil {
			return err
		}
	}
}

func (r *reader) problem() (n, arcs uint64, err error) {
	c, ok, err := r.next(nil)
	if err != nil || !ok {
		return 0, 0, orElse(err, r.errorf(`the file ends before the p line: expected "p sp VERTICES ARCS"`))
	}
	if at := c; !bytes.Equal(at.word(), []byte("p")) || !bytes.Equal(at.word(), []byte("sp")) {
		return 0, 0, r.errorf(`expected "p sp VERTICES ARCS"; found %s`, c.describe())
	}
	c.word()
	c.word()
	if n, ok = c.number(graphspec.MaxVertices); !ok {
		return 0, 0, r.expected(&c, "the number of vertices, at most 2^27")
	}
	if arcs, ok = c.number(graphspec.MaxEdges); !ok {
		return 0, 0, r.expected(&c, "the number of arcs, at most 2^29")
	}
	if !c.end() {
		return 0, 0, r.expected(&c, "the end of the p line")
	}
	return n, arcs, nil
}

func (r *reader) arc(c *cursor, n uint64) error {
	if at := *c; string(at.word()) != "a" {
		return r.expected(c, `"a" (arc) or "c" (comment)`)
	}
	c.word()
	src, err := r.vertex(c, n, "a source")
	if err != nil {
		return err
	}
	dst, err := r.vertex(c, n, "a destination")
	if err != nil {
		return err
	}
	w, ok := c.integer()
	if !ok {
		return r.expected(c, "a weight, an integer of 32 bits")
	}
	if !c.end() {
		return r.expected(c, "the end of the line")
	}
	if r.weights {
		r.column.addInt(w)
	}
	return r.add(src, dst)
}
