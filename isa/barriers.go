package isa

import "encoding/binary"

// UnfencedBarriers returns the addresses of barriers that may be device-wide and that a warp may reach with a store of
// its own behind its last fence: on machines whose device-wide barriers do nothing to memory, other cores may not see
// it. The code is inspected and not run, within straight code: a barrier is not listed if its number is a constant
// without bit 31, or if it comes behind a fence without a store, an atomic, a call or a place to jump to between them.
func (p *Program) UnfencedBarriers() (addrs []uint32) {
	for i := range p.Segments {
		if s := &p.Segments[i]; s.Executable {
			t := newCode(s)
			for n := range t.insts {
				if x := &t.insts[n]; x.is("bar") && t.acrossCores(n) && !t.fenced(n) {
					addrs = append(addrs, s.Addr+uint32(4*n))
				}
			}
		}
	}
	return addrs
}

// code holds the instructions of a segment; words without a Row are not instructions.
type code struct {
	insts  []Inst
	joined []bool        // a branch or jump leads there
	writes map[Reg][]int // the instructions that write a register
}

func newCode(s *Segment) *code {
	t := &code{insts: make([]Inst, len(s.Data)/4), writes: map[Reg][]int{}}
	t.joined = make([]bool, len(t.insts))
	for n := range t.insts {
		in, ok := Decode(binary.LittleEndian.Uint32(s.Data[4*n:]))
		if !ok {
			continue
		}
		t.insts[n] = in
		if to := n + int(in.Imm)/4; in.Class == ClassBranch && !in.is("jalr") && to >= 0 && to < len(t.joined) {
			t.joined[to] = true
		}
		if in.writes() {
			t.writes[in.Rd] = append(t.writes[in.Rd], n)
		}
	}
	return t
}

// is reports whether it is an instruction of that name.
func (in *Inst) is(name string) bool { return in.Row != nil && in.Name == name }

// writes reports whether the instruction writes Rd, x0 aside.
func (in *Inst) writes() bool {
	_, ok := in.Operand("rd")
	return ok && in.Rd != 0
}

// acrossCores reports whether a barrier's number may have bit 31, which makes it device-wide.
func (t *code) acrossCores(n int) bool {
	r := t.insts[n].Rs1
	if r == 0 {
		return false
	}
	for at := n - 1; at >= 0 && t.follows(at); at-- { // the last write before it
		if t.insts[at].writes() && t.insts[at].Rd == r {
			value, known := t.constant(at)
			return !known || value>>31 != 0
		}
	}
	for _, at := range t.writes[r] {
		if value, known := t.constant(at); !known || value>>31 != 0 {
			return true
		}
	}
	return len(t.writes[r]) == 0
}

// follows reports whether the next instruction can only be reached through the one at at.
func (t *code) follows(at int) bool {
	in := &t.insts[at]
	return in.Row != nil && !t.joined[at+1] && !in.is("jal") && !in.is("jalr")
}

// constant returns the constant that an instruction writes: that of lui, or of addi on x0 or on a lui before it.
func (t *code) constant(at int) (value uint32, known bool) {
	switch in := &t.insts[at]; {
	case in.is("lui"):
		return in.Raw &^ 0xFFF, true
	case in.is("addi"):
		if in.Rs1 == 0 {
			return uint32(in.Imm), true
		}
		if at > 0 && t.follows(at-1) && t.insts[at-1].is("lui") && t.insts[at-1].Rd == in.Rs1 {
			return t.insts[at-1].Raw&^0xFFF + uint32(in.Imm), true
		}
	}
	return 0, false
}

// fenced reports whether a fence comes before a barrier, and no store behind it.
func (t *code) fenced(n int) bool {
	for at := n - 1; at >= 0 && t.follows(at); at-- {
		switch t.insts[at].Class {
		case ClassFence:
			return true
		case ClassStore, ClassAtomic, ClassUnit:
			return false
		}
	}
	return false
}
