package codegen

import "slices"

// shiftedAdditions joins shifts to the left by 1 to 3 and additions of the results, if nothing else reads these.
func (c *code) shiftedAdditions() {
	s := &sinker{code: c}
	s.survey()
	drop := make([]bool, len(c.insts))
	for at := range c.insts {
		i := &c.insts[at]
		if i.row == nil || i.row.Name != "slli" || i.imm < 1 || i.imm > 3 || len(s.defs[i.rd]) != 1 ||
			slices.Contains(c.pinned, i.rd) || !s.onlyAdded(at) {
			continue
		}
		if u, ok := s.heir(at); ok {
			c.insts[u].edge, i.edge = i.edge, 0
		}
		if i.edge != 0 {
			continue
		}
		for _, u := range s.uses[i.rd] {
			add := &c.insts[u]
			base := add.a
			if base == i.rd {
				base = add.b
			}
			add.row, add.a, add.b = row([...]string{1: "sh1add", 2: "sh2add", 3: "sh3add"}[i.imm]), i.a, base
		}
		drop[at] = true
	}
	kept := c.insts[:0:0]
	for at, i := range c.insts {
		if !drop[at] {
			kept = append(kept, i)
		}
	}
	c.insts = kept
}

// heir returns the addition that can handle the edge of the shift at a position: the same lanes execute it next.
func (s *sinker) heir(at int) (u int, ok bool) {
	if u = s.uses[s.insts[at].rd][0]; u < at {
		return 0, false
	}
	for _, i := range s.insts[at:u] {
		if i.row == nil || i.stays() {
			return 0, false
		}
	}
	return u, s.insts[u].edge == 0
}

// onlyAdded reports whether the result of the shift at a position is read by additions alone, once by each, where its
// operand still has the same value.
func (s *sinker) onlyAdded(at int) bool {
	i := &s.insts[at]
	for _, u := range s.uses[i.rd] {
		add := &s.insts[u]
		if add.row.Name != "add" || add.a == add.b || !s.same(i.a, at, u) || u < at && !s.fixed(i.a) {
			return false
		}
	}
	return len(s.uses[i.rd]) > 0
}
