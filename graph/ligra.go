package graph

import (
	"fmt"

	"heddle/graph/graphspec"
)

// ligra reads Ligra's text: AdjacencyGraph or WeightedAdjacencyGraph, the numbers of vertices and edges, where the rows
// of the vertices begin, the other ends of the edges, and their weights, one number after the other.
func (r *reader) ligra() error {
	l := ligraReader{reader: r, text: wordReader{lines: r.lines}}
	weighted, err := l.header()
	if err != nil {
		return err
	}
	rows, err := l.rows()
	if err != nil {
		return err
	}
	if err := l.ends(rows); err != nil {
		return err
	}
	if weighted {
		if err := l.weightList(); err != nil {
			return err
		}
	}
	if more, err := l.text.moreLines(); more || err != nil {
		return orElse(err, l.text.expectedWord("the end of the file, as it has all that its first lines say"))
	}
	r.record.IDs = fmt.Sprintf("0..%d", int(l.vertexCount)-1)
	return r.setVertices(int(l.vertexCount), l.countLine)
}

type ligraReader struct {
	*reader
	text                   wordReader
	vertexCount, edgeCount uint64
	countLine              int
}

func (l *ligraReader) header() (weighted bool, err error) {
	l.n = 1
	first, err := l.text.word()
	if err != nil {
		return false, err
	}
	weighted = lower(first.b[0]) == 'w'
	l.record.FileWeights = weighted
	l.text.skip(len(first.b))
	if l.vertexCount, err = l.number(graphspec.MaxVertices, "the number of vertices, at most 2^27"); err != nil {
		return false, err
	}
	l.countLine = l.n
	if l.vertexCount == 0 {
		return false, l.whole("no vertices")
	}
	l.edgeCount, err = l.number(graphspec.MaxEdges, "the number of edges, at most 2^29")
	return weighted, err
}

// number reads a required number, on this line or a later one.
func (l *ligraReader) number(limit uint64, what string) (uint64, error) {
	ok, err := l.text.moreLines()
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return 0, l.errorf("expected %s; found the end of the file", what)
	}
	return l.text.unsigned(limit, what)
}

func (l *ligraReader) rows() (*rowStarts, error) {
	const what = "where the edges of a vertex begin: 0 for the first, then no less than for the vertex before and no " +
		"more than there are edges"
	rows := &rowStarts{}
	for v := range l.vertexCount {
		n, err := l.number(l.edgeCount, what)
		if err != nil {
			return nil, err
		}
		if !rows.add(n, l.edgeCount) {
			return nil, l.errorf("expected %s; found %d for vertex %d", what, n, v)
		}
	}
	rows.starts = append(rows.starts, uint32(l.edgeCount))
	return rows, nil
}

func (l *ligraReader) ends(rows *rowStarts) error {
	for e := range int(l.edgeCount) {
		ok, err := l.text.moreLines()
		switch {
		case err != nil:
			return err
		case !ok:
			return l.errorf("the file ends after %d of %d edges", e, l.edgeCount)
		}
		dst, err := l.text.unsigned(l.vertexCount-1,
			"the other end of an edge: a vertex, from 0, below the number of vertices")
		if err != nil {
			return err
		}
		if err := l.add(rows.of(e), dst); err != nil {
			return err
		}
	}
	return nil
}

// weightList reads the weights, which are integers or not.
func (l *ligraReader) weightList() error {
	for e := range l.edgeCount {
		ok, err := l.text.moreLines()
		switch {
		case err != nil:
			return err
		case !ok:
			return l.errorf("the file ends after %d of %d weights", e, l.edgeCount)
		}
		c, err := l.text.word()
		if err != nil {
			return err
		}
		if l.weights && !l.column.add(&c) {
			return l.expected(&c, weightExpected)
		}
		l.text.skip(len(c.b))
	}
	return nil
}

// isLigra knows the first word.
func isLigra(b []byte) bool {
	return ligraWord(b, "AdjacencyGraph") || ligraWord(b, "WeightedAdjacencyGraph")
}

func ligraWord(b []byte, word string) bool {
	return hasFold(b, word) && len(b) > len(word) && (blank(b[len(word)]) || b[len(word)] == '\n')
}
