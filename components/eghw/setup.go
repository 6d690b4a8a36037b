package eghw

import (
	"encoding/binary"
	"fmt"

	"heddle/components/accel"
	"heddle/isa"
)

// Setup holds the registers that the host writes before a launch, the same for all units.
type Setup struct {
	Vertices   uint32 // number of vertices
	Offsets    uint32 // address of Vertices+1 words
	Edges      uint32 // number of edges
	Neighbours uint32 // address of the neighbours
	Weights    uint32 // address of the weights; 0: weights are not read, and their word is 0
}

// Check returns an error if units cannot work with the set-up.
func (s *Setup) Check() error {
	for _, a := range []struct {
		name  string
		addr  uint32
		words uint64
		used  bool
	}{
		{"offsets", s.Offsets, uint64(s.Vertices) + 1, true},
		{"neighbours", s.Neighbours, uint64(s.Edges), s.Edges > 0},
		{"weights", s.Weights, uint64(s.Edges), s.Weights != 0},
	} {
		if a.used && (a.addr%4 != 0 || a.addr == 0 || uint64(a.addr)+4*a.words > 1<<32) {
			return fmt.Errorf("set-up of the eghw units: %s: 0x%08x: expected the address of %d words", a.name, a.addr,
				a.words)
		}
	}
	return nil
}

// SetupSymbol is the symbol of the set-up that a program may carry, for runs without a host program: the words of a
// Setup in order.
const SetupSymbol = "heddle.eghw"

// Host is the host-side interface to the units of all cores, for use between launches. It takes no simulated time.
type Host struct{ Units []*Engine }

// Configure writes the registers of all units.
func (h Host) Configure(s Setup) error {
	if err := s.Check(); err != nil {
		return err
	}
	if f := h.watch(); f != nil {
		f([]uint32{s.Vertices, s.Offsets, s.Edges, s.Neighbours, s.Weights})
	}
	for _, e := range h.Units {
		e.setup, e.configured = s, true
	}
	return nil
}

// Carry applies the set-up that the program carries, if there is one.
func (h Host) Carry(p *isa.Program) error {
	addr, ok := p.Symbol(SetupSymbol)
	if !ok || len(h.Units) == 0 {
		return nil
	}
	var w [setupWords]uint32
	for i := range w {
		w[i] = word(p, addr+uint32(4*i))
	}
	return h.Act(w[:])
}

// setupWords is the size of a set-up in words.
const setupWords = 5

var _ accel.Hand = Host{}

// Watch makes the units report the host's actions to f: the words of a Setup in order.
func (h Host) Watch(f func(act []uint32)) { h.Units[0].watch = f }

func (h Host) watch() func(act []uint32) {
	if len(h.Units) == 0 {
		return nil
	}
	return h.Units[0].watch
}

// Act writes the registers from the words of a set-up.
func (h Host) Act(w []uint32) error {
	if len(w) != setupWords {
		return fmt.Errorf("set-up of the eghw units: %d words: expected %d", len(w), setupWords)
	}
	return h.Configure(Setup{Vertices: w[0], Offsets: w[1], Edges: w[2], Neighbours: w[3], Weights: w[4]})
}

// Arrays returns the arrays of the graph.
func (h Host) Arrays() (all []accel.Array) {
	e := h.Units[0]
	if !e.configured {
		return nil
	}
	s := &e.setup
	all = []accel.Array{{Addr: s.Offsets, Words: uint64(s.Vertices) + 1}, {Addr: s.Neighbours, Words: uint64(s.Edges)}}
	if s.Weights != 0 {
		all = append(all, accel.Array{Addr: s.Weights, Words: uint64(s.Edges)})
	}
	return all
}

// word returns a word of a program's initial data; elsewhere 0.
func word(p *isa.Program, addr uint32) uint32 {
	for _, s := range p.Segments {
		if at := addr - s.Addr; addr >= s.Addr && uint64(at)+4 <= uint64(len(s.Data)) {
			return binary.LittleEndian.Uint32(s.Data[at:])
		}
	}
	return 0
}
