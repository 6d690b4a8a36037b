package lower_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/accel"
	_ "heddle/components/all"
	"heddle/configs"
	"heddle/configs/schema"
	"heddle/graph"
	"heddle/graph/graphspec"
	"heddle/graphit"
	"heddle/graphit/lower"
	"heddle/graphit/programs"
	"heddle/isa/emu"
	"heddle/kernels/compose"
	"heddle/kernels/host"
	"heddle/kernels/schedule"
	"heddle/kernels/workload"
	"heddle/sim"
)

func load(t testing.TB, settings ...string) *graph.Graph {
	l, err := graphspec.Schema.Load(schema.Input{Set: settings})
	require.NoError(t, err)
	g, err := graph.Load(l.Value)
	require.NoError(t, err)
	return g
}

func parse(t testing.TB, name string, src string) *graphit.File {
	f, err := graphit.Parse(name, []byte(src))
	require.NoError(t, err)
	require.NoError(t, graphit.Check(f))
	return f
}

func program(t testing.TB, name string) string {
	src, err := programs.Source(name)
	require.NoError(t, err)
	return string(src)
}

// device is a functional machine, with the unit that a schedule needs.
func device(t testing.TB, w workload.Workload) host.Device {
	var unit accel.Spec
	if s, err := schedule.ByName(string(w.Schedule)); err == nil && s.Unit != nil {
		unit = configs.DefaultUnit(accel.KindNamed(s.UnitName()))
	}
	d, err := host.NewFunctional(emu.Config{Cores: 2, Warps: 4, Threads: 4, MaxInstrs: 50_000_000, Quantum: 7}, unit)
	require.NoError(t, err)
	return d
}

func testWorkload(t testing.TB, settings ...string) workload.Workload {
	w, err := workload.Parse(settings)
	require.NoError(t, err)
	return w
}

// args are our programs' arguments after the graph.
func args(name string, g *graph.Graph) []string {
	a := []string{name, "graph"}
	switch name {
	case "pagerank", "pagerank_delta":
		return append(a, "4")
	case "cc", "k_core", "spmv":
		return a
	}
	return append(a, strconv.Itoa(int(g.DrawSources(1, 7)[0])))
}

func undirected(t testing.TB) *graph.Graph {
	return load(t, "rmat.scale=7", "rmat.edge_factor=5", "clean.symmetrise=true", "clean.drop_duplicates=true",
		"clean.drop_self_loops=true", "weights.from=random", "weights.max=30")
}

// Choices that every axis has. What does not go together is refused, by compose's rules.
var axes = []struct {
	key    string
	values []string
}{
	{"schedule", []string{"vertex", "edge", "warp", "cta", "twc", "twce", "strict", "weaver", "peg", "hwwl", "eghw"}},
	{"direction", []string{"auto", "push", "pull", "hybrid"}},
	{"active_set", []string{"auto", "queue", "bitmap", "bytemap", "list", "qnb-bitmap", "qnb-bytemap", "rqnb-bitmap"}},
	{"layout", []string{"auto", "csr", "csc", "csr-csc", "coo", "block-coo", "edge-blocking", "virtual", "virtual-coalesced", "ell-csr", "ell-coo", "dia-coo", "gshard",
		"gshard-windows"}},
	{"dedup", []string{"auto", "none", "bitmap", "bytemap", "monotonic"}},
	{"sum", []string{"register", "memory", "atomic"}},
	{"ahead", []string{"true", "false"}},
	{"unroll", []string{"1", "2", "4", "8", "auto"}},
	{"spill", []string{"memory", "registers"}},
	{"scan", []string{"shuffle", "scratchpad"}},
	{"warps_per_core", []string{"0", "2"}},
}

// TestSchedules: every program gives the reference's result under every schedule by itself, and under random choices on
// all axes.
func TestSchedules(t *testing.T) {
	g := undirected(t)
	random := rand.New(rand.NewPCG(1, 2))
	for _, name := range programs.Names() {
		f := func() *graphit.File { return parse(t, name, program(t, name)) }
		ran := map[string]int{}
		try := func(settings []string) bool {
			w := testWorkload(t, settings...)
			r, err := lower.Run(context.Background(), device(t, w), g, f(),
				lower.Options{Args: args(name, g), Output: io.Discard, Workload: w, MaxSteps: 2000})
			if err != nil && refusal(err) {
				if len(settings) == 1 {
					t.Log(name, settings, err)
				}
				return false
			}
			require.NoError(t, err, "%s %v", name, settings)
			require.True(t, r.Verified)
			for _, s := range settings {
				ran[s]++
			}
			return true
		}
		for _, s := range axes[0].values {
			require.True(t, try([]string{"schedule=" + s}), "%s under %s", name, s)
		}
		for done, tries := 0, 0; done < 12; tries++ {
			require.Less(t, tries, 3000, name)
			var settings []string
			for _, a := range axes {
				if random.IntN(3) > 0 {
					settings = append(settings, a.key+"="+a.values[random.IntN(len(a.values))])
				}
			}
			if try(settings) {
				done++
			}
		}
		t.Log(name, len(ran), "choices")
	}
}

