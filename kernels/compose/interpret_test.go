package compose

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/accel"
	"heddle/graph"
	"heddle/graph/graphspec"
	"heddle/isa/emu"
	"heddle/kernels/host"
	"heddle/kernels/ir"
	"heddle/kernels/workload"
	"heddle/sim"
)

// interpreter runs kernels as they were built, without a compiler.
type interpreter struct {
	mem   *emu.Memory
	shape host.Shape
	units []emu.Unit
}

func newInterpreter(t testing.TB, unit string, cores, warps, threads int) *interpreter {
	m := &interpreter{mem: emu.NewMemory(), shape: host.Shape{
		Cores: cores, Warps: warps, Threads: threads, ScratchpadBytes: 16 << 10, LineBytes: 64, Unit: unit,
	}}
	for c := range cores {
		m.plug(t, accel.Shape{Core: c, Cores: cores, Warps: warps, Threads: threads, LineBytes: 64})
	}
	return m
}

// plug gives the next core its unit.
func (m *interpreter) plug(t testing.TB, s accel.Shape) {
	spec := smallUnit(m.shape.Unit).functional
	if spec == nil {
		return
	}
	u, err := spec.NewFunctional(s)
	require.NoError(t, err)
	if x, ok := u.(emu.MemoryUnit); ok {
		x.UseMemory(m.mem)
	}
	m.units = append(m.units, u)
}

func (m *interpreter) Hand() accel.Hand { return accel.HandOn(m.units) }

func (m *interpreter) Shape() host.Shape        { return m.shape }
func (m *interpreter) Reserved() []graph.Region { return graph.Reserved(m.shape.Lanes(), nil) }

func (m *interpreter) BeginStep(int) error { return nil }

func (m *interpreter) Resume(any) (bool, error) { return false, nil }

func (m *interpreter) Keep(int) {}

func (m *interpreter) Frontier(int, uint64, uint64) {}

func (m *interpreter) LaneEdges([]uint64) []uint64 { return nil }

func (m *interpreter) ReadWords(addr uint32, words []uint32) {
	for i := range words {
		words[i] = m.mem.Load32(addr + 4*uint32(i))
	}
}

func (m *interpreter) WriteWords(addr uint32, words []uint32) {
	for i, w := range words {
		m.mem.Write(addr+4*uint32(i), binary.LittleEndian.AppendUint32(nil, w))
	}
}

func (m *interpreter) ShareWords(addr uint32, words []uint32) { m.mem.Share(addr, words) }

func (m *interpreter) Launch(_ context.Context, k *ir.Kernel, arg uint32) (sim.Result, error) {
	s := m.shape
	c, err := ir.Run(k, ir.Machine{Cores: s.Cores, Warps: s.Warps, Threads: s.Threads, Mem: m.mem, Args: arg,
		MaxSteps: 5_000_000,
		Units: func(core int) []emu.Unit {
			if s.Unit == "" {
				return nil
			}
			return m.units[core : core+1]
		}})
	return sim.Result{Stats: emu.Stats{Edges: c.Edges}}, err
}

// read makes a symmetric graph of lines "from to weight", counted from 1.
func read(n int, lines ...string) *graph.Graph {
	name := "test.mtx"
	text := fmt.Sprintf("%%%%MatrixMarket matrix coordinate integer symmetric\n%d %d %d\n%s\n", n, n, len(lines),
		strings.Join(lines, "\n"))
	f, err := os.CreateTemp("", "*-"+name)
	if err != nil {
		panic(err)
	}
	defer os.Remove(f.Name())
	if _, err := f.WriteString(text); err != nil {
		panic(err)
	}
	g, err := graph.Load(graphspec.Graph{File: f.Name()})
	if err != nil {
		panic(err)
	}
	return g
}

