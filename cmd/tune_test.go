package cmd

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs/schema"
	"heddle/experiment"
	"heddle/experiment/tune"
	"heddle/graphit/programs"
	"heddle/internal/testenv"
)

const tuned = `name: t
machine: vortex-1c4w4t
graph: {rmat: {scale: 4, edge_factor: 3}, clean: {symmetrise: true}}
workload: {algorithm: bfs}
`

// TestTune: a search finds the result of an exhaustive one, with any number of jobs, resumes where it was ended,
// and leaves an experiment that runs the best.
func TestTune(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("t.yaml", []byte(tuned), 0o644))
	search := func(args ...string) (o tune.Outcome) {
		t.Helper()
		out, errs, code := heddle(t, append([]string{"tune", "t.yaml", "--json", "--only", "warps_per_core=0", "--only",
			"schedule=vertex,edge", "--only", "layout=csr,coo", "--only", "fusion=none", "--only", "unroll=1,4", "--only",
			"direction=push,hybrid"}, args...)...)
		require.Zero(t, code, errs)
		require.NoError(t, json.Unmarshal([]byte(out), &o))
		return o
	}
	all := search("--exhaustive", "--set", "name=all")
	require.Equal(t, all.Candidates, all.Simulated)
	one := search("--jobs", "1")
	require.Equal(t, all.Best.Cycles, one.Best.Cycles)
	require.Positive(t, one.Abandoned)
	require.Equal(t, one, search("--jobs", "3", "--fresh"))
	require.Equal(t, one, search(), "everything is stored")

	begun := search("--set", "name=part", "--points", "9")
	require.True(t, begun.Spent)
	require.Equal(t, 9, begun.Simulated)
	require.Equal(t, one, search("--set", "name=part"))

	out, errs, code := heddle(t, "run", filepath.Join("results", "t-tune", "best.yaml"), "--json", "--set",
		"name=again")
	require.Zero(t, code, errs)
	var sum struct{ Points []struct{ Cycles uint64 } }
	require.NoError(t, json.Unmarshal([]byte(out), &sum))
	require.Equal(t, []struct{ Cycles uint64 }{{one.First.Cycles}, {one.Best.Cycles}}, sum.Points)

	out, errs, code = heddle(t, "tune", "t.yaml", "--only", "warps_per_core=0", "--only", "schedule=vertex,edge",
		"--only", "layout=csr,coo", "--only", "fusion=none", "--only", "unroll=1,4", "--only", "direction=push,hybrid")
	require.Zero(t, code, errs)
	require.Contains(t, out, one.Best.Kernel)
	require.Contains(t, out, "candidates simulated")
	for _, line := range strings.Split(out, "\n") {
		require.LessOrEqual(t, len([]rune(line)), 80, line)
	}
}

// TestTuneKnowsPoints: a search reuses other experiments' results, with the same outcome as one that simulates all, and
// others reuse its own. A choice that auto selects is known by its name, and as auto.
func TestTuneKnowsPoints(t *testing.T) {
	testenv.NeedSlow(t, "it searches several times")
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("t.yaml", []byte(tuned), 0o644))
	search := func(args ...string) (o tune.Outcome, errs string) {
		t.Helper()
		out, errs, code := heddle(t, append([]string{"tune", "t.yaml", "--json", "--only", "warps_per_core=0", "--only",
			"schedule=vertex,edge", "--only", "layout=csr,coo", "--only", "fusion=none", "--only", "unroll=1,4", "--only",
			"direction=push,hybrid"}, args...)...)
		require.Zero(t, code, errs)
		require.NoError(t, json.Unmarshal([]byte(out), &o))
		return o, errs
	}
	sweep := []string{"run", "t.yaml", "--set", "name=sweep", "--set", "compare={workload.schedule: [vertex, edge]}", "--set",
		"sweep={workload.unroll: ['1', '4'], workload.active_set: [auto, bytemap]}"}
	_, errs, code := heddle(t, sweep...)
	require.Zero(t, code, errs)
	alone, errs := search("--out", "alone")
	require.NotContains(t, errs, "known")
	require.Positive(t, alone.Abandoned)
	shared, errs := search()
	require.Regexp(t, `(?m)^[1-9][0-9]* of [0-9]+ points known \([1-9][0-9]* from sweep\)$`, errs)
	require.Equal(t, alone, shared)
	again, errs := search("--out", "alone")
	require.Equal(t, alone, again)
	require.NotContains(t, errs, "from")
	whole, errs := search("--exhaustive", "--set", "name=whole")
	require.Contains(t, errs, "from t-tune")
	require.LessOrEqual(t, whole.Best.Cycles, alone.Best.Cycles)
	last, errs := search("--set", "name=last")
	require.Equal(t, alone, last, "with every candidate known to its end")
	n := fmt.Sprint(last.Simulated)
	require.Contains(t, errs, n+" of "+n+" points known")
	stored := results(t, "sql", "last-tune", "SELECT point FROM points WHERE verified")
	require.Contains(t, stored, n)

	_, errs, code = heddle(t, append(sweep, "--set", "name=other", "--recheck", "100%")...)
	require.Zero(t, code, errs)
	require.Contains(t, errs, "8 of 8 points known", "of the sweep or the search, simulated again to the same")
	require.Contains(t, errs, "8 of them are simulated again")
}

func TestTuneRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("t.yaml", []byte(tuned), 0o644))
	for says, args := range map[string][]string{
		"seeds: expected none":                                     {"tune", "t.yaml", "--set", "seeds=[1,2]"},
		"--schedules hard: expected auto":                          {"tune", "t.yaml", "--schedules", "hard"},
		"at the point algorithm=pagerank":                          {"tune", "t.yaml", "--set", "sweep={workload.algorithm: [pagerank]}", "--only", "direction=hybrid"},
		"exclude: expected none":                                   {"tune", "t.yaml", "--set", "sweep={workload.algorithm: [bfs, cc]}", "--set", "exclude=[{workload.algorithm: cc}]"},
		"workload: expected heddle's compiled kernels":             {"tune", "t.yaml", "--set", "workload.recipe=gunrock"},
		"--take: expected an experiment with compare":              {"tune", "t.yaml", "--take", "study.json"},
		"--only x=1: expected KEY=VALUE":                           {"tune", "t.yaml", "--only", "x=1"},
		"--points, --budget: expected":                             {"tune", "t.yaml", "--points", "-1"},
		"needs both directions of every edge":                      {"tune", "t.yaml", "--set", "workload.algorithm=k-core", "--set", "graph.clean.symmetrise=false"},
		"workload.algorithm.source = 99: the graph has vertices 0": {"tune", "t.yaml", "--set", "workload.algorithm.source=99"},
	} {
		_, errs, code := heddle(t, append(args, "--only", "layout=csr,csr-csc", "--only", "fusion=none")...)
		require.Equal(t, exitUsage, code, errs)
		require.Contains(t, errs, says)
	}
}

// TestVariantNames: variants of a study have the names that an experiment gives them, which distinguish two machines
// with the same unit.
func TestVariantNames(t *testing.T) {
	named := func(name string) experiment.Point {
		return experiment.Point{Variant: []experiment.Setting{{Key: schema.VariantKey, Value: name}}}
	}
	names := variantNames([]experiment.Point{named("eghw-lines"), named("eghw-plain")})
	require.Equal(t, map[string]string{"eghw-lines": "eghw-lines", "eghw-plain": "eghw-plain"}, names)
	machine := experiment.Point{Variant: []experiment.Setting{{Key: "machine", Value: "vortex-1c4w4t"}}}
	require.Equal(t, map[string]string{"vortex-1c4w4t": "software"}, variantNames([]experiment.Point{machine}))
}

