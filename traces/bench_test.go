package traces_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/kernels/graph"
	"heddle/traces"
)

// cpu is the processor time that the process has taken.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkTraces measures files, and what recording and replaying cost in processor time beside executing.
func BenchmarkTraces(b *testing.B) {
	fb, err := graph.Load(configs.Graph{File: "facebook_combined", Clean: configs.Clean{Symmetrise: true}})
	require.NoError(b, err)
	cfg := machine(b, "vortex-6c32w32t-weaver")
	for _, algorithm := range []string{"pagerank", "bfs"} {
		for _, schedule := range []string{"vertex", "edge", "warp", "cta", "weaver"} {
			b.Run(algorithm+"/"+schedule, func(b *testing.B) {
				w := workload(b, algorithm, schedule, 0)
				if algorithm == "pagerank" {
					w.Iterations = 2
				}
				path := filepath.Join(b.TempDir(), "t.trace")
				var spent [3]time.Duration
				for range b.N {
					start := cpu()
					execute(b, cfg, fb, w, "")
					executed := cpu()
					execute(b, cfg, fb, w, path)
					recorded := cpu()
					replay(b, cfg, path)
					replayed := cpu()
					spent[0] += executed - start
					spent[1] += recorded - executed
					spent[2] += replayed - recorded
				}
				sizes(b, path)
				b.ReportMetric(spent[0].Seconds()/float64(b.N), "execute-s")
				b.ReportMetric(100*(spent[1].Seconds()/spent[0].Seconds()-1), "record-%")
				b.ReportMetric(spent[0].Seconds()/spent[2].Seconds(), "replay-x")
			})
		}
	}
}

// sizes reports what a file takes.
func sizes(b *testing.B, path string) {
	info, err := os.Stat(path)
	require.NoError(b, err)
	f, err := traces.Open(path)
	require.NoError(b, err)
	defer f.Close() //nolint:errcheck // read only
	instrs := uint64(0)
	for _, l := range f.Meta.Launches {
		instrs += l.WarpInstrs
	}
	b.ReportMetric(float64(info.Size())/float64(instrs), "B/instr")
	b.ReportMetric(f.AddressBytes(), "B/address")
}
