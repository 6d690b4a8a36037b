package sim_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	akita "github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"heddle/components/cache"
	"heddle/components/core"
	"heddle/configs"
	"heddle/isa"
	"heddle/isa/asm"
	"heddle/isa/emu"
	"heddle/isa/micro"
	"heddle/sim"
)

func load(t testing.TB, machine string, set ...string) configs.Machine {
	t.Helper()
	l, err := configs.LoadMachine(machine, nil, set)
	require.NoError(t, err)
	return l.Value
}

func program(t *testing.T, name string) *isa.Program {
	t.Helper()
	p, err := micro.Program(name, 6)
	require.NoError(t, err)
	return p
}

// outcome is all that a run counts.
type outcome struct {
	sim.Result
	Cores   []core.Stats
	Caches  []cache.Stats
	Console string
}

func run(t *testing.T, cfg configs.Machine, p *isa.Program, prepare ...func(*core.Core)) (outcome, *sim.Machine) {
	t.Helper()
	return runWith(t, cfg, p, func(m *sim.Machine) {
		for _, f := range prepare {
			for _, c := range m.Cores {
				f(c)
			}
		}
	})
}

func runWith(t *testing.T, cfg configs.Machine, p *isa.Program, prepare func(*sim.Machine)) (outcome, *sim.Machine) {
	t.Helper()
	var o outcome
	m, err := sim.New(cfg, sim.Options{MaxCycles: 10_000_000, Check: true,
		Out: func(line []byte) { o.Console += string(line) }})
	require.NoError(t, err)
	prepare(m)
	o.Result, err = m.Run(context.Background(), p)
	require.NoError(t, err)
	require.NoError(t, m.CheckInvariants())
	for _, c := range m.Cores {
		o.Cores = append(o.Cores, c.Counts())
	}
	for _, c := range m.Caches {
		o.Caches = append(o.Caches, c.Stats())
	}
	return o, m
}

func hello(t *testing.T) *isa.Program {
	t.Helper()
	src, err := os.ReadFile("../kernels/asm/hello.s")
	require.NoError(t, err)
	p, err := asm.Assemble("hello.s", src, asm.Options{Base: 0x80000000})
	require.NoError(t, err)
	return p
}

// TestSameInputSameCycles: cycles do not depend on the number of host processors, on the load of the host, on a
// console, or on a limit that is not reached.
func TestSameInputSameCycles(t *testing.T) {
	for _, name := range []string{"vortex-rtl-m6", "vortex-6c32w32t-sharedl1"} {
		cfg, p := load(t, name), hello(t)
		want, _ := run(t, cfg, p)
		require.NotEmpty(t, want.Console)

		old := runtime.GOMAXPROCS(1)
		got, _ := run(t, cfg, p)
		runtime.GOMAXPROCS(old)
		require.Equal(t, want, got)

		const beside = 3
		all := make(chan outcome, beside)
		for range beside {
			go func() { o, _ := run(t, cfg, p); all <- o }()
		}
		for range beside {
			require.Equal(t, want, <-all)
		}

		m, err := sim.New(cfg, sim.Options{})
		require.NoError(t, err)
		r, err := m.Run(context.Background(), p)
		require.NoError(t, err)
		require.Equal(t, want.Result, r)
	}
}

// TestSleepChangesNothing: a core that sleeps books every cycle as one that ticks does.
func TestSleepChangesNothing(t *testing.T) {
	for _, name := range []string{"vortex-rtl-a", "vortex-rtl-m6", "vortex-6c32w32t", "vortex-6c32w32t-sharedl1"} {
		few := "sockets=1"
		if name != "vortex-rtl-a" {
			few = "sockets=2"
		}
		for _, prog := range []string{"alu_chain", "barrier", "diverge", "fma_chain", "ld_rand", "lmem_ld", "st_coal",
			"lat_csr"} {
			p, err := micro.Program(prog, 2)
			require.NoError(t, err)
			cfg := load(t, name, "memory.preset=hbm2-2gbps", few)
			sleeping, _ := run(t, cfg, p)
			waking, _ := run(t, cfg, p, (*core.Core).StayAwake)
			require.Equal(t, waking, sleeping, "%s on %s", prog, name)
		}
		for _, set := range []string{"atomics.mode=l2", "atomics.mode=simx24", "atomics.mode=simx25"} {
			cfg, p := load(t, name, "memory.preset=hbm2-2gbps", few, set), source(t, tickets)
			sleeping, _ := run(t, cfg, p)
			waking, _ := run(t, cfg, p, (*core.Core).StayAwake)
			require.Equal(t, waking, sleeping, "%s on %s", set, name)
		}
	}
}

