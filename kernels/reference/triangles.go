package reference

import "heddle/graph"

// Triangles counts, for each vertex, the triangles of which it is the least. The graph has both directions of every
// edge, and neither loops nor duplicates.
func Triangles(out *graph.Adjacency) []uint64 {
	count := make([]uint64, out.Vertices())
	marked := make([]bool, out.Vertices())
	for u := range count {
		row := out.Row(u)
		for _, v := range row {
			marked[v] = true
		}
		for _, v := range row {
			if int(v) <= u {
				continue
			}
			for _, w := range out.Row(int(v)) {
				if w > v && marked[w] {
					count[u]++
				}
			}
		}
		for _, v := range row {
			marked[v] = false
		}
	}
	return count
}
