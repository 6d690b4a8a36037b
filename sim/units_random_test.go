package sim_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/weaver"
	"heddle/configs"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/sim"
)

// weaverStream is a random straight line of Weaver instructions and others, for one warp. Registers
// a0 to a7 are reused; later instructions depend on every value.
func weaverStream(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("_start: li t0, -1\n tmc t0\n csrr t1, vx_tid\n li t2, 3\n li t3, 0x90000000\n slli t4, t1, 2\n add " +
		"t3, t3, t4\n")
	for i := range 8 {
		fmt.Fprintf(&b, "li a%d, %d\n add a%d, a%d, t1\n", i, r.IntN(20), i, i)
	}
	a := func() int { return r.IntN(8) }
	for range 20 + r.IntN(60) {
		switch r.IntN(12) {
		case 0:
			fmt.Fprintf(&b, "weaver.reg a%d, a%d, a%d\n", a(), a(), a())
		case 1, 2:
			fmt.Fprintf(&b, "weaver.skip a%d\n", a())
		case 3, 4, 5:
			fmt.Fprintf(&b, "weaver.dec.id a%d\n", a())
		case 6, 7:
			fmt.Fprintf(&b, "weaver.dec.loc a%d\n", a())
		case 8:
			fmt.Fprintf(&b, "and a%d, a%d, t2\n", a(), a())
		case 9:
			fmt.Fprintf(&b, "mul a%d, a%d, a%d\n", a(), a(), a())
		case 10:
			fmt.Fprintf(&b, "sw a%d, 0(t3)\n lw a%d, 0(t3)\n", a(), a())
		case 11:
			b.WriteString([]string{"tmc t0\n", "tmc t2\n", "csrr a1, vx_active_threads\n"}[r.IntN(3)])
		}
	}
	b.WriteString("sw zero, 0x88(zero)\n tmc zero\n")
	return b.String()
}

// TestRandomStreamsEqualFunctional: a single warp's results from its Weaver do not depend on time, up to the registers
// at the end, or to the trap.
func TestRandomStreamsEqualFunctional(t *testing.T) {
	knobs := []string{"table_latency=1", "table_latency=30", "request_queue=1", "mask_by_unit=true", "st_entries=3",
		"st_row=1", "skip_empty=false", "prefetch=false"}
	traps := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 11))
		var set []string
		for _, k := range knobs {
			if r.IntN(3) == 0 {
				set = append(set, "core.weaver."+k)
			}
		}
		text := weaverStream(r)
		cfg, p := load(t, "vortex-1c4w4t-weaver", set...), source(t, text)
		want, wantErr := runFunctional(t, cfg, p)
		m, err := sim.New(cfg, sim.Options{MaxCycles: 1_000_000})
		require.NoError(t, err)
		_, err = m.Run(context.Background(), p)
		var a, b *emu.Trap
		if errors.As(wantErr, &a) {
			require.True(t, errors.As(err, &b), "seed %d: %v, but functional %v\n%s", seed, err, wantErr, text)
			require.Equal(t, a, b, "seed %d\n%s", seed, text)
			traps++
			continue
		}
		require.NoError(t, err, "seed %d\n%s", seed, text)
		require.NoError(t, m.CheckInvariants())
		for reg := range isa.Reg(32) {
			for l := range cfg.Core.Threads {
				require.Equal(t, want.Core(0).Warp(0).Reg(reg, l), m.Arch.Core(0).Warp(0).Reg(reg, l),
					"seed %d: %v of lane %d\n%s", seed, reg, l, text)
			}
		}
	}
	require.Greater(t, traps, 50)
	require.Less(t, traps, 250)
}

func runFunctional(t *testing.T, cfg configs.Machine, p *isa.Program) (*emu.Machine, error) {
	m, err := emu.New(emu.Config{Cores: 1, Warps: cfg.Core.Warps, Threads: cfg.Core.Threads,
		Units: func(int) []emu.Unit {
			u, err := weaver.NewFunctional(*cfg.Core.Unit.Spec.(*weaver.Spec), cfg.Core.Warps, cfg.Core.Threads)
			require.NoError(t, err)
			return []emu.Unit{u}
		}})
	require.NoError(t, err)
	m.Load(p)
	return m, m.Run(context.Background())
}