// tiny are three graphs: a star, whose centre's row is longer than a warp; a chain and a
// triangle apart from it, which take many super-steps; a skewed one of many rows.
func tiny() map[string]*graph.Graph {
	var star, chain, skewed []string
	for v := 2; v <= 23; v++ {
		star = append(star, fmt.Sprintf("%d 1 %d", v, v%5+1))
	}
	for v := 2; v <= 9; v++ {
		chain = append(chain, fmt.Sprintf("%d %d %d", v, v-1, 9-v))
	}
	chain = append(chain, "11 10 3", "12 11 1", "12 10 1")
	seen := map[[2]int]bool{}
	for x := uint32(1); len(skewed) < 120; {
		x = x*1664525 + 1013904223
		a, b := int(x>>8%37)%37, int(x>>16%37)*int(x>>24%37)%37
		if a < b {
			a, b = b, a
		}
		if a != b && !seen[[2]int{a, b}] {
			seen[[2]int{a, b}] = true
			skewed = append(skewed, fmt.Sprintf("%d %d %d", a+1, b+1, x>>28))
		}
	}
	return map[string]*graph.Graph{"star": read(23, star...), "chain": read(13, chain...),
		"skewed": read(40, skewed...)}
}

// workloadOf returns a workload that makes the plan's choices.
func workloadOf(p *Plan) workload.Workload {
	w := p.Workload(workload.Workload{HybridRule: "beamer", Alpha: 4, Beta: 4, Source: -1, Target: -1, Seed: 1,
		Damping: 0.85, Width: 4})
	switch p.Algorithm.Name {
	case "pagerank":
		w.Iterations, w.Tolerance = 2, 1e-30
	case "pagerank-delta":
		w.Threshold, w.Tolerance = 0.05, 1e-30
	}
	return w
}

// poison fills the gaps between arrays, so that a kernel that reads there does not go on as with zeros.
func poison(m *interpreter, arrays []graph.Region) {
	for _, a := range arrays {
		for at := a.Addr + uint32(a.Size); at%uint32(m.shape.LineBytes) != 0; at += 4 {
			m.mem.Store32(at, 0xBAD0BAD0)
		}
	}
}

// TestAllOnTheInterpreter: legal combinations, as they are built, compute the right result, each on one of the graphs.
func TestAllOnTheInterpreter(t *testing.T) {
	graphs := tiny()
	names := []string{"star", "chain", "skewed"}
	for i, p := range share(t, legal, covering, 400) {
		t.Run(p.Name(), func(t *testing.T) {
			t.Parallel()
			w, g := workloadOf(p), graphs[names[i%len(names)]]
			q, err := NewPlan(w)
			require.NoError(t, err)
			q.Weights = g.WeightKind()
			m := newInterpreter(t, p.Schedule.UnitName(), 2, 3, 4)
			ks, err := q.Build(coreOf(m.shape))
			require.NoError(t, err)
			r, err := newRun(m, q, ks, g, w)
			require.NoError(t, err)
			poison(m, r.Layout)
			res, err := r.runAndVerify(context.Background())
			require.NoError(t, err)
			require.True(t, res.Verified)
		})
	}
}

// TestNothingLeftToPull: once all vertices have been reached while some are still active, the list of those that can
// take something is empty; no kernel reads in front of its arrays then.
func TestNothingLeftToPull(t *testing.T) {
	for _, s := range []string{"vertex/csc/pull/rqnb-bitmap", "warp/csc/pull/rqnb-bitmap/shuffle",
		"cta/csc/pull/rqnb-bitmap/shuffle", "twc/csc/pull/rqnb-bitmap/shuffle", "twce/csc/pull/rqnb-bytemap/shuffle",
		"strict/csc/pull/rqnb-bitmap/shuffle", "strict/csc/pull/rqnb-bytemap/scratchpad"} {
		p := ByName("bfs/" + s)
		require.NotNil(t, p, s)
		w, g := workloadOf(p), tiny()["star"]
		w.Source = 0
		q, err := NewPlan(w)
		require.NoError(t, err)
		m := newInterpreter(t, "", 2, 3, 4)
		ks, err := q.Build(coreOf(m.shape))
		require.NoError(t, err)
		r, err := newRun(m, q, ks, g, w)
		require.NoError(t, err)
		poison(m, r.Layout)
		res, err := r.runAndVerify(t.Context())
		require.NoError(t, err, s)
		require.True(t, res.Verified)
	}
}
