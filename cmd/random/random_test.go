// Package random_test tests the whole product against unforeseen combinations: experiments drawn from
// the schema, each with one point on a tiny graph, run by the command with --check. RANDOM_COMMAND names a heddle to
// run instead of one that is built.
//
// Nine in ten experiments run to their end and are verified; of the others most meet the limit of cycles, and three in
// a hundred are refused, for reasons that depend on the graph.
package random_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/accel"
	"heddle/components/cache"
	"heddle/components/core"
	"heddle/components/graphpeg"
	"heddle/configs"
	"heddle/configs/schema"
	"heddle/experiment/config"
	"heddle/graph"
	"heddle/graph/graphspec"
	"heddle/graphit"
	"heddle/graphit/lower"
	"heddle/graphit/programs"
	"heddle/internal/testenv"
	"heddle/isa/emu"
	"heddle/kernels/activeset"
	"heddle/kernels/compose"
	"heddle/kernels/feature"
	"heddle/kernels/featured"
	"heddle/kernels/featured/featuredtest"
	"heddle/kernels/host"
	"heddle/kernels/schedule"
	"heddle/kernels/workload"
)

// Exit codes of the command.
const (
	exitOK         = 0
	exitFailed     = 1
	exitUsage      = 2
	exitNoProgress = 3
)

// maxCycles ends runs on machines that are drawn too slow: a memory of a hundredth of the cores' clock, and the like.
const maxCycles = "2000000"

// maxDrawn are limits of host time and memory: every larger value is as legal.
var maxDrawn = map[string]int64{
	"machine.sockets": 4, "machine.cores_per_socket": 3, "machine.l1i.bytes": 64 << 10, "machine.l1d.bytes": 64 << 10, "machine.l2.bytes": 256 << 10, "machine.l3.bytes": 512 << 10,
	"request": 200, "response": 200, "list_region": 64 << 10, "workload.algorithm.width": 32, "workload.max_iterations": 3, "workload.launch_overhead": 100_000,
	"machine.ctrlproc.interval": 10_000, "machine.core.hwwl.interval": 10_000, "workload.order.delta": 1000,
}

// drawing draws experiments. Keys that may not be drawn are set afterwards.
func drawing(r *rand.Rand, unit string) schema.Drawing[config.Experiment] {
	return schema.Drawing[config.Experiment]{
		Rand: r, Most: maxDrawn, Fit: func(e *config.Experiment) { fit(&e.Machine, unit) },
		Keep: []string{"name", "graph", "compare", "sweep", "exclude", "seeds", "stop", "region", "stats", "report",
			"trace", "program", "workload.host", "workload.graphit.arguments", "workload.graphit.schedule_file",
			"workload.graphit.schedules", "workload.graphit.float", "kernel", "write_enable", "workload.algorithm.source",
			"workload.algorithm.target", "workload.recipe", "workload.schedule", "workload.features",
			"machine.core.weaver.model", "machine.core.graphpeg.model",
			"machine.ctrlproc.model"}, // a build for each machine
	}
}

// fit adjusts keys that depend on drawn ones: sizes that go together, parts that exclude each other.
func fit(m *configs.Machine, unit string) {
	if m.L2 == nil {
		m.L3, m.Concentrator, m.SocketPort = nil, nil, false
	}
	if m.Concentrator != nil {
		m.SocketPort = false
	}
	if m.SocketPort {
		m.ToL2.Request = max(m.ToL2.Request, 3)
	}
	for _, w := range []*configs.Wires{&m.ToL2, &m.ToL3, &m.ToMemory} {
		w.Fit()
	}
	m.L1I.LineBytes = m.L1D.LineBytes
	line := m.L1D.LineBytes
	for _, c := range []*cache.Spec{&m.L1I, &m.L1D, m.L2, m.L3} {
		if c != nil {
			c.LineBytes = max(c.LineBytes, line)
			line = c.LineBytes
			c.Fit()
		}
	}
	c := &m.Core
	divisor := func(v *int, of int) {
		for *v > 1 && of%*v != 0 {
			*v--
		}
	}
	for _, lanes := range []*int{&c.ALULanes, &c.FPULanes, &c.SFULanes, &c.LSULanes} {
		*lanes = min(*lanes, c.Threads)
		divisor(lanes, c.Threads)
	}
	c.Issue.Slices = min(c.Issue.Slices, c.Warps)
	divisor(&c.Issue.Slices, c.Warps)
	c.ScratchpadBytes &^= 3
	if !c.Unit.Is(unit) {
		c.Unit.Spec = nil
	}
	switch s := c.Unit.Spec.(type) {
	case accel.SizedSpec:
		s.Enlarge(m.UnitShape(0))
	case *graphpeg.Spec:
		c.ScratchpadBytes = max(c.ScratchpadBytes, s.ScratchpadLimit)
	}
	if m.Sockets > 1 && m.L2 == nil && m.Atomics.Mode.String() == "l2" {
		m.Sockets = 1
	}
}

