package sim_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/internal/testenv"
	"heddle/isa"
	"heddle/isa/asm"
	"heddle/isa/emu"
	"heddle/sim"
)

// The random programs of this file have all harts do the same list of loads, stores, atomics,
// fences and barriers on a few shared lines. The machine reports the order in which accesses take effect. That order
// must obey the rule of "Memory effects", and a memory that performs the accesses in that order, one thread's operation
// after the other, must give the values that the machine's threads have loaded, and the same image.

// Where the programs keep things.
const (
	sharedBase  = 0x90000000
	logBase     = 0xA0000000
	logBytes    = 512 // of a hart
	sharedLocal = emu.ScratchpadBase
	values      = 8 // registers of loaded values: s2..s9
)

// operation is one step of every hart.
type operation struct {
	name         string // the mnemonic; fence, bar
	bytes        uint32
	signed       bool
	where        site
	a, b, words  uint32 // word (a·hart + b) mod words
	offset       uint32 // in the word
	c, d         uint32 // data: c + d·hart + the value of register from
	from, into   int    // value registers
	mask         uint32 // lanes; 0: all
	suffix       string // of an atomic
	loads, isAMO bool
}

// site is which harts' accesses are on the scratchpad: none's, all, or those of odd harts, so that a
// warp's lanes go to both.
type site int

const (
	onMemory site = iota
	onScratchpad
	onBoth
	numSites
)

func (s site) local(hart uint32) bool { return s == onScratchpad || s == onBoth && hart&1 != 0 }

func randomOperation(r *rand.Rand, threads, cores int) operation {
	o := operation{
		bytes: 4, a: r.Uint32N(4), b: r.Uint32N(64), words: 1 << r.IntN(8), c: r.Uint32N(1000), d: r.Uint32N(3),
		from: r.IntN(values), into: r.IntN(values),
	}
	if r.IntN(5) == 0 {
		o.where = site(r.IntN(int(numSites)))
	}
	switch k := r.IntN(40); {
	case k == 0:
		o.name = "fence"
		return o
	case k == 1 && cores > 1:
		o.name = "bar"
		return o
	case k < 13:
		o.name = []string{"lw", "lw", "lw", "lh", "lhu", "lb", "lbu"}[r.IntN(7)]
		o.loads, o.signed = true, !strings.HasSuffix(o.name, "u")
	case k < 22:
		o.name = []string{"sw", "sw", "sh", "sb"}[r.IntN(4)]
	default:
		o.name = slices.Sorted(maps.Keys(amos))[r.IntN(len(amos))]
		o.loads, o.isAMO, o.suffix = true, true, []string{"", "", "", ".aq", ".rl", ".aqrl"}[r.IntN(6)]
	}
	if !o.isAMO {
		o.bytes = map[byte]uint32{'w': 4, 'h': 2, 'b': 1}[o.name[1]]
		o.offset = r.Uint32N(4/o.bytes) * o.bytes
	}
	if r.IntN(3) == 0 {
		o.mask = 1 + r.Uint32N(uint32(1<<threads-1))
	}
	return o
}

// amos are the operations of atomics; lr, sc and cas are apart.
var amos = map[string]func(m, s uint32) uint32{
	"amoadd.w": func(m, s uint32) uint32 { return m + s }, "amoswap.w": func(_, s uint32) uint32 { return s },
	"amoxor.w": func(m, s uint32) uint32 { return m ^ s }, "amoand.w": func(m, s uint32) uint32 { return m & s },
	"amoor.w": func(m, s uint32) uint32 { return m | s }, "amominu.w": func(m, s uint32) uint32 { return min(m, s) },
	"amomaxu.w": func(m, s uint32) uint32 { return max(m, s) }, "amocas.w": nil, "lr.w": nil, "sc.w": nil,
	"amomin.w": func(m, s uint32) uint32 { return uint32(min(int32(m), int32(s))) },
	"amomax.w": func(m, s uint32) uint32 { return uint32(max(int32(m), int32(s))) },
}

