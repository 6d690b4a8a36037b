package core_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/clock"
	"heddle/components/core"
	"heddle/internal/testenv"
)

// watcher notes how full all of a core's buffers are after every cycle.
type watcher struct {
	clock.Base
	core   *core.Core
	levels []string
}

func (w *watcher) Tick(now clock.Cycle) bool {
	text := fmt.Sprint(now, ":")
	w.core.Buffers(func(name string, n, capacity int) {
		if n != 0 {
			text += fmt.Sprintf(" %s %d of %d;", name, n, capacity)
		}
	})
	w.levels = append(w.levels, text)
	return !w.core.Done()
}

// Instructions that nothing holds up bypass collectors and integer unit. Cycles, statistics and the level of every
// buffer after every cycle are those of instructions that move from stage to stage.
func TestTheBypassIsTheStages(t *testing.T) {
	names := []string{"alu_chain", "mul_chain", "div_chain", "mix_units", "fma_chain", "diverge", "lat_bank",
		"lmem_conf", "ld_rand", "barrier", "lat_jump"}
	for seed := range testenv.Cases(t, 20, 600) {
		draw := rand.New(rand.NewPCG(seed, 7))
		warps, threads := 1+draw.IntN(31), 1<<draw.IntN(6)
		if draw.IntN(4) == 0 {
			warps = 16 * (2 + draw.IntN(3))
		}
		change := func(s *core.Spec) {
			for s.Issue.Slices = 1 + draw.IntN(warps); warps%s.Issue.Slices != 0; {
				s.Issue.Slices--
			}
			s.Collectors, s.IBuffer, s.FPUQueue, s.LSUQueue = draw.IntN(6), 1+draw.IntN(6), 1+draw.IntN(4),
				1+draw.IntN(4)
			s.Issue.Dispatch = 1 + draw.IntN(8)/7
			s.Latency.ALU, s.Latency.Mul, s.Latency.Div = 2+draw.IntN(8), 2+draw.IntN(8), 2+draw.IntN(8)
			if draw.IntN(2) == 0 {
				s.Latency.Vote = 2 + draw.IntN(30)
			}
			if draw.IntN(2) == 0 {
				s.IDiv, s.Latency.DivSerial = core.DividerSerial, 2+draw.IntN(40)
			}
			if draw.IntN(3) == 0 {
				s.ALULanes = threads >> draw.IntN(2)
			}
			s.Issue.ALUs, s.Issue.FPUs = divisor(draw, s.Issue.Slices), divisor(draw, s.Issue.Slices)
		}
		var spec core.Spec
		keep := func(s *core.Spec) { change(s); spec = *s }
		same := func(s *core.Spec) { *s = spec }
		name := names[draw.IntN(len(names))]
		run := func(inStages bool, change func(*core.Spec)) (core.Stats, []string) {
			m := newMachine(t, warps, threads, change)
			w := &watcher{Base: clock.NewBase("Watcher"), core: m.core}
			w.Join(m.core.ClockHandle().Domain(), w)
			w.ClockHandle().Wake()
			if inStages {
				m.core.InStages()
			}
			m.run(t, name, 2)
			return m.core.Counts(), w.levels
		}
		bypass, levels := run(false, keep)
		stages, want := run(true, same)
		require.Equal(t, len(want), len(levels), "seed %d, %s: %+v", seed, name, spec)
		for i := range want {
			require.Equal(t, want[i], levels[i], "seed %d, %s: %+v", seed, name, spec)
		}
		require.Equal(t, stages, bypass, "seed %d, %s: %+v", seed, name, spec)
	}
}

// divisor draws n half of the time, else a divisor of it.
func divisor(draw *rand.Rand, n int) int {
	d := n
	if draw.IntN(2) == 0 {
		for d = 1 + draw.IntN(n); n%d != 0; d-- {
		}
	}
	return d
}