// refusal reports whether an error is that choices do not go together, or not with the machine.
func refusal(err error) bool {
	return errors.As(err, new(*compose.Refused)) || errors.As(err, new(*compose.KeyError))
}

// TestInstructions: our programs' kernels are as short as compose's for its own algorithms, within 5 %. In pull, bc
// walks rows that its levels do not need, and queues visit all vertices for each bucket: these are longer.
func TestInstructions(t *testing.T) {
	g := load(t, "rmat.scale=10", "rmat.edge_factor=8", "clean.symmetrise=true", "clean.drop_duplicates=true",
		"clean.drop_self_loops=true", "weights.from=random", "weights.max=30")
	for _, c := range []struct{ name, algorithm string }{
		{"bfs", "bfs-parents"}, {"sssp", "sssp"}, {"cc", "cc"}, {"pagerank", "pagerank"}, {"bc", "bc"}, {"pagerank_delta", "pagerank-delta"},
	} {
		for _, settings := range [][]string{
			{"schedule=vertex", "direction=push"}, {"schedule=vertex", "direction=pull", "active_set=bytemap"}, {"schedule=edge", "direction=push"},
			{"schedule=cta", "direction=push"}, {"schedule=weaver", "direction=push"}, {"schedule=twce", "direction=push"}, {"schedule=strict", "direction=push"},
		} {
			w := testWorkload(t, settings...)
			a := args(c.name, g)
			if c.algorithm == "pagerank" || c.algorithm == "pagerank-delta" {
				w.ActiveSet = "auto"
				w.Iterations = 4
			}
			r, err := lower.Run(context.Background(), device(t, w), g, parse(t, c.name, program(t, c.name)),
				lower.Options{Args: a, Output: io.Discard, Workload: w})
			if err != nil && refusal(err) {
				continue
			}
			require.NoError(t, err)
			w.Algorithm = workload.Algorithm(c.algorithm)
			if len(a) == 3 && w.Iterations == 0 {
				w.Source, err = strconv.Atoi(a[2])
				require.NoError(t, err)
			}
			own, err := compose.Run(context.Background(), device(t, w), g, w)
			if err != nil && refusal(err) {
				continue
			}
			require.NoError(t, err)
			var program, composed uint64
			for _, l := range r.Launched {
				program += l.WarpInstrs
			}
			composed = own.Init.WarpInstrs
			for _, s := range own.Steps {
				composed += s.Compact.WarpInstrs + s.Topology.WarpInstrs + s.Register.WarpInstrs + s.Gather.WarpInstrs +
					s.Apply.WarpInstrs
				for _, m := range s.More {
					composed += m.WarpInstrs
				}
				for _, m := range s.Splits {
					composed += m.WarpInstrs
				}
			}
			ratio := float64(program) / float64(composed)
			if c.name != "bc" || settings[1] == "direction=push" {
				require.InDelta(t, 1, ratio, 0.05, "%s %v", c.name, settings)
			}
			t.Logf("%-14s %-50s %9d instructions, %9d composed: %.3f", c.name, strings.Join(settings, " "), program,
				composed, ratio)
		}
	}
}

// TestGuide: the program and the schedule of the guide run.
func TestGuide(t *testing.T) {
	text, err := os.ReadFile("../../docs/guide/graphit.md")
	require.NoError(t, err)
	block := func(first string) string {
		_, rest, found := strings.Cut(string(text), "\n    "+first)
		require.True(t, found, first)
		lines := []string{first}
		for i, line := range strings.Split(rest, "\n") {
			switch {
			case i == 0:
				lines[0] += line
			case line == "" || strings.HasPrefix(line, "    "):
				lines = append(lines, strings.TrimPrefix(line, "    "))
			default:
				return strings.Join(lines, "\n")
			}
		}
		return ""
	}
	f := parse(t, "guide.gt", block("element Vertex")+"\n"+block("schedule:"))
	w := testWorkload(t)
	r, err := lower.Run(context.Background(), device(t, w), undirected(t), f,
		lower.Options{Args: []string{"guide.gt", "graph"}, Workload: w})
	require.NoError(t, err)
	require.True(t, r.Verified)
	require.Equal(t, []string{"loop:step/twce/csr/push/queue+monotonic/shuffle"}, r.Plans)
}

