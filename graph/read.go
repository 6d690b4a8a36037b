package graph

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"heddle/graph/graphspec"
)

// contents classifies the data of a format's files.
type contents uint8

const (
	binaryFile contents = iota
	textFile            // known by its first line
	plainText           // known by the lines after the comments
)

// format is a file format, with how its files are known.
type format struct {
	name     string
	ext      []string // of files that must be in this format
	comments string   // first characters of comment lines
	contents contents
	is       func(start []byte) bool
	needs    string // description of the format, for a file with its suffix but other contents
	read     func(*reader) error
}

// tableFormat is the one that has names for vertices.
const tableFormat = "table"

// formats are tried in this order.
var formats = []format{
	{"heddle", []string{".hgr"}, "", binaryFile, begins(hgrMagic), "a file that heddle graph convert has written", (*reader).hgr},
	{"MatrixMarket", []string{".mtx"}, "%", textFile, beginsFold("%%MatrixMarket"), "a first line that begins with %%MatrixMarket", (*reader).matrixMarket},
	{"DIMACS", []string{".gr"}, "c", textFile, isDIMACS, "c (comment) and p (problem) lines first", (*reader).dimacs},
	{"Galois", []string{".gr"}, "", binaryFile, isGalois, "the header of a Galois graph", (*reader).galois},
	{"GAPBS", []string{".sg", ".wsg"}, "", binaryFile, isGAPBS, "the header of a graph that GAPBS has serialized", (*reader).gapbs},
	{"Ligra", nil, "", textFile, isLigra, "", (*reader).ligra},
	{"LINQS", []string{".cites.tab"}, "#", textFile, isLINQS, "a first line that begins with #DIRECTED", (*reader).linqs},
	{"METIS", []string{".graph", ".metis"}, "%", plainText, looksLikeMETIS, "the numbers of vertices and edges first", (*reader).metis},
	{tableFormat, []string{".csv", ".tsv", ".el", ".wel"}, "#%", plainText, looksLikeTable, "two vertices a line", (*reader).table},
	{"edge list", []string{".csv", ".tsv", ".el", ".wel"}, "#%", plainText, func([]byte) bool { return true }, "two vertices a line", (*reader).edgeList},
}

// beginsFold returns a test for a file's first word, ignoring case.
func beginsFold(word string) func([]byte) bool {
	return func(start []byte) bool { return hasFold(start, word) }
}

