package sim_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
	"heddle/sim"
)

// scattered is a program whose warps are all in other parts of a large text: each goes through pieces of its own,
// which lie in random order, and in each loads and stores words and uses them, with more behind than an instruction
// buffer holds.
func scattered(rng *rand.Rand, warps, pieces int) string {
	text := "_start: la t0, warp\n csrr t1, vx_num_warps\n wspawn t1, t0\nwarp: csrr t0, vx_wid\n csrr t2, mhartid\n " +
		"slli t2, t2, 12\n li t3, 0x40000000\n add t2, t2, t3\n"
	var order [][2]int
	for w := range warps {
		text += fmt.Sprintf(" li t1, %d\n beq t0, t1, to%d\n", w, w)
		for p := range pieces {
			order = append(order, [2]int{w, p})
		}
	}
	text += " tmc zero\n"
	for w := range warps {
		text += fmt.Sprintf("to%d: j at%d_0\n", w, w)
	}
	rng.Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
	for _, o := range order {
		text += fmt.Sprintf("at%d_%d:\n", o[0], o[1])
		for i := range 1 + rng.IntN(3) {
			switch rng.IntN(6) {
			case 0:
				text += fmt.Sprintf(" sw a%d, %d(t2)\n", i, 64*rng.IntN(32))
			case 1:
				text += fmt.Sprintf(" amoadd.w a%d, a1, (t2)\n", i)
			default:
				text += fmt.Sprintf(" lw a%d, %d(t2)\n", i, 64*rng.IntN(32))
			}
		}
		next := "end"
		if o[1]+1 < pieces {
			next = fmt.Sprintf("at%d_%d", o[0], o[1]+1)
		}
		text += strings.Repeat(" addi a0, a0, 1\n", 2+rng.IntN(11)) + " j " + next + "\n" +
			strings.Repeat(" nop\n", rng.IntN(21))
	}
	return text + "end: tmc zero\n"
}

// TestFetchesDoNotHoldUpLoads: answers to fetches that wait for full instruction buffers block the L1I, but not the
// answers behind its lines on their way from the next level: those of the loads that would empty the buffers.
func TestFetchesDoNotHoldUpLoads(t *testing.T) {
	const warps = 32
	for i, set := range []string{
		"", "l1i.bytes=1KiB", "core.ibuffer=1 l1i.bytes=1KiB", "core.ibuffer=2 l1i.bytes=1KiB core.fetch_width=2 core.schedule.policy=rr",
		"core.ibuffer=1 to_l2.response=1 l1i.bytes=1KiB l1i.mshrs=64 l2.banks=1 l2.memory_ports=1 l2.response_queue=0",
		"sockets=2 cores_per_socket=3 core.ibuffer=1 l1i.bytes=1KiB to_l2.response=1 l2.banks=1 l2.memory_ports=1",
		"core.ibuffer=1 l1i.bytes=1KiB socket_port=true to_l2.response=1", "core.ibuffer=1 l1i.bytes=768 l1i.ways=3 concentrator.sockets=3",
		"l2=null sockets=1 core.ibuffer=1 l1i.bytes=1KiB to_memory.response=1",
	} {
		cfg := load(t, "vortex-6c32w32t", append(strings.Fields(set), "core.threads=2")...)
		m, err := sim.New(cfg, sim.Options{MaxCycles: 1_000_000, Check: true})
		require.NoError(t, err)
		_, err = m.Run(context.Background(), source(t, scattered(rand.New(rand.NewPCG(uint64(i), 12)), warps, 8)))
		require.NoError(t, err, set)
		require.NoError(t, m.CheckInvariants(), set)
	}
}

// TestScatteredProgramsEnd runs such programs on random machines whose front ends and caches are small.
func TestScatteredProgramsEnd(t *testing.T) {
	first := testenv.Seed(t, 0)
	for seed := first; seed < first+testenv.Cases(t, 10, 300); seed++ {
		r := rand.New(rand.NewPCG(seed, 77))
		name, set := randomShape(r)
		add := func(format string, args ...any) { set = append(set, fmt.Sprintf(format, args...)) }
		add("core.ibuffer=%d", 1+r.IntN(4))
		add("core.fetch_width=%d", 1+r.IntN(3))
		add("core.schedule.policy=%s", []string{"vortex", "rr", "gto", "two-level"}[r.IntN(4)])
		add("core.issue.policy=%s", []string{"vortex", "rr", "gto", "two-level"}[r.IntN(4)])
		add("l1i.bytes=%d", 1024<<r.IntN(4))
		add("l1i.mshrs=%d", 1+r.IntN(20))
		add("l1i.response_queue=%d", r.IntN(3))
		add("to_l2.response=%d", 1+r.IntN(6))
		cfg := load(t, name, set...)
		cfg.Core.Warps = 1 + r.IntN(40)
		cfg.Core.Issue.Slices = 1
		m, err := sim.New(cfg, sim.Options{MaxCycles: 3_000_000, Check: true})
		require.NoError(t, err, "%s %v", name, set)
		_, err = m.Run(context.Background(), source(t, scattered(r, cfg.Core.Warps, 1+r.IntN(12))))
		require.NoError(t, err, "seed %d: %s %v, %d warps", seed, name, set, cfg.Core.Warps)
		require.NoError(t, m.CheckInvariants(), "seed %d", seed)
	}
}
