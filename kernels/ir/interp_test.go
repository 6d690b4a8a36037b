package ir_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/weaver"
	"heddle/isa/emu"
	"heddle/kernels/ir"
	"heddle/kernels/ir/example"
)

// shapes of machines.
var shapes = []ir.Machine{{Cores: 1, Warps: 1, Threads: 1}, {Cores: 1, Warps: 2, Threads: 4},
	{Cores: 3, Warps: 4, Threads: 8}, {Cores: 2, Warps: 3, Threads: 32}}

func weavers(m ir.Machine, mask bool) func(int) []emu.Unit {
	return func(int) []emu.Unit {
		u, err := weaver.NewFunctional(weaver.Spec{STEntries: 17, DTEntries: 1 << 11, MaskByUnit: mask}, m.Warps,
			m.Threads)
		if err != nil {
			panic(err)
		}
		return []emu.Unit{u}
	}
}

// put writes words.
func put(m *emu.Memory, addr uint32, words ...uint32) {
	for i, w := range words {
		m.Store32(addr+4*uint32(i), w)
	}
}

// TestPageRankGathers: the example kernels compute the sums, with whole numbers, so exactly.
func TestPageRankGathers(t *testing.T) {
	const n = 150
	r := rand.New(rand.NewPCG(1, 2))
	var offsets, sources, targets []uint32
	want, send := make([]float32, n), make([]uint32, n)
	for u := range send {
		send[u] = math.Float32bits(float32(u + 1))
	}
	for v := range uint32(n) {
		offsets = append(offsets, uint32(len(sources)))
		for range r.IntN(40) * r.IntN(2) {
			u := r.Uint32N(n)
			sources, targets = append(sources, u), append(targets, v)
			want[v] += float32(u + 1)
		}
	}
	offsets = append(offsets, uint32(len(sources)))
	const at = 0x100000
	for name, build := range example.Kernels {
		k, err := build()
		require.NoError(t, err)
		for _, m := range shapes {
			for _, mask := range []bool{false, true} {
				m.Mem, m.Args, m.Units, m.MaxSteps = emu.NewMemory(), 0x20000, weavers(m, mask), 10_000_000
				put(m.Mem, m.Args, n, uint32(len(sources)), at, 2*at, 3*at, 0, 0, 4*at, 5*at)
				put(m.Mem, at, offsets...)
				put(m.Mem, 2*at, sources...)
				put(m.Mem, 3*at, targets...)
				put(m.Mem, 4*at, send...)
				c, err := ir.Run(k, m)
				require.NoError(t, err, name)
				require.EqualValues(t, len(sources), c.Edges)
				for v := range want {
					require.Equal(t, want[v], math.Float32frombits(m.Mem.Load32(5*at+4*uint32(v))), "%s %d", name, v)
				}
			}
		}
	}
}