// TestSleepChangesNothingWhateverTheKnobs: nor do the choices of the pipeline matter to it.
func TestSleepChangesNothingWhateverTheKnobs(t *testing.T) {
	for _, knobs := range []string{
		"core.schedule.policy=rr core.issue.policy=rr core.issue.dispatch_per_slice=2 core.fetch_width=2 l1i.banks=2",
		"core.schedule.policy=gto core.issue.policy=gto core.alu_lanes=8 core.fpu_lanes=16 core.sfu_lanes=4 core.lsu_lanes=8",
		"core.schedule.policy=two-level core.schedule.active_warps=3 core.issue.policy=two-level core.issue.active_warps=2",
		"core.fence=wait core.issue.policy=two-level core.issue.active_warps=1 core.fetch_width=4 core.issue.dispatch_per_slice=4",
	} {
		for _, prog := range []string{"barrier", "div_chain", "diverge", "fma_chain", "ld_rand", "lmem_ld", "lat_csr"} {
			t.Run(knobs+"/"+prog, func(t *testing.T) {
				t.Parallel()
				p, err := micro.Program(prog, 2)
				require.NoError(t, err)
				cfg := load(t, "vortex-6c32w32t", append(strings.Fields(knobs), "sockets=2")...)
				sleeping, m := run(t, cfg, p)
				waking, _ := run(t, cfg, p, (*core.Core).StayAwake)
				require.Equal(t, waking, sleeping)
				for _, c := range m.Cores {
					require.NoError(t, c.CheckInvariants())
				}
			})
		}
	}
}

// hookCounter is a hook that counts where it was called.
type hookCounter map[string]uint64

func (c *hookCounter) Func(ctx akita.HookCtx) { (*c)[ctx.Pos.Name]++ }

// TestHooksOnlyLook: with a hook at every unit a run takes the same cycles and counts the same, and the
// hooks see every instruction and message.
func TestHooksOnlyLook(t *testing.T) {
	for _, name := range []string{"vortex-1c4w4t", "vortex-rtl-m6", "vortex-6c32w32t"} {
		for _, prog := range []string{"ld_rand", "st_coal", "diverge"} {
			p, err := micro.Program(prog, 4)
			require.NoError(t, err)
			cfg := load(t, name)
			want, _ := run(t, cfg, p)
			cores, caches := hookCounter{}, hookCounter{}
			got, m := runWith(t, cfg, p, func(m *sim.Machine) {
				for _, c := range m.Cores {
					c.AcceptHook(&cores)
				}
				for _, c := range m.Caches {
					c.AcceptHook(&caches)
				}
			})
			require.Equal(t, want, got, "%s on %s", prog, name)
			for _, pos := range []string{"core decode", "core issue", "core dispatch", "core commit"} {
				require.Equal(t, want.WarpInstrs, cores[pos], pos)
			}
			requests := uint64(0)
			for _, c := range m.Caches {
				s := c.Stats()
				requests += s.Reads + s.Writes + s.Flushes
			}
			require.Equal(t, requests, caches["cache request"])
			require.NotZero(t, caches["cache response"])
			require.NotZero(t, caches["cache memory"])
		}
	}
}

