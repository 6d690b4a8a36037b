package sim_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/internal/testenv"
	"heddle/sim"
)

// TestManyCores: 20 to 256 cores with a graph unit each, behind concentrators: every edge is handed
// out once, nothing is lost between the units, and the control processor sees the end of all of them. Without
// testenv.LongVariable, every second machine.
func TestManyCores(t *testing.T) {
	for i, set := range []string{
		"sockets=20", "sockets=40", "sockets=60", "sockets=60 concentrator.sockets=4 ctrlproc.policy=ef+vl ctrlproc.interval=64",
		"sockets=60 concentrator.outstanding=1 concentrator.arbiter=priority ctrlproc.policy=ideal", "sockets=64 concentrator.sockets=20 concentrator.ports=3 ctrlproc.interval=1",
		"sockets=40 core.graphpeg.bypass_l1=false", "sockets=60 ctrlproc.group=8 ctrlproc.interval=32 ctrlproc.policy=ef+vl",
		"sockets=60 ctrlproc.network=shared", "sockets=60 concentrator.sockets=4 concentrator.ports=2 concentrator.request=4 ctrlproc.network=shared ctrlproc.latency=0 ctrlproc.interval=20",
		"sockets=200 concentrator.sockets=4 core.graphpeg.list_region=1MiB",
		"sockets=256 concentrator.sockets=16 concentrator.ports=4 core.graphpeg.list_region=1MiB",
	} {
		if i%2 == 0 && testenv.Long(t) == 0 { // those of the other half have as many cores, and more knobs
			continue
		}
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			g := newPegGraph(5, 200, 2500)
			_, m := pegCycles(t, g, "graphpeg-60sm", append(strings.Fields(set), smallPeg...)...)
			require.NotZero(t, statistic(t, m, "concentrator.reads"))
			require.Equal(t, statistic(t, m, "concentrator.reads"), statistic(t, m, "l2.reads"))
			messages := statistic(t, m, "ctrlproc.messages.reports") + statistic(t, m, "ctrlproc.messages.commands")
			require.NotZero(t, messages)
			if !strings.Contains(set, "network=shared") {
				messages = 0
			}
			require.Equal(t, messages, statistic(t, m, "concentrator.messages"))
		})
	}
}

// TestTwoHundredSockets: atomics, barriers of all cores and racing stores of 200 sockets are the same on one goroutine
// and on several.
func TestTwoHundredSockets(t *testing.T) {
	testenv.NeedSlow(t, "200 sockets, twice")
	cfg := load(t, "vortex-6c32w32t", "sockets=200", "concentrator.sockets=4", "core.warps=2", "core.threads=2")
	_, text := randomProgram(rand.New(rand.NewPCG(1, 200)), cfg)
	p := source(t, text)
	require.Equal(t, threadedRun(t, cfg, p, 1, 1, nil), threadedRun(t, cfg, p, 3, 1, nil))
}

// TestManyCoresInAnyOrder: the order of 300 units is no input either.
func TestManyCoresInAnyOrder(t *testing.T) {
	cfg := load(t, "graphpeg-60sm", append([]string{"ctrlproc.interval=40", "concentrator.sockets=3",
		"concentrator.outstanding=4"}, smallPeg...)...)
	sameInAllOrders(t, cfg, newPegGraph(3, 300, 3000).program(t), 1, 2)
	cfg.CtrlProc.Network = "shared"
	sameInAllOrders(t, cfg, newPegGraph(3, 300, 3000).program(t), 1, 2)
}

// TestEveryConcentratorKnobCounts on a whole machine.
func TestEveryConcentratorKnobCounts(t *testing.T) {
	g := newPegGraph(4, 2000, 6000)
	base := append([]string{"sockets=24", "concentrator.sockets=3", "concentrator.request=3", "ctrlproc.interval=64"},
		smallPeg...)
	want, _ := pegCycles(t, g, "graphpeg-60sm", base...)
	for _, k := range []string{"sockets=2", "ports=3", "arbiter=priority", "request=9", "response=9", "request_queue=1",
		"outstanding=3"} {
		got, _ := pegCycles(t, g, "graphpeg-60sm", append(base, "concentrator."+k)...)
		t.Logf("%-20s %6d cycles, without %d", k, got, want)
		require.NotEqual(t, want, got, k)
	}
}

// TestAnL1IWaitsForNoL1D: a core whose fetches have no way out of the L1I until its loads are answered comes to
// its end, although both share a port.
func TestAnL1IWaitsForNoL1D(t *testing.T) {
	set := strings.Fields("concentrator.outstanding=1 concentrator.request_queue=1 core.ibuffer=1 l1i.bytes=1KiB " +
		"l1i.mshrs=1 l1i.ways=1 l1d.mshrs=1 core.lsu_queue=1 core.warps=8 core.threads=8")
	for _, text := range []string{tickets, mixed, exchange} {
		m, err := sim.New(load(t, "vortex-6c32w32t", set...), sim.Options{MaxCycles: 20_000_000, Check: true})
		require.NoError(t, err)
		_, err = m.Run(context.Background(), source(t, text))
		require.NoError(t, err)
		require.NoError(t, m.CheckInvariants())
	}
}

// TestConcentratorsThatDoNotFit are refused, with the key and the required value.
func TestConcentratorsThatDoNotFit(t *testing.T) {
	for _, c := range []struct{ machine, set, says string }{
		{"graphpeg-60sm", "concentrator.sockets=22", "concentrator.sockets: 22: they have 66 ports, and a concentrator serves at most 64"},
		{"graphpeg-60sm", "concentrator.ports=4", "concentrator.ports: 4: there are 3 requesters to use them"},
		{"graphpeg-60sm", "concentrator.ports=2", "concentrator.ports: 2: 60 concentrators have 120 to the L2, which serves at most 64"},
		{"vortex-1c4w4t", "concentrator.ports=1", "concentrator: it is in front of an L2"},
		{"graphpeg-60sm", "sockets=65", "concentrator.ports: 1: 65 concentrators have 65 to the L2, which serves at most 64"},
		{"graphpeg-60sm", "sockets=257", "expected an integer 1..256"},
		{"graphpeg-60sm", "ctrlproc.network=shared concentrator.request=12", "ctrlproc.latency: 12: the way to a concentrator's port, or from it, takes 12 of it: with ctrlproc.network = shared expected 0 or at least 13"},
		{"graphpeg-60sm", "ctrlproc.network=shared concentrator.sockets=20", "concentrator.sockets: 20: with ctrlproc.network = shared they have 80 ports and cores"},
		{"vortex-6c32w32t-hwwl", "ctrlproc.network=shared", "ctrlproc.network: shared: messages take turns at a port"},
		{"vortex-6c32w32t-graphpeg", "ctrlproc.network=shared", "ctrlproc.network: shared: messages take turns at a port of a concentrator: give the machine one, or expected own"},
		{"vortex-6c32w32t", "sockets=33", "a concentrator in front of it is shared"},
		{"graphpeg-60sm", "concentrator.arbiter=random", "concentrator.arbiter"},
	} {
		_, err := configs.LoadMachine(c.machine, nil, strings.Fields(c.set))
		require.ErrorContains(t, err, c.says, c.set)
	}
}
