package compose

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/accel"
	"heddle/configs"
	"heddle/graph"
	"heddle/internal/testenv"
	"heddle/isa/emu"
	"heddle/isa/emu/emutest"
	"heddle/kernels/host"
	"heddle/kernels/schedule"
	"heddle/kernels/workload"
	"heddle/sim"
)

// of is one of the values.
func of[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// divisor is one of n's, no more than most.
func divisor(r *rand.Rand, n, most int) int {
	var all []int
	for d := 1; d <= min(n, most); d++ {
		if n%d == 0 {
			all = append(all, d)
		}
	}
	return of(r, all...)
}

// anyMachine draws a machine of any shape whose cores have a unit; "": none. What decides in which order warps go on is
// drawn: how many issue at once, from how many slices, and by which policy.
func anyMachine(t *testing.T, r *rand.Rand, unit string) configs.Machine {
	nWarps, nThreads := of(r, 1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 16, 32), 1<<r.IntN(6)
	for nWarps*nThreads > 256 {
		nWarps, nThreads = max(1, nWarps/2), max(1, nThreads/2)
	}
	lanes := func() int { return divisor(r, nThreads, 32) }
	policy := func() string { return of(r, "vortex", "rr", "gto", "two-level") }
	u := smallUnit(unit)
	set := []string{
		fmt.Sprint("sockets=", 1+r.IntN(3)), fmt.Sprint("cores_per_socket=", 1+r.IntN(2)),
		fmt.Sprint("core.warps=", nWarps), fmt.Sprint("core.threads=", nThreads),
		fmt.Sprint("core.issue.slices=", divisor(r, nWarps, 8)),
		fmt.Sprint("core.issue.dispatch_per_slice=", 1+r.IntN(4)),
		"core.issue.policy=" + policy(), "core.schedule.policy=" + policy(), fmt.Sprint("core.fetch_width=", 1+r.IntN(4)),
		fmt.Sprint("core.alu_lanes=", lanes()), fmt.Sprint("core.sfu_lanes=", lanes()),
		fmt.Sprint("core.lsu_lanes=", lanes()),
		fmt.Sprint("core.ibuffer=", 1+r.IntN(4)), fmt.Sprint("core.lsu_queue=", 1+r.IntN(6)),
		"l1d.bytes=" + of(r, "1KiB", "2KiB", "16KiB"), "l2.bytes=16KiB",
	}
	set = append(set, u.set...)
	switch unit { // as small as such a machine can have them, or somewhat larger
	case "eghw":
		set = append(set, fmt.Sprint("core.eghw.buffer_entries=", nThreads+15+r.IntN(20)))
	case "peg":
		set = append(set, fmt.Sprint("core.graphpeg.scratchpad_limit=", 2560+4*r.IntN(500)),
			fmt.Sprint("core.graphpeg.edge_buffer_bytes=", 512+r.IntN(2)*256))
	case "weaver":
		set = append(set, fmt.Sprint("core.weaver.dt_entries=", nWarps*nThreads),
			fmt.Sprint("core.weaver.st_entries=", nThreads*(1+r.IntN(nWarps))))
	}
	l, err := configs.LoadMachine(u.preset, nil, set)
	require.NoError(t, err, "%v", set)
	m := l.Value
	if s, ok := m.Core.Unit.Spec.(accel.SizedSpec); ok {
		s.Enlarge(m.UnitShape(0))
	}
	return m
}

// degenerate draws a graph that no average describes, or any.
func degenerate(t *testing.T, r *rand.Rand, p *Plan) *graph.Graph {
	n := 1 + r.IntN(1+r.IntN(90))
	var ends [][2]int
	switch r.IntN(10) {
	case 0: // no edges
	case 1: // a row of all
		for v := range n {
			ends = append(ends, [2]int{n - 1, v})
		}
	case 2: // a column of all
		for v := range n {
			ends = append(ends, [2]int{n - 1, v}, [2]int{v, n - 1})
		}
	case 3: // a chain
		for v := 1; v < n; v++ {
			ends = append(ends, [2]int{v, v - 1})
		}
	case 4: // all with all
		n = min(n, 1+r.IntN(24))
		for i := range n * n {
			ends = append(ends, [2]int{i / n, i % n})
		}
	case 5: // with themselves, and one with a few
		for v := range n {
			ends = append(ends, [2]int{v, v}, [2]int{v, v / 2})
		}
	case 6: // the same again and again
		for range n * 2 {
			ends = append(ends, [2]int{n / 2, n / 3})
		}
	default:
		for range r.IntN(1 + r.IntN(5*n)) {
			ends = append(ends, [2]int{r.IntN(n), min(r.IntN(n), r.IntN(n))})
		}
	}
	return linked(t, r, p, n, ends)
}

// linked is a graph of n vertices with these edges, but for those that the algorithm does not take.
func linked(t *testing.T, r *rand.Rand, p *Plan, n int, ends [][2]int) *graph.Graph {
	both := p.Algorithm.Undirected || r.IntN(2) == 0
	var lines []string
	seen := map[[2]int]bool{}
	for _, e := range ends {
		if both && e[0] < e[1] {
			e[0], e[1] = e[1], e[0]
		}
		if e[0] == e[1] && p.Algorithm.NoLoops || seen[e] && (p.Algorithm.NoDuplicates || both) {
			continue
		}
		seen[e] = true
		lines = append(lines, fmt.Sprint(1+e[0], " ", 1+e[1], " ", 1+r.IntN(9)))
	}
	return matrix(t, both, n, lines)
}

// TestAnyShape: combinations are right on machines of any shape and on degenerate graphs, with time and without, and no
// two warps race for a word of the scratchpad.
func TestAnyShape(t *testing.T) {
	first := int(testenv.Seed(t, 1))
	bySchedule := map[string][]*Plan{}
	var names []string
	for _, plans := range [][]*Plan{legal(), fusable()} {
		for _, p := range plans {
			name := fmt.Sprint(p.Schedule.Name, p.Scan)
			if bySchedule[name] == nil {
				names = append(names, name)
			}
			bySchedule[name] = append(bySchedule[name], p)
		}
	}
	var ran atomic.Int64
	cases := int(testenv.Cases(t, 20, 6000))
	t.Run("", func(t *testing.T) {
		for seed := first; seed < first+cases; seed++ {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				r := rand.New(rand.NewPCG(uint64(seed), 35))
				of := bySchedule[names[seed%len(names)]]
				if anyShape(t, r, of[r.IntN(len(of))]) {
					ran.Add(1)
				}
			})
		}
	})
	require.Greater(t, int(ran.Load()), cases*4/5, "of the others the machine refuses what it has no room for")
}

