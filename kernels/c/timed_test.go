package c_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/internal/testenv"
	"heddle/sim"
)

// TestProgramsTimed runs the programs, which check their own results, on timed
// machines: with and without L2, private and shared L1s, atomics from several cores.
func TestProgramsTimed(t *testing.T) {
	dir := build(t, "-O2")
	for _, machine := range testenv.Some(t, 0, 7, []string{"vortex-rtl-c", "vortex-rtl-m6", "vortex-1c4w4t-weaver",
		"vortex-6c32w32t-sharedl1", "vortex-1c4w4t", "vortex-6c32w32t", "vortex-6c32w32t-weaver"}) {
		loaded, err := configs.LoadMachine(machine, nil, nil)
		require.NoError(t, err)
		cfg := loaded.Value
		s := shape{cfg.Sockets * cfg.CoresPerSocket, cfg.Core.Warps, cfg.Core.Threads}
		for _, p := range []struct{ name, console string }{
			{"hello", helloText(s)},
			{"vecadd", "vecadd: 1000 results, all right\n"},
			{"matmul", "matmul: 323 results, all right\n"},
			{"reduce", reduceText()},
			{"spmv", "spmv: 300 results, all right\n"},
			{"weaver_spmv", "weaver_spmv: 300 results, all right\n"},
		} {
			if p.name == "weaver_spmv" && !cfg.Core.Unit.Is("weaver") {
				continue
			}
			t.Run(machine+"/"+p.name, func(t *testing.T) {
				t.Parallel()
				var console []byte
				m, err := sim.New(cfg, sim.Options{MaxCycles: 20_000_000, Arg: launchArg,
					Out: func(line []byte) { console = append(console, line...) }})
				require.NoError(t, err)
				r, err := m.Run(context.Background(), load(t, filepath.Join(dir, p.name+".elf")))
				require.NoError(t, err)
				require.Equal(t, p.console, string(console))
				require.GreaterOrEqual(t, r.Cycles*uint64(s.cores), r.WarpInstrs,
					"a core issues more than one instruction a cycle")
				code, ok := m.Arch.ExitCode()
				require.True(t, ok)
				require.Zero(t, code)
			})
		}
	}
}
