package pagerank

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/accel"
	"heddle/components/weaver"
	"heddle/graph"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/kernels"
	"heddle/kernels/host"
	"heddle/kernels/reference"
	"heddle/sim"
)

// device is a way to run a schedule.
type device struct {
	name     string
	schedule Schedule
	weaver   *weaver.Spec
}

// devices are all schedules, with Weavers of several kinds.
func devices() []device {
	spec := func(entries int, mask bool) *weaver.Spec {
		return &weaver.Spec{STEntries: entries, DTEntries: 1 << 11, MaskByUnit: mask}
	}
	return []device{
		{"vertex", Vertex, nil}, {"edge", Edge, nil},
		{"weaver", Weaver, spec(512, false)}, {"weaver-mask", Weaver, spec(512, true)},
		{"weaver-5", Weaver, spec(5, false)}, {"weaver-5-mask", Weaver, spec(5, true)}, {"weaver-1", Weaver, spec(1, false)},
	}
}

type shape struct{ cores, warps, threads int }

var shapes = []shape{{1, 1, 1}, {1, 1, 4}, {1, 4, 1}, {1, 4, 4}, {3, 2, 8}, {1, 3, 6}, {2, 5, 16}, {2, 32, 32}}

// unit is its graph unit; nil: none.
func (d device) unit() accel.Spec {
	if d.weaver == nil {
		return nil
	}
	return d.weaver
}

func (d device) functional(t testing.TB, s shape) *host.Functional {
	t.Helper()
	u, err := host.NewFunctional(emu.Config{Cores: s.cores, Warps: s.warps, Threads: s.threads, MaxInstrs: 50_000_000,
		Quantum: 7}, d.unit())
	require.NoError(t, err)
	return u
}

func options(s Schedule) Options {
	o := DefaultOptions(s)
	o.MaxIterations = 3
	o.Tolerance = 1e-30
	return o
}

// TestAllSchedules: every schedule, on every graph and shape, computes the reference's ranks.
func TestAllSchedules(t *testing.T) {
	for _, d := range devices() {
		for _, s := range shapes {
			t.Run(fmt.Sprintf("%s/%d-%d-%d", d.name, s.cores, s.warps, s.threads), func(t *testing.T) {
				t.Parallel()
				for name, g := range graphs() {
					r, err := Run(context.Background(), d.functional(t, s), g, options(d.schedule))
					require.NoError(t, err, name)
					require.True(t, r.Verified, name)
					require.Len(t, r.Ranks, g.Vertices())
					require.EqualValues(t, 1+2*len(r.Steps), r.Times.Launches)
					require.Equal(t, r.Times.Launches*2000, r.Times.Overhead)
				}
			})
		}
	}
}

// TestGatherIsExact: with whole numbers to send, sums have no rounding, so that an edge
// too few, too many or from elsewhere shows, however many edges a vertex has.
func TestGatherIsExact(t *testing.T) {
	for _, d := range devices() {
		for _, s := range shapes {
			for name, g := range graphs() {
				send, want := wholeNumbers(g)
				r, err := newRun(d.functional(t, s), arrays(g, d.schedule), g.CSR(), options(d.schedule))
				require.NoError(t, err)
				r.host.WriteWords(r.args[argContribution], send)
				_, err = r.host.Launch(context.Background(), r.programs.gather, r.argsAt)
				require.NoError(t, err)
				require.Equal(t, want, r.host.Floats(r.args[argSum], g.Vertices()), "%s %v %s", d.name, s, name)
			}
		}
	}
}

// wholeNumbers draws integers that vertices send, and their sums.
func wholeNumbers(g *graph.Graph) (send []uint32, sums []float32) {
	send, sums = make([]uint32, g.Vertices()), make([]float32, g.Vertices())
	r := rand.New(rand.NewPCG(3, 3))
	for u := range send {
		x := float32(1 + r.IntN(1000))
		send[u] = math.Float32bits(x)
		for _, v := range g.CSR().Row(u) {
			sums[v] += x
		}
	}
	return send, sums
}

// TestSchedulesDoTheSameInitAndApply: instruction by instruction.
func TestSchedulesDoTheSameInitAndApply(t *testing.T) {
	g, s := skewed(211, 1777, 1), shape{2, 4, 8}
	var want Result
	for i, d := range devices() {
		r, err := Run(context.Background(), d.functional(t, s), g, options(d.schedule))
		require.NoError(t, err)
		if i == 0 {
			want = r
		}
		require.Equal(t, want.Init, r.Init)
		for k := range r.Steps {
			require.Equal(t, want.Steps[k].Apply, r.Steps[k].Apply)
		}
	}
}

