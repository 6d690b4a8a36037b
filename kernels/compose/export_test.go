package compose

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/experiment/config"
	"heddle/graph"
	"heddle/graph/graphspec"
	"heddle/internal/testenv"
	"heddle/isa"
	"heddle/isa/elf"
	"heddle/isa/emu"
	"heddle/kernels/host"
	"heddle/kernels/workload"
	"heddle/sim"
)

// shapeOf is a preset's shape.
func shapeOf(t *testing.T, machine string) (configs.Machine, host.Shape) {
	cfg, err := configs.LoadMachine(machine, nil, nil)
	require.NoError(t, err)
	d, err := host.NewTimed(cfg.Value, sim.Options{})
	require.NoError(t, err)
	return cfg.Value, d.Shape()
}

func exportWorkload(t *testing.T, algorithm, schedule, direction string) workload.Workload {
	l, err := config.Load("quickstart", nil, []string{
		"workload.kernel=compiled", "workload.algorithm=" + algorithm, "workload.schedule=" + schedule, "workload.direction=" + direction,
		"workload.max_iterations=" + map[bool]string{true: "2", false: "0"}[algorithm == "pagerank"],
	})
	require.NoError(t, err)
	return l.Value.Workload
}

func exportGraph(t *testing.T, vertices, edges int) *graph.Graph {
	g, err := graph.Load(graphspec.Graph{ErdosRenyi: &graphspec.ErdosRenyi{Vertices: vertices, Edges: edges, Seed: 3}})
	require.NoError(t, err)
	return g
}

// exitCodes runs a program with time and without.
func exitCodes(t *testing.T, cfg configs.Machine, s host.Shape, p *isa.Program) (timed, functional uint32) {
	m, err := sim.New(cfg, sim.Options{MaxCycles: 3_000_000, Check: true})
	require.NoError(t, err)
	_, err = m.Run(context.Background(), p)
	require.NoError(t, err)
	timed, ok := m.Arch.ExitCode()
	require.True(t, ok)
	u, err := emu.New(emu.Config{Cores: s.Cores, Warps: s.Warps, Threads: s.Threads, ScratchpadBytes: s.ScratchpadBytes,
		MaxInstrs: 3_000_000})
	require.NoError(t, err)
	u.Load(p)
	require.NoError(t, u.Run(context.Background()))
	functional, ok = u.ExitCode()
	require.True(t, ok)
	return timed, functional
}

// spoil changes the value that an image expects of one vertex.
func spoil(t *testing.T, p *isa.Program) *isa.Program {
	at, ok := p.Symbol("driver.expected")
	require.True(t, ok)
	q := *p
	q.Segments = slices.Clone(p.Segments)
	for i := range q.Segments {
		s := &q.Segments[i]
		if o := at - s.Addr; at >= s.Addr && o < s.Size {
			s.Data = bytes.Clone(s.Data)
			word := binary.LittleEndian.Uint32(s.Data[o+4*17:])
			binary.LittleEndian.PutUint32(s.Data[o+4*17:], word+1<<20) // of a float, more than its value
		}
	}
	return &q
}

// An exported program computes the right result on machines of its shape, with time and without; if it expected
// another, it says so; and on a machine of another shape it does not begin. Without testenv.LongVariable, every second
// combination runs.
func TestExported(t *testing.T) {
	testenv.NeedSlow(t, "it exports and reads kernels of each plan")
	machines := []string{"vortex-rtl-a", "vortex-rtl-c", "vortex-rtl-d", "vortex-rtl-m6"}
	g := exportGraph(t, 70, 160)
	n, ran := 0, 0
	for _, algorithm := range []string{"pagerank", "pagerank-delta", "spmv", "bfs", "cc", "triangles"} {
		for _, schedule := range []string{"vertex", "edge", "warp", "cta"} {
			for _, direction := range []string{"pull", "push"} {
				if n++; (n+n/8)%2 > 0 && testenv.Long(t) == 0 {
					continue
				}
				name, machine := algorithm+"/"+schedule+"/"+direction, machines[ran%len(machines)]
				ran++
				t.Run(name+"/"+machine, func(t *testing.T) {
					cfg, s := shapeOf(t, machine)
					x, err := Export(context.Background(), s, g, exportWorkload(t, algorithm, schedule, direction))
					require.NoError(t, err)
					timed, functional := exitCodes(t, cfg, s, x.Program)
					assert.Equal(t, [2]uint32{0, 0}, [2]uint32{timed, functional})
					timed, functional = exitCodes(t, cfg, s, spoil(t, x.Program))
					assert.Equal(t, [2]uint32{ExitWrong, ExitWrong}, [2]uint32{timed, functional})
				})
			}
		}
	}
}

