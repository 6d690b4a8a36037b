package emu

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// placed is a memory in which a host has put arrays, its own and shared ones.
func placed(words []uint32) *Memory {
	m := NewMemory()
	m.Share(0x10000010, words)
	m.WriteWords(0x20000000, words[:3000])
	m.Store32(0xFFFFEFFC, 7)
	return m
}

func hosts() []uint32 {
	words := make([]uint32, 60_000)
	for i := range words {
		words[i] = uint32(i) * 0x9E3779B9
	}
	return words
}

func pagesOf(t testing.TB, m *Memory) []byte {
	var b bytes.Buffer
	require.NoError(t, m.SaveState(&b))
	return b.Bytes()
}

// A memory in which the same was placed takes over what a program has written, and shares what it has not.
func TestPagesAreTakenOver(t *testing.T) {
	words := hosts()
	before := bytes.Clone(pagesOf(t, placed(words)))
	draw := rand.New(rand.NewPCG(1, 2))
	a, b := placed(words), placed(words)
	for range 3000 {
		addr := []uint32{0x10000000, 0x20000000, 0x30000000, 0xFFFF0000}[draw.IntN(4)] + 4*draw.Uint32N(25_000)
		if draw.IntN(2) == 0 {
			addr = 0x10000000 + 4*draw.Uint32N(1000)
		}
		a.Store32(addr, draw.Uint32())
		b.Load32(addr) // which the view remembers
	}
	state := pagesOf(t, a)
	require.Less(t, len(before), 40_000, "shared pages are not written")
	require.NoError(t, b.LoadState(bytes.NewReader(state)))
	require.Equal(t, a.Bytes(), b.Bytes())
	require.Equal(t, state, pagesOf(t, b))
	var x, y [1 << 16]byte
	for _, at := range []uint32{0x10000000, 0x10010000, 0x20000000, 0x30000000, 0xFFFF0000} {
		a.Read(at, x[:])
		b.Read(at, y[:])
		require.Equal(t, x, y)
	}
	require.Equal(t, hosts(), words, "the host's arrays are as they were")
	require.ErrorIs(t, NewMemory().LoadState(bytes.NewReader(state)), errPages, "nothing was placed there")
	more := placed(words)
	more.Store32(0x40000000, 1)
	require.ErrorIs(t, more.LoadState(bytes.NewReader(state)), errPages, "it would lose a page")
}

func FuzzPages(f *testing.F) {
	words := hosts()[:5000]
	m := placed(words)
	f.Add(pagesOf(f, m))
	m.Store32(0x10002000, 3)
	m.Store32(0x70002000, 3)
	f.Add(pagesOf(f, m))
	f.Add([]byte{pageShared, 0, 0, 1, 0, pagesEnd, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, state []byte) {
		m := placed(words)
		had := m.pages
		if m.LoadState(bytes.NewReader(state)) == nil {
			require.LessOrEqual(t, m.pages-had, len(state)/pageBytes)
			m.Load32(0x10002000)
			pagesOf(t, m)
		}
	})
}
