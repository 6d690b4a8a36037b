package sim_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/isa"
	"heddle/isa/micro"
	"heddle/sim"
)

// counter adds its argument to a word of memory and leaves mcycle beside it.
const counter = `
	.equ WORD, 0x90000000
_start:	li a0, WORD
	lw t0, 0(a0)
	csrr t1, mscratch
	add t0, t0, t1
	sw t0, 0(a0)
	csrr t2, mcycle
	sw t2, 4(a0)
	sw zero, 0x88(zero)
	tmc zero`

const word = 0x90000000

func machine(t *testing.T, cfg configs.Machine) *sim.Machine {
	t.Helper()
	m, err := sim.New(cfg, sim.Options{MaxCycles: 1_000_000})
	require.NoError(t, err)
	return m
}

func launch(t *testing.T, m *sim.Machine, p *isa.Program, arg uint32) sim.Result {
	t.Helper()
	r, err := m.Launch(context.Background(), p, arg)
	require.NoError(t, err)
	code, ok := m.Arch.ExitCode()
	require.True(t, ok)
	require.Zero(t, code)
	return r
}

// TestLaunchesFollowEachOther: memory stays, time goes on, and each result is one launch's.
func TestLaunchesFollowEachOther(t *testing.T) {
	for _, name := range []string{"vortex-1c4w4t", "vortex-6c32w32t", "vortex-rtl-m6"} {
		p := source(t, counter)
		m := machine(t, load(t, name))
		cores := uint32(len(m.Cores))
		var sum, cycle uint32
		var first sim.Result
		for i := range uint32(5) {
			r := launch(t, m, p, i)
			if i == 0 {
				first = r
			}
			require.Equal(t, first.WarpInstrs, r.WarpInstrs)
			require.Positive(t, r.Cycles)
			require.Less(t, r.Cycles, first.Cycles+uint64(m.Caches[1].Spec().Sets()),
				"only the L1s forget, which takes a walk of their sets")
			now := m.Arch.Mem.Load32(word + 4)
			require.Greater(t, now, cycle)
			require.Less(t, now-cycle, uint32(3*first.Cycles),
				"launches wait for nothing but the end of the one before")
			cycle = now
			if cores == 1 {
				sum += i
				require.Equal(t, sum, m.Arch.Mem.Load32(word))
			}
		}
	}
}

// TestRunIsTheFirstLaunch: with the options' argument.
func TestRunIsTheFirstLaunch(t *testing.T) {
	cfg, p := load(t, "vortex-6c32w32t"), program(t, "ld_rand")
	ran, err := machine(t, cfg).Run(context.Background(), p)
	require.NoError(t, err)
	launched, err := machine(t, cfg).Launch(context.Background(), p, 0)
	require.NoError(t, err)
	require.Equal(t, ran, launched)
}

// TestEveryProgramCanBeLaunchedAgain: nothing of a launch is left in the pipeline.
func TestEveryProgramCanBeLaunchedAgain(t *testing.T) {
	for _, name := range []string{"alu_chain", "barrier", "diverge", "ld_rand", "st_coal", "lmem_ld", "fma_chain"} {
		m := machine(t, load(t, "vortex-6c32w32t"))
		p, err := micro.Program(name, 3)
		require.NoError(t, err)
		first, err := m.Launch(context.Background(), p, 0)
		require.NoError(t, err)
		for range 2 {
			r, err := m.Launch(context.Background(), p, 0)
			require.NoError(t, err, name)
			require.Equal(t, first.Stats, r.Stats, name)
			require.InEpsilon(t, first.Cycles, r.Cycles, 0.5, name)
		}
		for _, c := range m.Cores {
			require.Equal(t, c.Issued, c.Committed, name)
		}
	}
}

func TestAMachineIsSpentAfterAnError(t *testing.T) {
	m := machine(t, load(t, "vortex-1c4w4t"))
	_, err := m.Run(context.Background(), source(t, "_start: lw t0, 2(zero)"))
	require.Error(t, err)
	_, err = m.Run(context.Background(), source(t, counter))
	require.ErrorContains(t, err, "ended with an error")
}

// TestBound: a launch ends in the cycle after its bound if it has not ended by then, wherever the machine's time is,
// and no other launch does.
func TestBound(t *testing.T) {
	p := source(t, counter)
	m := machine(t, load(t, "vortex-6c32w32t"))
	first := launch(t, m, p, 1).Cycles
	m.Bound(10 * first)
	cycles := launch(t, m, p, 1).Cycles
	same := func(bound uint64) (sim.Result, error) {
		m := machine(t, load(t, "vortex-6c32w32t"))
		launch(t, m, p, 1)
		m.Bound(bound)
		return m.Launch(context.Background(), p, 1)
	}
	r, err := same(cycles)
	require.NoError(t, err)
	require.Equal(t, cycles, r.Cycles, "it takes no more than its bound")
	r, err = same(cycles - 1)
	var bound *sim.BoundError
	require.ErrorAs(t, err, &bound)
	require.Equal(t, cycles-1, bound.Cycles)
	require.LessOrEqual(t, r.Cycles, cycles-1)
	m.Bound(0)
	launch(t, m, p, 1)
}
