package emu_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
	"heddle/isa"
	"heddle/isa/emu"
)

// Where the random programs keep things.
const (
	published        = 0x20000000                  // a word for every thread of the device
	tallyBase        = 0x28000000                  // a word for each of tallies
	privateBase      = 0x30000000                  // privateBytes for every thread of the device
	privateBytes     = 16                          //
	scratchPublished = emu.ScratchpadBase          // a word for every thread of the core
	scratchWarps     = emu.ScratchpadBase + 0x0800 // warpBytes for every warp: saved masks, ticket
	scratchPrivate   = emu.ScratchpadBase + 0x1000 // privateBytes for every thread of the core
	warpBytes        = 64                          //
	ticketOffset     = warpBytes - 4               //
	maxNesting       = 5                           // a whileLoop takes 3 of the 16 nest registers
	limitPerCase     = 1 << 20                     // warp instructions: far more than a program runs
)

// nestRegisters hold a statement's values until its blocks are done.
var nestRegisters = strings.Fields("s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s10 s11 t3 t4 t5 t6")

func variable(i int) string { return fmt.Sprintf("s%d", i+2) }

// compiler turns a program into assembly. t0..t2 are free between statements,
// ra is the thread's number in the core, gp its warp's words, sp and tp its
// own bytes in scratchpad and memory.
type compiler struct {
	text   strings.Builder
	shape  emu.Config
	warps  int // of the segment
	taken  int // nest registers in use
	masks  int // saved masks in use
	labels int
}

func (c *compiler) emit(format string, args ...any) {
	fmt.Fprintf(&c.text, format, args...)
	c.text.WriteByte('\n')
}

func (c *compiler) label() string {
	c.labels++
	return fmt.Sprintf("L%d", c.labels)
}

func (c *compiler) place(label string) { c.emit("%s:", label) }

func (c *compiler) take() string {
	c.taken++
	return nestRegisters[c.taken-1]
}

func (c *compiler) give(n int) { c.taken -= n }

func (c *compiler) segment(g *segment) {
	c.warps = g.warps
	start := c.label()
	c.emit("li t0, %d; la t1, %s; wspawn t0, t1", g.warps, start)
	c.place(start)
	c.emit("addi t0, zero, -1; tmc t0")
	c.emit("csrrs t0, vx_wid, zero; li t1, %d; mul ra, t0, t1; csrrs t1, vx_tid, zero; add ra, ra, t1", c.shape.Threads)
	c.emit("li gp, %d; li t1, %d; mul t0, t0, t1; add gp, gp, t0", scratchWarps, warpBytes)
	c.emit("li sp, %d; slli t0, ra, 4; add sp, sp, t0", scratchPrivate)
	c.emit("li tp, %d; csrrs t0, mhartid, zero; slli t0, t0, 4; add tp, tp, t0", privateBase)
	c.emit("li t0, %d; tmc t0", g.mask)
	g.body.compile(c)
	on := c.label()
	c.emit("csrrs t0, vx_wid, zero; beq t0, zero, %s; tmc zero", on)
	c.place(on)
}

func compile(cfg emu.Config, p program) string {
	c := compiler{shape: cfg}
	for _, g := range p {
		c.segment(g)
	}
	c.emit("tmc zero")
	return c.text.String()
}

// simtGenerator draws programs.
type simtGenerator struct {
	*rand.Rand
	cfg    emu.Config
	budget int // statements still to make
}

func (g *simtGenerator) v() int { return g.IntN(numVars) }

func (g *simtGenerator) pick(names ...string) string { return names[g.IntN(len(names))] }

// lanes is a mask with at least one lane of the machine, and sometimes lanes
// that it has not.
func (g *simtGenerator) lanes() uint32 {
	if g.IntN(3) == 0 {
		return 0xFFFFFFFF
	}
	return g.Uint32() | 1<<g.IntN(g.cfg.Threads)
}

