package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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
	p[whole][workloads[3].name] = cost{1, 2, 3}
	text, err := p.text()
	require.NoError(t, err)
	read, err := readPage(text)
	require.NoError(t, err)
	assert.Equal(t, p, read)

	_, err = readPage(strings.Replace(text, "1,234,567,890", "many", 1))
	assert.ErrorContains(t, err, `"many": expected a number`)
}

func TestToleranceIsOfTheCostOfAWarpInstruction(t *testing.T) {
	recorded := cost{WarpInstrs: 1000, Cycles: 10, HostInstrs: 1_000_000}
	old := table{"alu_chain": recorded}
	list := []*workload{&workloads[0]}
	for instrs, want := range map[uint64]error{900_000: nil, 1_029_000: nil, 1_031_000: errWorse} {
		assert.Equal(t, want, printBeside("recorded", list, []cost{{1000, 10, instrs}}, old), instrs)
	}
	assert.NoError(t, printBeside("recorded", list, []cost{{1000, 10, 1}}, table{}),
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

// Only the simulation is counted: ten times the instructions cost about ten times as much, and two counts are equal.
func TestCountsSimulating(t *testing.T) {
	testenv.NeedLong(t, "it compiles all of Go and heddle with a changed runtime; .ci/run does, and counts, by the "+
		"command itself")
	tools.Need(t, "valgrind")
	ctx := context.Background()
	root, err := commits.Root(ctx)
	require.NoError(t, err)
	c := counter{root: root, dir: t.TempDir()}
	c.flags, err = unpreempted(ctx, c.dir)
	require.NoError(t, err)
	c.program, err = commits.Build(ctx, root, c.dir, c.flags...)
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
