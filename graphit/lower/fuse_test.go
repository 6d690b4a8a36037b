package lower_test

import (
	"bytes"
	"context"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/graph"
	"heddle/graphit/looptest"
	"heddle/graphit/lower"
	"heddle/internal/testenv"
	"heddle/isa"
	"heddle/kernels/compose"
	"heddle/kernels/host"
	"heddle/kernels/schedule"
	"heddle/kernels/workload"
	"heddle/sim"
)

// sources are the programs whose loops can be fused.
func sources(t testing.TB) (list []string, of map[string]string) {
	of = map[string]string{}
	for _, name := range []string{"bfs", "cc", "sssp", "pagerank", "delta_stepping", "k_core"} {
		list, of[name] = append(list, name), program(t, name)
	}
	for _, name := range slices.Sorted(maps.Keys(looptest.Programs)) {
		list, of[name] = append(list, name), looptest.Programs[name]
	}
	return list, of
}

// sameFused: a program's loop computes the same as one launch, by fewer.
func sameFused(t *testing.T, name, src string, g *graph.Graph, w workload.Workload, d func() host.Device) bool {
	run := func(src string) (lower.Result, error) {
		return lower.Run(context.Background(), d(), g, parse(t, name, src),
			lower.Options{Args: args(name, g), Output: io.Discard, Workload: w, MaxSteps: 2000})
	}
	hosts, err := run(src)
	if err != nil && refusal(err) {
		return false
	}
	require.NoError(t, err, name)
	one, err := run(looptest.Fused(src))
	require.NoError(t, err, name)
	require.True(t, one.Verified)
	if len(one.Program.Notes) > 0 {
		require.Equal(t, hosts.Times.Launches, one.Times.Launches)
		return false
	}
	require.Less(t, one.Times.Launches, hosts.Times.Launches, name)
	require.Less(t, one.Times.Launches, uint64(7))
	launched, cycles := uint64(0), uint64(0)
	for i := range one.Launched {
		cycles += one.Launched[i].Cycles
		if !one.Launched[i].Part {
			launched++
		}
	}
	require.Equal(t, one.Times.Launches, launched)
	require.Equal(t, one.Times.Cycles, cycles)
	return true
}

// TestFused: programs whose loops are one launch, under the schedules that there are by themselves and under random
// choices on all axes.
func TestFused(t *testing.T) {
	g := undirected(t)
	random := rand.New(rand.NewPCG(3, 4))
	names, of := sources(t)
	for i, name := range names {
		ran := map[string]bool{}
		try := func(settings ...string) bool {
			w := testWorkload(t, settings...)
			if !sameFused(t, name, of[name], g, w, func() host.Device { return device(t, w) }) {
				return false
			}
			for _, s := range settings {
				ran[s] = true
			}
			return true
		}
		require.True(t, try(), name)
		for _, s := range testenv.Some(t, i, (len(axes[0].values)+1)/2, axes[0].values) {
			if u, err := schedule.ByName(s); err != nil ||
				!u.Unit.HasLists() && !(u.Unit.ReadsRows() && strings.Contains(of[name], "edges.apply(there)")) {
				require.True(t, try("schedule="+s), "%s under %s", name, s)
			}
		}
		for done, tries := uint64(0), 0; done < testenv.Cases(t, 2, 6); tries++ {
			require.Less(t, tries, 3000, name)
			var settings []string
			for _, a := range axes {
				if random.IntN(3) > 0 {
					settings = append(settings, a.key+"="+a.values[random.IntN(len(a.values))])
				}
			}
			if try(settings...) {
				done++
			}
		}
		t.Log(name, len(ran), "choices")
	}
}

// TestFusedInTime: and on machines with time, of one core and of several.
func TestFusedInTime(t *testing.T) {
	g := load(t, "rmat.scale=5", "rmat.edge_factor=3", "clean.symmetrise=true", "clean.drop_duplicates=true",
		"weights.from=random", "weights.max=30")
	names, of := sources(t)
	for i, name := range names {
		for j, shape := range testenv.Some(t, i, 2, []string{"1", "3"}) {
			l, err := configs.LoadMachine("vortex-1c4w4t-weaver", nil, []string{"sockets=" + shape, "l2.bytes=16KiB"})
			require.NoError(t, err)
			w := testWorkload(t, "schedule="+[]string{"vertex", "edge", "weaver", "cta", "twce"}[(i+j)%5])
			require.True(t, sameFused(t, name, of[name], g, w, func() host.Device {
				d, err := host.NewTimed(l.Value, sim.Options{Check: true, MaxCycles: 5_000_000})
				require.NoError(t, err)
				return d
			}), name)
		}
	}
}

