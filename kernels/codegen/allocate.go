package codegen

import (
	"fmt"
	"math/bits"
	"slices"

	"heddle/isa"
	"heddle/isa/emu"
	"heddle/kernels/ir"
)

// Allocation is by linear scan: a virtual register has one location for its whole life, from its first to its last
// position. Each lane has registers of its own, and an instruction writes those of active lanes only, so that values of
// inactive lanes are safe and lives are as in a program for one lane. The exception is code that is executed by lanes
// which wait elsewhere (visit): it counts as reachable from there and back.

// bitset is a set of registers.
type bitset []uint64

func (s bitset) has(r reg) bool { return s[r>>6]>>(r&63)&1 != 0 }
func (s bitset) add(r reg)      { s[r>>6] |= 1 << (r & 63) }
func (s bitset) drop(r reg)     { s[r>>6] &^= 1 << (r & 63) }

// join adds another set and reports whether that changed anything.
func (s bitset) join(o bitset) (changed bool) {
	for i, w := range o {
		changed = changed || w&^s[i] != 0
		s[i] |= w
	}
	return changed
}

// chunk is a basic block.
type chunk struct {
	from, to int // instructions
	next     []int
	in, out  bitset
}

// chunks splits the code at labels and branches.
func (c *code) chunks() []chunk {
	var list []chunk
	start := map[label]int{}
	visited := map[label]bool{}
	for _, v := range c.visits {
		visited[v.end] = true
		for _, l := range v.from {
			visited[l] = true
		}
	}
	begin := 0
	cut := func(end int) {
		if end > begin {
			list = append(list, chunk{from: begin, to: end})
			begin = end
		}
	}
	for n := range c.insts {
		i := &c.insts[n]
		if i.row == nil && i.label != 0 {
			cut(n)
			start[i.label] = len(list)
			if visited[i.label] { // lanes enter and leave at the label, not after the next instruction
				cut(n + 1)
			}
		}
		if i.row != nil && (i.to != 0 || i.ends()) {
			cut(n + 1)
		}
	}
	cut(len(c.insts))
	for n := range list {
		last := &c.insts[list[n].to-1]
		if last.row != nil && last.to != 0 {
			list[n].next = append(list[n].next, start[last.to])
		}
		if n+1 < len(list) && (last.row == nil || !last.jumps()) {
			list[n].next = append(list[n].next, n+1)
		}
	}
	for _, v := range c.visits {
		for _, from := range v.from {
			list[start[from]].next = append(list[start[from]].next, start[v.begin])
			list[start[v.end]].next = append(list[start[v.end]].next, start[from])
		}
	}
	return list
}

// live computes the registers that are live at the ends of chunks.
func (c *code) live(list []chunk) {
	words := (len(c.float) + 63) / 64
	for n := range list {
		list[n].in, list[n].out = make(bitset, words), make(bitset, words)
	}
	for changed := true; changed; {
		changed = false
		for n := len(list) - 1; n >= 0; n-- {
			k := &list[n]
			for _, s := range k.next {
				k.out.join(list[s].in)
			}
			in := slices.Clone(k.out)
			for p := k.to - 1; p >= k.from; p-- {
				i := &c.insts[p]
				if d := i.def(); d != 0 {
					in.drop(d)
				}
				i.eachUse(in.add)
			}
			changed = k.in.join(in) || changed
		}
	}
}

// life is the live range of a virtual register, with its location.
type life struct {
	r        reg
	from, to int
	weight   float64 // number of uses, weighted by loops
	again    *inst   // an instruction that recomputes it anywhere; nil: none
	place    isa.Reg
	slot     int  // on the stack, or one of these
	moved    bool // an integer that lives in a float register
	fixed    bool // it has its place from the beginning
	like     reg  // a register whose place it takes, if that is free; 0: none
}

// parameter reports whether it is a parameter of the kernel. Reloading it from the argument block takes one word for
// all lanes, where a load from the stack takes a word for each lane.
func (l *life) parameter() bool { return l.again != nil && l.again.a != 0 }

const (
	inRegister    = -1
	computedAgain = -2 // recomputed at every use
)

