package experiment

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"heddle/graph"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/sim"
)

// OutOfRangeError reports an access of a user's program to memory that nothing was placed in. The machine answers such
// a load by 0, as memory has no bounds.
type OutOfRangeError struct {
	Source           string // "prog.c:24: "; "": unknown
	Class            string // of the instruction
	Addr             uint32
	Near             string // its position relative to the allocated regions
	PC               uint32
	Symbol, Inst     string
	Core, Warp, Lane int
}

func (e *OutOfRangeError) Error() string {
	return fmt.Sprintf("%s%s at 0x%08x, %s: expected an address in an array, the program or a stack\n  at pc 0x%08x%s: "+
		"%s\n  core %d, warp %d, lane %d", e.Source, e.Class, e.Addr, e.Near, e.PC, e.Symbol, e.Inst, e.Core, e.Warp, e.Lane)
}

// boundsCheck observes the accesses of a machine, and keeps the first that is out of range.
type boundsCheck struct {
	machine *sim.Machine
	regions []graph.Region // sorted: the memory that may be accessed
	lines   *isa.Lines

	mu    sync.Mutex
	first *OutOfRangeError
}

// checkBounds begins to check a machine's accesses against the permitted regions.
func checkBounds(m *sim.Machine, regions []graph.Region, lines *isa.Lines) *boundsCheck {
	b := &boundsCheck{machine: m, regions: slices.Clone(regions), lines: lines}
	slices.SortFunc(b.regions, func(x, y graph.Region) int { return int(int64(x.Addr) - int64(y.Addr)) })
	m.Arch.ObserveEffects(b.access)
	return b
}

// access checks the lanes of an access.
func (b *boundsCheck) access(a *emu.Access, lanes uint32) {
	for mask := a.Mask & lanes; mask != 0; mask &= mask - 1 {
		if l := bits.TrailingZeros32(mask); !b.within(a.Addr[l], a.Op().Size()) {
			b.found(a, l)
			return
		}
	}
}

// within reports whether an access is in a region.
func (b *boundsCheck) within(addr uint32, size uint8) bool {
	i := b.at(addr)
	return i >= 0 && uint64(addr)+uint64(size) <= uint64(b.regions[i].Addr)+b.regions[i].Size
}

// at returns the last region that begins at or below an address; -1: none.
func (b *boundsCheck) at(addr uint32) int {
	i, exact := slices.BinarySearchFunc(b.regions, addr, func(r graph.Region, a uint32) int {
		return int(int64(r.Addr) - int64(a))
	})
	if exact {
		return i
	}
	return i - 1
}

func (b *boundsCheck) found(a *emu.Access, lane int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.first != nil {
		return
	}
	core, warp, pc := a.Where()
	e := &OutOfRangeError{Class: accessNames[a.Op().LatencyClass()], Addr: a.Addr[lane], PC: pc, Core: core, Warp: warp,
		Lane: lane, Symbol: b.machine.Arch.SymbolAt(pc), Inst: b.machine.Arch.TextAt(pc)}
	if e.Class == "" {
		e.Class = "an access"
	}
	if file, line, ok := b.lines.At(pc); ok {
		e.Source = fmt.Sprintf("%s:%d: ", file, line)
	}
	e.Near = b.near(e.Addr)
	b.first = e
}

var accessNames = map[isa.Class]string{isa.ClassLoad: "a load", isa.ClassStore: "a store", isa.ClassAtomic: "an atomic"}

// near describes an address by the region before it.
func (b *boundsCheck) near(addr uint32) string {
	i := b.at(addr)
	if i < 0 {
		return "before everything that is placed"
	}
	r := b.regions[i]
	return fmt.Sprintf("%s bytes behind the beginning of %s, which has %s", Thousands(uint64(addr)-uint64(r.Addr)),
		r.Name, Thousands(r.Size))
}

// err returns the first access out of range; nil: there is none, or nothing is checked.
func (b *boundsCheck) err() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.first == nil {
		return nil
	}
	return b.first
}
