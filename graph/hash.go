package graph

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
)

// hashVersion changes with the hashed data's definition.
const hashVersion = "heddle-graph-1"

// Hash identifies the graph's content: SHA-256 over version, number of
// vertices, number of edges, kind of weights, and the arrays of the CSR, all
// little-endian. Neither the file's format nor the order of its lines matters.
func (g *Graph) Hash() string {
	sum := g.hash()
	return hex.EncodeToString(sum[:])
}

// hash is computed once.
func (g *Graph) hash() [sha256.Size]byte {
	g.derived.mu.Lock()
	defer g.derived.mu.Unlock()
	if g.derived.hash == nil {
		h := newHash()
		hashHead(h, g.Vertices(), g.Edges(), g.kind)
		for _, words := range [][]uint32{g.out.Offsets, g.out.IDs, g.out.Weights} {
			eachChunk(words, func(b []byte) { h.Write(b) })
		}
		g.derived.hash = (*[sha256.Size]byte)(h.Sum(nil))
	}
	return *g.derived.hash
}

// setHash is for who has computed it.
func (g *Graph) setHash(sum [sha256.Size]byte) { g.derived.hash = &sum }

func newHash() hash.Hash { return sha256.New() }

// hashHead hashes the data that precede the arrays.
func hashHead(h hash.Hash, vertices, edges int, kind WeightKind) {
	h.Write([]byte(hashVersion))
	var head [17]byte
	binary.LittleEndian.PutUint64(head[0:], uint64(vertices))
	binary.LittleEndian.PutUint64(head[8:], uint64(edges))
	head[16] = byte(kind)
	h.Write(head[:])
}

// eachChunk calls f with the words as little-endian bytes.
func eachChunk(words []uint32, f func(b []byte)) {
	var buf [1 << 14]byte
	for len(words) > 0 {
		n := min(len(words), len(buf)/4)
		for i, w := range words[:n] {
			binary.LittleEndian.PutUint32(buf[4*i:], w)
		}
		f(buf[:4*n])
		words = words[n:]
	}
}
