package emu_test

import (
	"fmt"
	"slices"
	"strings"

	"heddle/isa/emu"
)

// The random SIMT programs: each kind of statement says how it is printed, how
// it is compiled for the machine, and what it means. The meaning is given over
// explicit sets of threads by recursion on the statements: there is no program
// counter, no thread mask register and no IPDOM stack in it.

const numVars = 8 // variables of a thread: s2..s9

// set is the active threads of one warp, in lane order, never empty.
type set []*thread

// statement of a program. run is given the sets of all warps that execute it
// together; only phase and the loops around it look at more than one.
type node interface {
	compile(c *compiler)
	run(m *model, sets []set)
	head() string     // without its body
	blocks() []*block // the bodies
}

type block struct{ list []node }

func (b *block) compile(c *compiler) {
	for _, n := range b.list {
		n.compile(c)
	}
}

func (b *block) run(m *model, sets []set) {
	for _, n := range b.list {
		n.run(m, sets)
	}
}

func (b *block) print(s *strings.Builder, indent string) {
	for _, n := range b.list {
		fmt.Fprintf(s, "%s%s\n", indent, n.head())
		for i, inner := range n.blocks() {
			if i == 1 {
				fmt.Fprintf(s, "%selse\n", indent)
			}
			inner.print(s, indent+"    ")
		}
	}
}

// leaf is a statement without blocks.
type leaf struct{}

func (leaf) blocks() []*block { return nil }

// arith: v[dst] = v[a] op v[b], or op an immediate.
type arith struct {
	leaf
	op        string
	dst, a, b int
	imm       int32
	immediate bool
}

func (n *arith) head() string {
	if n.immediate {
		return fmt.Sprintf("v%d = %s(v%d, %d)", n.dst, n.op, n.a, n.imm)
	}
	return fmt.Sprintf("v%d = %s(v%d, v%d)", n.dst, n.op, n.a, n.b)
}

func (n *arith) compile(c *compiler) {
	if n.immediate {
		c.emit("%s %s, %s, %d", n.op, variable(n.dst), variable(n.a), n.imm)
	} else {
		c.emit("%s %s, %s, %s", n.op, variable(n.dst), variable(n.a), variable(n.b))
	}
}

func (n *arith) run(_ *model, sets []set) {
	f := arithmetic[n.op]
	each(sets, func(t *thread) {
		b := t.v[n.b]
		if n.immediate {
			b = uint32(n.imm)
		}
		t.v[n.dst] = f(t.v[n.a], b)
	})
}

func each(sets []set, f func(*thread)) {
	for _, s := range sets {
		for _, t := range s {
			f(t)
		}
	}
}

// identity: v[dst] = who or how many the thread is.
type identity struct {
	leaf
	csr string
	dst int
}

func (n *identity) head() string        { return fmt.Sprintf("v%d = %s", n.dst, n.csr) }
func (n *identity) compile(c *compiler) { c.emit("csrrs %s, %s, zero", variable(n.dst), n.csr) }

func (n *identity) run(m *model, sets []set) {
	for _, s := range sets {
		for _, t := range s {
			t.v[n.dst] = map[string]uint32{
				"vx_tid": uint32(t.lane), "vx_wid": uint32(t.warp.id), "vx_cid": uint32(t.warp.core.id),
				"mhartid": t.hart, "vx_active_threads": s.mask(),
			}[n.csr]
		}
	}
}

func (s set) mask() (m uint32) {
	for _, t := range s {
		m |= 1 << t.lane
	}
	return m
}

// vote: v[dst] = what the warp's active threads say about bit 0 of v[src].
type vote struct {
	leaf
	kind     string
	dst, src int
}

func (n *vote) head() string { return fmt.Sprintf("v%d = vote.%s(v%d)", n.dst, n.kind, n.src) }
func (n *vote) compile(c *compiler) {
	c.emit("vote.%s %s, %s", n.kind, variable(n.dst), variable(n.src))
}

func (n *vote) run(_ *model, sets []set) {
	for _, s := range sets {
		r := s.vote(n.kind, n.src)
		for _, t := range s {
			t.v[n.dst] = r
		}
	}
}

