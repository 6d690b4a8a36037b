package graph

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"heddle/kernels/graph/graphspec"
)

// format is a file format, with how its files are known.
type format struct {
	name     string
	ext      string // of files that must be in this format
	comments string // first characters of comment lines
	is       func(start []byte) bool
	needs    string // what a file with ext lacks that is not in this format
	read     func(*reader) error
}

// formats are tried in this order.
var formats = []format{
	{"MatrixMarket", ".mtx", "%", func(b []byte) bool { return hasFold(b, "%%MatrixMarket") }, "a first line that begins with %%MatrixMarket", (*reader).matrixMarket},
	{"DIMACS", ".gr", "c", isDIMACS, "c (comment) and p (problem) lines first", (*reader).dimacs},
	{"LINQS", ".cites.tab", "#", func(b []byte) bool { return hasFold(b, "#DIRECTED") || hasFold(b, "#UNDIRECTED") }, "a first line that begins with #DIRECTED", (*reader).linqs},
	{"edge list", "", "#%", func([]byte) bool { return true }, "", (*reader).edgeList},
}

func hasFold(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && strings.EqualFold(string(b[:len(prefix)]), prefix)
}

// isDIMACS knows comments and problem lines by their one-letter words.
func isDIMACS(b []byte) bool {
	b = bytes.TrimLeft(b, "\r\n")
	return len(b) > 0 && (b[0] == 'c' || b[0] == 'p') && (len(b) == 1 || blank(b[1]) || b[1] == '\n')
}

// reader fills a list of edges from a file.
type reader struct {
	*lines
	format  *format
	edges   edges
	column  weightColumn
	weights bool // wanted, if the file has any
	ids     graphspec.IDs
	record  *Record

	highest     uint64 // vertex number, so far
	highestLine int    // where it stands first
}

// next returns the next line that is neither blank nor, if comment is nil, a
// comment; comment is called for those.
func (r *reader) next(comment func(string)) (cursor, bool, error) {
	for {
		c, ok, err := r.lines.next(r.format.comments)
		if !ok || err != nil {
			return c, ok, err
		}
		if c.end() {
			continue
		}
		if !strings.ContainsRune(r.format.comments, rune(c.b[c.i])) {
			return c, true, nil
		}
		if comment != nil {
			comment(string(c.b[c.i:]))
		}
	}
}

// ReadOptions say how a file is understood.
type ReadOptions struct {
	IDs         graphspec.IDs
	SkipWeights bool // ignore the weights of the file
}

// Read reads a graph of any format, plain or gzip. name is how errors call it,
// and its ending must not contradict the contents.
func Read(name string, from io.Reader, o ReadOptions) (*Graph, error) {
	l, err := newLines(name, from)
	if err != nil {
		return nil, err
	}
	r := &reader{lines: l, weights: !o.SkipWeights, ids: o.IDs, record: &Record{Source: name, Weights: "none", Order: "none", Warnings: []string{}}}
	if err := r.detect(); err != nil {
		return nil, err
	}
	if err := r.format.read(r); err != nil {
		return nil, err
	}
	if r.column.words.len() > 0 {
		r.edges.weights, r.edges.kind = r.column.words, r.column.kind
		r.column.words = column{} // which build takes apart
		r.record.Weights = fmt.Sprintf("%s, from the file", r.edges.kind)
	}
	g := r.edges.build()
	g.Record = *r.record
	return g, nil
}

// detect goes by the first bytes, and by the name where it says more.
func (r *reader) detect() error {
	start, err := r.r.Peek(64)
	if err != nil && err != io.EOF {
		return r.readError(err)
	}
	if len(start) == 0 {
		return r.whole("the file is empty")
	}
	name := strings.TrimSuffix(strings.ToLower(r.file), ".gz")
	for i := range formats {
		f := &formats[i]
		if f.is(start) {
			r.format, r.record.Format = f, f.name
			return nil
		}
		if f.ext != "" && strings.HasSuffix(name, f.ext) {
			r.n = 1
			return r.errorf("expected %s, as the file's name ends in %s", f.needs, f.ext)
		}
	}
	panic("BUG: graph: no format matches")
}

// whole blames the file, not a line.
func (r *reader) whole(format string, args ...any) error {
	return &ParseError{r.file, 0, fmt.Sprintf(format, args...)}
}

// add appends an edge.
func (r *reader) add(src, dst uint64) error {
	if r.edges.len() == graphspec.MaxEdges {
		return r.errorf("more than %d edges", graphspec.MaxEdges)
	}
	if most := max(src, dst); most > r.highest {
		r.highest, r.highestLine = most, r.n
	}
	r.edges.add(uint32(src), uint32(dst))
	return nil
}

// checkSize keeps a graph within the limits of layouts.
func checkSize(vertices, edges int) error {
	switch {
	case vertices > graphspec.MaxVertices:
		return fmt.Errorf("%d vertices: at most %d fit", vertices, graphspec.MaxVertices)
	case edges > graphspec.MaxEdges:
		return fmt.Errorf("%d edges: at most %d fit", edges, graphspec.MaxEdges)
	}
	return nil
}

// setVertices believes a number of vertices once the edges are there; line is what the number is from, 0: the whole file.
func (r *reader) setVertices(n, line int) error {
	listed := r.edges.len()
	if n == 0 {
		return r.whole("no vertices")
	}
	if err := checkSize(n, listed); err != nil {
		return &ParseError{r.file, line, err.Error()}
	}
	if n > freeVertices && n/verticesPerEdge > listed {
		return &ParseError{r.file, line, fmt.Sprintf("%d vertices and only %d edges: more than %d vertices an edge are not believed", n, listed, verticesPerEdge)}
	}
	r.edges.vertices = n
	r.record.FileVertices, r.record.FileEdges = n, listed
	return nil
}
