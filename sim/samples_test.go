package sim_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/core"
	"heddle/configs"
	"heddle/internal/testenv"
	"heddle/isa"
	"heddle/isa/micro"
	"heddle/sim"
	"heddle/sim/stats"
)

// sampled runs a program twice on one machine, with samples unless s is nil.
func sampled(t *testing.T, cfg configs.Machine, p *isa.Program, s *sim.Sampling,
	prepare ...func(*core.Core)) (cycles [2]uint64, all stats.Tree, got *sim.Samples) {
	t.Helper()
	m, err := sim.New(cfg, sim.Options{Sampling: s, Check: true})
	require.NoError(t, err)
	for _, f := range prepare {
		for _, c := range m.Cores {
			f(c)
		}
	}
	m.BeginSamples()
	for i := range cycles {
		r, err := m.Run(context.Background(), p)
		require.NoError(t, err)
		cycles[i] = r.Cycles
	}
	require.NoError(t, m.CheckInvariants())
	return cycles, m.Statistics(), m.EndSamples()
}

// samplePrograms run on machines whose units sleep at different times.
func samplePrograms(t *testing.T) map[string]func() (configs.Machine, *isa.Program) {
	on := func(prog string, iters int64, machine string, set ...string) func() (configs.Machine, *isa.Program) {
		return func() (configs.Machine, *isa.Program) {
			p, err := micro.Program(prog, iters)
			require.NoError(t, err)
			return load(t, machine, set...), p
		}
	}
	return map[string]func() (configs.Machine, *isa.Program){
		"small":  on("ld_rand", 1, "vortex-1c4w4t"),
		"ratio":  on("ld_rand", 1, "vortex-rtl-c", "memory.preset=ddr4-3200", "memory.clock_ratio=2.7", "l1d.mshrs=4"),
		"large":  on("st_coal", 1, "vortex-6c32w32t", "memory.preset=hbm2-2gbps"),
		"shared": on("barrier", 2, "vortex-6c32w32t-sharedl1"),
		"weaver": func() (configs.Machine, *isa.Program) { return load(t, "vortex-1c4w4t-weaver"), weaverProgram(t, 60) },
		"peg": func() (configs.Machine, *isa.Program) {
			return load(t, "vortex-1c4w4t-graphpeg"), newPegGraph(2, 60, 40).program(t)
		},
	}
}

// TestSamplesAddUp: a run with samples has the cycles and statistics of one without; each count of all its intervals
// adds up to the run's; all cycles of an interval are attributed in it, and a core that never sleeps makes the same
// samples.
func TestSamplesAddUp(t *testing.T) {
	testenv.NeedSlow(t, "it simulates many points twice")
	for name, make := range samplePrograms(t) {
		cfg, p := make()
		wantCycles, want, none := sampled(t, cfg, p, nil)
		require.Nil(t, none)
		short := uint64(29)
		if cfg.Sockets*cfg.CoresPerSocket > 1 {
			short = 293
		}
		for _, interval := range []uint64{short, 1_000_000} {
			s := &sim.Sampling{Interval: interval, Keys: []string{"*"}, MaxRows: 1 << 20}
			cycles, all, got := sampled(t, cfg, p, s)
			require.Equal(t, wantCycles, cycles, name)
			same(t, want, all)
			require.Equal(t, interval, got.Interval)
			require.Len(t, got.Names, len(all))
			require.Equal(t, interval == short, len(got.Rows) > 3, "%s %d: %d rows", name, interval, len(got.Rows))
			checkSamples(t, all, got)
			_, _, awake := sampled(t, cfg, p, s, (*core.Core).StayAwake)
			require.Len(t, awake.Rows, len(got.Rows))
			for i, r := range got.Rows {
				require.Equal(t, r.To, awake.Rows[i].To)
				same(t, r.Values, awake.Rows[i].Values)
			}
		}
	}
}