// TestStepsOfHost: the host looks after each super-step of its loops, and after none of a fused one.
func TestStepsOfHost(t *testing.T) {
	g := undirected(t)
	_, of := sources(t)
	for name, src := range map[string]string{
		"bfs": of["bfs"], "pagerank": of["pagerank"], "fused": looptest.Fused(of["bfs"]),
	} {
		var overheads [2]uint64
		steps := 0
		for i, setting := range []string{"step_overhead=0", "step_overhead=7000"} {
			w := testWorkload(t, setting)
			r, err := lower.Run(context.Background(), device(t, w), g, parse(t, name, src),
				lower.Options{Args: args(name, g), Output: io.Discard, Workload: w})
			require.NoError(t, err, name)
			overheads[i], steps = r.Times.Overhead, r.Steps
		}
		if name == "fused" {
			steps = 0
		}
		require.EqualValues(t, 7000*steps, overheads[1]-overheads[0], name)
		require.Equal(t, name == "fused", steps == 0)
	}
}

// TestNotFused: the reason why a loop stays on the host is reported, and the program runs as without fusion.
func TestNotFused(t *testing.T) {
	g := undirected(t)
	body := func(line string) string {
		return strings.Replace(looptest.Programs["its vertices and the next ones"], "delete frontier;", line, 1)
	}
	for _, c := range []struct {
		source   string
		workload []string
		why      string
	}{
		{body("print frontier.size();"), nil, "print frontier.size(), in line 66, is the host's"},
		{body("startTimer();"), nil, "startTimer(), in line 66, is the host's"},
		{body("seen[0] = 7;"), nil, "seen[0] = 7, in line 66, is the host's"},
		{body("if frontier.size() > 100 break; end"), nil, "the host decides the if in line 66"},
		{body("if 2 > 1 break; end"), nil, "frontier = … follows the break in line 66"},
		{body("if 2 > 1 seen[3] = 1; end"), nil, "there is more in it than numbers, prints and break"},
		{body("for j in 0:2 vertices.apply(count); end"), nil, "there is a loop in it, in line 66"},
		{body("next = vertices.where(odd);"), nil, "makes a second set in a round"},
		{strings.Replace(body(""), "frontier = next;", "delete next;", 1), nil, "frontier, which its condition asks for, is not the set"},
		{strings.Replace(body("delete frontier;"), "frontier.size() > 0", "rounds[0] < 2", 1), nil, "its condition is the host's"},
		{body("delete frontier;"), []string{"direction=hybrid", "direction.alpha=1.5"}, "direction.alpha is 1.5"},
		{body("delete frontier;"), []string{"schedule=peg"}, "the host exchanges and empties the graph units' vertex-lists"},
		{body("delete frontier;"), []string{"active_set=qnb-bitmap"}, "the host reads how long the list is"},
		{strings.Replace(program(t, "cc"), "delete frontier;", "next.apply(init);", 1), []string{"dedup=none"}, "a vertex may be in the queue several times"},
		{program(t, "pagerank_delta"), nil, "the host decides the if in line 52"},
	} {
		run := func(src string) lower.Result {
			w := testWorkload(t, c.workload...)
			r, err := lower.Run(context.Background(), device(t, w), g, parse(t, "p", src),
				lower.Options{Args: []string{"p", "g", "3"}, Output: io.Discard, Workload: w, MaxSteps: 12})
			if err != nil { // a loop that does not end
				require.ErrorContains(t, err, "more than 12 operators", c.why)
			}
			return r
		}
		hosts, one := run(c.source), run(looptest.Fused(c.source))
		require.Len(t, one.Program.Notes, 1, c.why)
		require.Contains(t, one.Program.Notes[0].Text,
			"configKernelFusion: loop stays the host's loop, and every operator a launch: ")
		require.Contains(t, one.Program.Notes[0].Text, c.why)
		require.Equal(t, hosts.Times.Launches, one.Times.Launches, c.why)
	}
}

