package emu

import (
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDeferred holds deferred stores against a memory that has them at once: the view that made them sees them, others
// do after Land alone.
func TestDeferred(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	m := NewMemory()
	mine, told := m.View(), 0
	mine.Defer(func() { told++ })
	landed, all := map[uint32]uint32{}, map[uint32]uint32{}
	for round := 1; round <= 40; round++ {
		for range 1 + rng.IntN(5*few) {
			addr, v := 4*rng.Uint32N(100), rng.Uint32()
			mine.Store32(addr, v)
			all[addr] = v
			read := 4 * rng.Uint32N(100)
			require.Equal(t, all[read], mine.Load32(read))
			require.Equal(t, landed[read], m.Load32(read))
		}
		mine.Land()
		require.Equal(t, round, told)
		maps.Copy(landed, all)
	}
}
