package experiment_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/experiment/store"
)

// ran counts the points that are simulated.
type ran struct {
	experiment.Quiet
	mu     sync.Mutex
	points []int
}

func (r *ran) Started(point int, _ uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.points = append(r.points, point)
}

// simulated runs an experiment into a directory, and returns the points that were simulated, and all outcomes.
func (r rerun) simulated(t *testing.T, dir string) ([]int, []experiment.Outcome) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	ledger, run, err := r.open(t, dir)
	require.NoError(t, err)
	by := &ran{}
	run.Observer, run.Done = by, ledger.Found()
	out := run.Run(context.Background())
	for i := range out {
		require.NoError(t, out[i].Err)
		if _, done := run.Done[i]; !done {
			require.NoError(t, ledger.Put(&out[i]))
		}
	}
	require.NoError(t, ledger.Close())
	slices.Sort(by.points)
	return by.points, out
}

func swept(values string) string {
	return small + "sweep: {workload.algorithm.damping: [" + values + "]}\n"
}

// TestASweepGrows: an experiment grows, shrinks and is reordered, and only points that were never simulated run; its
// results equal those of one that was simulated anew.
func TestASweepGrows(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		text string
		set  []string
		runs []int
	}{
		{text: swept("0.5, 0.7"), runs: []int{0, 1}},
		{text: swept("0.5, 0.7")},
		{text: swept("0.5, 0.6, 0.7"), runs: []int{1}},
		{text: swept("0.7, 0.5")},
		{text: swept("0.8"), runs: []int{0}},
		{text: swept("0.8, 0.7, 0.6, 0.5")},
		{text: small + "sweep: {workload.algorithm.damping: [0.5, 0.6]}\ncompare: {workload.schedule: [vertex, edge]}\n",
			runs: []int{1, 3}},
		{text: swept("0.5, 0.6, 0.7"), set: []string{"workload.max_iterations=2"}, runs: []int{0, 1, 2}},
		{text: swept("0.5, 0.6, 0.7")},
		{text: swept("0.5, 0.6, 0.7"), set: []string{"name=other", "run.threads=2", "report.labels=[damping=D]",
			"stats.max_rows=7"}},
		{text: swept("0.5, 0.6, 0.7"), set: []string{"stats.interval=1000"}, runs: []int{0, 1, 2}},
	} {
		runs, out := rerun{text: c.text, set: c.set, version: "v"}.simulated(t, dir)
		require.Equal(t, c.runs, runs, "%s %v", c.text, c.set)
		s, err := store.OpenRead(filepath.Join(dir, store.File))
		require.NoError(t, err)
		stored, err := s.Points()
		require.NoError(t, err)
		require.NoError(t, s.Close())
		require.Len(t, stored, len(out))
		anew := rerun{text: c.text, set: c.set, version: "v"}.stored(t, t.TempDir())
		for i := range stored {
			require.Equal(t, anew[i].Cycles, stored[i].Cycles)
			require.True(t, anew[i].Stats.Equal(stored[i].Stats))
			require.Len(t, stored[i].Steps, len(anew[i].Steps))
		}
		require.NoError(t, experiment.Summaries(dir))
	}
}

// Equal points of an experiment have a result each, of one simulation if there is one.
func TestEqualPointsShareAResult(t *testing.T) {
	dir := t.TempDir()
	machine := filepath.Join(t.TempDir(), "m.yaml")
	require.NoError(t, os.WriteFile(machine, []byte("extends: vortex-1c4w4t\n"), 0o644))
	one := small + "sweep: {machine: [vortex-1c4w4t]}\n"
	runs, _ := rerun{text: one, version: "v"}.simulated(t, dir)
	require.Len(t, runs, 1)
	both := rerun{text: small + "sweep: {machine: [" + machine + ", vortex-1c4w4t]}\n", version: "v"}
	runs, out := both.simulated(t, dir)
	require.Empty(t, runs)
	require.Equal(t, out[0].Cycles, out[1].Cycles)
}

