package codegen

import (
	"slices"

	"heddle/isa"
)

// sunk returns the code with values that are needed only behind a test computed behind it, so that a warp that finds
// nothing to do ends after a few instructions. nvcc and LLVM do the same: invariant values of a loop are computed
// between its first test and its body.
//
// A test is a conditional branch outside loops to a label further on, also outside loops. A value moves behind it if
// nothing else reads it, and nothing between the two places changes the thread mask or the operands of the value.
// Code at the kernel's entry also moves across loops, since the mask is the kernel's again behind each.
func (c *code) sunk(lean bool) *code {
	d := *c
	d.insts = slices.Clone(c.insts)
	s := &sinker{code: &d, lean: lean}
	// From the end, so that positions that are still to come stay.
	for at := len(d.insts) - 1; at >= 0; at-- {
		if i := &d.insts[at]; i.row != nil && i.row.Class == isa.ClassBranch && i.to != 0 && !i.jumps() && i.depth == 0 {
			s.test(at)
		}
	}
	return &d
}

type sinker struct {
	*code
	lean       bool
	defs, uses [][]int // by register: the positions of the instructions that write and read it
}

// survey lists definitions and uses anew.
func (s *sinker) survey() {
	s.defs, s.uses = make([][]int, len(s.float)), make([][]int, len(s.float))
	for at := range s.insts {
		i := &s.insts[at]
		if rd := i.def(); rd != 0 {
			s.defs[rd] = append(s.defs[rd], at)
		}
		i.eachUse(func(r reg) { s.uses[r] = append(s.uses[r], at) })
	}
}

// test moves values behind the branch at a position.
func (s *sinker) test(at int) {
	end := slices.IndexFunc(s.insts, func(i inst) bool { return i.row == nil && i.label == s.insts[at].to })
	if end < at || s.insts[end].depth > 0 {
		return
	}
	if s.lean {
		s.byIndex(at)
	}
	s.survey()
	last := at - 1
	narrowed := last >= 0 && s.insts[last].row != nil && s.insts[last].row.Name == "pred"
	if narrowed {
		if len(s.visits) > 0 { // lanes that pred has turned off are turned on there, and would lack the values
			return
		}
		last--
	}
	begin := last
	for begin >= 0 && !s.insts[begin].stays() {
		begin--
	}
	m := move{sinker: s, begin: begin + 1, at: at, end: end, moved: make([]bool, at), stays: make([]bool, len(s.float)),
		narrowed: narrowed}
	m.first, m.behind = s.beginning(at)
	for before := []bool(nil); !slices.Equal(before, m.moved); {
		before = slices.Clone(m.moved)
		for k := last; k >= 0; k-- {
			m.moved[k] = m.stretch(k) && m.movable(k)
		}
		if m.part() {
			before = nil
		}
	}
	var ahead, behind []inst
	for k, moved := range m.moved {
		if moved {
			behind = append(behind, s.insts[k])
		} else {
			ahead = append(ahead, s.insts[k])
		}
	}
	s.insts = slices.Concat(ahead, s.insts[at:at+1], behind, s.insts[at+1:])
}

// beginning returns the stretch that all warps begin with, from and up to; it is empty for a branch within a condition
// that differs between lanes.
func (s *sinker) beginning(at int) (from, to int) {
	open := 0
	for _, i := range s.insts[:at] {
		if i.row != nil && i.depth == 0 {
			switch i.row.Name {
			case "split":
				open++
			case "join":
				open--
			}
		}
	}
	from = 1 + slices.IndexFunc(s.insts, func(i inst) bool { return i.entry })
	if open > 0 || from == 0 || len(s.visits) > 0 {
		return 0, 0
	}
	to = from
	for to < at && !s.insts[to].stays() {
		to++
	}
	return from, to
}

// move is the choice of instructions that move from positions first to behind, and begin to at, behind the branch at
// position at, whose target is at position end.
type move struct {
	*sinker
	first, behind, begin, at, end int

	moved    []bool // by position
	stays    []bool // by register: it cannot move
	narrowed bool   // lanes are turned off just before the branch
}

// part finds registers of which only some definitions would move, which stay, and reports whether there are more.
func (m *move) part() (found bool) {
	for k := range m.at {
		if !m.moved[k] {
			continue
		}
		rd := m.insts[k].def()
		for _, d := range m.defs[rd] {
			if d < m.at && !m.moved[d] {
				found, m.stays[rd] = true, true
			}
		}
	}
	return found
}

// stretch reports whether instructions at a position can move at all.
func (m *move) stretch(k int) bool { return k >= m.first && k < m.behind || k >= m.begin && k < m.at }

// movable reports whether the instruction at position k can move, if those that are marked do.
func (m *move) movable(k int) bool {
	i := &m.insts[k]
	rd := i.def()
	if !m.pure(i) || rd == 0 || m.stays[rd] || i.edge != 0 || len(m.uses[rd]) == 0 || rd == m.args ||
		slices.Contains(m.pinned, rd) || slices.Contains(m.quick, rd) {
		return false
	}
	for _, d := range m.defs[rd] {
		if loop := d > m.at && d < m.end; !m.stretch(d) && !(loop && m.lean) {
			return false
		}
	}
	for _, u := range m.uses[rd] {
		inside := u > m.at && u < m.end || u < m.at && (m.moved[u] || u == k)
		if !inside || m.narrowed && m.insts[u].exchanges() {
			return false
		}
	}
	same := true
	i.eachUse(func(r reg) {
		for n := k + 1; n < m.at; n++ {
			same = same && (m.insts[n].def() != r || m.moved[n])
		}
	})
	return same
}

// pure reports whether an instruction does nothing but compute a value, which depends on its operands, the warp and the
// lane alone.
func (s *sinker) pure(i *inst) bool {
	switch i.row.Class {
	case isa.ClassALU, isa.ClassMul, isa.ClassDiv, isa.ClassFNCP, isa.ClassFCvt:
		return true
	case isa.ClassCSR:
		return i.a == 0 && i.row.Name == "csrrs" && i.csr != isa.CSRActiveThreads
	case isa.ClassLoad:
		return i.a == s.args && s.args != 0 // of the argument block, which no kernel writes
	}
	return false
}

// exchanges reports whether lanes read a register of other lanes, perhaps of lanes that are off.
func (i *inst) exchanges() bool { return i.row != nil && i.row.Class == isa.ClassVote }
