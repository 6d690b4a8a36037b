package codegen

import (
	"slices"

	"heddle/kernels/ir"
)

// overlap makes the loads of a loop's unrolled steps overlap: in the body of a loop with Copies, a load and the
// instructions that compute its address move up, ahead of the uses of earlier steps' loads.
//
// A load passes other loads. It passes a store or an atomic only if nothing in the kernel writes the array that it
// reads, as with a const __restrict__ array in CUDA. Nothing passes a break, as lanes may leave there, nor a barrier, a
// fence or a graph unit's instruction.
func overlap(k *ir.Kernel) {
	found := false
	k.Body.Walk(func(i *ir.Instr) { found = found || i.Copies > 1 })
	if !found {
		return
	}
	o := &overlapper{k: k, arrays: newArrays(k)}
	k.Body.Walk(func(i *ir.Instr) {
		if i.Copies > 1 {
			o.block(i.Blocks[0])
		}
	})
}

type overlapper struct {
	k      *ir.Kernel
	arrays *arrays
}

// block reorders a loop's body.
func (o *overlapper) block(b *ir.Block) {
	o.once(b)
	m := &motion{arrays: o.arrays, at: map[ir.Value]spot{}, set: make([]int, o.k.Vars)}
	m.spots = append(m.spots, nil)
	wanted := o.wanted(b)
	for _, i := range b.Instrs {
		if wanted[i] {
			m.move(i)
			continue
		}
		m.stay(i)
	}
	var out []*ir.Instr
	for n, list := range m.spots {
		slices.SortStableFunc(list, func(x, y *ir.Instr) int { return m.at[x].loads - m.at[y].loads })
		out = append(out, list...)
		if n < len(m.fixed) {
			out = append(out, m.fixed[n])
		}
	}
	b.Instrs = out
}

// once removes repeated loads of words that nothing in the kernel writes.
func (o *overlapper) once(b *ir.Block) {
	type word struct {
		op      ir.Op
		t       ir.Type
		address ir.Value
		imm     uint32
	}
	known, to := map[word]ir.Value{}, map[ir.Value]ir.Value{}
	var out []*ir.Instr
	for _, i := range b.Instrs {
		rename := func(x *ir.Instr) {
			for n, a := range x.Args {
				if v, ok := to[a]; ok {
					x.Args[n] = v
				}
			}
		}
		rename(i)
		for _, inner := range i.Blocks {
			inner.Walk(rename)
		}
		if bounds(i.Op) {
			clear(known)
		}
		if o.arrays.constant(i) {
			w := word{i.Op, i.Type, i.Args[0], i.Imm}
			if v, ok := known[w]; ok {
				to[i] = v
				continue
			}
			known[w] = i
		}
		out = append(out, i)
	}
	b.Instrs = out
}

// wanted returns the loads that may move, those of arrays that nothing writes, with the movable instructions that
// compute their addresses.
func (o *overlapper) wanted(b *ir.Block) map[*ir.Instr]bool {
	wanted := map[*ir.Instr]bool{}
	for n := len(b.Instrs) - 1; n >= 0; n-- {
		i := b.Instrs[n]
		if o.arrays.constant(i) {
			wanted[i] = true
		}
		if !wanted[i] {
			continue
		}
		for _, a := range i.Args {
			if a != nil && (a.Op == ir.OpGet || a.Op.Kind() == ir.KindPure || a.Op.Kind() == ir.KindWarp) {
				wanted[a] = true
			}
		}
	}
	return wanted
}

// spot is the new position of an instruction: the number of fixed instructions before it, and the length of the chain
// of loads that it depends on.
type spot struct{ behind, loads int }

// motion is a body being reordered.
type motion struct {
	arrays *arrays
	fixed  []*ir.Instr   // instructions that stay, in order
	spots  [][]*ir.Instr // instructions that move, before each of these and after the last
	at     map[ir.Value]spot
	set    []int // by variable: position of its last assignment
	bound  int   // position that nothing passes
}

// move puts an instruction as far up as possible.
func (m *motion) move(i *ir.Instr) {
	s := spot{behind: m.bound}
	if i.Op == ir.OpGet {
		s.behind = max(s.behind, m.set[i.Var.ID])
	}
	if i.Op.Kind() == ir.KindPure { // it may pass breaks: lanes that leave execute it in vain
		s.behind = 0
	}
	for _, a := range i.Args {
		if x, ok := m.at[a]; ok {
			s.behind, s.loads = max(s.behind, x.behind), max(s.loads, x.loads+waitsFor(a))
		}
	}
	m.at[i] = s
	m.spots[s.behind] = append(m.spots[s.behind], i)
}