func (g *simtGenerator) program() program {
	var p program
	for range 1 + g.IntN(2) {
		g.budget = 4 + g.IntN(24)
		s := &segment{warps: 1 + g.IntN(g.cfg.Warps), mask: g.lanes()}
		for g.budget > 0 {
			s.body.list = append(s.body.list, g.statement(0, 0, true))
		}
		p = append(p, s)
	}
	return p
}

// block has at most a few statements. splits counts the open ones, together
// says that all warps of the device are here.
func (g *simtGenerator) block(nesting, splits int, together bool) block {
	var b block
	for range g.IntN(5) {
		if g.budget > 0 {
			b.list = append(b.list, g.statement(nesting, splits, together))
		}
	}
	return b
}

func (g *simtGenerator) statement(nesting, splits int, together bool) node {
	g.budget--
	kind := g.IntN(20)
	if nesting < maxNesting && kind < 8 {
		return g.compound(kind, nesting+1, splits, together)
	}
	if together && kind < 11 {
		return g.phase()
	}
	return g.simple()
}

func (g *simtGenerator) compound(kind, nesting, splits int, together bool) node {
	switch {
	case kind < 3 && splits < max(1, g.cfg.Threads-1):
		return &branch{cond: g.v(), negated: g.IntN(2) == 0, then: g.block(nesting, splits+1, false),
			els: g.block(nesting, splits+1, false)}
	case kind < 4:
		return &uniformBranch{kind: g.pick("all", "any", "uni", "ballot"), src: g.v(),
			then: g.block(nesting, splits, false), els: g.block(nesting, splits, false)}
	case kind < 5:
		return &repeatLoop{times: 1 + g.IntN(3), body: g.block(nesting, splits, together)}
	case kind < 7:
		return &whileLoop{trips: g.v(), negated: g.IntN(2) == 0, body: g.block(nesting, splits, false)}
	}
	return &masked{mask: g.lanes(), subset: g.IntN(2) == 0, body: g.block(nesting, splits, together)}
}

func (g *simtGenerator) phase() node {
	n := &phase{dst: g.v(), src: g.v(), mul: g.IntN(8), add: g.IntN(64), barrier: g.IntN(max(1, g.cfg.Warps/2))}
	n.device = g.cfg.Cores > 1 && g.IntN(2) == 0
	n.scratchpad = !n.device && g.IntN(2) == 0
	return n
}

func (g *simtGenerator) simple() node {
	switch g.IntN(12) {
	case 0:
		return &identity{csr: g.pick("vx_tid", "vx_wid", "vx_cid", "mhartid", "vx_active_threads"), dst: g.v()}
	case 1:
		return &vote{kind: g.pick("all", "any", "uni", "ballot"), dst: g.v(), src: g.v()}
	case 2, 3:
		return g.shuffle()
	case 4:
		return &tally{op: g.IntN(len(tallies)), src: g.v()}
	case 5:
		return &ticket{dst: g.v(), src: g.v()}
	case 6, 7:
		size := []int{1, 2, 4}[g.IntN(3)]
		op := map[int][]string{1: {"sb", "lb", "lbu"}, 2: {"sh", "lh", "lhu"}, 4: {"sw", "lw", "sw"}}[size]
		return &access{op: g.pick(op...), v: g.v(), offset: g.IntN(privateBytes/size) * size,
			scratchpad: g.IntN(2) == 0}
	case 8:
		return &arith{op: g.pick("slli", "srli", "srai"), dst: g.v(), a: g.v(), imm: g.Int32N(32), immediate: true}
	case 9, 10:
		return &arith{op: g.pick("addi", "xori", "ori", "andi", "slti", "sltiu"), dst: g.v(), a: g.v(),
			imm: g.Int32N(4096) - 2048, immediate: true}
	}
	return &arith{op: g.pick("add", "sub", "xor", "or", "and", "sll", "srl", "sra", "slt", "sltu", "mul", "mulh",
		"mulhu", "mulhsu", "div", "divu", "rem", "remu"),
		dst: g.v(), a: g.v(), b: g.v()}
}

