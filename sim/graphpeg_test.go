package sim_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/graphpeg"
	"heddle/configs"
	"heddle/internal/testenv"
	"heddle/isa"
	"heddle/isa/asm"
	"heddle/isa/emu"
	"heddle/sim"
)

const pegOut = 0x90000000

// pegGraph is a random graph, of which some vertices are in the input list.
type pegGraph struct {
	offsets, neighbours, owner, list []uint32
	pull                             bool
}

func newPegGraph(seed uint64, vertices, hub int) *pegGraph {
	r := rand.New(rand.NewPCG(seed, 5))
	g := &pegGraph{offsets: []uint32{0}, pull: seed%2 == 1}
	for v := range vertices {
		degree := r.IntN(9) * r.IntN(2)
		if v == vertices/20 {
			degree = hub
		}
		for range degree {
			g.neighbours, g.owner = append(g.neighbours, uint32(r.IntN(vertices))), append(g.owner, uint32(v))
		}
		g.offsets = append(g.offsets, uint32(len(g.neighbours)))
		if r.IntN(4) > 0 || v == vertices/20 {
			g.list = append(g.list, uint32(v))
		}
	}
	return g
}

func pegWeight(edge int) uint32 { return uint32(5*edge + 2) }

// program is testdata/peg.s with the graph and a set-up behind it.
func (g *pegGraph) program(t testing.TB) *isa.Program {
	t.Helper()
	src, err := os.ReadFile("testdata/peg.s")
	require.NoError(t, err)
	return g.after(t, string(src), 15)
}

// after is a program with the graph and a set-up behind it.
func (g *pegGraph) after(t testing.TB, src string, fields int) *isa.Program {
	t.Helper()
	text := strings.Builder{}
	text.WriteString(src)
	words := func(label string, v []uint32) {
		fmt.Fprintf(&text, "\n\t.align 7\n%s:", label)
		for _, w := range v {
			fmt.Fprintf(&text, "\n\t.word %d", w)
		}
	}
	weights := []uint32{}
	for i := range g.neighbours {
		weights = append(weights, pegWeight(i))
	}
	pull := 0
	if g.pull {
		pull = 1
	}
	text.WriteString("\n\t.data")
	words("offsets", g.offsets)
	words("neighbours", g.neighbours)
	words("weights", weights)
	words("list", g.list)
	fmt.Fprintf(&text, "\nheddle.peg:\n\t.word 0, %d, %d, %d, offsets, %d, neighbours, weights, 0, 1, 0x40000000, %d, "+
		"list, 0\n", pull, fields, len(g.offsets)-1, len(g.neighbours), len(g.list))
	p, err := asm.Assemble("peg.s", []byte(text.String()), asm.Options{Base: 0x80000000})
	require.NoError(t, err)
	return p
}

// edges is how many the input list has.
func (g *pegGraph) edges() (n uint64) {
	for _, v := range g.list {
		n += uint64(g.offsets[v+1] - g.offsets[v])
	}
	return n
}

// check: every edge of the list's vertices has come as often as the program ran, with its fields; no other
// has; and the pushed vertices are in list 1.
func (g *pegGraph) check(t *testing.T, m *emu.Machine, h graphpeg.Host, runs uint32) {
	t.Helper()
	active := make([]bool, len(g.offsets))
	for _, v := range g.list {
		active[v] = true
	}
	var pushed []uint32
	for i, v := range g.owner {
		at := uint32(pegOut + 16*i)
		if !active[v] {
			require.Zero(t, m.Mem.Load32(at), "edge %d", i)
			continue
		}
		src, dst := v, g.neighbours[i]
		if g.pull {
			src, dst = dst, src
		}
		got := [4]uint32{m.Mem.Load32(at), m.Mem.Load32(at + 4), m.Mem.Load32(at + 8), m.Mem.Load32(at + 12)}
		require.Equal(t, [4]uint32{runs, src, dst, pegWeight(i)}, got, "edge %d", i)
		if dst%2 == 0 {
			pushed = append(pushed, dst)
		}
	}
	got := h.Read(1)
	slices.Sort(got)
	slices.Sort(pushed)
	require.Equal(t, pushed, got)
}

// functionalPeg runs the program on the functional model of the machine.
func functionalPeg(t *testing.T, cfg configs.Machine, p *isa.Program) (*emu.Machine, graphpeg.Host) {
	t.Helper()
	var h graphpeg.Host
	cores := cfg.Sockets * cfg.CoresPerSocket
	m, err := emu.New(emu.Config{Cores: cores, Warps: cfg.Core.Warps, Threads: cfg.Core.Threads,
		Units: func(n int) []emu.Unit {
			u, err := graphpeg.NewFunctional(*cfg.Core.Unit.Spec.(*graphpeg.Spec), cfg.UnitShape(n))
			require.NoError(t, err)
			h.Units = append(h.Units, u.Engine)
			return []emu.Unit{u}
		}})
	require.NoError(t, err)
	require.NoError(t, h.Carry(p))
	m.Load(p)
	require.NoError(t, m.Run(context.Background()))
	return m, h
}

// TestPegPrograms: every edge once, timed and functional, on machines of several shapes, with every knob.
func TestPegPrograms(t *testing.T) {
	for i, machine := range []string{"vortex-1c4w4t", "vortex-6c32w32t", "vortex-6c32w32t-sharedl1", "graphpeg-15sm"} {
		for j, knobs := range []string{
			"", "core.graphpeg.alwt_entries=2", "core.graphpeg.edge_buffer_bytes=1KiB", "core.graphpeg.pop_order=arrival", "core.graphpeg.fe_release=return",
			"core.graphpeg.bypass_l1=false", "core.graphpeg.scratchpad_limit=8KiB", "core.graphpeg.request_queue=1 core.graphpeg.buffer_latency=40",
			"core.graphpeg.spill=vertex core.graphpeg.scratchpad_limit=4KiB", "ctrlproc.latency=0 ctrlproc.interval=20", "ctrlproc.policy=none", "ctrlproc.policy=vl ctrlproc.interval=60", "ctrlproc.policy=ef+vl ctrlproc.interval=20 ctrlproc.latency=1", "ctrlproc.policy=ideal", "ctrlproc.interval=30 ctrlproc.latency=1", "ctrlproc.interval=10 ctrlproc.latency=70 core.graphpeg.donation_priority=donation",
		} {
			if knobs != "" && (i+j)%2 == 0 && testenv.Long(t) == 0 {
				continue // each on two of the machines
			}
			t.Run(machine+"/"+knobs, func(t *testing.T) {
				t.Parallel()
				g := newPegGraph(uint64(10*i+j), 400, 900)
				p := g.program(t)
				cfg := load(t, machine, append([]string{"core.scratchpad_bytes=48KiB", "core.graphpeg.vertex_lists=3"},
					strings.Fields(knobs)...)...)
				m, err := sim.New(cfg, sim.Options{MaxCycles: 3_000_000, Check: true})
				require.NoError(t, err)
				for n := range uint32(2) {
					_, err = m.Launch(context.Background(), p, 0)
					require.NoError(t, err)
					require.NoError(t, m.CheckInvariants())
					g.check(t, m.Arch, m.Hand().(graphpeg.Host), n+1)
					require.EqualValues(t, uint64(n+1)*g.edges(), statistic(t, m, "peg.edges.popped"))
				}
				u, h := functionalPeg(t, cfg, p)
				g.check(t, u, h, 1)
			})
		}
	}
}

func statistic(t *testing.T, m *sim.Machine, name string) float64 {
	t.Helper()
	s, ok := m.Statistics().Get(name)
	require.True(t, ok, name)
	return s.Float()
}
