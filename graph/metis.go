package graph

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"

	"heddle/graph/graphspec"
)

// metisHeader is the first line of a METIS file: vertices, edges, and the contents of the vertices' lines besides their
// neighbours. An edge is on the lines of both its ends.
type metisHeader struct {
	vertices, edges uint64
	sizes           bool   // a vertex has a size
	vertexWeights   uint64 // number of weights per vertex
	edgeWeights     bool   // a weight follows each neighbour
}

// before returns the number of fields before the neighbours, and stride the fields per neighbour.
func (h *metisHeader) before() int {
	n := int(h.vertexWeights)
	if h.sizes {
		n++
	}
	return n
}

func (h *metisHeader) stride() int {
	if h.edgeWeights {
		return 2
	}
	return 1
}

// maxVertexWeights is more than any partitioner balances.
const maxVertexWeights = 1 << 10

// parseMETISHeader reads "vertices edges [fmt [ncon]]", or returns a message that names the expectation.
func parseMETISHeader(line []byte) (h metisHeader, wrong string) {
	words := bytes.FieldsFunc(line, func(c rune) bool { return c < 0x80 && blank(byte(c)) })
	if len(words) < 2 || len(words) > 4 {
		return h, fmt.Sprintf("METIS's first line: vertices, edges, and up to two numbers about weights; found %d words",
			len(words))
	}
	var numbers [4]uint64
	for i, w := range words {
		n, err := strconv.ParseUint(string(w), 10, 63)
		if err != nil {
			c := cursor{b: w}
			return h, fmt.Sprintf("METIS's first line: vertices, edges, and up to two numbers about weights; found %s",
				c.describe())
		}
		numbers[i] = n
	}
	flags := numbers[2]
	if flags%10 > 1 || flags/10%10 > 1 || flags/100 > 1 {
		return h, fmt.Sprintf("METIS's fmt, three digits 0 or 1 (sizes of vertices, weights of vertices, weights of "+
			"edges); found %q",
			words[2][:min(len(words[2]), 20)])
	}
	h = metisHeader{vertices: numbers[0], edges: numbers[1], sizes: flags/100 == 1, edgeWeights: flags%10 == 1}
	if flags/10%10 == 1 {
		h.vertexWeights = 1
		if len(words) == 4 {
			h.vertexWeights = numbers[3]
		}
	}
	switch {
	case h.vertices > graphspec.MaxVertices:
		return h, fmt.Sprintf("at most %d vertices; found %d", graphspec.MaxVertices, h.vertices)
	case h.edges > graphspec.MaxEdges/2:
		return h, fmt.Sprintf("at most %d edges; found %d", graphspec.MaxEdges/2, h.edges)
	case h.vertexWeights > maxVertexWeights:
		return h, fmt.Sprintf("at most %d weights a vertex; found %d", maxVertexWeights, h.vertexWeights)
	}
	return h, ""
}

// metisReader reads the lines of the vertices.
type metisReader struct {
	*reader
	text       wordReader  // after the header
	h          metisHeader // of line headerLine
	headerLine int
	lineOf     []int  // of each vertex
	expects    string // of a neighbour
	found      uint64 // neighbours
	unmatched  uint64 // a sum over the neighbours that is 0 if each edge is at both its ends
}

// metis reads METIS's graph format: the neighbours of vertex i, counted from 1, are on line i after the header; an
// empty line is a vertex without.
func (r *reader) metis() error {
	m := metisReader{reader: r, text: wordReader{lines: r.lines}}
	if err := m.readHeader(); err != nil {
		return err
	}
	for v := uint64(1); v <= m.h.vertices; v++ {
		ok, err := m.nextRow()
		if err != nil {
			return err
		}
		if !ok {
			return m.errorf("the file ends after the lines of %d of %d vertices: expected a line for each, empty for one "+
				"without neighbours%s",
				v-1, m.h.vertices, m.why())
		}
		m.lineOf = append(m.lineOf, m.n)
		if err := m.row(v); err != nil {
			return err
		}
	}
	return m.finish()
}

func (m *metisReader) readHeader() error {
	c, ok, err := m.next(nil)
	if err != nil {
		return err
	}
	if !ok {
		return m.whole("the file ends before METIS's first line: expected the numbers of vertices and edges")
	}
	h, wrong := parseMETISHeader(c.b)
	if wrong != "" {
		return m.errorf("expected %s", wrong)
	}
	m.h, m.headerLine = h, m.n
	m.expects = fmt.Sprintf("a neighbour of 1..%d%s", h.vertices, m.why())
	m.record.FileWeights, m.record.IDs = h.edgeWeights, fmt.Sprintf("1..%d", h.vertices)
	if h.before() > 0 {
		m.warn("sizes and weights of vertices are ignored")
	}
	return nil
}

