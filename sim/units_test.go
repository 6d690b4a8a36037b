package sim_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/weaver"
	"heddle/configs"
	"heddle/isa"
	"heddle/isa/asm"
	"heddle/isa/emu"
	"heddle/sim"
)

const weaverOut = 0x90000000

// weaverProgram is testdata/weaver.s for that many vertices.
func weaverProgram(t testing.TB, vertices int) *isa.Program {
	t.Helper()
	return assembleWeaver(t, vertices, 0)
}

func assembleWeaver(t testing.TB, vertices, skip int) *isa.Program {
	t.Helper()
	src, err := os.ReadFile("testdata/weaver.s")
	require.NoError(t, err)
	p, err := asm.Assemble("weaver.s", src, asm.Options{Base: 0x80000000,
		Defines: map[string]int64{"VERTICES": int64(vertices), "SKIP": int64(skip)}})
	require.NoError(t, err)
	return p
}

// degree repeats the program's.
func degree(v int) int {
	d := 11 * v
	return d % 64 * (d >> 3 & (d >> 4) & 1)
}

func edges(vertices int) (n uint64) {
	for v := range vertices {
		n += uint64(degree(v))
	}
	return n
}

// checkMarks: each edge has been handed out once, with its vertex.
func checkMarks(t *testing.T, m *emu.Machine, vertices int) {
	t.Helper()
	for v := range vertices {
		for i := range 64 {
			want := uint32(0)
			if i < degree(v) {
				want = uint32(v + 1)
			}
			if got := m.Mem.Load32(uint32(weaverOut + 4*(64*v+i))); got != want {
				require.Equal(t, want, got, "vertex %d, edge %d", v, i)
			}
		}
	}
}

// functionalWeaver runs the program on the functional model of the machine.
func functionalWeaver(t *testing.T, cfg configs.Machine, p *isa.Program) *emu.Machine {
	t.Helper()
	m, err := emu.New(emu.Config{Cores: cfg.Sockets * cfg.CoresPerSocket, Warps: cfg.Core.Warps,
		Threads: cfg.Core.Threads, Units: func(int) []emu.Unit {
			u, err := weaver.NewFunctional(*cfg.Core.Unit.Spec.(*weaver.Spec), cfg.Core.Warps, cfg.Core.Threads)
			require.NoError(t, err)
			return []emu.Unit{u}
		}})
	require.NoError(t, err)
	m.Load(p)
	require.NoError(t, m.Run(context.Background()))
	return m
}

// checkUnits checks all invariants of the machine's cores and units.
func checkUnits(t *testing.T, m *sim.Machine, cycles uint64) (all weaver.Stats) {
	t.Helper()
	for i, u := range m.Units {
		require.NoError(t, m.Cores[i].CheckInvariants())
		require.NoError(t, u.CheckInvariants(cycles+1))
		s := u.Statistics(cycles + 1).(*weaver.Stats)
		require.Equal(t, s.DegreeRegistered, s.LanesFilled+s.EdgesDropped)
		require.Zero(t, s.Queue[len(s.Queue)-1]*uint64(len(m.Units)-1), "a queue that long")
		all.LanesFilled += s.LanesFilled
		all.Decodes += s.Decodes
		all.LocReads += s.LocReads
	}
	return all
}

// TestWeaverPrograms: every edge once, on machines of several shapes, with every knob.
func TestWeaverPrograms(t *testing.T) {
	const vertices = 300
	p := weaverProgram(t, vertices)
	for _, machine := range []string{"vortex-1c4w4t-weaver", "vortex-6c32w32t-weaver", "vortex-8c32w32t-weaver",
		"vortex-6c32w32t-sharedl1", "vortex-rtl-m6", "vortex-rtl-w1"} {
		for _, knobs := range []string{
			"", "table_latency=1", "table_latency=160", "st_entries=3", "st_row=1 prefetch=false skip_empty=false", "request_queue=1",
			"mask_by_unit=true", "mask_by_unit=true request_queue=1 table_latency=40 st_entries=20", "st_row=7 skip_empty=false",
		} {
			t.Run(machine+"/"+knobs, func(t *testing.T) {
				t.Parallel()
				set := []string{"core.weaver.st_entries=64"}
				for _, k := range strings.Fields(knobs) {
					set = append(set, "core.weaver."+k)
				}
				cfg := load(t, machine, set...)
				o, m := run(t, cfg, p)
				checkMarks(t, m.Arch, vertices)
				all := checkUnits(t, m, o.Cycles)
				require.Equal(t, edges(vertices), all.LanesFilled)
				require.Equal(t, functionalWeaver(t, cfg, p).Stats(), o.Stats, "the functional machine executes the same")
			})
		}
	}
}