// TestConservation: every message that one level sends is received by the next, whatever the memory.
func TestConservation(t *testing.T) {
	memories := []string{"vortex-harness", "hbm2-2gbps", "hbm2-2gbps-jedec", "hbm3-5.2gbps", "ddr4-3200", "gddr6", "gddr5",
		"ideal"}
	for _, machine := range []string{"vortex-1c4w4t", "vortex-rtl-c", "vortex-rtl-m6"} {
		for _, prog := range []string{"ld_rand", "ld_coal", "st_coal", "diverge", "barrier"} {
			p := program(t, prog)
			cfg := load(t, machine)
			functional, err := emu.New(emu.Config{Cores: cfg.Sockets * cfg.CoresPerSocket, Warps: cfg.Core.Warps,
				Threads: cfg.Core.Threads})
			require.NoError(t, err)
			functional.Load(p)
			require.NoError(t, functional.Run(context.Background()))

			cycles := map[uint64]bool{}
			for _, memory := range memories {
				t.Run(machine+"/"+prog+"/"+memory, func(t *testing.T) {
					o, _ := run(t, load(t, machine, "memory.preset="+memory), p)
					cycles[o.Cycles] = true
					require.Equal(t, functional.Stats(), o.Stats, "the functional machine executes the same")
					issued := uint64(0)
					for _, c := range o.Cores {
						issued += c.Issued
					}
					require.Equal(t, o.WarpInstrs, issued)
				})
			}
			if prog == "ld_rand" {
				require.Greater(t, len(cycles), 4, "the memory makes no difference")
			}
		}
	}
}

func TestMachinesThatDoNotFit(t *testing.T) {
	for _, c := range []struct{ set, says string }{
		{"sockets=256 cores_per_socket=16 concentrator.sockets=4", "cores_per_socket: 16: 256 sockets have 4096 cores, and a machine has at most 1024"},
		{"sockets=64", "their L1s have 128 ports to the L2, which serves at most 64"},
		{"cores_per_socket=16 core.channel_bytes=4", "512 requesters of an L1D"},
		{"l3.line_bytes=32", "l3.line_bytes: 32, and the lines of l2 have 64: expected as much or more"},
		{"memory.preset=vortex-harness memory.refresh=on", "memory.refresh: memory.preset vortex-harness is the memory of Vortex's simulations"},
		{"memory.preset=vortex-harness memory.clock_ratio=2", "memory.clock_ratio"},
		{"memory.preset=ideal memory.page_policy=open", "memory.page_policy: memory.preset ideal has no rows"},
		{"memory.preset=ideal memory.drain_low=3", "memory.drain_low"},
		{"memory.preset=ideal memory.interleave=256", "memory.interleave: memory.preset ideal has no rows"},
		{"memory.interleave=4KiB", "dram interleave = 4096: expected 0 or a power of two from 64, an access, to 2048, a row"},
		{"memory.write_queue=8", "dram drain_high = 26: expected 1..8, the write queue"},
		{"memory.drain_low=30", "dram drain_low = 30: expected 0..25, below drain_high"},
		{"l1d.line_bytes=32 l1i.line_bytes=32 l2.line_bytes=32 core.channel_bytes=32", "l2.line_bytes: 32: a burst of memory.preset hbm2-2gbps carries 64"},
		{"core.channel_bytes=128", "core.channel_bytes"},
		{"l1d.line_bytes=32 l1i.line_bytes=32 core.channel_bytes=32 core.fetch_instructions=16", "core.fetch_instructions: 16 instructions are 64 bytes, which do not fit an L1I line of 32"},
		{"core.fetch_instructions=3", "core.fetch_instructions"}, {"core.forwarding=8", "core.forwarding"},
		{"to_l1d.response=3 to_l1d.response_entries=2", "to_l1d.response_entries: 2, and to_l1d.response is 3"},
		{"l2.line_bytes=32", "l2.line_bytes: 32, and the lines of l1d have 64"}, {"memory.preset=vortex-harness l2.line_bytes=128", "lines of 64 bytes only"},
		{"core.lsu_lanes=3", "core.lsu_lanes: 3: expected a divisor"}, {"core.threads=8 core.lsu_lanes=16", "core.lsu_lanes: 16: expected 1..8"},
		{"l1i.line_bytes=32", "l1i.line_bytes"},
		{"memory.channels=3 memory.mapping=ChRaBaRoCo", "memory.channels"},
		{"cores_per_socket=16 core.fetch_width=8", "core.fetch_width"},
		{"l1d.sector_pairs=true", "l1d.sector_pairs: true: expected sectors of at least 2"},
		{"l1d.sectors=2 l1d.sector_pairs=true", "l1d.sector_pairs: true: two sectors have 128 bytes, and a line of the next level 64"},
		{"l2.sectors=2 l2.sector_pairs=true", "l2.sector_pairs: true: memory is asked for a line at a time"},
	} {
		_, err := configs.LoadMachine("vortex-6c32w32t", nil, strings.Fields(c.set))
		require.ErrorContains(t, err, c.says, c.set)
	}
	_, err := configs.LoadMachine("vortex-1c4w4t", nil, []string{"l3.ways=4"})
	require.ErrorContains(t, err, "a machine with an L3 has an L2")
}