// TestStudy: an experiment with axes is a search at each of its points, on machines with units over their schedules;
// the same when it goes on, and with any number of jobs.
func TestStudy(t *testing.T) {
	testenv.NeedSlow(t, "it runs a study of sensitivity")
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("t.yaml",
		[]byte(tuned+"compare: {machine: [vortex-1c4w4t, vortex-1c4w4t-weaver]}\nsweep: {workload.algorithm: [bfs, cc]}\n"),
		0o644))
	command := []string{"tune", "t.yaml", "--only", "warps_per_core=0", "--only", "cta_threads=0", "--only",
		"direction=push", "--only", "scan=shuffle", "--only", "layout=csr,coo", "--only", "fusion=none", "--points", "16"}
	study := func(args ...string) (s tune.Study) {
		t.Helper()
		out, errs, code := heddle(t, append(append(slices.Clone(command), "--json"), args...)...)
		require.Zero(t, code, errs)
		require.NoError(t, json.Unmarshal([]byte(out), &s))
		for _, p := range s.Problems {
			for _, x := range p.Of {
				x.Seconds = 0 // the host's
			}
		}
		return s
	}
	one := study("--jobs", "1")
	require.Equal(t, []string{"software", "weaver"}, one.Variants)
	require.Len(t, one.Problems, 2)
	for i, p := range one.Problems {
		require.Equal(t, []experiment.Setting{{Key: "workload.algorithm", Value: []string{"bfs", "cc"}[i]}}, p.Axes)
		require.Len(t, p.Of, 2)
		software, weaver := p.Of[0].Outcome, p.Of[1].Outcome
		require.Contains(t, software.First.Kernel, "/vertex/")
		require.Contains(t, weaver.Best.Kernel, "/weaver/")
		require.Len(t, software.Schedules, 7)
		for _, r := range software.Schedules {
			require.False(t, r.AtLeast, "each schedule is simulated to its end")
			require.GreaterOrEqual(t, r.Cycles, software.Best.Cycles)
		}
		require.InDelta(t, float64(software.First.Cycles)/float64(weaver.Best.Cycles), p.Over(1), 1e-9)
		require.InDelta(t, float64(software.Best.Cycles)/float64(weaver.Best.Cycles), p.OverBest(1), 1e-9)
		require.Positive(t, p.Of[1].Best["core.commit.instructions"])
		require.Positive(t, p.Graph.Vertices)
	}
	require.Equal(t, one, study(), "everything is stored")
	require.Equal(t, one, study("--jobs", "3", "--fresh"))
	tables, err := os.ReadFile(filepath.Join("results", "t-tune", "study.md"))
	require.NoError(t, err)
	require.Equal(t, one.Markdown(), string(tables))

	some := one
	some.Problems = slices.Clone(one.Problems)
	bfs := *some.Problems[0]
	bfs.Of = bfs.Of[:1]
	some.Problems[0] = &bfs // without the weaver's
	text, err := json.Marshal(some)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("some.json", text, 0o644))
	require.Equal(t, one, study("--take", "some.json", "--out", "other"),
		"the weaver's is searched, the others are taken over")
	searched, err := filepath.Glob("other/t-tune/*/results.sqlite")
	require.NoError(t, err)
	require.Len(t, searched, 1)

	out, errs, code := heddle(t, command...)
	require.Zero(t, code, errs)
	for _, line := range strings.Split(out[strings.Index(out, "┌"):], "\n") {
		require.LessOrEqual(t, len([]rune(line)), 80, line)
	}
}

