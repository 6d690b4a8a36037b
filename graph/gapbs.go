package graph

import (
	"encoding/binary"
	"fmt"
	"strings"

	"heddle/graph/graphspec"
)

// edgeSum adds up edges, in any order.
type edgeSum uint64

func (s *edgeSum) add(src, dst uint64, weight uint32) {
	*s += edgeSum(mix(mix(src<<32^dst) ^ uint64(weight)))
}

// gapbs reads GAPBS's serialized graphs, .sg and, with weights, .wsg: whether the graph is directed, the numbers of
// edges and vertices, where the rows of the vertices begin, the other ends of the edges with their weights; and, if
// directed, the same again for the edges that enter.
type gapbs struct {
	blob
	directed, weighted bool
	vertices, edges    uint64
}

func (r *reader) gapbs() error {
	name := plainName(r.file)
	g := gapbs{blob: blob{reader: r}, weighted: strings.HasSuffix(name, ".wsg")}
	if !r.named {
		return r.whole("this looks like a graph serialized by GAPBS, whose format does not state whether it has weights: " +
			"expected a name that ends in .sg or .wsg")
	}
	if err := g.readHeader(); err != nil {
		return err
	}
	var out, in edgeSum
	err := g.side(func(v, u uint64, w uint32) error {
		out.add(v, u, w)
		if g.weighted && r.weights {
			r.column.addInt(int32(w))
		}
		return r.add(v, u)
	})
	if err == nil && g.directed {
		err = g.side(func(v, u uint64, w uint32) error {
			in.add(u, v, w)
			return nil
		})
	}
	if err != nil {
		return err
	}
	if err := g.end(g.hint()); err != nil {
		return err
	}
	if g.directed && in != out {
		return r.whole("the edges that enter vertices are not those that leave them: the file is damaged")
	}
	r.record.FileWeights, r.record.IDs = g.weighted, fmt.Sprintf("0..%d", int(g.vertices)-1)
	return r.setVertices(int(g.vertices), 0)
}

// hint returns an explanation for files whose size is not as expected.
func (g *gapbs) hint() string {
	if g.weighted {
		return " (is it a .sg, without weights?)"
	}
	return " (is it a .wsg, with weights?)"
}

func (g *gapbs) readHeader() error {
	directed, err := g.next(1, "whether the graph is directed")
	if err != nil {
		return err
	}
	if g.directed = directed[0] == 1; directed[0] > 1 {
		return g.back(1).wrong("expected 0 (undirected) or 1 (directed); found %d", directed[0])
	}
	if g.edges, err = g.count(graphspec.MaxEdges, "the number of edges"); err != nil {
		return err
	}
	g.vertices, err = g.count(graphspec.MaxVertices, "the number of vertices")
	return err
}

// side reads the rows of all vertices.
func (g *gapbs) side(visit func(v, u uint64, weight uint32) error) error {
	rows := rowStarts{}
	for v := range g.vertices + 1 {
		n, err := g.u64("where the edges of a vertex begin")
		if err != nil {
			return err
		}
		if !rows.add(n, g.edges) || v == g.vertices && n != g.edges {
			return g.back(8).wrong("expected where the edges of vertex %d begin, from 0 to %d, no less than for the vertex "+
				"before; found %d",
				v, g.edges, n)
		}
	}
	for e := range int(g.edges) {
		u, err := g.id(4, g.vertices)
		if err != nil {
			return err
		}
		w := uint32(0)
		if g.weighted {
			if w, err = g.u32("the weight of an edge"); err != nil {
				return err
			}
		}
		if err := visit(rows.of(e), u, w); err != nil {
			return err
		}
	}
	return nil
}

// isGAPBS knows a header with counts that could be a graph's, and rows that begin at 0.
func isGAPBS(b []byte) bool {
	const most = 1 << 40
	if len(b) < 25 || b[0] > 1 {
		return false
	}
	edges, vertices, first := binary.LittleEndian.Uint64(b[1:]), binary.LittleEndian.Uint64(b[9:]),
		binary.LittleEndian.Uint64(b[17:])
	return edges < most && vertices < most && vertices > 0 && first == 0
}
