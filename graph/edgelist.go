package graph

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"heddle/graph/graphspec"
)

// listHeader is the information in the comments of an edge list.
type listHeader struct {
	nodes, edges int // -1: nothing
	line         int // of nodes
}

// comment understands SNAP's "# Nodes: 7115 Edges: 103689".
func (h *listHeader) comment(text string, line int) {
	words := strings.Fields(text)
	for i, w := range words[:max(len(words)-1, 0)] {
		n, err := strconv.ParseUint(words[i+1], 10, 40)
		switch {
		case err != nil:
		case w == "Nodes:":
			h.nodes, h.line = int(n), line
		case w == "Edges:":
			h.edges = int(n)
		}
	}
}

// edgeList reads "source destination [weight]" lines.
func (r *reader) edgeList() error {
	columns := 0 // of the first edge
	first := 0   // its line
	for {
		c, ok, err := r.next(func(text string) { r.header.comment(text, r.n) })
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if err := r.edgeLine(&c); err != nil {
			return err
		}
		if columns == 0 {
			first, columns = r.n, 2
			if !c.end() {
				columns = 3
			}
		}
		if err := r.edgeWeight(&c, columns == 3, first); err != nil {
			return err
		}
		r.quick(&quickForm{last: maxID, weight: columns == 3}, math.MaxInt)
	}
	if columns == 0 {
		return r.whole("no edges: expected lines of two vertex numbers")
	}
	return r.number(r.header)
}

func (r *reader) edgeLine(c *cursor) error {
	src, ok := c.number(maxID)
	if !ok {
		return r.expected(c, fmt.Sprintf("a vertex number, 0..%d", uint64(maxID)))
	}
	dst, ok := c.number(maxID)
	if !ok {
		return r.expected(c, fmt.Sprintf("a second vertex number, 0..%d", uint64(maxID)))
	}
	return r.add(src, dst)
}

// edgeWeight reads the third column. Files with more (times, mostly) are read
// without them.
func (r *reader) edgeWeight(c *cursor, weighted bool, first int) error {
	switch {
	case !weighted && c.end():
		return nil
	case !weighted:
		return r.errorf("expected the end of the line, as there is no weight on line %d; found %s", first, c.describe())
	case c.end():
		return r.errorf("expected a weight, as on line %d; found the end of the line", first)
	}
	r.record.FileWeights = true
	if !r.weights {
		return nil
	}
	if !r.column.add(c) {
		return r.expected(c, weightExpected+" (weights.from: unit ignores this column)")
	}
	if !c.end() && len(r.record.Warnings) == 0 {
		r.warn("line %d has more than three columns: those after the weight are ignored", r.n)
	}
	return nil
}

func (r *reader) warn(format string, args ...any) {
	r.record.Warnings = append(r.record.Warnings, fmt.Sprintf(format, args...))
}

// number decides which vertices the numbers are.
func (r *reader) number(h listHeader) error {
	lowest, highest := r.span()
	if h.edges >= 0 && h.edges != r.edges.len() {
		r.warn("the header says %d edges, and there are %d", h.edges, r.edges.len())
	}
	switch {
	case r.ids == graphspec.KeepIDs:
		r.record.IDs = fmt.Sprintf("0..%d, kept", highest)
		return r.setVertices(highest+1, r.highestLine)
	case highest < h.nodes:
		r.record.IDs = fmt.Sprintf("0..%d, by the header", h.nodes-1)
		return r.setVertices(h.nodes, h.line)
	case lowest == 1 && highest == h.nodes:
		r.record.IDs = fmt.Sprintf("1..%d, by the header", h.nodes)
		less := func(v uint32) uint32 { return v - 1 }
		r.edges.src.change(less)
		r.edges.dst.change(less)
		return r.setVertices(h.nodes, h.line)
	}
	n := r.compactIDs(highest)
	if h.nodes >= 0 && h.nodes != n {
		r.warn("the header says %d vertices, and there are %d", h.nodes, n)
	}
	r.record.IDs = fmt.Sprintf("%d..%d", lowest, highest)
	if n <= highest {
		r.record.IDs += " with gaps, closed up"
	}
	return r.setVertices(n, 0)
}

// span returns the lowest and the highest number.
func (r *reader) span() (lowest, highest int) {
	lo, hi := uint32(math.MaxUint32), uint32(0)
	for _, c := range []*column{&r.edges.src, &r.edges.dst} {
		for _, b := range c.blocks() {
			for _, v := range b {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	return int(lo), int(hi)
}

// compactIDs renumbers the vertices that occur, in their order.
func (r *reader) compactIDs(highest int) int {
	ids := newIDSet(highest, r.edges.len())
	ids.collect(&r.edges.src)
	ids.collect(&r.edges.dst)
	n := ids.number()
	ids.rename(&r.edges.src)
	ids.rename(&r.edges.dst)
	return n
}

// linqs reads the citations of LINQS' .tab files: two header lines, then
// "n <TAB> paper:A <TAB> | <TAB> paper:B".
func (r *reader) linqs() error {
	for {
		c, ok, err := r.next(nil)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if err := r.linqsLine(&c); err != nil {
			return err
		}
	}
	if r.edges.len() == 0 {
		return r.whole(`no edges: expected lines such as "1 paper:2 | paper:3"`)
	}
	return r.number(listHeader{-1, -1, 0})
}

func (r *reader) linqsLine(c *cursor) error {
	if c.b[c.i] == 'N' && hasFold(c.b[c.i:], "NO_FEATURES") {
		return nil
	}
	if _, ok := c.number(math.MaxUint32); !ok {
		return r.expected(c, "the number of the citation")
	}
	src, err := r.linqsVertex(c)
	if err != nil {
		return err
	}
	if at := *c; string(at.word()) != "|" {
		return r.expected(c, `"|"`)
	}
	c.word()
	dst, err := r.linqsVertex(c)
	if err != nil {
		return err
	}
	if !c.end() {
		return r.expected(c, "the end of the line")
	}
	return r.add(src, dst)
}

// linqsVertex reads "kind:number"; the kind is the same for all vertices.
func (r *reader) linqsVertex(c *cursor) (uint64, error) {
	at := *c
	word := at.word()
	colon := strings.IndexByte(string(word), ':')
	inner := cursor{b: word, i: colon + 1}
	id, ok := inner.number(maxID)
	if colon < 1 || !ok || !inner.end() {
		return 0, r.expected(c, fmt.Sprintf("a vertex such as paper:7, with a number of 0..%d", uint64(maxID)))
	}
	*c = at
	return id, nil
}