// pipelines are cores that schedule, fetch and issue otherwise.
var pipelines = []string{
	"", "issue.slices=4", "issue.slices=1 collectors=1", "issue.dispatch_per_slice=2 fetch_width=4", "schedule.policy=gto issue.policy=gto",
	"schedule.policy=two-level issue.policy=rr ibuffer=1", "latency.warp=1", "latency.warp=30",
}

func pipeline(knobs string, set ...string) []string {
	for _, k := range strings.Fields(knobs) {
		set = append(set, "core."+k)
	}
	return set
}

// TestWeaverOnOtherPipelines: every edge once there, too.
func TestWeaverOnOtherPipelines(t *testing.T) {
	const vertices = 300
	p := weaverProgram(t, vertices)
	for _, knobs := range pipelines {
		for _, mask := range []string{"false", "true"} {
			cfg := load(t, "vortex-6c32w32t-weaver",
				pipeline(knobs, "sockets=2", "core.weaver.st_entries=40", "core.weaver.request_queue=3",
					"core.weaver.mask_by_unit="+mask)...)
			o, m := run(t, cfg, p)
			checkMarks(t, m.Arch, vertices)
			checkUnits(t, m, o.Cycles)
		}
	}
}

// TestSkips: with early exits no edge comes twice, and each has been handed out or dropped.
func TestSkips(t *testing.T) {
	const vertices = 300
	p := assembleWeaver(t, vertices, 7)
	for _, machine := range []string{"vortex-1c4w4t-weaver", "vortex-6c32w32t-weaver"} {
		for _, knobs := range []string{"table_latency=1", "table_latency=100", "request_queue=1", "mask_by_unit=true"} {
			cfg := load(t, machine, "core.weaver."+knobs)
			o, m := run(t, cfg, p)
			marked := uint64(0)
			for v := range vertices {
				for i := range 64 {
					got := m.Arch.Mem.Load32(uint32(weaverOut + 4*(64*v+i)))
					require.True(t, got == 0 || got == uint32(v+1) && i < degree(v), "vertex %d, edge %d: %d", v, i,
						got)
					marked += uint64(min(got, 1))
				}
			}
			all := checkUnits(t, m, o.Cycles)
			require.Equal(t, marked, all.LanesFilled)
			if cfg.Core.Threads == 4 { // 32 lanes take most vertices before one can ask to skip
				require.Less(t, marked, edges(vertices))
			}
		}
	}
}

// TestNoWeaverStatisticIsDead: every statistic of the unit moves, and those of the core that are for it.
func TestNoWeaverStatisticIsDead(t *testing.T) {
	m, err := sim.New(load(t, "vortex-1c4w4t-weaver", "core.weaver.request_queue=2"), sim.Options{})
	require.NoError(t, err)
	abandon := source(t, "_start: li a0, 3\n weaver.reg a0, a0, a0\n weaver.skip a0\n tmc zero")
	for _, p := range []*isa.Program{weaverProgram(t, 300), assembleWeaver(t, 300, 7), abandon, weaverProgram(t, 10)} {
		_, err := m.Launch(context.Background(), p, 0)
		require.NoError(t, err)
	}
	require.NoError(t, m.Units[0].CheckInvariants(10_000_000))
	sums := map[string]float64{}
	for _, s := range m.Statistics() {
		sums[s.Name] = s.Float()
		if strings.HasPrefix(s.Name, "weaver.") && !regexp.MustCompile(`length_(0[3-9]|[1-6])`).MatchString(s.Name) {
			require.NotZero(t, s.Float(), s.Name)
			require.NotEmpty(t, s.Doc)
		}
	}
	for _, name := range []string{"core.scheduler.stall.scoreboard.unit", "core.warps.unit_wait",
		"core.vortex.scrb_unit", "warp_instrs.unit"} {
		require.NotZero(t, sums[name], name)
	}
	require.Equal(t, sums["weaver.edges.issued"], sums["core0.weaver.edges.issued"])
}

