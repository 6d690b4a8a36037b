package graph

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"heddle/internal/files"
)

// WriteFile writes the graph in the format of the name's ending: .hgr
// heddle's own, .mtx MatrixMarket, .gr DIMACS, anything else an edge list; .gz after it packs.
// The file appears under its name when it is complete; if ctx ends before, it
// does not.
func (g *Graph) WriteFile(ctx context.Context, name string) error {
	f, err := files.Create(name)
	if err != nil {
		return err
	}
	if err := g.writeTo(&untilDone{ctx, f}, name); err != nil {
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

func (g *Graph) writeTo(w io.Writer, name string) error {
	plain, packed := strings.CutSuffix(strings.ToLower(name), ".gz")
	ext := filepath.Ext(plain)
	if !packed {
		return g.Write(w, ext)
	}
	z := gzip.NewWriter(w)
	if err := g.Write(z, ext); err != nil {
		return err
	}
	return z.Close()
}

// Write writes the graph in the format of a file with that ending.
func (g *Graph) Write(to io.Writer, ext string) error {
	w := writer{Writer: bufio.NewWriterSize(to, 1<<16), g: g}
	switch ext {
	case ".hgr":
		w.hgr()
	case ".mtx":
		w.matrixMarket()
	case ".gr":
		if g.kind == FloatWeights {
			return fmt.Errorf("the weights are no integers, and DIMACS has no others: write .mtx or an edge list, or drop them")
		}
		w.dimacs()
	default:
		w.edgeList()
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
		w.buf = append(strconv.AppendInt(append(w.buf[:0], prefix...), int64(v+base), 10), sep) // what the row's lines begin with
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

func (w *writer) edgeList() {
	fmt.Fprintf(w, "# Directed graph, written by heddle: %s\n# Nodes: %d Edges: %d\n", oneLine(w.g.Record.Source), w.g.Vertices(), w.g.Edges())
	w.each("", 0, '\t', w.g.kind != NoWeights)
}

func (w *writer) matrixMarket() {
	field := map[WeightKind]string{NoWeights: "pattern", IntWeights: "integer", FloatWeights: "real"}[w.g.kind]
	fmt.Fprintf(w, "%%%%MatrixMarket matrix coordinate %s general\n%% written by heddle: %s\n", field, oneLine(w.g.Record.Source))
	fmt.Fprintf(w, "%d %d %d\n", w.g.Vertices(), w.g.Vertices(), w.g.Edges())
	w.each("", 1, ' ', w.g.kind != NoWeights)
}

// dimacs writes weights of 1 if there are none: the format demands some.
func (w *writer) dimacs() {
	fmt.Fprintf(w, "c written by heddle: %s\np sp %d %d\n", oneLine(w.g.Record.Source), w.g.Vertices(), w.g.Edges())
	w.each("a ", 1, ' ', true)
}

// oneLine keeps a file's name from ending its comment. What it says of counts is
// overruled by the line after it.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return '_'
		}
		return r
	}, s)
}
