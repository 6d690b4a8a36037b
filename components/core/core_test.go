package core_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"heddle/components/accel"
	"heddle/components/clock"
	"heddle/components/core"
	"heddle/components/mem"
	"heddle/isa"
	"heddle/isa/asm"
	"heddle/isa/emu"
	"heddle/isa/micro"
)

// hits is a memory in which every access hits: it answers as the RTL's caches
// do, so many cycles after it takes a request.
type hits struct {
	clock.Base
	in  *clock.Link[mem.Request]
	out *clock.Link[mem.Response]
}

func (h *hits) Tick(clock.Cycle) bool {
	for h.in.Ready() && !h.out.Full() {
		if r := h.in.Pop(); r.Op != mem.Write {
			h.out.Push(mem.Response{Tag: r.Tag})
		}
	}
	return false
}

// machine is one core between perfect caches.
type machine struct {
	sys  *clock.System
	core *core.Core
	emu  *emu.Machine
}

const ns = 1_000_000

func newMachine(t testing.TB, warps, threads int, change ...func(*core.Spec)) *machine {
	return newMachineWith(t, nil, warps, threads, change...)
}

// newMachineWith is newMachine with a graph unit; nil: none.
func newMachineWith(t testing.TB, u accel.Unit, warps, threads int, change ...func(*core.Spec)) *machine {
	m := &machine{sys: clock.NewSystem("Clock", sim.NewSerialEngine())}
	d, err := m.sys.AddDomain("core", ns)
	require.NoError(t, err)
	cfg := emu.Config{Cores: 1, Warps: warps, Threads: threads}
	if u != nil {
		cfg.Units = func(int) []emu.Unit { return []emu.Unit{u.Architecture()} }
	}
	m.emu, err = emu.New(cfg)
	require.NoError(t, err)
	s := core.DefaultSpec(warps, threads)
	for _, f := range change {
		f(&s)
	}
	m.core, err = core.New("Core", s, core.Program(m.emu.Core(0)))
	require.NoError(t, err)
	m.core.Join(d, m.core)
	if u != nil {
		u.Join(d, u)
		m.core.Plug(accel.Plug("Socket", m.core.ClockHandle(), u))
	}
	answers := map[string]int{"L1I": 4, "L1D": 64} // the I-cache's two stages and two answers
	at := map[string]clock.Handle{"L1I": m.core.ClockHandle(), "L1D": m.core.DataHandle()}
	perfect := func(name string, capacity int, after clock.Cycle) (*clock.Link[mem.Request],
		*clock.Link[mem.Response]) {
		h := &hits{Base: clock.NewBase(name)}
		h.Join(d, h)
		h.in = clock.NewLink[mem.Request](name+".in", capacity, 1, at[name], h.ClockHandle())
		h.out = clock.NewLink[mem.Response](name+".out", answers[name], after, h.ClockHandle(), at[name])
		return h.in, h.out
	}
	ports := func(n int, name string, capacity int, after clock.Cycle) (out []*clock.Link[mem.Request],
		in []*clock.Link[mem.Response]) {
		for range n {
			o, i := perfect(name, capacity, after)
			out, in = append(out, o), append(in, i)
		}
		return out, in
	}
	m.core.Connect(ports(s.FetchWidth, "L1I", 2, 3))
	m.core.ConnectData(ports(s.Channels(), "L1D", 4, 4))
	return m
}

func program(t testing.TB, name string, iters int64) *isa.Program {
	p, err := micro.Program(name, iters)
	require.NoError(t, err)
	return p
}

// run executes a micro-program and returns its cycles.
func (m *machine) run(t testing.TB, name string, iters int64) uint64 {
	m.emu.Load(program(t, name, iters))
	m.core.Start()
	require.NoError(t, m.sys.Run())
	require.NoError(t, m.core.Err())
	require.True(t, m.core.Done(), "the core went to sleep with work left")
	return m.core.Cycles
}

