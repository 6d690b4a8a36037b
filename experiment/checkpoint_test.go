package experiment_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"heddle/experiment"
	"heddle/internal/testenv"
	"heddle/kernels/schedule"
	"heddle/sim"
)

// killer is a monitor that ends a point at the beginning of a super-step, and may look before each.
type killer struct {
	at   int
	kill context.CancelFunc
	look func()
}

func (k *killer) Begin(context.Context, int, uint64, *sim.Machine) experiment.Monitored { return k }

func (k *killer) Step(n int) {
	k.look()
	if n == k.at {
		k.kill()
	}
}

func (k *killer) End(error) {}

// trial is an experiment of one point that is ended, and goes on.
type trial struct {
	points []experiment.Point
	check  bool
	said   []string
	states map[int][]byte // by super-step: the last checkpoint's
	dir    string
}

// run runs the point on so many threads, with a checkpoint at every super-step, and ends it at the beginning of one; 0:
// none.
func (r *trial) run(t *testing.T, at, threads int) experiment.Outcome {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r.said, r.states = nil, map[int][]byte{}
	look := func() {
		files, _ := filepath.Glob(filepath.Join(r.dir, "point-*.checkpoint"))
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				continue
			}
			step, s := state(t, text)
			r.states[step] = s
		}
	}
	run := &experiment.Runner{Points: r.points, Jobs: 1, Threads: threads, Observer: experiment.Quiet{}, Watch: insist,
		Check: r.check, Monitor: &killer{at, cancel, look}}
	run.Checkpoints = experiment.Checkpoints{Dir: r.dir, Every: 1, Binary: func() string { return "this" },
		Say: func(_ int, s string) { r.said = append(r.said, s) }}
	return run.Run(ctx)[0]
}

// state is the content of a checkpoint behind its header, which has times of the host, and before its sum; step is of
// the header.
func state(t *testing.T, file []byte) (step int, s []byte) {
	t.Helper()
	const magic = 8
	require.Greater(t, len(file), magic+4+sha256.Size)
	end := magic + 4 + int(binary.LittleEndian.Uint32(file[magic:]))
	var header struct{ Step int }
	require.NoError(t, json.Unmarshal(file[magic+4:end], &header))
	z, err := zstd.NewReader(bytes.NewReader(file[end : len(file)-sha256.Size]))
	require.NoError(t, err)
	defer z.Close()
	s, err = io.ReadAll(z)
	require.NoError(t, err)
	return header.Step, s
}

// goesOn runs a point undisturbed, and then as often as it takes, ended at super-steps here and there, on other numbers
// of threads: it comes to the same, and all that there is of it is the same at the beginning of each super-step.
func goesOn(t *testing.T, draw *rand.Rand, points []experiment.Point, check bool) {
	calm := &trial{points: points, check: check, dir: t.TempDir()}
	threads := 1 + draw.IntN(2)
	want := calm.run(t, 0, threads)
	last := 1
	for step := range calm.states {
		last = max(last, step)
	}
	r := &trial{points: points, check: check, dir: t.TempDir()}
	left := 0 // the super-step of the last checkpoint
	for at, from := 1, 0; ; from = at {
		at += 1 + draw.IntN(1+last/2)
		o := r.run(t, at, threads)
		threads = 1 + draw.IntN(3)
		says, in := "", "super-step %d, [0-9]+s in\n"
		if from > 0 {
			says = fmt.Sprintf("goes on from "+in, left)
		}
		for step := range r.states {
			left = max(left, step) // k-core and near-far begin a super-step behind the one before: it may be that
		}
		ended := errors.Is(o.Err, context.Canceled)
		if ended {
			says += fmt.Sprintf("the same command goes on from "+in, left)
		}
		require.Regexp(t, "^"+says+"$", strings.Join(append(r.said, ""), "\n"))
		for step, s := range r.states {
			require.True(t, bytes.Equal(calm.states[step], s), "super-step %d, gone on from %d", step, from)
		}
		if !ended { // perhaps as the last step would have been the end of a region
			require.GreaterOrEqual(t, at, last)
			require.Equal(t, want.Err, o.Err)
			require.Equal(t, want.Verified, o.Verified)
			require.Equal(t, want.Cycles, o.Cycles)
			require.Equal(t, want.Stats, o.Stats)
			require.Equal(t, want.Steps, o.Steps)
			require.Equal(t, want.Samples, o.Samples)
			return
		}
	}
}

