package cuda

import (
	"slices"

	"heddle/kernels/ir"
)

// facts are a kernel's properties that determine which values become expressions and which need masks. Slices are
// indexed by an instruction's ID unless noted.
type facts struct {
	kernel  *ir.Kernel
	uniform *ir.Uniformity
	at      []int         // position in program order
	block   []*ir.Block   // the block that has the instruction
	loops   [][]*ir.Instr // enclosing loops, outermost first
	uses    [][]*ir.Instr // instructions with the value as an argument, once for each
	sets    [][]*ir.Instr // by a variable's ID: its OpSets
	effects []*ir.Instr   // instructions that write memory or wait
	warp    []bool        // constructs that contain a vote or a shuffle
	loads   []bool        // constructs that load from the scratchpad
	stores  []bool        // constructs that store to it
	live    []bool        // instructions that matter
	*pointers
}

// memory stands for all of memory among the dependences of an expression, which else are IDs of variables.
const memory = -1

func newFacts(k *ir.Kernel) *facts {
	n := k.Instr
	f := &facts{
		kernel: k, uniform: ir.Analyse(k), at: make([]int, n), block: make([]*ir.Block, n), loops: make([][]*ir.Instr, n),
		uses: make([][]*ir.Instr, n), sets: make([][]*ir.Instr, k.Vars), warp: make([]bool, n), loads: make([]bool, n),
		stores: make([]bool, n), live: findLive(k), pointers: findPointers(k),
	}
	position := 0
	f.visit(k.Body, nil, nil, &position)
	return f
}

// visit records the instructions of a block within constructs open, of which some are loops.
func (f *facts) visit(b *ir.Block, loops, open []*ir.Instr, position *int) {
	for _, i := range b.Instrs {
		if !f.live[i.ID] {
			continue
		}
		*position++
		f.at[i.ID], f.block[i.ID], f.loops[i.ID] = *position, b, loops
		for _, a := range i.Args {
			if a != nil {
				f.uses[a.ID] = append(f.uses[a.ID], i)
			}
		}
		f.note(i, append(open, i))
		within := loops
		if i.Op == ir.OpLoop || i.Op == ir.OpFor {
			within = append(slices.Clip(loops), i)
		}
		for _, nested := range i.Blocks {
			f.visit(nested, within, append(slices.Clip(open), i), position)
		}
	}
}

// note records an instruction's effects with all constructs that contain it.
func (f *facts) note(i *ir.Instr, open []*ir.Instr) {
	switch {
	case i.Op == ir.OpSet:
		f.sets[i.Var.ID] = append(f.sets[i.Var.ID], i)
	case i.Op.Kind() == ir.KindEffect && i.Op != ir.OpEdge && i.Op != ir.OpBlockEdge:
		f.effects = append(f.effects, i)
	}
	shared := i.Op.Memory() && f.isShared(i.Args[0])
	for _, c := range open {
		f.warp[c.ID] = f.warp[c.ID] || i.Op.Kind() == ir.KindWarp
		f.loads[c.ID] = f.loads[c.ID] || shared && i.Op.Kind() == ir.KindLoad
		f.stores[c.ID] = f.stores[c.ID] || shared && i.Op.Kind() != ir.KindLoad
	}
}

// stable reports whether an expression with dependences deps, evaluated at def, has the same value at use.
func (f *facts) stable(deps []int, def, use *ir.Instr) bool {
	loops := f.loops[use.ID]
	if use.Op == ir.OpFor { // its bound and step are evaluated again in every iteration of the printed loop
		loops = append(slices.Clip(loops), use)
	}
	for _, d := range deps {
		writers := f.effects
		if d != memory {
			writers = f.sets[d]
		}
		for _, w := range writers {
			if f.at[w.ID] > f.at[def.ID] && (f.at[w.ID] < f.at[use.ID] || f.again(loops, w, def)) {
				return false
			}
		}
	}
	return true
}

