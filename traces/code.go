package traces

import (
	"encoding/binary"
	"sort"

	"heddle/isa"
)

// code holds a program's instructions; recorder and reader number those with addresses, operands or answers
// identically.
type code struct {
	program  *isa.Program
	segments []codeSegment
	sites    int
}

type codeSegment struct {
	base uint32
	ops  []codeOp
}

// codeOp is the instruction at one address.
type codeOp struct {
	isa.Inst
	valid bool
	site  int32 // -1: none
}

func newCode(p *isa.Program) *code {
	c := &code{program: p}
	for _, s := range p.Segments {
		if s.Executable {
			c.segments = append(c.segments, c.segment(&s))
		}
	}
	sort.Slice(c.segments, func(i, j int) bool { return c.segments[i].base < c.segments[j].base })
	return c
}

func (c *code) segment(s *isa.Segment) codeSegment {
	g := codeSegment{base: (s.Addr + 3) &^ 3}
	skip := min(int(g.base-s.Addr), len(s.Data))
	for b := s.Data[skip:]; len(b) >= 4; b = b[4:] {
		op := codeOp{site: -1}
		if op.Inst, op.valid = isa.Decode(binary.LittleEndian.Uint32(b)); op.valid && hasSite(op.Class) {
			op.site = int32(c.sites)
			c.sites++
		}
		g.ops = append(g.ops, op)
	}
	return g
}

// hasSite reports whether instructions of a class have values to predict from.
func hasSite(class isa.Class) bool {
	switch class {
	case isa.ClassLoad, isa.ClassStore, isa.ClassAtomic, isa.ClassWarp, isa.ClassUnit:
		return true
	}
	return false
}

// at returns the instruction at pc; nil: no instruction.
func (c *code) at(pc uint32) *codeOp {
	for i := range c.segments {
		s := &c.segments[i]
		if n := (pc - s.base) / 4; pc >= s.base && n < uint32(len(s.ops)) && pc&3 == 0 && s.ops[n].valid {
			return &s.ops[n]
		}
	}
	return nil
}

// site holds one warp's last values of one instruction, from which the next are predicted.
type site struct {
	vectors []vector // addresses; or rs1, rs2, rs3 and the answer
	args    isa.ControlArgs
}

// Vectors of a unit instruction.
const (
	unitAnswer  = 3
	unitVectors = 4
)

func newSite(class isa.Class) *site {
	switch class {
	case isa.ClassWarp:
		return &site{}
	case isa.ClassUnit:
		return &site{vectors: make([]vector, unitVectors)}
	}
	return &site{vectors: make([]vector, 1)}
}

// memory holds one warp's sites of all instructions, in one launch.
type memory struct {
	code  *code
	sites []*site
}

// begin discards everything.
func (m *memory) begin(c *code) {
	if m.code != c {
		m.code, m.sites = c, make([]*site, c.sites)
		return
	}
	for _, s := range m.sites {
		if s != nil {
			clear(s.vectors)
			s.args = isa.ControlArgs{}
		}
	}
}

// site returns the site of the instruction at pc; nil: the program has none there.
func (m *memory) site(pc uint32) *site {
	op := m.code.at(pc)
	if op == nil || op.site < 0 {
		return nil
	}
	return m.siteOf(op)
}

// siteOf returns the site of an instruction that has one.
func (m *memory) siteOf(op *codeOp) *site {
	s := m.sites[op.site]
	if s == nil {
		s = newSite(op.Class)
		m.sites[op.site] = s
	}
	return s
}