// nextRow goes to the next line that is no comment; ok is false at the end of the file.
func (m *metisReader) nextRow() (ok bool, err error) {
	for {
		b, err := m.text.window()
		if err != nil || len(b) == 0 {
			return false, err
		}
		m.n++
		if b[0] != '%' {
			return true, nil
		}
		if err := m.text.skipLine(); err != nil {
			return false, err
		}
	}
}

// row reads a line: sizes and weights of the vertex, then its neighbours.
func (m *metisReader) row(v uint64) error {
	for range m.h.before() {
		if _, err := m.count(math.MaxInt64/16, "a size or weight of the vertex, as the header says"); err != nil {
			return err
		}
	}
	for {
		ok, err := m.text.more()
		if err != nil {
			return err
		}
		if !ok {
			_, err := m.text.endLine()
			return err
		}
		if err := m.neighbour(v); err != nil {
			return err
		}
	}
}

// count reads a required number on the line.
func (m *metisReader) count(limit uint64, what string) (uint64, error) {
	ok, err := m.text.more()
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return 0, m.errorf("expected %s; found the end of the line%s", what, m.why())
	}
	return m.text.unsigned(limit, what)
}

func (m *metisReader) neighbour(v uint64) error {
	u, err := m.text.unsigned(m.h.vertices, m.expects)
	switch {
	case err != nil:
		return err
	case u == 0:
		return m.errorf("expected %s; found \"0\"", m.expects)
	case u == v:
		return m.errorf("vertex %d is its own neighbour: METIS has no self-loops%s", v, m.why())
	case m.found == 2*m.h.edges:
		return m.errorf("more than the %d neighbours of the %d edges that line %d says%s", m.found, m.h.edges,
			m.headerLine, m.why())
	}
	weight := uint32(0)
	if m.h.edgeWeights {
		if weight, err = m.edgeWeight(); err != nil {
			return err
		}
	}
	m.found++
	m.match(v, u, weight)
	return m.add(v-1, u-1)
}

// edgeWeight reads the weight after a neighbour; it returns 0 if weights are not needed.
func (m *metisReader) edgeWeight() (uint32, error) {
	ok, err := m.text.more()
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, m.errorf("expected the weight of the edge, as fmt on line %d says; found the end of the line%s",
			m.headerLine, m.why())
	}
	c, err := m.text.word()
	if err != nil {
		return 0, err
	}
	defer m.text.skip(len(c.b))
	if !m.weights {
		return 0, nil
	}
	w, ok := c.integer()
	if !ok || !c.end() {
		c.i = 0
		return 0, m.expected(&c, "the weight of the edge, an integer of 32 bits")
	}
	m.column.addInt(w)
	return uint32(w), nil
}

// match adds a term that the same edge at its other end cancels.
func (m *metisReader) match(v, u uint64, weight uint32) {
	if v < u {
		m.unmatched += mix(mix(v<<32^u) ^ uint64(weight))
	} else {
		m.unmatched -= mix(mix(u<<32^v) ^ uint64(weight))
	}
}

// finish checks the counts, and that nothing follows.
func (m *metisReader) finish() error {
	for {
		ok, err := m.nextRow()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if more, err := m.text.more(); more || err != nil {
			return orElse(err, m.errorf("expected no more than the lines of the %d vertices that line %d says%s",
				m.h.vertices, m.headerLine, m.why()))
		}
		if _, err := m.text.endLine(); err != nil {
			return err
		}
	}
	if m.found != 2*m.h.edges {
		m.n = m.headerLine
		return m.errorf("%d edges, each on the lines of both its ends: expected %d neighbours in the file; found %d%s",
			m.h.edges, 2*m.h.edges, m.found, m.why())
	}
	if m.unmatched != 0 {
		m.invalid = m.findUnmatched
	}
	return m.setVertices(int(m.h.vertices), m.headerLine)
}

// findUnmatched looks for the edge that is not the same at both its ends.
func (m *metisReader) findUnmatched(g *Graph) error {
	in := g.CSC()
	for v := range g.Vertices() {
		from, to := g.out.Offsets[v], g.out.Offsets[v+1]
		if a, b := g.out.IDs[from:to], in.Row(v); !slices.Equal(a, b) {
			out, other := firstDifference(a, b)
			has, lacks := v+1, int(other)+1 // the line of has names lacks, not the other way
			if !out {
				has, lacks = lacks, has
			}
			return &ParseError{m.file, m.lineOf[has-1],
				fmt.Sprintf("vertex %d is a neighbour of %d, and by line %d %d is none of %d: "+
					"in METIS's format an edge is on the lines of both its ends%s", lacks, has, m.lineOf[lacks-1], has,
					lacks, m.why())}
		}
		if g.out.Weights != nil && !slices.Equal(g.out.Weights[from:to], in.Weights[in.Offsets[v]:in.Offsets[v+1]]) {
			return m.otherWeight(g, v)
		}
	}
	return m.whole("some edges are not the same at both their ends%s", m.why())
}