// hasFold is bytes.HasPrefix with small and capital letters of ASCII the same. strings.EqualFold takes all bytes that
// are no UTF-8 for the same.
func hasFold(b []byte, prefix string) bool {
	if len(b) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if lower(b[i]) != lower(prefix[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// isDIMACS knows comments and problem lines by their one-letter words.
func isDIMACS(b []byte) bool {
	b = bytes.TrimLeft(b, "\n")
	return len(b) > 0 && (b[0] == 'c' || b[0] == 'p') && (len(b) == 1 || blank(b[1]) || b[1] == '\n')
}

func isLINQS(b []byte) bool { return hasFold(b, "#DIRECTED") || hasFold(b, "#UNDIRECTED") }

// reader fills a list of edges from a file.
type reader struct {
	*lines
	format  *format
	named   bool // by the file's name
	edges   edges
	column  weightColumn
	weights bool // wanted, if the file has any

	floatWords bool // weights are floats, where the file does not say
	ids        graphspec.IDs
	record     *Record
	header     listHeader // header in the comments of an edge list

	names []string // of the vertices, of formats that have such

	graph *Graph // of a format that needs no list; nil: the list's

	highest     uint64 // vertex number, so far
	highestLine int    // where it stands first

	invalid func(*Graph) error // checks the edges as a whole; nil: no check
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

// ReadOptions determine how a file is interpreted.
type ReadOptions struct {
	IDs         graphspec.IDs
	SkipWeights bool // ignore the weights of the file
	FloatWords  bool // binary weights without a declared type are floats
}

// Read reads a graph of any format, compressed or not. name is how errors call it,
// and its ending must not contradict the contents.
func Read(name string, from io.Reader, o ReadOptions) (*Graph, error) {
	l, err := newLines(name, from)
	if err != nil {
		return nil, err
	}
	r := &reader{
		lines: l, weights: !o.SkipWeights, floatWords: o.FloatWords, ids: o.IDs,
		header: listHeader{nodes: -1, edges: -1},
		record: &Record{Source: name, Weights: "none", Order: "none", Warnings: []string{}},
	}
	if err := r.detect(); err != nil {
		return nil, err
	}
	if err := r.format.read(r); err != nil {
		return nil, err
	}
	if r.graph != nil {
		r.graph.Record = *r.record
		return r.graph, nil
	}
	if r.column.words.len() > 0 {
		r.edges.weights, r.edges.kind = r.column.words, r.column.kind
		r.column.words = column{} // which build takes apart
		r.record.Weights = fmt.Sprintf("%s, from the file", r.edges.kind)
	}
	g := r.edges.build()
	if r.invalid != nil {
		return nil, r.invalid(g)
	}
	g.Record, g.names = *r.record, r.names
	return g, nil
}

// detect determines the format from the contents, and from the name where that is more specific.
func (r *reader) detect() error {
	start, err := r.start()
	if err != nil {
		return err
	}
	if len(start) == 0 {
		return r.whole("the file is empty")
	}
	if what, ok := nameForeign(start); ok {
		return r.whole("this looks like %s: expected a graph (%s)", what, formatNames())
	}
	unreadable := isBinary(start)
	if start, err = r.textStart(start); err != nil {
		return err
	}
	rows, ext := r.candidates()
	r.named = ext != ""
	for _, f := range rows {
		if f.contents != plainText && f.is(start) {
			return r.choose(f)
		}
	}
	switch {
	case slices.ContainsFunc(rows, func(f *format) bool { return f.contents == plainText }) && !unreadable:
		return r.detectPlain(rows)
	case !r.named:
		return r.whole("this is binary data of an unknown kind (%s): expected a graph (%s)", firstBytes(start),
			formatNames())
	case unreadable:
		return r.whole("expected %s, as the file's name ends in %s; found binary data (%s)", needs(rows), ext,
			firstBytes(start))
	}
	r.n = 1
	return r.errorf("expected %s, as the file's name ends in %s", needs(rows), ext)
}

// start returns the beginning of the input.
func (r *reader) start() ([]byte, error) {
	start, err := r.r.Peek(detectPeek)
	if err != nil && err != io.EOF {
		return nil, r.readError(err)
	}
	return start, nil
}

// textStart returns the beginning of a text with normalised line ends; binary formats are unchanged.
func (r *reader) textStart(start []byte) ([]byte, error) {
	if slices.ContainsFunc(formats, func(f format) bool { return f.contents == binaryFile && f.is(start) }) {
		return start, nil
	}
	r.r = newLineEnds(r.r)
	return r.start()
}

// candidates are the formats that the file's name allows, and the ending by which it does.
func (r *reader) candidates() (rows []*format, ext string) {
	name := plainName(r.file)
	for i, f := range formats {
		for _, e := range f.ext {
			if strings.HasSuffix(name, e) {
				rows, ext = append(rows, &formats[i]), e
			}
		}
	}
	if rows == nil {
		for i := range formats {
			rows = append(rows, &formats[i])
		}
	}
	return rows, ext
}

// needs describes the contents that one of the formats would have.
func needs(rows []*format) string {
	var all []string
	for _, f := range rows {
		all = append(all, f.needs)
	}
	return strings.Join(slices.Compact(all), ", or ")
}

// formatNames lists the formats for a message.
func formatNames() string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}

func (r *reader) choose(f *format) error {
	if r.ids == graphspec.NamedIDs && f.name != tableFormat {
		return r.whole("ids: names: expected an edge list; found the format %s", f.name)
	}
	r.format, r.record.Format = f, f.name
	return nil
}

// detectPlain distinguishes formats that begin with nothing but comments. The last one covers all files that no other
// format claims.
func (r *reader) detectPlain(rows []*format) error {
	if err := r.skipComments(); err != nil {
		return err
	}
	start, err := r.r.Peek(maxLine)
	if err != nil && err != io.EOF && len(start) == 0 {
		return r.readError(err)
	}
	claims := func(f *format) bool { return f.is(start) }
	if r.ids == graphspec.NamedIDs { // names may look like anything
		claims = func(f *format) bool { return f.name == tableFormat }
	}
	var chosen *format
	for _, f := range rows {
		if f.contents == plainText {
			chosen = f
			if claims(f) {
				break
			}
		}
	}
	return r.choose(chosen)
}

// skipComments reads up to the first line that is no comment and not empty.
func (r *reader) skipComments() error {
	const comments = "#%"
	for {
		b, err := r.r.Peek(1)
		if err == nil && blank(b[0]) {
			b, err = r.r.Peek(maxLine)
			b = bytes.TrimLeft(b, " \t,;")
		}
		if err != nil && err != io.EOF {
			return r.readError(err)
		}
		if len(b) == 0 || b[0] != '\n' && !strings.ContainsRune(comments, rune(b[0])) {
			return nil
		}
		c, _, err := r.lines.next(comments)
		if err != nil {
			return err
		}
		if !c.end() {
			r.header.comment(string(c.b[c.i:]), r.n)
		}
	}
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

// setVertices sets the number of vertices, which is trusted only once the edges have been read; line is the number's
// position, 0: the whole file.
func (r *reader) setVertices(n, line int) error {
	listed := r.edges.len()
	if n == 0 {
		return r.whole("no vertices")
	}
	if err := checkSize(n, listed); err != nil {
		return &ParseError{r.file, line, err.Error()}
	}
	if n > freeVertices && n/verticesPerEdge > listed {
		return &ParseError{r.file, line, fmt.Sprintf("%d vertices and only %d edges: more than %d vertices an edge are not "+
			"believed", n, listed, verticesPerEdge)}
	}
	r.edges.vertices = n
	r.record.FileVertices, r.record.FileEdges = n, listed
	return nil
}
