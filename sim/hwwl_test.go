package sim_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/graphpeg"
	"heddle/components/hwwl"
	"heddle/configs"
	"heddle/isa"
	"heddle/isa/asm"
	"heddle/isa/emu"
	"heddle/sim"
)

// hwwlProgram is testdata/hwwl.s for vertices 0 to n-1, of which the last quarter is slow.
func hwwlProgram(t testing.TB, n int) *isa.Program {
	t.Helper()
	src, err := os.ReadFile("testdata/hwwl.s")
	require.NoError(t, err)
	text := strings.Builder{}
	text.Write(src)
	fmt.Fprintf(&text, "\n.data\nheddle.peg: .word 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0x40000000, %d, list, 0\nlist:\n", n)
	for v := range n {
		fmt.Fprintf(&text, ".word %d\n", v)
	}
	p, err := asm.Assemble("hwwl.s", []byte(text.String()),
		asm.Options{Base: 0x80000000, Defines: map[string]int64{"SLOW": int64(3 * n / 4)}})
	require.NoError(t, err)
	return p
}

// checkWorklists: every vertex came as often as the program ran, and the even ones were pushed.
func checkWorklists(t *testing.T, m *emu.Machine, h graphpeg.Host, n int, runs uint32) {
	t.Helper()
	var even []uint32
	for v := range uint32(n) {
		require.Equal(t, runs, m.Mem.Load32(0x90000000+4*v), "vertex %d", v)
		if v%2 == 0 {
			even = append(even, v)
		}
	}
	got := h.Read(1)
	slices.Sort(got)
	require.Equal(t, even, got)
}

// hwwlCycles runs the program twice, timed, and once functional.
func hwwlCycles(t *testing.T, n int, set ...string) (uint64, *sim.Machine) {
	t.Helper()
	cfg := load(t, "vortex-6c32w32t", append([]string{"core.warps=4", "core.threads=8"}, set...)...)
	p := hwwlProgram(t, n)
	m, err := sim.New(cfg, sim.Options{MaxCycles: 5_000_000, Check: true})
	require.NoError(t, err)
	var cycles uint64
	for i := range uint32(2) {
		r, err := m.Launch(context.Background(), p, 0)
		require.NoError(t, err)
		require.NoError(t, m.CheckInvariants())
		checkWorklists(t, m.Arch, m.Hand().(graphpeg.Host), n, i+1)
		cycles += r.Cycles
	}
	u, h := functionalWorklists(t, cfg)
	require.NoError(t, h.Carry(p))
	u.Load(p)
	require.NoError(t, u.Run(context.Background()))
	checkWorklists(t, u, *h, n, 1)
	return cycles, m
}

func functionalWorklists(t *testing.T, cfg configs.Machine) (*emu.Machine, *graphpeg.Host) {
	t.Helper()
	h, cores := &graphpeg.Host{}, cfg.Sockets*cfg.CoresPerSocket
	m, err := emu.New(emu.Config{Cores: cores, Warps: cfg.Core.Warps, Threads: cfg.Core.Threads,
		Units: func(n int) []emu.Unit {
			u, err := graphpeg.NewFunctionalWorklist(cfg.Core.Unit.Spec.(*hwwl.Spec).PEG(), cfg.UnitShape(n))
			require.NoError(t, err)
			h.Units = append(h.Units, u.Engine)
			return []emu.Unit{u}
		}})
	require.NoError(t, err)
	return m, h
}

// TestWorklists: every vertex once, with every knob, each of which makes other cycles.
func TestWorklists(t *testing.T) {
	base := []string{"core.hwwl.bytes=1KiB", "core.hwwl.interval=400"}
	want, m := hwwlCycles(t, 5000, base...)
	for _, name := range []string{"hwwl.vertices.donated", "hwwl.vertices.spilled", "hwwl.vertices.refilled",
		"hwwl.pops.partial", "hwwl.pops.stall_done", "hwwl.pops.wait"} {
		require.NotZero(t, statistic(t, m, name), name)
	}
	require.Equal(t, statistic(t, m, "hwwl.vertices.donated"), statistic(t, m, "hwwl.vertices.received"))
	for _, k := range []string{"core.hwwl.bytes=8KiB", "core.hwwl.interval=100", "core.hwwl.interval=100000",
		"core.hwwl.latency=50", "core.hwwl.bypass_l1=false", "core.hwwl.request_queue=1"} {
		got, _ := hwwlCycles(t, 5000, append(base, k)...)
		t.Logf("%-30s %6d cycles, without %d", k, got, want)
		require.NotEqual(t, want, got, k)
	}
	for set, says := range map[string]string{
		"core.hwwl.bytes=1KiB l1d.line_bytes=256 l1i.line_bytes=256 l2.line_bytes=256": "core.hwwl.bytes",
		"core.hwwl.bytes=4KiB core.weaver.st_entries=8":                                "core.hwwl: the core has a Weaver",
		"core.hwwl.bytes=4KiB core.graphpeg.alwt_entries=8":                            "core.hwwl: the core has a GraphPEG",
	} {
		_, err := configs.LoadMachine("vortex-6c32w32t", nil, strings.Fields(set))
		require.ErrorContains(t, err, says)
	}
}

// TestWorklistsInAnyOrder of units.
func TestWorklistsInAnyOrder(t *testing.T) {
	cfg := load(t, "vortex-6c32w32t", "core.warps=4", "core.threads=8", "core.hwwl.bytes=1KiB",
		"core.hwwl.interval=150")
	sameInAllOrders(t, cfg, hwwlProgram(t, 2000), 2, 3)
}