// randomProgram returns the operations and their assembly.
func randomProgram(r *rand.Rand, cfg configs.Machine) ([]operation, string) {
	cores := cfg.Sockets * cfg.CoresPerSocket
	ops := make([]operation, 20+r.IntN(25))
	var s strings.Builder
	s.WriteString(spread)
	fmt.Fprintf(&s, "\tli gp, %d\n\tli sp, %d\n\tmul tp, t1, sp\n\tli sp, %d\n\tadd sp, sp, tp\n", cores, logBytes,
		uint32(logBase))
	for i := range ops {
		ops[i] = randomOperation(r, cfg.Core.Threads, cores)
		ops[i].emit(&s, i)
	}
	for v := range values {
		fmt.Fprintf(&s, "\tsw s%d, %d(sp)\n", v+2, 4*(len(ops)+v))
	}
	s.WriteString("\ttmc zero\n")
	return ops, s.String()
}

// emit writes the operation, after the value that it overwrites in a register has been recorded.
func (o *operation) emit(s *strings.Builder, i int) {
	put := func(format string, args ...any) { fmt.Fprintf(s, "\t"+format+"\n", args...) }
	switch o.name {
	case "fence":
		put("fence")
		return
	case "bar":
		put("li t2, 0x80000000")
		put("bar t2, gp")
		return
	}
	if o.loads {
		put("sw s%d, %d(sp)", o.into+2, 4*i)
	}
	put("li t2, %d", o.a)
	put("mul t2, t2, t1")
	put("addi t2, t2, %d", o.b)
	put("andi t2, t2, %d", o.words-1)
	put("slli t2, t2, 2")
	if o.where == onBoth {
		put("andi t6, t1, 1")
		put("li t3, %d", uint32(sharedLocal-sharedBase))
		put("mul t3, t3, t6")
		put("add t2, t2, t3")
	}
	put("li t3, %d", o.base(0))
	put("add t2, t2, t3")
	put("li t4, %d", o.d)
	put("mul t4, t4, t1")
	put("addi t4, t4, %d", o.c)
	put("add t4, t4, s%d", o.from+2)
	if o.mask != 0 {
		put("li t5, %d", o.mask)
		put("tmc t5")
	}
	fmt.Fprintf(s, "op%d:", i)
	switch {
	case o.name == "lr.w":
		put("lr.w%s s%d, (t2)", o.suffix, o.into+2)
	case o.isAMO:
		put("%s%s s%d, t4, (t2)", o.name, o.suffix, o.into+2)
	case o.loads:
		put("%s s%d, %d(t2)", o.name, o.into+2, o.offset)
	default:
		put("%s t4, %d(t2)", o.name, o.offset)
	}
	if o.mask != 0 {
		put("li t5, -1")
		put("tmc t5")
	}
}

func (o *operation) base(hart uint32) uint32 {
	if o.where.local(hart) {
		return sharedLocal
	}
	return sharedBase
}

func (o *operation) word(hart uint32) uint32 { return o.base(hart) + 4*((o.a*hart+o.b)&(o.words-1)) }

// place distinguishes the words of memory and of all scratchpads.
type place struct {
	core int // of a scratchpad; -1: memory
	word uint32
}

// effect is an observation of the machine: some lanes of an operation.
type effect struct {
	cycle      uint64
	core, warp int
	op         int
	lanes      uint32
}

// reference does operations in the order of their effects.
type reference struct {
	cfg      configs.Machine
	ops      []operation
	memory   map[place]uint32
	reserved map[uint32]place // by hart
	value    []map[int]uint32 // by hart: values that its operations have loaded
	done     []map[int]bool   // by hart: operations that have taken effect
	when     []map[int]int    // and their place in the order
}

func newReference(cfg configs.Machine, ops []operation) *reference {
	f := &reference{cfg: cfg, ops: ops, memory: map[place]uint32{}, reserved: map[uint32]place{}}
	for range harts(cfg) {
		f.value, f.done, f.when = append(f.value, map[int]uint32{}), append(f.done, map[int]bool{}),
			append(f.when, map[int]int{})
	}
	return f
}

func (f *reference) active(o *operation, hart uint32) bool {
	return o.name != "fence" && o.name != "bar" && (o.mask == 0 || o.mask>>(hart%uint32(f.cfg.Core.Threads))&1 != 0)
}

