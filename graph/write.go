package graph

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"heddle/internal/files"
)

// output is a format that graphs are written in.
type output struct {
	ext   string // of the file's name
	write func(*writer) error
}

// outputs go by the ending of the file's name; a name without one is an edge list's.
var outputs = []output{
	{".hgr", (*writer).hgr},
	{".mtx", (*writer).matrixMarket},
	{".gr", (*writer).dimacs},
	{".graph", (*writer).metis},
	{".metis", (*writer).metis},
	{".sg", (*writer).gapbs},
	{".wsg", (*writer).weightedGAPBS},
	{".csv", func(w *writer) error { return w.table(',') }},
	{".tsv", func(w *writer) error { return w.table('\t') }},
	{".el", (*writer).edgeList},
	{".wel", (*writer).edgeList},
	{".txt", (*writer).edgeList},
}

// destination returns a file's format and compression, which may be nil, from the ending of its name.
func destination(name string) (output, *packing, error) {
	plain := plainName(name)
	var packed *packing
	for i := range packings {
		if strings.HasSuffix(strings.ToLower(name), packings[i].ext) {
			packed = &packings[i]
		}
	}
	if packed != nil && packed.pack == nil {
		return output{}, nil, fmt.Errorf("%s: %s data are read, and not written: expected .gz, .zst or none of these",
			name, packed.name)
	}
	for _, o := range outputs {
		if strings.HasSuffix(plain, o.ext) {
			return o, packed, nil
		}
	}
	for _, f := range formats {
		for _, ext := range f.ext {
			if strings.HasSuffix(plain, ext) {
				return output{}, nil, fmt.Errorf("%s: %s files are read, and not written: expected another ending, such as .mtx "+
					"or .hgr",
					name, f.name)
			}
		}
	}
	if ext := filepath.Ext(plain); ext != "" {
		return output{}, nil, fmt.Errorf("%s: nothing is written as %s: expected one of %s, with .gz or .zst behind it or "+
			"not, or no ending for an edge list",
			name, ext, endings())
	}
	return output{"", (*writer).edgeList}, packed, nil
}

// endings lists those of files that are written.
func endings() string {
	var all []string
	for _, o := range outputs {
		all = append(all, o.ext)
	}
	return strings.Join(all, ", ")
}

// CheckOutput returns an error for an output file whose suffix is that of a format that cannot be written.
func CheckOutput(name string) error {
	_, _, err := destination(name)
	return err
}

// WriteFile writes the graph in the format of the name's ending; .gz or .zst after it packs. The file appears under its
// name when it is complete; if ctx ends before, it does not.
func (g *Graph) WriteFile(ctx context.Context, name string) error {
	f, err := files.Create(name)
	if err != nil {
		return err
	}
	if err := g.Write(&untilDone{ctx, f}, name); err != nil {
		return errors.Join(err, f.Abort())
	}
	return f.Commit()
}

// untilDone is a writer that fails when its context has ended.
type untilDone struct {
	ctx context.Context
	w   io.Writer
}

func (u *untilDone) Write(b []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.w.Write(b)
}

// Write writes the graph as a file of that name would be.
func (g *Graph) Write(to io.Writer, name string) error {
	o, packed, err := destination(name)
	if err != nil {
		return err
	}
	if packed == nil {
		return g.writeAs(to, o)
	}
	z, err := packed.pack(to)
	if err != nil {
		return err
	}
	if err := g.writeAs(z, o); err != nil {
		return err
	}
	return z.Close()
}

func (g *Graph) writeAs(to io.Writer, o output) error {
	w := writer{Writer: bufio.NewWriterSize(to, 1<<16), g: g}
	if err := o.write(&w); err != nil {
		return err
	}
	return w.Flush() // which returns the first error
}

// WriteNames writes the vertices' names as CSV: vertex,name.
func (g *Graph) WriteNames(to io.Writer) error {
	w := csv.NewWriter(to)
	w.Write([]string{"vertex", "name"}) //nolint:errcheck // see Error
	for v, name := range g.names {
		w.Write([]string{strconv.Itoa(v), name}) //nolint:errcheck // see Error
	}
	w.Flush()
	return w.Error()
}

