package graphpeg

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStorage: GraphPEG §4.6 has 98 bits an entry, 294 bytes of ALWT, and about 1 KB in all.
func TestStorage(t *testing.T) {
	shape := Shape{Cores: 15, Warps: 64, Threads: 32, LineBytes: 128}
	s := DefaultSpec()
	a := s.storage(&shape)
	require.EqualValues(t, 98, a.Entry)
	require.EqualValues(t, 294, a.Table)
	require.Less(t, a.Table+a.Control+a.Registers, uint64(1024))
	s.ALWTEntries, s.VertexLists, s.EdgeBufferBytes = 48, 8, 4<<10
	b := s.storage(&shape)
	require.Equal(t, 2*a.Table, b.Table)
	require.Greater(t, b.Control, a.Control)
	t.Logf("table %d bytes, control %d, registers %d, latches %d", a.Table, a.Control, a.Registers, a.Latches)
	require.Equal(t, a.Registers, b.Registers)
	shape.Warps = 32
	require.Equal(t, a.Latches/2, s.storage(&shape).Latches)
	require.Equal(t, b.Table, NewEngine(s, shape).Storage.Table)
}