// register is the content of a hart's value register before operation i, in program order.
func (f *reference) register(t *testing.T, hart uint32, v, i int) uint32 {
	for k := i - 1; k >= 0; k-- {
		if o := &f.ops[k]; o.loads && o.into == v && f.active(o, hart) {
			require.True(t, f.done[hart][k], "hart %d: operation %d uses a value that %d has not loaded yet", hart, i, k)
			return f.value[hart][k]
		}
	}
	return 0
}

// do performs operation i of a hart, as the n-th effect.
func (f *reference) do(t *testing.T, hart uint32, i, n int) {
	o := &f.ops[i]
	require.True(t, f.active(o, hart), "hart %d: operation %d is not its own", hart, i)
	require.False(t, f.done[hart][i], "hart %d: operation %d has taken effect twice", hart, i)
	at := place{-1, o.word(hart)}
	if o.where.local(hart) {
		at.core = int(hart) / (f.cfg.Core.Warps * f.cfg.Core.Threads)
	}
	old := f.memory[at]
	data := o.c + o.d*hart + f.register(t, hart, o.from, i)
	f.done[hart][i], f.when[hart][i] = true, n
	switch {
	case o.name == "lr.w":
		f.reserved[hart] = at
	case o.name == "sc.w":
		held, ok := f.reserved[hart]
		delete(f.reserved, hart)
		if old = 1; ok && held == at {
			old = 0
			f.write(hart, at, data)
		}
	case o.name == "amocas.w":
		if old == f.register(t, hart, o.into, i) {
			f.write(hart, at, data)
		}
	case o.isAMO:
		f.write(hart, at, amos[o.name](old, data))
	case o.loads:
		old = o.part(old)
	default:
		mask := uint32(uint64(1)<<(8*o.bytes)-1) << (8 * o.offset)
		f.write(hart, at, old&^mask|data<<(8*o.offset)&mask)
	}
	f.value[hart][i] = old
}

// part is the part of a word that a load takes.
func (o *operation) part(word uint32) uint32 {
	v := word >> (8 * o.offset)
	shift := 32 - 8*o.bytes
	if o.signed {
		return uint32(int32(v<<shift) >> shift)
	}
	return v << shift >> shift
}

func (f *reference) write(hart uint32, at place, v uint32) {
	f.memory[at] = v
	for h, p := range f.reserved {
		if h != hart && p == at {
			delete(f.reserved, h)
		}
	}
}

// followsTheRule checks the order itself.
func (f *reference) followsTheRule(t *testing.T, order []effect) {
	for i := 1; i < len(order); i++ {
		a, b := order[i-1], order[i]
		require.LessOrEqual(t, a.cycle, b.cycle)
		remote := func(e effect) bool {
			hart := uint32((e.core*f.cfg.Core.Warps+e.warp)*f.cfg.Core.Threads + bits.TrailingZeros32(e.lanes))
			return f.ops[e.op].isAMO && !f.ops[e.op].where.local(hart) && f.cfg.Atomics.Mode.String() == "l2"
		}
		if a.cycle == b.cycle && !remote(a) && !remote(b) {
			require.LessOrEqual(t, a.core, b.core, "effect %d: loads and stores of one cycle in the order of cores", i)
		}
		require.False(t, a.cycle == b.cycle && remote(a) && !remote(b), "effect %d: in one cycle atomics come last", i)
	}
	for h := range f.done {
		f.ownOrder(t, uint32(h))
	}
	f.barriers(t)
}

// ownOrder: a hart's accesses to one word are in its program's order; a fence parts those
// before it from those after, an acquire itself from those after, a release those before
// from itself.
func (f *reference) ownOrder(t *testing.T, hart uint32) {
	last, newest, fenced := map[place]int{}, -1, -1
	for i := range f.ops {
		o := &f.ops[i]
		if o.name == "fence" {
			fenced = newest
		}
		if !f.active(o, hart) {
			continue
		}
		require.True(t, f.done[hart][i], "hart %d: operation %d has had no effect", hart, i)
		n, at := f.when[hart][i], place{b2i(o.where.local(hart)), o.word(hart)}
		if before, ok := last[at]; ok {
			require.Less(t, before, n, "hart %d: operation %d overtook one on the same word", hart, i)
		}
		last[at] = n
		require.Less(t, fenced, n, "hart %d: operation %d passed a fence or an acquire", hart, i)
		if strings.HasSuffix(o.suffix, "rl") {
			require.Less(t, newest, n, "hart %d: operation %d was released before one before it", hart, i)
		}
		newest = max(newest, n)
		if strings.HasPrefix(o.suffix, ".aq") {
			fenced = max(fenced, n)
		}
	}
}

