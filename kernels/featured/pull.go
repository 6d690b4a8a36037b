package featured

import (
	"slices"

	"heddle/graph"
	"heddle/kernels/feature"
)

// byDestination returns csr's number of each edge of csc, in whose order a pull has what edges hold.
func byDestination(g *graph.Graph) []uint32 {
	next, order := slices.Clone(g.CSC().Offsets), make([]uint32, g.Edges())
	for id, v := range g.CSR().IDs {
		order[next[v]] = uint32(id)
		next[v]++
	}
	return order
}

// toDevice returns the words of a property of edges in the order in which the kernels number edges.
func (r *run) toDevice(x *feature.Property, words []uint32) []uint32 {
	if r.order == nil || !x.Edges || words == nil {
		return words
	}
	each := len(words) / max(1, len(r.order))
	moved := make([]uint32, 0, len(words))
	for _, id := range r.order {
		moved = append(moved, words[int(id)*each:][:each]...)
	}
	if x.Numbers {
		number := make([]uint32, len(r.order))
		for n, id := range r.order {
			number[id] = uint32(n)
		}
		for i, id := range moved {
			moved[i] = number[id]
		}
	}
	return moved
}

// array returns the current contents of an array; of a property of edges in csr's order.
func (r *run) array(name string) []uint32 {
	words := r.session.Array(name)
	if r.order == nil || !slices.ContainsFunc(r.Properties, func(x feature.Property) bool {
		return x.Name == name && x.Edges
	}) {
		return words
	}
	each := len(words) / max(1, len(r.order))
	moved := make([]uint32, len(words))
	for n, id := range r.order {
		copy(moved[int(id)*each:][:each], words[n*each:])
	}
	return moved
}