// TestRandom: random graphs, shapes and Weavers.
func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	for i := range 150 {
		n := 1 + r.IntN(400)
		g := skewed(n, r.IntN(4*n), r.Uint64())
		s := shape{1 + r.IntN(4), 1 + r.IntN(9), 1 + r.IntN(32)}
		spec := &weaver.Spec{STEntries: 1 + r.IntN(300), DTEntries: 1 << 10, MaskByUnit: r.IntN(2) == 0}
		d := device{weaver: spec, schedule: Schedules()[i%3]}
		got, err := Run(context.Background(), d.functional(t, s), g, options(d.schedule))
		require.NoError(t, err, "case %d: %s, %d vertices, %d edges, %+v, %+v", i, d.schedule, n, g.Edges(), s, *spec)
		require.True(t, got.Verified)
	}
}

// TestRunsOnOneDevice: state left by an earlier run does not change the result.
func TestRunsOnOneDevice(t *testing.T) {
	spec := weaver.DefaultSpec()
	d := device{weaver: &spec}.functional(t, shape{2, 4, 8})
	for _, g := range []*graph.Graph{skewed(211, 1777, 1), star(70), skewed(300, 900, 3)} {
		for _, s := range Schedules() {
			r, err := Run(context.Background(), d, g, options(s))
			require.NoError(t, err)
			require.True(t, r.Verified)
		}
	}
}

// TestConvergence: the run ends in the first step whose changes are not above the tolerance.
func TestConvergence(t *testing.T) {
	g := skewed(211, 1777, 1)
	for _, d := range devices()[:3] {
		o := DefaultOptions(d.schedule)
		o.Tolerance, o.MaxIterations = 1e-4, 100
		r, err := Run(context.Background(), d.functional(t, shape{2, 4, 8}), g, o)
		require.NoError(t, err)
		require.True(t, r.Converged)
		for i, s := range r.Steps {
			require.Equal(t, i == len(r.Steps)-1, s.Residual <= o.Tolerance)
		}
		o.MaxIterations = len(r.Steps) - 1
		r, err = Run(context.Background(), d.functional(t, shape{2, 4, 8}), g, o)
		require.NoError(t, err)
		require.False(t, r.Converged)
		require.True(t, r.Verified)
	}
}

// change drops (by = -1), keeps (0) or repeats (1) an edge that the device is given.
func (in inEdges) change(e, by int, target uint32) inEdges {
	in.offsets, in.sources, in.targets = slices.Clone(in.offsets), slices.Clone(in.sources), slices.Clone(in.targets)
	one := func(list []uint32) []uint32 {
		switch {
		case list == nil || by == 0:
			return list
		case by < 0:
			return slices.Delete(list, e, e+1)
		}
		return slices.Insert(list, e, list[e])
	}
	in.sources, in.targets = one(in.sources), one(in.targets)
	for v := int(target) + 1; v < len(in.offsets); v++ {
		in.offsets[v] += uint32(by)
	}
	return in
}

// TestWrongEdgesFail: the run fails if its input has an edge too few or too many, or a wrong one.
func TestWrongEdgesFail(t *testing.T) {
	g := skewed(211, 1777, 1)
	to := g.COOByDestination().Destinations
	for _, d := range devices()[:3] {
		o := options(d.schedule)
		o.MaxIterations, o.Tolerance = 1, 0
		fails := func(in inEdges) error {
			r, err := newRun(d.functional(t, shape{2, 4, 8}), in, g.CSR(), o)
			require.NoError(t, err)
			require.NoError(t, r.Do(context.Background()))
			err = r.verify()
			require.False(t, r.Verified)
			require.ErrorIs(t, err, reference.ErrWrong)
			return err
		}
		for e := 0; e < g.Edges(); e += 50 {
			in := arrays(g, d.schedule)
			require.ErrorContains(t, fails(in.change(e, -1, to[e])), "handled 1776 edges, and the graph has 1777")
			require.ErrorContains(t, fails(in.change(e, 1, to[e])), "handled 1778 edges, and the graph has 1777")
			in = in.change(e, 0, to[e])
			in.sources[e] = (in.sources[e] + 100) % 211
			var m *reference.Mismatch
			require.True(t, errors.As(fails(in), &m))
			require.EqualValues(t, to[e], m.Vertex)
			require.Zero(t, m.Others)
		}
	}
}

// meddler changes a word after some launches.
type meddler struct {
	host.Device
	launches int
	change   func()
}

func (m *meddler) Launch(ctx context.Context, p *isa.Program, arg uint32) (sim.Result, error) {
	r, err := m.Device.Launch(ctx, p, arg)
	if m.launches--; m.launches == 0 {
		m.change()
	}
	return r, err
}

