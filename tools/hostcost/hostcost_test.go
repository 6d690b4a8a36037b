package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"heddle/internal/commits"
	"heddle/internal/testenv"
	"heddle/internal/tools"
)

// The recorded page equals the rendering of its tables, and has every workload.
func TestRecordedPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/design/speed.md")
	require.NoError(t, err)
	p, err := readPage(string(text))
	require.NoError(t, err)
	again, err := p.text()
	require.NoError(t, err)
	assert.Equal(t, again, string(text), "docs/design/speed.md: go run ./tools/hostcost --record")
	for _, w := range workloads {
		assert.Contains(t, p[quick], w.name, "nothing is recorded")
	}
}

func TestPageKeepsWhatItHolds(t *testing.T) {
	p := page{quick: {}, whole: {}}
	for i, w := range workloads {
		p[quick][w.name] = cost{WarpInstrs: uint64(1000 + i), Cycles: 7, HostInstrs: 1234567890}
	}
	p[whole][workloads[3].name] = cost{WarpInstrs: 1, Cycles: 2, HostInstrs: 3}
	p[quick][workloads[3].name] = cost{WarpInstrs: 1, Cycles: 2, HostInstrs: 3, Unprofiled: 4,
		Parts: [len(parts)]uint64{7, 0, 1234}}
	text, err := p.text()
	require.NoError(t, err)
	read, err := readPage(text)
	require.NoError(t, err)
	assert.Equal(t, p, read)

	assert.Equal(t, table{workloads[3].name: {WarpInstrs: 1, Cycles: 2, HostInstrs: 4}}, read[quick].unprofiled())
	assert.Empty(t, read[whole].unprofiled())

	for _, changed := range []string{"1,234,567,890", " 4 |"} {
		many := strings.Replace(changed, strings.Trim(changed, " |"), "many", 1)
		_, err = readPage(strings.Replace(text, changed, many, 1))
		assert.ErrorContains(t, err, `"many": expected a number`)
	}
}

func TestToleranceIsOfTheCostOfAWarpInstruction(t *testing.T) {
	recorded := cost{WarpInstrs: 1000, Cycles: 10, HostInstrs: 1_000_000}
	old := table{"alu_chain": recorded}
	list := []*workload{&workloads[0]}
	for instrs, want := range map[uint64]error{900_000: nil, 1_029_000: nil, 1_031_000: errWorse} {
		now := []cost{{WarpInstrs: 1000, Cycles: 10, HostInstrs: instrs}}
		assert.Equal(t, want, printBeside("recorded", list, now, old), instrs)
	}
	assert.NoError(t, printBeside("recorded", list, []cost{{WarpInstrs: 1000, Cycles: 10, HostInstrs: 1}}, table{}),
		"a workload without a record cannot be worse")
}

func TestCountsAreRead(t *testing.T) {
	exec, err := simulated([]byte(`{"cycles": 5, "warp_instrs": 7}`))
	require.NoError(t, err)
	assert.Equal(t, cost{WarpInstrs: 7, Cycles: 5}, exec)
	run, err := simulated([]byte(`{"points": [{"cycles": 5, "warp_instrs": 7, "failure": "limit"}]}`))
	require.NoError(t, err)
	assert.Equal(t, exec, run)
	for _, bad := range []string{`{}`, `{"points": [{"cycles": 5, "warp_instrs": 7, "failure": "wrong result"}]}`,
		`x`} {
		_, err := simulated([]byte(bad))
		assert.Error(t, err, bad)
	}

	n, err := collected([]byte("events: Ir\nsummary: 12\ntotals: 12\n"))
	require.NoError(t, err)
	assert.Equal(t, uint64(12), n)
	for _, bad := range []string{"", "totals: 0\n", "totals: many\n"} {
		_, err := collected([]byte(bad))
		assert.Error(t, err, bad)
	}
}

// No run writes progress, however slow the host is.
func TestRunsAreQuiet(t *testing.T) {
	for i := range workloads {
		args := workloads[i].args(false, "graph.yaml", "out")
		at := slices.Index(args, "--heartbeat")
		require.Positive(t, at, workloads[i].name)
		assert.Equal(t, quiet, args[at+1])
	}
}

