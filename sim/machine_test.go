package sim_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/cache"
	"heddle/components/core"
	"heddle/configs"
	"heddle/isa"
	"heddle/isa/asm"
	"heddle/isa/emu"
	"heddle/isa/micro"
	"heddle/sim"
)

func load(t *testing.T, machine string, set ...string) configs.Machine {
	t.Helper()
	l, err := configs.LoadMachine(machine, nil, set)
	require.NoError(t, err)
	return l.Value
}

func program(t *testing.T, name string) *isa.Program {
	t.Helper()
	p, err := micro.Program(name, 20)
	require.NoError(t, err)
	return p
}

// outcome is all that a run counts.
type outcome struct {
	sim.Result
	Cores   []core.Stats
	Caches  []cache.Stats
	Console string
}

func run(t *testing.T, cfg configs.Machine, p *isa.Program) (outcome, *sim.Machine) {
	t.Helper()
	var o outcome
	m, err := sim.New(cfg, sim.Options{MaxCycles: 10_000_000, Out: func(line []byte) { o.Console += string(line) }})
	require.NoError(t, err)
	o.Result, err = m.Run(context.Background(), p)
	require.NoError(t, err)
	for _, c := range m.Cores {
		o.Cores = append(o.Cores, c.Counts())
	}
	for _, c := range m.Caches {
		o.Caches = append(o.Caches, c.Stats())
	}
	return o, m
}

func hello(t *testing.T) *isa.Program {
	t.Helper()
	src, err := os.ReadFile("../kernels/asm/hello.s")
	require.NoError(t, err)
	p, err := asm.Assemble("hello.s", src, asm.Options{Base: 0x80000000})
	require.NoError(t, err)
	return p
}

// TestSameInputSameCycles: the host's processors, and what else runs beside a
// machine, change nothing; nor does a console, or a limit that is not reached.
func TestSameInputSameCycles(t *testing.T) {
	for _, name := range []string{"vortex-rtl-m6", "vortex-6c32w32t-sharedl1"} {
		cfg, p := load(t, name), hello(t)
		want, _ := run(t, cfg, p)
		require.NotEmpty(t, want.Console)

		old := runtime.GOMAXPROCS(1)
		got, _ := run(t, cfg, p)
		runtime.GOMAXPROCS(old)
		require.Equal(t, want, got)

		const beside = 3
		all := make(chan outcome, beside)
		for range beside {
			go func() { o, _ := run(t, cfg, p); all <- o }()
		}
		for range beside {
			require.Equal(t, want, <-all)
		}

		m, err := sim.New(cfg, sim.Options{})
		require.NoError(t, err)
		r, err := m.Run(context.Background(), p)
		require.NoError(t, err)
		require.Equal(t, want.Result, r)
	}
}

// TestConservation: what one level sends, the next receives, whatever the memory.
func TestConservation(t *testing.T) {
	memories := []string{"vortex-harness", "hbm2-2gbps", "hbm2-2gbps-jedec", "ddr4-3200", "gddr6", "gddr5", "ideal"}
	for _, machine := range []string{"vortex-1c4w4t", "vortex-rtl-c", "vortex-rtl-m6"} {
		for _, prog := range []string{"ld_rand", "ld_coal", "st_coal", "diverge", "barrier"} {
			p := program(t, prog)
			cfg := load(t, machine)
			untimed, err := emu.New(emu.Config{Cores: cfg.Sockets * cfg.CoresPerSocket, Warps: cfg.Core.Warps, Threads: cfg.Core.Threads})
			require.NoError(t, err)
			untimed.Load(p)
			require.NoError(t, untimed.Run(context.Background()))

			cycles := map[uint64]bool{}
			for _, memory := range memories {
				t.Run(machine+"/"+prog+"/"+memory, func(t *testing.T) {
					o, m := run(t, load(t, machine, "memory.preset="+memory), p)
					cycles[o.Cycles] = true
					require.Equal(t, untimed.Stats(), o.Stats, "the untimed machine executes the same")
					issued := uint64(0)
					for _, c := range o.Cores {
						require.Equal(t, c.Scheduled, c.Issued, "an instruction was fetched and not issued")
						require.Equal(t, c.Issued, c.Committed, "an instruction has not ended")
						issued += c.Issued
					}
					require.Equal(t, o.WarpInstrs, issued)
					checkLevels(t, m, o)
				})
			}
			if prog == "ld_rand" {
				require.Greater(t, len(cycles), 4, "the memory makes no difference")
			}
		}
	}
}

// checkLevels compares what the L1s brought in with what the level behind them read.
func checkLevels(t *testing.T, m *sim.Machine, o outcome) {
	t.Helper()
	var fills, l2Reads uint64
	l2 := false
	for i, c := range m.Caches {
		s := o.Caches[i]
		require.Equal(t, s.Reads, s.ReadHits+s.ReadMisses, "%s", c.Name())
		require.Equal(t, s.Writes, s.WriteHits+s.WriteMisses, "%s", c.Name())
		require.Equal(t, s.ReadMisses, s.Fills+s.Merges, "%s: every read miss is a fill or joins one", c.Name())
		if c.Name() == "L2" {
			l2, l2Reads = true, s.Reads
		} else {
			fills += s.Fills
		}
	}
	if l2 {
		require.Equal(t, fills, l2Reads)
	}
}

func TestMachinesThatDoNotFit(t *testing.T) {
	for _, c := range []struct{ set, says string }{
		{"sockets=64", "sockets"},
		{"core.channel_bytes=128", "core.channel_bytes"},
		{"l2.line_bytes=128", "l2.line_bytes"},
		{"l1i.line_bytes=32", "l1i.line_bytes"},
		{"memory.channels=3", "memory.channels"},
	} {
		_, err := configs.LoadMachine("vortex-6c32w32t", nil, []string{c.set})
		require.ErrorContains(t, err, c.says, c.set)
	}
}

func TestADeadlockIsReportedOnce(t *testing.T) {
	p, err := asm.Assemble("d.s", []byte("_start: li t1, 2\n bar zero, t1\n tmc zero"), asm.Options{Base: 0x80000000})
	require.NoError(t, err)
	m, err := sim.New(load(t, "vortex-6c32w32t"), sim.Options{})
	require.NoError(t, err)
	_, err = m.Run(context.Background(), p)
	var stall *sim.StallError
	require.True(t, errors.As(err, &stall), "%v", err)
	require.Len(t, stall.Waits, 6, "one warp of each core waits")
}
