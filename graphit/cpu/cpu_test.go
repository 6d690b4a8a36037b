package cpu

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs/schema"
	"heddle/graph"
	"heddle/graph/graphspec"
	"heddle/graphit"
	"heddle/graphit/programs"
	"heddle/internal/testenv"
)

func load(t testing.TB, settings ...string) *graph.Graph {
	l, err := graphspec.Schema.Load(schema.Input{Set: settings})
	require.NoError(t, err)
	g, err := graph.Load(l.Value)
	require.NoError(t, err)
	return g
}

func parse(t testing.TB, name, src string) *graphit.File {
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

// args are our programs' arguments after the graph.
func args(name string, g *graph.Graph) []string {
	a := []string{name, "graph"}
	switch name {
	case "pagerank", "pagerank_delta":
		return append(a, "5")
	case "cc", "k_core", "spmv":
		return a
	}
	return append(a, strconv.Itoa(int(g.DrawSources(1, 7)[0])))
}

func graphs(t testing.TB) map[string]*graph.Graph {
	clean := []string{"clean.symmetrise=true", "clean.drop_duplicates=true", "clean.drop_self_loops=true",
		"weights.from=random", "weights.max=30"}
	with := func(s ...string) *graph.Graph { return load(t, append(s, clean...)...) }
	return map[string]*graph.Graph{
		"skewed":   with("rmat.scale=12", "rmat.edge_factor=12"),
		"directed": load(t, "rmat.scale=10", "rmat.edge_factor=5", "weights.from=random", "weights.max=500"),
		"tiny":     with("rmat.scale=3", "rmat.edge_factor=2"),
	}
}

// compiled makes a program, with Go's race detector if that is asked for and can be had: it takes a C compiler.
func compiled(t testing.TB, f *graphit.File, race bool) *Executable {
	race = race && detects()
	x, err := Compiled(context.Background(), f, Options{race: race}, filepath.Join(t.TempDir(), "program"))
	require.NoError(t, err)
	return x
}

// detects reports whether programs can be compiled with the race detector.
func detects() bool {
	_, err := exec.LookPath("gcc")
	return err == nil && os.Getenv("CGO_ENABLED") != "0"
}

// TestPrograms: every program (without testenv.LongVariable, half of them) gives the reference's result on every graph,
// with any number of threads, and no threads race: with testenv.LongVariable 0 those of some programs are watched, and
// without it none, as that takes Go's library compiled for it.
func TestPrograms(t *testing.T) {
	all := graphs(t)
	for _, name := range testenv.Some(t, 0, len(programs.Names()), programs.Names()) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := parse(t, name, program(t, name))
			some := testenv.Slow() && slices.Contains([]string{"bfs", "delta_stepping"}, name)
			together := compiled(t, f, some || testenv.Long(t) > 0)
			alone := together
			if testenv.Long(t) > 0 {
				alone = compiled(t, f, false)
			}
			for what, g := range all {
				for _, threads := range []int{1, 2, 5} {
					x := alone
					if threads > 1 {
						x = together
					}
					r, err := x.Run(context.Background(), g,
						Options{Args: args(name, g), Threads: threads, MaxSteps: 100000})
					require.NoError(t, err, "%s, %d threads", what, threads)
					require.True(t, r.Verified)
					require.Contains(t, r.Summary, "operators over edges")
				}
			}
		})
	}
}

// schedules are an operator's schedules: push and pull, all representations, and all ways to deduplicate.
var schedules = []string{
	"SimpleGPUSchedule s; s.configDirection(PULL, BITMAP);",
	"SimpleGPUSchedule s; s.configDirection(PULL, BOOLMAP); s.configLoadBalance(VERTEX_BASED);",
	"SimpleGPUSchedule s; s.configDirection(PUSH); s.configFrontierCreation(UNFUSED_BITMAP);",
	"SimpleGPUSchedule s; s.configFrontierCreation(UNFUSED_BOOLMAP); s.configLoadBalance(VERTEX_BASED);",
	"SimpleGPUSchedule s; s.configDeduplication(ENABLED, BITMAP);",
	"SimpleGPUSchedule s; s.configDeduplication(ENABLED, BOOLMAP); s.configLoadBalance(EDGE_ONLY, BLOCKED, 100);",
	"SimpleGPUSchedule s; s.configDeduplication(DISABLED);",
	"SimpleGPUSchedule a; a.configDirection(PUSH); SimpleGPUSchedule b; b.configDirection(PULL, BITMAP); HybridGPUSchedule s(INPUT_VERTEXSET_SIZE, 0.05, a, b);",
	`program->configApplyDirection("LABEL", "SparsePush-DensePull");`,
	`program->configApplyDirection("LABEL", "SparsePush-DensePull")->configApplyDenseVertexSet("LABEL", "bitvector");`,
	`program->configApplyParallelization("LABEL", "serial");`,
	`program->configApplyParallelization("LABEL", "dynamic-vertex-parallel");`,
}

// labels are those of our programs' operators over edges.
var labels = map[string][]string{"bc": {"search:step", "return:step"}, "spmv": {"step"}}

// TestSchedules: every program gives the reference's result under every schedule; without testenv.LongVariable, under
// some.
func TestSchedules(t *testing.T) {
	testenv.NeedSlow(t, "it compiles a program for each schedule")
	all := graphs(t)
	for i, s := range schedules {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			for j, name := range programs.Names() {
				if testenv.Long(t) == 0 && (i+j)%12 != 0 {
					continue
				}
				list := labels[name]
				if list == nil {
					list = []string{"loop:step"}
				}
				text := s
				if !strings.Contains(s, "LABEL") {
					for _, l := range list {
						text += fmt.Sprintf("\nprogram->applyGPUSchedule(%q, s);", l)
					}
				} else {
					text = ""
					for _, l := range list {
						text += strings.ReplaceAll(s, "LABEL", l)
					}
				}
				f := parse(t, name, program(t, name))
				var err error
				f.Schedule, err = graphit.ParseSchedule("s.gt", []byte(text))
				require.NoError(t, err)
				x := compiled(t, f, i%4 == 0 && testenv.Long(t) > 0)
				for what, g := range all {
					for _, threads := range []int{1, 3} {
						_, err := x.Run(context.Background(), g,
							Options{Args: args(name, g), Threads: threads, MaxSteps: 100000})
						require.NoError(t, err, "%s on %s, %d threads, %s", name, what, threads, s)
					}
				}
			}
		})
	}
}
