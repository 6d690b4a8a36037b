package compose

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/accel"
	"heddle/components/eghw"
	"heddle/components/graphpeg"
	"heddle/components/hwwl"
	"heddle/components/weaver"
	"heddle/configs"
	"heddle/graph"
	"heddle/internal/testenv"
	"heddle/isa/emu"
	"heddle/kernels/host"
	"heddle/sim"
)

// The shape of all machines in these tests, so that each plan is compiled once.
const cores, warps, threads = 2, 4, 4

var spec = weaver.Spec{STEntries: 12, DTEntries: 1 << 10}

// unitOf is the configuration of a kind of unit in tests.
type unitOf struct {
	functional accel.Spec
	preset     string
	set        []string
}

// smallUnit is the unit of that name; empty: none.
func smallUnit(name string) unitOf {
	if u, ok := smallUnits[name]; ok {
		return u
	}
	u := accel.KindNamed(name)
	return unitOf{configs.DefaultUnit(u), "vortex-6c32w32t", []string{"core." + u.Key + "={}"}}
}

// smallUnits are small, so that tables, buffers and lists are full at times.
var smallUnits = map[string]unitOf{
	"":       {nil, "vortex-6c32w32t", nil},
	"weaver": {&spec, "vortex-6c32w32t-weaver", []string{"core.weaver.st_entries=12"}},
	"peg": {&pegSpec, "vortex-6c32w32t", []string{
		"core.graphpeg.alwt_entries=3", "core.graphpeg.edge_buffer_bytes=512",
		"core.graphpeg.scratchpad_limit=1536", "core.graphpeg.list_region=1KiB",
	}},
	"eghw": {&eghwSpec, "vortex-6c32w32t-eghw", []string{
		"core.eghw.buffer_entries=20", "core.eghw.outstanding_lines=1", "core.eghw.lookahead=1", "core.eghw.edges_per_read=3",
	}},
	"hwwl": {&hwwlSpec, "vortex-6c32w32t", []string{"core.hwwl.bytes=1KiB", "core.hwwl.list_region=1KiB"}},
}

var (
	pegSpec = graphpeg.Spec{
		ALWTEntries: 3, EdgeBufferBytes: 512, ScratchpadLimit: 1536, VertexLists: 4, ListRegion: 1 << 10,
		PopOrder: "ring", FERelease: "issue", DonationPriority: "fi", BypassL1: true,
	}
	eghwSpec = eghw.Spec{BufferEntries: 20, OutstandingLines: 1, Lookahead: 1, EdgesPerRead: 3, WriteWords: 3,
		ReadWords: 3}
	hwwlSpec = hwwl.Spec{Bytes: 1 << 10, ListRegion: 1 << 10, BypassL1: true}
)

func functional(t testing.TB, p *Plan) *host.Functional {
	cfg := emu.Config{Cores: cores, Warps: warps, Threads: threads, MaxInstrs: 20_000_000, Quantum: 7}
	d, err := host.NewFunctional(cfg, smallUnit(p.Schedule.UnitName()).functional)
	require.NoError(t, err)
	return d
}

func timed(t testing.TB, p *Plan) *host.Timed {
	u := smallUnit(p.Schedule.UnitName())
	l, err := configs.LoadMachine(u.preset, nil, append([]string{
		fmt.Sprintf("sockets=%d", cores), fmt.Sprintf("core.warps=%d", warps), fmt.Sprintf("core.threads=%d", threads),
		"l1d.bytes=2KiB", "l2.bytes=16KiB",
	}, u.set...))
	require.NoError(t, err)
	d, err := host.NewTimed(l.Value, sim.Options{MaxCycles: 20_000_000})
	require.NoError(t, err)
	require.Equal(t, functional(t, p).Shape(), d.Shape())
	return d
}

// programs are compiled once for all tests.
var programs sync.Map

func compiled(t testing.TB, p *Plan, g *graph.Graph) *Compiled {
	q := *p
	q.Weights, q.Width = g.WeightKind(), workloadOf(p).Width
	q.Residual = workloadOf(p).Tolerance > 0
	build := sync.OnceValues(func() (*Compiled, error) { return Compile(&q, functional(t, p).Shape()) })
	f, _ := programs.LoadOrStore(p.Name(), build)
	c, err := f.(func() (*Compiled, error))()
	require.NoError(t, err)
	return c
}