// TestWaitsForTheUnitAreItsOwn, also those of warps that fetch nothing until the unit has set their mask.
func TestWaitsForTheUnitAreItsOwn(t *testing.T) {
	for _, mask := range []string{"false", "true"} {
		o, m := run(t, load(t, "vortex-1c4w4t-weaver", "core.weaver.table_latency=5000",
			"core.weaver.mask_by_unit="+mask), weaverProgram(t, 40))
		checkUnits(t, m, o.Cycles)
		all := m.Statistics()
		get := func(name string) float64 {
			s, ok := all.Get(name)
			require.True(t, ok, name)
			return s.Float()
		}
		wait := get("weaver.decode.wait")
		require.Greater(t, wait, 4*5000.0)
		require.Greater(t, get("core.warps.unit_wait"), 0.95*wait, "mask_by_unit=%s", mask)
		require.Greater(t, get("core.scheduler.stall.scoreboard.unit"), 5000.0)
		require.Less(t, get("core.warps.branch_resolving"), 0.5*wait)
	}
}

// TestEveryWeaverKnobCounts turns each knob and asks for other cycles. dt_entries is storage, and
// makes none: too little of it is refused.
func TestEveryWeaverKnobCounts(t *testing.T) {
	p := weaverProgram(t, 600)
	base, _ := run(t, load(t, "vortex-1c4w4t-weaver"), p)
	for _, k := range []string{
		"st_entries=8", "table_latency=20", "st_row=1", "prefetch=false", "skip_empty=false", "mask_by_unit=true", "request_queue=1",
	} {
		got, m := run(t, load(t, "vortex-1c4w4t-weaver", "core.weaver."+k), p)
		checkMarks(t, m.Arch, 600)
		require.NotEqual(t, base.Cycles, got.Cycles, k)
		t.Logf("%-20s %6d cycles, default %d", k, got.Cycles, base.Cycles)
	}
	for set, says := range map[string]string{
		"core.weaver.dt_entries=15":   "core.weaver.dt_entries: 15: expected at least warps × threads = 16",
		"core.weaver.st_entries=0":    "expected an integer 1..65536",
		"core.weaver.request_queue=a": "core.weaver.request_queue",
	} {
		_, err := configs.LoadMachine("vortex-1c4w4t-weaver", nil, []string{set})
		require.ErrorContains(t, err, says)
	}
}

// TestWeaverIsDeterministic: the host's processors change nothing.
func TestWeaverIsDeterministic(t *testing.T) {
	p, cfg := weaverProgram(t, 300), load(t, "vortex-6c32w32t-weaver")
	want, m := run(t, cfg, p)
	stats := m.Statistics()
	for range 2 {
		got, m := run(t, cfg, p)
		require.Equal(t, want, got)
		require.Equal(t, stats, m.Statistics())
	}
}

// TestWeaverLaunches: nothing of a launch is left in the unit.
func TestWeaverLaunches(t *testing.T) {
	p := weaverProgram(t, 100)
	m, err := sim.New(load(t, "vortex-6c32w32t-weaver", "core.weaver.st_entries=16"), sim.Options{})
	require.NoError(t, err)
	for i := range uint64(3) {
		_, err := m.Launch(context.Background(), p, 0)
		require.NoError(t, err)
		filled := uint64(0)
		for _, u := range m.Units {
			require.NoError(t, u.CheckInvariants(1e6))
			filled += u.Statistics(1e6).(*weaver.Stats).LanesFilled
		}
		require.Equal(t, (i+1)*edges(100), filled)
	}
}

// TestWeaverTraps: program errors say where, on both machines in the same words.
func TestWeaverTraps(t *testing.T) {
	reg := "_start: li t0, -1\n tmc t0\n li a0, 5\n"
	for _, c := range []struct{ name, src, says string }{
		{"twice", reg + "weaver.reg a0, a0, a0\nbad: weaver.reg a0, a0, a0\ntmc zero", "weaver.reg at slot 0 twice in one epoch: vertices 5 and 5"},
		{"decoding", reg + "weaver.reg a0, a0, a0\nweaver.dec.id a1\nbad: weaver.reg a0, a0, a0\ntmc zero", "while the table is being decoded"},
		{"slot", reg + "bad: weaver.reg a0, a0, a0\ntmc zero", "weaver.reg at slot 3 (warp·threads + lane): the table has 3 entries"},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := []string{}
			if c.name == "slot" {
				set = append(set, "core.weaver.st_entries=3")
			}
			cfg := load(t, "vortex-1c4w4t-weaver", set...)
			m, err := sim.New(cfg, sim.Options{MaxCycles: 100_000})
			require.NoError(t, err)
			_, err = m.Run(context.Background(), source(t, c.src))
			var trap *emu.Trap
			require.True(t, errors.As(err, &trap), "%v", err)
			require.Equal(t, emu.UnitError, trap.Cause)
			require.Contains(t, trap.Detail, c.says)
			require.Equal(t, "bad+0x0", trap.Symbol)
			require.Equal(t, [3]int{0, 0, -1}, [3]int{trap.Core, trap.Warp, trap.Lane})
		})
	}
	m, err := sim.New(load(t, "vortex-1c4w4t"), sim.Options{})
	require.NoError(t, err)
	_, err = m.Run(context.Background(), source(t,
		"_start: csrr a0, units\n csrr a1, weaver_capacity\n or a0, a0, a1\n bnez a0, ok\n weaver.dec.id a0\nok: tmc zero"))
	require.ErrorContains(t, err, "this machine has no weaver unit")
}

