package isa

import (
	"slices"
	"sort"
	"strings"
)

// Program is the output of an assembler or a loader, which a machine runs.
type Program struct {
	Name     string // the file it came from, for messages
	Entry    uint32
	Segments []Segment // in order of address, not overlapping
	Symbols  []Symbol  // in order of address
	Listings []Listing // sources of compiled code; empty: not known
}

// Segment is a part of the memory image. Bytes from len(Data) to Size are zero.
type Segment struct {
	Addr       uint32
	Data       []byte
	Size       uint32 // ≥ len(Data)
	Executable bool
}

// Symbol names an address.
type Symbol struct {
	Name string
	Addr uint32
}

// Symbol returns the address of a symbol.
func (p *Program) Symbol(name string) (addr uint32, ok bool) {
	for _, s := range p.Symbols {
		if s.Name == name {
			return s.Addr, true
		}
	}
	return 0, false
}

// At returns the names of the symbols at an address.
func (p *Program) At(addr uint32) (names []string) {
	i := sort.Search(len(p.Symbols), func(i int) bool { return p.Symbols[i].Addr >= addr })
	for ; i < len(p.Symbols) && p.Symbols[i].Addr == addr; i++ {
		names = append(names, p.Symbols[i].Name)
	}
	return names
}

// All returns the addresses of all symbols of that name.
func (p *Program) All(name string) (addrs []uint32) {
	for _, s := range p.Symbols {
		if s.Name == name {
			addrs = append(addrs, s.Addr)
		}
	}
	return addrs
}

// markPrefix begins the symbols by which a run counts (edges, phases): they name no code.
const markPrefix = "heddle."

// Where returns the last symbol at or before addr and the distance to it, for
// messages and traces; ok is false when there is none in addr's segment. A mark is
// only returned where there is no other.
func (p *Program) Where(addr uint32) (name string, offset uint32, ok bool) {
	g := slices.IndexFunc(p.Segments, func(g Segment) bool { return addr-g.Addr < g.Size })
	if g < 0 {
		return "", 0, false
	}
	segment := &p.Segments[g]
	last := sort.Search(len(p.Symbols), func(i int) bool { return p.Symbols[i].Addr > addr }) - 1
	for i := last; i >= 0 && p.Symbols[i].Addr-segment.Addr < segment.Size; i-- {
		s := &p.Symbols[i]
		if !strings.HasPrefix(s.Name, markPrefix) {
			return s.Name, addr - s.Addr, true
		}
		if !ok {
			name, offset, ok = s.Name, addr-s.Addr, true
		}
	}
	return name, offset, ok
}
