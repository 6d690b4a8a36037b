package parity_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/sim/parity"
)

var update = flag.Bool("update", false, "rewrite testdata/cycles.golden: say why in the commit message")

// known are the measurements (program, machine, iterations) that are off by more than 5 %,
// each with its mechanism in docs/results/validation.md. None may be added without one.
var known = map[string]bool{}

func TestParityWithTheRTL(t *testing.T) {
	rows, err := parity.Run(context.Background(), parity.Machines, func(int, int, string) {})
	require.NoError(t, err)
	require.Len(t, rows, 170)
	for _, r := range rows {
		require.True(t, r.InstructionsRight(), "%s on %s: %d warp instructions, RTL %d", r.Program, r.Machine, r.Instrs, r.WarpInstrs)
		off := math.Abs(r.Ratio()-1) > 0.05
		require.Equal(t, known[fmt.Sprint(r.Program, " ", r.Machine, " ", r.Iters)], off, "%s on %s, %d iterations: ratio %.3f", r.Program, r.Machine, r.Iters, r.Ratio())
	}
	for _, s := range parity.Slopes(rows) {
		require.InDelta(t, s.RTL, s.Ours, 1, "%s: cycles of one iteration on one warp", s.Program)
	}
	for _, s := range parity.Summarise(rows) {
		require.Less(t, s.Geomean, 1+(s.SimXGeomean-1)/2, "%s: SimX is no yardstick unless we are well inside it", s.Machine)
	}

	// Our own cycles: any change is recorded with its reason.
	var got bytes.Buffer
	for _, r := range rows {
		fmt.Fprintf(&got, "%-2s %-14s %3d %d\n", r.Machine, r.Program, r.Iters, r.Ours)
	}
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile("testdata/cycles.golden", got.Bytes(), 0o644))
	}
	want, err := os.ReadFile("testdata/cycles.golden")
	require.NoError(t, err)
	require.Equal(t, string(want), got.String())
}

func TestReport(t *testing.T) {
	rows, err := parity.Run(context.Background(), []string{"w1"}, func(int, int, string) {})
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, parity.Write(&b, rows))
	require.Contains(t, b.String(), "| alu_chain      |  160.00 |  160.00 |")
	_, err = parity.Run(context.Background(), []string{"z"}, nil)
	require.EqualError(t, err, `no reference machine "z": expected one of w1, a, c, d, m6`)
}