// slopes are the RTL's cycles of one iteration on one warp of four lanes, from
// the micro-programs' README (machine w1). Those that miss the caches are not
// here: this machine's caches are perfect.
var slopes = map[string]uint64{
	"alu_chain": 160, "barrier": 67, "div_chain": 61, "diverge": 190, "fadd_chain": 205, "fdiv_chain": 94, "fma_chain": 205,
	"lat_alu5": 196, "lat_bank": 176, "lat_csr": 190, "lat_fcvt": 220, "lat_fmin": 175, "lat_fsqrt": 151, "lat_jump": 264,
	"lat_l1": 325, "lat_lmem": 355, "lat_nop": 120, "lat_tmc": 264, "lmem_ld": 120, "mul_chain": 205,
}

// One warp's cycles per iteration are the RTL's, exactly.
func TestOneWarpSlopesEqualTheRTL(t *testing.T) {
	for name, want := range slopes {
		short := newMachine(t, 1, 4).run(t, name, 50)
		long := newMachine(t, 1, 4).run(t, name, 150)
		require.Equal(t, want*100, long-short, "%s: 100 iterations", name)
	}
}

// fourWarps are the RTL's cycles of machine a without its fixed start and exit
// (472), for the programs that stay out of DRAM.
var fourWarps = []struct {
	name  string
	iters int64
	rtl   float64
}{
	{"alu_chain", 300, 49357 - 472}, {"barrier", 300, 22406 - 472}, {"div_chain", 300, 19113 - 472}, {"diverge", 200, 39675 - 472},
	{"fadd_chain", 150, 31745 - 472}, {"fdiv_chain", 150, 20896 - 472}, {"fma_chain", 150, 31745 - 472}, {"lmem_ld", 100, 29622 - 472},
	{"mul_chain", 200, 41656 - 472},
}

// Four warps share fetch, issue and the units: within 1.5 % of the RTL. A branch that waits
// for the switch behind the ALU alone is 1.6 % of div_chain.
func TestFourWarpsAgreeWithTheRTL(t *testing.T) {
	for _, c := range fourWarps {
		whole, one := newMachine(t, 4, 4).run(t, c.name, c.iters), newMachine(t, 4, 4).run(t, c.name, 1)
		ours := float64(whole-one) * float64(c.iters) / float64(c.iters-1)
		t.Logf("%-12s %8.0f RTL %8.0f ratio %.3f", c.name, ours, c.rtl, ours/c.rtl)
		require.InEpsilon(t, c.rtl, ours, 0.015, c.name)
	}
}

// The pipeline executes the same instructions as the functional machine.
func TestTimedEqualsFunctional(t *testing.T) {
	for _, name := range []string{"alu_chain", "barrier", "diverge", "fma_chain", "ld_coal", "ld_rand", "lmem_ld",
		"st_coal"} {
		for _, shape := range [][2]int{{1, 4}, {4, 4}, {8, 8}, {32, 32}, {6, 2}} {
			m := newMachine(t, shape[0], shape[1])
			m.run(t, name, 3)
			u, err := emu.New(emu.Config{Cores: 1, Warps: shape[0], Threads: shape[1]})
			require.NoError(t, err)
			u.Load(program(t, name, 3))
			require.NoError(t, u.Run(context.Background()))
			require.Equal(t, u.Stats(), m.emu.Stats(), "%s on %v", name, shape)
			require.Equal(t, m.core.Committed, u.Stats().WarpInstrs)
			require.Equal(t, m.core.Issued, u.Stats().WarpInstrs)
			if name == "lmem_ld" {
				continue // its warps race for the same scratchpad words
			}
			got, want := make([]byte, 4*shape[0]*shape[1]), make([]byte, 4*shape[0]*shape[1])
			m.emu.Mem.Read(0xA0000000, got)
			u.Mem.Read(0xA0000000, want)
			require.Equal(t, want, got, "%s on %v: results", name, shape)
		}
	}
}