// TestWhatAPointIsKnownBy: a change of anything that determines a result makes another point: the program, a key, the
// content of a graph, the numbers of its vertices, and a machine's file. Names do not.
func TestWhatAPointIsKnownBy(t *testing.T) {
	at := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(at, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	of := func(graph, more string) string {
		return "name: f\nmachine: vortex-1c4w4t\ngraph: {file: " + graph + more + "}\n"
	}
	g := file("g.txt", "0 1\n1 2\n")
	dir := t.TempDir()
	require.Len(t, rerun{text: of(g, ""), version: "v"}.stored(t, dir), 1)
	known := func(text, version string) bool {
		runs, _ := rerun{text: text, version: version}.simulated(t, dir)
		return len(runs) == 0
	}
	require.True(t, known(of(g, ""), "v"))
	require.True(t, known(of(file("moved.txt", "1 2\n0 1\n"), ""), "v"), "the same content")
	require.True(t, known("name: other\n"+of(g, "")[len("name: f\n"):], "v"))
	require.False(t, known(of(g, ""), "w"), "another program")
	require.False(t, known(of(file("g.txt", "0 1\n2 1\n"), ""), "v"), "another content")
	require.True(t, known(of(file("g.txt", "0 1\n1 2\n"), ""), "v"), "as before")
	far := of(file("far.txt", "0 1\n2 2\n1 3\n"), ", clean: {drop_self_loops: true, compact_ids: true}")
	require.False(t, known(far, "v"), "the same edges, and other numbers")
	m := file("m.yaml", "extends: vortex-1c4w4t\n")
	byFile := "name: f\nmachine: " + m + "\ngraph: {file: " + g + "}\n"
	require.True(t, known(byFile, "v"))
	file("m.yaml", "extends: vortex-1c4w4t\nl1d: {ways: 2}\n")
	require.False(t, known(byFile, "v"))
}

// Verified results of other experiments are copied, with all their rows; failures are not, nor results that
// another program has simulated. A store that cannot be read is left out.
func TestResultsElsewhereAreTaken(t *testing.T) {
	folder := t.TempDir()
	other, mine := filepath.Join(folder, "other"), filepath.Join(folder, "mine")
	_, out := rerun{text: swept("0.5, 0.6, 0.7"), version: "v"}.simulated(t, other)
	ledger, _, err := rerun{text: swept("0.5, 0.6, 0.7"), version: "v"}.open(t, other)
	require.NoError(t, err)
	out[1].Err = errors.New("stuck")
	require.NoError(t, ledger.Put(&out[1]))
	require.NoError(t, ledger.Close())
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "bad"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "bad", store.File), []byte("no database at all"), 0o644))

	search := experiment.Search{Folders: []string{folder, folder + "/."}}
	for _, c := range []struct {
		run  rerun
		runs []int
	}{
		{rerun{text: swept("0.6, 0.7"), version: "w", search: search}, []int{0, 1}},
		{rerun{text: swept("0.6, 0.7"), version: "v"}, []int{0, 1}},
		{rerun{text: swept("0.5, 0.6, 0.7, 0.8"), version: "v", search: search}, []int{3}},
	} {
		runs, _ := c.run.simulated(t, mine)
		require.Equal(t, c.runs, runs)
	}
	dir := filepath.Join(folder, "third")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	l, run, err := rerun{text: swept("0.5, 0.6, 0.9"), version: "v", search: search}.open(t, dir)
	require.NoError(t, err)
	k, err := run.Find(dir, search, "v")
	require.NoError(t, err)
	require.Equal(t, "2 of 3 points known", k.Text(3), "all are in its own store by now")
	require.Len(t, k.Skipped, 1)
	require.Len(t, l.Found(), 2)
	require.NotEmpty(t, l.Found()[0].Steps)
	require.NoError(t, l.Close())
	k, err = run.Find(filepath.Join(folder, "fourth"), search, "v")
	require.NoError(t, err)
	require.Equal(t, "2 of 3 points known (2 from mine)", k.Text(3))
	known, err := k.Outcomes()
	require.NoError(t, err)
	require.Len(t, known, 2)
	require.Equal(t, out[0].Cycles, known[0].Cycles)
	require.NotEmpty(t, known[0].Stats.Tree())
	require.Len(t, k.Computed(), 2)
}

