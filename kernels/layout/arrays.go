package layout

import (
	"strings"

	"heddle/graph"
)

// Arrays returns the graph's arrays by the names that kernels use. They belong to the graph and must not be modified.
type Arrays struct{ g *graph.Graph }

// NewArrays returns the arrays of a graph.
func NewArrays(g *graph.Graph) *Arrays { return &Arrays{g} }

// Array returns an array by name; ok is false if it belongs to no layout.
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
