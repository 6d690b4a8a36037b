package codegen

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/weaver"
	"heddle/configs"
	"heddle/graph"
	"heddle/graph/graphspec"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/kernels"
	"heddle/kernels/host"
	"heddle/kernels/ir/example"
	"heddle/sim"
)

// yardstick graphs: a skewed one, a road-like one, and one of people.
func graphs(t *testing.T) map[string]*graph.Graph {
	list := map[string]*graph.Graph{}
	for name, c := range map[string]graphspec.Graph{
		"rmat":     {RMAT: &graphspec.RMAT{Scale: 10, EdgeFactor: 8, A: 0.57, B: 0.19, C: 0.19, ShuffleIDs: true, Seed: 1}},
		"grid":     {Grid: &graphspec.Grid{Width: 40, Height: 30, Seed: 1}},
		"facebook": {File: "facebook_combined"},
	} {
		g, err := graph.Load(c)
		require.NoError(t, err, name)
		list[name] = g
	}
	return list
}

// gather runs a gather once, with whole numbers to send, and checks the sums.
func gather(t *testing.T, d host.Device, p *isa.Program, g *graph.Graph) sim.Result {
	t.Helper()
	n := g.Vertices()
	send, want := make([]uint32, n), make([]float32, n)
	for u := range send {
		send[u] = math.Float32bits(float32(1 + u%50))
		for _, v := range g.CSR().Row(u) {
			want[v] += float32(1 + u%50)
		}
	}
	im := graph.NewImage(graph.ArrayBase, d.Shape().LineBytes, graph.Reserved(d.Shape().Lanes(), p)...)
	args := make([]uint32, 9)
	args[0], args[1] = uint32(n), uint32(g.Edges())
	for _, a := range []struct {
		word int
		name string
		data []uint32
	}{{2, "offsets", g.CSC().Offsets}, {3, "sources", g.CSC().IDs}, {4, "targets", g.COOByDestination().Destinations},
		{7, "contribution", send}, {8, "sum", make([]uint32, n)}} {
		at, err := im.Place(a.name, a.data)
		require.NoError(t, err)
		args[a.word] = at.Addr
	}
	block, err := im.Place("arguments", args)
	require.NoError(t, err)
	im.Write(d)
	r, err := d.Launch(context.Background(), p, block.Addr)
	require.NoError(t, err)
	require.EqualValues(t, g.Edges(), r.Edges)
	got := make([]uint32, n)
	d.ReadWords(args[8], got)
	for v := range got {
		require.Equal(t, want[v], math.Float32frombits(got[v]), "vertex %d", v)
	}
	return r
}

// yardstick is a schedule with its hand-written program.
type yardstick struct {
	name    string // of the kernel
	hand    string // of the program
	mask    bool
	defines []string
}

var yardsticks = []yardstick{
	{"pagerank_vertex", "pagerank_vertex", false, nil}, {"pagerank_vertex_ahead", "pagerank_vertex", false, nil},
	{"pagerank_edge", "pagerank_edge", false, nil},
	{"pagerank_weaver", "pagerank_weaver", false, nil}, {"pagerank_weaver", "pagerank_weaver", true, []string{"MASK_BY_UNIT"}},
}

func (y yardstick) programs(t *testing.T) (hand, compiled *isa.Program) {
	hand, err := kernels.Assemble(y.hand, emu.CodeBase, y.defines...)
	require.NoError(t, err)
	k, err := example.Kernels[y.name]()
	require.NoError(t, err)
	c, err := Compile(k, Options{MaskByUnit: y.mask})
	require.NoError(t, err)
	return hand, c.Program
}

// most is how many warp instructions compiled gathers may execute for one of the hand-written ones.
const most = 1.05

// TestAsGoodAsByHand: compiled gathers execute at most 5 % more warp instructions than
// hand-written ones, functional and timed.
func TestAsGoodAsByHand(t *testing.T) {
	for name, g := range graphs(t) {
		for _, y := range yardsticks {
			hand, compiled := y.programs(t)
			spec := weaver.DefaultSpec()
			spec.MaskByUnit = y.mask
			functional := func() host.Device {
				d, err := host.NewFunctional(emu.Config{Cores: 2, Warps: 4, Threads: 8, MaxInstrs: 100_000_000}, &spec)
				require.NoError(t, err)
				return d
			}
			h, c := gather(t, functional(), hand, g), gather(t, functional(), compiled, g)
			ratio := float64(c.WarpInstrs) / float64(h.WarpInstrs)
			t.Logf("%-9s %-16s mask %-5v functional %8d by hand %8d: %.3f", name, y.name, y.mask, c.WarpInstrs,
				h.WarpInstrs, ratio)
			require.LessOrEqual(t, ratio, most, "%s %s", name, y.name)
		}
	}
}

// TestAsGoodWithTime: the same, and cycles, on a timed machine.
func TestAsGoodWithTime(t *testing.T) {
	all := graphs(t)
	for _, name := range []string{"rmat", "grid"} {
		for _, y := range yardsticks {
			hand, compiled := y.programs(t)
			timed := func() host.Device {
				l, err := configs.LoadMachine("vortex-1c4w4t-weaver", nil,
					[]string{map[bool]string{false: "core.weaver.mask_by_unit=false",
						true: "core.weaver.mask_by_unit=true"}[y.mask]})
				require.NoError(t, err)
				d, err := host.NewTimed(l.Value, sim.Options{MaxCycles: 50_000_000})
				require.NoError(t, err)
				return d
			}
			h, c := gather(t, timed(), hand, all[name]), gather(t, timed(), compiled, all[name])
			instrs, cycles := float64(c.WarpInstrs)/float64(h.WarpInstrs), float64(c.Cycles)/float64(h.Cycles)
			t.Logf("%-9s %-16s mask %-5v timed %8d by hand %8d: %.3f; cycles %d, %d: %.3f", name, y.name, y.mask,
				c.WarpInstrs, h.WarpInstrs, instrs, c.Cycles, h.Cycles, cycles)
			require.LessOrEqual(t, instrs, most, "%s %s", name, y.name)
			if y.name != "pagerank_vertex" { // which loads where it uses, and the hand-written one ahead
				require.LessOrEqual(t, cycles, most, "cycles of %s %s", name, y.name)
			}
		}
	}
}
