package emu

import (
	"cmp"
	"slices"
	"strings"

	"heddle/isa"
)

// PartPrefix begins the symbols of barriers at which a part of a program ends, for all of the device: heddle.part.NAME.
// On a device of several cores it is a device-wide barrier, and when it opens, all that the program did before has been
// done; on one core it is the core's, and the program sees to that by a fence. It is only looked at.
const PartPrefix = "heddle.part."

// partMark is a barrier that ends a part.
type partMark struct {
	addr uint32
	name string
}

// partMarks returns a program's marks in order of address.
func partMarks(p *isa.Program) (marks []partMark) {
	for _, s := range p.Symbols {
		if name, ok := strings.CutPrefix(s.Name, PartPrefix); ok {
			marks = append(marks, partMark{s.Addr, name})
		}
	}
	slices.SortFunc(marks, func(a, b partMark) int { return cmp.Compare(a.addr, b.addr) })
	return marks
}

// ObserveParts makes the machine call f with a part's name when the barrier that ends the part has opened, before a
// warp goes on. On a timed machine with several cores that is at the end of a cycle, otherwise within it; nil: no
// observer.
func (m *Machine) ObserveParts(f func(name string)) { m.partEnded = f }

// opened is called when a barrier has opened at which the warp waited, or was the last to arrive. pc is the address
// after it.
func (m *Machine) opened(pc uint32) {
	if m.partEnded == nil || len(m.parts) == 0 {
		return
	}
	if i, ok := slices.BinarySearchFunc(m.parts, pc-4,
		func(p partMark, a uint32) int { return cmp.Compare(p.addr, a) }); ok {
		m.partEnded(m.parts[i].name)
	}
}