func waitsFor(v ir.Value) int {
	if v.Op.Kind() == ir.KindLoad {
		return 1
	}
	return 0
}

// stay keeps an instruction in its order.
func (m *motion) stay(i *ir.Instr) {
	m.fixed, m.spots = append(m.fixed, i), append(m.spots, nil)
	here := len(m.fixed)
	m.at[i] = spot{behind: here, loads: waitsFor(i)}
	see := func(x *ir.Instr) {
		switch {
		case x.Op == ir.OpVar || x.Op == ir.OpSet:
			m.set[x.Var.ID] = here
		case x.Op == ir.OpBreak, x.Op == ir.OpContinue, bounds(x.Op):
			m.bound = here
		}
	}
	see(i)
	for _, b := range i.Blocks {
		b.Walk(see)
	}
}

// bounds reports whether an operation makes stores of other threads visible, or changes the active lanes.
func bounds(op ir.Op) bool {
	switch op {
	case ir.OpBarrier, ir.OpDeviceBarrier, ir.OpFence, ir.OpAllLanes, ir.OpIndex:
		return true
	}
	return op >= ir.OpWeaverReg
}

// arrays knows which arrays of its arguments a kernel writes. Arrays of other names are other memory, as package ir's
// Array says.
type arrays struct {
	k       *ir.Kernel
	written map[int]bool // parameters
	unknown bool         // some written array is unknown
	sets    [][]ir.Value // by variable: the values that it is set to
}

func newArrays(k *ir.Kernel) *arrays {
	a := &arrays{k: k, written: map[int]bool{}, sets: make([][]ir.Value, k.Vars)}
	k.Body.Walk(func(i *ir.Instr) {
		if i.Op == ir.OpVar || i.Op == ir.OpSet {
			a.sets[i.Var.ID] = append(a.sets[i.Var.ID], i.Args[0])
		}
	})
	k.Body.Walk(func(i *ir.Instr) {
		if !i.Op.Memory() || i.Op.Kind() == ir.KindLoad {
			return
		}
		of := a.of(i)
		a.unknown = a.unknown || len(of.params) == 0 && !of.shared
		for p := range of.params {
			a.written[p] = true
		}
	})
	return a
}

// constant reports whether an instruction loads from arrays that nothing writes.
func (a *arrays) constant(i *ir.Instr) bool {
	if i.Op.Kind() != ir.KindLoad || a.unknown {
		return false
	}
	of := a.of(i)
	if of.shared || len(of.params) == 0 {
		return false
	}
	for p := range of.params {
		if a.written[p] {
			return false
		}
	}
	return true
}

// origin is the set of arrays that an address can be in.
type origin struct {
	params map[int]bool
	shared bool // the scratchpad
	seen   map[*ir.Var]bool
}

// of returns the arrays that a memory instruction can access.
func (a *arrays) of(i *ir.Instr) *origin {
	o := &origin{params: map[int]bool{}, seen: map[*ir.Var]bool{}}
	a.trace(o, i.Args[0])
	return o
}

// trace adds the arrays that a value can be an address in. An address is an array argument of the kernel, or an address
// of the scratchpad, plus integers; values read from memory, or computed otherwise, are integers.
func (a *arrays) trace(o *origin, v ir.Value) {
	switch v.Op {
	case ir.OpParam:
		if a.k.Params[v.Imm].Aligned {
			o.params[int(v.Imm)] = true
		}
	case ir.OpShared:
		o.shared = true
	case ir.OpAdd, ir.OpSub, ir.OpBitcast, ir.OpMin, ir.OpMax, ir.OpAnd, ir.OpOr, ir.OpXor, ir.OpShflIdx, ir.OpShflUp,
		ir.OpShflDown, ir.OpShflXor:
		for _, x := range v.Args {
			a.trace(o, x)
		}
	case ir.OpSelect:
		a.trace(o, v.Args[1])
		a.trace(o, v.Args[2])
	case ir.OpGet:
		if !o.seen[v.Var] {
			o.seen[v.Var] = true
			for _, x := range a.sets[v.Var.ID] {
				a.trace(o, x)
			}
		}
	}
}
