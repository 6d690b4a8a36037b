package isa

import "sort"

// Program is what an assembler or a loader hands to a machine.
type Program struct {
	Name     string // the file it came from, for messages
	Entry    uint32
	Segments []Segment // in order of address, not overlapping
	Symbols  []Symbol  // in order of address
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

// All returns the addresses of all symbols of that name.
func (p *Program) All(name string) (addrs []uint32) {
	for _, s := range p.Symbols {
		if s.Name == name {
			addrs = append(addrs, s.Addr)
		}
	}
	return addrs
}

// Where returns the last symbol at or before addr and the distance to it, for
// messages and traces; ok is false when there is none in addr's segment.
func (p *Program) Where(addr uint32) (name string, offset uint32, ok bool) {
	i := sort.Search(len(p.Symbols), func(i int) bool { return p.Symbols[i].Addr > addr })
	if i == 0 {
		return "", 0, false
	}
	s := p.Symbols[i-1]
	for _, g := range p.Segments {
		if addr-g.Addr < g.Size && s.Addr-g.Addr < g.Size {
			return s.Name, addr - s.Addr, true
		}
	}
	return "", 0, false
}
