package sim_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/isa/emu"
	"heddle/sim"
)

// spread starts every warp with all lanes at label warp, with the hart in t1.
const spread = `
_start:	la a0, warp
	csrr t0, vx_num_warps
	wspawn t0, a0
warp:	li t0, -1
	tmc t0
	csrr t1, mhartid
`

const ticketWord, results = 0x90000000, 0x91000000

// tickets takes 4 tickets a lane from one counter, and writes each down.
const tickets = spread + `
	li a1, 0x90000000
	li a2, 0x91000000
	slli t2, t1, 4
	add a2, a2, t2
	li t3, 4
loop:	li t4, 1
	amoadd.w t5, t4, (a1)
	lw t4, 0(a1)
	sw t5, 0(a2)
	addi a2, a2, 4
	addi t3, t3, -1
	bnez t3, loop
	tmc zero`

func harts(cfg configs.Machine) int {
	return cfg.Sockets * cfg.CoresPerSocket * cfg.Core.Warps * cfg.Core.Threads
}

// TestTicketsAreTakenOnce: whoever performs an atomic, no two see the same value.
func TestTicketsAreTakenOnce(t *testing.T) {
	for _, machine := range []string{"vortex-1c4w4t", "vortex-rtl-d", "vortex-rtl-m6", "vortex-6c32w32t-sharedl1"} {
		for _, set := range []string{"atomics.mode=l2", "atomics.combine=true", "atomics.mode=simx24",
			"atomics.mode=simx25"} {
			t.Run(machine+"/"+set, func(t *testing.T) {
				t.Parallel()
				cfg := load(t, machine, set)
				_, m := run(t, cfg, source(t, tickets))
				n := uint32(4 * harts(cfg))
				require.Equal(t, n, m.Arch.Mem.Load32(ticketWord))
				seen := make([]bool, n)
				for i := range n {
					v := m.Arch.Mem.Load32(results + 4*i)
					require.Less(t, v, n)
					require.False(t, seen[v], "ticket %d was taken twice", v)
					seen[v] = true
				}
			})
		}
	}
}

// TestAtomicsAreCountedWhereTheyAreDone: the last cache performs every operation, the ones
// before pass them on.
func TestAtomicsAreCountedWhereTheyAreDone(t *testing.T) {
	for _, machine := range []string{"vortex-1c4w4t", "vortex-rtl-c", "vortex-6c32w32t"} {
		cfg := load(t, machine)
		o, _ := run(t, cfg, source(t, tickets))
		last := o.Caches[len(o.Caches)-1]
		require.EqualValues(t, 4*harts(cfg), last.AtomicOps)
		require.Equal(t, last.Atomics, last.AtomicWrites)
		passed := uint64(0)
		for _, s := range o.Caches[:len(o.Caches)-1] {
			require.Zero(t, s.AtomicOps)
			passed += s.AtomicsPassed
		}
		if cfg.L2 != nil {
			require.Equal(t, last.Atomics, passed)
		}
		one, _ := run(t, load(t, machine, "atomics.combine=true"), source(t, tickets))
		require.Equal(t, last.Atomics, one.Caches[len(one.Caches)-1].AtomicOps, "all lanes of a request hit one word")
		if cfg.Core.Threads == 32 { // else other things bound the run
			require.Less(t, one.Cycles, o.Cycles)
		}
	}
}

// TestOperationsOfABankFollowEachOther: a bank's operations on lines of their own take bank_interval cycles each, and
// with words_together the lanes of a request on words of their own are one operation, those on one word are not.
func TestOperationsOfABankFollowEachOther(t *testing.T) {
	cycles := func(shift, bankInterval int, together bool) (cycles, operations uint64) {
		p := source(t, spread+fmt.Sprintf(`
	li a1, 0x90000000
	slli t2, t1, %d
	add a1, a1, t2
	li t3, 8
	li t4, 1
loop:	amoadd.w t5, t4, (a1)
	addi t3, t3, -1
	bnez t3, loop
	tmc zero`, shift))
		o, _ := run(t, load(t, "vortex-6c32w32t", "core.warps=4", "core.threads=8", "l2.banks=1", "l2.memory_ports=1",
			"l2.mshrs=64", fmt.Sprint("atomics.bank_interval=", bankInterval), fmt.Sprint("atomics.words_together=", together)),
			p)
		return o.Cycles, o.Caches[len(o.Caches)-1].AtomicOps
	}
	const lanes = 6 * 4 * 8 * 8
	slow, all := cycles(6, 40, false)
	fast, _ := cycles(6, 20, false)
	require.EqualValues(t, lanes, all)
	require.InEpsilon(t, lanes*20, slow-fast, 0.05, "a line a lane")
	slow, one := cycles(2, 40, true)
	require.EqualValues(t, lanes/8, one, "neighbouring words")
	fast, _ = cycles(2, 20, true)
	require.InEpsilon(t, lanes/8*20, slow-fast, 0.05)
}

