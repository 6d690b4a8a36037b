package eval

import (
	"fmt"
	"strconv"

	"heddle/graph"
	"heddle/graphit"
)

// ArgumentsOn are the arguments of a program's run, argv, on a graph whose vertices may have other numbers than they
// were read with. An argument that names a vertex means the vertex that was read with that number, and becomes the
// number that it has now. It is an error if it cannot be known, or if there is no such vertex any more. schedule takes
// the place of the program's own; nil: its own.
func ArgumentsOn(g *graph.Graph, f *graphit.File, schedule *graphit.Schedule, argv []string) ([]string, error) {
	if !g.Renumbered() {
		return argv, nil
	}
	wrong := func(at graphit.Pos, format string, args ...any) error {
		return &graphit.Error{File: f.Name, Pos: at, Msg: fmt.Sprintf(format, args...)}
	}
	const moved = "graph.clean.compact_ids and graph.reorder have given vertices other numbers"
	if n, at, ok := f.FirstVertex(); ok {
		return nil, wrong(at, "vertex %d is written in the program, and %s: expected an argument, atoi(argv[2])", n,
			moved)
	}
	out := append([]string(nil), argv...)
	for _, a := range f.Arguments(schedule) {
		none := graphit.Pos{}
		switch {
		case a.Computed != none:
			return nil, wrong(a.Computed, "the vertex is computed from argv[%d], and %s: expected the vertex itself as an "+
				"argument, or neither key", a.N, moved)
		case a.Vertex == none || a.N >= len(argv):
			continue
		case a.Number != none:
			return nil, wrong(a.Number, "argv[%d] is a number here and a vertex in line %d, and %s: expected two arguments, "+
				"or neither key",
				a.N, a.Vertex.Line, moved)
		}
		n, err := strconv.ParseInt(argv[a.N], 10, 32)
		if err != nil || n < 0 { // no vertex: the run refuses it, or it means none
			continue
		}
		v, err := g.Vertex(int(n))
		if err != nil {
			return nil, wrong(a.Vertex, "argv[%d] = %d: %v", a.N, n, err)
		}
		out[a.N] = strconv.Itoa(int(v))
	}
	return out, nil
}