// lives computes the lives of registers, sorted by start.
func (c *code) lives() []life {
	list := c.chunks()
	c.live(list)
	all := make([]life, len(c.float))
	for r := range all {
		all[r] = life{r: reg(r), from: -1, slot: inRegister}
	}
	touch := func(r reg, at int) {
		l := &all[r]
		if l.from < 0 {
			l.from, l.to = at, at
		}
		l.from, l.to = min(l.from, at), max(l.to, at)
	}
	for n := range list {
		k := &list[n]
		for r := range reg(len(c.float)) {
			if k.in.has(r) {
				touch(r, 2*k.from)
			}
			if k.out.has(r) {
				touch(r, 2*k.to)
			}
		}
		for p := k.from; p < k.to; p++ {
			c.touch(&c.insts[p], p, all, touch)
		}
	}
	for _, r := range c.pinned {
		touch(r, 0)
		touch(r, 2*len(c.insts))
		all[r].weight = 1e30
	}
	for _, r := range c.quick {
		all[r].weight = 1e30
	}
	c.again(all)
	for r, place := range c.preloads {
		if l := &all[r]; l.from >= 0 {
			l.from, l.place, l.fixed, l.weight = -1, place, true, 1e30
		}
	}
	for r, place := range c.places {
		if l := &all[r]; l.from >= 0 {
			l.place, l.fixed, l.again = place, true, nil
		}
	}
	var out []life
	for _, l := range all[1:] {
		if l.from >= 0 || l.fixed {
			out = append(out, l)
		}
	}
	slices.SortStableFunc(out, func(a, b life) int { return a.from - b.from })
	return out
}

// again finds the values that one instruction recomputes anywhere: constants, the lane's coordinates, and parameters.
func (c *code) again(all []life) {
	defs := make([]int, len(all))
	for n := range c.insts {
		i := &c.insts[n]
		d := i.def()
		if d == 0 {
			continue
		}
		defs[d]++
		constant := i.row.Name == "lui" || i.row.Name == "addi" && i.a == 0
		who := i.row.Name == "csrrs" && i.a == 0 && i.csr != isa.CSRActiveThreads
		param := (i.row.Name == "lw" || i.row.Name == "flw") && i.a != 0 && i.a == c.args
		if all[d].again = nil; defs[d] == 1 && i.edge == 0 && (constant || who || param) {
			all[d].again = i
		}
		if load, ok := c.reloads[d]; ok && defs[d] == 1 {
			all[d].again, all[d].like = &load, i.a
		}
	}
}

// touch calls touch for an instruction's registers: arguments are read before the value is written.
func (c *code) touch(i *inst, p int, all []life, touch func(reg, int)) {
	w := 1.0
	for range min(i.depth, 6) {
		w *= 10
	}
	i.eachUse(func(r reg) {
		touch(r, 2*p)
		all[r].weight += w
	})
	if d := i.def(); d != 0 {
		touch(d, 2*p+1)
		all[d].weight += w
	}
}

// Registers of calls, in kernels that have some: where each lane's frame is, and where to go on. Code that gcc compiles
// does not use them.
const (
	CallLink  = isa.Reg(3) // gp
	CallFrame = isa.Reg(4) // tp
)

// Registers reserved for spilled values: the stack pointer, and three scratch registers of each kind.
const (
	stackPointer = isa.Reg(2)
	firstScratch = isa.Reg(5)
	numScratch   = 3
)

// allocation holds the locations of virtual registers.
type allocation struct {
	lives []life // by register
	slots int
	used  uint64 // registers used, a bit each
	out   int    // number of virtual registers without a register
	moved int    // number of integers in float registers
}

// allocate assigns every virtual register a location.
func (c *code) allocate(o Options) *allocation {
	lives := c.lives()
	a := c.scan(lives, noScratch, o.Registers)
	switch {
	case a.out == 0:
	case o.FloatSpills:
		a = c.allocateMoving(lives, o.Registers)
	default:
		a = c.scan(lives, withStack, o.Registers)
	}
	return a
}

// allocateMoving moves integers into free float registers: those that a scan has put on the stack, and parameters,
// which take two instructions to reload. It scans again until there are no more of them. If nothing is left on the
// stack, the stack pointer becomes free.
func (c *code) allocateMoving(lives []life, limit int) *allocation {
	lives = slices.Clone(lives)
	for {
		a := c.scan(lives, withStack, limit)
		more := 0
		for n := range lives {
			l := &lives[n]
			at := &a.lives[l.r]
			if !c.float[l.r] && !l.moved && (at.slot >= 0 || at.slot == computedAgain && at.parameter()) {
				l.moved = true
				more++
			}
		}
		if more > 0 {
			continue
		}
		if a.slots == 0 {
			if b := c.scan(lives, withScratch, limit); b.slots == 0 {
				return b
			}
		}
		return a
	}
}

