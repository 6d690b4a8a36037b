package cuda

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"heddle/graph"
	"heddle/graphit"
	"heddle/graphit/eval"
)

// standInEdges are of a graph that takes the place of one that is not known: its numbers of vertices and edges, and
// their sums, are no others'.
const standInVertices, standInEdges = 23, 61

// standIn returns a graph with weights of the kind that a program expects.
func standIn(f *graphit.File) (*graph.Graph, error) {
	kind := graphit.None
	for _, v := range f.Globals {
		if v.Type.Kind == graphit.EdgeSet && v.Type.Weight != nil {
			kind = v.Type.Weight.Kind
		}
	}
	var text strings.Builder
	for i := range standInEdges {
		from, to := i%standInVertices, (i*7+3)%standInVertices
		fmt.Fprintf(&text, "%d %d", from, to)
		switch kind {
		case graphit.None:
		case graphit.Float, graphit.Double:
			fmt.Fprintf(&text, " %d.5", i)
		default:
			fmt.Fprintf(&text, " %d", 1+i)
		}
		text.WriteString("\n")
	}
	return graph.Read("stand-in", strings.NewReader(text.String()), graph.ReadOptions{})
}

// data is the contents of a file.
type data struct{ b []byte }

func (d *data) word(w uint32)    { d.b = binary.LittleEndian.AppendUint32(d.b, w) }
func (d *data) double(x float64) { d.b = binary.LittleEndian.AppendUint64(d.b, math.Float64bits(x)) }

func (d *data) text(s string) {
	d.word(uint32(len(s)))
	d.b = append(d.b, s...)
}

func (d *data) words(list []uint32) {
	d.word(uint32(len(list)))
	for _, w := range list {
		d.word(w)
	}
}

// expectedFile returns the file that heddle::Expected reads.
func expectedFile(g *graph.Graph, args []string, x *eval.Expected) []byte {
	d := &data{b: []byte("HEDDLE-R")}
	d.word(uint32(g.Vertices()))
	d.word(uint32(g.Edges()))
	d.b = binary.LittleEndian.AppendUint64(d.b, digest(g))
	own := args[min(2, len(args)):]
	d.word(uint32(len(own)))
	for _, a := range own {
		d.text(a)
	}
	d.word(uint32(len(x.Vectors)))
	for i := range x.Vectors {
		d.vector(&x.Vectors[i])
	}
	d.word(uint32(len(x.Filters)))
	for _, f := range x.Filters {
		d.words(f.Kept)
		d.words(f.Undecided)
	}
	return d.b
}

func (d *data) vector(v *eval.ExpectedVector) {
	d.text(v.Var.Name)
	if v.Reals != nil {
		d.word(1)
		d.word(uint32(len(v.Reals)))
		for i, x := range v.Reals {
			d.double(x)
			d.double(v.Bounds[i])
		}
		return
	}
	d.word(0)
	d.words(narrow(v.Integers))
	d.word(uint32(len(v.Any)))
	for _, n := range slices.Sorted(maps.Keys(v.Any)) {
		d.word(uint32(n))
		d.words(narrow(v.Any[n]))
	}
}

func narrow(list []int64) []uint32 {
	words := make([]uint32, len(list))
	for i, x := range list {
		words[i] = uint32(x)
	}
	return words
}

// digest tells graphs apart (FNV-1a, by words), as heddle::Expected does.
func digest(g *graph.Graph) uint64 {
	h := uint64(14695981039346656037)
	rows := g.CSR()
	for _, list := range [][]uint32{rows.Offsets, rows.IDs, rows.Weights} {
		for _, w := range list {
			h = (h ^ uint64(w)) * 1099511628211
		}
	}
	return h
}