// TestOneVertexSlightlyOffFails: by a little more than rounding explains, in its rank;
// and with it in the sum of changes.
func TestOneVertexSlightlyOffFails(t *testing.T) {
	g := skewed(211, 1777, 1)
	check := reference.NewPageRankCheck(g.CSR(), 0.85)
	check.Step()
	check.Step()
	const v = 60
	for _, c := range []struct {
		far   float64
		wrong bool
	}{{0.9, false}, {1.1, true}, {-0.9, false}, {-1.1, true}, {math.NaN(), true}, {math.Inf(1), true}} {
		d := devices()[0].functional(t, shape{1, 4, 4})
		o := options(Vertex)
		o.MaxIterations, o.Tolerance = 2, 0
		m := &meddler{Device: d, launches: 5}
		r, err := newRun(m, arrays(g, o.Schedule), g.CSR(), o)
		require.NoError(t, err)
		m.change = func() {
			x := float32(check.Rank[v] + c.far*check.Bound[v])
			d.WriteWords(r.args[argRank]+4*v, []uint32{math.Float32bits(x)})
		}
		require.NoError(t, r.Do(context.Background()))
		err = r.verify()
		var wrong *reference.Mismatch
		require.Equal(t, c.wrong, errors.As(err, &wrong), "%g: %v", c.far, err)
		if c.wrong {
			require.Equal(t, v, wrong.Vertex)
			require.ErrorContains(t, err, "rank of vertex 60 is ")
			require.ErrorContains(t, err, "rounding of 2 super-steps, u = 2^-24, sums of up to ")
		}
	}
}

// TestProgramsAndArgumentsAgree: every offset that a program names is the block's.
func TestProgramsAndArgumentsAgree(t *testing.T) {
	word := regexp.MustCompile(`(?m)^\.equ\s+(\w+),\s*(\d+)\s`)
	seen := map[string]bool{}
	for _, name := range kernels.Names() {
		src, err := kernels.Source(name)
		require.NoError(t, err)
		for _, m := range word.FindAllStringSubmatch(string(src), -1) {
			arg := slices.Index(argumentNames[:], m[1])
			require.NotEqual(t, -1, arg, "%s: %s", name, m[1])
			require.Equal(t, strconv.Itoa(4*arg), m[2], "%s: %s", name, m[1])
			require.Regexp(t, m[1]+`\(a0\)`, string(src), "%s names it and does not read it", name)
			seen[m[1]] = true
		}
	}
	require.Len(t, seen, int(numArguments), "a word that no program reads")
}

// TestInstructionsPerEdge checks the numbers in the programs' headers: warp instructions for one more iteration of the
// inner loop.
func TestInstructionsPerEdge(t *testing.T) {
	const lanes = 4
	s := shape{1, 1, lanes}
	gather := func(d device, g *graph.Graph) uint64 {
		o := options(d.schedule)
		o.MaxIterations = 1
		r, err := Run(context.Background(), d.functional(t, s), g, o)
		require.NoError(t, err)
		return r.Steps[0].Gather.WarpInstrs
	}
	into0 := func(m int) *graph.Graph { // m edges to vertex 0 of 9
		var e []edge
		for i := range m {
			e = append(e, edge{uint32(1 + i%8), 0})
		}
		return build(9, e)
	}
	for i, want := range map[int]uint64{0: 9 * lanes, 1: 11, 2: 11, 3: 10} {
		d := devices()[i]
		const steps = 20
		few, many := gather(d, into0(lanes)), gather(d, into0(lanes*(1+steps)))
		require.Equal(t, want*steps, many-few, "%s: %d edges more a step", d.name, lanes)
	}
	ring := func(n int) *graph.Graph {
		var e []edge
		for v := range uint32(n) {
			e = append(e, edge{v, (v + 1) % uint32(n)})
		}
		return build(n, e)
	}
	few, many := gather(devices()[0], ring(lanes*2)), gather(devices()[0], ring(lanes*12))
	require.EqualValues(t, (17+9)*10, many-few, "vertex: a vertex with an edge a lane more")
}

func TestRefusals(t *testing.T) {
	g := star(5)
	d := devices()[0].functional(t, shape{1, 1, 4})
	refuse := func(says string, change func(o *Options)) {
		o := DefaultOptions(Vertex)
		change(&o)
		_, err := Run(context.Background(), d, g, o)
		require.ErrorContains(t, err, says)
	}
	refuse("damping = 1.5: expected 0..1", func(o *Options) { o.Damping = 1.5 })
	refuse("damping = NaN", func(o *Options) { o.Damping = math.NaN() })
	refuse("max_iterations = 0", func(o *Options) { o.MaxIterations = 0 })
	refuse("tolerance = -1", func(o *Options) { o.Tolerance = -1 })
	refuse(`no schedule "warp": expected one of vertex, edge, weaver`, func(o *Options) { o.Schedule = "warp" })
	refuse("needs a machine whose cores have a Weaver", func(o *Options) { o.Schedule = Weaver })
}
