package cache

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/clock"
)

// A cache whose memory does not answer lists its contents; one at rest lists nothing.
func TestWaitsNamesWhatIsHeld(t *testing.T) {
	s := DefaultSpec()
	s.Bytes = 4 << 10
	p := plan{specs: []Spec{s}, todo: [][]timed{{read(pushed, 5, 1), read(pushed+1, 5, 2), read(pushed+2, 6, 3)}},
		latency: fixed(1_000_000)}
	m := build(t, p)
	stop := m.d.Add(tick(func(clock.Cycle) bool { m.s.Stop(); return false }))
	stop.WakeAt(200)
	require.NoError(t, m.s.Run())
	name := m.levels[0].Name()
	require.Equal(t, []string{
		name + " bank 0: MSHRs 3 of 16, responses 0 of 1, to memory 0 of 20",
		name + " bank 0 MSHR 0: address 0x00000140, line 0x00000140, of port 0: waits for its line",
		name + " bank 0 MSHR 1: address 0x00000140, line 0x00000140, of port 0: waits for a line that another asked for",
		name + " bank 0 MSHR 2: address 0x00000180, line 0x00000180, of port 0: waits for its line",
	}, m.levels[0].Waits())

	done := one(t, nil, 10, read(pushed, 5, 1))
	require.Empty(t, done.levels[0].Waits())
}

type tick func(clock.Cycle) bool

func (f tick) Tick(now clock.Cycle) bool { return f(now) }