// TestTuneProgram: a search of a program's schedules finds the result of an exhaustive one, with any number of jobs,
// and resumes where it was ended; its result runs with as many cycles.
func TestTuneProgram(t *testing.T) {
	testenv.NeedSlow(t, "it searches several times")
	t.Chdir(t.TempDir())
	bc, err := programs.Source("bc")
	require.NoError(t, err)
	unfused := strings.NewReplacer("#search# ", "", "#return# ", "", "#step# var", "#forward# var", "#step# reverse",
		"#backward# reverse").Replace(string(bc)) // a loop with a label would be searched, too
	require.NoError(t, os.WriteFile("unfused.gt", []byte(unfused), 0o644))
	require.NoError(t, os.WriteFile("t.yaml", []byte(`name: t
machine: vortex-1c4w4t
graph: {rmat: {scale: 4, edge_factor: 3}, clean: {symmetrise: true}}
workload: {program: unfused.gt, arguments: ["1"], schedules: {backward: {direction: PULL}}}
`), 0o644))
	only := []string{"--only", "load_balance=VERTEX_BASED,EDGE_ONLY", "--only",
		"deduplication=ENABLED MONOTONIC_COUNTERS"}
	out, errs, code := heddle(t, append([]string{"tune", "t.yaml", "--count", "--json"}, only...)...)
	require.Zero(t, code, errs)
	var counts []tune.Count
	require.NoError(t, json.Unmarshal([]byte(out), &counts))
	require.Len(t, counts, 2)
	for _, c := range counts {
		require.Positive(t, c.Kernels["PUSH"])
		require.Equal(t, c.Kernels["PUSH"]*c.Kernels["PULL"]*5, c.Hybrids)
	}
	require.Equal(t, 6, counts[0].Words["PUSH"], "two load balances, three frontiers, one way to deduplicate")
	search := func(args ...string) (o programOutcome) {
		t.Helper()
		out, errs, code := heddle(t, append(append([]string{"tune", "t.yaml", "--json"}, only...), args...)...)
		require.Zero(t, code, errs)
		require.NoError(t, json.Unmarshal([]byte(out), &o))
		return o
	}
	all := search("--exhaustive", "--set", "name=all")
	one := search("--jobs", "1")
	require.Equal(t, all.Best, one.Best)
	require.Less(t, one.Best, one.First)
	require.Equal(t, one, search("--jobs", "3", "--fresh"))
	require.Equal(t, one, search(), "everything is stored")
	part := search("--set", "name=part", "--points", "5")
	require.True(t, part.Spent)
	require.Equal(t, one.First, part.First)

	out, errs, code = heddle(t, "run", filepath.Join("results", "t-tune", "best.yaml"), "--json")
	require.Zero(t, code, errs)
	var sum struct{ Points []struct{ Cycles uint64 } }
	require.NoError(t, json.Unmarshal([]byte(out), &sum))
	require.Equal(t, []struct{ Cycles uint64 }{{one.First}, {one.Best}}, sum.Points)

	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--only", "load_balance=SIDEWAYS"}, "expected some of VERTEX_BASED"},
		{[]string{"--only", "layout=csr"}, "expected KEY=VALUE"},
		{[]string{"--set", "compare=[{name: a}]"}, "expected none with a GraphIt program"},
		{[]string{"--set", "workload.program=heddle", "--set", "workload.graphit.arguments=[]", "--set", "workload.graphit.schedules={}", "--count"}, "expected a GraphIt program"},
	} {
		_, errs, code := heddle(t, append([]string{"tune", "t.yaml"}, c.args...)...)
		require.NotZero(t, code)
		require.Contains(t, errs, c.says)
	}
}

// TestTuneFusion: a loop that can be one launch is searched behind its operators, and hybrids, which keep it the
// host's, are compared with it.
func TestTuneFusion(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("t.yaml", []byte(`name: t
machine: vortex-1c4w4t
graph: {rmat: {scale: 5, edge_factor: 3}, clean: {symmetrise: true}}
workload: {program: cc.gt}
`), 0o644))
	search := func(args ...string) (o programOutcome) {
		t.Helper()
		out, errs, code := heddle(t, append([]string{"tune", "t.yaml", "--json", "--only",
			"load_balance=VERTEX_BASED,EDGE_ONLY", "--only", "deduplication=ENABLED MONOTONIC_COUNTERS"}, args...)...)
		require.Zero(t, code, errs)
		require.NoError(t, json.Unmarshal([]byte(out), &o))
		return o
	}
	both := search()
	require.Len(t, both.Labels, 2)
	require.Equal(t, "loop", both.Labels[1].Label)
	require.Equal(t, 2, both.Labels[1].Kernels[tune.Fusion])
	require.Contains(t, both.Schedules, `"loop": {kernel_fusion: ENABLED}`)
	hosts := search("--set", "name=hosts", "--only", "kernel_fusion=DISABLED")
	require.NotContains(t, hosts.Schedules, "ENABLED}")
	require.Less(t, both.Best, hosts.Best, "launches are dear")
	free := search("--set", "name=free", "--set", "workload.launch_overhead=0")
	require.NotContains(t, free.Schedules, "kernel_fusion: ENABLED")
}