// reserved holds the registers that are never allocated.
type reserved uint8

const (
	noScratch   reserved = iota // none: everything has a register
	withScratch                 // the scratch registers
	withStack                   // and the stack pointer
)

// freeRegisters returns the registers that can be allocated, a bit each.
func freeRegisters(keep reserved, limit int) uint64 {
	x, f := uint64(0), uint64(0)
	for r := isa.Reg(1); r < 32; r++ {
		scratch := r >= firstScratch && r < firstScratch+numScratch
		if keep == withStack && r == stackPointer || keep != noScratch && scratch {
			continue
		}
		if limit == 0 || bits.OnesCount64(x) < limit {
			x |= 1 << r
		}
	}
	for r := isa.Reg(0); r < 32; r++ {
		if keep != noScratch && r < numScratch {
			continue
		}
		if limit == 0 || bits.OnesCount64(f) < limit {
			f |= 1 << (isa.F + r)
		}
	}
	return x | f
}

const xRegisters = 1<<32 - 1

// scan performs one linear scan. Overlapping lives get different registers; if none is left, the life with the fewest
// uses for its length is evicted.
func (c *code) scan(lives []life, keep reserved, limit int) *allocation {
	lives = slices.Clone(lives)
	a := &allocation{lives: make([]life, len(c.float))}
	can := freeRegisters(keep, limit)
	if c.task {
		can &^= taskRegisters
	}
	for _, place := range c.places {
		can &^= 1 << place
	}
	free := can
	var active []*life
	for n := range lives {
		l := &lives[n]
		active = slices.DeleteFunc(active, func(o *life) bool {
			if o.to <= l.from {
				free |= 1 << o.place & can
				return true
			}
			return false
		})
		if l.fixed {
			free &^= 1 << l.place
			a.used |= 1 << l.place
			active = append(active, l)
			continue
		}
		kind := uint64(xRegisters)
		if c.inFloats(l) {
			kind = ^kind
		}
		if free&kind == 0 {
			active = a.evict(c, l, active, &free)
		}
		if l.slot != inRegister {
			continue
		}
		l.place = isa.Reg(bits.TrailingZeros64(free & kind))
		if place, ok := c.preloads[l.like]; ok && free&kind>>place&1 != 0 {
			l.place = place
		}
		free &^= 1 << l.place
		a.used |= 1 << l.place
		active = append(active, l)
	}
	for _, l := range lives {
		a.lives[l.r] = l
		if l.moved && l.slot == inRegister {
			a.moved++
		}
	}
	return a
}

// inFloats reports whether a life competes for float registers.
func (c *code) inFloats(l *life) bool { return c.float[l.r] || l.moved }

// evict takes the register from the cheapest of the active lives and the new one. Values that can be recomputed are,
// which is no slower than a load; parameters are reloaded, and others go to the stack.
func (a *allocation) evict(c *code, l *life, active []*life, free *uint64) []*life {
	cheap, at := l, -1
	cost := func(l *life) float64 {
		cost := l.weight / float64(l.to-l.from+1)
		if l.again != nil && !l.parameter() {
			cost /= againIsCheaper
		}
		return cost
	}
	for n, o := range active {
		if !o.fixed && c.inFloats(o) == c.inFloats(l) && cost(o) < cost(cheap) {
			cheap, at = o, n
		}
	}
	if cheap.slot = computedAgain; cheap.again == nil {
		cheap.slot = a.slots
		a.slots++
	}
	a.out++
	if at >= 0 {
		*free |= 1 << cheap.place
		active = slices.Delete(active, at, at+1)
	}
	return active
}

// againIsCheaper is the cost of a load from the stack relative to an addition.
const againIsCheaper = 4

// maxSlots is the number of words of the stack within the reach of a load below the stack pointer.
const maxSlots = 2048 / 4

// The words of a warp's lanes in one slot are adjacent, as on GPUs, so that they form one request. A load reaches
// joinedMax slots of the widest warps; with more slots, every lane has a stack of its own.
const (
	stackLanes = 32
	slotBytes  = 4 * stackLanes
	joinedMax  = 4096 / slotBytes
	slotMiddle = joinedMax / 2 // where the stack pointer is
)

