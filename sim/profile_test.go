package sim_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/core"
	"heddle/configs"
	"heddle/internal/testenv"
	"heddle/isa"
	"heddle/isa/asm"
	"heddle/isa/micro"
	"heddle/sim"
)

// profiled runs a program with a profile, checks it against the machine's counts, and returns both as text.
func profiled(t *testing.T, cfg configs.Machine, p *isa.Program, threads int, prepare ...func(*core.Core)) (counts,
	profile []string) {
	t.Helper()
	var m *sim.Machine
	counts = threadedRun(t, cfg, p, threads, 1, func(x *sim.Machine) {
		m = x
		for _, f := range prepare {
			for _, c := range m.Cores {
				f(c)
			}
		}
		m.Profile()
	})
	rows, none := m.Profiles()[0].Counts()
	addUp(t, m, rows, none)
	for _, r := range append(rows, none) {
		profile = append(profile, fmt.Sprintf("%+v", r))
	}
	return counts, profile
}

// addUp: counts by instruction sum to the machine's.
func addUp(t *testing.T, m *sim.Machine, rows []core.InstructionCounts, none core.InstructionCounts) {
	t.Helper()
	var all core.InstructionCounts
	for i, r := range rows {
		require.True(t, i == 0 || rows[i-1].PC < r.PC)
		require.LessOrEqual(t, r.Squashed, r.Issued)
		require.LessOrEqual(t, r.Lanes, 32*(r.Issued-r.Squashed))
		all.Add(&r)
	}
	require.Zero(t, none.Issued, "only instructions of the program are executed")
	all.Add(&none)
	var want core.Stats
	for _, c := range m.Cores {
		s := c.Counts()
		want.Issued += s.Issued
		want.Squashed += s.Squashed
		for k, n := range s.Scheduler {
			want.Scheduler[k] += n
		}
	}
	require.Equal(t, want.Issued, all.Issued)
	require.Equal(t, want.Squashed, all.Squashed)
	executed := m.Arch.Stats()
	require.Equal(t, executed.WarpInstrs, all.Issued-all.Squashed)
	require.Equal(t, executed.ThreadInstrs, all.Lanes)
	require.Zero(t, all.Stalls[0], "an issue is no stall")
	want.Scheduler[0] = 0
	require.Equal(t, want.Scheduler, all.Stalls)
	for k, n := range none.Stalls {
		if name, _ := (*core.Causes)(nil).Describe(k); n > 0 {
			require.Equal(t, "drained", name, "every other cause is some instruction's")
		}
	}
}

// changesNothing: with a profile a run takes the same cycles and counts the same as without, and on however many
// threads the profile is the same; a core that sleeps has that of one that ticks.
func changesNothing(t *testing.T, cfg configs.Machine, p *isa.Program) {
	t.Helper()
	want := threadedRun(t, cfg, p, 1, 1, nil)
	got, first := profiled(t, cfg, p, 1)
	require.Equal(t, want, got)
	few := []int{3}
	if testenv.Long(t) > 0 {
		few = []int{2, 3}
	}
	for _, threads := range few {
		got, again := profiled(t, cfg, p, threads)
		require.Equal(t, want, got)
		require.Equal(t, first, again, "%d threads", threads)
	}
	got, awake := profiled(t, cfg, p, 1, (*core.Core).StayAwake)
	require.Equal(t, want, got)
	require.Equal(t, first, awake, "awake")
}

func TestProfilesOfRandomPrograms(t *testing.T) {
	for seed := range testenv.Cases(t, 4, 48) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 17))
			name, set := randomShape(r)
			set = append(set, fmt.Sprintf("core.issue.dispatch_per_slice=%d", 1+r.IntN(2)),
				"core.schedule.policy="+[]string{"vortex", "rr", "gto", "two-level"}[r.IntN(4)])
			if r.IntN(2) == 0 {
				set = append(set, "core.issue.policy="+[]string{"rr", "gto", "two-level"}[r.IntN(3)])
			}
			cfg := load(t, name, set...)
			_, text := randomProgram(r, cfg)
			p, err := asm.Assemble("random.s", []byte(text), asm.Options{Base: 0x80000000})
			require.NoError(t, err)
			changesNothing(t, cfg, p)
		})
	}
}

func TestProfilesOfMachines(t *testing.T) {
	testenv.NeedSlow(t, "it simulates with profiles, and again without")
	small := []string{"core.warps=4", "core.threads=8"}
	for _, x := range []struct {
		machine string
		program *isa.Program
		set     []string
	}{
		{"vortex-1c4w4t", source(t, marked), nil},
		{"vortex-rtl-a", source(t, trapping), nil},
		{"vortex-rtl-c", source(t, trapping), nil},
		{"vortex-rtl-m6", source(t, exchange), nil},
		{"vortex-6c32w32t", source(t, marked), []string{"memory.preset=hbm2-2gbps"}}, // arbiters of two levels
		{"vortex-6c32w32t", source(t, tickets), small},
		{"vortex-6c32w32t-sharedl1", source(t, mixed), small},
		{"vortex-6c32w32t-weaver", weaverProgram(t, 60), small},
	} {
		t.Run(x.machine, func(t *testing.T) { changesNothing(t, load(t, x.machine, x.set...), x.program) })
	}
	for _, name := range []string{"ld_rand", "fma_chain", "div_chain", "diverge", "barrier", "lmem_ld", "lat_csr"} {
		t.Run(name, func(t *testing.T) {
			p, err := micro.Program(name, 20)
			require.NoError(t, err)
			changesNothing(t, load(t, "vortex-rtl-a"), p)
		})
	}
}