func (s set) vote(kind string, src int) uint32 {
	yes, no := s.part(src, false)
	switch {
	case kind == "ballot":
		return yes.mask()
	case kind == "all" && len(no) == 0, kind == "any" && len(yes) > 0, kind == "uni" && (len(yes) == 0 || len(no) == 0):
		return 1
	}
	return 0
}

// part divides a set by bit 0 of a variable.
func (s set) part(cond int, negated bool) (yes, no set) {
	for _, t := range s {
		if (t.v[cond]&1 == 1) != negated {
			yes = append(yes, t)
		} else {
			no = append(no, t)
		}
	}
	return yes, no
}

// shuffle: v[dst] = v[src] of another lane, active or not. b, c and the segment
// mask are a constant's bits, or those of a variable.
type shuffle struct {
	leaf
	kind      string
	dst, src  int
	fields    uint32
	fieldsVar int // or -1
}

func (n *shuffle) head() string {
	if n.fieldsVar >= 0 {
		return fmt.Sprintf("v%d = shfl.%s(v%d, v%d)", n.dst, n.kind, n.src, n.fieldsVar)
	}
	return fmt.Sprintf("v%d = shfl.%s(v%d, b=%d c=%d mask=%#x)", n.dst, n.kind, n.src, n.fields&63, n.fields>>6&63,
		n.fields>>12&63)
}

func (n *shuffle) compile(c *compiler) {
	fields := "t0"
	if n.fieldsVar >= 0 {
		fields = variable(n.fieldsVar)
	} else {
		c.emit("li t0, %d", n.fields)
	}
	c.emit("shfl.%s %s, %s, %s", n.kind, variable(n.dst), variable(n.src), fields)
}

func (n *shuffle) run(_ *model, sets []set) {
	for _, s := range sets {
		before := make([]uint32, len(s[0].warp.threads)) // all lanes read before any writes
		for l, t := range s[0].warp.threads {
			before[l] = t.v[n.src]
		}
		for _, t := range s {
			fields := n.fields
			if n.fieldsVar >= 0 {
				fields = t.v[n.fieldsVar]
			}
			from := shuffleSource(n.kind, t.lane, int(fields%64), int(fields/64%64), int(fields/4096%64))
			if from < 0 || from >= len(before) {
				from = t.lane
			}
			t.v[n.dst] = before[from]
		}
	}
}

// shuffleSource gives the lane that is read, or -1. A segment is the lanes that
// agree in the mask's bits; its lowest lane has the other bits 0, and its
// highest usable one has them as in c.
func shuffleSource(kind string, lane, b, c, mask int) int {
	within := 63 - mask // the bits that tell lanes of one segment apart
	lowest := lane & mask
	highest := lowest + c&within
	var from int
	switch kind {
	case "up":
		if from = lane - b; from < lowest {
			return -1
		}
		return from
	case "down":
		from = lane + b
	case "bfly":
		from = lane ^ b
	case "idx":
		from = lowest + b&within
	}
	if from > highest {
		return -1
	}
	return from
}

// branch: if bit 0 of v[cond] (or its negation) … else …, by split and join.
type branch struct {
	cond      int
	negated   bool
	then, els block
}

func (n *branch) head() string {
	return fmt.Sprintf("if %sv%d&1", map[bool]string{true: "not "}[n.negated], n.cond)
}

func (n *branch) blocks() []*block { return []*block{&n.then, &n.els} }

func (n *branch) compile(c *compiler) {
	depth, cond := c.take(), c.take()
	els, end := c.label(), c.label()
	c.emit("andi %s, %s, 1", cond, variable(n.cond))
	if n.negated {
		c.emit("split.n %s, %s", depth, variable(n.cond))
		c.emit("bne %s, zero, %s", cond, els)
	} else {
		c.emit("split %s, %s", depth, variable(n.cond))
		c.emit("beq %s, zero, %s", cond, els)
	}
	n.then.compile(c)
	c.emit("jal zero, %s", end)
	c.place(els)
	n.els.compile(c)
	c.place(end)
	c.emit("join %s", depth)
	c.give(2)
}

// run does the larger side first: it shows when lanes of the other side are
// read by a shuffle, or written under a larger mask.
func (n *branch) run(m *model, sets []set) {
	for _, s := range sets {
		yes, no := s.part(n.cond, n.negated)
		first, second := &n.then, &n.els
		if len(no) > len(yes) {
			yes, no, first, second = no, yes, second, first
		}
		first.runOn(m, yes)
		second.runOn(m, no)
	}
}