// TestL3: the L3 holds lines that a small L2 cannot, and each of its keys has an effect.
func TestL3(t *testing.T) {
	with := []string{"sockets=2", "l2.bytes=64KiB", "l2.forward_flush=true", "l3.bytes=512KiB", "l3.banks=2"}
	p, err := micro.Program("ld_rand", 5)
	require.NoError(t, err)
	base, m := run(t, load(t, "vortex-6c32w32t", with...), p)
	require.Equal(t, "L3", m.Caches[len(m.Caches)-1].Name())
	require.Positive(t, base.Caches[len(base.Caches)-1].ReadHits)
	for _, set := range []string{"l3.bytes=128KiB", "l3.banks=1", "l3.ways=1", "to_l3.request=20",
		"to_l3.response=20"} {
		o, _ := run(t, load(t, "vortex-6c32w32t", append(with, set)...), p)
		require.Equal(t, base.Stats, o.Stats)
		require.NotEqual(t, base.Cycles, o.Cycles, set)
	}
	o, _ := run(t, load(t, "vortex-6c32w32t", with...), source(t, tickets))
	l2, l3 := o.Caches[len(o.Caches)-2], o.Caches[len(o.Caches)-1]
	require.Positive(t, l2.AtomicOps)
	require.Zero(t, l3.Atomics)
	require.Equal(t, l2.Writes+l2.AtomicWrites, l3.Writes)
}

func TestADeadlockIsReportedOnce(t *testing.T) {
	p, err := asm.Assemble("d.s", []byte("_start: li t1, 2\n bar zero, t1\n tmc zero"), asm.Options{Base: 0x80000000})
	require.NoError(t, err)
	m, err := sim.New(load(t, "vortex-6c32w32t"), sim.Options{})
	require.NoError(t, err)
	_, err = m.Run(context.Background(), p)
	var stall *sim.StallError
	require.True(t, errors.As(err, &stall), "%v", err)
	require.Len(t, stall.Waits, 6, "one warp of each core waits")
}

func source(t *testing.T, text string) *isa.Program {
	t.Helper()
	p, err := asm.Assemble("test.s", []byte(text), asm.Options{Base: 0x80000000})
	require.NoError(t, err)
	return p
}