func anyShape(t *testing.T, r *rand.Rand, p *Plan) (ran bool) {
	m, g := anyMachine(t, r, p.Schedule.UnitName()), degenerate(t, r, p)
	w := workloadOf(p)
	w.Source, w.Target, w.Width = r.IntN(g.Vertices()), r.IntN(g.Vertices()), 1<<r.IntN(4)
	if p.Algorithm.Target && w.Source == w.Target {
		return false
	}
	if r.IntN(2) == 0 {
		w.WarpsPerCore = 1 + r.IntN(m.Core.Warps)
	}
	running := w.WarpsPerCore
	if running == 0 {
		running = m.Core.Warps
	}
	v := of(r, schedule.Variants()...)
	if !p.Schedule.Has(v) || v == schedule.Gunrock && !p.Layout.Listed {
		v = schedule.OwnCode
	}
	w.Variant = workload.Choice(v)
	if p.Schedule.ByBlocks(v) && r.IntN(2) == 0 {
		w.CTAThreads = divisor(r, running, running) * m.Core.Threads
	}
	if p.Schedule.Shards {
		w.ShardVertices = of(r, 1, 2, 3, 5+r.IntN(40))
	}
	w.Spill = workload.Choice(of(r, Spills()...))
	if w.Unroll = workload.Choice(of(r, Unrollings()...)); !p.unrolls() || p.long() {
		w.Unroll = workload.Choice(of(r, Unrollings()[0], UnrollAuto))
	}
	c, refused := compiledFor(t, m, g, w)
	if refused != nil {
		t.Log(refused)
		return false
	}
	d, err := host.NewTimed(m, sim.Options{MaxCycles: 20_000_000})
	require.NoError(t, err)
	cfg := emu.Config{
		Cores: m.Sockets * m.CoresPerSocket, Warps: m.Core.Warps, Threads: m.Core.Threads,
		ScratchpadBytes: m.Core.ScratchpadBytes,
		MaxInstrs:       20_000_000, Quantum: of(r, 1, 7, 128),
	}
	races := emutest.Watch(&cfg)
	u, err := host.NewFunctional(cfg, m.Core.Unit.Spec)
	require.NoError(t, err)
	races.Of(u.Machine)
	what := fmt.Sprintf("%s on %d cores of %d warps of %d lanes, %d of them in blocks of %d threads, %d slices; %d "+
		"vertices, %d edges, from %d",
		p.Name(), cfg.Cores, cfg.Warps, cfg.Threads, running, w.CTAThreads, m.Core.Issue.Slices, g.Vertices(),
		g.Edges(), w.Source)
	for _, d := range []host.Device{u, d} {
		res, err := c.Run(t.Context(), d, g, w)
		require.NoError(t, err, what)
		require.True(t, res.Verified, what)
		require.Empty(t, races.Found(), what)
	}
	require.NoError(t, d.Machine.CheckInvariants(), what)
	return true
}

// compiledFor compiles a workload for a machine, or returns the reason for which it is refused before anything runs.
func compiledFor(t *testing.T, m configs.Machine, g *graph.Graph, w workload.Workload) (*Compiled, error) {
	p, err := NewPlan(w)
	require.NoError(t, err)
	p.Weights = g.WeightKind()
	d, err := host.NewRehearsal(&m)
	require.NoError(t, err)
	c, err := Compile(p, d.Shape())
	if err != nil {
		return nil, err
	}
	_, err = c.Rehearse(d, g, w)
	return c, err
}
