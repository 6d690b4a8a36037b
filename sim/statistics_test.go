package sim_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/isa"
	"heddle/isa/micro"
	"heddle/sim"
)

// never are statistics that none of these runs can move, and why.
var never = regexp.MustCompile(`^(` +
	// no graph unit
	`core\.(scheduler\.stall\.scoreboard\.unit|warps\.unit_wait|vortex\.scrb_unit)|(warp|thread)_instrs\.unit` +
	`|edges|edges_per_cycle|warp_iterations|(warp|thread)_instrs\.(vote|fcvt|fsqrt)|shuffles` + // other programs
	// not written by programs
	`|l1i\.(writes|write_hits|write_misses|write_resends|flushes|flush_cycles|evictions|writebacks|atomics.*|invalidations)` +
	`|l2\.(atomics\.passed|invalidations)` + // the last one that atomics reach
	`|l1i\.stall\.memory_queue|l2\.stall\.mshr|l1i\.pairs|l2\.pairs|dram\.stall\.read_queue` + // package cache's and dram's own tests
	`|dram\.commands\.(rda|wra)` + // closed page
	`)$`)

// mixed writes lines that it has read, meets conflicts in the scratchpad, asks it and memory
// with one load, and lets all warps but one wait at a barrier.
const mixed = `
_start:	la a0, warp
	csrr t0, vx_num_warps
	wspawn t0, a0
warp:	li t0, -1
	tmc t0
heddle.phase.init:
	csrr t1, vx_tid
	slli t2, t1, 12
	li t3, 0x90000000
	add t2, t2, t3
	li t4, 100
heddle.phase.edge_access:
loop:	lw t5, 0(t2)
heddle.phase.gather_sum:
	sw t5, 0(t2)
	lw t6, 64(t2)
	addi t2, t2, 128
	addi t4, t4, -1
	bnez t4, loop
heddle.phase.registration:
	slli t1, t1, 7
	li t3, 0xFFFF0000
	add t1, t1, t3
	sw t4, 0(t1)
	lw t4, 0(t1)
	csrr t5, vx_tid
	seqz t5, t5
	li t6, 0x90000000-0xFFFF0000
	mul t5, t5, t6
	add t5, t5, t3
	lw t4, 0(t5)
	li t5, 7
heddle.phase.schedule:
	csrr t0, vx_wid
	bnez t0, join
	li t6, 100
spin:	div t5, t5, t5
	addi t6, t6, -1
	bnez t6, spin
heddle.phase.apply:
join:	csrr t1, vx_num_warps
	bar zero, t1
	tmc zero`

// TestNoStatisticIsDead: every statistic moves in some of these runs, and the sums over units
// are the sums.
func TestNoStatisticIsDead(t *testing.T) {
	moved, all := map[string]bool{}, []string{}
	look := func(machine string, p *isa.Program, set ...string) {
		_, m := run(t, load(t, machine, append(set, "memory.preset=hbm2-2gbps-jedec", "l1d.mshrs=4")...), p)
		all = all[:0]
		for _, s := range m.Statistics() {
			if !regexp.MustCompile(`\d\.`).MatchString(s.Name) || s.Name[:2] == "l1" || s.Name[:2] == "l2" {
				all = append(all, s.Name)
				moved[s.Name] = moved[s.Name] || s.Float() != 0
			}
		}
		checkSums(t, m)
	}
	for _, r := range [][2]string{
		{"vortex-6c32w32t-sharedl1", "ld_rand"}, {"vortex-6c32w32t-sharedl1", "st_coal"}, {"vortex-rtl-d", "lmem_ld"}, {"vortex-rtl-d", "fdiv_chain"},
		{"vortex-6c32w32t", "diverge"}, {"vortex-6c32w32t", "div_chain"}, {"vortex-rtl-d", "ld_coal"}, {"vortex-rtl-d", "mul_chain"}, {"vortex-rtl-d", "fma_chain"}, {"vortex-rtl-d", "lat_bank"},
		{"vortex-6c32w32t-sharedl1", "bytes"},
	} {
		p, err := micro.Program(r[1], 5)
		require.NoError(t, err)
		look(r[0], p, "l1d.bytes=4KiB")
	}
	look("vortex-rtl-d", source(t, mixed), "memory.channels=1", "l1d.bytes=64KiB")
	look("vortex-rtl-c", source(t, mixed))
	look("vortex-rtl-c", source(t, mixed), "l1d.write_policy=back", "l1d.bytes=4KiB", "l2.write_policy=back",
		"l2.bytes=8KiB")
	coalesced, err := micro.Program("ld_coal", 5)
	require.NoError(t, err)
	look("gpu-16sm", coalesced, "sockets=2", "l1d.sectors=4", "l1d.sector_pairs=true")
	look("vortex-rtl-a", source(t, tickets))
	look("vortex-rtl-a", source(t, trapping))
	look("vortex-rtl-c", source(t, tickets))
	look("vortex-rtl-d", source(t, mixed), "core.issue.policy=two-level", "core.issue.active_warps=1")
	for _, name := range all {
		assert.NotEqual(t, never.MatchString(name), moved[name], name)
	}
}

func checkSums(t *testing.T, m *sim.Machine) {
	t.Helper()
	all := m.Statistics()
	got, _ := all.Get("core.issue.instructions")
	want, _ := all.Get("warp_instrs")
	squashed, _ := all.Get("core.issue.squashed")
	require.Equal(t, want.Float(), got.Float()-squashed.Float())
	sum := 0.0
	for i := range m.Cores {
		s, ok := all.Get("core" + string(rune('0'+i)) + ".scheduler.issued")
		require.True(t, ok)
		sum += s.Float()
	}
	require.Equal(t, got.Float(), sum)
	names := map[string]bool{}
	for _, s := range all {
		require.False(t, names[s.Name], "%s twice", s.Name)
		names[s.Name] = true
		require.NotEmpty(t, s.Doc, s.Name)
	}
}

func TestPeakBytesPerCycle(t *testing.T) {
	for set, want := range map[string]float64{
		"memory.preset=ddr4-3200":      25.6, // a core cycle is a nanosecond
		"memory.channels=2":            64,
		"memory.clock_ratio=4":         64,
		"memory.preset=vortex-harness": 0,
	} {
		l, err := configs.LoadMachine("vortex-1c4w4t", nil, []string{"memory.preset=hbm2-2gbps", set})
		require.NoError(t, err)
		m, err := sim.New(l.Value, sim.Options{})
		require.NoError(t, err)
		peak, ok := m.Statistics().Get("dram.peak_bytes_per_cycle")
		require.True(t, ok)
		require.InDelta(t, want, peak.Float(), 1e-9, set)
	}
}
