package graphpeg

import (
	"fmt"
	"math/bits"
)

// MaxLists is the largest number of vertex-lists.
const MaxLists = 16

// Fields of an edge, as bits of Setup.Fields.
const (
	FieldSrc uint32 = 1 << iota
	FieldDst
	FieldWt
	FieldIdx
	allFields = FieldSrc | FieldDst | FieldWt | FieldIdx
)

// Setup holds the registers that the host writes before a launch, the same for all units.
type Setup struct {
	VertexMode bool   // vertex-list mode; else edges are gathered (§3.2)
	Pull       bool   // the base vertex is the destination: Offsets are those of a CSC (§3.3.1)
	Fields     uint32 // fields of an edge to gather
	Vertices   uint32 // number of vertices
	Offsets    uint32 // address of the vertex array, Vertices+1 words
	Edges      uint32 // number of edges
	Neighbours uint32 // address of the edge array
	Weights    uint32 // address of the weight array, if FieldWt is set
	In         uint32 // list that pops take from
	Out        uint32 // list whose vertices are balanced
	Regions    uint32 // address of all cores' list regions, with one more per core for donations
}

// Check returns an error if units of that spec and shape cannot work with the set-up.
func (s *Setup) Check(spec *Spec, shape *Shape) error {
	wrong := func(what, format string, args ...any) error {
		return fmt.Errorf("set-up of the graphpeg units: %s: %s", what, fmt.Sprintf(format, args...))
	}
	size := spec.regionBytes(shape)
	line := uint32(shape.LineBytes)
	if s.In >= uint32(spec.VertexLists) {
		return wrong("input list", "%d: there are %d (vertex_lists)", s.In, spec.VertexLists)
	}
	if s.Out >= uint32(spec.VertexLists) || s.Out == s.In {
		return wrong("output list", "%d: expected another than the input list, below %d (vertex_lists)", s.Out,
			spec.VertexLists)
	}
	if s.Regions%line != 0 || uint64(s.Regions)+size > 1<<32 {
		return wrong("regions", "0x%08x: expected a multiple of %d with %d bytes behind it (cores × (vertex_lists + 1) × "+
			"list_region)", s.Regions, line, size)
	}
	if s.VertexMode {
		return nil
	}
	if s.Fields == 0 || s.Fields&^allFields != 0 {
		return wrong("fields", "0x%x: expected some of 1 src, 2 dst, 4 wt, 8 idx", s.Fields)
	}
	if n, need := spec.slots(bits.OnesCount32(s.Fields)), minSlots(shape.Threads, shape.LineBytes/4); n < need {
		return wrong("fields",
			"%d of an edge leave %d slots in edge_buffer_bytes, but %d are needed, or a pop could wait for ever; want fewer, "+
				"or set a larger buffer",
			bits.OnesCount32(s.Fields), n, need)
	}
	for _, a := range []struct {
		name  string
		addr  uint32
		words uint64
		used  bool
	}{
		{"vertex array", s.Offsets, uint64(s.Vertices) + 1, true},
		{"edge array", s.Neighbours, uint64(s.Edges), true},
		{"weight array", s.Weights, uint64(s.Edges), s.Fields&FieldWt != 0},
	} {
		if a.used && (a.addr%4 != 0 || a.addr == 0 || uint64(a.addr)+4*a.words > 1<<32) {
			return wrong(a.name, "0x%08x: expected the address of %d words", a.addr, a.words)
		}
	}
	return nil
}

// SetupSymbol is the symbol of the set-up that a program may carry, for runs without a host program: see DecodeSetup.
const SetupSymbol = "heddle.peg"

// setupRegisters is the number of words of a set-up; setupWords includes those of the initial vertices.
const (
	setupRegisters = 11
	setupWords     = setupRegisters + 3
)

// setupOf decodes a set-up from its words, in the order of DecodeSetup.
func setupOf(w [setupRegisters]uint32) Setup {
	return Setup{
		VertexMode: w[0] != 0, Pull: w[1] != 0, Fields: w[2], Vertices: w[3], Offsets: w[4], Edges: w[5],
		Neighbours: w[6], Weights: w[7], In: w[8], Out: w[9], Regions: w[10],
	}
}

// act returns the host's action that writes the set-up, for lists with that much memory.
func (s *Setup) act(regionBytes uint64) []uint32 {
	return []uint32{
		actConfigure, word(s.VertexMode), word(s.Pull), s.Fields, s.Vertices, s.Offsets, s.Edges,
		s.Neighbours, s.Weights, s.In, s.Out, s.Regions, uint32(regionBytes / 4),
	}
}

func word(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// Load reads a word of memory.
type Load = func(addr uint32) uint32

// DecodeSetup reads the set-up at addr, in words: mode (1: vertex-list), direction (1: pull), fields, vertices, address
// of their offsets, edges, address of the edge array, address of the weights, input list, output list, address of the
// regions, number of initial vertices in the input list, their address, and 1 if they are dealt out cyclically. It
// reads at most words initial vertices, a bound on the program's data.
func DecodeSetup(load Load, addr, words uint32) (s Setup, initial []uint32, deal Deal) {
	var w [setupWords]uint32
	for i := range w {
		w[i] = load(addr + uint32(4*i))
	}
	s = setupOf([setupRegisters]uint32(w[:]))
	for i := range min(w[11], words) {
		initial = append(initial, load(w[12]+4*i))
	}
	return s, initial, Deal(w[13] != 0)
}

// Deal selects how a list is distributed over the cores: in blocks or cyclically.
type Deal bool

// Distributions.
const (
	Block  Deal = false
	Cyclic Deal = true
)
