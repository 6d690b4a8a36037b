package graph

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"heddle/graph/graphspec"
)

// galois reads Galois's .gr: version, bytes of an edge's data, numbers of vertices and edges; where the rows of the
// vertices end; the other ends of the edges, of 32 bits in version 1 and of 64 in version 2; padding to 64 bits; the
// edges' data.
type galois struct {
	blob
	version, dataBytes, vertices, edges uint64
}

func (r *reader) galois() error {
	g := galois{blob: blob{reader: r}}
	if err := g.readHeader(); err != nil {
		return err
	}
	if err := g.rows(); err != nil {
		return err
	}
	if err := g.padding(); err != nil {
		return err
	}
	if g.dataBytes > 0 {
		r.record.FileWeights = true
		if err := g.data(); err != nil {
			return err
		}
	}
	if err := g.end(""); err != nil {
		return err
	}
	r.record.IDs = fmt.Sprintf("0..%d", int(g.vertices)-1)
	return r.setVertices(int(g.vertices), 0)
}

func (g *galois) readHeader() (err error) {
	if g.version, err = g.count(2, "Galois's version, 1 or 2"); err != nil {
		return err
	}
	if g.dataBytes, err = g.count(1<<16, "the bytes of an edge's data"); err != nil {
		return err
	}
	if g.dataBytes != 0 && g.dataBytes != 4 && g.dataBytes != 8 && g.weights {
		return g.back(8).wrong("expected edge data of 0, 4 or 8 bytes; found %d (weights.from: unit ignores them)",
			g.dataBytes)
	}
	if g.vertices, err = g.count(graphspec.MaxVertices, "the number of vertices"); err != nil {
		return err
	}
	g.edges, err = g.count(graphspec.MaxEdges, "the number of edges")
	return err
}

func (g *galois) rows() error {
	rows := rowStarts{}
	rows.add(0, 0)
	for v := range g.vertices {
		n, err := g.u64("where the edges of a vertex end")
		if err != nil {
			return err
		}
		if !rows.add(n, g.edges) || v == g.vertices-1 && n != g.edges {
			return g.back(8).wrong("expected where the edges of vertex %d end, up to %d, no less than for the vertex before; "+
				"found %d",
				v, g.edges, n)
		}
	}
	if g.vertices == 0 {
		return g.whole("no vertices")
	}
	size := 4 * int(g.version)
	for e := range int(g.edges) {
		u, err := g.id(size, g.vertices)
		if err != nil {
			return err
		}
		if err := g.add(rows.of(e), u); err != nil {
			return err
		}
	}
	return nil
}

// padding skips the bytes between the ends of the edges and their data, up to a multiple of 64 bits: Galois adds a word
// of the size of an end if the number of edges is odd. Without data it may be missing.
func (g *galois) padding() error {
	if g.edges%2 == 0 {
		return nil
	}
	if _, err := g.r.Peek(1); err == io.EOF && g.dataBytes == 0 {
		return nil
	}
	if g.version == 2 && g.dataBytes > 0 {
		return g.mayBePadding()
	}
	_, err := g.next(4*int(g.version), "padding")
	return err
}

// mayBePadding is for version 2, where Galois's own code is of two minds about it: the data are the end of the file.
func (g *galois) mayBePadding() error {
	const padding = 8
	size := int(g.edges * g.dataBytes)
	rest, err := io.ReadAll(io.LimitReader(g.r, int64(size+padding+1)))
	if err != nil {
		return g.readError(err)
	}
	if len(rest) != size && len(rest) != size+padding {
		return g.wrong("expected %d bytes of padding or none and %d of data; found %d%s",
			padding, size, min(len(rest), size+padding), orMore(len(rest) > size+padding))
	}
	g.at += int64(len(rest) - size)
	g.r = bufio.NewReader(bytes.NewReader(rest[len(rest)-size:]))
	return nil
}

func orMore(more bool) string {
	if more {
		return " and more"
	}
	return ""
}

// data reads the edges' data: integers, unless the user declares floats.
func (g *galois) data() error {
	size := int(g.dataBytes)
	ordinary := size == 4
	for range g.edges {
		b, err := g.next(size, "the data of an edge")
		if err != nil {
			return err
		}
		if !g.weights {
			continue
		}
		var word uint64
		if size == 4 {
			word = uint64(binary.LittleEndian.Uint32(b))
		} else {
			word = binary.LittleEndian.Uint64(b)
		}
		ordinary = ordinary && isOrdinary(uint32(word))
		if !g.weight(word, size) {
			return g.back(size).wrong("expected the weight of an edge, %s (weights.words selects, weights.from: unit ignores "+
				"them); found % x",
				g.weightWords(), b)
		}
	}
	if g.edges > 0 && g.weights && !g.floatWords && ordinary {
		g.warn("as integers all weights are above %d or below -%[1]d, and as floats they would be ordinary numbers: "+
			"weights.words: float takes them for that",
			uint32(smallestNormal))
	}
	return nil
}

func (g *galois) weightWords() string {
	if g.floatWords {
		return "a finite float of 32 bits"
	}
	return "an integer of 32 bits"
}

// smallestNormal is the word of the smallest float that is not denormal.
const smallestNormal = 1 << 23

// isOrdinary reports whether a word is a normal float, neither 0 nor denormal, infinite or NaN. Integers near 0 are
// not: as floats they would be denormal or, if negative, NaN.
func isOrdinary(word uint32) bool {
	const infinity = 0x7f800000
	size := word &^ (1 << 31)
	return size >= smallestNormal && size < infinity
}

// weight adds an edge's data, and reports whether they are valid as a weight.
func (g *galois) weight(word uint64, size int) bool {
	if !g.floatWords {
		n := int64(word)
		if size == 4 {
			n = int64(int32(word))
		}
		g.column.addInt(int32(n))
		return n == int64(int32(n))
	}
	x := math.Float64frombits(word)
	if size == 4 {
		x = float64(math.Float32frombits(uint32(word)))
	}
	narrow := float32(x)
	if x != x || math.IsInf(float64(narrow), 0) {
		return false
	}
	g.column.addFloat(narrow)
	return true
}

// isGalois knows version and bytes of an edge's data.
func isGalois(b []byte) bool {
	if len(b) < 32 {
		return false
	}
	version, data := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	return (version == 1 || version == 2) && data < 1<<16
}
