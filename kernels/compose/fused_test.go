package compose

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/graph"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/kernels/host"
	"heddle/sim"
)

// sameRun: a fused run has computed what an unfused one has, in the same super-steps, by as many edges in each, at a
// single launch.
func sameRun(t *testing.T, p *Plan, g *graph.Graph, device func() host.Device) (host, fused Result) {
	q := *p
	run := func(fuse bool) Result {
		q.Fused = fuse
		r, err := Run(context.Background(), device(), g, workloadOf(&q))
		require.NoError(t, err)
		require.True(t, r.Verified)
		return r
	}
	host, fused = run(false), run(true)
	require.EqualValues(t, 1, fused.Times.Launches)
	require.NotEmpty(t, fused.Loops)
	// what a super-step changes is used in it already, or not
	if p.Algorithm.Name == "sssp" || p.Algorithm.Name == "cc" {
		return host, fused
	}
	require.Len(t, fused.Steps, len(host.Steps))
	for i := range host.Steps {
		if p.Algorithm.Dense || !p.pulls() { // which of a destination's edges still counts depends on what came before
			require.Equal(t, host.Steps[i].Handled(), fused.Steps[i].Handled(), "edges of super-step %d", i+1)
		}
		require.Equal(t, host.Steps[i].Frontier, fused.Steps[i].Frontier, "active in super-step %d", i+1)
	}
	return host, fused
}

// shapes have one core, which has no device-wide barriers, and several; odd numbers of warps and threads; one of each.
var shapes = []string{"1/1/1", "1/4/4", "1/3/2", "1/5/1", "2/4/4", "2/1/4", "3/2/2", "6/3/4"}

// timedOf is a machine of a shape.
func timedOf(t testing.TB, p *Plan, shape string, options sim.Options, set ...string) *host.Timed {
	t.Helper()
	var cores, warps, threads int
	_, err := fmt.Sscanf(shape, "%d/%d/%d", &cores, &warps, &threads)
	require.NoError(t, err)
	u := smallUnit(p.Schedule.UnitName())
	l, err := configs.LoadMachine(u.preset, nil, append(append([]string{
		fmt.Sprintf("sockets=%d", cores), fmt.Sprintf("core.warps=%d", warps), fmt.Sprintf("core.threads=%d", threads),
		"core.issue.slices=1", "l1d.bytes=2KiB", "l2.bytes=16KiB",
	}, u.set...), set...))
	require.NoError(t, err)
	d, err := host.NewTimed(l.Value, options)
	require.NoError(t, err)
	return d
}

// TestFusedInTime: with time they are right too, no invariant is broken, and what parts have come to adds up to the
// launch.
func TestFusedInTime(t *testing.T) {
	graphs := tiny()
	names := []string{"star", "chain", "skewed"}
	for i, p := range share(t, fusable, thinned(coveringFused, 64), 0) {
		shape := shapes[i%len(shapes)]
		t.Run(p.Name()+"/"+shape, func(t *testing.T) {
			t.Parallel()
			if p.Runs(timedOf(t, p, shape, sim.Options{}).Shape()) != nil {
				t.Skip("the machine lacks room")
			}
			var last *host.Timed
			_, r := sameRun(t, p, graphs[names[i%len(names)]], func() host.Device {
				last = timedOf(t, p, shape, sim.Options{MaxCycles: 20_000_000, Check: true})
				return last
			})
			require.NoError(t, last.Machine.CheckInvariants())
			sum := r.Init
			add := func(x *sim.Result) {
				sum.Cycles, sum.WarpInstrs, sum.Edges = sum.Cycles+x.Cycles, sum.WarpInstrs+x.WarpInstrs,
					sum.Edges+x.Edges
			}
			for i := range r.Steps {
				s := &r.Steps[i]
				for _, x := range append(append([]sim.Result{s.Topology, s.Register, s.Gather, s.Apply}, s.More...),
					s.Splits...) {
					add(&x)
				}
			}
			for i := range r.Loops {
				add(&r.Loops[i].Result)
			}
			for i := range r.Splits {
				add(&r.Splits[i])
			}
			require.Equal(t, r.Times.Cycles, sum.Cycles)
			require.Equal(t, last.Machine.Arch.Stats().WarpInstrs, sum.WarpInstrs)
			require.Equal(t, last.Machine.Arch.Stats().Edges, sum.Edges)
		})
	}
}