// TestOneLineIsTheBottleneck: operations on one word take interval cycles each; on
// lines of their own they do not wait for each other.
func TestOneLineIsTheBottleneck(t *testing.T) {
	cycles := func(lines, interval int) uint64 {
		p := source(t, spread+fmt.Sprintf(`
	li a1, 0x90000000
	andi t2, t1, %d
	slli t2, t2, 6
	add a1, a1, t2
	li t3, 8
	li t4, 1
loop:	amoadd.w t5, t4, (a1)
	addi t3, t3, -1
	bnez t3, loop
	tmc zero`, lines-1))
		o, _ := run(t, load(t, "vortex-6c32w32t", "core.warps=4", "core.threads=4",
			fmt.Sprintf("atomics.interval=%d", interval)), p)
		return o.Cycles
	}
	const ops = 6 * 4 * 4 * 8
	slow, fast := cycles(1, 50), cycles(1, 10)
	require.GreaterOrEqual(t, slow, uint64(ops*50))
	require.InDelta(t, ops*40, float64(slow-fast), ops*40/50)
	require.Less(t, cycles(128, 50), uint64(ops*50/8), "a line a lane")
}

// TestAWarpSeesItsOwnAtomics: accesses after an atomic in the program see its effect, a load as well as a store of a
// part of the word; and a fence waits for it.
func TestAWarpSeesItsOwnAtomics(t *testing.T) {
	p := source(t, spread+`
	li a1, 0x90000000
	slli t2, t1, 2
	add a1, a1, t2
	li a2, 0x91000000
	slli t2, t1, 4
	add a2, a2, t2
	li t3, 41
	sw t3, 0(a1)
	li t4, 0x101
	amoadd.w t5, t4, (a1)
	lw t6, 0(a1)
	amoswap.w zero, t3, (a1)
	sb t4, 1(a1)
	lw a3, 0(a1)
	amoadd.w zero, t4, (a1)
	amoadd.w zero, t4, (a1)
	fence
	lw a4, 0(a1)
	sw t5, 0(a2)
	sw t6, 4(a2)
	sw a3, 8(a2)
	sw a4, 12(a2)
	tmc zero`)
	for _, set := range []string{"atomics.mode=l2", "atomics.interval=200", "atomics.mode=simx24",
		"atomics.mode=simx25", "core.lsu_queue=16"} {
		cfg := load(t, "vortex-6c32w32t-sharedl1", "core.warps=8", "core.threads=8", set)
		_, m := run(t, cfg, p)
		for h := range uint32(harts(cfg)) {
			var got [4]uint32
			for i := range got {
				got[i] = m.Arch.Mem.Load32(results + 16*h + 4*uint32(i))
			}
			require.Equal(t, [4]uint32{41, 41 + 0x101, 41 | 1<<8, 41 | 1<<8 + 2*0x101}, got, "%s: hart %d", set, h)
		}
	}
}