func (b *block) runOn(m *model, s set) {
	if len(s) > 0 {
		b.run(m, []set{s})
	}
}

// uniformBranch is an if whose condition is a vote, so that an ordinary branch does.
type uniformBranch struct {
	kind      string
	src       int
	then, els block
}

func (n *uniformBranch) head() string     { return fmt.Sprintf("if vote.%s(v%d) [branch]", n.kind, n.src) }
func (n *uniformBranch) blocks() []*block { return []*block{&n.then, &n.els} }

func (n *uniformBranch) compile(c *compiler) {
	els, end := c.label(), c.label()
	c.emit("vote.%s t0, %s", n.kind, variable(n.src))
	c.emit("beq t0, zero, %s", els)
	n.then.compile(c)
	c.emit("jal zero, %s", end)
	c.place(els)
	n.els.compile(c)
	c.place(end)
}

func (n *uniformBranch) run(m *model, sets []set) {
	for _, s := range sets {
		if s.vote(n.kind, n.src) != 0 {
			n.then.runOn(m, s)
		} else {
			n.els.runOn(m, s)
		}
	}
}

// repeatLoop runs its body a fixed number of times.
type repeatLoop struct {
	times int
	body  block
}

func (n *repeatLoop) head() string     { return fmt.Sprintf("repeat %d", n.times) }
func (n *repeatLoop) blocks() []*block { return []*block{&n.body} }

func (n *repeatLoop) compile(c *compiler) {
	count, top := c.take(), c.label()
	c.emit("addi %s, zero, %d", count, n.times)
	c.place(top)
	n.body.compile(c)
	c.emit("addi %s, %s, -1", count, count)
	c.emit("bne %s, zero, %s", count, top)
	c.give(1)
}

func (n *repeatLoop) run(m *model, sets []set) {
	for range n.times {
		n.body.run(m, sets)
	}
}

// whileLoop runs its body v[trips]%4 times in each thread, by pred: lanes drop
// out one after the other, and when none is left all come back.
type whileLoop struct {
	trips   int
	negated bool // by pred.n
	body    block
}

func (n *whileLoop) head() string {
	return fmt.Sprintf("for v%d%%4 times%s", n.trips, map[bool]string{true: " [pred.n]"}[n.negated])
}

func (n *whileLoop) blocks() []*block { return []*block{&n.body} }

func (n *whileLoop) compile(c *compiler) {
	all, left, more := c.take(), c.take(), c.take()
	top, end := c.label(), c.label()
	c.emit("csrrs %s, vx_active_threads, zero", all)
	c.emit("andi %s, %s, 3", left, variable(n.trips))
	c.place(top)
	c.emit("sltu %s, zero, %s", more, left)
	// The predicate is bit 0 only: the bits above it are noise.
	c.emit("slli t0, %s, 1; or t0, t0, %s", variable(n.trips), more)
	if n.negated {
		c.emit("xori t0, t0, 1; pred.n t0, %s", all)
	} else {
		c.emit("pred t0, %s", all)
	}
	c.emit("beq %s, zero, %s", more, end)
	n.body.compile(c)
	c.emit("addi %s, %s, -1", left, left)
	c.emit("jal zero, %s", top)
	c.place(end)
	c.give(3)
}

func (n *whileLoop) run(m *model, sets []set) {
	for _, s := range sets {
		var left [33]int
		for _, t := range s {
			left[t.lane] = int(t.v[n.trips] % 4)
		}
		for {
			in := slices.DeleteFunc(slices.Clone(s), func(t *thread) bool { return left[t.lane] == 0 })
			if len(in) == 0 {
				break
			}
			n.body.run(m, []set{in})
			for _, t := range in {
				left[t.lane]--
			}
		}
	}
}

// masked runs its body on other lanes, by tmc: those of mask, or those of it
// that are active.
type masked struct {
	mask   uint32
	subset bool
	body   block
}

func (n *masked) head() string {
	return fmt.Sprintf("with lanes %#x%s", n.mask, map[bool]string{true: ", of the active ones"}[n.subset])
}

