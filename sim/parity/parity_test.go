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

	"heddle/configs"
	"heddle/sim/parity"
)

var update = flag.Bool("update", false, "rewrite testdata/cycles.golden: give the reason in the commit message")

// known are the measurements (program, machine, iterations) that are off by more than 5 %,
// each with its mechanism in docs/results/validation.md. None may be added without one.
var known = map[string]bool{}

func TestParityWithTheRTL(t *testing.T) {
	rows, err := parity.Run(context.Background(), parity.Machines, func(int, int, string) {})
	require.NoError(t, err)
	require.Len(t, rows, 246)
	for _, r := range rows {
		require.True(t, r.InstructionsRight(), "%s on %s: %d warp instructions, RTL %d", r.Program, r.Machine, r.Instrs,
			r.WarpInstrs)
		off := math.Abs(r.Ratio()-1) > 0.05
		require.Equal(t, known[fmt.Sprint(r.Program, " ", r.Machine, " ", r.Iters)], off,
			"%s on %s, %d iterations: ratio %.3f", r.Program, r.Machine, r.Iters, r.Ratio())
	}
	for _, s := range parity.Slopes(rows) {
		require.InDelta(t, s.RTL, s.Ours, 1, "%s: cycles of one iteration on one warp", s.Program)
	}
	for _, s := range parity.Summarise(rows) {
		if s.SimXRows == 0 {
			continue
		}
		require.Less(t, s.Geomean, 1+(s.SimXGeomean-1)/2, "%s: SimX is no yardstick unless we are well inside it",
			s.Machine)
	}

	// Our own cycles: any change is recorded with its reason.
	var got bytes.Buffer
	for _, r := range rows {
		fmt.Fprintf(&got, "%-6s %-14s %3d %d\n", r.Machine, r.Program, r.Iters, r.Ours)
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
	require.EqualError(t, err, `no reference machine "z": expected one of w1, a, c, d, m6, wb, chan4, chan2, lsuq8, lsul2, alul2, iss2, blk1, w16t16, nolm, cores4, s2, l3c2`)
}

// TestNotValidated: keys of a sweep whose values were not compared with the RTL are listed, each once; of a section
// that no reference machine has, only the name.
func TestNotValidated(t *testing.T) {
	for _, m := range parity.Machines {
		cfg, err := parity.Config(m)
		require.NoError(t, err)
		require.Empty(t, parity.NotValidated(cfg), m)
	}
	for _, c := range []struct {
		set  []string
		want []string
	}{
		{[]string{"core.lsu_queue=2"}, nil}, // the derived value
		{[]string{"l1d.banks=16", "core.fence=wait"}, []string{"core.fence wait", "l1d.banks 16"}},
		{[]string{"core.warps=32", "core.threads=2"}, []string{"core.threads 2"}},
		{[]string{"core.warps=64"}, []string{"core.warps 64", "core.issue.alu_blocks 4 derived", "core.issue.slices 4 derived"}},
		{[]string{"core.warps=64", "core.issue.slices=4"}, []string{"core.issue.slices 4", "core.issue.fpu_blocks 4 derived"}},
		{[]string{"memory.preset=ddr4-3200", "core.weaver={}"}, []string{"core.weaver", "memory.preset ddr4-3200"}},
	} {
		l, err := configs.LoadMachine("vortex-rtl-a", nil, c.set)
		require.NoError(t, err)
		var got []string
		for _, u := range parity.NotValidated(l.Value) {
			text := strings.TrimSpace(u.Key + " " + u.Value)
			if u.Derived {
				text += " derived"
			}
			got = append(got, text)
		}
		for _, w := range c.want {
			require.Contains(t, got, w)
		}
		if c.want == nil {
			require.Empty(t, got)
		}
	}
	var b strings.Builder
	require.NoError(t, parity.WriteKnobs(&b))
	require.Contains(t, b.String(), "| `core.lsu_queue` | 2 (")
}

// The registers that the RTL adds by the number of banks and requesters are those of the reference machines' caches.
func TestBuffersFollowTheRTL(t *testing.T) {
	for _, m := range parity.Machines {
		cfg, err := parity.Config(m)
		require.NoError(t, err)
		inputs := cfg.Core.Channels() // of the L1D: several cores share one behind an arbiter
		require.Equal(t, cfg.L1D.Banks != 1 || inputs != 1, cfg.L1D.ResponseBuffer, "%s: CORE_RSP_BUF_ENABLE", m)
		require.Equal(t, min(cfg.L1D.Banks, 2), cfg.L1D.MemoryPorts, "%s: L1_MEM_PORTS", m)
		require.Equal(t, min(inputs, 16), cfg.L1D.Banks, "%s: DCACHE_NUM_BANKS", m)
	}
}
