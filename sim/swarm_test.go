package sim_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/isa/emu"
	"heddle/sim"
)

const chainOfTasks = `
_start:	la t0, f
	li a0, 50
	li t1, 7
	swarm.enqueue t0, t1
	csrr t2, mscratch
	sw t2, 256(t2)
	swarm.finish
f:	lui t0, 0x10000
	lw t1, 0(t0)
	add t1, t1, a0
	sw t1, 0(t0)
	beqz a0, end
	addi a0, a0, -1
	addi t2, a6, 3
	la t3, f
	swarm.enqueue t3, t2
end:	swarm.finish
`

// Machines of Swarm tiles launch programs, one behind another, with an argument: memory stays, time goes on, counts add
// up, and every preset works.
func TestTilesLaunch(t *testing.T) {
	for _, name := range []string{"swarm-1c", "swarm-4c", "swarm-16c", "swarm-64c", "swarm-256c"} {
		m, err := sim.New(load(t, name), sim.Options{Check: true})
		require.NoError(t, err)
		require.True(t, m.Tiles())
		p := source(t, chainOfTasks)
		total := uint64(0)
		for i := range uint32(2) {
			r, err := m.Launch(context.Background(), p, 0x20000000)
			require.NoError(t, err, name)
			require.Equal(t, (i+1)*50*51/2, m.Arch.Mem.Load32(0x10000000))
			require.Equal(t, uint32(0x20000000), m.Arch.Mem.Load32(0x20000100))
			require.NotZero(t, r.Cycles)
			require.Equal(t, uint64(0), r.Cycles%200, "a program ends with a commit")
			total += r.Cycles
			code, ok := m.Arch.ExitCode()
			require.True(t, ok)
			require.Zero(t, code)
		}
		require.NoError(t, m.CheckInvariants())
		s := m.Statistics()
		for stat, want := range map[string]uint64{"cycles": total, "swarm.tasks.committed": 2 * 52} {
			got, _ := s.Get(stat)
			n, _ := got.Uint()
			assert.Equal(t, want, n, stat)
		}
		r, err := m.Execute(context.Background(), p, 0x20000000)
		require.NoError(t, err)
		require.Zero(t, r.Cycles)
		require.Equal(t, uint32(3*50*51/2), m.Arch.Mem.Load32(0x10000000))
	}
}

// A program error, a limit and options that tiles do not have are errors.
func TestTilesRefuse(t *testing.T) {
	run := func(text string, opt sim.Options) error {
		m, err := sim.New(load(t, "swarm-4c"), opt)
		if err != nil {
			return err
		}
		_, err = m.Run(context.Background(), source(t, text))
		return err
	}
	var trap *emu.Trap
	require.ErrorAs(t, run("_start: tmc zero", sim.Options{}), &trap)
	require.ErrorContains(t, trap, "swarm.finish")
	var limit *sim.CycleLimitError
	require.ErrorAs(t, run("_start: j _start", sim.Options{MaxCycles: 50_000}), &limit)
	require.ErrorContains(t, run("_start: swarm.finish", sim.Options{Counters: sim.CoreCounters}),
		"no performance counters")
	for set, want := range map[string]string{
		"core.warps=2": "one warp", "sockets=65": "at most 64", "core.weaver.st_entries=16": "no graph unit",
		"l2.ways=4":                 "caches of their own",
		"swarm.signature_bits=2040": "power of two", "swarm.task_queue=1": "2..4096",
	} {
		_, err := configs.LoadMachine("swarm-4c", nil, []string{set})
		require.ErrorContains(t, err, want, set)
	}
	// On a machine of warps, the instructions are those of a unit that it lacks.
	m, err := sim.New(load(t, "vortex-1c4w4t"), sim.Options{})
	require.NoError(t, err)
	_, err = m.Run(context.Background(), source(t,
		"_start: swarm.finish"))
	require.ErrorContains(t, err, "no swarm unit")
}