// TestFloat: --float saves as many instructions of a program with doubles as the note says.
func TestFloat(t *testing.T) {
	f := parse(t, "p.gt", strings.ReplaceAll(program(t, "pagerank"), "float", "double"))
	w, g := testWorkload(t), undirected(t)
	var taken [2]uint64
	for i, float := range []bool{false, true} {
		r, err := lower.Run(context.Background(), device(t, w), g, f,
			lower.Options{Args: args("pagerank", g), Workload: w, Float: float})
		require.NoError(t, err)
		require.True(t, r.Verified)
		wide := slices.ContainsFunc(r.Vectors, func(v lower.Vector) bool { return v.High != nil })
		require.Equal(t, !float, wide)
		for k := range r.Launched {
			taken[i] += r.Launched[k].WarpInstrs
		}
	}
	ratio := float64(taken[0]) / float64(taken[1])
	t.Logf("doubles take %.1f times the instructions", ratio)
	require.InDelta(t, 20, ratio, 5)
}

// hybridSchedule pushes by blocks, and pulls by vertices.
const hybridSchedule = `
schedule:
    SimpleGPUSchedule s1;
    s1.configLoadBalance(TWCE);
    s1.configFrontierCreation(FUSED);
    SimpleGPUSchedule s2;
    s2.configLoadBalance(VERTEX_BASED);
    s2.configDirection(PULL, BITMAP);
    HybridGPUSchedule h(INPUT_VERTEXSET_SIZE, "argv[3]", s1, s2);
    program->applyGPUSchedule("loop:step", h);
`

// TestHybrid: two schedules of one operator, which are entirely different.
func TestHybrid(t *testing.T) {
	src := program(t, "bfs") + hybridSchedule
	w, g := testWorkload(t), undirected(t)
	used := map[string]bool{}
	r, err := lower.Run(context.Background(), device(t, w), g, parse(t, "bfs.gt", src),
		lower.Options{Args: append(args("bfs", g), "0.1"), Workload: w})
	require.NoError(t, err)
	require.True(t, r.Verified)
	for _, l := range r.Launched {
		used[l.Kernel] = true
	}
	require.Contains(t, used, "loop:step/gather-push")
	require.Contains(t, used, "loop:step'/gather-pull")
}

// TestKeysOfOneSchedule: a program whose schedules differ takes the experiment's keys that one of them reads, and
// refuses those that none does.
func TestKeysOfOneSchedule(t *testing.T) {
	g := undirected(t)
	run := func(schedule string, settings ...string) (lower.Result, error) {
		w := testWorkload(t, append(settings, "schedule.cta_threads=8", "schedule.variant=graphit")...)
		return lower.Run(context.Background(), device(t, w), g, parse(t, "bfs.gt", program(t, "bfs")+schedule),
			lower.Options{Args: append(args("bfs", g), "0.1"), Workload: w})
	}
	r, err := run(hybridSchedule, "schedule.scan=scratchpad", "compiler.ahead=false")
	require.NoError(t, err)
	require.True(t, r.Verified)
	require.Contains(t, r.Plans[0], "graphit")
	require.Contains(t, r.Plans[0], "cta-8")
	require.NotContains(t, r.Plans[1], "graphit")
	require.NotContains(t, r.Plans[1], "cta-8")
	_, err = run(strings.ReplaceAll(hybridSchedule, "TWCE", "VERTEX_BASED"))
	require.ErrorContains(t, err, "workload.schedule.cta_threads = 8: nothing is shared by thread blocks")
}

// TestEdgeBlocking: BLOCKED is block-coo, whose threads go on, or where the workload says so edge-blocking, whose
// threads meet behind each block (UGF's Algorithm 3).
func TestEdgeBlocking(t *testing.T) {
	src := program(t, "pagerank") + `
schedule:
    SimpleGPUSchedule s;
    s.configLoadBalance(EDGE_ONLY, BLOCKED, 16);
    s.configDirection(PUSH);
    program->applyGPUSchedule("loop:step", s);
`
	g := undirected(t)
	meets := map[string]uint64{}
	for want, settings := range map[string][]string{"block-coo": nil, "edge-blocking": {"layout=edge-blocking"}} {
		w := testWorkload(t, settings...)
		r, err := lower.Run(context.Background(), device(t, w), g, parse(t, "pagerank.gt", src),
			lower.Options{Args: []string{"pagerank.gt", "graph", "1"}, Output: io.Discard, Workload: w})
		require.NoError(t, err)
		require.True(t, r.Verified)
		require.Equal(t, []string{"loop:step/edge/" + want + "/push/counter/block-16"}, r.Plans)
		for _, l := range r.Launched {
			if l.Kernel == "loop:step/gather-push" {
				meets[want] += l.Barriers
			}
		}
	}
	t.Log(meets)
	require.Greater(t, meets["edge-blocking"], meets["block-coo"])
}

