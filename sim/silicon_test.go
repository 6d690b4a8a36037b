package sim_test

import (
	"encoding/csv"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
	"heddle/isa"
	"heddle/sim"
)

// gpuBase is where the micro-benchmarks' arrays are.
const gpuBase = 0x10000000

// microRun is a machine for one micro-benchmark.
type microRun struct {
	*testing.T
	m *sim.Machine
}

// newMicroRun's machine is a name and, behind it, settings.
func newMicroRun(t *testing.T, machine string, set ...string) microRun {
	of := strings.Fields(machine)
	m, err := sim.New(load(t, of[0], append(of[1:], set...)...), sim.Options{MaxCycles: 100_000_000})
	require.NoError(t, err)
	return microRun{t, m}
}

func (r microRun) launch(p *isa.Program, arg int) float64 {
	result, err := r.m.Launch(r.Context(), p, uint32(arg))
	require.NoError(r, err)
	return float64(result.Cycles)
}

// each returns the cycles of one of the program's steps, of which its argument is the number: the difference between
// two launches, so that the cost of a launch and the first steps do not count.
func (r microRun) each(p *isa.Program, steps int) float64 {
	r.launch(p, steps-1)
	few := r.launch(p, steps)
	return (r.launch(p, 2*steps) - few) / float64(steps)
}

// chain makes a cycle through all blocks of an array, in random order, and returns a program that does so many
// dependent operations along it.
func (r microRun) chain(blocks, block int, operation string) *isa.Program {
	order := rand.New(rand.NewPCG(1, 2)).Perm(blocks)
	for i, at := range order {
		next := gpuBase + uint32(order[(i+1)%blocks]*block)
		r.m.Arch.Mem.Write(gpuBase+uint32(at*block), []byte{byte(next), byte(next >> 8), byte(next >> 16), byte(next >> 24)})
	}
	return source(r.T, fmt.Sprintf(`
_start:	csrr t0, mhartid
	bnez t0, end
	csrr a1, mscratch
	li a0, %d
	li a2, 0
loop:	%s
	addi a1, a1, -1
	bnez a1, loop
end:	tmc zero`, gpuBase+order[0]*block, operation))
}

// latency is the time of a dependent operation.
func latency(blocks, block int, operation string) func(*testing.T, string) float64 {
	return func(t *testing.T, machine string) float64 {
		r := newMicroRun(t, machine, "sockets=1")
		p := r.chain(blocks, block, operation)
		r.launch(p, blocks)
		return r.each(p, blocks)
	}
}

// coldLatency is the latency of operations on memory that was never accessed.
func coldLatency(blocks, block int, operation string) func(*testing.T, string) float64 {
	return func(t *testing.T, machine string) float64 {
		r := newMicroRun(t, machine, "sockets=1")
		p := r.chain(blocks, block, operation)
		few := r.launch(p, 1)
		return (r.launch(p, blocks-1) - few) / float64(blocks-2)
	}
}

// TestPairsOfSectorsBringLines: lines come faster from the L2 if two sectors are asked for together
// (docs/guide/gpu.md), and random sectors, few of which are neighbours, within a tenth as fast.
func TestPairsOfSectorsBringLines(t *testing.T) {
	testenv.NeedSlow(t, "four micro-benchmarks of sixteen cores")
	const sectors = "gpu-16sm l1d.sectors=4 l2.sectors=2 l1d.memory_buffer=true"
	for _, c := range []struct {
		lanes       int
		least, most float64
	}{{32, 1.35, 1.5}, {8, 0.9, 1.1}} {
		load := rate(4<<20, c.lanes, "lw TO, 0(AT)", true)
		gain := load(t, sectors+" l1d.sector_pairs=true") / load(t, sectors)
		require.InDelta(t, (c.least+c.most)/2, gain, (c.most-c.least)/2, "%d lanes a place", c.lanes)
	}
}

const perWarp = `
_start:	la a0, warp
	li t0, 32
	wspawn t0, a0
warp:	li t0, -1
	tmc t0
	csrr t1, mhartid
	csrr a7, mscratch
	li s0, 0x10000000
	li s2, 1664525
	li s3, 1013904223
	li s4, %d
	srli s5, t1, %d
	slli s5, s5, %d
	add s1, s5, a7
	li s7, 0x85EBCA6B
	mul s1, s1, s7
	srli s8, s1, 15
	xor s1, s1, s8
	mul s1, s1, s7
	srli s8, s1, 13
	xor s1, s1, s8
	li s8, 0x3F800000
	andi s6, t1, %d
	slli s6, s6, 2
	add s0, s0, s6
loop:
`