func (n *masked) blocks() []*block { return []*block{&n.body} }

// The mask to come back to is in memory: lanes that were not active could not
// have it in a register.
func (n *masked) compile(c *compiler) {
	slot := 4 * c.masks
	c.masks++
	c.emit("csrrs t0, vx_active_threads, zero; sw t0, %d(gp)", slot)
	c.emit("li t1, %d", n.mask)
	if n.subset {
		some := c.label()
		c.emit("and t1, t1, t0; bne t1, zero, %s", some)
		c.emit("addi t1, t0, 0")
		c.place(some)
	}
	c.emit("tmc t1")
	n.body.compile(c)
	c.emit("lw t0, %d(gp); tmc t0", slot)
	c.masks--
}

func (n *masked) run(m *model, sets []set) {
	var inner []set
	for _, s := range sets {
		var chosen set
		from := s
		if !n.subset {
			from = s[0].warp.threads
		}
		for _, t := range from {
			if n.mask>>t.lane&1 == 1 {
				chosen = append(chosen, t)
			}
		}
		if len(chosen) == 0 {
			chosen = s
		}
		inner = append(inner, chosen)
	}
	n.body.run(m, inner)
}

// access loads from or stores to the thread's own bytes, in memory or scratchpad.
type access struct {
	leaf
	op         string
	v, offset  int
	scratchpad bool
}

var spaceName = map[bool]string{true: "scratchpad", false: "memory"}

func (n *access) head() string {
	return fmt.Sprintf("%s v%d, %s[%d]", n.op, n.v, spaceName[n.scratchpad], n.offset)
}

func (n *access) compile(c *compiler) {
	c.emit("%s %s, %d(%s)", n.op, variable(n.v), n.offset, map[bool]string{true: "sp", false: "tp"}[n.scratchpad])
}

func (n *access) run(_ *model, sets []set) {
	each(sets, func(t *thread) {
		b := t.memory[n.offset:]
		if n.scratchpad {
			b = t.scratchpad[n.offset:]
		}
		v := t.v[n.v]
		switch n.op {
		case "sw":
			b[3], b[2] = byte(v>>24), byte(v>>16)
			fallthrough
		case "sh":
			b[1] = byte(v >> 8)
			fallthrough
		case "sb":
			b[0] = byte(v)
		case "lw":
			t.v[n.v] = uint32(b[3])<<24 | uint32(b[2])<<16 | uint32(b[1])<<8 | uint32(b[0])
		case "lhu":
			t.v[n.v] = uint32(b[1])<<8 | uint32(b[0])
		case "lh":
			t.v[n.v] = uint32(int32(int8(b[1]))<<8 | int32(b[0]))
		case "lbu":
			t.v[n.v] = uint32(b[0])
		case "lb":
			t.v[n.v] = uint32(int32(int8(b[0])))
		}
	})
}

// tally adds to a word of the whole device; the order of the additions does not
// show, so no value comes back.
type tally struct {
	leaf
	op  int // in tallies
	src int
}

// tallies are the atomics whose order does not show; each has its own word.
var tallies = []struct {
	op    string
	start uint32
	f     func(a, b uint32) uint32
}{
	{"amoadd.w", 0, func(a, b uint32) uint32 { return a + b }},
	{"amoxor.w", 0, func(a, b uint32) uint32 { return a ^ b }},
	{"amoor.w", 0, func(a, b uint32) uint32 { return a | b }},
	{"amoand.w", 0xFFFFFFFF, func(a, b uint32) uint32 { return a & b }},
	{"amominu.w", 0xFFFFFFFF, func(a, b uint32) uint32 { return min(a, b) }},
	{"amomax.w", 0x80000000, func(a, b uint32) uint32 { return uint32(max(int32(a), int32(b))) }},
}

func (n *tally) head() string { return fmt.Sprintf("%s tally, v%d", tallies[n.op].op, n.src) }

func (n *tally) compile(c *compiler) {
	c.emit("li t0, %d; %s t1, %s, (t0)", tallyBase+4*n.op, tallies[n.op].op, variable(n.src))
}

func (n *tally) run(m *model, sets []set) {
	each(sets, func(t *thread) { m.tally[n.op] = tallies[n.op].f(m.tally[n.op], t.v[n.src]) })
}

