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
	"heddle/experiment/store"
	"heddle/sim"
)

// rerun is the starting point of a second run of an experiment.
type rerun struct {
	text, version string
	set           []string
	fresh         bool
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
	ledger, err := experiment.OpenLedger(dir, l.Value, r.version, run, r.fresh)
	return ledger, run, err
}

// stored runs an experiment into a directory, and returns what came out.
func (r rerun) stored(t *testing.T, dir string) []experiment.Outcome {
	t.Helper()
	ledger, run, err := r.open(t, dir)
	require.NoError(t, err)
	out := run.Run(context.Background())
	for i := range out {
		require.NoError(t, ledger.Put(&out[i]))
	}
	require.NoError(t, ledger.Close())
	return out
}

const several = small + "sweep: {workload.damping: [0.5, 0.6, 0.7]}\n"

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

func TestWhatHasChangedIsRefused(t *testing.T) {
	graph := filepath.Join(t.TempDir(), "g.txt")
	require.NoError(t, os.WriteFile(graph, []byte("0 1\n1 2\n"), 0o644))
	fromFile := "name: f\nmachine: vortex-1c4w4t\ngraph: {file: " + graph + "}\n"
	machine := filepath.Join(t.TempDir(), "m.yaml")
	require.NoError(t, os.WriteFile(machine, []byte("extends: vortex-1c4w4t\n"), 0o644))
	machines := small + "sweep: {machine: [vortex-rtl-c, " + machine + "]}\n"
	for _, c := range []struct {
		name          string
		first, second rerun
		between       func()
		says          string
	}{
		{"version", rerun{text: several, version: "v1"}, rerun{text: several, version: "v2"}, nil, "the program's version: v1, now v2"},
		{"key", rerun{text: several}, rerun{text: several, set: []string{"machine.core.warps=8"}}, nil, "machine.core.warps: 4, now 8"},
		{"axis", rerun{text: several}, rerun{text: small + "sweep: {workload.damping: [0.5, 0.6]}\n"}, nil, "sweep: {workload.damping: [0.5, 0.6, 0.7]}, now {workload.damping: [0.5, 0.6]}"},
		{"graph", rerun{text: fromFile}, rerun{text: fromFile}, func() { require.NoError(t, os.WriteFile(graph, []byte("0 1\n2 1\n"), 0o644)) }, "the content of graph " + graph + ": sha256 "},
		{"a machine that is an axis", rerun{text: machines}, rerun{text: machines}, func() {
			require.NoError(t, os.WriteFile(machine, []byte("extends: vortex-1c4w4t\nl1d: {ways: 2}\n"), 0o644))
		}, "machine.l1d.ways: 4, now 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			n := len(c.first.stored(t, dir))
			if c.between != nil {
				c.between()
			}
			_, _, err := c.second.open(t, dir)
			var changed *experiment.ChangedError
			require.ErrorAs(t, err, &changed)
			require.ErrorContains(t, err, c.says)
			require.ErrorContains(t, err, "--fresh")

			c.second.fresh = true
			ledger, _, err := c.second.open(t, dir)
			require.NoError(t, err)
			none, err := ledger.Outcomes()
			require.NoError(t, err)
			require.Empty(t, none)
			require.NoError(t, ledger.Close())
			aside, err := filepath.Glob(filepath.Join(dir, "results-*.sqlite"))
			require.NoError(t, err)
			require.Len(t, aside, 1)
			old, err := store.OpenRead(aside[0])
			require.NoError(t, err)
			kept, err := old.Points()
			require.NoError(t, err)
			require.Len(t, kept, n)
			require.NoError(t, old.Close())
		})
	}
}

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
	for _, x := range [][3]string{{"a", "b", "c"}, {"ab", "", "c"}, {"a", "bc", ""}, {"", "ab", "c"}, {"a", "c", "b"}} {
		ids[experiment.Identity(x[0], x[1], x[2])] = true
	}
	require.Len(t, ids, 5)
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
	r := &experiment.Runner{Points: points(t, long+"sweep: {workload.damping: [0.1, 0.2]}\n"), Jobs: 2, MemoryLimit: 1,
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

// A store in which no point has cycles, since the run was ended before or every point was refused, becomes that of the
// experiment as it has been corrected; one cycle, and it is refused.
func TestACorrectedExperimentGoesOn(t *testing.T) {
	dir := t.TempDir()
	first, corrected := rerun{text: several, version: "v1"},
		rerun{text: several, set: []string{"machine.core.warps=8"}, version: "v2"}
	ledger, run, err := first.open(t, dir)
	require.NoError(t, err)
	g := run.Run(context.Background())[0].Graph
	require.NoError(t, ledger.Put(&experiment.Outcome{Point: 1, Graph: g, Err: errors.New("needs more than there is")}))
	require.NoError(t, ledger.Close())

	ledger, _, err = corrected.open(t, dir)
	require.NoError(t, err)
	stored, err := ledger.Outcomes()
	require.NoError(t, err)
	require.Empty(t, stored, "failures of what was refused are none of the corrected experiment")
	require.NoError(t, ledger.Put(&experiment.Outcome{Point: 1, Graph: g, Cycles: 1, Err: errors.New("stuck")}))
	require.NoError(t, ledger.Close())

	_, _, err = first.open(t, dir)
	require.ErrorAs(t, err, new(*experiment.ChangedError))
}
