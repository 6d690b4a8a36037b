package layout

import (
	"strings"

	"heddle/graph"
)

// Arrays gives the arrays that kernels read their names for. They are the graph's: not to be changed.
type Arrays struct{ g *graph.Graph }

// NewArrays makes the arrays of a graph.
func NewArrays(g *graph.Graph) *Arrays { return &Arrays{g} }

// Array returns an array by its name; ok is false if it is no layout's.
func (a *Arrays) Array(name string) (data []uint32, ok bool) {
	order, part, _ := strings.Cut(name, ".")
	var rows *graph.Adjacency
	switch order {
	case "csr":
		rows = a.g.CSR()
	case "csc":
		rows = a.g.CSC()
	default:
		return nil, false
	}
	switch part {
	case "offsets":
		return rows.Offsets, true
	case "ids":
		return rows.IDs, true
	case "rows":
		return a.g.Rows(rows), true
	case "weights":
		return rows.Weights, true
	}
	return nil, false
}