// TestLocksAcrossCores: lr/sc, amocas and amofadd of all cores on one word.
func TestLocksAcrossCores(t *testing.T) {
	p := source(t, `
_start:	li a1, 0x90000000
	li t3, 10
lrsc:	lr.w t4, (a1)
	addi t4, t4, 1
	sc.w t5, t4, (a1)
	bnez t5, lrsc
	addi t3, t3, -1
	bnez t3, lrsc
	li t3, 10
	addi a1, a1, 64
cas:	lw t4, 0(a1)
	mv t6, t4
	addi t5, t4, 1
	amocas.w t6, t5, (a1)
	bne t6, t4, cas
	addi t3, t3, -1
	bnez t3, cas
	addi a1, a1, 64
	li t3, 10
	li t4, 0x3f800000
fadd:	amofadd.w zero, t4, (a1)
	addi t3, t3, -1
	bnez t3, fadd
	tmc zero`)
	o, m := run(t, load(t, "vortex-6c32w32t"), p)
	require.EqualValues(t, 60, m.Arch.Mem.Load32(ticketWord))
	require.EqualValues(t, 60, m.Arch.Mem.Load32(ticketWord+64))
	require.EqualValues(t, 0x42700000, m.Arch.Mem.Load32(ticketWord+128), "60.0")
	l2 := o.Caches[len(o.Caches)-1]
	require.Less(t, l2.AtomicWrites, l2.Atomics, "lr.w and a failed sc.w write nothing")
}

// TestAtomicsInTheScratchpad are no business of the caches.
func TestAtomicsInTheScratchpad(t *testing.T) {
	p := source(t, spread+`
	li a1, 0xffff0000
	li t4, 1
	amoadd.w t5, t4, (a1)
	lw t6, 0(a1)
	tmc zero`)
	cfg := load(t, "vortex-6c32w32t", "core.warps=8", "core.threads=8")
	o, m := run(t, cfg, p)
	for i := range 6 {
		require.EqualValues(t, 64, m.Arch.Core(i).Scratchpad()[0])
	}
	for _, s := range o.Caches {
		require.Zero(t, s.Atomics)
	}
}

func TestAtomicsThatTrap(t *testing.T) {
	for _, c := range []struct{ addr, says string }{
		{"2", "misaligned access: address 0x00000002 is not a multiple of 4"},
		{"4", "access fault: address 0x00000004: nothing below 0x40 may be accessed"},
		{"0xffff8000", "access fault: address 0xffff8000 is beyond the scratchpad"},
	} {
		m, err := sim.New(load(t, "vortex-6c32w32t"), sim.Options{MaxCycles: 1_000_000})
		require.NoError(t, err)
		_, err = m.Run(context.Background(), source(t,
			"_start: li a1, "+c.addr+"\nhere: amoadd.w t0, t0, (a1)\n tmc zero"))
		var trap *emu.Trap
		require.True(t, errors.As(err, &trap), "%v", err)
		require.ErrorContains(t, err, c.says)
		require.Equal(t, "here+0x0", trap.Symbol)
	}
}

func TestAtomicsNeedASlot(t *testing.T) {
	_, err := configs.LoadMachine("vortex-1c4w4t", nil, []string{"sockets=2"})
	require.ErrorContains(t, err, "there is no L2, and no other cache in which the atomics of all 2 sockets meet")
	_, err = configs.LoadMachine("vortex-1c4w4t", nil, []string{"sockets=2", "atomics.mode=simx24"})
	require.NoError(t, err)
	_, err = configs.LoadMachine("vortex-1c4w4t", nil, []string{"atomics.combine=true", "atomics.mode=simx24"})
	require.ErrorContains(t, err, "atomics.combine")
	_, err = configs.LoadMachine("vortex-1c4w4t", nil, []string{"atomics.words_together=true", "atomics.mode=simx24"})
	require.ErrorContains(t, err, "atomics.words_together")
}

// TestAtomicKnobsCount: each changes cycles and leaves the instructions as they were.
func TestAtomicKnobsCount(t *testing.T) {
	p := source(t, tickets)
	seen := map[uint64]string{}
	base, _ := run(t, load(t, "vortex-rtl-m6"), p)
	for _, set := range []string{"atomics.mode=l2", "atomics.interval=3", "atomics.combine=true", "atomics.bank_interval=9", "atomics.mode=simx25",
		"atomics.mode=simx24"} {
		o, _ := run(t, load(t, "vortex-rtl-m6", set), p)
		require.Equal(t, base.Stats, o.Stats)
		require.Empty(t, seen[o.Cycles], set)
		seen[o.Cycles] = set
	}
}