// TestEveryKnobCounts turns each knob and asks for other cycles, but the same instructions. The
// preset's machine is the reference of the comparison, or else the text behind "|". The
// depths of a cache's queues are left to its own tests: these programs do not fill them.
func TestEveryKnobCounts(t *testing.T) {
	const mixed = "memory.channels=1 l2.write_policy=back l2.bytes=16KiB " // reads and writes
	var references sync.Map                                                // functions that run a reference once
	for _, k := range []struct{ set, prog string }{
		{"core.issue.slices=1", "alu_chain"}, {"core.issue.alu_blocks=1", "alu_chain"}, {"core.issue.fpu_blocks=1", "fma_chain"}, {"core.collectors=1", "fma_chain"},
		{"core.schedule.policy=rr", "ld_rand"}, {"core.schedule.policy=gto", "ld_rand"}, {"core.schedule.policy=two-level", "ld_rand"},
		{"core.schedule.policy=two-level core.schedule.active_warps=3", "alu_chain"},
		{"core.issue.policy=rr", "fma_chain"}, {"core.issue.policy=gto", "fma_chain"}, {"core.issue.policy=two-level", "ld_rand"},
		{"core.issue.policy=two-level core.issue.active_warps=2", "fma_chain"},
		{"core.issue.dispatch_per_slice=2 core.schedule.policy=rr", "lat_fmin"}, {"core.fetch_width=2 l1i.banks=2", "alu_chain"},
		{"core.ibuffer=1", "ld_coal"}, {"core.forwarding=3", "alu_chain"}, {"core.forwarding=6", "fma_chain"},
		{"core.fetch_instructions=4", "alu_chain"}, {"core.batch_interval=1", "ld_rand"}, {"core.fetch_room=true", "alu_chain"},
		{"to_l1d.request=5", "lat_l1"}, {"to_l1d.response=5", "lat_l1"},
		{"core.fpu_queue=1", "fma_chain"}, {"core.lsu_queue=1", "ld_coal"}, {"core.coalescer_tags=1", "ld_rand"},
		{"core.channel_bytes=4", "ld_coal"}, {"core.channel_bytes=4", "st_coal"},
		{"core.latency.alu=10", "alu_chain"}, {"core.latency.mul=10", "mul_chain"}, {"core.latency.div_serial=40", "div_chain"},
		{"core.idiv=dpi", "div_chain"}, {"core.fence=wait", "barrier"},
		{"core.alu_lanes=8", "alu_chain"}, {"core.alu_lanes=16", "div_chain"}, {"core.fpu_lanes=8", "fma_chain"}, {"core.sfu_lanes=4", "lat_csr"},
		{"core.lsu_lanes=4", "ld_coal"}, {"core.channel_bytes=16 core.gather_answers=true | core.channel_bytes=16", "ld_rand"}, {"core.lsu_lanes=16", "st_coal"}, {"core.lsu_lanes=1", "lmem_ld"}, {"core.lsu_lanes=4 core.lsu_queue=2 | core.lsu_lanes=4", "ld_coal"},
		{"core.lsu_lanes=4 core.channel_bytes=4 | core.lsu_lanes=4", "ld_coal"}, {"l1i.line_bytes=32 l1d.line_bytes=32 core.channel_bytes=32 | core.channel_bytes=32", "ld_coal"},
		{"l2.line_bytes=128 l1d.sectors=2 l1d.sector_pairs=true | l2.line_bytes=128 l1d.sectors=2", "ld_coal"},
		{"l2.line_bytes=128", "ld_coal"}, {"core.sfu_lanes=4", "diverge"}, {"core.idiv=dpi core.latency.div=10 | core.idiv=dpi", "div_chain"},
		{"core.latency.fma=10", "fma_chain"}, {"core.latency.fncp=10", "lat_fmin"}, {"core.latency.fcvt=10", "lat_fcvt"},
		{"core.latency.fdiv=30", "fdiv_chain"}, {"core.latency.fsqrt=30", "lat_fsqrt"}, {"core.latency.csr=10", "lat_csr"},
		{"core.latency.warp=60", "diverge"},
		{"l1d.bytes=1KiB", "ld_rand"}, {"l1d.ways=1", "ld_rand"}, {"l1d.banks=8", "ld_rand"}, {"l1d.bank_select=hashed", "ld_rand"},
		{"l1d.mshrs=1", "ld_rand"}, {"l1d.write_policy=back", "st_coal"}, {"l2.write_policy=back", "st_coal"},
		{"l1d.response_buffer=false", "lat_l1"}, {"l1d.memory_buffer=false", "ld_rand"}, {"l1d.replay_delay=2", "lat_dram"},
		{"l2.banks=8", "ld_rand"}, {"l2.memory_ports=1", "ld_rand"}, {"l2.bytes=128KiB", "ld_rand"},
		{"to_l2.request=20", "lat_dram"}, {"to_l2.response=20", "lat_dram"}, {"to_memory.request=20", "lat_dram"}, {"to_memory.response=20", "lat_dram"},
		{"memory.preset=ddr4-3200", "lat_dram"}, {"memory.channels=1", "ld_rand"},
		{"memory.clock_ratio=3", "lat_dram"}, {"memory.scheduler=fcfs", "ld_rand"}, {"memory.channels=1 memory.scheduler=row-hit-first | memory.channels=1", "st_coal"},
		{"memory.page_policy=closed", "ld_rand"}, {"memory.mapping=RoCoBaRaCh", "ld_rand"}, {"memory.mapping=ChRaBaRoCo", "ld_rand"},
		{"memory.mapping=RoBaRaCoChXor", "ld_rand"}, {"memory.refresh=off", "ld_rand"}, {"memory.read_queue=1", "ld_rand"},
		{"memory.channels=1 memory.write_queue=26 | memory.channels=1", "st_coal"},
		{mixed + "memory.drain_high=2 memory.drain_low=0 | " + mixed, "st_coal"}, {mixed + "memory.drain_low=20 | " + mixed, "st_coal"},
	} {
		t.Run(k.set+"/"+k.prog, func(t *testing.T) {
			t.Parallel()
			p, err := micro.Program(k.prog, 4)
			require.NoError(t, err)
			set, base, _ := strings.Cut(k.set, " | ")
			with := func(set string) outcome {
				o, _ := run(t, load(t, "vortex-6c32w32t", append([]string{"sockets=1"}, strings.Fields(set)...)...), p)
				return o
			}
			once, _ := references.LoadOrStore(base+"/"+k.prog, sync.OnceValue(func() outcome { return with(base) }))
			before, after := once.(func() outcome)(), with(set)
			require.Equal(t, before.Stats, after.Stats)
			require.NotEqual(t, before.Cycles, after.Cycles)
		})
	}
}