// An image of a search with max_iterations stops there, and expects the levels reached by then; algorithms whose
// intermediate results depend on timing are refused.
func TestExportedIsStopped(t *testing.T) {
	cfg, s := shapeOf(t, "vortex-rtl-c")
	g, w := exportGraph(t, 70, 160), exportWorkload(t, "bfs", "vertex", "push")
	w.Iterations = 2
	x, err := Export(context.Background(), s, g, w)
	require.NoError(t, err)
	require.Equal(t, 2, x.Steps)
	timed, functional := exitCodes(t, cfg, s, x.Program)
	assert.Equal(t, [2]uint32{0, 0}, [2]uint32{timed, functional})
	timed, functional = exitCodes(t, cfg, s, spoil(t, x.Program))
	assert.Equal(t, [2]uint32{ExitWrong, ExitWrong}, [2]uint32{timed, functional})

	w = exportWorkload(t, "sssp", "vertex", "push")
	w.Iterations = 2
	_, err = Export(context.Background(), s, g, w)
	require.ErrorContains(t, err, "workload.max_iterations = 2: it stops sssp where an image cannot check")
}

func TestExportedNeedsItsShape(t *testing.T) {
	_, s := shapeOf(t, "vortex-rtl-a")
	x, err := Export(context.Background(), s, exportGraph(t, 20, 30), exportWorkload(t, "bfs", "vertex", "pull"))
	require.NoError(t, err)
	assert.Equal(t, []string{"vote.ballot"}, x.Uses, "no atomics: one lane writes a vertex")
	cfg, other := shapeOf(t, "vortex-rtl-c")
	timed, functional := exitCodes(t, cfg, other, x.Program)
	assert.Equal(t, [2]uint32{ExitShape, ExitShape}, [2]uint32{timed, functional})
}

// An ELF file of it is the same program.
func TestExportedAsELF(t *testing.T) {
	cfg, s := shapeOf(t, "vortex-rtl-a")
	x, err := Export(context.Background(), s, exportGraph(t, 20, 30), exportWorkload(t, "pagerank", "edge", "push"))
	require.NoError(t, err)
	assert.Contains(t, x.Uses, "amofadd.w")
	var b bytes.Buffer
	require.NoError(t, elf.Write(&b, x.Program))
	p, err := elf.Read("x.elf", b.Bytes())
	require.NoError(t, err)
	timed, functional := exitCodes(t, cfg, s, p)
	assert.Equal(t, [2]uint32{0, 0}, [2]uint32{timed, functional})
}

func TestNotExported(t *testing.T) {
	_, s := shapeOf(t, "vortex-rtl-a")
	g := exportGraph(t, 20, 30)
	for _, c := range []struct{ set, why string }{
		{"direction=hybrid", "direction hybrid"},
		{"schedule=weaver", "needs a graph unit"},
		{"algorithm=k-core", "begin rounds"},
		{"algorithm=bfs-parents direction=pull", "cannot check"},
		{"set=qnb-bitmap", "frontier qnb-bitmap has a kernel of its own before each gather"},
		{"set=rqnb-bytemap direction=pull", "frontier rqnb-bytemap has a kernel of its own before each gather"},
		{"algorithm=sssp order=near-far", "order near-far has the host"},
		{"algorithm=sssp order=buckets", "order buckets has the host"},
	} {
		_, err := Export(context.Background(), s, g, choose(strings.Fields(c.set)...))
		require.ErrorContains(t, err, c.why, c.set)
	}
}
