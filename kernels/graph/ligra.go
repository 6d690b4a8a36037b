package graph

import (
	"fmt"

	"heddle/kernels/graph/graphspec"
)

// ligra reads Ligra's text: AdjacencyGraph or WeightedAdjacencyGraph, the numbers of vertices and edges, where the rows
// of the vertices begin, the other ends of the edges, and their weights, one number after the other.
func (r *reader) ligra() error {
	r.n = 1
	first, err := r.word()
	if err != nil {
		return err
	}
	weighted := lower(first.b[0]) == 'w'
	r.discard(len(first.b))
	vertices, err := r.nextNumber(graphspec.MaxVertices, "the number of vertices, at most 2^27")
	if err != nil {
		return err
	}
	edges, err := r.nextNumber(graphspec.MaxEdges, "the number of edges, at most 2^29")
	if err != nil {
		return err
	}
	rows, err := r.ligraRows(vertices, edges)
	if err != nil {
		return err
	}
	for e := range int(edges) {
		if err := r.ligraEdge(e, rows, vertices, edges); err != nil {
			return err
		}
	}
	if weighted {
		if err := r.ligraWeights(edges); err != nil {
			return err
		}
	}
	if more, err := r.moreLines(); more || err != nil {
		return orElse(err, r.expectedWord("the end of the file, as it has all that its first lines say"))
	}
	r.record.IDs = fmt.Sprintf("0..%d", int(vertices)-1)
	return r.setVertices(int(vertices), 2)
}

// nextNumber reads a number that has to be there, on this line or a later one.
func (r *reader) nextNumber(limit uint64, what string) (uint64, error) {
	ok, err := r.moreLines()
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return 0, r.errorf("expected %s; found the end of the file", what)
	}
	return r.unsigned(limit, what)
}

func (r *reader) ligraRows(vertices, edges uint64) (*rowStarts, error) {
	rows := &rowStarts{}
	for v := range vertices {
		n, err := r.nextNumber(edges, ligraOffset)
		if err != nil {
			return nil, err
		}
		if !rows.add(n, edges) {
			return nil, r.errorf("expected %s; found %d for vertex %d", ligraOffset, n, v)
		}
	}
	rows.starts = append(rows.starts, uint32(edges))
	return rows, nil
}

const ligraOffset = "where the edges of a vertex begin: 0 for the first, then no less than for the vertex before and no more than there are edges"

func (r *reader) ligraEdge(e int, rows *rowStarts, vertices, edges uint64) error {
	ok, err := r.moreLines()
	switch {
	case err != nil:
		return err
	case !ok:
		return r.errorf("the file ends after %d of %d edges", e, edges)
	}
	dst, err := r.unsigned(vertices-1, ligraEnd)
	if err != nil {
		return err
	}
	return r.add(rows.of(e), dst)
}

const ligraEnd = "the other end of an edge: a vertex, from 0, below the number of vertices"

func (r *reader) ligraWeights(edges uint64) error {
	r.record.FileWeights = true
	for e := range edges {
		ok, err := r.moreLines()
		switch {
		case err != nil:
			return err
		case !ok:
			return r.errorf("the file ends after %d of %d weights", e, edges)
		}
		c, err := r.word()
		if err != nil {
			return err
		}
		n := len(c.b)
		if r.weights && !r.column.add(&c) {
			return r.expected(&c, weightExpected)
		}
		r.discard(n)
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
