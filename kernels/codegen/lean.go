package codegen

import (
	"slices"

	"heddle/isa"
)

// dropMask removes a change of the thread mask just before the end of all warps, for which all lanes are the same.
func (c *code) dropMask() {
	last := len(c.insts) - 1
	if last >= 0 && c.insts[last].row != nil && c.insts[last].row.Name == "tmc" && c.insts[last].a != 0 &&
		c.insts[last].edge == 0 {
		c.insts = c.insts[:last]
	}
}

// masks computes the mask that is all ones unless a comparison holds as the comparison's result minus 1, not as the
// negative of its opposite.
func (c *code) masks() {
	s := &sinker{code: c}
	s.survey()
	for n := range c.insts {
		not := &c.insts[n]
		if not.row == nil || not.row.Name != "xori" || not.imm != 1 || not.rd != not.a || !s.onlyNegated(n) {
			continue
		}
		for _, u := range s.uses[not.rd] {
			if i := &c.insts[u]; u != n {
				i.row, i.a, i.b, i.imm = row("addi"), not.rd, 0, -1
			}
		}
		not.row, not.imm = row("addi"), 0 // of a register to itself: dropped
	}
	c.insts = slices.DeleteFunc(c.insts, func(i inst) bool {
		return i.row != nil && i.row.Name == "addi" && i.rd == i.a && i.imm == 0 && i.rd != 0 && i.edge == 0
	})
}

// onlyNegated reports whether the register that the instruction at a position changes holds the result of a comparison
// before, and its negative is all that is read of it behind.
func (s *sinker) onlyNegated(n int) bool {
	r := s.insts[n].rd
	if d := s.defs[r]; len(d) != 2 || d[1] != n || !slices.Contains(zeroOrOne, s.insts[d[0]].row.Name) ||
		!s.same(r, d[0]+1, n) || slices.Contains(s.pinned, r) {
		return false
	}
	for _, u := range s.uses[r] {
		if i := &s.insts[u]; u != n && (i.row.Name != "sub" || i.a != 0 || u < n) {
			return false
		}
	}
	return s.insts[n].edge == 0
}

// zeroOrOne are the instructions whose result is 0 or 1.
var zeroOrOne = []string{"slt", "slti", "sltu", "sltiu", "feq.s", "flt.s", "fle.s"}

// dropUnread removes instructions that do nothing but compute a value that nothing reads.
func (c *code) dropUnread() {
	for again := true; again; {
		read := make([]bool, len(c.float))
		for n := range c.insts {
			c.insts[n].eachUse(func(r reg) { read[r] = true })
		}
		before := len(c.insts)
		c.insts = slices.DeleteFunc(c.insts, func(i inst) bool {
			rd := i.def()
			return rd != 0 && !read[rd] && i.edge == 0 && i.computes(c.args) && !slices.Contains(c.pinned, rd) &&
				!slices.Contains(c.quick, rd)
		})
		again = len(c.insts) < before
	}
}

// computes reports whether an instruction does nothing but compute a value.
func (i *inst) computes(args reg) bool {
	switch i.row.Class {
	case isa.ClassALU, isa.ClassMul, isa.ClassDiv:
		return true
	case isa.ClassCSR:
		return i.a == 0 && i.row.Name == "csrrs" && i.csr >= isa.CSRTid
	case isa.ClassLoad:
		return args != 0 && i.a == args
	}
	return false
}

// dropCopies removes instructions that bring a value into a scratch register which holds it already: a float register's
// or a coordinate of the lane.
func dropCopies(list []machine) (out []machine) {
	holds := map[isa.Reg]isa.Inst{} // by scratch register: the instruction that would bring its value
	for _, m := range list {
		if m.Row == nil { // others come here
			clear(holds)
			out = append(out, m)
			continue
		}
		brings, ok := copyOf(&m.Inst)
		if ok && holds[brings.Rd] == brings && m.edge == 0 {
			continue
		}
		out = append(out, m)
		switch {
		case m.Class == isa.ClassUnit, m.Class == isa.ClassWarp && m.Row.Name != "split": // may turn lanes on
			clear(holds)
		case accesses()[m.Op].rd || m.Class == isa.ClassWarp:
			for r, i := range holds {
				if r == m.Rd || i.Rs1 == m.Rd {
					delete(holds, r)
				}
			}
		}
		if ok {
			holds[brings.Rd] = brings
		}
	}
	return out
}