func TestFused(t *testing.T) {
	graphs := tiny()
	names := []string{"star", "chain", "skewed"}
	for i, p := range share(t, fusable, coveringFused, 0) {
		t.Run(p.Name(), func(t *testing.T) {
			t.Parallel()
			sameRun(t, p, graphs[names[i%len(names)]], func() host.Device { return functional(t, p) })
		})
	}
}

// kinds are the instructions by which the parts of a driver wait for each other: barriers that end a part, those of a
// core before its fence, and fences with the loads that wait for them.
func kinds(p *isa.Program) map[string][]uint32 {
	found, fenced := map[string][]uint32{}, false
	s := p.Segments[0]
	for at := s.Addr; at < s.Addr+s.Size; at += 4 {
		i, _ := isa.Decode(binary.LittleEndian.Uint32(s.Data[at-s.Addr:]))
		ends := slices.ContainsFunc(p.Symbols,
			func(x isa.Symbol) bool { return x.Addr == at && strings.HasPrefix(x.Name, emu.PartPrefix) })
		switch kind := i.Row.Name; {
		case kind == "fence", kind == "lw" && fenced:
			found["fence"] = append(found["fence"], at)
			fenced = kind == "fence"
		case kind == "bar" && ends:
			found["end"] = append(found["end"], at)
		case kind == "bar":
			found["meet"] = append(found["meet"], at)
		}
	}
	return found
}

// without is a program whose instructions at some addresses do nothing.
func without(p *isa.Program, list []uint32) *isa.Program {
	q := *p
	q.Segments = slices.Clone(p.Segments)
	s := &q.Segments[0]
	s.Data = slices.Clone(s.Data)
	for _, at := range list {
		binary.LittleEndian.PutUint32(s.Data[at-s.Addr:], 0x13)
	}
	return &q
}

// TestBarriersAndFencesCount: a driver that lacks its barriers or fences is found out, on one core and on several, by
// sums whose atomics no warp waits for.
func TestBarriersAndFencesCount(t *testing.T) {
	g := exportGraph(t, 300, 900)
	for _, c := range [][2]string{{"1/4/4", "end"}, {"1/4/4", "fence"}, {"3/4/4", "end"}} {
		shape, lacks := c[0], c[1]
		p := mustPlan(t, "algorithm=pagerank", "direction=push", "schedule=edge")
		p.Fused, p.Residual, p.Weights = true, true, g.WeightKind()
		run := func(lacks string) error {
			d := timedOf(t, p, shape, sim.Options{MaxCycles: 3_000_000}, "to_l2.request=100")
			compiled, err := Compile(p, d.Shape())
			require.NoError(t, err)
			r, err := compiled.newRun(d, g, workloadOf(p))
			require.NoError(t, err)
			loop := r.executor.(inLoop).loop
			all := kinds(loop.program)
			require.Equal(t, lacks != "", len(all[lacks]) > 0)
			require.Equal(t, map[bool]int{true: 3, false: 1}[shape[0] == '1'], len(all))
			loop.program = without(loop.program, all[lacks])
			_, err = r.runAndVerify(t.Context())
			return err
		}
		require.NoError(t, run(""), "%v", c)
		require.Error(t, run(lacks), "%v", c)
	}
}

// TestFusedWithToleranceOfNone: a tolerance says nothing of algorithms that sum up no changes; no kernel of theirs has
// a place for these.
func TestFusedWithToleranceOfNone(t *testing.T) {
	g := tiny()["skewed"]
	for _, algorithm := range []string{"bfs", "in-degree", "sssp", "k-core", "colouring", "stcon", "graphsum",
		"cc-soman"} {
		p, err := NewPlan(choose("algorithm=" + algorithm))
		require.NoError(t, err)
		p.Fused = true
		w := workloadOf(p)
		w.Tolerance = 1
		r, err := Run(context.Background(), functional(t, p), g, w)
		require.NoError(t, err, algorithm)
		require.True(t, r.Verified)
		require.EqualValues(t, 1, r.Times.Launches)
	}
}
