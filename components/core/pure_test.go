package core

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa/emu"
)

func TestQueueHoldsBackUntilItsCycle(t *testing.T) {
	q := newQueue[int](2)
	q.push(1, 5)
	q.push(2, 6)
	require.True(t, q.full())
	require.False(t, q.ready(4))
	require.True(t, q.ready(5))
	require.Equal(t, 1, q.pop())
	require.False(t, q.ready(5))
	q.push(3, 7)
	require.Equal(t, 2, q.pop())
	require.Equal(t, 3, *q.front())
}

// A batch takes, in each channel, the block of the lowest lane that is left and
// all lanes of that channel in it.
func TestCoalescerBatches(t *testing.T) {
	s := DefaultSpec(4, 8).Derived()
	s.ChannelBytes = 16 // two channels of four lanes
	co := newCoalescer(&s)
	a := &emu.Access{Mask: 0b1111_0111}
	copy(a.Addr[:], []uint32{0x100, 0x204, 0x10C, 0, 0x100, 0x104, 0x108, 0x300})

	mask, channels, addr := co.seeds(a, a.Mask)
	require.Equal(t, uint32(0b0111_0101), mask)
	require.Equal(t, uint32(0b11), channels)
	require.Equal(t, []uint32{0x100, 0x100}, addr[:2])

	mask, channels, addr = co.seeds(a, a.Mask&^mask)
	require.Equal(t, uint32(0b1000_0010), mask)
	require.Equal(t, uint32(0b11), channels)
	require.Equal(t, []uint32{0x200, 0x300}, addr[:2])

	mask, channels, _ = co.seeds(a, 0b0000_0100)
	require.Equal(t, uint32(0b100), mask)
	require.Equal(t, uint32(0b01), channels)
}

func TestSpecIsChecked(t *testing.T) {
	for _, c := range []struct {
		change func(*Spec)
		want   string
	}{
		{func(s *Spec) { s.Warps = 65 }, "core warps = 65: expected 1..64"},
		{func(s *Spec) { s.Threads = 0 }, "core threads = 0: expected 1..32"},
		{func(s *Spec) { s.IssueSlices = 3 }, "core issue slices = 3: expected a divisor of 8 warps"},
		{func(s *Spec) { s.ChannelBytes = 24 }, "core channel bytes = 24: expected a power of two"},
		{func(s *Spec) { s.LSUQueue = 0 }, "core lsu queue = 0: expected 1..64"},
	} {
		s := DefaultSpec(8, 8)
		require.NoError(t, s.Validate())
		c.change(&s)
		require.EqualError(t, s.Validate(), c.want)
	}
}