// copyOf returns the instruction that brings a value into a scratch register, if i does or stores it from there.
func copyOf(i *isa.Inst) (brings isa.Inst, ok bool) {
	scratch := func(r isa.Reg) bool { return r >= firstScratch && r < firstScratch+numScratch }
	switch {
	case i.Row.Name == "fmv.x.w" && scratch(i.Rd):
		return isa.Inst{Row: i.Row, Rd: i.Rd, Rs1: i.Rs1}, true
	case i.Row.Name == "fmv.w.x" && scratch(i.Rs1):
		return isa.Inst{Row: row("fmv.x.w"), Rd: i.Rs1, Rs1: i.Rd}, true
	case i.Row.Name == "csrrs" && i.Rs1 == 0 && i.CSR == isa.CSRTid && scratch(i.Rd):
		return *i, true
	}
	return brings, false
}

// byIndex replaces tests before the branch at a position that compare base + index·2^n with base + bound·2^n by ones
// that compare index and bound, so that a warp without work computes no addresses. Induction has made the first of the
// second, which saves the loop's steps a register and an addition.
func (s *sinker) byIndex(at int) {
	s.survey()
	for k := at - 1; k >= 0 && s.insts[k].row != nil; k-- {
		if i := &s.insts[k]; i.row.Name == "sltu" {
			if a, b, ok := s.indices(i, k); ok {
				i.a, i.b = a, b
			}
		}
	}
}

// indices returns index and bound of a comparison at position k.
func (s *sinker) indices(i *inst, k int) (a, b reg, ok bool) {
	x, okX := s.reaching(i.a, k, "add")
	y, okY := s.reaching(i.b, k, "add")
	if !okX || !okY {
		return 0, 0, false
	}
	first, second := &s.insts[x], &s.insts[y]
	for _, p := range [][2]reg{{first.a, first.b}, {first.b, first.a}} {
		for _, q := range [][2]reg{{second.a, second.b}, {second.b, second.a}} {
			if p[0] != q[0] || !s.same(p[0], x, k) || !s.same(p[0], y, k) {
				continue
			}
			m, okM := s.reaching(p[1], x, "slli")
			n, okN := s.reaching(q[1], y, "slli")
			if okM && okN && s.insts[m].imm == s.insts[n].imm && s.same(s.insts[m].a, m, k) && s.same(s.insts[n].a, n, k) {
				return s.insts[m].a, s.insts[n].a, true
			}
		}
	}
	return 0, 0, false
}

// fixed reports whether a register is written at most once.
func (s *sinker) fixed(r reg) bool { return r == 0 || len(s.defs[r]) <= 1 }

// same reports whether a register has the same value at two positions, the later of which the first dominates.
func (s *sinker) same(r reg, from, to int) bool {
	if s.fixed(r) {
		return true
	}
	for at := from; at < to; at++ {
		if s.insts[at].label != 0 || s.insts[at].def() == r {
			return false
		}
	}
	return true
}

// reaching returns the position of the instruction which has computed a register's value at position k, if it has that
// name.
func (s *sinker) reaching(r reg, k int, name string) (at int, ok bool) {
	if r == 0 {
		return 0, false
	}
	at = k - 1
	for at >= 0 && s.insts[at].def() != r && s.insts[at].label == 0 {
		at--
	}
	if at < 0 || s.insts[at].def() != r {
		if !s.fixed(r) || len(s.defs[r]) == 0 || s.defs[r][0] > k {
			return 0, false
		}
		at = s.defs[r][0]
	}
	return at, s.insts[at].row.Name == name
}