// Results of another version are accepted on request, with a note.
func TestReuseVersion(t *testing.T) {
	dir := t.TempDir()
	rerun{text: swept("0.5, 0.6"), version: "0123456789 before"}.simulated(t, dir)
	again := rerun{text: swept("0.6, 0.5"), version: "now", search: experiment.Search{Reuse: []string{"0123456"}}}
	require.NoError(t, again.search.Check())
	runs, _ := again.simulated(t, dir)
	require.Empty(t, runs)
	again.search = experiment.Search{}
	again.text = swept("0.5, 0.6, 0.7")
	runs, _ = again.simulated(t, dir)
	require.Equal(t, []int{2}, runs, "accepted results stay accepted")
	s, err := store.OpenRead(filepath.Join(dir, store.File))
	require.NoError(t, err)
	defer s.Close() //nolint:errcheck // of a test
	points, err := s.Points()
	require.NoError(t, err)
	for i, version := range []string{"0123456789 before", "0123456789 before", "now"} {
		require.Equal(t, version, points[i].Version)
		require.Equal(t, version, points[i].Model)
	}
	require.ErrorContains(t, (&experiment.Search{Reuse: []string{"012345"}}).Check(), "at least 7 characters")
	file := experiment.Search{Folders: []string{filepath.Join(dir, store.File)}}
	require.ErrorContains(t, file.Check(), "expected a directory")
}

// A known point that is simulated again has to have the same result; the stored one stays.
func TestRecheck(t *testing.T) {
	dir := t.TempDir()
	text := swept("0.5, 0.6, 0.7, 0.8")
	name := filepath.Join(t.TempDir(), "e.yaml")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	l, err := config.Load(name, nil, nil)
	require.NoError(t, err)
	run := func(share float64) (*ran, []experiment.Outcome) {
		by := &ran{}
		r := &experiment.Runner{Points: points(t, text), Jobs: 2, Observer: by}
		b, err := experiment.OpenBook(dir, l, r, experiment.BookOptions{Recheck: share})
		require.NoError(t, err)
		out := r.Run(context.Background())
		for i := range out {
			if _, done := r.Done[i]; !done {
				require.NoError(t, b.Put(out[i]))
			}
		}
		_, _, err = b.End(out)
		require.NoError(t, err)
		return by, out
	}
	run(0)
	by, out := run(1)
	require.Len(t, by.points, 4)
	for _, o := range out {
		require.NoError(t, o.Err)
	}
	by, _ = run(1e-9)
	require.Len(t, by.points, 1, "at least one")

	s, err := store.Open(filepath.Join(dir, store.File))
	require.NoError(t, err)
	stored, err := s.Points()
	require.NoError(t, err)
	stored[2].Cycles++
	require.NoError(t, s.Put(&stored[2]))
	require.NoError(t, s.Close())
	_, out = run(1)
	var wrong *experiment.RecheckError
	require.ErrorAs(t, out[2].Err, &wrong)
	require.Equal(t, "cycles", wrong.Name)
	require.NoError(t, out[1].Err)
	_, out = run(0)
	require.Equal(t, stored[2].Cycles, out[2].Cycles, fmt.Sprint("the stored result is left alone: ", out[2].Err))
}

// Results of a program from before points had models are accepted too.
func TestReuseOfAnOlderStore(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Open("store/testdata/version10.sqlite.gz")
	require.NoError(t, err)
	defer f.Close() //nolint:errcheck // read only
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	text, err := io.ReadAll(z)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, store.File), text, 0o644))
	old := rerun{version: "now", text: `
name: grown
machine: vortex-1c4w4t
graph: {erdos_renyi: {vertices: 20, edges: 40}}
workload: {algorithm: pagerank, max_iterations: 1}
compare: {workload.schedule: [edge, warp, vertex]}
stats: {interval: 2000, keys: [ipc, edges]}
`}
	old.search.Reuse = []string{"(devel)+exe.0be6faf433c3"}
	runs, out := old.simulated(t, dir)
	require.Equal(t, []int{1}, runs)
	require.Equal(t, []uint64{9181, 9616}, []uint64{out[0].Cycles, out[2].Cycles})
	old.search.Reuse = nil
	runs, _ = old.simulated(t, dir)
	require.Empty(t, runs, "they stay accepted")

	folder := t.TempDir()
	beside := filepath.Join(folder, "old", store.File)
	require.NoError(t, os.MkdirAll(filepath.Dir(beside), 0o755))
	require.NoError(t, os.WriteFile(beside, text, 0o644))
	old.search.Folders = []string{folder}
	runs, _ = old.simulated(t, filepath.Join(folder, "mine"))
	require.Equal(t, []int{0, 1, 2}, runs)
	same, err := os.ReadFile(beside)
	require.NoError(t, err)
	require.Equal(t, text, same, "an older program can still read it")
	old.search.Reuse = []string{"(devel)+exe.0be6faf433c3"}
	runs, _ = old.simulated(t, filepath.Join(folder, "another"))
	require.Empty(t, runs, "from there and from mine")
}
