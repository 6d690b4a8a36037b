package emu

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestShare: an image that shares words with the host reads and writes like one that has copied them, and the host's
// words stay as they were.
func TestShare(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	for range 60 {
		shared, copied := NewMemory(), NewMemory()
		var host, before [][]uint32
		const span = 12 * pageBytes
		addr := func(n int) uint32 { return 0x10000000 + uint32(r.IntN(span-n)) }
		for range 40 {
			switch r.IntN(5) {
			case 0:
				words := make([]uint32, r.IntN(3*pageBytes/4))
				for i := range words {
					words[i] = r.Uint32()
				}
				host, before = append(host, words), append(before, slices.Clone(words))
				at := addr(4*len(words)+4) &^ 3
				shared.Share(at, words)
				copied.WriteWords(at, words)
			case 1:
				b := make([]byte, r.IntN(2*pageBytes))
				for i := range b {
					b[i] = byte(r.Uint32())
				}
				at := addr(len(b) + 1)
				shared.Write(at, b)
				copied.Write(at, b)
			case 2:
				at, v, size := addr(4)&^3, r.Uint32(), uint8(1)<<r.IntN(3)
				shared.store(at, size, v)
				copied.store(at, size, v)
			case 3:
				at := addr(4) &^ 3
				require.Equal(t, copied.Load32(at), shared.Load32(at))
			case 4:
				at := addr(4) &^ 3
				require.Equal(t, copied.load(at, 1), shared.load(at, 1))
			}
		}
		got, want := make([]byte, span), make([]byte, span)
		shared.Read(0x10000000, got)
		copied.Read(0x10000000, want)
		require.Equal(t, want, got)
		require.Equal(t, before, host)
		require.LessOrEqual(t, shared.Bytes(), copied.Bytes())
	}
}

// TestSharedWordsAreNotCopied: of whole pages only those that are written to.
func TestSharedWordsAreNotCopied(t *testing.T) {
	if !littleEndian {
		t.Skip("this host keeps words the other way around")
	}
	m, words := NewMemory(), make([]uint32, 10*pageBytes/4)
	m.Share(0x10000040, words)
	require.EqualValues(t, 2*pageBytes, m.Bytes(), "the first and the last, in part")
	m.Store32(0x10003000, 7)
	m.Store32(0x10003004, 8)
	require.EqualValues(t, 3*pageBytes, m.Bytes())
	require.EqualValues(t, 7, m.Load32(0x10003000))
	require.Zero(t, words[0x2fc0/4])
}

// TestInstructionsInSharedPages: what is prepared of a shared page is stale when the page is shared again.
func TestInstructionsInSharedPages(t *testing.T) {
	m, err := New(Config{Cores: 1, Warps: 1, Threads: 1})
	require.NoError(t, err)
	w := m.cores[0].warps[0]
	const pc = 0x10000000
	for _, word := range []uint32{0x00100093, 0x00200113} { // addi x1, x0, 1; addi x2, x0, 2
		m.Mem.Share(pc, slices.Repeat([]uint32{word}, pageBytes/4))
		o, err := w.fetchAt(pc)
		require.NoError(t, err)
		require.EqualValues(t, word>>7&31, o.Rd)
	}
	m.Mem.Write(pc, binary.LittleEndian.AppendUint32(nil, 0x00300193))
	o, err := w.fetchAt(pc)
	require.NoError(t, err)
	require.EqualValues(t, 3, o.Rd)
}