// A vote that depends on one takes core.latency.vote cycles more than with the integer unit's latency, which other
// operations keep: those that do not depend on it pass.
func TestVotesTakeLatencyVote(t *testing.T) {
	cycles := func(n int, body string, set ...string) uint64 {
		o, _ := run(t, load(t, "vortex-1c4w4t", set...), source(t, fmt.Sprintf(`
_start:	li t0, -1
	tmc t0
	li t2, %d
loop:	%s
	addi t2, t2, -1
	bnez t2, loop
	tmc zero`, n, strings.Repeat(body+"\n", 8))))
		return o.Cycles
	}
	loop := func(body string, set ...string) uint64 { return cycles(30, body, set...) - cycles(10, body, set...) }
	for _, chain := range []string{"vote.ballot a0, a0", "shfl.up a0, a0, a1"} {
		require.Equal(t, loop(chain, "core.latency.vote=22")+10*8*20, loop(chain, "core.latency.vote=32"), chain)
		require.Greater(t, loop(chain, "core.latency.vote=22"), loop(chain), chain)
		require.Equal(t, loop(chain), loop(chain, "core.latency.vote=2"), chain)
	}
	require.Equal(t, loop("add a0, a0, a0"), loop("add a0, a0, a0", "core.latency.vote=22"))
	apart := "vote.ballot a0, a1" + strings.Repeat("\n add a2, a2, a2", 30)
	require.Less(t, loop(apart, "core.latency.vote=22"), loop(apart)+20*8*20/4)
}

func TestMcycleCountsCycles(t *testing.T) {
	const text = `
_start:	li t3, 0x88
	li t4, 1
	csrr t0, mcycle
	div t4, t4, t4
	div t4, t4, t4
	div t4, t4, t4
	div t4, t4, t4
	mv t5, t4
	csrr t1, mcycle
	sub t1, t1, t0
	sw t1, 0(t3)
	tmc zero`
	exit := func(set ...string) uint32 {
		_, m := run(t, load(t, "vortex-1c4w4t", set...), source(t, text))
		code, ok := m.Arch.ExitCode()
		require.True(t, ok)
		return code
	}
	slow := exit("core.latency.div_serial=55")
	require.EqualValues(t, 4*20, slow-exit(), "four divisions, one after the other")
}