// blames runs a program on one core, and returns the stalls of instructions at symbols, by symbol and cause, and those
// of the scheduler.
func blames(t *testing.T, text string, set ...string) (stall func(symbol, cause string) uint64,
	all func(cause string) uint64) {
	t.Helper()
	p := source(t, text)
	m, err := sim.New(load(t, "vortex-1c4w4t", set...), sim.Options{})
	require.NoError(t, err)
	m.Profile()
	_, err = m.Run(context.Background(), p)
	require.NoError(t, err)
	rows, none := m.Profiles()[0].Counts()
	addUp(t, m, rows, none)
	number := func(cause string) int {
		for k := range len(core.Causes{}) {
			if name, _ := (*core.Causes)(nil).Describe(k); name == cause {
				return k
			}
		}
		require.Fail(t, cause)
		return 0
	}
	stall = func(symbol, cause string) (n uint64) {
		addr, ok := p.Symbol(symbol)
		require.True(t, ok)
		if i := slices.IndexFunc(rows, func(r core.InstructionCounts) bool { return r.PC == addr }); i >= 0 {
			n = rows[i].Stalls[number(cause)]
		}
		return n
	}
	return stall, func(cause string) uint64 { return m.Cores[0].Counts().Scheduler[number(cause)] }
}

// TestProfileBlames: stalls are those of the instruction that waits, or holds up others.
func TestProfileBlames(t *testing.T) {
	stall, all := blames(t, `
_start:	li t1, 0x90000000
	li t3, 50
loop:	lw t2, 0(t1)
use:	add t2, t2, t2
	addi t3, t3, -1
turn:	bnez t3, loop
	li t5, 1000
	li t6, 7
	div t5, t5, t6
quotient: add t5, t5, t5
end:	tmc zero`, "core.idiv=serial", "core.latency.div_serial=200", "to_memory.response=300")
	require.Equal(t, all("stall.scoreboard.memory"), stall("use", "stall.scoreboard.memory"),
		"only the sum waits for the load")
	require.Greater(t, stall("use", "stall.scoreboard.memory"), uint64(300))
	require.Greater(t, stall("quotient", "stall.scoreboard.alu"), uint64(190))
	require.Greater(t, stall("turn", "stall.ibuffer"), uint64(50*5), "fetch waits for the branch")
	require.Greater(t, stall("_start", "stall.ibuffer"), uint64(100),
		"the first line of instructions comes from memory")

	stall, all = blames(t, `
_start:	la a0, warp
	li t0, 2
	wspawn t0, a0
warp:	csrr t2, vx_wid
	beqz t2, wait
	li t3, 400
late:	addi t3, t3, -1
turn:	bnez t3, late
	j wait
wait:	li t1, 2
	li t0, 0
meet:	bar t0, t1
	tmc zero`)
	require.Greater(t, stall("turn", "stall.ibuffer"), uint64(400*3), "warp 0, the lowest, is held")
	require.Less(t, stall("meet", "stall.ibuffer"), uint64(60))
	require.Equal(t, all("stall.barrier"), stall("meet", "stall.barrier"))

	text := "_start:	li t1, 0x90000000\n"
	for i := range 20 {
		text += fmt.Sprintf("l%d:	lw zero, %d(t1)\n", i, 64*i)
	}
	stall, all = blames(t, text+"tmc zero", "core.lsu_queue=1", "to_memory.response=300")
	sum := uint64(0)
	for i := range 20 {
		sum += stall(fmt.Sprint("l", i), "stall.lsu_queue")
	}
	require.Equal(t, all("stall.lsu_queue"), sum, "under the load that is stuck, whatever would issue")
	require.Greater(t, sum, uint64(2000))
}

// TestProfilesOfPrograms: each program that a machine is launched with has counts of its own, over all its launches.
func TestProfilesOfPrograms(t *testing.T) {
	m, err := sim.New(load(t, "vortex-1c4w4t"), sim.Options{})
	require.NoError(t, err)
	m.Profile()
	one, other := source(t, marked), source(t, "_start:	nop\n	nop\n	tmc zero")
	for _, p := range []*isa.Program{one, other, one, other, other} {
		_, err := m.Run(context.Background(), p)
		require.NoError(t, err)
	}
	all := m.Profiles()
	require.Len(t, all, 2)
	require.Same(t, one, all[0].Program)
	rows, none := all[1].Counts()
	require.Len(t, rows, 3)
	for i := range rows {
		require.EqualValues(t, 3, rows[i].Issued)
	}
	first, ofFirst := all[0].Counts()
	none.Add(&ofFirst)
	for i := range rows { // the sums are the machine's
		at := slices.IndexFunc(first, func(r core.InstructionCounts) bool { return r.PC == rows[i].PC })
		require.GreaterOrEqual(t, at, 0)
		first[at].Add(&rows[i])
	}
	addUp(t, m, first, none)
}
