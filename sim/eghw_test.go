package sim_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/eghw"
	"heddle/configs"
	"heddle/isa"
	"heddle/isa/asm"
	"heddle/isa/emu"
	"heddle/sim"
)

// eghwGraph is a random graph and testdata/eghw.s for it.
type eghwGraph struct {
	offsets, others, weights []uint32
}

func newEGHWGraph(seed uint64, vertices int) *eghwGraph {
	r := rand.New(rand.NewPCG(seed, 3))
	g := &eghwGraph{offsets: []uint32{0}}
	for range vertices {
		d := r.IntN(6)
		if r.IntN(20) == 0 {
			d = r.IntN(90)
		}
		for range d {
			g.others, g.weights = append(g.others, uint32(r.IntN(vertices))), append(g.weights, r.Uint32N(1000))
		}
		g.offsets = append(g.offsets, uint32(len(g.others)))
	}
	return g
}

func (g *eghwGraph) vertices() int { return len(g.offsets) - 1 }

func (g *eghwGraph) program(t testing.TB) *isa.Program {
	t.Helper()
	src, err := os.ReadFile("testdata/eghw.s")
	require.NoError(t, err)
	text := strings.Builder{}
	text.Write(src)
	fmt.Fprintf(&text, "\n.data\nheddle.eghw: .word %d, offsets, %d, others, weights\n.balign 64\n", g.vertices(),
		len(g.others))
	for _, a := range []struct {
		name  string
		words []uint32
	}{{"offsets", g.offsets}, {"others", g.others}, {"weights", g.weights}} {
		fmt.Fprintf(&text, "%s:\n", a.name)
		for _, w := range a.words {
			fmt.Fprintf(&text, ".word %d\n", w)
		}
	}
	p, err := asm.Assemble("eghw.s", []byte(text.String()),
		asm.Options{Base: 0x80000000, Defines: map[string]int64{"VERTICES": int64(g.vertices())}})
	require.NoError(t, err)
	return p
}

// check: every edge came as often as the program ran.
func (g *eghwGraph) check(t *testing.T, m *emu.Machine, runs uint32) {
	t.Helper()
	want := make([]uint32, 2*g.vertices())
	for v := range g.vertices() {
		for i := g.offsets[v]; i < g.offsets[v+1]; i++ {
			want[2*g.others[i]] += runs * uint32(v+1)
			want[2*g.others[i]+1] += runs * g.weights[i]
		}
	}
	got := make([]uint32, len(want))
	for i := range got {
		got[i] = m.Mem.Load32(0x90000000 + 4*uint32(i))
	}
	require.Equal(t, want, got)
}

// eghwCycles runs the graph's program twice with time, and once without.
func eghwCycles(t *testing.T, g *eghwGraph, machine string, set ...string) (uint64, *sim.Machine) {
	t.Helper()
	cfg, p := load(t, machine, set...), g.program(t)
	m, err := sim.New(cfg, sim.Options{MaxCycles: 5_000_000, Check: true})
	require.NoError(t, err)
	var cycles uint64
	var first sim.Result
	for i := range uint32(2) {
		r, err := m.Launch(context.Background(), p, 0)
		require.NoError(t, err)
		require.NoError(t, m.CheckInvariants())
		g.check(t, m.Arch, i+1)
		if cycles += r.Cycles; i == 0 {
			first = r
		}
	}
	require.EqualValues(t, 2*len(g.others), statistic(t, m, "eghw.edges.popped"))
	u := functionalEGHW(t, cfg, p)
	g.check(t, u, 1)
	require.Equal(t, u.Stats(), first.Stats, "the functional machine executes the same")
	return cycles, m
}

func functionalEGHW(t *testing.T, cfg configs.Machine, p *isa.Program) *emu.Machine {
	t.Helper()
	var h eghw.Host
	m, err := emu.New(emu.Config{Cores: cfg.Sockets * cfg.CoresPerSocket, Warps: cfg.Core.Warps,
		Threads: cfg.Core.Threads, Units: func(n int) []emu.Unit {
			u, err := eghw.NewFunctional(*cfg.Core.Unit.Spec.(*eghw.Spec), cfg.UnitShape(n))
			require.NoError(t, err)
			h.Units = append(h.Units, u.Engine)
			return []emu.Unit{u}
		}})
	require.NoError(t, err)
	require.NoError(t, h.Carry(p))
	m.Load(p)
	require.NoError(t, m.Run(context.Background()))
	return m
}

// TestEGHWPrograms: every edge once, on machines of several shapes.
func TestEGHWPrograms(t *testing.T) {
	g := newEGHWGraph(1, 300)
	for _, machine := range []string{"vortex-1c4w4t-eghw", "vortex-6c32w32t-eghw", "vortex-6c32w32t-sharedl1",
		"vortex-rtl-m6", "vortex-rtl-w1"} {
		for _, knobs := range []string{"", "bypass_l1=true",
			"outstanding_lines=1 lookahead=1 edges_per_read=1 request_queue=1"} {
			t.Run(machine+"/"+knobs, func(t *testing.T) {
				t.Parallel()
				set := []string{"core.eghw.buffer_latency=2"}
				for _, k := range strings.Fields(knobs) {
					set = append(set, "core.eghw."+k)
				}
				eghwCycles(t, g, machine, set...)
			})
		}
	}
}

