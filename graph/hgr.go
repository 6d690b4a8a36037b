package graph

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"heddle/graph/graphspec"
)

// An .hgr file is a graph as it is in memory; docs/reference/graphs.md has the layout. All numbers are little-endian:
//
//	magic, version, kind of weights, vertices, edges, the graph's hash, length of the note, the note, CRC-32C of all this
//	offsets: vertices + 1 words; ids: a word an edge; weights, if there are any: a word an edge
//
// The hash is the graph's own, of the arrays, which is computed of every graph that is read: to check it costs nothing.

// hgrMagic begins the file. Its ends of lines do not survive a transfer as text.
const hgrMagic = "\x89HGR\r\n\x1a\n"

const (
	hgrVersion = 1
	hgrFixed   = 68 // bytes up to the note
	hgrNote    = 4096
)

// hgrHeader holds the fields after the magic number, in order.
type hgrHeader struct {
	Version, Kind   uint32
	Vertices, Edges uint64
	Hash            [32]byte
	Note            uint32 // its bytes
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// hgr writes the graph.
func (w *writer) hgr() error {
	g, note := w.g, shortened(w.g.Record.story(), hgrNote)
	h := hgrHeader{Version: hgrVersion, Kind: uint32(g.kind), Vertices: uint64(g.Vertices()), Edges: uint64(g.Edges()),
		Hash: g.hash(), Note: uint32(len(note))}
	head, err := binary.Append([]byte(hgrMagic), binary.LittleEndian, &h)
	if err != nil {
		panic("BUG: graph: " + err.Error())
	}
	head = append(head, note...)
	w.Write(binary.LittleEndian.AppendUint32(head, crc32.Checksum(head, castagnoli))) //nolint:errcheck // see Flush
	for _, words := range [][]uint32{g.out.Offsets, g.out.IDs, g.out.Weights} {
		eachChunk(words, func(b []byte) { w.Write(b) }) //nolint:errcheck // see Flush
	}
	return nil
}

// shortened truncates a text to a number of bytes, and drops unprintable characters.
func shortened(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, text)
	for len(text) > most || !utf8.ValidString(text) {
		text = text[:min(most, len(text)-1)]
	}
	return text
}

// hgrReader reads the output of writer.hgr, and trusts none of it.
type hgrReader struct {
	*reader
	header hgrHeader
	sum    hash.Hash
	buf    [1 << 14]byte
}

func (r *reader) hgr() error {
	h := hgrReader{reader: r, sum: newHash()}
	if err := h.head(); err != nil {
		return err
	}
	g := &Graph{kind: WeightKind(h.header.Kind)}
	n, m, weighted := int(h.header.Vertices), int(h.header.Edges), g.kind != NoWeights
	hashHead(h.sum, n, m, g.kind)
	err := h.words(&g.out.Offsets, n+1)
	if err == nil {
		err = h.checkOffsets(&g.out)
	}
	if err == nil {
		err = h.words(&g.out.IDs, m)
	}
	if err == nil && weighted {
		err = h.words(&g.out.Weights, m)
	}
	if err == nil {
		err = h.end(g)
	}
	if err != nil {
		return err
	}
	r.record.FileVertices, r.record.FileEdges, r.record.FileWeights = n, m, weighted
	r.record.IDs = fmt.Sprintf("0..%d", n-1)
	if weighted && r.weights {
		r.record.Weights = fmt.Sprintf("%s, from the file", g.kind)
	}
	r.graph = g
	if !r.weights {
		g.dropWeights()
	}
	return nil
}

// head reads and checks the data that precede the arrays.
func (h *hgrReader) head() error {
	head := make([]byte, hgrFixed+hgrNote+4)
	if err := h.full(head[:hgrFixed]); err != nil {
		return err
	}
	f := &h.header
	if _, err := binary.Decode(head[len(hgrMagic):], binary.LittleEndian, f); err != nil {
		panic("BUG: graph: " + err.Error())
	}
	switch {
	case f.Version != hgrVersion: // before the checksum, which may be elsewhere in another version
		return h.whole("version %d of .hgr: expected %d, the only one that this heddle reads", f.Version, hgrVersion)
	case f.Note > hgrNote:
		return h.whole("a note of %d bytes: expected at most %d", f.Note, hgrNote)
	}
	at := hgrFixed + int(f.Note)
	head = head[:at+4]
	if err := h.full(head[hgrFixed:]); err != nil {
		return err
	}
	if want, is := binary.LittleEndian.Uint32(head[at:]), crc32.Checksum(head[:at], castagnoli); want != is {
		return h.whole("the header is damaged: its checksum is %08x, and the file says %08x", is, want)
	}
	h.record.Made = string(head[hgrFixed:at])
	return h.checkHead(uint64(len(head)))
}

