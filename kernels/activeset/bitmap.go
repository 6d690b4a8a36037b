package activeset

import (
	"math/bits"

	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// bitmap has one bit per vertex.
var bitmap = &Choice{
	Name:    "bitmap",
	Doc:     "a bit a vertex, set by an atomic",
	Members: true,
	set:     func(k *emit.Kernel, _ *Dedup) Set { return bitmapSet{mapSet{k, bitWords, activeMap}} },
	filled:  func(k *emit.Kernel) Set { return bitmapSet{mapSet{k, bitWords, nextMap}} },
	state: func(vertices, _ int, _ *Dedup) State {
		return newMap(vertices, (vertices+31)/32, func(words []uint32, v uint32) { words[v/32] |= 1 << (v % 32) },
			bitsOf)
	},
}

type bitmapSet struct{ mapSet }

func (s bitmapSet) Holds(v ir.Value) ir.Value {
	word, bit := bitOf(s.Kernel, v)
	return s.Ne(s.And(s.Load(ir.U32, s.Addr(s.walked), word), bit), s.U32(0))
}

func (s bitmapSet) Add(v ir.Value) {
	word, bit := bitOf(s.Kernel, v)
	s.AtomicOr(s.Addr(nextMap), word, bit)
	s.something()
}

// bitOf returns the word that holds v's bit, and the bit's mask.
func bitOf(k *emit.Kernel, v ir.Value) (word, bit ir.Value) {
	return k.Shr(v, k.U32(5)), k.Shl(k.U32(1), k.And(v, k.U32(31)))
}

// bitWords returns the number of words for n bits.
func bitWords(k *emit.Kernel, n ir.Value) ir.Value {
	return k.Shr(k.Add(n, k.U32(31)), k.U32(5))
}

// bitsOf returns the vertices whose bits are set.
func bitsOf(words []uint32, _ int) (vertices []uint32) {
	for i, w := range words {
		for ; w != 0; w &= w - 1 {
			vertices = append(vertices, uint32(32*i+bits.TrailingZeros32(w)))
		}
	}
	return vertices
}