// TestEveryEGHWKnobCounts turns each knob and asks for other cycles.
func TestEveryEGHWKnobCounts(t *testing.T) {
	g := newEGHWGraph(2, 600)
	base := []string{"core.warps=4", "core.threads=8"}
	want, m := eghwCycles(t, g, "vortex-6c32w32t-eghw", base...)
	for _, name := range []string{"pops.wait", "state.offsets", "state.edges", "state.writing", "state.reading",
		"lines.weights", "scratchpad.busy", "pops.partial"} {
		require.NotZero(t, statistic(t, m, "eghw."+name), name)
	}
	for _, name := range []string{"core.scheduler.stall.scoreboard.unit", "core.warps.unit_wait", "warp_instrs.unit"} {
		require.NotZero(t, statistic(t, m, name), name)
	}
	for _, k := range []string{"buffer_entries=24", "outstanding_lines=8", "lookahead=1", "edges_per_read=2",
		"write_words=1", "read_words=1", "buffer_latency=50", "bypass_l1=true", "request_queue=1"} {
		got, _ := eghwCycles(t, g, "vortex-6c32w32t-eghw", append(base, "core.eghw."+k)...)
		t.Logf("%-25s %6d cycles, without %d", k, got, want)
		require.NotEqual(t, want, got, k)
	}
	one, _ := eghwCycles(t, g, "vortex-6c32w32t-eghw",
		append(base, "core.eghw.outstanding_lines=1", "core.eghw.edges_per_read=1")...)
	require.Less(t, 3*want, 2*one, "reads one after the other conceal nothing of their latency")
}

// TestOrderOfEGHWIsNoInput: in whatever order units tick, the same happens.
func TestOrderOfEGHWIsNoInput(t *testing.T) {
	for _, set := range []string{"core.eghw.bypass_l1=true", "core.eghw.request_queue=1"} {
		cfg := load(t, "vortex-6c32w32t-eghw", "core.warps=4", "core.threads=8", set)
		sameInAllOrders(t, cfg, newEGHWGraph(3, 300).program(t), 2, 3)
	}
}

// TestEGHWErrors: errors describe the cause and its position.
func TestEGHWErrors(t *testing.T) {
	for set, says := range map[string]string{
		"core.eghw.buffer_entries=10":                       "core.eghw.buffer_entries: 10: 4 lanes and lines of 64 bytes need 19",
		"core.eghw.buffer_entries=1400":                     "of a scratchpad that has 16384",
		"core.weaver.st_entries=8":                          "core.eghw: the core has a Weaver",
		"core.hwwl.bytes=4KiB":                              "core.eghw: the core has a hardware worklist",
		"core.eghw.outstanding_lines=0":                     "outstanding_lines",
		"core.eghw.bypass_l1=true sockets=64 l2.bytes=1MiB": "L1s and graph units have 192 ports",
		"core.eghw.buffer_entries=40 l1d.line_bytes=256 l1i.line_bytes=256 core.warps=4": "need 67",
	} {
		_, err := configs.LoadMachine("vortex-1c4w4t-eghw", nil, strings.Fields(set))
		require.ErrorContains(t, err, says, set)
	}
	for text, says := range map[string]string{
		"eghw.pop a0": "no set-up",
		"li a0, 7\n eghw.push a0\n.data\nheddle.eghw: .word 7, list, 0, 0, 0\nlist: .word 0, 0, 0, 0, 0, 0, 0, 0":                                              "eghw.push of vertex 7: the set-up says there are 7",
		"li a0, 1\n li a1, 20\nl: eghw.push a0\n addi a1, a1, -1\n bnez a1, l\n.data\nheddle.eghw: .word 7, list, 0, 0, 0\nlist: .word 0, 0, 0, 0, 0, 0, 0, 0": "after 16 whose edges have not all been taken",
	} {
		m, err := sim.New(load(t, "vortex-1c4w4t-eghw"), sim.Options{MaxCycles: 100_000})
		require.NoError(t, err)
		_, err = m.Run(context.Background(), source(t, strings.Replace(text, "\n.data", "\n tmc zero\n.data", 1)))
		var trap *emu.Trap
		require.True(t, errors.As(err, &trap), "%v", err)
		require.ErrorContains(t, err, says)
	}
	m, err := sim.New(load(t, "vortex-1c4w4t-eghw"), sim.Options{MaxCycles: 100_000})
	require.NoError(t, err)
	_, err = m.Run(context.Background(), source(t,
		"li a0, 1\n eghw.push a0\nl: j l\n.data\nheddle.eghw: .word 7, list, 3, list, 0\nlist: .word 0, 9, 3, 0, 0, 0, 0, 0"))
	require.ErrorContains(t, err, "eghw of core 0: vertex 1: its edges are 9..3")
	m, err = sim.New(load(t, "vortex-1c4w4t-eghw"), sim.Options{})
	require.NoError(t, err)
	require.ErrorContains(t, m.Hand().(eghw.Host).Configure(eghw.Setup{Vertices: 1, Offsets: 6}), "offsets")
}

// TestEGHWIsInTheReport of a stuck machine: it names the cause for which the unit's pops wait.
func TestEGHWIsInTheReport(t *testing.T) {
	m, err := sim.New(load(t, "vortex-1c4w4t-eghw"), sim.Options{})
	require.NoError(t, err)
	// Warp 0 waits for edges in a barrier that warp 1 does not come to.
	p := source(t, "li a0, 1\n eghw.push a0\n li a1, 2\n bar zero, a1\n tmc zero\n.data\nheddle.eghw: .word 7, list, 9, "+
		"list, 0\nlist: .word 0, 2, 9, 9, 9, 9, 9, 9, 9")
	_, err = m.Run(context.Background(), p)
	var stall *sim.StallError
	require.True(t, errors.As(err, &stall), "%v", err)
	require.Contains(t, strings.Join(stall.Waits, "\n"), "Core0.EGHW: 0 pops wait, the oldest: idle; 7 edges are ready")
}