// TestAKilledPointGoesOn: under every schedule, and so with every graph unit, with some of the workloads;
// with testenv.LongVariable, all of them.
func TestAKilledPointGoesOn(t *testing.T) {
	testenv.NeedSlow(t, "it simulates parts of points again and again")
	for n, s := range schedule.All() {
		t.Run(s.Name, func(t *testing.T) {
			machine := "vortex-6c32w32t"
			if s.Unit != nil {
				machine = machineWith(t, s.UnitName())
			}
			set := []string{
				"machine=" + machine, "workload.schedule=" + s.Name, "machine.sockets=2", "machine.core.warps=4", "machine.core.threads=8",
				"machine.l2={}", "graph.erdos_renyi.vertices=80", "graph.erdos_renyi.edges=260", "stats.interval=1000", "stats.max_rows=8",
			}
			draw, ran := rand.New(rand.NewPCG(uint64(n), 5)), 0
			run := func(w string) {
				text := small + "workload: {source: 3, " + w + "}\n" + parts[draw.IntN(len(parts))]
				// and not, say, edges in the order of their vertices
				if p, err := tryPoints(t, text, set...); err == nil {
					goesOn(t, draw, p, draw.IntN(3) == 0)
					ran++
				}
			}
			var others []string
			for i, w := range resumable {
				if (i+n)%10 == 0 || testenv.Long(t) > 0 { // together they are all schedules and all workloads
					run(w)
				} else {
					others = append(others, w)
				}
			}
			for i := 0; ran == 0 && i < len(others); i++ { // a schedule may refuse its own
				run(others[i])
			}
			require.Positive(t, ran)
		})
	}
}

// resumable are workloads with checkpoints.
var resumable = []string{
	"algorithm: bfs", "algorithm: sssp", "algorithm: cc", "algorithm: k-core", "algorithm: bc, direction: push",
	"algorithm: colouring", "algorithm: pagerank, max_iterations: 3", "algorithm: bfs, active_set: bytemap",
	"algorithm: bfs, direction: hybrid", "algorithm: sssp, order: near-far",
	"algorithm: sssp, order: buckets, active_set: qnb-bitmap, delta: 3", "algorithm: pagerank-delta, active_set: qnb-bytemap",
	"algorithm: bfs, direction: hybrid, active_set: rqnb-bytemap",
	"algorithm: pagerank, max_iterations: 3, kernel: handwritten",
	"algorithm: sssp, order: near-far, active_set: outputs, dedup: bytemap, direction: push",
	"algorithm: sssp, max_iterations: 4",
	"algorithm: bc, active_set: outputs, dedup: bytemap, direction: push",
}

// parts are the parts of a run that an experiment may ask for.
var parts = []string{
	"", "", "region: {from: 2, to: 2}\n", "region: {from: 3, outside: timed}\n", "region: {from: 2, to: 3, verify: false}\n", "stop: {max_edges: 1000}\n",
}

// TestAKilledProgramGoesOn: algorithms on features, and GraphIt programs, whose host side is interpreted: with queues,
// filters, lists of frontiers, sums on the host, operators under two schedules, and on graph units. Without HEDDLE_LONG
// a sixth of them, with 0 a quarter.
func TestAKilledProgramGoesOn(t *testing.T) {
	machine := map[string]string{"strict": "vortex-6c32w32t", "vertex": "vortex-6c32w32t"}
	for _, unit := range []string{"weaver", "peg"} {
		machine[unit] = machineWith(t, unit)
	}
	for n, c := range []struct{ schedule, workload string }{
		{"strict", "algorithm: lp, max_iterations: 4, features: {count: 3, aware: true}"},
		{"vertex", "algorithm: bp, max_iterations: 3, features: {count: 2, change_driven: true}"},
		{"weaver", "algorithm: als, max_iterations: 3, features: {count: 2}"},
		{"vertex", "algorithm: mmr, max_iterations: 3, features: {count: 2, change_driven: true, unsent: kept}"},
		{"vertex", `program: bfs.gt, arguments: ["3"]`},
		{"vertex", `program: bfs.gt, arguments: ["3"], schedules: {"loop:step": {threshold: 0.1, ` +
			`below: {load_balance: CM}, above: {direction: [PULL, BITMAP]}}}`},
		{"peg", `program: bfs.gt, arguments: ["3"]`},
		{"vertex", `program: delta_stepping.gt, arguments: ["3"]`},
		{"weaver", `program: k_core.gt`},
		{"vertex", `program: bc.gt, arguments: ["3"]`},
		{"strict", `program: pagerank_delta.gt, arguments: ["5"]`},
		{"vertex", `program: cc.gt`},
		{"vertex", "algorithm: mmr, max_iterations: 2, direction: pull, features: {count: 1, change_driven: false}"},
	} {
		if n%4 != 0 && testenv.Long(t) == 0 || n%8 != 0 && !testenv.Slow() {
			continue
		}
		t.Run(fmt.Sprint(n, c.schedule), func(t *testing.T) {
			t.Parallel()
			draw := rand.New(rand.NewPCG(uint64(n), 6))
			text := small + "workload: {" + c.workload + "}\n" + parts[draw.IntN(len(parts))]
			goesOn(t, draw, points(t, text, "machine="+machine[c.schedule], "workload.schedule="+c.schedule,
				"machine.core.warps=4", "machine.core.threads=8", "machine.l2={}", "graph.erdos_renyi.vertices=60",
				"graph.erdos_renyi.edges=180", "graph.clean.symmetrise=true", "graph.weights.from=random",
				"stats.interval=1000", "stats.max_rows=8"), draw.IntN(3) == 0)
		})
	}
}
