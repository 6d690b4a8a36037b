package lower_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/graphit/looptest"
	"heddle/graphit/lower"
	"heddle/internal/testenv"
	"heddle/kernels/compose"
	"heddle/kernels/direction"
	"heddle/kernels/host"
	"heddle/kernels/workload"
	"heddle/sim"
)

// step labels the operator of a program's loop that reads a set.
func step(src string) string {
	if strings.Contains(src, "#step#") {
		return src
	}
	reads := regexp.MustCompile(`(?m)^( *)((?:var next : vertexset\{Vertex\} = )?edges\.from\()`)
	at := reads.FindStringIndex(src)
	return src[:at[0]] + reads.ReplaceAllString(src[at[0]:at[1]], "$1#step# $2") + src[at[1]:]
}

// hybridOf gives the operator of a program's loop two schedules.
func hybridOf(src, threshold, below, above string) string {
	src = step(src)
	if !strings.Contains(src, "\nschedule:") {
		src += "\nschedule:"
	}
	delta := ""
	if strings.Contains(src, `configDelta("argv[2]")`) {
		delta = `configDelta("argv[2]")`
	}
	for i, words := range []string{below, above} {
		src += fmt.Sprintf("\n    SimpleGPUSchedule s%d;", i+7)
		for _, w := range append(strings.Fields(words), delta) {
			if w != "" {
				src += fmt.Sprintf(" s%d.%s;", i+7, w)
			}
		}
	}
	return src + "\n    HybridGPUSchedule h(INPUT_VERTEXSET_SIZE, " + threshold +
		", s7, s8); program->applyGPUSchedule(\"loop:step\", h);\n"
}

// drawnWords draws a schedule, as config functions without spaces.
func drawnWords(r *rand.Rand) string {
	one := func(list ...string) string { return list[r.IntN(len(list))] }
	return one("", "configLoadBalance(VERTEX_BASED)", "configLoadBalance(TWC)", "configLoadBalance(CM)",
		"configLoadBalance(EDGE_ONLY)", "configLoadBalance(STRICT)", "configLoadBalance(TWCE)") + " " +
		one("", "configDirection(PUSH)", "configDirection(PULL,BITMAP)", "configDirection(PULL,BOOLMAP)") + " " +
		one("", "configDeduplication(DISABLED)", "configDeduplication(ENABLED,BITMAP)",
			"configDeduplication(ENABLED,BOOLMAP)", "configDeduplication(ENABLED,MONOTONIC_COUNTERS)")
}

// hybridSources are programs whose loops read a set.
func hybridSources(t *testing.T) (names []string, of map[string]string) {
	all, of := sources(t)
	for _, name := range all {
		if name != "pagerank" && strings.Contains(of[name], "edges.from(") {
			names = append(names, name)
		}
	}
	require.Greater(t, len(names), 10)
	return names, of
}

// sides counts the gathers on either side of a hybrid, and the kernels that enter one's set.
func sides(r *lower.Result) (below, above, enters int) {
	for i := range r.Launched {
		switch k := r.Launched[i].Kernel; {
		case strings.Contains(k, "'/gather-"):
			above++
		case strings.Contains(k, "/gather-"):
			below++
		case strings.Contains(k, "/enter-"):
			enters++
		}
	}
	return below, above, enters
}

// TestFusedHybrid: a fused loop takes one of two schedules by the size of its set, in the same rounds as the host's
// loop would, unless a queue has vertices twice.
func TestFusedHybrid(t *testing.T) {
	g := undirected(t)
	random := rand.New(rand.NewPCG(43, 7))
	names, of := hybridSources(t)
	cases := testenv.Cases(t, 3, 8)
	entered, both := 0, 0
	for _, name := range names {
		for done, tries := uint64(0), 0; done < cases; tries++ {
			require.Less(t, tries, 1000, name)
			below, above := drawnWords(random), drawnWords(random)
			threshold := []string{"0", "0.01", "0.05", "0.2", "0.6", "1"}[random.IntN(6)]
			src := hybridOf(of[name], threshold, below, above)
			w := testWorkload(t)
			if !sameFused(t, name, src, g, w, func() host.Device { return device(t, w) }) {
				continue
			}
			done++
			r, err := lower.Run(context.Background(), device(t, w), g, parse(t, name, looptest.Fused(src)),
				lower.Options{Args: args(name, g), Output: io.Discard, Workload: w, MaxSteps: 2000})
			require.NoError(t, err)
			b, a, e := sides(&r)
			if entered += e; a > 0 && b > 0 {
				both++
			}
		}
	}
	t.Logf("%d runs with both schedules, %d changes of the set", both, entered)
	require.Greater(t, both, len(names)*int(cases)/4)
	require.Greater(t, entered, len(names)*int(cases)/2)
}