// checkHead refuses impossible sizes, and those that do not match the file, before memory is allocated.
func (h *hgrReader) checkHead(head uint64) error {
	f, arrays := &h.header, uint64(1)
	if f.Kind != uint32(NoWeights) {
		arrays = 2
	}
	switch {
	case f.Kind > uint32(FloatWeights):
		return h.whole("kind of weights %d: expected %d (none), %d (integers) or %d (floats)", f.Kind, NoWeights,
			IntWeights, FloatWeights)
	case f.Vertices == 0:
		return h.whole("no vertices")
	case f.Vertices > graphspec.MaxVertices || f.Edges > graphspec.MaxEdges:
		return h.whole("%d vertices and %d edges: at most %d and %d fit", f.Vertices, f.Edges, graphspec.MaxVertices,
			graphspec.MaxEdges)
	case h.record.Made != shortened(h.record.Made, hgrNote):
		return h.whole("the note has characters that cannot be printed")
	}
	want := head + 4*(f.Vertices+1+arrays*f.Edges)
	if h.size >= 0 && uint64(h.size) != want {
		return h.whole("%d bytes: expected %d, for %d vertices and %d edges; the file is cut off, or has more than a graph",
			h.size, want, f.Vertices, f.Edges)
	}
	return nil
}

// full fills b.
func (h *hgrReader) full(b []byte) error {
	_, err := io.ReadFull(h.r, b)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return h.whole("the file is cut off")
	}
	if err != nil {
		return h.readError(err)
	}
	return nil
}

// unsizedWords are allocated at once for a file whose size is not known before, as it is compressed.
const unsizedWords = 1 << 20

// words reads an array. It allocates little more than the file holds.
func (h *hgrReader) words(to *[]uint32, n int) error {
	if h.size < 0 {
		*to = make([]uint32, 0, min(n, unsizedWords))
	} else {
		*to = make([]uint32, 0, n)
	}
	for len(*to) < n {
		b := h.buf[:min(len(h.buf), 4*(n-len(*to)))]
		if err := h.full(b); err != nil {
			return err
		}
		h.sum.Write(b)
		for ; len(b) > 0; b = b[4:] {
			*to = append(*to, binary.LittleEndian.Uint32(b))
		}
	}
	return nil
}

// checkOffsets comes before the other arrays are read by them.
func (h *hgrReader) checkOffsets(a *Adjacency) error {
	last := uint32(0)
	for v, at := range a.Offsets {
		if at < last || v == 0 && at != 0 {
			return h.whole("the row of vertex %d begins at %d, and the one before at %d: this is no graph", v, at, last)
		}
		last = at
	}
	if uint64(last) != h.header.Edges {
		return h.whole("the rows have %d edges: expected %d", last, h.header.Edges)
	}
	return nil
}

// end checks the edges, the hash, and that there is no more.
func (h *hgrReader) end(g *Graph) error {
	if _, err := h.r.ReadByte(); err == nil {
		return h.whole("the file has more than a graph of %d vertices and %d edges", g.Vertices(), g.Edges())
	} else if err != io.EOF {
		return h.readError(err)
	}
	if sum := h.sum.Sum(nil); !bytes.Equal(sum, h.header.Hash[:]) {
		return h.whole("the file is damaged: its edges' hash is %x, and the file says %x", sum, h.header.Hash)
	}
	g.setHash(h.header.Hash)
	n := uint32(g.Vertices())
	for v := range g.Vertices() {
		last := uint64(0)
		for e := g.out.Offsets[v]; e < g.out.Offsets[v+1]; e++ {
			id, w := g.out.IDs[e], g.out.weight(e)
			key := uint64(id)<<32 | uint64(g.kind.ordered(w))
			switch {
			case id >= n:
				return h.whole("vertex %d has an edge to %d: expected 0..%d", v, id, n-1)
			case key < last:
				return h.whole("the row of vertex %d is not sorted: this was not written by heddle", v)
			case g.kind == FloatWeights && w<<1 >= math.Float32bits(float32(math.Inf(1)))<<1:
				return h.whole("vertex %d has an edge whose weight is not finite", v)
			}
			last = key
		}
	}
	return nil
}