// Only the simulation is counted: ten times the instructions cost about ten times as much, and two counts are equal.
func TestCountsSimulating(t *testing.T) {
	testenv.NeedSlow(t, "callgrind executes a simulation three times")
	tools.Need(t, "valgrind")
	ctx := context.Background()
	root, err := commits.Root(ctx)
	require.NoError(t, err)
	c := counter{root: root, dir: t.TempDir()}
	c.program, err = buildUnpreempted(ctx, root, c.dir, "-pgo=off")
	require.NoError(t, err)
	count := func(iters int) cost {
		got, err := c.count(ctx, &workload{machine: "vortex-1c4w4t", program: program{"alu_chain", iters}})
		require.NoError(t, err)
		return got
	}
	one, again, ten := count(50), count(50), count(500)
	assert.InEpsilon(t, one.HostInstrs, again.HostInstrs, 0.01)
	assert.InEpsilon(t, one.perWarpInstr(), ten.perWarpInstr(), 0.3, fmt.Sprint(one, ten))
}

// The error of a workload that fails includes the program's output.
func TestFailureIsTold(t *testing.T) {
	tools.Need(t, "valgrind")
	c := counter{root: ".", dir: t.TempDir(), program: filepath.Join(t.TempDir(), "none")}
	_, err := c.count(context.Background(), &workloads[0])
	assert.ErrorContains(t, err, "none")
}

// TestUnpreempted: in the changed program another goroutine waits until a busy one blocks, which it does not in the
// program as it was.
func TestUnpreempted(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("skipped: callgrind runs on Linux")
	}
	dir := t.TempDir()
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	require.NoError(t, os.WriteFile(source, []byte(busy), 0o600))
	out, err := exec.Command("go", "build", "-o", program, source).CombinedOutput()
	require.NoError(t, err, string(out))
	for _, want := range []string{"preempted: true\n", "preempted: false\n"} {
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), deterministic...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err)
		require.Equal(t, want, string(out))
		require.NoError(t, unpreempted(program))
	}

	other := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(other, []byte("no program"), 0o600))
	require.ErrorContains(t, unpreempted(other), "expected a program of Linux")
}

const busy = `package main

import (
	"fmt"
	"sync/atomic"
	"time"
)

func main() {
	var ran atomic.Bool
	go ran.Store(true)
	for from := time.Now(); time.Since(from) < time.Second && !ran.Load(); {
		_ = fmt.Sprint(1) // calls look whether the goroutine is to give way; no system call
	}
	fmt.Println("preempted:", ran.Load())
}
`

// TestInstructionsByPart: lines count for the part of their file, shared code for the function that it is inlined into,
// and what a call has cost for the called function alone.
func TestInstructionsByPart(t *testing.T) {
	text := `fl=(1) /x/components/core/lsu.go
fn=(2) heddle/components/core.(*lsu).move
10 100
fi=(3) /x/components/queue/queue.go
+5 20
fe=(1)
-5 1
cfi=(4) /x/components/cache/bank.go
cfn=(5) heddle/components/cache.(*bank).step
calls=7 90
* 700
+1 3

fl=(4)
fn=(5)
90 700
fi=(6) /usr/local/go/src/math/bits/bits.go
1 6
fn=(7) heddle/components/cache.(*bank).tell
2 4

fl=(8) /x/sim/watchdog.go
fn=(9) heddle/sim.(*watched).Tick
3 50

totals: `
	want := map[string]uint64{"load-store unit, coalescer": 124, "caches": 710,
		"graph units, watchdog, Go's runtime": 50}
	sum, err := byPart([]byte(text + "884\n"))
	require.NoError(t, err)
	for i := range parts {
		require.Equal(t, want[parts[i].name], sum[i], parts[i].name)
	}
	require.Equal(t, uint64(71), perWarpInstr(sum, 10)[2])

	_, err = byPart([]byte(text + "885\n"))
	require.ErrorContains(t, err, "its lines have 884 instructions, and it says 885")
	_, err = byPart([]byte(text + "884\nfn=(9) encoding/json.appendCompact\n"))
	require.ErrorContains(t, err, "something interrupted the run")
	_, err = byPart([]byte("fl=(1) a.go\n+1 many\n"))
	require.ErrorContains(t, err, "line 2")
}

// TestEveryFileOfTheCoreHasAPart: but for those that do nothing in a cycle of time.
func TestEveryFileOfTheCoreHasAPart(t *testing.T) {
	idle := map[string]bool{"buffers": true, "dump": true, "estimate": true, "estimate_front": true, "estimate_lsu": true,
		"estimate_slice": true, "functional": true, "names": true, "signals": true, "spec": true, "trace": true,
		"trap": true, "waits": true}
	files, err := filepath.Glob("../../components/core/*.go")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		if name := strings.TrimSuffix(filepath.Base(f), ".go"); !strings.HasSuffix(name, "_test") && !idle[name] {
			part := partOf("/x/components/core/"+name+".go", "")
			require.NotEqual(t, len(parts)-1, part, name)
		}
	}
}