// check runs a plan on a device.
func check(t *testing.T, p *Plan, d host.Device, name string, g *graph.Graph) Result {
	r, err := compiled(t, p, g).Run(context.Background(), d, g, workloadOf(p))
	require.NoError(t, err, name)
	require.True(t, r.Verified, name)
	require.EqualValues(t, launches(&r), r.Times.Launches)
	handled, of := uint64(0), uint64(0)
	for _, n := range d.LaneEdges(nil) {
		handled += n
	}
	for _, s := range r.Steps {
		of += s.Handled()
	}
	require.Equal(t, of, handled, "%s: edges of lanes", name)
	return r
}

func launches(r *Result) int {
	n := 1 + len(r.Steps) + len(r.Splits)
	if r.Plan.Algorithm.Applies() {
		n += len(r.Steps)
	}
	for _, s := range r.Steps {
		n += len(s.Splits) + len(s.More)
		if s.Registered(r.Plan) {
			n++
		}
		if s.Compacted(r.Plan) {
			n++
		}
		if s.Prepared(r.Plan) {
			n++
		}
	}
	return n
}

// shareVariable divides all legal combinations among n machines: k/n is every nth from the kth on.
const shareVariable = "HEDDLE_COMPOSE_SHARE"

// share picks the plans that a test runs: all of them with testenv.LongVariable, or a share; else those in which all
// choices meet that can, and every nth of all; 0: none besides.
func share(t *testing.T, all func() []*Plan, covering func() []*Plan, nth int) (plans []*Plan) {
	first, step := 1, max(nth, 1)
	switch text := os.Getenv(shareVariable); {
	case testenv.Long(t) == 0:
		plans = slices.Clone(covering())
		if nth == 0 {
			return plans
		}
	case text == "":
		step = 1
	default:
		n, err := fmt.Sscanf(text, "%d/%d", &first, &step)
		require.True(t, n == 2 && err == nil && 1 <= first && first <= step, "%s=%s: expected a share such as 2/8",
			shareVariable, text)
	}
	for i, p := range all() {
		if i%step == first-1 && !slices.Contains(plans, p) {
			plans = append(plans, p)
		}
	}
	return plans
}

// onGraphs gives the graphs of the ith plan: all of them, if all combinations run; else one.
func onGraphs(t *testing.T, i int) map[string]*graph.Graph {
	graphs := tiny()
	if testenv.Long(t) > 0 {
		return graphs
	}
	name := []string{"skewed", "star", "chain"}[i%3]
	return map[string]*graph.Graph{name: graphs[name]}
}

// TestAllOnTheEmulator: legal combinations compile, run, and are right.
func TestAllOnTheEmulator(t *testing.T) {
	for i, p := range share(t, legal, covering, 400) {
		t.Run(p.Name(), func(t *testing.T) {
			t.Parallel()
			for name, g := range onGraphs(t, i) {
				check(t, p, functional(t, p), name, g)
			}
		})
	}
}

// TestOnATimedMachine: with time they are right too, and no invariant is broken.
func TestOnATimedMachine(t *testing.T) {
	for i, p := range share(t, legal, thinned(covering, 20), 0) {
		t.Run(p.Name(), func(t *testing.T) {
			t.Parallel()
			for name, g := range onGraphs(t, i) {
				d := timed(t, p)
				r := check(t, p, d, name, g)
				require.NoError(t, d.Machine.CheckInvariants())
				require.NotZero(t, r.Times.Cycles)
			}
		})
	}
}

// TestWidth: the numbers of a vertex have threads of their own under vertex, and are gone through by an edge's lane
// under weaver and eghw; more of them take longer.
func TestWidth(t *testing.T) {
	g := tiny()["skewed"]
	for _, name := range []string{"vertex", "weaver", "eghw"} {
		before := uint64(0)
		for _, width := range []int{1, 4, 32} {
			p, err := NewPlan(choose("algorithm=graphsum", "schedule="+name))
			require.NoError(t, err)
			w := workloadOf(p)
			w.Width = width
			d := timed(t, p)
			r, err := Run(context.Background(), d, g, w)
			require.NoError(t, err)
			require.True(t, r.Verified)
			require.Len(t, r.Values, width*g.Vertices())
			require.NoError(t, d.Machine.CheckInvariants())
			edges := g.Edges()
			if name == "vertex" {
				edges *= width
			}
			require.EqualValues(t, edges, r.Steps[0].Gather.Edges)
			require.Greater(t, r.Times.Cycles, before)
			before = r.Times.Cycles
		}
	}
}