// rate is the lane operations a cycle of 32 warps of each core, each lane with 4 under way, at random places of an
// array; lanes is how many neighbours share a place, 0: all lanes of all warps.
func rate(bytes, lanes int, operation string, swept bool) func(*testing.T, string) float64 {
	return func(t *testing.T, machine string) float64 {
		r := newMicroRun(t, machine)
		shift, mask := 0, (bytes-1)&^3
		switch lanes {
		case 0:
			mask = 0
		case 8:
			shift, mask = 3, (bytes-1)&^31
		case 32:
			shift, mask = 5, (bytes-1)&^127
		}
		var s strings.Builder
		fmt.Fprintf(&s, perWarp, mask, shift, 7, max(lanes, 1)-1)
		for i := range 4 {
			fmt.Fprintf(&s, "\tmul s1, s1, s2\n\tadd s1, s1, s3\n\tsrli t%d, s1, 4\n\tand t%d, t%d, s4\n\tadd t%d, t%d, s0\n",
				i+2, i+2, i+2, i+2, i+2)
		}
		for i := range 4 {
			s.WriteString("\t" + strings.NewReplacer("AT", fmt.Sprint("t", i+2), "TO", fmt.Sprint("a", i+1)).Replace(operation) +
				"\n")
		}
		if strings.Contains(operation, "TO") {
			s.WriteString("\tadd a5, a1, a2\n\tadd a6, a3, a4\n")
		}
		s.WriteString("\taddi a7, a7, -1\n\tbnez a7, loop\n\ttmc zero")
		p := source(t, s.String())
		cores := len(r.m.Cores)
		if swept {
			r.launch(sweep(t, bytes, cores), 1)
		}
		return float64(cores*32*32*4) / r.each(p, 6)
	}
}

// sweep touches every line of an array.
func sweep(t *testing.T, bytes, cores int) *isa.Program {
	return source(t, fmt.Sprintf(`
_start:	la a0, warp
	li t0, 64
	wspawn t0, a0
warp:	li t0, -1
	tmc t0
	csrr t1, mhartid
	slli t1, t1, 6
	li s0, 0x10000000
	add s0, s0, t1
	li a7, %d
	li s1, %d
loop:	lw a0, 0(s0)
	add s0, s0, s1
	addi a7, a7, -1
	bnez a7, loop
	tmc zero`, max(1, (bytes+cores*131072-1)/(cores*131072)), cores*131072))
}

func instruction(text string, independent, warps int) func(*testing.T, string) float64 {
	return func(t *testing.T, machine string) float64 {
		r := newMicroRun(t, machine, "sockets=1")
		s := fmt.Sprintf(`
_start:	la a0, warp
	li t0, %d
	wspawn t0, a0
warp:	li t0, -1
	tmc t0
	csrr a7, mscratch
	li t1, 5
	fcvt.s.w ft1, t1
loop:
`, warps)
		for i := range 64 {
			s += "\t" + strings.ReplaceAll(text, "R", fmt.Sprint(2+i%independent)) + "\n"
		}
		p := source(t, s+"\taddi a7, a7, -1\n\tbnez a7, loop\n\ttmc zero")
		each := r.each(p, 8) / 64
		if warps == 1 {
			return each
		}
		return float64(warps) / each
	}
}

var updateSilicon = flag.Bool("silicon", false, "with HEDDLE_LONG=1: rewrite the table of docs/guide/gpu.md")

// measured returns the value of a micro-benchmark on an H100.
func measured(t *testing.T, benchmark, parameters string) float64 {
	f, err := os.Open("../docs/results/silicon/h100-micro2.csv")
	require.NoError(t, err)
	defer f.Close()
	table := csv.NewReader(f)
	table.FieldsPerRecord = -1
	rows, err := table.ReadAll()
	require.NoError(t, err)
	for _, row := range rows {
		if row[0] == benchmark && row[1] == parameters {
			v, err := strconv.ParseFloat(row[2], 64)
			require.NoError(t, err)
			return v
		}
	}
	require.Fail(t, "not measured", "%s, %s", benchmark, parameters)
	return 0
}

