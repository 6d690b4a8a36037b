package sim_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa/micro"
	"heddle/sim"
)

// BenchmarkMachine runs micro-programs on whole machines and reports how fast simulated time,
// instructions and L1D misses go by on the host.
func BenchmarkMachine(b *testing.B) {
	for _, c := range []struct {
		machine, prog string
		iters         int64
	}{
		{"vortex-1c4w4t", "alu_chain", 2000}, {"vortex-1c4w4t", "fma_chain", 1000}, {"vortex-1c4w4t", "ld_rand", 300},
		{"vortex-6c32w32t", "alu_chain", 100}, {"vortex-6c32w32t", "fma_chain", 100}, {"vortex-6c32w32t", "ld_rand", 5},
		{"vortex-6c32w32t", "st_coal", 50}, {"vortex-6c32w32t-sharedl1", "alu_chain", 100}, {"vortex-6c32w32t-sharedl1", "ld_rand", 5},
	} {
		b.Run(c.machine+"/"+c.prog, func(b *testing.B) {
			p, err := micro.Program(c.prog, c.iters)
			require.NoError(b, err)
			var cycles, warps, threads, misses float64
			b.ReportAllocs()
			for range b.N {
				b.StopTimer()
				m, err := sim.New(load(b, c.machine), sim.Options{})
				require.NoError(b, err)
				b.StartTimer()
				r, err := m.Run(context.Background(), p)
				require.NoError(b, err)
				cycles += float64(r.Cycles)
				warps += float64(r.WarpInstrs)
				threads += float64(r.ThreadInstrs)
				for _, l1 := range m.Caches {
					misses += float64(l1.Stats().Fills)
				}
			}
			s := b.Elapsed().Seconds()
			b.ReportMetric(cycles/s/1e3, "kcycles/s")
			b.ReportMetric(warps/s/1e6, "Mwarp-instr/s")
			b.ReportMetric(threads/s/1e6, "Mthread-instr/s")
			b.ReportMetric(misses/s/1e3, "kfills/s")
		})
	}
}