// otherWeight names the first edge of a vertex that has another weight at its other end, by the lines of both.
func (m *metisReader) otherWeight(g *Graph, v int) error {
	in, i := g.CSC(), 0
	from := g.out.Offsets[v]
	for g.out.Weights[int(from)+i] == in.Weights[int(in.Offsets[v])+i] {
		i++
	}
	u := int(g.out.IDs[int(from)+i])
	return &ParseError{m.file, m.lineOf[v], fmt.Sprintf("the edge from vertex %d to %d has weight %d, and on line %d, of vertex %d, it has %d%s",
		v+1, u+1, int32(g.out.Weights[int(from)+i]), m.lineOf[u], u+1, int32(in.Weights[int(in.Offsets[v])+i]),
		m.why())}
}

// firstDifference compares two sorted lists: it returns the smallest id whose number of occurrences differs, and
// whether a has more.
func firstDifference(a, b []uint32) (inA bool, id uint32) {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	if i == len(b) || i < len(a) && a[i] < b[i] {
		return true, a[i]
	}
	return false, b[i]
}

// why explains why a file without a METIS suffix was read as METIS.
func (m *metisReader) why() string {
	if m.named {
		return ""
	}
	return " (read as METIS, as its first lines look like it: a name that ends in .el makes it an edge list)"
}

// metisStart summarises the first lines of a file that may be METIS.
type metisStart struct {
	metisHeader
	columns   int          // of the header
	words     map[int]bool // how many words the lines of vertices have
	rows      uint64
	neighbour map[[2]uint64]bool // vertex and neighbour
}

// looksLikeMETIS distinguishes METIS from an edge list, whose first line may look like METIS's. Edges must occur at
// both their ends within start. If no edge has both ends there, METIS is recognised by lines that no edge list has, or
// by counts that only METIS has.
func looksLikeMETIS(start []byte) bool {
	whole := len(start) < maxLine
	s := metisStart{words: map[int]bool{}, neighbour: map[[2]uint64]bool{}}
	if !s.parse(start, whole) {
		return false
	}
	matched, unmatched := s.match()
	if found := uint64(len(s.neighbour)); whole {
		return found > 0 && found == 2*s.edges && (s.rows >= s.vertices || unmatched == 0)
	}
	return unmatched == 0 && (matched > 0 || !s.fitsEdgeList())
}

// parse parses the complete lines, and reports whether they may be METIS.
func (s *metisStart) parse(start []byte, whole bool) bool {
	header := true
	for line := range bytes.Lines(start) {
		if !whole && line[len(line)-1] != '\n' {
			break
		}
		line = bytes.TrimRight(line, "\n")
		switch {
		case len(line) > 0 && line[0] == '%':
		case header:
			var wrong string
			if s.metisHeader, wrong = parseMETISHeader(line); wrong != "" || s.vertices == 0 {
				return false
			}
			s.columns, header = len(bytes.Fields(line)), false
		case !s.row(line):
			return false
		}
	}
	return !header
}

func (s *metisStart) row(line []byte) bool {
	words := bytes.Fields(line)
	s.rows++
	if s.rows > s.vertices {
		return len(words) == 0
	}
	s.words[len(words)] = true
	if len(words) < s.before() || (len(words)-s.before())%s.stride() != 0 {
		return false
	}
	for i := s.before(); i < len(words); i += s.stride() {
		c := cursor{b: words[i]}
		u, ok := c.number(s.vertices)
		if !ok || u == 0 || u == s.rows || s.neighbour[[2]uint64{s.rows, u}] {
			return false
		}
		s.neighbour[[2]uint64{s.rows, u}] = true
	}
	return uint64(len(s.neighbour)) <= 2*s.edges
}

// match counts the edges whose ends are both there.
func (s *metisStart) match() (matched, unmatched int) {
	for n := range s.neighbour {
		switch {
		case s.neighbour[[2]uint64{n[1], n[0]}]:
			matched++
		case n[1] <= s.rows:
			unmatched++
		}
	}
	return matched, unmatched
}

// fitsEdgeList reports whether the lines also fit an edge list that continues. In that case all lines have the same
// length; if their number equals METIS's for the header's vertices, the file is METIS.
func (s *metisStart) fitsEdgeList() bool {
	if len(s.words) != 1 {
		return false
	}
	for n := range s.words {
		same := n == s.columns || n > 2 && s.columns > 2
		return same && 2*s.edges*uint64(s.stride()) != s.vertices*uint64(n-s.before())
	}
	return false
}
