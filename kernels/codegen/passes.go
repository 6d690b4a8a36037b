package codegen

import "heddle/kernels/ir"

// pass rewrites a kernel into an equivalent one.
type pass struct {
	name string
	doc  string // purpose, and reason for its position
	run  func(*ir.Kernel)
}

var passes = []pass{
	{"simplify", "constants, identities and common values: first, so that the others see fewer forms", simplify},
	{"addresses", "array, index → address + constant: before common values are sought again, because addresses are " +
		"most of them", addresses},
	{"shuffles", "the operands of shuffles as the instructions take them: before common values are sought again",
		shuffles},
	{"leave", "breaks and continues out of conditions that differ between lanes become variables: before loops " +
		"move, as it adds conditions", leave},
	{"rotate", "code of a loop before its first break becomes its test, so that a step has one branch", rotate},
	{"share", "common values again: addresses, and values created by leave", simplify},
	{
		"vertices",
		"values derived from the Weaver's vertices are computed before the vertices are registered: when common " +
			"values are known, before they move out of loops",
		vertices,
	},
	{"overlap", "loads of unrolled steps move before the uses of earlier steps' loads: when addresses and common " +
		"values are known, and before they become variables", overlap},
	{"hoist", "loop-invariant values move before the loop: before induction, which takes values outside as fixed",
		hoist},
	{"induction", "for loops become loops; values that grow by a fixed amount become variables, and a test on the " +
		"index one on an address", induction},
	{"tidy", "results of induction: start values, steps, bounds that are constants or common", simplify},
	{"settle", "induction's start values and bounds that do not change in outer loops move out", hoist},
}

// PassDoc returns the purpose of a pass and the reason for its position.
func PassDoc(name string) string {
	for _, p := range passes {
		if p.name == name {
			return p.doc
		}
	}
	return ""
}

// insert puts list before the instruction at position at.
func insert(b *ir.Block, at int, list ...*ir.Instr) {
	rest := append([]*ir.Instr(nil), b.Instrs[at:]...)
	b.Instrs = append(append(b.Instrs[:at:at], list...), rest...)
}

// users returns the users of each value, by ID.
func users(k *ir.Kernel) [][]*ir.Instr {
	list := make([][]*ir.Instr, k.Instr)
	k.Body.Walk(func(i *ir.Instr) {
		for _, a := range i.Args {
			if a != nil {
				list[a.ID] = append(list[a.ID], i)
			}
		}
		if i.Grid != nil {
			list[i.Grid.Safe.ID] = append(list[i.Grid.Safe.ID], i)
		}
	})
	return list
}

// isBits reports whether a value is a constant with the given bits.
func isBits(v ir.Value, bits uint32) bool {
	c, ok := v.IsConst()
	return ok && c == bits
}
