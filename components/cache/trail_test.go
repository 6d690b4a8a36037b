package cache

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/clock"
	"heddle/internal/testenv"
)

// trailPlan is a plan whose first level can trail its source, which mostly reads few lines.
func trailPlan(seed uint64) plan {
	p := randomPlan(seed)
	r := rand.New(rand.NewPCG(seed, 3))
	s := &p.specs[0]
	s.Ports, s.Inputs, s.Banks, s.MemoryPorts = 1, nil, 1, 1
	s.ResponseQueue, s.ResponseBuffer = 0, false
	s.Fit()
	if len(p.specs) > 1 {
		p.specs[1].Ports, p.specs[1].Inputs = 1, nil
	}
	var todo []timed
	at, lines, rare := clock.Cycle(0), 1+r.Uint32N(12), 1+r.IntN(40)
	for i := range uint32(600) {
		at += clock.Cycle(r.IntN(3))
		if r.IntN(80) == 0 {
			at += 100
		}
		if r.IntN(rare) == 0 && rare > 4 {
			todo = append(todo, p.todo[0][r.IntN(len(p.todo[0]))])
			todo[len(todo)-1].at, todo[len(todo)-1].r.Tag = at, i
			continue
		}
		todo = append(todo, read(at, r.Uint32N(lines), i))
	}
	p.todo = p.todo[:1]
	p.todo[0] = todo
	return p
}

// A cache that trails its source, which then sleeps until an answer can be there, does what one does that ticks: every
// request is taken and answered in the same cycle, in any order of units, and the counts are the same.
func TestACacheThatTrails(t *testing.T) {
	led, ended, express := 0, 0, 0
	for seed := range testenv.Cases(t, 150, 2000) {
		want := fingerprint(run(t, trailPlan(seed)))
		for shuffle := range uint64(3) {
			p := trailPlan(seed)
			p.lead = true
			p.peek = clock.Cycle(shuffle) * clock.Cycle(7+seed%30)
			p.order = rand.New(rand.NewPCG(seed, shuffle)).Perm
			m := run(t, p)
			require.Equal(t, want, fingerprint(m), "seed %d, order %d", seed, shuffle)
			led += m.sources[0].led
			express += m.sources[0].express
			if m.sources[0].led > 0 && m.levels[0].Stats().ReadMisses > 10 {
				ended++
			}
		}
	}
	require.Greater(t, led, 1000, "no cache trailed for long")
	require.Greater(t, ended, 10, "none ended to trail for a miss")
	require.Greater(t, express, 1000, "none went by times for long")
}
