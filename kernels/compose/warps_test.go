package compose

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/internal/testenv"
	"heddle/isa/emu"
	"heddle/kernels/host"
	"heddle/kernels/schedule"
	"heddle/sim"
)

// TestWarpsPerCore: on some of a core's warps every schedule computes the same, with time and without, and no others
// run.
func TestWarpsPerCore(t *testing.T) {
	g := tiny()["skewed"]
	for _, s := range schedule.All() {
		for _, algorithm := range []string{"pagerank", "bfs", "sssp", "bc"} {
			if s.Shards && algorithm == "bc" {
				continue
			}
			for running := 1; running <= warps; running += 2 {
				p, err := NewPlan(choose("schedule="+s.Name, "algorithm="+algorithm,
					fmt.Sprint("warps_per_core=", running)))
				require.NoError(t, err)
				w := workloadOf(p)
				w.WarpsPerCore = running
				for _, d := range []host.Device{functional(t, p), timed(t, p)} {
					r, err := Run(t.Context(), d, g, w)
					require.NoError(t, err, "%s", p.Name())
					require.True(t, r.Verified, p.Name())
					for i, edges := range d.LaneEdges(nil) {
						if warp := i / threads % warps; warp >= running {
							require.Zero(t, edges, "%s: warp %d", p.Name(), warp)
						}
					}
				}
			}
		}
	}
}

// blocked is a machine of two cores of 8 warps of 4 lanes.
func blocked(t *testing.T) configs.Machine {
	l, err := configs.LoadMachine("vortex-6c32w32t", nil,
		[]string{"sockets=2", "cores_per_socket=1", "core.warps=8", "core.threads=4", "l1d.bytes=2KiB",
			"l2.bytes=16KiB"})
	require.NoError(t, err)
	return l.Value
}

// TestBlocks: thread blocks of any size share their rows, each behind barriers of its own.
func TestBlocks(t *testing.T) {
	g := tiny()["skewed"]
	for n, scan := range []string{"shuffle", "scratchpad"} {
		for _, algorithm := range testenv.Some(t, n, 3, []string{"pagerank", "sssp", "bc"}) {
			for _, c := range []struct{ running, block int }{{8, 1}, {8, 2}, {8, 4}, {8, 8}, {6, 1}, {6, 2}, {6, 3},
				{5, 5}, {1, 1}} {
				w := workloadOf(mustPlan(t, "schedule=cta", "algorithm="+algorithm, "scan="+scan))
				w.WarpsPerCore, w.CTAThreads = c.running%8, 4*c.block
				d, err := host.NewTimed(blocked(t), sim.Options{MaxCycles: 20_000_000})
				require.NoError(t, err)
				u, err := host.NewFunctional(emu.Config{Cores: 2, Warps: 8, Threads: 4, MaxInstrs: 20_000_000,
					Quantum: 7}, nil)
				require.NoError(t, err)
				for _, d := range []host.Device{u, d} {
					r, err := Run(t.Context(), d, g, w)
					require.NoError(t, err, "%s %s: %+v", algorithm, scan, c)
					require.True(t, r.Verified)
				}
				require.NoError(t, d.Machine.CheckInvariants())
			}
		}
	}
}

// TestBlocksWait: warps of small blocks wait less for each other than those of a core that is one block.
func TestBlocksWait(t *testing.T) {
	g := exportGraph(t, 400, 3000)
	waits := map[int]uint64{}
	for _, block := range []int{0, 2} {
		w := workloadOf(mustPlan(t, "schedule=cta", "algorithm=pagerank"))
		w.CTAThreads = 4 * block
		d, err := host.NewTimed(blocked(t), sim.Options{MaxCycles: 20_000_000})
		require.NoError(t, err)
		r, err := Run(t.Context(), d, g, w)
		require.NoError(t, err)
		require.True(t, r.Verified)
		s, ok := d.Machine.Statistics().Get("core.warps.barrier")
		require.True(t, ok)
		waits[block], _ = s.Uint()
	}
	require.Less(t, 2*waits[2], waits[0])
}

func mustPlan(t *testing.T, set ...string) *Plan {
	p, err := NewPlan(choose(set...))
	require.NoError(t, err)
	return p
}

// TestExportWithFewerWarps: an exported program starts no more warps than its kernels are for.
func TestExportWithFewerWarps(t *testing.T) {
	cfg := blocked(t)
	d, err := host.NewTimed(cfg, sim.Options{})
	require.NoError(t, err)
	for _, c := range []struct {
		schedule     string
		warps, block int
	}{{"vertex", 3, 0}, {"cta", 0, 1}, {"cta", 0, 4}, {"cta", 6, 3}, {"cta", 6, 2}, {"cta", 0, 8}} {
		w := exportWorkload(t, "bfs", c.schedule, "push")
		w.WarpsPerCore, w.CTAThreads = c.warps, 4*c.block
		x, err := Export(t.Context(), d.Shape(), exportGraph(t, 40, 150), w)
		require.NoError(t, err)
		timed, functional := exitCodes(t, cfg, d.Shape(), x.Program)
		require.Zero(t, timed)
		require.Zero(t, functional)
		timed, functional = exitCodes(t, cfg, d.Shape(), spoil(t, x.Program))
		require.EqualValues(t, ExitWrong, timed)
		require.EqualValues(t, ExitWrong, functional)
	}
	w := exportWorkload(t, "bfs", "cta", "push")
	w.CTAThreads = 8
	_, err = Export(t.Context(), d.Shape(), exportGraph(t, 40, 150), w)
	require.ErrorContains(t, err, "a core's 4 thread blocks take all of its 4 barriers")
}