// TestUnitsBetweenOperators: a launch over vertices between two traversals leaves the units' lists alone, and a graph
// unit does not go on with the edges of the gather before it. So it must on a machine with time, where units work
// unasked.
func TestUnitsBetweenOperators(t *testing.T) {
	g := load(t, "bipartite.left=17", "bipartite.right=9", "bipartite.edges=136", "clean.symmetrise=true")
	l, err := configs.LoadMachine("vortex-1c4w4t-graphpeg", nil, nil)
	require.NoError(t, err)
	for _, settings := range [][]string{{"schedule=peg"}, {"schedule=peg", "active_set=queue"}} {
		d, err := host.NewTimed(l.Value, sim.Options{})
		require.NoError(t, err)
		r, err := lower.Run(context.Background(), d, g, parse(t, "bc", program(t, "bc")),
			lower.Options{Args: []string{"bc", "graph", "0"}, Workload: testWorkload(t, settings...)})
		require.NoError(t, err, settings)
		require.True(t, r.Verified)
	}
}

// TestArgumentsAreVerticesAsRead: a program begins at the vertex that was read with the number that it is given,
// wherever clean-up and reordering move it, on a machine and on the host.
func TestArgumentsAreVerticesAsRead(t *testing.T) {
	base := []string{"rmat.scale=7", "rmat.edge_factor=3", "rmat.seed=4"}
	for _, name := range []string{"sssp", "delta_stepping"} {
		f := parse(t, name, program(t, name))
		distances := func(t *testing.T, g *graph.Graph, source string) map[uint32]uint32 {
			o := lower.Options{Args: []string{name, "graph", source}, Workload: testWorkload(t)}
			res, err := lower.Run(t.Context(), device(t, o.Workload), g, f, o)
			require.NoError(t, err)
			of := map[uint32]uint32{}
			for v, d := range res.Vectors[0].Words {
				of[g.AsRead(uint32(v))] = d
			}
			return of
		}
		plain := load(t, base...)
		source := strconv.Itoa(int(plain.DrawSources(1, 7)[0]))
		want := distances(t, plain, source)
		for _, keys := range []string{"reorder.order=degree", "reorder.order=random", "reorder.order=bfs",
			"clean.compact_ids=true", "clean.compact_ids=true reorder.order=random"} {
			g := load(t, append(strings.Fields(keys), base...)...)
			for v, d := range distances(t, g, source) {
				require.Equal(t, want[v], d, "%s, %s: vertex %d", name, keys, v)
			}
		}
	}
}

// TestArgumentsThatCannotBeKnown: on a renumbered graph, and on no other.
func TestArgumentsThatCannotBeKnown(t *testing.T) {
	text := program(t, "bfs")
	plain, moved := load(t, "grid.width=4", "grid.height=4"),
		load(t, "grid.width=4", "grid.height=4", "reorder.order=random")
	for change, says := range map[string]string{
		"atoi(argv[2])->2":                         "bfs:17:24: vertex 2 is written in the program",
		"addVertex(source)->addVertex(2)":          "bfs:19:24: vertex 2 is written in the program, and graph.clean.compact_ids and graph.reorder have given vertices other numbers: expected an argument, atoi(argv[2])",
		"atoi(argv[2])->atoi(argv[2]) + 1":         "the vertex is computed from argv[2]",
		"parent[source] = source->source = source": "",
		"Size() != 0->Size() > source - source":    "argv[2] is a number here and a vertex in line 19",
	} {
		old, now, _ := strings.Cut(change, "->")
		require.Contains(t, text, old)
		f := parse(t, "bfs", strings.ReplaceAll(text, old, now))
		for _, g := range []*graph.Graph{plain, moved} {
			o := lower.Options{Args: []string{"bfs", "graph", "2"}, Workload: testWorkload(t), MaxSteps: 50}
			_, err := lower.Run(t.Context(), device(t, o.Workload), g, f, o)
			if g == plain || says == "" {
				require.NotContains(t, errorText(err), "graph.reorder", change)
				continue
			}
			require.ErrorContains(t, err, says, change)
		}
	}
	f := parse(t, "bfs", text)
	o := lower.Options{Args: []string{"bfs", "graph", "16"}, Workload: testWorkload(t)}
	_, err := lower.Run(t.Context(), device(t, o.Workload), moved, f, o)
	require.ErrorContains(t, err, "argv[2] = 16: the graph has vertices 0 to 15")
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