func b2i(b bool) int {
	if b {
		return 0
	}
	return -1
}

// barriers: operations of all harts before a device-wide barrier take effect before those after it.
func (f *reference) barriers(t *testing.T) {
	for i := range f.ops {
		if f.ops[i].name != "bar" {
			continue
		}
		before, after := -1, math.MaxInt
		for h := range f.when {
			for k, n := range f.when[h] {
				if k < i {
					before = max(before, n)
				} else {
					after = min(after, n)
				}
			}
		}
		require.Less(t, before, after, "barrier %d was passed", i)
	}
}

// agrees compares the machine's record with the reference.
func (f *reference) agrees(t *testing.T, m *sim.Machine) {
	for h := range uint32(len(f.done)) {
		for i := range f.ops {
			if f.ops[i].loads {
				got := m.Arch.Mem.Load32(logBase + h*logBytes + 4*uint32(i))
				require.Equal(t, f.register(t, h, f.ops[i].into, i), got, "hart %d: register s%d before operation %d",
					h, f.ops[i].into+2, i)
			}
		}
		for v := range values {
			got := m.Arch.Mem.Load32(logBase + h*logBytes + 4*uint32(len(f.ops)+v))
			require.Equal(t, f.register(t, h, v, len(f.ops)), got, "hart %d: register s%d at the end", h, v+2)
		}
	}
	for at, want := range f.memory {
		got := m.Arch.Mem.Load32(at.word)
		if at.core >= 0 {
			s := m.Arch.Core(at.core).Scratchpad()[at.word-sharedLocal:]
			got = uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
		}
		require.Equal(t, want, got, "memory at %+v", at)
	}
}

// randomShape returns settings of a machine whose levels are small and narrow.
func randomShape(r *rand.Rand) (name string, set []string) {
	name = []string{"vortex-1c4w4t", "vortex-rtl-m6", "vortex-6c32w32t", "vortex-6c32w32t-sharedl1"}[r.IntN(4)]
	threads, warps := 1<<r.IntN(5), 1<<r.IntN(4)
	add := func(format string, args ...any) { set = append(set, fmt.Sprintf(format, args...)) }
	add("core.threads=%d", threads)
	add("core.warps=%d", warps)
	add("core.lsu_queue=%d", 1+r.IntN(6))
	add("core.coalescer_tags=%d", 1+r.IntN(6))
	add("core.channel_bytes=%d", 4<<r.IntN(3))
	add("atomics.interval=%d", 1+r.IntN(30))
	if r.IntN(3) == 0 {
		add("core.gather_answers=true")
	}
	if r.IntN(3) == 0 {
		add("core.forwarding=%d", r.IntN(8))
		add("core.fetch_instructions=%d", 1<<r.IntN(3))
		add("core.ibuffer=%d", 1+r.IntN(8))
		add("core.fetch_room=%v", r.IntN(2) == 0)
		add("core.batch_interval=%d", 1+r.IntN(2))
		add("to_l1d.request=%d", 1+r.IntN(3))
		add("to_l1d.response=%d", 1+r.IntN(5))
	}
	if r.IntN(3) == 0 {
		add("core.lsu_lanes=%d", 1<<r.IntN(bits.Len(uint(threads))))
	}
	if name != "vortex-1c4w4t" && r.IntN(3) == 0 {
		line := 16 << r.IntN(2)
		add("l1d.line_bytes=%d", line)
		add("l1i.line_bytes=%d", line)
	}
	randomCaches(r, name, add)
	switch r.IntN(8) {
	case 0:
		add("atomics.mode=simx24")
	case 1:
		add("atomics.mode=simx25")
	case 2, 3:
		add("atomics.combine=true")
	case 4:
		add("atomics.words_together=true")
		add("atomics.bank_interval=%d", 1+r.IntN(9))
	}
	if name != "vortex-1c4w4t" && r.IntN(4) == 0 {
		add("l2.forward_flush=true")
		add("l3.bytes=16KiB")
		add("l3.mshrs=%d", 1+r.IntN(4))
	}
	if name != "vortex-1c4w4t" && r.IntN(3) == 0 {
		add("socket_port=false") // a concentrator takes every L1 by a port of its own
		add("concentrator.sockets=%d", 1+r.IntN(3))
		add("concentrator.outstanding=%d", 1+r.IntN(8))
		add("concentrator.request_queue=%d", 1+r.IntN(3))
		add("concentrator.arbiter=%s", []string{"round_robin", "priority"}[r.IntN(2)])
	}
	add("to_memory.request=%d", 1+r.IntN(60))
	add("memory.preset=%s", []string{"hbm2-2gbps", "ddr4-3200", "ideal", "vortex-harness"}[r.IntN(4)])
	return name, set
}