// shuffle has fields that mostly make sense for the machine, sometimes any.
func (g *simtGenerator) shuffle() node {
	n := &shuffle{kind: g.pick("up", "down", "bfly", "idx"), dst: g.v(), src: g.v(), fields: g.Uint32(), fieldsVar: -1}
	switch g.IntN(4) {
	case 0:
		n.fieldsVar = g.v()
	case 1, 2:
		b, c, mask := g.IntN(g.cfg.Threads), []int{31, 63, g.IntN(g.cfg.Threads)}[g.IntN(3)], 63&^(1<<g.IntN(6)-1)
		if g.IntN(2) == 0 {
			mask = 0
		}
		n.fields = uint32(b | c<<6 | mask<<12)
	}
	return n
}

func (g *simtGenerator) shape() emu.Config {
	threads := []int{1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 1 + g.IntN(32), 1 + g.IntN(32)}
	return emu.Config{
		Cores:     []int{1, 1, 1, 2, 2, 3, 4}[g.IntN(7)],
		Warps:     1 + g.IntN(8),
		Threads:   threads[g.IntN(len(threads))],
		Quantum:   []int{1, 2, 3, 1 + g.IntN(200)}[g.IntN(4)],
		MaxInstrs: limitPerCase,
	}
}

// initial values of variables: small numbers, so that lanes often agree, and any.
func initial(seed uint64) func(hart, v int) uint32 {
	return func(hart, v int) uint32 {
		x := (seed+1)*0x9E3779B97F4A7C15 ^ uint64(hart+1)*0xBF58476D1CE4E5B9 ^ uint64(v+1)*0x94D049BB133111EB
		x ^= x >> 29
		x *= 0xBF58476D1CE4E5B9
		x ^= x >> 32
		if v < numVars/2 {
			return uint32(x) & 7
		}
		return uint32(x)
	}
}

// difference runs p on the machine and on the model and describes how they differ.
func difference(cfg emu.Config, seed uint64, p program) (string, error) {
	code, err := assemble(compile(cfg, p))
	if err != nil {
		return "", err
	}
	start := initial(seed)
	m, err := emu.New(cfg)
	if err != nil {
		return "", err
	}
	m.Load(code)
	want := newModel(cfg, start)
	want.eachThread(func(t *thread) {
		for i := range numVars {
			t.machine(m).SetReg(registers[variable(i)], t.lane, t.v[i])
		}
	})
	for i, t := range tallies {
		m.Mem.Store32(tallyBase+4*uint32(i), t.start)
	}
	if err := m.Run(context.Background()); err != nil {
		return err.Error(), nil
	}
	want.run(p)
	return want.compare(m), nil
}

func (m *model) eachThread(f func(*thread)) {
	for _, core := range m.cores {
		for _, warp := range core.warps {
			for _, t := range warp.threads {
				f(t)
			}
		}
	}
}

func (t *thread) machine(m *emu.Machine) *emu.Warp { return m.Core(t.warp.core.id).Warp(t.warp.id) }

// compare returns the first differences between the model and a machine.
func (m *model) compare(got *emu.Machine) string {
	var diffs []string
	check := func(got, want uint32, format string, args ...any) {
		if got != want && len(diffs) < 8 {
			diffs = append(diffs, fmt.Sprintf(format, args...)+fmt.Sprintf(" = 0x%08x, expected 0x%08x", got, want))
		}
	}
	word := binary.LittleEndian.Uint32
	m.eachThread(func(t *thread) {
		where := fmt.Sprintf("core %d warp %d lane %d", t.warp.core.id, t.warp.id, t.lane)
		for i, v := range t.v {
			check(t.machine(got).Reg(registers[variable(i)], t.lane), v, "%s: v%d", where, i)
		}
		local := got.Core(t.warp.core.id).Scratchpad()[scratchPrivate-scratch+privateBytes*t.inCore:]
		for o := 0; o < privateBytes; o += 4 {
			check(got.Mem.Load32(privateBase+privateBytes*t.hart+uint32(o)), word(t.memory[o:]), "%s: memory[%d]",
				where, o)
			check(word(local[o:]), word(t.scratchpad[o:]), "%s: scratchpad[%d]", where, o)
		}
	})
	for hart, v := range m.published {
		check(got.Mem.Load32(published+4*uint32(hart)), v, "published[%d]", hart)
	}
	for c, core := range m.cores {
		for i, v := range core.published {
			check(word(got.Core(c).Scratchpad()[4*i:]), v, "core %d: published[%d]", c, i)
		}
	}
	for i, v := range m.tally {
		check(got.Mem.Load32(tallyBase+4*uint32(i)), v, "tally %s", tallies[i].op)
	}
	return strings.Join(diffs, "\n")
}