// TestWeaverCSRs: programs find the unit.
func TestWeaverCSRs(t *testing.T) {
	p := source(t, "_start: csrr a0, units\n csrr a1, weaver_capacity\n slli a0, a0, 16\n or a0, a0, a1\n sw a0, "+
		"0x88(zero)\n tmc zero")
	for set, want := range map[string]uint32{"core.weaver.st_entries=512": 1<<16 | 16,
		"core.weaver.st_entries=7": 1<<16 | 7} {
		_, m := run(t, load(t, "vortex-1c4w4t-weaver", set), p)
		code, _ := m.Arch.ExitCode()
		require.Equal(t, want, code)
	}
}

// TestBarrierAfterRegistrations: a warp has arrived at a barrier only when its
// registrations are in the unit's queue, so a decode behind the barrier sees them all, even
// when the queue is short and the unit slow. Only warp 0 decodes, at once.
func TestBarrierAfterRegistrations(t *testing.T) {
	p := source(t, `
_start:	la a0, warp
	csrr t0, vx_num_warps
	wspawn t0, a0
warp:	li t0, -1
	tmc t0
	csrr s0, mhartid
	csrr s5, vx_num_warps
	li t1, 1
	weaver.reg s0, s0, t1
	bar zero, s5
	csrr t0, vx_wid
	bnez t0, end
	li s1, 0
loop:	weaver.dec.id a0
	addi t0, a0, 1
	snez t0, t0
	vote.ballot t2, t0
	beqz t2, over
count:	andi t3, t2, 1
	add s1, s1, t3
	srli t2, t2, 1
	bnez t2, count
	j loop
over:	sw s1, 0x88(zero)
end:	tmc zero`)
	for _, knobs := range pipelines {
		for _, queue := range []string{"1", "2", "0"} {
			cfg := load(t, "vortex-6c32w32t-weaver",
				pipeline(knobs, "sockets=1", "core.weaver.st_entries=1024", "core.weaver.request_queue="+queue)...)
			_, m := run(t, cfg, p)
			code, _ := m.Arch.ExitCode()
			require.EqualValues(t, cfg.Core.Warps*cfg.Core.Threads, code, "%s, request_queue=%s", knobs, queue)
		}
	}
}

// TestNoRequestBehindADecode: dec.loc and skip name no register that dec.id writes, and see its batch all the same.
func TestNoRequestBehindADecode(t *testing.T) {
	p := source(t, `
_start:	li t0, -1
	tmc t0
	csrr s0, vx_tid
	li t1, 2
	slli s2, s0, 4
	weaver.reg s0, s2, t1
	weaver.dec.id a0
	weaver.dec.loc a1
	weaver.dec.id a2
	weaver.skip zero
	weaver.dec.loc a3
	slli a1, a1, 8
	or a1, a1, a3
	csrr t0, vx_tid
	slli t0, t0, 2
	li t1, 0x90000000
	add t0, t0, t1
	sw a1, 0(t0)
	sw zero, 0x88(zero)
	tmc zero`)
	for _, latency := range []int{1, 6, 100} {
		_, m := run(t, load(t, "vortex-1c4w4t-weaver", fmt.Sprintf("core.weaver.table_latency=%d", latency)), p)
		for l, want := range []uint32{0<<8 | 0x20, 1<<8 | 0x21, 0x10<<8 | 0x30, 0x11<<8 | 0x31} {
			require.Equal(t, want, m.Arch.Mem.Load32(uint32(weaverOut+4*l)), "lane %d", l)
		}
	}
}

