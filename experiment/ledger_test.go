package experiment_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/sim"
)

// rerun is the starting point of a second run of an experiment.
type rerun struct {
	text, version string // the version is also the model
	set           []string
	fresh         bool
	search        experiment.Search
}

// open lays out an experiment and opens its ledger.
func (r rerun) open(t *testing.T, dir string) (*experiment.Ledger, *experiment.Runner, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "e.yaml")
	require.NoError(t, os.WriteFile(name, []byte(r.text), 0o644))
	l, err := config.Load(name, nil, r.set)
	require.NoError(t, err)
	p, err := experiment.Points(l, r.set)
	require.NoError(t, err)
	run := &experiment.Runner{Points: p, Jobs: 2, Observer: experiment.Quiet{}}
	ledger, err := experiment.OpenLedger(dir, l.Value, run, experiment.LedgerOptions{Version: r.version,
		Model: r.version, Fresh: r.fresh, Search: r.search})
	return ledger, run, err
}

// stored runs an experiment into a directory, and returns its outcomes.
func (r rerun) stored(t *testing.T, dir string) []experiment.Outcome {
	t.Helper()
	ledger, run, err := r.open(t, dir)
	require.NoError(t, err)
	run.Done = ledger.Found()
	out := run.Run(context.Background())
	for i := range out {
		if _, done := run.Done[i]; !done {
			require.NoError(t, ledger.Put(&out[i]))
		}
	}
	require.NoError(t, ledger.Close())
	return out
}

const several = small + "sweep: {workload.algorithm.damping: [0.5, 0.6, 0.7]}\n"

func TestWhatIsStoredIsWhatCameOut(t *testing.T) {
	dir := t.TempDir()
	out := rerun{text: several, version: "v"}.stored(t, dir)
	ledger, run, err := rerun{text: several, version: "v"}.open(t, dir)
	require.NoError(t, err)
	defer ledger.Close() //nolint:errcheck // of a test
	again, err := ledger.Outcomes()
	require.NoError(t, err)
	require.Len(t, again, 3)
	for i := range out {
		out[i].Building = 0 // not stored
		o := out[i]
		require.Equal(t, o, again[i])
		require.NotEmpty(t, o.Steps)
	}
	run.Done = again
	run.Observer = nobodyRuns{t}
	require.Equal(t, out, run.Run(context.Background()))
}

type nobodyRuns struct{ t *testing.T }

func (n nobodyRuns) Started(int, uint64)         { n.t.Error("a stored point is run") }
func (n nobodyRuns) Running(int, sim.Progress)   {}
func (n nobodyRuns) Finished(experiment.Outcome) { n.t.Error("a stored point is run") }

func TestOneProcessAtATime(t *testing.T) {
	dir := t.TempDir()
	first, _, err := rerun{text: small}.open(t, dir)
	require.NoError(t, err)
	_, _, err = rerun{text: small}.open(t, dir)
	require.ErrorContains(t, err, "another heddle is running this experiment")
	require.NoError(t, first.Close())
	second, _, err := rerun{text: small}.open(t, dir)
	require.NoError(t, err)
	require.NoError(t, second.Close())
}

func TestIdentityTellsAllApart(t *testing.T) {
	ids := map[string]bool{}
	for _, x := range [][4]string{
		{"a", "b", "c", "d"}, {"ab", "", "c", "d"}, {"a", "bc", "", "d"}, {"", "ab", "c", "d"}, {"a", "c", "b", "d"},
		{"a", "b", "cd", ""}, {"a", "b", "", "cd"},
	} {
		ids[experiment.Identity(x[0], x[1], x[2], x[3])] = true
	}
	require.Len(t, ids, 7)
}

func TestWhatIsNoResultIsNotStored(t *testing.T) {
	dir := t.TempDir()
	ledger, _, err := rerun{text: several}.open(t, dir)
	require.NoError(t, err)
	require.NoError(t, ledger.Put(&experiment.Outcome{Point: 0, Graph: "g", Err: context.Canceled}))
	require.NoError(t, ledger.Put(&experiment.Outcome{Point: 1, Err: errors.New("no graph")}))
	require.NoError(t, ledger.Put(&experiment.Outcome{Point: 2, Graph: "g", Err: &experiment.Crash{Message: "BUG"}}))
	out, err := ledger.Outcomes()
	require.NoError(t, err)
	require.Len(t, out, 1)
	require.Equal(t, experiment.Crashed, experiment.Class(out[2].Err))
	require.NoError(t, ledger.Close())
}

func TestFinality(t *testing.T) {
	for class, final := range map[string]bool{
		"": true, experiment.WrongResult: true, experiment.NoProgress: true, experiment.Crashed: true, experiment.OtherError: true,
		experiment.Limit: false, experiment.OutOfMemory: false, experiment.Interrupted: false,
	} {
		require.Equal(t, final, experiment.Final(class), class)
	}
}

const long = small + "workload: {max_iterations: 100000}\n"

func TestTimeLimit(t *testing.T) {
	r := &experiment.Runner{Points: points(t, long), Jobs: 1, TimeLimit: 50 * time.Millisecond,
		Observer: experiment.Quiet{}}
	out := r.Run(context.Background())
	require.EqualError(t, out[0].Err, "time limit reached: 50ms")
	require.Equal(t, experiment.Limit, experiment.Class(out[0].Err))
	require.NotZero(t, out[0].Cycles)
	require.NotEmpty(t, out[0].Graph)
}

// counted counts how often points begin and end.
type counted struct {
	experiment.Quiet
	begun, ended chan int
}

func (c counted) Started(point int, _ uint64)   { c.begun <- point }
func (c counted) Finished(o experiment.Outcome) { c.ended <- o.Point }
func drain(c chan int) (n int) {
	close(c)
	for range c {
		n++
	}
	return n
}

// With more memory than it may have the process ends points, and tries each once more alone.
func TestMemoryLimit(t *testing.T) {
	c := counted{begun: make(chan int, 10), ended: make(chan int, 10)}
	r := &experiment.Runner{Points: points(t, long+"sweep: {workload.algorithm.damping: [0.1, 0.2]}\n"), Jobs: 2, MemoryLimit: 1,
		Observer: c}
	for _, o := range r.Run(context.Background()) {
		require.Equal(t, experiment.OutOfMemory, experiment.Class(o.Err))
		require.ErrorContains(t, o.Err, "memory limit reached")
	}
	require.Equal(t, 4, drain(c.begun))
	require.Equal(t, 2, drain(c.ended))

	r = &experiment.Runner{Points: points(t, several), Jobs: 2, MemoryLimit: 1 << 40, Observer: experiment.Quiet{}}
	for _, o := range r.Run(context.Background()) {
		require.NoError(t, o.Err)
	}
}
