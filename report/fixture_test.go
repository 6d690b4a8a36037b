package report_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
	"heddle/report"
)

// summary is a summary.json in the making; its points have the same statistics.
type summary struct {
	Experiment string                        `json:"experiment"`
	Version    string                        `json:"version"`
	Points     []map[string]any              `json:"points"`
	Host       experiment.HostSummary        `json:"host"`
	Statistics []experiment.StatisticSummary `json:"statistics"`
	Graphs     map[string]any                `json:"graphs"`
}

// add adds a point whose counts follow from its cycles.
func (s *summary) add(axes map[string]string, cycles float64, speedup any) map[string]any {
	p := map[string]any{
		"axes": axes, "graph": "abc", "cycles": cycles, "verified": true, "host_seconds": 0.5, "speedup": speedup,
		"config": fmt.Sprintf("name: x\nmachine:\n  core:\n    warps: %s\n  l2: null\nworkload: {schedule: %s}\n", axes["machine.core.warps"], axes["workload.schedule"]),
		"stats": map[string]float64{
			"cycles": cycles, "ipc": 1000 / cycles, "edges_per_cycle": 500 / cycles, "l1d.hit_rate": 0.5,
			"dram.bytes_per_cycle": 4000 / cycles, "dram.peak_bytes_per_cycle": 256,
			"core.scheduler.issued": 100, "core.scheduler.stall.scoreboard.memory": cycles - 100, "core.scheduler.drained": 0,
			"core.warps.selected": 100, "core.warps.wait": 50, "core.warps.resident": 150, "core.warps.eligible": 120,
			"core.phase.schedule.scheduler_cycles": cycles / 4, "core.phase.gather_sum.scheduler_cycles": cycles, "core.phase.gather_sum.warp_cycles": 7, "core.phase.gather_sum.warp_instrs": 3,
			"kernel.init.cycles": 10, "kernel.gather.cycles": cycles - 20, "launch.overhead_cycles": 10, "core0.cycles": 7,
		},
	}
	s.Points = append(s.Points, p)
	return p
}

const sweepConfig = `
name: fixture
compare: # two
  workload.schedule: [vertex, weaver]
  machine: [plain, with-weaver]
sweep:
  machine.core.warps: [2, 4, 16]
  machine.l1d.bytes: [1KiB, 16KiB]
`

// fixture is an experiment with two variants, two numeric axes, and a failure.
func fixture() *summary {
	s := &summary{
		Experiment: "fixture", Version: "v1", Host: experiment.HostSummary{Seconds: 3, PeakRSSBytes: 5 << 20, Jobs: 2},
		Graphs: map[string]any{"abc": map[string]any{"source": "a graph", "vertices": 4, "edges": 6,
			"max_in_degree": 3}},
	}
	for _, name := range []string{"cycles", "ipc", "kernel.init.cycles", "kernel.gather.cycles",
		"launch.overhead_cycles", "core.cycles",
		"core.scheduler.issued", "core.scheduler.stall.scoreboard.memory", "core.scheduler.drained", "core.warps.selected", "core.warps.wait"} {
		s.Statistics = append(s.Statistics, experiment.StatisticSummary{Name: name, Unit: "things",
			Doc: "Events of " + name + "."})
	}
	for i, warps := range []string{"2", "4", "16"} {
		for j, bytes := range []string{"1KiB", "16KiB"} {
			base := float64(1000 - 200*i - 50*j)
			axes := func(schedule, machine string) map[string]string {
				return map[string]string{"workload.schedule": schedule, "machine": machine, "machine.core.warps": warps,
					"machine.l1d.bytes": bytes}
			}
			s.add(axes("vertex", "plain"), base, 1)
			s.add(axes("weaver", "with-weaver"), base/2, 2)
		}
	}
	last := s.Points[len(s.Points)-1]
	last["verified"], last["speedup"], last["failure"], last["error"] = false, nil, "wrong result",
		"vertex 3: rank 0.5, expected 0.25"
	return s
}

// write makes a directory of results.
func (s *summary) write(t testing.TB, config string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	text, err := json.Marshal(s)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "summary.json"), text, 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.resolved.yaml"), []byte(config), 0o644))
	return dir
}

func read(t testing.TB, s *summary, config string) *report.Result {
	t.Helper()
	r, err := report.Read(s.write(t, config))
	require.NoError(t, err)
	return r
}