// same compares trees, and names only the differences.
func same(t *testing.T, want, got stats.Tree) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		require.True(t, want[i] == got[i], "%s: %s, %s", want[i].Name, want[i], got[i])
	}
}

func checkSamples(t *testing.T, all stats.Tree, s *sim.Samples) {
	t.Helper()
	at, sum := uint64(0), s.Rows[0].Values[:0:0]
	for i, r := range s.Rows {
		require.Equal(t, at, r.From)
		at = r.To
		for k, v := range r.Values {
			if i == 0 {
				sum = append(sum, v)
			} else {
				sum[k] = sum[k].Plus(v)
			}
		}
		row := stats.Tree(r.Values)
		attributed, _ := row.Get("core.cycles")
		causes := 0.0
		for _, v := range row {
			if ok := len(v.Name) > 15 && v.Name[:15] == "core.scheduler."; ok {
				causes += v.Float()
			}
		}
		require.Zero(t, int(causes)%max(1, int(attributed.Float())), "%v cycles attributed, %v causes", attributed, causes)
		if i < len(s.Rows)/3 {
			cores := 0
			for _, v := range row {
				if n, ok := v.Uint(); ok && singleCycles(v.Name) {
					require.Equal(t, r.To-r.From, n, "%s of row %d", v.Name, i)
					cores++
				}
			}
			require.Positive(t, cores)
		}
	}
	for k, v := range sum {
		require.Equal(t, all[k].Name, v.Name)
		require.InDelta(t, all[k].Float(), v.Float(), 1e-9, v.Name)
		require.Equal(t, all[k].String(), v.String(), v.Name)
	}
}

func singleCycles(name string) bool {
	return len(name) == 12 && name[:4] == "core" && name[5:] == ".cycles"
}

// TestTooManySamples: neighbours become one, and nothing is lost.
func TestTooManySamples(t *testing.T) {
	cfg, p := samplePrograms(t)["large"]()
	want, all, _ := sampled(t, cfg, p, nil)
	for _, rows := range []int{2, 3, 10, 64} {
		cycles, _, s := sampled(t, cfg, p, &sim.Sampling{Interval: 3, Keys: []string{"*"}, MaxRows: rows})
		require.Equal(t, want, cycles)
		require.Less(t, len(s.Rows), rows)
		require.Greater(t, s.Interval, uint64(3))
		require.Zero(t, s.Interval%3)
		for _, r := range s.Rows[:len(s.Rows)-1] {
			require.LessOrEqual(t, r.To-r.From, 2*s.Interval, "%v", r.To)
		}
		sums := s.Rows[0].Values
		for _, r := range s.Rows[1:] {
			for k := range sums {
				sums[k] = sums[k].Plus(r.Values[k])
			}
		}
		for k := range sums {
			require.Equal(t, all[k].String(), sums[k].String(), sums[k].Name)
		}
	}
}

func TestSelect(t *testing.T) {
	m, err := sim.New(load(t, "vortex-1c4w4t"), sim.Options{})
	require.NoError(t, err)
	names, err := m.Select([]string{"ipc", "core.scheduler.stall.scoreboard.s*", "l1?.reads"})
	require.NoError(t, err)
	require.Equal(t, []string{"ipc", "core.scheduler.stall.scoreboard.scratchpad",
		"core.scheduler.stall.scoreboard.sfu", "l1i.reads", "l1d.reads"}, names)
	_, err = m.Select([]string{"ipc", "icp"})
	require.ErrorContains(t, err, "icp: the machine has no such statistic")
	_, err = m.Select([]string{"[z"})
	require.ErrorContains(t, err, "[z: expected a statistic's name")
	for _, s := range []sim.Sampling{{Interval: 0, MaxRows: 9}, {Interval: 9, MaxRows: 1},
		{Interval: 9, MaxRows: 9, Keys: []string{"x"}}} {
		_, err := sim.New(load(t, "vortex-1c4w4t"), sim.Options{Sampling: &s})
		require.Error(t, err)
	}
}
