package graph

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa"
	"heddle/isa/emu"
)

type memory struct{ *emu.Memory }

func (m memory) ShareWords(addr uint32, words []uint32) { m.Share(addr, words) }

func (m memory) WriteWords(addr uint32, words []uint32) {
	for i, w := range words {
		m.Store32(addr+4*uint32(i), w)
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

func TestImagePlacesAroundReservedRegions(t *testing.T) {
	program := &isa.Program{Segments: []isa.Segment{{Addr: emu.CodeBase, Size: 1000}}}
	im := NewImage(0x7FFFFF00, 64, Reserved(4, program)...)
	place := func(name string, words int) uint32 {
		a, err := im.Reserve(name, words)
		require.NoError(t, err)
		return a.Addr
	}
	require.Equal(t, uint32(0x7FFFFF00), place("a", 17))
	require.Equal(t, uint32(0x7FFFFF80), place("b", 32), "starts a line, and ends where the program begins")
	require.Equal(t, uint32(0x80000400), place("c", 1), "behind the program")
	require.Equal(t, uint32(0x80000440), place("empty", 0))
	last := (emu.StackTop - 4*emu.StackBytes - 0x80000480) / 4
	_, err := im.Reserve("too large", int(last)+1)
	require.ErrorContains(t, err, "array too large of 2147384196 bytes does not fit the address space of 4 GiB\n  "+
		"7fffff00..7fffff44 a\n")
	require.ErrorContains(t, err, "fffe8000..ffff0000 stacks (reserved)")
	place("rest", int(last))
	_, err = im.Reserve("a", 1)
	require.ErrorContains(t, err, "array a: there is one of that name")

	require.Equal(t, uint64(4*(17+32+1+int(last))), im.Bytes())
	b, ok := im.Array("b")
	require.True(t, ok)
	require.Equal(t, Array{Name: "b", Addr: 0x7FFFFF80, Words: 32}, b)
	_, ok = im.Array("none")
	require.False(t, ok)
	require.Len(t, im.Arrays(), 5)
}

// TestImageAlignsToTheLine: arrays begin with a line of the machine's.
func TestImageAlignsToTheLine(t *testing.T) {
	for _, line := range []int{64, 128} {
		im := NewImage(ArrayBase, line)
		_, err := im.Reserve("a", line/4+1)
		require.NoError(t, err)
		b, err := im.Reserve("b", 1)
		require.NoError(t, err)
		require.EqualValues(t, ArrayBase+2*line, b.Addr)
	}
}

func TestImageNeverTouchesLowMemory(t *testing.T) {
	a, err := NewImage(0, 64, Reserved(1, nil)...).Reserve("a", 1)
	require.NoError(t, err)
	require.Equal(t, uint32(emu.UncachedEnd), a.Addr)
	_, err = NewImage(0, 64, Reserved(emu.MaxCores*emu.MaxWarps*emu.MaxThreads, nil)...).Reserve("a", 1)
	require.ErrorContains(t, err, "does not fit", "stacks take everything")
}

func TestLayoutsInMemory(t *testing.T) {
	g := read(t, "g.txt", "2 0 5\n0 1 6\n2 1 -7\n")
	mem := emu.NewMemory()
	im := NewImage(ArrayBase, 64, Reserved(1, nil)...)
	csr, err := im.PlaceAdjacency("csr", g.CSR())
	require.NoError(t, err)
	csc, err := im.PlaceAdjacency("csc", g.CSC())
	require.NoError(t, err)
	push, err := im.PlaceCOO("push", g.COOBySource())
	require.NoError(t, err)
	pull, err := im.PlaceCOO("pull", g.COOByDestination())
	require.NoError(t, err)
	im.Write(memory{mem})
	for _, c := range []struct {
		at   Array
		want []int32
	}{
		{csr.Offsets, []int32{0, 1, 1, 3}}, {csr.IDs, []int32{1, 0, 1}}, {csr.Weights, []int32{6, 5, -7}},
		{csc.Offsets, []int32{0, 1, 3, 3}}, {csc.IDs, []int32{2, 0, 2}}, {csc.Weights, []int32{5, 6, -7}},
		{push.Sources, []int32{0, 2, 2}}, {push.Destinations, []int32{1, 0, 1}}, {push.Weights, []int32{6, 5, -7}},
		{pull.Sources, []int32{2, 0, 2}}, {pull.Destinations, []int32{0, 1, 1}}, {pull.Weights, []int32{5, 6, -7}},
	} {
		got := make([]int32, c.at.Words)
		for i := range got {
			got[i] = int32(mem.Load32(c.at.Addr + 4*uint32(i)))
		}
		require.Equal(t, c.want, got, c.at.Name)
		require.Zero(t, c.at.Addr%64)
	}

	plain, err := NewImage(ArrayBase, 64).PlaceAdjacency("g", read(t, "g", "0 1\n").CSR())
	require.NoError(t, err)
	require.Zero(t, plain.Weights)
	_, err = im.PlaceCOO("push", g.COOBySource())
	require.ErrorContains(t, err, "array push.sources")
}

func TestSummary(t *testing.T) {
	s := read(t, "g.txt", "# Nodes: 7\n0 0 4\n0 1 5\n0 1 6\n2 1 -7\n4 5 1\n").Summarise()
	require.Equal(t, []int{7, 5, 1, 1, 2, 4, 3},
		[]int{s.Vertices, s.Edges, s.SelfLoops, s.Duplicates, s.Isolated, s.Components, s.Largest})
	require.False(t, s.Symmetric)
	require.Equal(t, 1, s.Reciprocated, "a self-loop is its own reverse")
	other := read(t, "g.txt", "0 1 4\n1 0 4\n1 2 5\n2 1 6\n3 1 5\n").Summarise()
	require.Equal(t, 2, other.Reciprocated, "the same weight both ways")
	require.Equal(t, []float64{-7, 6}, []float64{*s.MinWeight, *s.MaxWeight})
	require.Equal(t, Degrees{Min: 0, Mean: 5.0 / 7, P50: 0, P90: 1, P99: 1, Max: 3, Histogram: []int{4, 2, 1}}, s.Out)
	require.Equal(t, []int{4, 2, 1}, s.In.Histogram)
	require.Equal(t, []LayoutSize{{"csr", 4 * (8 + 5 + 5)}, {"csc", 4 * (8 + 5 + 5)}, {"coo", 4 * 15}}, s.Layouts)
}

func TestDrawSources(t *testing.T) {
	g := read(t, "g.txt", "# Nodes: 9\n0 1\n1 0\n3 4\n4 5\n5 6\n6 7\n")
	require.ElementsMatch(t, []uint32{3, 4, 5, 6}, g.DrawSources(10, 1), "7 has no edge to go on")
	require.Len(t, g.DrawSources(2, 1), 2)
	require.Equal(t, g.DrawSources(2, 1), g.DrawSources(2, 1))
	differ := false
	for seed := range uint64(9) {
		differ = differ || g.DrawSources(1, seed)[0] != g.DrawSources(1, 1)[0]
	}
	require.True(t, differ)
}
