package sim_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/internal/testenv"
	"heddle/isa"
	"heddle/isa/asm"
	"heddle/sim"
)

// threadedRun returns all that launches of a program count on so many goroutines, as text, and the words of memory from
// an address on.
func threadedRun(t *testing.T, cfg configs.Machine, p *isa.Program, threads, launches int,
	watch func(*sim.Machine)) (counts []string) {
	t.Helper()
	m, err := sim.New(cfg, sim.Options{Threads: threads, MaxCycles: 20_000_000})
	require.NoError(t, err)
	m.System.Insist()
	if watch != nil {
		watch(m)
	}
	for range launches {
		r, err := m.Run(context.Background(), p)
		require.NoError(t, err)
		counts = append(counts, fmt.Sprint(r))
	}
	for _, s := range m.Statistics() {
		counts = append(counts, fmt.Sprint(s.Name, " ", s.Float()))
	}
	for hart := range harts(cfg) {
		words := make([]byte, logBytes)
		m.Arch.Mem.Read(logBase+uint32(hart)*logBytes, words)
		counts = append(counts, fmt.Sprintf("hart %d has %x", hart, words))
	}
	words := make([]byte, 4096)
	m.Arch.Mem.Read(sharedBase, words)
	return append(counts, fmt.Sprintf("they share %x", words))
}

// TestThreadsAreNoInput: on however many goroutines a run is simulated, it takes the same cycles, counts the same, and
// leaves the same memory, though its harts race for a few words.
func TestThreadsAreNoInput(t *testing.T) {
	for seed := range testenv.Cases(t, 3, 64) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 15))
			name, set := randomShape(r)
			if name != "vortex-1c4w4t" { // whose L1D is where its atomics meet
				set = append(set, fmt.Sprintf("sockets=%d", 1+r.IntN(9)))
			}
			cfg := load(t, name, set...)
			_, text := randomProgram(r, cfg)
			p, err := asm.Assemble("random.s", []byte(text), asm.Options{Base: 0x80000000})
			require.NoError(t, err)
			want := threadedRun(t, cfg, p, 1, 2, nil)
			for _, threads := range testenv.Some(t, int(seed), 1, []int{2, 3, 8}) {
				require.Equal(t, want, threadedRun(t, cfg, p, threads, 2, nil), "%d threads on %s %v", threads, name,
					set)
			}
			alone := func(m *sim.Machine) { m.System.Alone() }
			require.Equal(t, want, threadedRun(t, cfg, p, 3, 2, alone), "three shards, one thread")
		})
	}
}

// TestThreadsWithUnits: nor with graph units, concentrators, and barriers across the device.
func TestThreadsWithUnits(t *testing.T) {
	testenv.NeedSlow(t, "it simulates on several threads, and again on one")
	small := []string{"core.warps=4", "core.threads=8"}
	for n, machine := range []string{"vortex-6c32w32t", "vortex-6c32w32t-sharedl1"} {
		for i, text := range []string{tickets, mixed, exchange} {
			t.Run(fmt.Sprint(machine, i), func(t *testing.T) {
				sameOnThreads(t, n+i, load(t, machine, small...), source(t, text))
			})
		}
	}
	t.Run("concentrators", func(t *testing.T) {
		set := append([]string{"concentrator.sockets=2", "concentrator.outstanding=2", "concentrator.ports=2"},
			small...)
		sameOnThreads(t, 1, load(t, "vortex-6c32w32t", set...), source(t, mixed))
	})
	t.Run("messages in concentrators", func(t *testing.T) {
		cfg := load(t, "graphpeg-60sm", append([]string{"sockets=9", "ctrlproc.interval=40", "ctrlproc.network=shared",
			"concentrator.sockets=3", "concentrator.outstanding=4"}, smallPeg...)...)
		sameOnThreads(t, 0, cfg, newPegGraph(3, 300, 3000).program(t))
	})
	t.Run("weaver", func(t *testing.T) {
		sameOnThreads(t, 3, load(t, "vortex-6c32w32t-weaver", small...), weaverProgram(t, 60))
	})
}

// sameOnThreads is the nth of its cases: without testenv.LongVariable, it has one number of threads besides 1.
func sameOnThreads(t *testing.T, nth int, cfg configs.Machine, p *isa.Program) {
	t.Helper()
	want := threadedRun(t, cfg, p, 1, 2, nil)
	for _, threads := range testenv.Some(t, nth, 1, []int{2, 3, 4, 8}) {
		require.Equal(t, want, threadedRun(t, cfg, p, threads, 2, nil), "%d threads", threads)
	}
}