// randomExperiment draws one: a machine, a schedule that it can run, which is mostly that of its unit, a workload of
// those that go together with both, and a graph.
func randomExperiment(t testing.TB, r *rand.Rand) config.Experiment {
	e := config.Schema.Default()
	e.Name = "random"
	e.Graph.Grid = &graphspec.Grid{Width: 2, Height: 2}
	names := []string{""}
	for _, u := range accel.Registered() {
		names = append(names, u.Name)
	}
	machine := drawing(r, names[r.IntN(len(names))])
	machine.Keep = append(machine.Keep, "workload")
	e, err := config.Schema.Draw(e, machine)
	require.NoError(t, err)
	chooseSchedule(t, r, &e)
	keys := drawing(r, "")
	keys.Keep, keys.Fit = append(keys.Keep, "machine"), fitWarps
	keys.Refused = func(e config.Experiment) error { return refused(&e) }
	for range 3 { // again from the drawn values: some choices are legal after others only
		e, err = config.Schema.Draw(e, keys)
		require.NoError(t, err)
	}
	e.Graph = randomGraph(t, r)
	w := &e.Workload
	// A run that is stopped with active vertices has failed, rightly.
	switch w.Algorithm {
	case workload.PageRank:
	case "pagerank-delta": // small thresholds and a damping near 1 take long
		w.Iterations = 1 + w.Iterations%8
	default:
		w.Iterations = 0
	}
	switch w.Algorithm {
	case "k-core", "k-core-counted", "colouring", "stcon":
		e.Graph.Clean.Symmetrise, e.Graph.Clean.DropSelfLoops = true, true
	case "triangles":
		e.Graph.Clean = graphspec.Clean{Symmetrise: true, DropSelfLoops: true, DropDuplicates: true}
	}
	switch r.IntN(8) {
	case 0:
		e = randomProgram(t, r, e)
	case 1:
		e = randomFeatures(t, r, e)
	}
	illegal, err := config.Schema.Legal(e)
	require.NoError(t, err)
	require.NoError(t, illegal)
	return e
}

// randomFeatures has an algorithm on features in place of the algorithm. If none of a few draws goes together with the
// rest, the algorithm stays.
func randomFeatures(t testing.TB, r *rand.Rand, e config.Experiment) config.Experiment {
	const tries = 8
	g, err := graph.Load(e.Graph)
	require.NoError(t, err)
	s := schema.New[workload.Features]("")
	for range tries {
		p := e
		w := &p.Workload
		w.Features, err = s.Draw(s.Default(), schema.Drawing[workload.Features]{Rand: r})
		require.NoError(t, err)
		if r.IntN(4) > 0 {
			w.Features.Count = 1 + r.IntN(9) // small ones end within the limit of cycles
		}
		list := feature.Algorithms()
		w.Algorithm, w.Iterations, w.Tolerance = workload.Algorithm(list[r.IntN(len(list))].Name), 1+r.IntN(4), 0
		w.Direction = []workload.Choice{workload.Auto, "push", "pull"}[r.IntN(3)]
		w.ActiveSet, w.Dedup, w.Order, w.Fusion, w.Coefficient, w.Settled = workload.Auto, workload.Auto, "none", "none",
			"hardware", false
		w.Skip, w.Sum, w.HybridRule, w.Buckets = "early", "register", "beamer", activeset.DefaultBuckets
		featuredtest.Fit(r, w)
		d, err := host.NewRehearsal(&p.Machine)
		require.NoError(t, err)
		if _, err := featured.Rehearse(d, g, w); err == nil {
			return p
		}
	}
	return e
}

// randomProgram has a GraphIt program in place of the algorithm, with the choices drawn for that where no schedule says
// otherwise. If none of a few programs goes together with these, the algorithm stays.
func randomProgram(t testing.TB, r *rand.Rand, e config.Experiment) config.Experiment {
	const tries = 8
	g, err := graph.Load(e.Graph)
	require.NoError(t, err)
	for range tries {
		p := e
		drawProgram(r, &p)
		if w := &p.Workload; runsProgram(t, &p, g) {
			return p
		} else if w.ActiveSet = workload.Auto; runsProgram(t, &p, g) {
			return p
		}
	}
	return e
}