// ticket adds to a word of the warp and gets the old value: lanes go in order.
type ticket struct {
	leaf
	dst, src int
}

func (n *ticket) head() string { return fmt.Sprintf("v%d = ticket(v%d)", n.dst, n.src) }
func (n *ticket) compile(c *compiler) {
	c.emit("addi t0, gp, %d; amoadd.w %s, %s, (t0)", ticketOffset, variable(n.dst), variable(n.src))
}

func (n *ticket) run(_ *model, sets []set) {
	each(sets, func(t *thread) {
		old := t.warp.ticket
		t.warp.ticket, t.v[n.dst] = old+t.v[n.src], old
	})
}

// phase lets every thread publish a value, waits for all of the core or the
// device, and reads what thread (number·mul + add) mod all has published.
type phase struct {
	leaf
	dst, src   int
	device     bool // all cores; else those of the core
	scratchpad bool
	mul, add   int
	barrier    int
}

func (n *phase) head() string {
	return fmt.Sprintf("v%d = v%d of thread (i*%d+%d) of the %s, by %s, barrier %d", n.dst, n.src, n.mul, n.add,
		map[bool]string{true: "device", false: "core"}[n.device], spaceName[n.scratchpad], n.barrier)
}

func (n *phase) compile(c *compiler) {
	c.emit("csrrs t1, mhartid, zero")
	number, all := "ra", c.shape.Warps*c.shape.Threads
	if n.scratchpad {
		c.emit("slli t0, ra, 2; li t2, %d", scratchPublished)
	} else {
		c.emit("slli t0, t1, 2; li t2, %d", published)
	}
	c.emit("add t0, t0, t2; sw %s, 0(t0)", variable(n.src))
	n.wait(c)
	c.emit("csrrs t1, mhartid, zero")
	if n.device {
		number, all = "t1", all*c.shape.Cores
	}
	c.emit("li t2, %d; mul t0, %s, t2; addi t0, t0, %d; li t2, %d; remu t0, t0, t2", n.mul, number, n.add, all)
	switch {
	case n.scratchpad:
		c.emit("li t2, %d", scratchPublished)
	case n.device:
		c.emit("li t2, %d", published)
	default:
		c.emit("sub t1, t1, ra; add t0, t0, t1; li t2, %d", published)
	}
	c.emit("slli t0, t0, 2; add t0, t0, t2; lw %s, 0(t0)", variable(n.dst))
	n.wait(c)
}

func (n *phase) wait(c *compiler) {
	if n.device {
		c.emit("li t0, %d; addi t1, zero, %d; bar t0, t1", uint32(n.barrier)|1<<31, c.shape.Cores)
	} else {
		c.emit("addi t0, zero, %d; addi t1, zero, %d; bar t0, t1", n.barrier, c.warps)
	}
}

func (n *phase) run(m *model, sets []set) {
	each(sets, func(t *thread) {
		if n.scratchpad {
			t.warp.core.published[t.inCore] = t.v[n.src]
		} else {
			m.published[t.hart] = t.v[n.src]
		}
	})
	each(sets, func(t *thread) {
		perCore := len(t.warp.core.published)
		i := (t.inCore*n.mul + n.add) % perCore
		switch {
		case n.scratchpad:
			t.v[n.dst] = t.warp.core.published[i]
		case n.device:
			t.v[n.dst] = m.published[(int(t.hart)*n.mul+n.add)%len(m.published)]
		default:
			t.v[n.dst] = m.published[t.warp.core.id*perCore+i]
		}
	})
}

// segment is the part that warps below warps execute after a wspawn; all but warp 0 end after it.
type segment struct {
	warps int
	mask  uint32
	body  block
}

type program []*segment

func (p program) String() string {
	var s strings.Builder
	for _, g := range p {
		fmt.Fprintf(&s, "spawn %d warps, lanes %#x\n", g.warps, g.mask)
		g.body.print(&s, "    ")
	}
	return s.String()
}

// The model's machine.

type model struct {
	cores     []*modelCore
	published []uint32
	tally     []uint32
}

type modelCore struct {
	id        int
	warps     []*modelWarp
	published []uint32
}

