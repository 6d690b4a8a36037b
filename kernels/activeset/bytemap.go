package activeset

import (
	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// bytemap has one byte per vertex.
var bytemap = &Choice{
	Name:    "bytemap",
	Doc:     "a byte a vertex, set by a store",
	Members: true,
	set:     func(k *emit.Kernel, _ *Dedup) Set { return bytemapSet{mapSet{k, byteWords, activeMap}} },
	filled:  func(k *emit.Kernel) Set { return bytemapSet{mapSet{k, byteWords, nextMap}} },
	state: func(vertices, _ int, _ *Dedup) State {
		return newMap(vertices, (vertices+3)/4, func(words []uint32, v uint32) { words[v/4] |= 1 << (v % 4 * 8) },
			bytesOf)
	},
}

type bytemapSet struct{ mapSet }

func (s bytemapSet) Holds(v ir.Value) ir.Value {
	return s.Ne(s.LoadByte(s.Addr(s.walked), v), s.U32(0))
}

func (s bytemapSet) Add(v ir.Value) {
	s.StoreByte(s.Addr(nextMap), v, s.U32(1))
	s.something()
}

func byteWords(k *emit.Kernel, n ir.Value) ir.Value {
	return k.Shr(k.Add(n, k.U32(3)), k.U32(2))
}

func bytesOf(words []uint32, n int) (vertices []uint32) {
	for v := range uint32(n) {
		if words[v/4]>>(v%4*8)&0xFF != 0 {
			vertices = append(vertices, v)
		}
	}
	return vertices
}
