package codegen

import (
	"sync"

	"heddle/kernels/ir"
)

// listing maps a program's instructions to lines of the kernel's text. The text is made when a line is asked for.
type listing struct {
	kernel *ir.Kernel // after all passes
	base   uint32     // address of the first instruction
	from   []*ir.Instr

	once  sync.Once
	lines []string
	at    map[*ir.Instr]int
}

// newListing lists the origins of a program's instructions.
func newListing(k *ir.Kernel, base uint32, list []machine) *listing {
	l := &listing{kernel: k, base: base}
	for n := range list {
		if list[n].Row != nil {
			l.from = append(l.from, list[n].from)
		}
	}
	return l
}

func (l *listing) read() { l.once.Do(func() { l.lines, l.at = l.kernel.Lines() }) }

// Name implements isa.Listing.
func (l *listing) Name() string { return l.kernel.Name + ".ir" }

// Lines implements isa.Listing.
func (l *listing) Lines() []string {
	l.read()
	return l.lines
}

// Line implements isa.Listing.
func (l *listing) Line(addr uint32) int {
	n := (addr - l.base) / 4
	if addr < l.base || uint64(n) >= uint64(len(l.from)) || l.from[n] == nil {
		return 0
	}
	l.read()
	return l.at[l.from[n]]
}
