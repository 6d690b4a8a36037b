package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
	"heddle/internal/testenv"
)

// footprint is an experiment whose memory is measured.
type footprint struct {
	text string
	args []string // of heddle run
}

// drawFootprint draws two points on a machine and a graph. Points that are not sampled end early, since they allocate
// their memory at the beginning.
func drawFootprint(r *rand.Rand, sampled bool) footprint {
	of := func(choices ...string) string { return choices[r.IntN(len(choices))] }
	graph := of(
		fmt.Sprintf("rmat: {scale: %d, edge_factor: %d}", 10+r.IntN(8), 2+r.IntN(15)),
		fmt.Sprintf("erdos_renyi: {vertices: %d, edges: %d}", 1000+r.IntN(200_000), 1000+r.IntN(1_500_000)),
		fmt.Sprintf("grid: {width: %d, height: %d}", 10+r.IntN(500), 10+r.IntN(500)),
	)
	workload, more := "algorithm: "+of("bfs", "pagerank", "cc", "sssp"),
		fmt.Sprintf("stop: {max_edges: %d}\n", 1+r.IntN(30_000))
	if sampled {
		graph = fmt.Sprintf("rmat: {scale: %d, edge_factor: %d}", 14+r.IntN(2), 16+r.IntN(4))
		workload, more = "algorithm: pagerank, max_iterations: 2",
			fmt.Sprintf("sample: {period: %d, begin: 10}\n", 72+r.IntN(30))
	}
	machine := of("vortex-1c4w4t", "vortex-6c32w32t", "vortex-6c32w32t-weaver", "graphpeg-15sm")
	f := footprint{text: fmt.Sprintf("name: drawn\nmachine: %s\ngraph: {%s, clean: {symmetrise: %t}, weights: {from: %s}}\n"+
		"workload: {%s, schedule: %s}\n%ssweep: {workload.launch_overhead: [1, 2]}\n",
		machine, graph, r.IntN(2) == 0, of("random", "unit"), workload, of("vertex", "edge", "warp"), more)}
	f.args = []string{"--jobs", of("1", "2")}
	if r.IntN(3) == 0 {
		f.args = append(f.args, "--shard", of("1/2", "2/2"))
	}
	return f
}

// TestMemoryIsAsEstimated compares the estimate of a run's memory with the peak of its process: within 1.5 both ways,
// and the request for a task of Slurm covers it.
func TestMemoryIsAsEstimated(t *testing.T) {
	testenv.NeedSlow(t, "it is a campaign")
	program, cases := buildHeddle(t), testenv.Cases(t, 2, 24)
	r := rand.New(rand.NewPCG(testenv.Seed(t, 35), cases))
	for i := range cases {
		f, peak := measuredFootprint(t, program, r, i%2 == 0)
		var estimate struct {
			Memory uint64 `json:"memory_bytes"`
		}
		heddleJSON(t, inNew(t, "drawn.yaml", f.text), &estimate, program,
			append([]string{"run", "drawn.yaml", "--dry-run", "--json"}, f.args...)...)
		t.Logf("%s of %s estimated (%.2f): %v\n%s", experiment.Bytes(peak), experiment.Bytes(estimate.Memory),
			float64(peak)/float64(estimate.Memory), f.args, f.text)
		require.Less(t, float64(peak), 1.5*float64(estimate.Memory), f.text)
		require.Greater(t, float64(peak), float64(estimate.Memory)/1.5, f.text)
		require.Less(t, peak, askedMemory(estimate.Memory))
	}
}