// randomCaches adds settings of the machine's L1D and, if it has one, L2.
func randomCaches(r *rand.Rand, name string, add func(format string, args ...any)) {
	for _, l := range []string{"l1d", "l2"} {
		if l == "l2" && name == "vortex-1c4w4t" {
			continue
		}
		add("%s.bytes=%dKiB", l, 2<<r.IntN(3))
		add("%s.mshrs=%d", l, 1+r.IntN(6))
		add("%s.memory_queue=%d", l, 3+r.IntN(3))
		add("%s.response_queue=%d", l, 1+r.IntN(2))
		if r.IntN(3) == 0 {
			add("%s.write_policy=back", l)
		}
	}
}

// watchEffects collects the order in which the program's operations take effect.
func watchEffects(m *sim.Machine, p *isa.Program, ops []operation) *[]effect {
	var order []effect
	at := map[uint32]int{}
	for i := range ops {
		for _, s := range p.Symbols {
			if s.Name == fmt.Sprintf("op%d", i) {
				at[s.Addr] = i
			}
		}
	}
	m.Arch.ObserveEffects(func(a *emu.Access, lanes uint32) {
		core, warp, pc := a.Where()
		if op, ok := at[pc]; ok {
			order = append(order, effect{m.Cores[core].ClockHandle().Domain().Cycle(), core, warp, op, lanes})
		}
	})
	return &order
}

func memoryCase(t *testing.T, seed uint64, timed bool, run func(m *sim.Machine, p *isa.Program) error) {
	r := rand.New(rand.NewPCG(seed, 0))
	name, set := randomShape(r)
	cfg := load(t, name, set...)
	ops, text := randomProgram(r, cfg)
	defer func() {
		if t.Failed() {
			t.Logf("seed %d: %s %s\n%s", seed, name, strings.Join(set, " "), text)
		}
	}()
	p, err := asm.Assemble("random.s", []byte(text), asm.Options{Base: 0x80000000})
	require.NoError(t, err)
	m, err := sim.New(cfg, sim.Options{MaxCycles: 20_000_000, Check: true})
	require.NoError(t, err)
	order := watchEffects(m, p, ops)
	require.NoError(t, run(m, p))
	require.NoError(t, m.CheckInvariants())
	f := newReference(cfg, ops)
	for n, e := range *order {
		for l := range cfg.Core.Threads {
			if e.lanes>>l&1 != 0 {
				f.do(t, uint32((e.core*cfg.Core.Warps+e.warp)*cfg.Core.Threads+l), e.op, n)
			}
		}
	}
	if !timed { // effects are not of one cycle
		for n := range *order {
			(*order)[n].cycle = uint64(n)
		}
	}
	f.followsTheRule(t, *order)
	f.agrees(t, m)
}

// TestRandomMemory runs random programs on random machines.
func TestRandomMemory(t *testing.T) {
	first, n := testenv.Seed(t, 0), testenv.Cases(t, 15, 3000)
	for seed := first; seed < first+n; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			memoryCase(t, seed, true, func(m *sim.Machine, p *isa.Program) error {
				_, err := m.Run(context.Background(), p)
				return err
			})
		})
	}
}