type writer struct {
	*bufio.Writer
	g   *Graph
	buf []byte
}

// each writes a line for every edge: prefix, ends counted from base, weight.
func (w *writer) each(prefix string, base int, sep byte, weighted bool) {
	g := w.g
	for v := range g.Vertices() {
		// common prefix of the row's lines
		w.buf = append(strconv.AppendInt(append(w.buf[:0], prefix...), int64(v+base), 10), sep)
		for e := g.out.Offsets[v]; e < g.out.Offsets[v+1]; e++ {
			b := append(w.AvailableBuffer(), w.buf...)
			b = strconv.AppendInt(b, int64(g.out.IDs[e])+int64(base), 10)
			if weighted {
				b = g.kind.append(append(b, sep), g.out.weight(e))
			}
			w.Write(append(b, '\n')) //nolint:errcheck // see Flush
		}
	}
}

// append writes a weight so that it is read as it was: floats have a point or
// an exponent.
func (k WeightKind) append(b []byte, word uint32) []byte {
	switch k {
	case NoWeights:
		return append(b, '1')
	case IntWeights:
		return strconv.AppendInt(b, int64(int32(word)), 10)
	}
	from := len(b)
	b = strconv.AppendFloat(b, k.Float(word), 'g', -1, 32)
	if !bytes.ContainsAny(b[from:], ".e") {
		b = append(b, ".0"...)
	}
	return b
}

// listComment writes the number of vertices, with and without edges.
func (w *writer) listComment() {
	source := oneLine(w.g.Record.Source)
	fmt.Fprintf(w, "# Directed graph, written by heddle: %s\n# Nodes: %d Edges: %d\n", source, w.g.Vertices(),
		w.g.Edges())
}

func (w *writer) edgeList() error {
	w.listComment()
	w.each("", 0, '\t', w.g.kind != NoWeights)
	return nil
}

func (w *writer) matrixMarket() error {
	field := map[WeightKind]string{NoWeights: "pattern", IntWeights: "integer", FloatWeights: "real"}[w.g.kind]
	fmt.Fprintf(w, "%%%%MatrixMarket matrix coordinate %s general\n%% written by heddle: %s\n", field,
		oneLine(w.g.Record.Source))
	fmt.Fprintf(w, "%d %d %d\n", w.g.Vertices(), w.g.Vertices(), w.g.Edges())
	w.each("", 1, ' ', w.g.kind != NoWeights)
	return nil
}

// dimacs writes weights of 1 for an unweighted graph: the format requires weights.
func (w *writer) dimacs() error {
	if w.g.kind == FloatWeights {
		return errors.New("the weights are no integers, and DIMACS has no others: write .mtx or an edge list, or drop them")
	}
	fmt.Fprintf(w, "c written by heddle: %s\np sp %d %d\n", oneLine(w.g.Record.Source), w.g.Vertices(), w.g.Edges())
	w.each("a ", 1, ' ', true)
	return nil
}

// table writes an edge list with a header, after a comment that lists the vertices without edges.
func (w *writer) table(separator byte) error {
	w.listComment()
	fmt.Fprintf(w, "source%ctarget", separator)
	if w.g.kind != NoWeights {
		fmt.Fprintf(w, "%cweight", separator)
	}
	w.WriteByte('\n') //nolint:errcheck // see Flush
	w.each("", 0, separator, w.g.kind != NoWeights)
	return nil
}

