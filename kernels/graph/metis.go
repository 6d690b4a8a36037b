package graph

import (
	"bytes"
	"strconv"
)

// metis finds out whether what is read as an edge list is a METIS file: a header of vertices, edges and what the lines
// have besides, then a line for each vertex, with its neighbours, so that an edge is at both its ends.
type metis struct {
	vertices, edges uint64 // of the header
	before, stride  int    // words before the neighbours, and of each
	header          int    // its line
	comments        int    // behind it
	found           uint64 // neighbours
	unmatched       uint64 // a sum over the neighbours that is 0 if each vertex is its neighbours' neighbour
	possible        bool
}

// begin looks at the file's first line that is no comment.
func (m *metis) begin(line []byte, at int) {
	*m = metis{header: at}
	h := [4]uint64{3: 1} // vertices, edges, format, weights of a vertex
	words := bytes.Fields(line)
	m.possible = 2 <= len(words) && len(words) <= len(h)
	for i, w := range words[:min(len(words), len(h))] {
		n, err := strconv.ParseUint(string(w), 10, 32)
		h[i], m.possible = n, m.possible && err == nil
	}
	perEdge, perVertex, size := h[2]%10, h[2]/10%10, h[2]/100
	m.possible = m.possible && perEdge <= 1 && perVertex <= 1 && size <= 1 && h[3] < maxLine
	m.vertices, m.edges = h[0], h[1]
	m.before, m.stride = int(size+perVertex*h[3]), int(1+perEdge)
}

// line looks at a later one, which has words.
func (m *metis) line(text []byte, at int) {
	vertex := uint64(at - m.header - m.comments)
	if !m.possible {
		return
	}
	words := bytes.Fields(text)
	m.possible = vertex <= m.vertices && len(words) >= m.before && (len(words)-m.before)%m.stride == 0
	for i := m.before; i < len(words) && m.possible; i += m.stride {
		n, err := strconv.ParseUint(string(words[i]), 10, 32)
		m.found++
		m.match(vertex, n)
		m.possible = err == nil && 1 <= n && n <= m.vertices && n != vertex && m.found <= 2*m.edges
	}
}

// match adds what the same edge at its other end takes off again.
func (m *metis) match(vertex, neighbour uint64) {
	hash := func(a, b uint64) uint64 { // splitmix64's finish
		h := a<<32 ^ b
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		return h ^ h>>31
	}
	if vertex < neighbour {
		m.unmatched += hash(vertex, neighbour)
	} else {
		m.unmatched -= hash(neighbour, vertex)
	}
}

// is reports whether a file that ends with line last was one. Vertices without edges at the end may have lost their lines, as
// they are empty: then the edges have to be at both their ends.
func (m *metis) is(last int) bool {
	whole := uint64(last-m.header-m.comments) >= m.vertices
	return m.possible && m.found > 0 && m.found == 2*m.edges && (whole || m.unmatched == 0)
}

// notMETIS refuses a METIS file, in place of err, by which the line at hand is none of an edge list. Without err the file
// has been read.
func (r *reader) notMETIS(m *metis, line cursor, err error) error {
	if err != nil && m.possible && r.n > m.header {
		m.line(line.b, r.n)
		m.rest(r)
	}
	if !m.is(r.n) {
		return err
	}
	return &ParseError{r.file, m.header, "this is a METIS graph: the numbers of vertices and edges, and then the neighbours of each vertex on its line. Expected an edge a line (or MatrixMarket, DIMACS); no METIS is read"}
}

// rest looks at the lines that are left. What cannot be read is no METIS file.
func (m *metis) rest(r *reader) {
	for m.possible {
		c, ok, err := r.next(func(string) { m.comments++ })
		if err != nil {
			m.possible = false
		}
		if !ok || err != nil {
			return
		}
		m.line(c.b, r.n)
	}
}