type modelWarp struct {
	id      int
	core    *modelCore
	threads set
	ticket  uint32
}

type thread struct {
	warp       *modelWarp
	lane       int
	hart       uint32
	inCore     int // number in the core
	v          [numVars]uint32
	memory     [privateBytes]byte
	scratchpad [privateBytes]byte
}

func newModel(cfg emu.Config, initial func(hart, v int) uint32) *model {
	perCore := cfg.Warps * cfg.Threads
	m := &model{published: make([]uint32, cfg.Cores*perCore)}
	for _, t := range tallies {
		m.tally = append(m.tally, t.start)
	}
	for c := range cfg.Cores {
		core := &modelCore{id: c, published: make([]uint32, perCore)}
		for w := range cfg.Warps {
			warp := &modelWarp{id: w, core: core}
			for l := range cfg.Threads {
				t := &thread{warp: warp, lane: l, inCore: w*cfg.Threads + l}
				t.hart = uint32(c*perCore + t.inCore)
				for i := range t.v {
					t.v[i] = initial(int(t.hart), i)
				}
				warp.threads = append(warp.threads, t)
			}
			core.warps = append(core.warps, warp)
		}
		m.cores = append(m.cores, core)
	}
	return m
}

func (m *model) run(p program) {
	for _, g := range p {
		var sets []set
		for _, core := range m.cores {
			for _, warp := range core.warps[:g.warps] {
				sets = append(sets, slices.DeleteFunc(slices.Clone(warp.threads),
					func(t *thread) bool { return g.mask>>t.lane&1 == 0 }))
			}
		}
		g.body.run(m, sets)
	}
}

// arithmetic is RV32IM in 64-bit arithmetic, apart from isa's.
var arithmetic = map[string]func(a, b uint32) uint32{
	"add":  func(a, b uint32) uint32 { return uint32(uint64(a) + uint64(b)) },
	"sub":  func(a, b uint32) uint32 { return uint32(int64(a) - int64(b)) },
	"xor":  func(a, b uint32) uint32 { return (a | b) - (a & b) },
	"or":   func(a, b uint32) uint32 { return a + b - a&b },
	"and":  func(a, b uint32) uint32 { return ^(^a | ^b) },
	"sll":  func(a, b uint32) uint32 { return uint32(uint64(a) << (b % 32)) },
	"srl":  func(a, b uint32) uint32 { return uint32(uint64(a) >> (b % 32)) },
	"sra":  func(a, b uint32) uint32 { return uint32(signed(a) >> (b % 32)) },
	"slt":  func(a, b uint32) uint32 { return one(signed(a) < signed(b)) },
	"sltu": func(a, b uint32) uint32 { return one(uint64(a) < uint64(b)) },

	"mul":    func(a, b uint32) uint32 { return uint32(signed(a) * signed(b)) },
	"mulh":   func(a, b uint32) uint32 { return uint32(uint64(signed(a)*signed(b)) >> 32) },
	"mulhu":  func(a, b uint32) uint32 { return uint32(uint64(a) * uint64(b) >> 32) },
	"mulhsu": func(a, b uint32) uint32 { return uint32(uint64(signed(a)*int64(b)) >> 32) },
	"div":    func(a, b uint32) uint32 { q, _ := divide(signed(a), signed(b)); return q },
	"rem":    func(a, b uint32) uint32 { _, r := divide(signed(a), signed(b)); return r },
	"divu":   func(a, b uint32) uint32 { q, _ := divide(int64(a), int64(b)); return q },
	"remu":   func(a, b uint32) uint32 { _, r := divide(int64(a), int64(b)); return r },
}

func init() {
	for imm, reg := range map[string]string{"addi": "add", "xori": "xor", "ori": "or", "andi": "and", "slti": "slt",
		"sltiu": "sltu", "slli": "sll", "srli": "srl", "srai": "sra"} {
		arithmetic[imm] = arithmetic[reg]
	}
}

func signed(a uint32) int64 { return int64(a) - int64(a>>31)<<32 }

func one(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// divide never overflows: 33-bit numbers in 64 bits.
func divide(a, b int64) (q, r uint32) {
	if b == 0 {
		return 0xFFFFFFFF, uint32(a)
	}
	return uint32(a / b), uint32(a % b)
}