// TestGPUBesideSilicon compares gpu-16sm with an H100's micro-benchmarks: rates of the whole chip with 16/132 of them.
// The page has the results; without testenv.LongVariable, the test runs the rows that take little time.
func TestGPUBesideSilicon(t *testing.T) {
	const (
		mib         = 1 << 20
		page        = "../docs/guide/gpu.md"
		begin, end  = "| measured |", "\n\n"
		cycles, sm  = "cycles", "warp instructions a cycle an SM"
		lanes       = "lanes a cycle"
		chip, block = 16. / 132, "; 132 blocks of 1024; 4 in flight a thread"
		l1, l2      = "; 16 KiB" + block, "; 8192 KiB" + block
		line, word  = "random line a warp", "random word a lane"
		sector      = "random sector of 8 lanes"
		all         = "dependent; one warp"
		load, store = "lw TO, 0(AT)", "sw s1, 0(AT)"
		add         = "amofadd.w zero, s8, (AT)"
	)
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	table := "| measured | unit | H100 | gpu-16sm | simulated / H100 |\n|---|---|---:|---:|---:|\n"
	for _, c := range []struct {
		name, unit            string
		benchmark, parameters string
		share                 float64
		run                   func(*testing.T, string) float64
		quick                 bool
	}{
		{"load from the L1", cycles, "latency ld.ca", "chain over 16 KiB", 1, latency(512, 32, "lw a0, 0(a0)"), true},
		{"load from the L2", cycles, "latency ld.cg", "chain over 512 KiB", 1, latency(8192, 64, "lw a0, 0(a0)"), false},
		{"load from DRAM", cycles, "latency ld.cg", "chain over 1048576 KiB", 1, coldLatency(2048, 32<<10, "lw a0, 0(a0)"), true},
		{"atomic with result", cycles, "latency atom.add.u32 with result", "chain over 64 KiB", 1, latency(1024, 64, "amoadd.w a0, a2, (a0)"), true},
		{"integer, dependent", cycles, "latency lop3", all, 1, instruction("xor tR, tR, t1", 1, 1), true},
		{"shuffle, dependent", cycles, "latency shfl", all, 1, instruction("shfl.idx tR, tR, t1", 1, 1), true},
		{"float add, dependent", cycles, "latency fadd", all, 1, instruction("fadd.s ftR, ftR, ft1", 1, 1), true},
		{"u32 division, dependent", cycles, "latency idiv u32 (sequence)", all, 1, instruction("divu tR, tR, t1", 1, 1), true},
		{"f32 division, dependent", cycles, "latency fdiv (sequence)", all, 1, instruction("fdiv.s ftR, ftR, ft1", 1, 1), true},
		{"square root, dependent", cycles, "latency fsqrt (sequence)", all, 1, instruction("fsqrt.s ftR, ftR", 1, 1), true},
		{"integer, 32 warps", sm, "rate lop3", "4 independent; 32 warps", 1, instruction("xor tR, tR, t1", 4, 32), true},
		{"float add, 32 warps", sm, "rate fadd", "4 independent; 32 warps", 1, instruction("fadd.s ftR, ftR, ft1", 4, 32), true},
		{"load L1, random words", lanes, "load L1", word + l1, chip, rate(16<<10, 1, load, true), false},
		{"load L1, lines", lanes, "load L1", line + l1, chip, rate(16<<10, 32, load, true), false},
		{"load L2, random words", lanes, "load L2", word + l2, chip, rate(4*mib, 1, load, true), false},
		{"load L2, random sectors", lanes, "load L2", sector + l2, chip, rate(4*mib, 8, load, true), false},
		{"load L2, random lines", lanes, "load L2", line + l2, chip, rate(4*mib, 32, load, true), false},
		{"load DRAM, random words", lanes, "load DRAM", word + "; 1048576 KiB; 132 blocks of 1024; 16 in flight a thread", chip, rate(256*mib, 1, load, false), false},
		{"load DRAM, random lines", lanes, "load DRAM", line + "; 1048576 KiB; 132 blocks of 1024; 16 in flight a thread", chip, rate(256*mib, 32, load, false), false},
		{"store L2, random words", lanes, "store", word + l2, chip, rate(4*mib, 1, store, true), false},
		{"store L2, random lines", lanes, "store", line + l2, chip, rate(4*mib, 32, store, true), false},
		{"float atomics, random words", lanes, "red.add.f32", word + l2, chip, rate(4*mib, 1, add, true), false},
		{"float atomics, random sectors", lanes, "red.add.f32", sector + l2, chip, rate(4*mib, 8, add, true), false},
		{"float atomics, random lines", lanes, "red.add.f32", line + l2, chip, rate(4*mib, 32, add, true), false},
		{"float atomics, one word for all", lanes, "red.add.f32", word + "; 0 KiB" + block, 1, rate(4, 0, add, true), false},
	} {
		if !c.quick && testenv.Long(t) == 0 {
			continue
		}
		h100, got := measured(t, c.benchmark, c.parameters)*c.share, c.run(t, "gpu-16sm")
		row := fmt.Sprintf("| %s | %s | %.3g | %.3g | %.2f |\n", c.name, c.unit, h100, got, got/h100)
		table += row
		if !*updateSilicon {
			require.Contains(t, string(text), row, "HEDDLE_LONG=1 go test ./sim -run Silicon -silicon")
		}
	}
	if *updateSilicon {
		before, rest, ok := strings.Cut(string(text), begin)
		require.True(t, ok)
		_, after, _ := strings.Cut(rest, end)
		require.NoError(t, os.WriteFile(page, []byte(before+table+"\n"+after), 0o666))
	}
}