// TestFencesAmongLoads: fences end while other warps' loads do, with one way to commit for all.
func TestFencesAmongLoads(t *testing.T) {
	p := source(t, `
_start:	la a0, warp
	csrr t0, vx_num_warps
	wspawn t0, a0
warp:	li t0, -1
	tmc t0
	csrr t1, mhartid
	slli t1, t1, 6
	li t2, 0x90000000
	add t1, t1, t2
	li t3, 8
loop:	lw t4, 0(t1)
	lw t5, 64(t1)
	lw t6, 4(t1)
	fence
	addi t1, t1, 256
	addi t3, t3, -1
	bnez t3, loop
	tmc zero`)
	for _, machine := range []string{"vortex-rtl-a", "vortex-rtl-c", "vortex-rtl-d", "vortex-6c32w32t"} {
		for _, set := range []string{"core.lsu_queue=2", "core.lsu_queue=64", "core.fence=wait"} {
			o, _ := run(t, load(t, machine, set), p)
			for _, c := range o.Cores {
				require.Equal(t, c.Issued, c.Committed)
			}
		}
	}
}

// TestFenceWaits: with fence: wait a fence costs nothing if nothing is outstanding; else later instructions wait for
// the outstanding accesses.
func TestFenceWaits(t *testing.T) {
	took := func(between string, set ...string) uint32 {
		_, m := run(t, load(t, "vortex-1c4w4t", set...), source(t, `
_start:	li t3, 0x88
	li t2, 0x90000000
	csrr t0, mcycle
	`+between+`
	csrr t5, mcycle
	sub t5, t5, t0
	sw t5, 0(t3)
	tmc zero`))
		code, ok := m.Arch.ExitCode()
		require.True(t, ok)
		return code
	}
	const other = "lw t5, 64(t2)\n"
	wait, flush := "core.fence=wait", "core.fence=flush"
	require.LessOrEqual(t, took("fence\n fence\n fence\n fence\n", wait)-took("fence\n fence\n", wait), uint32(2*8),
		"SimX: 7 or 8 cycles a fence")
	require.Greater(t, took("fence\n"+other, flush)-took("fence\n"+other, wait), uint32(64), "the walk of 64 sets")
	one := took(other, wait)
	require.Greater(t, took("lw t4, 0(t2)\n fence\n"+other, wait), one+one/2, "a miss behind a miss")
	require.Less(t, took("lw t4, 0(t2)\n"+other, wait), one+one/2, "two misses together")
	require.Less(t, took("sw t4, 0(t2)\n fence\n"+other, wait), one+40, "a store is over when the L1D has it")
}

// TestKeepL1I: with keep_l1i a second launch finds its instructions where the first has left them.
func TestKeepL1I(t *testing.T) {
	p := source(t, "_start:\n"+strings.Repeat("\taddi t0, t0, 1\n", 64)+"\ttmc zero")
	second := func(set ...string) uint64 {
		m, err := sim.New(load(t, "vortex-1c4w4t", set...), sim.Options{})
		require.NoError(t, err)
		_, err = m.Launch(context.Background(), p, 0)
		require.NoError(t, err)
		r, err := m.Launch(context.Background(), p, 0)
		require.NoError(t, err)
		return r.Cycles
	}
	require.Less(t, second("core.keep_l1i=true")+10, second("core.keep_l1i=false"))
}

// TestEmulatedInstructionsAreFetched: an emulated launch leaves its program in the L2, from where others had evicted
// it, so that the next launch takes as long as behind a simulated one.
func TestEmulatedInstructionsAreFetched(t *testing.T) {
	p := source(t, "_start:\n"+strings.Repeat("\taddi t0, t0, 1\n", 512)+"\ttmc zero")
	evicts := source(t, `
_start:	li t0, 0x20000000
	li t1, 0x20020000
loop:	lw t2, 0(t0)
	addi t0, t0, 64
	bltu t0, t1, loop
	tmc zero`)
	took := func(between func(m *sim.Machine) error) uint64 {
		m, err := sim.New(load(t, "vortex-6c32w32t", "l2.bytes=64KiB"), sim.Options{})
		require.NoError(t, err)
		for _, q := range []*isa.Program{p, evicts} {
			_, err = m.Launch(context.Background(), q, 0)
			require.NoError(t, err)
		}
		require.NoError(t, between(m))
		r, err := m.Launch(context.Background(), p, 0)
		require.NoError(t, err)
		return r.Cycles
	}
	cold := took(func(*sim.Machine) error { return nil })
	timed := took(func(m *sim.Machine) error {
		_, err := m.Launch(context.Background(), p, 0)
		return err
	})
	emulated := took(func(m *sim.Machine) error {
		_, _, err := m.Emulate(context.Background(), p, 0, true)
		return err
	})
	require.Greater(t, cold, timed+50, "otherwise nothing is tested")
	t.Logf("%d cold, %d timed, %d emulated", cold, timed, emulated)
	require.InDelta(t, timed, emulated, 10)
}

