package reference

import (
	"cmp"
	"fmt"
	"slices"

	"heddle/graph"
)

// Priorities returns a distinct number for each vertex: MurmurHash3's finaliser of its number and a key.
func Priorities(vertices int, key uint32) []uint32 {
	p := make([]uint32, vertices)
	for v := range p {
		x := uint32(v) ^ key
		x = (x ^ x>>16) * 0x85EBCA6B
		x = (x ^ x>>13) * 0xC2B2AE35
		p[v] = x ^ x>>16
	}
	return p
}

// Colours returns the length of the longest path to each vertex along which priorities fall, not counting the vertex
// itself: the number of its independent set if, repeatedly, the vertices that beat all neighbours leave.
func Colours(out *graph.Adjacency, priority []uint32) []uint32 {
	order := make([]int, len(priority))
	for v := range order {
		order[v] = v
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(priority[b], priority[a]) })
	colour := make([]uint32, len(priority))
	for _, v := range order {
		for _, w := range out.Row(v) {
			if priority[w] > priority[v] {
				colour[v] = max(colour[v], colour[w]+1)
			}
		}
	}
	return colour
}

// CheckColours checks that no neighbours share a colour, and that the colours follow from the priorities.
func CheckColours(out *graph.Adjacency, priority, got []uint32) error {
	if len(got) != out.Vertices() {
		return fmt.Errorf("%w: colours of %d vertices, expected %d", ErrWrong, len(got), out.Vertices())
	}
	for v := range got {
		for _, w := range out.Row(v) {
			if got[v] == got[w] {
				return fmt.Errorf("%w: colour of vertex %d is %d, and that of its neighbour %d too", ErrWrong, v,
					got[v], w)
			}
		}
	}
	return Equal("colour", got, Colours(out, priority))
}
