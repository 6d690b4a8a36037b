package graph

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
)

// hashVersion changes when what is hashed changes.
const hashVersion = "heddle-graph-1"

// Hash identifies the graph's content: SHA-256 over version, number of
// vertices, number of edges, kind of weights, and the arrays of the CSR, all
// little-endian. Neither the file's format nor the order of its lines matters.
func (g *Graph) Hash() string {
	h := sha256.New()
	h.Write([]byte(hashVersion))
	var head [17]byte
	binary.LittleEndian.PutUint64(head[0:], uint64(g.Vertices()))
	binary.LittleEndian.PutUint64(head[8:], uint64(g.Edges()))
	head[16] = byte(g.kind)
	h.Write(head[:])
	hashWords(h, g.out.Offsets)
	hashWords(h, g.out.IDs)
	hashWords(h, g.out.Weights)
	return hex.EncodeToString(h.Sum(nil))
}

func hashWords(h hash.Hash, words []uint32) {
	var buf [1 << 14]byte
	for len(words) > 0 {
		n := min(len(words), len(buf)/4)
		for i, w := range words[:n] {
			binary.LittleEndian.PutUint32(buf[4*i:], w)
		}
		h.Write(buf[:4*n])
		words = words[n:]
	}
}