// metis writes both directions of each edge, which the graph must have.
func (w *writer) metis() error {
	g := w.g
	if err := g.fitsMETIS(); err != nil {
		return err
	}
	fmt.Fprintf(w, "%% written by heddle: %s\n%d %d", oneLine(g.Record.Source), g.Vertices(), g.Edges()/2)
	if g.kind != NoWeights {
		w.WriteString(" 001") //nolint:errcheck // see Flush
	}
	w.WriteByte('\n') //nolint:errcheck // see Flush
	for v := range g.Vertices() {
		for e := g.out.Offsets[v]; e < g.out.Offsets[v+1]; e++ {
			b := strconv.AppendUint(w.AvailableBuffer(), uint64(g.out.IDs[e])+1, 10)
			if g.kind != NoWeights {
				b = g.kind.append(append(b, ' '), g.out.Weights[e])
			}
			if e+1 < g.out.Offsets[v+1] {
				b = append(b, ' ')
			}
			w.Write(b) //nolint:errcheck // see Flush
		}
		w.WriteByte('\n') //nolint:errcheck // see Flush
	}
	return nil
}

// fitsMETIS returns an error if the graph has properties that METIS cannot represent.
func (g *Graph) fitsMETIS() error {
	if g.kind == FloatWeights {
		return errors.New("the weights are no integers, and METIS has no others: write .mtx or an edge list, or drop them")
	}
	for v := range g.Vertices() {
		row := g.out.Row(v)
		for i, u := range row {
			switch {
			case int(u) == v:
				return fmt.Errorf("vertex %d has an edge to itself, and METIS has no self-loops: drop them (--drop-self-loops)", v)
			case i > 0 && row[i-1] == u:
				return fmt.Errorf("vertex %d has two edges to %d, and METIS has no duplicates: drop them (--drop-duplicates)", v, u)
			case g.kind == IntWeights && int32(g.out.Weights[int(g.out.Offsets[v])+i]) <= 0:
				return fmt.Errorf("an edge of vertex %d weighs %d, and METIS's weights are above 0", v,
					int32(g.out.Weights[int(g.out.Offsets[v])+i]))
			}
		}
	}
	if !g.symmetric() {
		return errors.New("some edges lack their reverse, and METIS's have no direction: add them (--symmetrise)")
	}
	return nil
}

// symmetric reports whether each edge has its reverse, with the same weight.
func (g *Graph) symmetric() bool {
	in := g.CSC()
	return slices.Equal(g.out.Offsets, in.Offsets) && slices.Equal(g.out.IDs, in.IDs) &&
		slices.Equal(g.out.Weights, in.Weights)
}

func (w *writer) gapbs() error {
	if w.g.kind != NoWeights {
		return errors.New("a .sg has no weights: write a .wsg, or drop them (--weights unit)")
	}
	w.serialized()
	return nil
}

func (w *writer) weightedGAPBS() error {
	if w.g.kind != IntWeights {
		return fmt.Errorf("a .wsg has integers for weights, and the edges have %s: write a .sg, or draw some (--weights "+
			"random)", w.g.kind)
	}
	w.serialized()
	return nil
}

// serialized writes GAPBS's form: a symmetric graph is one without directions, any other has the edges that enter, too.
func (w *writer) serialized() {
	directed := !w.g.symmetric()
	w.WriteByte(map[bool]byte{true: 1}[directed]) //nolint:errcheck // see Flush
	w.u64(uint64(w.g.Edges()))
	w.u64(uint64(w.g.Vertices()))
	w.side(&w.g.out)
	if directed {
		w.side(w.g.CSC())
	}
}

func (w *writer) side(a *Adjacency) {
	for _, o := range a.Offsets {
		w.u64(uint64(o))
	}
	for e, id := range a.IDs {
		b := binary.LittleEndian.AppendUint32(w.AvailableBuffer(), id)
		if a.Weights != nil {
			b = binary.LittleEndian.AppendUint32(b, a.Weights[e])
		}
		w.Write(b) //nolint:errcheck // see Flush
	}
}

func (w *writer) u64(n uint64) {
	w.Write(binary.LittleEndian.AppendUint64(w.AvailableBuffer(), n)) //nolint:errcheck // see Flush
}

// oneLine keeps a file's name from ending its comment. Counts in a name are overruled
// by the line after it.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return '_'
		}
		return r
	}, s)
}