// cyclesOf runs an assembly text.
func (m *machine) cyclesOf(t testing.TB, text string) uint64 {
	p, err := asm.Assemble("x.s", []byte(text), asm.Options{Base: 0x80000000})
	require.NoError(t, err)
	m.emu.Load(p)
	m.core.Start()
	require.NoError(t, m.sys.Run())
	require.NoError(t, m.core.Err())
	require.True(t, m.core.Done(), "the core went to sleep with work left")
	return m.core.Cycles
}

func serial(s *core.Spec) { s.IDiv = core.DividerSerial }

// cost is the cycles of n copies of the text, without the start and the end of a program.
func cost(t testing.TB, threads, n int, start, text string, change ...func(*core.Spec)) uint64 {
	program := func(n int) string {
		return "_start: li t0, 7\n li t1, 3\n li t2, 5\n li t6, -1\n" + start + strings.Repeat(text, n) + "tmc zero"
	}
	return newMachine(t, 4, threads, change...).cyclesOf(t, program(n)) - newMachine(t, 4, threads,
		change...).cyclesOf(t, program(0))
}

// TestSerialDivider: dependent divisions follow each other after 42 cycles, independent ones after
// 34, and what comes behind one that waits for the divider waits too (RTL, 4 × 4).
func TestSerialDivider(t *testing.T) {
	per := func(text string, change ...func(*core.Spec)) uint64 {
		return (cost(t, 4, 40, "", text, change...) - cost(t, 4, 20, "", text, change...)) / 20
	}
	require.EqualValues(t, 42, per("div t0, t0, t1\n", serial))
	require.EqualValues(t, 12, per("div t0, t0, t1\n"))
	require.EqualValues(t, 34*2, per("div t3, t0, t1\n div t4, t0, t1\n", serial))
	require.EqualValues(t, 34*2, per("div t3, t0, t1\n div t4, t0, t1\n add t5, t0, t1\n mul t6, t0, t1\n", serial),
		"behind the second division")
	longer := func(s *core.Spec) { serial(s); s.Latency.DivSerial = 45 }
	require.EqualValues(t, 52, per("div t0, t0, t1\n", longer))
}

// TestNarrowUnits: a warp of 16 lanes goes through a unit of 4 in four packets, three cycles more
// until its result and four until the next may start; of one lane in none more. Such a unit has a register before it
// and one behind it (RTL: PARTIAL_BW).
func TestNarrowUnits(t *testing.T) {
	per := func(start, text string, change ...func(*core.Spec)) uint64 {
		return (cost(t, 16, 40, "tmc t6\n"+start, text, change...) - cost(t, 16, 20, "tmc t6\n"+start, text,
			change...)) / 20
	}
	all, one := "", "li t1, 3\n tmc t1\n" // three: lanes 0 and 1
	alu := func(s *core.Spec) { s.ALULanes = 4 }
	fpu := func(s *core.Spec) { s.FPULanes, s.FPUQueue = 4, 8 }
	for _, c := range []struct {
		first, text string
		narrow      func(*core.Spec)
		more        uint64
	}{
		{all, "add t0, t0, t1\n", alu, 5}, {all, "mul t0, t0, t1\n", alu, 5}, {all, "fmul.s ft0, ft0, ft1\n", fpu, 5},
		{all, "fmul.s ft0, ft0, ft1\n", alu, 0}, {all, "add t0, t0, t1\n", fpu, 0}, {one, "add t0, t0, t1\n", alu, 2},
	} {
		require.Equal(t, per(c.first, c.text)+c.more, per(c.first, c.text, c.narrow), c.first+c.text)
	}
	// Loads of the scratchpad: four packets follow each other at a cycle's distance, and each answer has a turn at
	// commit.
	lsu := func(s *core.Spec) { s.LSULanes, s.LSUQueue = 4, 8 }
	load := "lui t3, 0xFFFF0\n csrr t4, vx_tid\n slli t4, t4, 2\n add t3, t3, t4\n"
	wide := func(s *core.Spec) { s.LSUQueue = 8 }
	text := "lw t4, 0(t3)\n and t4, t4, x0\n add t3, t3, t4\n"
	require.Equal(t, per(load, text, wide)+3-2, per(load, text, lsu),
		"crossbars of 4 lanes have a level less, each way")
	require.EqualValues(t, 2*4*34, per(all, "div t3, t0, t1\n div t4, t0, t1\n",
		func(s *core.Spec) { serial(s); alu(s) }), "packets are divided one after the other")
}