// TestMemoryOfTasks: a loop over all edges has a task for each of them waiting on a machine of Swarm tiles.
func TestMemoryOfTasks(t *testing.T) {
	program := buildHeddle(t)
	dir := inNew(t, "tasks.yaml", "name: tasks\nmachine: swarm-16c\ngraph: {grid: {width: 200, height: 200}}\n"+
		"workload: {program: pagerank.gt, arguments: [\"1\"]}\n")
	var estimate struct {
		Memory uint64 `json:"memory_bytes"`
	}
	heddleJSON(t, dir, &estimate, program, "run", "tasks.yaml", "--dry-run", "--json")
	heddleJSON(t, dir, nil, program, "run", "tasks.yaml", "--quiet")
	peak := peakOf(t, filepath.Join(dir, "results", "tasks"))
	t.Logf("%s of %s estimated", experiment.Bytes(peak), experiment.Bytes(estimate.Memory))
	require.Less(t, float64(peak), 1.2*float64(estimate.Memory))
	require.Greater(t, float64(peak), float64(estimate.Memory)/3)
}

// measuredFootprint draws a run and returns its peak. Of sampled runs it draws another if the launches have too few
// intervals, as on many cores: those are refused.
func measuredFootprint(t *testing.T, program string, r *rand.Rand, sampled bool) (f footprint, peak uint64) {
	t.Helper()
	for {
		f = drawFootprint(r, sampled)
		c := exec.Command(program, append([]string{"run", "drawn.yaml", "--quiet"}, f.args...)...)
		c.Dir = inNew(t, "drawn.yaml", f.text)
		out, err := c.CombinedOutput()
		if err == nil {
			return f, peakOf(t, filepath.Join(c.Dir, "results", "drawn"))
		}
		require.True(t, sampled && bytes.Contains(out, []byte("launches are too short to have more intervals")), "%s", out)
	}
}

// heddleJSON runs the program in a directory and decodes its output into a value, if there is one.
func heddleJSON(t *testing.T, dir string, into any, program string, args ...string) {
	t.Helper()
	c := exec.Command(program, args...)
	var stdout, stderr bytes.Buffer
	c.Dir, c.Stdout, c.Stderr = dir, &stdout, &stderr
	require.NoError(t, c.Run(), "%v: %s", args, &stderr)
	if into != nil {
		require.NoError(t, json.Unmarshal(stdout.Bytes(), into), "%s", &stdout)
	}
}

// peakOf is the memory that a run has had, by its summary, or that of its shard.
func peakOf(t *testing.T, dir string) uint64 {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "shards", "*", "summary.json"))
	require.NoError(t, err)
	found = append(found, filepath.Join(dir, "summary.json"))
	text, err := os.ReadFile(found[0])
	require.NoError(t, err)
	var s struct{ Host experiment.HostSummary }
	require.NoError(t, json.Unmarshal(text, &s))
	require.NotZero(t, s.Host.PeakRSSBytes)
	return s.Host.PeakRSSBytes
}

// TestMemoryLimitHolds: a process with a limit that is too low for its point ends the point near the limit, with
// remedies.
func TestMemoryLimitHolds(t *testing.T) {
	testenv.NeedSlow(t, "it runs processes to their limits of memory")
	program := buildHeddle(t)
	dir := inNew(t, "large.yaml", "name: large\nmachine: vortex-1c4w4t\ngraph: {erdos_renyi: {vertices: 400000, edges: "+
		"3000000}}\n"+
		"workload: {algorithm: pagerank, schedule: vertex}\nstop: {max_edges: 50000000}\n")
	got := withoutProgress(to(t, nil, dir, program, "run", "large.yaml", "--memory-limit", "40MiB", "--quiet"))
	require.Equal(t, exitNoProgress, got.code, got.stderr)
	require.Regexp(t, `^heddle: warning: up to about \d+ MiB of memory may be needed, and --memory-limit is 40 MiB
heddle: point \(the only one\): memory limit reached: the process has \d+ MiB, and may have 40 MiB: give a higher --memory-limit, or take a smaller graph$`, got.stderr)
	require.Less(t, peakOf(t, filepath.Join(dir, "results", "large")), uint64(160<<20), "ended soon after the limit")
	got = to(t, nil, dir, program, "run", "large.yaml", "--memory-limit", "1GiB", "--quiet", "--set",
		"stop.max_edges=1000", "--set", "name=enough")
	require.Zero(t, got.code, got.stderr)
}