// TestOtherWarpsGoOn: while one warp waits for the unit, the others compute.
func TestOtherWarpsGoOn(t *testing.T) {
	p := source(t, `
_start:	la a0, warp
	csrr t0, vx_num_warps
	wspawn t0, a0
warp:	csrr t0, vx_wid
	bnez t0, work
	li t1, 1
	weaver.reg t1, t1, t1
	weaver.dec.id a0
	add a0, a0, a0
	tmc zero
work:	li t2, 400
spin:	addi t2, t2, -1
	bnez t2, spin
	tmc zero`)
	slow, _ := run(t, load(t, "vortex-1c4w4t-weaver", "core.weaver.table_latency=5000"), p)
	fast, _ := run(t, load(t, "vortex-1c4w4t-weaver", "core.weaver.table_latency=1"), p)
	require.Greater(t, fast.Cycles, uint64(5000), "the work takes as long as the read")
	require.InDelta(t, fast.Cycles, slow.Cycles, 200)
}

// TestARunEndsWhenTheUnitHasNothingLeft: requests without an answer wait behind a decode that waits
// for the table; the warps have ended when the unit comes to them.
func TestARunEndsWhenTheUnitHasNothingLeft(t *testing.T) {
	const text = `
_start:	la a0, warp
	csrr t0, vx_num_warps
	wspawn t0, a0
warp:	csrr t0, vx_wid
	csrr t1, vx_num_warps
	bnez t0, sync
	li t2, 1
	weaver.reg t2, t2, t2
sync:	bar zero, t1
	beqz t0, skips
	weaver.dec.id a0		# the second and third wait in the queue, in front of the skips
	tmc zero
skips:	li t2, 100
wait:	addi t2, t2, -1
	bnez t2, wait
`
	skips := func(n int) (outcome, *sim.Machine) {
		p := source(t, text+strings.Repeat("weaver.skip zero\n", n)+"sw zero, 0x88(zero)\ntmc zero")
		return run(t, load(t, "vortex-1c4w4t-weaver", "core.weaver.request_queue=64", "core.weaver.table_latency=9000"),
			p)
	}
	none, _ := skips(0)
	o, m := skips(40)
	require.Greater(t, o.Cycles, none.Cycles+20, "40 requests in 40 cycles; the warps end in the first of them")
	s := m.Units[0].Statistics(1e6).(*weaver.Stats)
	require.EqualValues(t, 40, s.SkipHits+s.SkipMisses)
	require.Greater(t, s.Queue[42], uint64(1000))
}

// TestAnImmediateAnswerTakesAsLongAsACSR: from the SFU through the unit to commit.
func TestAnImmediateAnswerTakesAsLongAsACSR(t *testing.T) {
	chain := func(instr string, n int) uint64 {
		o, _ := run(t, load(t, "vortex-1c4w4t-weaver"), source(t, fmt.Sprintf(`
_start:	li t0, -1
	tmc t0
	weaver.dec.id a0
	li t2, %d
loop:	%s
	addi t2, t2, -1
	bnez t2, loop
	tmc zero`, n, strings.Repeat(instr+"\n add a0, a0, a0\n", 10))))
		return o.Cycles
	}
	csr := chain("csrr a0, vx_tid", 50) - chain("csrr a0, vx_tid", 10)
	unit := chain("weaver.dec.id a0", 50) - chain("weaver.dec.id a0", 10)
	require.Equal(t, csr, unit)
}

// TestSleepingCoresWithUnits: a core that sleeps when nothing moves has the same cycles and counts.
func TestSleepingCoresWithUnits(t *testing.T) {
	p := weaverProgram(t, 200)
	for _, machine := range []string{"vortex-1c4w4t-weaver", "vortex-6c32w32t-weaver"} {
		cfg := load(t, machine, "core.weaver.table_latency=50", "core.weaver.request_queue=1")
		want, _ := run(t, cfg, p)
		m, err := sim.New(cfg, sim.Options{})
		require.NoError(t, err)
		for _, c := range m.Cores {
			c.StayAwake()
		}
		r, err := m.Run(context.Background(), p)
		require.NoError(t, err)
		require.Equal(t, want.Result, r)
		for i, c := range m.Cores {
			require.Equal(t, want.Cores[i], c.Counts())
		}
	}
}

// BenchmarkWeaver decodes; nothing is allocated once the machine has warmed up.
func BenchmarkWeaver(b *testing.B) {
	p := weaverProgram(b, 4000)
	b.ReportAllocs()
	cycles := uint64(0)
	for range b.N {
		b.StopTimer()
		m, err := sim.New(load(b, "vortex-6c32w32t-weaver"), sim.Options{})
		require.NoError(b, err)
		_, err = m.Run(context.Background(), p) // memory is there now
		require.NoError(b, err)
		b.StartTimer()
		r, err := m.Run(context.Background(), p)
		require.NoError(b, err)
		cycles += r.Cycles
	}
	b.ReportMetric(float64(cycles)/b.Elapsed().Seconds()/1e3, "kcycles/s")
}