func TestProgramErrorStopsTheCore(t *testing.T) {
	m := newMachine(t, 1, 4)
	p, err := asm.Assemble("x.s", []byte("_start: nop\n li t0, 2\n lw t1, 0(t0)"), asm.Options{})
	require.NoError(t, err)
	m.emu.Load(p)
	m.core.Start()
	require.NoError(t, m.sys.Run())
	require.ErrorContains(t, m.core.Err(), "misaligned access")
	require.ErrorContains(t, m.core.Err(), "at pc 0x80000008 <_start+0x8>: lw t1, 0(t0)")
}

func BenchmarkCore(b *testing.B) {
	for _, shape := range [][2]int{{4, 4}, {32, 32}} {
		for _, name := range []string{"alu_chain", "fma_chain", "lmem_ld"} {
			b.Run(fmt.Sprintf("%dx%d/%s", shape[0], shape[1], name), func(b *testing.B) {
				m := newMachine(b, shape[0], shape[1])
				m.emu.Load(program(b, name, 0x7FFFFFFF))
				m.core.Start()
				stop := clock.Cycle(0)
				m.until(b, &stop)
				b.ReportAllocs()
				b.ResetTimer()
				instrs, cycles := m.core.Issued, m.core.Cycles
				for range b.N {
					stop += 10_000
					_ = m.sys.Run()
				}
				b.ReportMetric(float64(m.core.Issued-instrs)/b.Elapsed().Seconds()/1e6, "Mwarp-instr/s")
				b.ReportMetric(float64(m.core.Cycles-cycles)/b.Elapsed().Seconds()/1e3, "kcycles/s")
			})
		}
	}
}

// stopper stops the clock at a cycle.
type stopper struct {
	m  *machine
	at *clock.Cycle
	h  clock.Handle
}

func (s *stopper) Tick(now clock.Cycle) bool {
	if now >= *s.at {
		s.m.sys.Stop()
	}
	s.h.WakeAt(max(*s.at, now+1))
	return false
}

// until makes Run return at cycle *at, again and again.
func (m *machine) until(t testing.TB, at *clock.Cycle) {
	d := m.core.ClockHandle().Domain()
	s := &stopper{m: m, at: at}
	s.h = d.Add(s)
	s.h.Wake()
}

// A cycle booked twice in all counters alike is noticed too: the clock knows better.
func TestTheClockContradictsABookedCycle(t *testing.T) {
	m := newMachine(t, 4, 4)
	m.run(t, "ld_coal", 5)
	m.core.Stats.Cycles++
	m.core.Stats.Scheduler[6]++
	require.ErrorContains(t, m.core.CheckInvariants(), "invariant violated: cycles booked = cycles that the clock made")
}

// Every count that lies breaks an invariant.
func TestInvariantsNoticeLies(t *testing.T) {
	m := newMachine(t, 4, 4)
	m.run(t, "ld_coal", 5)
	require.NoError(t, m.core.CheckInvariants())
	s := &m.core.Stats
	for i, n := range []*uint64{&s.Cycles, &s.Scheduled, &s.Issued, &s.Committed, &s.Resident, &s.Eligible,
		&s.Scheduler[0], &s.Scheduler[6], &s.Warps[0], &s.Warps[5]} {
		*n++
		require.ErrorContains(t, m.core.CheckInvariants(), "invariant violated", "counter %d", i)
		*n--
	}
}
