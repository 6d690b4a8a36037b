package traces_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/graph"
	"heddle/graph/graphspec"
	"heddle/traces"
)

// machines are those on which schedules are measured: all have the same cores.
var machines = map[string]string{"weaver": "vortex-6c32w32t-weaver", "peg": "vortex-6c32w32t-graphpeg",
	"hwwl": "vortex-6c32w32t-hwwl", "eghw": "vortex-6c32w32t-eghw"}

// BenchmarkTraces measures files, and the processor time of simulating: executed, recorded and replayed, each the least
// of all repetitions, without an execution's other work (compiling, the reference, checking).
func BenchmarkTraces(b *testing.B) {
	fb, err := graph.Load(graphspec.Graph{File: "facebook_combined", Clean: graphspec.Clean{Symmetrise: true}})
	require.NoError(b, err)
	for _, algorithm := range []string{"pagerank", "bfs"} {
		for _, schedule := range []string{"vertex", "edge", "warp", "cta", "weaver", "peg", "hwwl", "eghw"} {
			b.Run(algorithm+"/"+schedule, func(b *testing.B) {
				name := cmp.Or(machines[schedule], "vortex-6c32w32t")
				cfg := machine(b, name)
				p, err := parse(name, fmt.Sprintf("algorithm: %s, schedule: %s", algorithm, schedule))
				require.NoError(b, err)
				if algorithm == "pagerank" {
					p.Workload.Iterations = 2
				}
				path := filepath.Join(b.TempDir(), "t.trace")
				least := [3]time.Duration{time.Hour, time.Hour, time.Hour}
				for range b.N {
					_, _, executed := execute(b, cfg, fb, p.Workload, "")
					_, _, recorded := execute(b, cfg, fb, p.Workload, path)
					_, _, _, replayed := replay(b, cfg, path)
					for i, t := range [...]time.Duration{executed, recorded, replayed} {
						least[i] = min(least[i], t)
					}
				}
				sizes(b, path)
				b.ReportMetric(least[0].Seconds(), "execute-s")
				b.ReportMetric(100*(least[1].Seconds()/least[0].Seconds()-1), "record-%")
				b.ReportMetric(least[0].Seconds()/least[2].Seconds(), "replay-x")
			})
		}
	}
}

// sizes reports the size of a file.
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