// Knobs of the tiles change the cycles of a program, but not its memory. This one is too small for signatures to be
// wrong and for the sizes of L1 and L3 to matter: signatures, signature_bits, signature_ways, l1_bytes, l1_ways,
// l3_bytes and l3_ways are in a test of package experiment.
func TestEveryKnobOfTilesCounts(t *testing.T) {
	run := func(set ...string) uint64 {
		m, err := sim.New(load(t, "swarm-16c", set...), sim.Options{})
		require.NoError(t, err)
		r, err := m.Run(context.Background(), source(t, manyTasks))
		require.NoError(t, err)
		return r.Cycles
	}
	// updates at every cycle, so that the end of the program shows each cycle
	const fine = "swarm.commit_interval=1"
	small := []string{
		fine, "swarm.l1_bytes=512", "swarm.l2_bytes=1KiB", "swarm.l3_bytes=2KiB", "swarm.task_queue=8",
		"swarm.commit_queue=2",
	}
	before := run(small...)
	for _, set := range []string{
		"task_queue=4", "commit_queue=1", "task_op=7", "mapping=hint", "mapping=local", "seed=2", "tile_check=9",
		"time_compare=9", "rollback=90", "commit_interval=200", "spill_at=50", "spill_tasks=2",
		"spill_task=90",
		"line_bytes=32", "l1_latency=4", "l2_bytes=2KiB", "l2_ways=4", "l2_latency=9", "l3_latency=15",
		"hop_latency=9", "link_bytes=8", "memory_latency=300", "memory_controllers=1", "memory_interval=60",
	} {
		assert.NotEqual(t, before, run(append(small, "swarm."+set)...), set)
	}
}

// manyTasks is tasks that share lines, with children at once and long queues.
const manyTasks = `
_start:	li s0, 300
	la s1, f
next:	mv a0, s0
	li a5, 3
	srli t0, s0, 3
	swarm.enqueue s1, t0
	addi s0, s0, -1
	bgtz s0, next
	swarm.finish
f:	lui s11, 0x10000
	li t1, 1103515245
	mul t0, a0, t1
	addi t0, t0, 1234
	srli t2, t0, 10
	andi t2, t2, 1020
	slli t2, t2, 3
	add t2, t2, s11
	lw t4, 0(t2)
	addi t4, t4, 1
	sw t4, 0(t2)
	mv a0, t0
	beqz a5, end
	addi a5, a5, -1
	addi t5, a6, 1
	la t1, f
	swarm.enqueue t1, t5
	xori a0, a0, 77
	addi t5, a6, 9
	swarm.enqueue t1, t5
end:	swarm.finish
`

// fansOut enqueues more tasks than the smallest queues hold.
const fansOut = `
_start:	la t0, f
	li a0, 40
	li t1, 9
more:	swarm.enqueue t0, t1
	addi a0, a0, -1
	bgtz a0, more
	swarm.finish
f:	swarm.finish
`

// A machine that is stuck ends, with the reason for which each task waits. It is stuck on purpose: the same program
// ends where the earliest task is helped, and a long task is no stall.
func TestTilesStall(t *testing.T) {
	small := load(t, "swarm-4c")
	small.Swarm.TaskQueue, small.Swarm.CommitQueue = 2, 1
	m, err := sim.New(small, sim.Options{})
	require.NoError(t, err)
	_, err = m.Run(context.Background(), source(t, fansOut))
	require.NoError(t, err)
	m, err = sim.New(small, sim.Options{})
	require.NoError(t, err)
	m.Forsake()
	_, err = m.Run(context.Background(), source(t, fansOut))
	var stall *sim.StallError
	require.ErrorAs(t, err, &stall)
	require.ErrorContains(t, err, "no task has committed")
	require.ErrorContains(t, err, "commits wait for the earliest task, with timestamp 0, on core 0")
	require.ErrorContains(t, err, "core 0: its task, with timestamp 0, waits for an entry of tile 0's task queue")
	require.ErrorContains(t, err, "8 of 8 task queue entries taken")

	m, err = sim.New(small, sim.Options{})
	require.NoError(t, err)
	_, err = m.Run(context.Background(), source(t,
		"_start:\tli t0, 3000000\nl:\taddi t0, t0, -1\n\tbgtz t0, l\n\tswarm.finish\n"))
	require.NoError(t, err)
}