// machine is an instruction on physical registers.
type machine struct {
	isa.Inst
	to    label
	label label
	edge  uint8
	phase isa.Phase
	from  *ir.Instr
}

// assign rewrites the code on physical registers.
func (c *code) assign(a *allocation) ([]machine, error) {
	if a.slots > maxSlots {
		return nil, fmt.Errorf("%d values live on the stack, and at most %d can: the kernel keeps too many", a.slots,
			maxSlots)
	}
	var out []machine
	for n := range c.insts {
		i := &c.insts[n]
		switch {
		case i.entry && a.slots > 0:
			out = append(out, a.stack()...)
		case i.entry:
		case i.row == nil:
			out = append(out, machine{label: i.label})
		default:
			out = a.rewrite(c, i, out)
		}
	}
	return out, nil
}

// stack computes the lane's stack pointer.
func (a *allocation) stack() []machine {
	sp, t := stackPointer, firstScratch
	csr := func(r isa.Reg, num uint16) isa.Inst { return isa.Inst{Row: row("csrrs"), Rd: r, CSR: num} }
	op := func(name string, r, x, y isa.Reg) isa.Inst { return isa.Inst{Row: row(name), Rd: r, Rs1: x, Rs2: y} }
	imm := func(name string, r, x isa.Reg, i int) isa.Inst {
		return isa.Inst{Row: row(name), Rd: r, Rs1: x, Imm: int32(i)}
	}
	list := []isa.Inst{csr(sp, isa.CSRMhartid), imm("slli", sp, sp, bits.TrailingZeros32(emu.StackBytes))}
	if a.joined() { // the slots of warp 0 are at the top
		list = []isa.Inst{
			csr(sp, isa.CSRCid), csr(t, isa.CSRNumWarps), op("mul", sp, sp, t), csr(t, isa.CSRWid),
			op("add", sp, sp, t),
			imm("addi", sp, sp, 1), imm("addi", t, 0, a.slots), op("mul", sp, sp, t), imm("addi", sp, sp, -slotMiddle),
			imm("slli", sp, sp, bits.TrailingZeros32(slotBytes)), csr(t, isa.CSRTid), imm("slli", t, t, 2),
			op("sub", sp, sp, t),
		}
	}
	list = append(list, imm("lui", t, 0, emu.StackTop-(1<<32)), op("sub", sp, t, sp))
	var out []machine
	for _, i := range list {
		out = append(out, machine{Inst: i, phase: isa.PhaseInit})
	}
	return out
}

// joined reports whether the lanes' words of a slot lie together.
func (a *allocation) joined() bool { return a.slots <= joinedMax }

func (a *allocation) offset(slot int) int32 {
	if a.joined() {
		return int32(slotBytes * (slot - slotMiddle))
	}
	return int32(-4 * (slot + 1))
}

// rewrite rewrites one instruction, with loads before and a store after it for values on the stack.
func (a *allocation) rewrite(c *code, i *inst, out []machine) []machine {
	if i.row.Name == "split" && i.rd != 0 && (a.lives[i.rd].slot >= 0 || a.lives[i.rd].moved) {
		// After a split, only some lanes would store the depth. A split that does not diverge yields it too.
		depth := *i
		depth.a, depth.edge = 0, 0
		out = a.rewriteOne(c, &depth, out)
		last := *i
		last.rd = 0
		return a.rewriteOne(c, &last, out)
	}
	return a.rewriteOne(c, i, out)
}

// inPlace reports whether the value lives in that integer register.
func (l *life) inPlace(r isa.Reg) bool { return l.slot == inRegister && !l.moved && l.place == r }

// compute recomputes the value in a register for an instruction. For a float parameter, the address needs an integer
// register.
func (l *life) compute(out []machine, to, address isa.Reg, user *inst) []machine {
	i := isa.Inst{Row: l.again.row, Rd: to, Imm: l.again.imm, CSR: l.again.csr}
	if l.parameter() {
		i.Rs1 = address
		out = append(out, machine{Inst: isa.Inst{Row: row("csrrs"), Rd: address, CSR: isa.CSRMscratch}, phase: user.phase,
			from: user.from})
	}
	return append(out, machine{Inst: i, phase: user.phase, from: user.from})
}