// TestFusedNumbers: main's numbers, and prints of them, do not keep a loop on the host, unless an operator reads them.
func TestFusedNumbers(t *testing.T) {
	g := undirected(t)
	src := func(number string) string {
		s := looptest.Programs["its vertices and the next ones"]
		s = strings.Replace(s, "    #loop# while", "    var turn : int = 7;\n    #loop# while", 1)
		return strings.Replace(s, "delete frontier;",
			"turn += 1; var twice : int = 2 * turn; print \"turn\", twice; "+number, 1)
	}
	w := testWorkload(t)
	var out, fused bytes.Buffer
	run := func(src string, to *bytes.Buffer) lower.Result {
		r, err := lower.Run(context.Background(), device(t, w), g, parse(t, "p", src),
			lower.Options{Args: []string{"p", "g", "3"}, Output: to, Workload: w})
		require.NoError(t, err)
		return r
	}
	hosts, one := run(src(""), &out), run(looptest.Fused(src("")), &fused)
	require.Empty(t, one.Program.Notes)
	require.Less(t, one.Times.Launches, hosts.Times.Launches)
	require.Contains(t, out.String(), "turn 16\n")
	require.Equal(t, out.String(), fused.String())

	read := strings.Replace(src("offset = turn;"), "func count(", "const offset : int = 0;\nfunc count(", 1)
	read = strings.Replace(read, "rounds[v] += 1;", "rounds[v] += 1 + offset - offset;", 1)
	one = run(looptest.Fused(read), &fused)
	require.Contains(t, one.Program.Notes[0].Text, "offset = turn")
}

// TestFusedBC: both loops of betweenness centrality are one launch each, under all schedules that keep a vertex once.
func TestFusedBC(t *testing.T) {
	src := program(t, "bc")
	src = strings.NewReplacer("#search#", "#loop#", "#return#", "#back#").Replace(src)
	g := undirected(t)
	random := rand.New(rand.NewPCG(43, 2))
	for done, tries := 0, 0; done < 12; tries++ {
		require.Less(t, tries, 3000)
		var settings []string
		for _, a := range axes {
			if tries > 0 && random.IntN(3) > 0 {
				settings = append(settings, a.key+"="+a.values[random.IntN(len(a.values))])
			}
		}
		w := testWorkload(t, settings...)
		if sameFused(t, "bc", src, g, w, func() host.Device { return device(t, w) }) {
			done++
		}
	}
}

// TestFusedListsEnd: the memory for a list in a fused loop is bounded, and a program that needs more is told so.
func TestFusedListsEnd(t *testing.T) {
	src := looptest.Programs["the sets that it walks"]
	src = strings.Replace(src, "for i in 0:4", "for i in 0:5000", 1)
	src = strings.Replace(src, "for i in 0:3", "for i in 0:4999", 1)
	g := undirected(t)
	w := testWorkload(t)
	_, err := lower.Run(context.Background(), device(t, w), g, parse(t, "p", looptest.Fused(src)),
		lower.Options{Args: []string{"p", "g", "3"}, Output: io.Discard, Workload: w})
	require.ErrorIs(t, err, compose.ErrRoom)
	require.ErrorContains(t, err, "expected a schedule without configKernelFusion for the loop")
}

// interrupted is a machine whose user has had enough behind some parts of a loop.
type interrupted struct {
	*host.Functional
	left   int
	cancel func()
}

func (d *interrupted) LaunchParts(ctx context.Context, p *isa.Program, arg uint32,
	ended func(sim.Part) error) (sim.Result, error) {
	return d.Functional.LaunchParts(ctx, p, arg, func(part sim.Part) error {
		if err := ended(part); err != nil {
			return err
		}
		if d.left--; d.left == 0 {
			d.cancel()
		}
		return nil
	})
}

// TestFusedEndsEarly: a run that ends within a fused loop leaves no state behind, and reports the work done so far.
func TestFusedEndsEarly(t *testing.T) {
	w, g := testWorkload(t), undirected(t)
	ctx, cancel := context.WithCancel(context.Background())
	d := &interrupted{device(t, w).(*host.Functional), 2, cancel}
	r, err := lower.Run(ctx, d, g, parse(t, "bfs", looptest.Fused(program(t, "bfs"))),
		lower.Options{Args: args("bfs", g), Output: io.Discard, Workload: w})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 2, r.Steps)
	_, err = lower.Run(ctx, d, g, parse(t, "bfs", looptest.Fused(program(t, "bfs"))),
		lower.Options{Args: args("bfs", g), Output: io.Discard, Workload: w})
	require.ErrorIs(t, err, context.Canceled)
}
