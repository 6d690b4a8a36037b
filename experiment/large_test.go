package experiment_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/configs/schema"
	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/experiment/store"
	"heddle/internal/resources"
	"heddle/internal/testenv"
	"heddle/internal/version"
	"heddle/sim/stats"
)

// heap is the reachable memory.
func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// outcomeOfMany is the outcome of a tiny point: as many statistics and super-steps as on a machine of one core.
func outcomeOfMany(i int) experiment.Outcome {
	var tree, step stats.Tree
	for k := range 530 {
		tree = append(tree, stats.Count(fmt.Sprint("count.", k), "things", "What is counted.", uint64(i*k%97)))
	}
	for k := range 30 {
		step = append(step, stats.Count(fmt.Sprint("count.", k), "things", "What is counted.", uint64(i*k%97)))
	}
	steps := []store.Step{{Step: 0, Kernel: "init", Cycles: 5, Stats: step},
		{Step: 1, Kernel: "gather", Cycles: 7, Stats: step}, {Step: 1, Kernel: "apply", Cycles: 9, Stats: step}}
	return experiment.Outcome{Point: i, Graph: "a graph", Cycles: uint64(1000 + i), Verified: true,
		Stats: stats.Pack(tree), Steps: steps, Seconds: 0.01}
}

func largeSweep(t *testing.T, n int) (*schema.Loaded[config.Experiment], *experiment.Runner) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "e.yaml")
	text := fmt.Sprintf("%scompare: {workload.schedule: [vertex, edge]}\nsweep: {workload.launch_overhead: {from: 1, "+
		"to: %d, step: 1}, "+
		"workload.algorithm.damping: {from: 0.1, to: 0.5, step: 0.1}}\n", small, n/10)
	require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	l, err := config.Load(name, nil, nil)
	require.NoError(t, err)
	points, err := experiment.Points(l, nil)
	require.NoError(t, err)
	require.Len(t, points, n)
	return l, &experiment.Runner{Points: points, Jobs: 1, Observer: experiment.Quiet{}}
}

// TestLargeSweeps stores thousands of points, and takes them over again: memory and time for each of them are bounded,
// and one of them is read without the others.
func TestLargeSweeps(t *testing.T) {
	n := int(testenv.Cases(t, 500, 20_000))
	const bytesPerPoint = 12 << 10 // kept: its configuration, and its outcome
	dir, before := t.TempDir(), heap()
	l, r := largeSweep(t, n)
	b, err := experiment.OpenBook(dir, l, r, experiment.BookOptions{Jobs: 1})
	require.NoError(t, err)
	begin := time.Now()
	for i := range n {
		require.NoError(t, b.Put(outcomeOfMany(i)))
	}
	stored := time.Since(begin)
	require.Less(t, (heap()-before)/float64(n), float64(bytesPerPoint))
	_, out, err := b.End(nil)
	require.NoError(t, err)
	experiment.WriteTable(io.Discard, r.Points, out)
	summary, err := os.Stat(filepath.Join(dir, "summary.json"))
	require.NoError(t, err)
	runtime.KeepAlive(r)

	before, begin = heap(), time.Now()
	l, r = largeSweep(t, n)
	laid := time.Since(begin)
	looking := time.Now()
	known, err := r.Find(dir, experiment.Search{}, version.Model())
	require.NoError(t, err)
	require.Len(t, known.Computed(), n)
	found := time.Since(looking)
	b, err = experiment.OpenBook(dir, l, r, experiment.BookOptions{Jobs: 1})
	require.NoError(t, err)
	require.Len(t, r.Done, n)
	require.Less(t, (heap()-before)/float64(n), float64(bytesPerPoint))
	_, again, err := b.End(nil)
	require.NoError(t, err)
	require.Equal(t, out[n/2].Stats, again[n/2].Stats)
	experiment.WriteTable(io.Discard, r.Points, again)
	rerun := time.Since(begin)
	same, err := os.Stat(filepath.Join(dir, "summary.json"))
	require.NoError(t, err)
	require.Equal(t, summary.ModTime(), same.ModTime(), "summaries that are of these points are not written again")
	runtime.KeepAlive(b)

	s, err := store.OpenRead(filepath.Join(dir, store.File))
	require.NoError(t, err)
	defer s.Close() //nolint:errcheck // read only
	one := testing.AllocsPerRun(3, func() { _, _, err = s.Point(n / 2) })
	require.NoError(t, err)
	require.Less(t, one, 30_000.0, "names of statistics, and two points")
	t.Logf("%d points: %.1f s to store, %.1f s to take over, %.1f s of these to lay them out and %.2f s to look them "+
		"up; summary.json %d bytes a point; %.0f allocations to read one",
		n, stored.Seconds(), rerun.Seconds(), laid.Seconds(), found.Seconds(), summary.Size()/int64(n), one)
}

// TestLookupOfManyPoints: 10,000 points that another experiment has simulated are found within a second of processor
// time. Copying their rows, which follows, is no part of the look-up.
func TestLookupOfManyPoints(t *testing.T) {
	testenv.NeedLong(t, "it stores 10,000 points; TestLargeSweeps looks up 500")
	const n = 10_000
	results := t.TempDir()
	l, r := largeSweep(t, n)
	b, err := experiment.OpenBook(filepath.Join(results, "a"), l, r, experiment.BookOptions{Jobs: 1})
	require.NoError(t, err)
	for i := range n {
		require.NoError(t, b.Put(outcomeOfMany(i)))
	}
	require.NoError(t, b.Close())
	b, r = nil, nil //nolint:ineffassign,wastedassign // not kept while the look-up is measured
	runtime.GC()

	_, r = largeSweep(t, n)
	before := resources.ProcessorSeconds()
	known, err := r.Find(filepath.Join(results, "b"), experiment.Search{Folders: []string{results}}, version.Model())
	spent := resources.ProcessorSeconds() - before
	require.NoError(t, err)
	require.Equal(t, n, known.Len())
	require.Equal(t, "10000 of 10000 points known (10000 from a)", known.Text(n))
	t.Logf("%.2f s of processor time to look up %d points of another experiment", spent, n)
	require.Less(t, spent, 1.0)
}