// shrinkProgram drops statements, or puts a statement's block in its place, as long as
// fails stays true.
func shrinkProgram(p program, fails func() bool) {
	for again := true; again; {
		again = false
		for _, g := range p {
			again = shrinkBlock(&g.body, fails) || again
		}
	}
}

// shrinkBlock makes one such change and reports whether it has found one. Every
// change leaves fewer statements, so shrinking ends.
func shrinkBlock(b *block, fails func() bool) bool {
	for i := 0; i < len(b.list); i++ {
		old := b.list
		n := old[i]
		replacements := [][]node{nil}
		for _, inner := range n.blocks() {
			replacements = append(replacements, inner.list)
		}
		for _, r := range replacements {
			b.list = slices.Concat(old[:i], r, old[i+1:])
			if fails() {
				return true
			}
		}
		b.list = old
		for _, inner := range n.blocks() {
			if shrinkBlock(inner, fails) {
				return true
			}
		}
	}
	return false
}

// TestSIMT runs random structured programs on machines of random shapes, and
// compares every variable and all memory with the model's.
func TestSIMT(t *testing.T) {
	first := testenv.Seed(t, 0)
	for seed := first; seed < first+testenv.Cases(t, 2000, 100_000); seed++ {
		g := simtGenerator{Rand: rand.New(rand.NewPCG(seed, 0x51)), budget: 0}
		g.cfg = g.shape()
		p := g.program()
		diff, err := difference(g.cfg, seed, p)
		require.NoError(t, err, "seed %d\n%s", seed, p)
		if diff == "" {
			continue
		}
		shrinkProgram(p, func() bool { d, err := difference(g.cfg, seed, p); return err == nil && d != "" })
		diff, _ = difference(g.cfg, seed, p)
		require.Failf(t, "machine and model differ", "seed %d, %d cores × %d warps × %d threads, quantum %d:\n%s\n%s",
			seed, g.cfg.Cores, g.cfg.Warps, g.cfg.Threads, g.cfg.Quantum, p, diff)
	}
}

// The programs must cover the features under test.
func TestSIMTProgramsAreRich(t *testing.T) {
	rows := map[string]int{}
	deepest, divergent := 0, 0
	for seed := range uint64(300) {
		g := simtGenerator{Rand: rand.New(rand.NewPCG(seed, 0x51))}
		g.cfg = g.shape()
		p := g.program()
		depth := map[[2]int]int{}
		g.cfg.Trace = func(s *emu.Step) {
			name := s.Inst.Name
			if s.Inst.Neg != 0 {
				name += ".n"
			}
			rows[name]++
			w := [2]int{s.Core, s.Warp}
			if s.Inst.Class != isa.ClassWarp || s.NextMask == s.Mask {
				return
			}
			switch s.Inst.Name {
			case "split":
				divergent++
				depth[w]++
				deepest = max(deepest, depth[w])
			case "join":
				if s.NextPC == s.PC+4 { // the second side has arrived
					depth[w]--
				}
			}
		}
		_, err := difference(g.cfg, seed, p)
		require.NoError(t, err)
	}
	for _, name := range strings.Fields("tmc wspawn split split.n join bar pred pred.n vote.all vote.any vote.uni " +
		"vote.ballot shfl.up shfl.down shfl.bfly shfl.idx " +
		"amoadd.w amomax.w lb lhu sh sw div remu mulhsu beq bne") {
		assert.Greater(t, rows[name], 50, name)
	}
	assert.GreaterOrEqual(t, deepest, 3, "nested divergence")
	assert.Greater(t, divergent, 1000, "divergent splits")
}