// again reports whether one of the loops around a use contains the writer and not the definition, so that the use
// follows the writer in a later iteration.
func (f *facts) again(loops []*ir.Instr, writer, def *ir.Instr) bool {
	for _, l := range loops {
		if slices.Contains(f.loops[writer.ID], l) && !slices.Contains(f.loops[def.ID], l) {
			return true
		}
	}
	return false
}

// pointers are the values and variables that hold addresses, grouped by the arrays that they may point into.
type pointers struct {
	parent []int // union-find over values, by ID, and variables, from the number of values on
	values int
	is     []bool // of the same index: it is an address
	groups map[int]*group
}

// group is a set of addresses between which values flow.
type group struct {
	types   [ir.Pred + 1]bool // of the words accessed
	bytes   bool              // bytes are accessed
	words   bool
	written bool
	shared  bool // in the scratchpad
}

func findPointers(k *ir.Kernel) *pointers {
	p := &pointers{parent: make([]int, k.Instr+k.Vars), values: k.Instr, is: make([]bool, k.Instr+k.Vars),
		groups: map[int]*group{}}
	for i := range p.parent {
		p.parent[i] = i
	}
	for _, r := range k.Roots {
		p.is[r.ID] = r.Op == ir.OpShared || r.Op == ir.OpParam && k.Params[r.Imm].Aligned
	}
	for changed := true; changed; {
		changed = false
		k.Body.Walk(func(i *ir.Instr) { changed = p.flow(i) || changed })
	}
	for _, r := range k.Roots {
		if r.Op == ir.OpShared {
			p.group(r.ID).shared = true
		}
	}
	k.Body.Walk(p.access)
	return p
}

// flow propagates addresses through an instruction, and reports whether that has found any.
func (p *pointers) flow(i *ir.Instr) (changed bool) {
	join := func(from, to int) {
		if p.is[from] && (!p.is[to] || p.find(from) != p.find(to)) {
			p.is[to], changed = true, true
			p.parent[p.find(from)] = p.find(to)
		}
	}
	switch i.Op {
	case ir.OpVar, ir.OpSet:
		join(i.Args[0].ID, p.values+i.Var.ID)
	case ir.OpGet:
		join(p.values+i.Var.ID, i.ID)
	case ir.OpAdd:
		join(i.Args[0].ID, i.ID)
		join(i.Args[1].ID, i.ID)
	case ir.OpSelect:
		join(i.Args[1].ID, i.ID)
		join(i.Args[2].ID, i.ID)
	case ir.OpShflIdx:
		join(i.Args[0].ID, i.ID)
	}
	return changed
}

func (p *pointers) find(i int) int {
	for p.parent[i] != i {
		i = p.parent[i]
	}
	return i
}

func (p *pointers) group(id int) *group {
	root := p.find(id)
	if p.groups[root] == nil {
		p.groups[root] = &group{}
	}
	return p.groups[root]
}

// access records how an instruction accesses its address.
func (p *pointers) access(i *ir.Instr) {
	if !i.Op.Memory() {
		return
	}
	g := p.group(i.Args[0].ID)
	g.written = g.written || i.Op.Kind() != ir.KindLoad
	switch i.Op {
	case ir.OpLoadByte, ir.OpStoreByte:
		g.bytes = true
		return
	case ir.OpStore:
		g.types[i.Args[2].Type] = true
	default:
		g.types[i.Type] = true
	}
	g.words = true
}

// isShared reports whether an address is in the scratchpad.
func (p *pointers) isShared(v ir.Value) bool { return p.is[v.ID] && p.group(v.ID).shared }

// element returns the C++ type of a group's elements.
func (g *group) element() string {
	switch {
	case g.bytes && !g.words:
		return "uint8_t"
	case g.types[ir.F32] && !g.types[ir.U32] && !g.types[ir.I32]:
		return "float"
	case g.types[ir.I32] && !g.types[ir.U32] && !g.types[ir.F32]:
		return "int32_t"
	}
	return "uint32_t"
}