// TestFusedDirections: a fused loop decides between push and pull by the edges of its set. Where a round's set is the
// one that the operator has made the round before, it does as the host's loop as long as their sets are equal; to the
// host's loop any other set is the first one.
func TestFusedDirections(t *testing.T) {
	rmat := undirected(t)
	grid := load(t, "grid.width=12", "grid.height=12", "clean.symmetrise=true", "weights.from=random", "weights.max=30")
	names, of := hybridSources(t)
	pulls, pushes := 0, 0
	directions := func(r *lower.Result) (list []compose.Step) {
		for i := range r.Launched {
			if s := r.Launched[i].Traversal; s != nil {
				list = append(list, compose.Step{Direction: s.Direction, Frontier: s.Frontier, Edges: s.Edges})
			}
		}
		return list
	}
	compared := 0
	for _, name := range names {
		keeps := !regexp.MustCompile(`dequeue_ready_set|levels|where`).MatchString(of[name])
		for _, settings := range [][]string{
			{}, {"active_set=bitmap", "direction.alpha=3", "direction.beta=5.5"}, {"schedule=cta", "direction.rule=sep-graph"}, {"direction.rule=sep-graph", "direction.alpha=2", "direction.beta=40"},
			{"schedule=edge", "layout=coo", "direction.alpha=100"}, {"direction.alpha=1", "direction.beta=1000"},
			{"direction.alpha=1", "direction.beta=1.3"}, {"direction.rule=sep-graph", "direction.alpha=1", "direction.beta=3"},
			{"on a grid", "direction.alpha=3"}, {"on a grid", "direction.alpha=4"}, {"on a grid", "direction.alpha=5"},
			{"on a grid", "direction.alpha=6"},
		} {
			g, settings := rmat, settings
			if len(settings) > 0 && settings[0] == "on a grid" {
				if name != "bfs" { // where the edges that no set has had count
					continue
				}
				g, settings = grid, settings[1:]
			}
			w := testWorkload(t, append(settings, "direction=hybrid")...)
			run := func(src string) (lower.Result, error) {
				return lower.Run(context.Background(), device(t, w), g, parse(t, name, src),
					lower.Options{Args: args(name, g), Output: io.Discard, Workload: w, MaxSteps: 2000})
			}
			hosts, err := run(of[name])
			if err != nil && refusal(err) {
				continue
			}
			require.NoError(t, err)
			one, err := run(looptest.Fused(of[name]))
			require.NoError(t, err, "%s %v", name, settings)
			require.Empty(t, one.Program.Notes, "%s %v", name, settings)
			require.Less(t, one.Times.Launches, hosts.Times.Launches)
			want, got := directions(&hosts), directions(&one)
			for i := range min(len(want), len(got)) {
				if !keeps || want[i].Frontier != got[i].Frontier || want[i].Edges != got[i].Edges {
					break // who comes first decides what a step still reaches
				}
				require.Equal(t, want[i].Direction, got[i].Direction, "%s %v, step %d", name, settings, i)
				compared++
			}
			for i := range got {
				if got[i].Direction == direction.Pull {
					pulls++
				} else {
					pushes++
				}
			}
		}
	}
	require.Greater(t, compared, 150)
	t.Logf("%d times push, %d times pull", pushes, pulls)
	require.Greater(t, pulls, 50)
	require.Greater(t, pushes, 50)
}

// TestFusedHybridInTime: and on machines with time, of one core and of several.
func TestFusedHybridInTime(t *testing.T) {
	testenv.NeedSlow(t, "it simulates fused loops")
	g := load(t, "rmat.scale=5", "rmat.edge_factor=3", "clean.symmetrise=true", "clean.drop_duplicates=true",
		"weights.from=random", "weights.max=30")
	names, of := hybridSources(t)
	for i, name := range names {
		l, err := configs.LoadMachine("vortex-1c4w4t", nil, []string{"sockets=" + []string{"1", "3"}[i%2],
			"l2.bytes=16KiB"})
		require.NoError(t, err)
		timed := func() host.Device {
			d, err := host.NewTimed(l.Value, sim.Options{Check: true, MaxCycles: 5_000_000})
			require.NoError(t, err)
			return d
		}
		for _, c := range []struct {
			w   workload.Workload
			src string
		}{
			{testWorkload(t), hybridOf(of[name], "0.1", "configLoadBalance(VERTEX_BASED)",
				"configDirection(PULL,BITMAP) configLoadBalance(CM)")},
			{testWorkload(t, "direction=hybrid"), of[name]},
		} {
			sameFused(t, name, c.src, g, c.w, timed)
		}
	}
}