// TestATrapEndsTheOthers: a core that goes on for ever does not hide another's trap.
func TestATrapEndsTheOthers(t *testing.T) {
	p := source(t, `
_start:	csrr t0, vx_cid
	beqz t0, bad
loop:	j loop
bad:	lw t0, 2(zero)`)
	m, err := sim.New(load(t, "vortex-6c32w32t"), sim.Options{MaxCycles: 1_000_000})
	require.NoError(t, err)
	r, err := m.Run(context.Background(), p)
	var trap *emu.Trap
	require.True(t, errors.As(err, &trap), "%v", err)
	require.Less(t, r.Cycles, uint64(100_000))
}

// TestScratchpadBytes: addresses within the scratchpad can be used, and no others.
func TestScratchpadBytes(t *testing.T) {
	p, err := asm.Assemble("test.s", []byte("li a0, 0xFFFF5000\n sw zero, (a0)\n sw zero, 0x88(zero)\n tmc zero\n"),
		asm.Options{})
	require.NoError(t, err)
	run := func(set string) error {
		m, err := sim.New(load(t, "vortex-1c4w4t", set), sim.Options{})
		require.NoError(t, err)
		_, err = m.Run(context.Background(), p)
		return err
	}
	require.NoError(t, run("core.scratchpad_bytes=20484"))
	require.ErrorContains(t, run("core.scratchpad_bytes=20KiB"), "beyond the scratchpad of 20480 bytes")
	_, err = configs.LoadMachine("vortex-1c4w4t", nil, []string{"core.scratchpad_bytes=6"})
	require.ErrorContains(t, err, "expected a multiple of 4")
}

// TestLanesThatGoToMemoryAndToTheScratchpad: odd lanes have the scratchpad's first words, even
// ones lines of memory. All of an instruction's lanes are served, and it ends when the last is:
// two stores, two loads and an atomic a warp, of which the second load hits.
func TestLanesThatGoToMemoryAndToTheScratchpad(t *testing.T) {
	const program = spread + `
	andi t2, t1, 1
	li t3, 0xFFFF0000-0x90000000
	mul t2, t2, t3
	slli t3, t1, 2
	add t2, t2, t3
	li t3, 0x90000000
	add t2, t2, t3
	addi t4, t1, 100
	sw t4, 0(t2)
	lw t5, 0(t2)
	amoadd.w t6, t5, (t2)
	sw t6, 128(t2)
	lw t6, 128(t2)
	slli t3, t1, 2
	li t2, 0xA0000000
	add t3, t3, t2
	sw t6, 0(t3)
	tmc zero`
	for _, mode := range []string{"l2", "simx24", "simx25"} {
		cfg := load(t, "vortex-1c4w4t", "atomics.mode="+mode, "memory.preset=ideal")
		_, m := run(t, cfg, source(t, program))
		for hart := range uint32(16) {
			require.Equal(t, 100+hart, m.Arch.Mem.Load32(0xA0000000+4*hart), "%s: hart %d", mode, hart)
			if hart&1 == 0 {
				require.Equal(t, 200+2*hart, m.Arch.Mem.Load32(0x90000000+4*hart), "%s: hart %d", mode, hart)
			} else {
				require.Equal(t, byte(200+2*hart), m.Arch.Core(0).Scratchpad()[4*hart], "%s: hart %d", mode, hart)
			}
		}
		mixed, ok := m.Statistics().Get("core.lsu.mixed")
		require.True(t, ok)
		require.EqualValues(t, 4*5, mixed.Float(), "%s", mode)
		require.NoError(t, m.CheckInvariants())
	}
}