// runsProgram reports whether the machine can run a program on a graph.
func runsProgram(t testing.TB, e *config.Experiment, g *graph.Graph) bool {
	w := &e.Workload
	src, err := programs.Source(strings.TrimSuffix(w.Program, workload.GraphItSuffix))
	require.NoError(t, err)
	f, err := graphit.Parse(w.Program, src)
	require.NoError(t, err)
	require.NoError(t, graphit.Check(f))
	labels, err := graphit.ParseLabels([]byte(w.Schedules))
	require.NoError(t, err)
	d, err := host.NewRehearsal(&e.Machine)
	require.NoError(t, err)
	_, err = lower.Rehearse(context.Background(), d, g, f, lower.Options{
		Args: append([]string{"p", "g"}, w.Arguments...), Workload: *w, Schedule: f.Schedule.With(labels),
	}, false)
	return err == nil
}

// drawProgram draws a program and a schedule.
func drawProgram(r *rand.Rand, e *config.Experiment) {
	w := &e.Workload
	names := programs.Names()
	name := names[r.IntN(len(names))]
	w.Program, w.Arguments, w.Schedules = name+workload.GraphItSuffix, nil, "{}"
	w.Iterations, w.Order, w.Fusion, w.Coefficient, w.Settled = 0, "none", "none", "hardware", false
	labels := []string{"loop:step"}
	switch name {
	case "spmv":
		labels = []string{"step"}
	case "pagerank", "pagerank_delta":
		w.Arguments = []string{strconv.Itoa(1 + r.IntN(3))}
	case "bc":
		labels, w.Arguments = []string{"search:step", "return:step"}, []string{"0"}
	case "cc", "k_core":
	default:
		w.Arguments = []string{"0"}
	}
	one := func(words ...string) string { return words[r.IntN(len(words))] }
	simple := func() string {
		var parts []string
		for _, s := range []string{
			"load_balance: " + one("VERTEX_BASED", "EDGE_ONLY", "TWC", "TWCE", "STRICT", "WM", "CM", "[EDGE_ONLY, BLOCKED, 4]"),
			"direction: " + one("PUSH", "PULL", "[PULL, BITMAP]"), "frontier_creation: " + one("FUSED", "UNFUSED_BITMAP", "UNFUSED_BOOLMAP"),
			"deduplication: " + one("ENABLED", "DISABLED", "[ENABLED, BITMAP]"),
		} {
			if r.IntN(3) > 0 {
				parts = append(parts, s)
			}
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	var entries []string
	for _, label := range labels {
		kind := r.IntN(4)
		switch kind {
		case 0:
		case 1:
			entries = append(entries, fmt.Sprintf("%s: {threshold: %.2f, below: %s, above: %s}", label, r.Float64(),
				simple(), simple()))
		default:
			entries = append(entries, label+": "+simple())
		}
		if loop, _, ok := strings.Cut(label, ":"); ok && kind%2 == 0 && !e.Sample.On() && e.Region.Whole() {
			entries = append(entries, loop+": {kernel_fusion: ENABLED}")
		}
	}
	w.Schedules = schema.Mapping("{" + strings.Join(entries, ", ") + "}")
}

// fitWarps has a core's warps, of the kernel, make up whole thread blocks.
func fitWarps(e *config.Experiment) {
	w, c := &e.Workload, &e.Machine.Core
	if w.Layout != "block-coo" {
		w.BlockVertices, w.BlockBy = 16384, "destination"
	}
	if w.Layout != "gshard" && w.Layout != "gshard-windows" {
		w.ShardVertices = 4096
	}
	if !strings.HasPrefix(string(w.Layout), "virtual") {
		w.VirtualDegree = 8
	}
	if !strings.HasPrefix(string(w.Layout), "ell") {
		w.ELLWidth, w.SlotOrder = 0, workload.Auto
	}
	if w.Layout != "dia-coo" {
		w.Diagonals = 0
	}
	if w.Order != "buckets" {
		w.Buckets = activeset.DefaultBuckets
	}
	if e.Sample.On() {
		w.Fusion = "none"
	}
	w.WarpsPerCore %= c.Warps + 1
	if w.CTAThreads == 0 || w.Schedule != "cta" && w.Schedule != "twc" && w.Schedule != "twce" &&
		w.Schedule != "shard" {
		fitShards(e, 1)
		return
	}
	warps := c.Warps
	if w.WarpsPerCore > 0 {
		warps = w.WarpsPerCore
	}
	block := 1 + w.CTAThreads%warps
	for warps%block != 0 {
		block--
	}
	w.CTAThreads = block * c.Threads
	fitShards(e, warps/block)
}

// fitShards has the scratchpad hold a shard's vertices for each of a core's thread blocks.
func fitShards(e *config.Experiment, blocks int) {
	if w := &e.Workload; w.Schedule == "shard" {
		w.ShardVertices = max(1, min(w.ShardVertices, e.Machine.Core.ScratchpadBytes/4/blocks))
	}
}

// chooseSchedule chooses one that the machine can run; if it lacks scratchpad for that, it gets more.
func chooseSchedule(t testing.TB, r *rand.Rand, e *config.Experiment) {
	schedules := []workload.Schedule{"vertex", "edge", "warp", "cta", "twc", "twce", "strict", "shard"}
	if u := accel.KindOf(e.Machine.Core.Unit.Spec); u != nil && r.IntN(3) > 0 {
		schedules = []workload.Schedule{workload.Schedule(schedule.OfUnit(u.Name)[r.IntN(len(schedule.OfUnit(u.Name)))].Name)}
	}
	e.Workload.Schedule = schedules[r.IntN(len(schedules))]
	if e.Workload.Schedule == "strict" { // several cores need its barriers to flush
		e.Machine.Core.DeviceBarrier = core.BarrierFlush
	}
	e.Machine.Core.Scratchpad = e.Machine.Core.Scratchpad || refused(e) != nil
	for bytes := &e.Machine.Core.ScratchpadBytes; refused(e) != nil; {
		require.Less(t, *bytes, emu.MaxScratchpadBytes, "%v", refused(e))
		*bytes = min(max(1<<10, *bytes*2), emu.MaxScratchpadBytes)
	}
}

// refused is why the machine cannot run the workload, before anything is known of the graph.
func refused(e *config.Experiment) error {
	p, err := compose.NewPlan(e.Workload)
	if err != nil {
		return err
	}
	d, err := host.NewRehearsal(&e.Machine)
	if err != nil {
		return err
	}
	return p.Runs(d.Shape())
}

// randomGraph is tiny, and may have vertices without edges, self-loops and duplicates.
func randomGraph(t testing.TB, r *rand.Rand) graphspec.Graph {
	start := graphspec.Schema.Default()
	start.Grid = &graphspec.Grid{Width: 1, Height: 1}
	g, err := graphspec.Schema.Draw(start, schema.Drawing[graphspec.Graph]{
		Rand: r, Keep: []string{"file", "rmat", "powerlaw_cluster", "erdos_renyi", "grid", "bipartite"},
		Most: map[string]int64{"min": 100, "max": 1000},
		Fit:  func(g *graphspec.Graph) { g.Weights.Max = max(g.Weights.Max, g.Weights.Min) },
	})
	require.NoError(t, err)
	g.Grid = nil
	n := 2 + r.IntN(30)
	switch seed := r.Uint64(); r.IntN(5) {
	case 0:
		g.RMAT = &graphspec.RMAT{Scale: 1 + r.IntN(4), EdgeFactor: 1 + r.IntN(6), A: 0.57, B: 0.19, C: 0.19,
			ShuffleIDs: r.IntN(2) == 0, Seed: seed}
	case 1:
		g.PowerlawCluster = &graphspec.PowerlawCluster{Vertices: n, EdgesPerStep: 1 + r.IntN(min(4, n-1)),
			TriangleProb: r.Float64(), Seed: seed}
	case 2:
		g.ErdosRenyi = &graphspec.ErdosRenyi{Vertices: n, Edges: 1 + r.IntN(n*(n-1)/2), Seed: seed}
		g.ErdosRenyi.Edges = min(g.ErdosRenyi.Edges, 3*n)
	case 3:
		g.Grid = &graphspec.Grid{Width: 1 + r.IntN(9), Height: 1 + r.IntN(7), Remove: r.Float64() / 2,
			Rewire: r.Float64() / 4, Seed: seed}
	case 4:
		g.Bipartite = &graphspec.Bipartite{Left: 1 + r.IntN(20), Right: 1 + r.IntN(20), Seed: seed}
		g.Bipartite.Edges = 1 + r.IntN(g.Bipartite.Left*g.Bipartite.Right)
	}
	return g
}

// refusedLate are refusals that follow from the configuration and the graph, and are said when the point runs.
var refusedLate = regexp.MustCompile(`the schedule needs -?\d+ bytes of scratchpad a core|needs both directions of every edge|slots in edge_buffer_bytes, but \d+ are needed|no vertex of the largest component has an edge|a number was too large for f32|sample.period = \d+: (cannot be sampled: )?cycles are known to ±`)

// outcome runs the experiment in a directory of its own and returns its end: ran, refused, or stopped at the
// limit of cycles. Anything else fails the test: a crash, a wrong result, a broken invariant, a machine that makes no
// progress.
func outcome(t *testing.T, name string, e config.Experiment) string {
	dir := t.TempDir()
	file := filepath.Join(dir, "experiment.yaml")
	require.NoError(t, os.WriteFile(file, config.Schema.YAML(e), 0o644))
	out, errs, code := run(t, "run", file, "--check", "--out", filepath.Join(dir, "results"), "--jobs", "1",
		"--max-cycles", maxCycles)
	switch {
	case code == exitOK && strings.Contains(out, " yes "):
		return "ran"
	case code == exitUsage && strings.Contains(errs, "heddle: ") && out == "",
		code == exitFailed && refusedLate.MatchString(errs):
		return "refused"
	case code == exitNoProgress && strings.Contains(errs+out, "cycle limit"):
		return "limit"
	}
	keep := filepath.Join(os.TempDir(), "heddle-"+strings.ReplaceAll(name, " ", "-")+".yaml")
	require.NoError(t, os.WriteFile(keep, config.Schema.YAML(e), 0o644))
	t.Errorf("%s: exit code %d, see %s\n%s%s", name, code, keep, out, errs)
	return "failed"
}

// run runs the command, another process: it may crash.
func run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	c := exec.Command(command(t), args...)
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil && c.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

func command(t *testing.T) string {
	if path := os.Getenv("RANDOM_COMMAND"); path != "" {
		return path
	}
	path, err := testenv.Heddle()
	require.NoError(t, err)
	return path
}

func TestMain(m *testing.M) {
	testenv.HandleSignals()
	os.Exit(m.Run())
}

func TestRandomExperiments(t *testing.T) {
	counts := map[string]int{}
	first, cases := testenv.Seed(t, 1000), testenv.Cases(t, 8, 2000)
	for seed := first; seed < first+cases; seed++ {
		e := randomExperiment(t, rand.New(rand.NewPCG(seed, 1307)))
		came := outcome(t, fmt.Sprint("random ", seed), e)
		counts[came]++
		switch {
		case came == "ran" && e.Workload.Kind() == workload.KindFeatures:
			counts["with features"]++
		case came == "ran" && e.Workload.Kind() == workload.KindGraphIt:
			counts["of GraphIt"]++
		}
	}
	t.Logf("%d experiments: %v", cases, counts)
	require.Greater(t, 10*counts["ran"], 4*int(cases),
		"enough draws run, of which one in ten is a sample of too few intervals: %v", counts)
}

// TestEveryKnobAtItsEnds runs a machine with each of its keys at its least and its most, or at each of its values:
// without testenv.LongVariable, with some of them.
func TestEveryKnobAtItsEnds(t *testing.T) {
	testenv.NeedSlow(t, "it is a campaign")
	cases := map[string]config.Experiment{}
	add := func(name, section string, schedule workload.Schedule, set ...string) {
		l, err := configs.LoadMachine("vortex-1c4w4t", nil, append(set, "l2={}"))
		require.NoError(t, err)
		e := config.Schema.Default()
		e.Name, e.Machine = "knob", l.Value
		e.Graph.ErdosRenyi = &graphspec.ErdosRenyi{Vertices: 20, Edges: 30, Seed: 1}
		e.Workload.Algorithm = "bfs"
		e.Workload.Schedule = schedule
		all, err := config.Schema.Extremes(e, drawing(nil, name))
		require.NoError(t, err)
		for key, c := range all {
			if strings.HasPrefix(key, section) {
				cases[name+" "+key] = c
			}
		}
	}
	add("", "machine.", workload.VertexSchedule)
	for _, u := range accel.Registered() {
		add(u.Name, "machine.core."+u.Key, workload.Schedule(schedule.OfUnit(u.Name)[0].Name), "core."+u.Key+"={}",
			"core.scratchpad_bytes=64KiB")
	}
	names := slices.Sorted(maps.Keys(cases))
	rand.New(rand.NewPCG(testenv.Seed(t, uint64(len(names))), 1)).Shuffle(len(names),
		func(i, k int) { names[i], names[k] = names[k], names[i] })
	if testenv.Long(t) == 0 {
		names = names[:12]
	}
	counts := map[string]int{}
	for _, name := range names {
		counts[outcome(t, strings.ReplaceAll(name, "/", "-"), cases[name])]++
	}
	t.Logf("%d of %d: %v", len(names), len(cases), counts)
	require.NotZero(t, counts["ran"])
}
