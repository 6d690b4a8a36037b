package area

import (
	"fmt"
	"math/bits"

	"heddle/components/cache"
	"heddle/components/graphpeg"
	"heddle/configs"
	"heddle/isa"
)

// Storage is a structure of a machine that is mostly storage, of which there is no SystemVerilog.
type Storage struct {
	What    string `json:"what"`
	Number  int    `json:"number"` // in the machine
	Bits    int    `json:"bits"`   // of each
	Meaning string `json:"meaning"`
}

const (
	registerFile = "register file"
	alwt         = "ALWT"
	alwtEntry    = 98 // bits: GraphPEG §4.6
)

// OfUnit reports whether it is a part of a graph unit.
func (s *Storage) OfUnit() bool { return s.What == alwt }

// StorageOf returns the storage that a machine's configuration implies, exact to the bit in what Meaning says.
func StorageOf(m *configs.Machine) []Storage {
	c, cores := &m.Core, m.Sockets*m.CoresPerSocket
	list := []Storage{{
		registerFile, cores, c.Warps * c.Threads * isa.NumRegs * 32,
		fmt.Sprintf("%d warps × %d lanes × %d registers × 32", c.Warps, c.Threads, isa.NumRegs),
	}}
	if c.Scratchpad {
		list = append(list, Storage{"scratchpad", cores, c.ScratchpadBytes * 8, fmt.Sprintf("%d bytes", c.ScratchpadBytes)})
	}
	if peg, ok := c.Unit.Spec.(*graphpeg.Spec); ok {
		list = append(list, Storage{
			alwt, cores, peg.ALWTEntries * alwtEntry, fmt.Sprintf("%d entries × %d", peg.ALWTEntries, alwtEntry),
		})
	}
	list = append(list, cacheStorage("L1I", m.Sockets, &m.L1I)...)
	list = append(list, cacheStorage("L1D", m.Sockets, &m.L1D)...)
	if m.L2 != nil {
		list = append(list, cacheStorage("L2", 1, m.L2)...)
	}
	if m.L3 != nil {
		list = append(list, cacheStorage("L3", 1, m.L3)...)
	}
	return list
}

func cacheStorage(name string, n int, s *cache.Spec) []Storage {
	lines := s.Bytes / s.LineBytes
	sectors := max(1, s.Sectors)
	groups := lines / sectors
	tag := 32 - log2(s.LineBytes*sectors) - log2(groups/s.Ways)
	state, what := 1, "valid"
	if s.WritePolicy == cache.Back {
		state, what = 2, "valid, dirty"
	}
	entry := "lines"
	if sectors > 1 {
		entry, what = "ways", fmt.Sprintf("%d × (%s)", sectors, what)
	}
	return []Storage{
		{name + " data", n, s.Bytes * 8, fmt.Sprintf("%d lines × %d bytes", lines, s.LineBytes)},
		{name + " tags", n, groups * (tag + sectors*state),
			fmt.Sprintf("%d %s × (%d of the address, %s)", groups, entry, tag, what)},
	}
}

// log2 is rounded down: with a number of banks that is no power of two, tags have a bit more.
func log2(n int) int { return bits.Len(uint(n)) - 1 }