func (a *allocation) rewriteOne(c *code, i *inst, out []machine) []machine {
	if d := i.def(); d != 0 && a.lives[d].slot == computedAgain {
		return out
	}
	if _, ok := c.preloads[i.a]; ok && i.row.Name == "addi" && i.imm == 0 && a.lives[i.rd].inPlace(a.lives[i.a].place) {
		return out
	}
	i = a.asFloat(i)
	m := machine{Inst: isa.Inst{Row: i.row, Imm: i.imm, CSR: i.csr}, to: i.to, edge: i.edge, phase: i.phase, from: i.from}
	if accesses()[i.row.Op].rm {
		m.RM = i.rm
	}
	if i.not {
		m.Neg = 1
	}
	x := accesses()[i.row.Op]
	next := isa.Reg(0)
	place := func(r reg, load bool) isa.Reg {
		l := &a.lives[r]
		if r == 0 || l.slot == inRegister && (!l.moved || a.direct(i, r)) {
			return l.place
		}
		scratch, name := firstScratch+next, "lw"
		if c.float[r] {
			scratch, name = isa.F+next, "flw"
		}
		next++
		switch {
		case !load:
		case l.slot == inRegister:
			out = append(out, machine{Inst: isa.Inst{Row: row("fmv.x.w"), Rd: scratch, Rs1: l.place}, phase: i.phase,
				from: i.from})
		case l.slot == computedAgain:
			out = l.compute(out, scratch, firstScratch+next-1, i)
		default:
			out = append(out, machine{Inst: isa.Inst{Row: row(name), Rd: scratch, Rs1: stackPointer,
				Imm: a.offset(l.slot)}, phase: i.phase, from: i.from})
		}
		return scratch
	}
	if x.a {
		m.Rs1 = place(i.a, true)
	}
	if x.b {
		m.Rs2 = place(i.b, true)
	}
	if x.c {
		m.Rs3 = place(i.c, true)
	}
	if !x.rd {
		return append(out, m)
	}
	if !x.tied { // the destination may be that of an operand
		next = 0
	}
	m.Rd = place(i.rd, x.tied)
	return a.keepResult(c, i, m.Rd, append(out, m))
}

// keepResult appends the instruction that moves a result from the register that an instruction writes to where the
// value lives: a float register or the stack.
func (a *allocation) keepResult(c *code, i *inst, from isa.Reg, out []machine) []machine {
	if i.rd == 0 {
		return out
	}
	switch l := &a.lives[i.rd]; {
	case l.slot == inRegister && l.moved && !a.direct(i, i.rd):
		return append(out, machine{Inst: isa.Inst{Row: row("fmv.w.x"), Rd: l.place, Rs1: from}, phase: i.phase, from: i.from})
	case l.slot >= 0:
		name := "sw"
		if c.float[i.rd] {
			name = "fsw"
		}
		return append(out, machine{Inst: isa.Inst{Row: row(name), Rs2: from, Rs1: stackPointer, Imm: a.offset(l.slot)},
			phase: i.phase, from: i.from})
	}
	return out
}

// asFloat converts an instruction that only moves a word into one that reads or writes it in the float register where
// the word is kept.
func (a *allocation) asFloat(i *inst) *inst {
	in := func(r reg) bool { return r != 0 && a.lives[r].moved && a.lives[r].slot == inRegister }
	name, x := "", *i
	switch i.row.Name {
	case "lw":
		if in(i.rd) {
			name = "flw"
		}
	case "sw":
		if in(i.b) {
			name = "fsw"
		}
	case "addi":
		switch {
		case !in(i.rd) || i.imm != 0:
		case in(i.a):
			name, x.b = "fsgnj.s", i.a
		default:
			name = "fmv.w.x"
		}
	case "fmv.w.x":
		if in(i.a) {
			name, x.b, x.rm = "fsgnj.s", i.a, 0
		}
	case "fmv.x.w":
		if in(i.rd) {
			name, x.b, x.rm = "fsgnj.s", i.a, 0
		}
	}
	if name == "" {
		return i
	}
	x.row = row(name)
	return &x
}

// direct reports whether an instruction can access an integer in the float register where it is kept.
func (a *allocation) direct(i *inst, r reg) bool {
	switch i.row.Name {
	case "flw", "fmv.w.x":
		return r == i.rd
	case "fsw":
		return r == i.b
	case "fsgnj.s":
		return true
	}
	return false
}
