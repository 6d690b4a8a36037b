package dram

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInvariantsCanBeBroken: each invariant, by a count that is wrong.
func TestInvariantsCanBeBroken(t *testing.T) {
	for says, fault := range map[string]func(*Stats){
		"data moved ≤ capacity of the pins":         func(s *Stats) { s.DataBusClocks += 1 << 40 },
		"data bus clocks = RD and WR × burst":       func(s *Stats) { s.Commands[RD]++ },
		"requests accepted = served + still queued": func(s *Stats) { s.Merged++ },
	} {
		for _, s := range timedPresets(t) {
			s.Channels = 1
			c, err := NewChannel(s)
			require.NoError(t, err)
			end := play(t, c, 500, true, func(Done) {})
			require.NoError(t, c.checkInvariants(end), s.Preset)
			fault(&c.stats)
			require.ErrorContains(t, c.checkInvariants(end), says)
		}
	}
	s, err := Preset("ideal")
	require.NoError(t, err)
	c, err := NewChannel(s)
	require.NoError(t, err)
	end := play(t, c, 500, true, func(Done) {})
	require.NoError(t, c.checkInvariants(end))
	c.stats.DataBusClocks += end + 1<<20
	require.ErrorContains(t, c.checkInvariants(end), "data moved ≤ capacity of the pins")
}
