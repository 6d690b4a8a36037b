package heddle

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"heddle/configs/schema"
	"heddle/graph"
	"heddle/graph/graphspec"
	"heddle/kernels/compose"
	"heddle/kernels/workload"
)

// Graph is a graph that kernels run on: vertices from 0, directed edges sorted by source (CSR) and by destination
// (CSC), unweighted, or with integer or float weights. It is immutable.
type Graph = graph.Graph

// LoadGraph reads a graph file or generates a graph: settings are KEY=VALUE pairs, the keys below graph in
// docs/reference/configuration.md, such as "file=facebook_combined", "clean.symmetrise=true" or "rmat.scale=10".
func LoadGraph(settings ...string) (*Graph, error) {
	l, err := graphspec.Schema.Load(schema.Input{Set: settings})
	if err != nil {
		return nil, err
	}
	return graph.Load(l.Value)
}

// NewGraph returns a graph of edges, each a source and a destination. Duplicate edges are kept.
func NewGraph(vertices int, edges [][2]uint32) (*Graph, error) {
	var text bytes.Buffer
	fmt.Fprintf(&text, "%%%%MatrixMarket matrix coordinate pattern general\n%d %d %d\n", vertices, vertices, len(edges))
	for _, e := range edges {
		fmt.Fprintf(&text, "%d %d\n", uint64(e[0])+1, uint64(e[1])+1)
	}
	return graph.Read("edges", &text, graph.ReadOptions{})
}

// RunResult is the result of a run: Values are the algorithm's result, a word or more per vertex, floats as their bits;
// Verified is set if they agree with the reference; Steps are its super-steps; Times its launches and cycles, including
// the host's (launch_overhead).
type RunResult = compose.Result

// Run composes kernels from a workload's choices, compiles them for the machine, runs them on a graph, and compares the
// result with the reference on the host. settings are KEY=VALUE pairs, the keys below workload in
// docs/reference/configuration.md; others have their defaults, and auto suits the other settings. Errors are
// conflicting choices, a graph or a machine that does not fit, ctx's, or a wrong result: then r.Verified is false. A
// machine runs one graph program: another run needs another machine.
func Run(ctx context.Context, m *Machine, g *Graph, settings ...string) (r RunResult, err error) {
	w, err := workload.Parse(settings)
	switch {
	case err != nil:
		return r, err
	case g == nil:
		return r, fmt.Errorf("there is no graph: expected one of LoadGraph or NewGraph")
	case w.Kind() != workload.KindComposed:
		return r, fmt.Errorf("trace, program, kernel and algorithms on features are for experiments: expected none of them")
	}
	return compose.Run(ctx, m.Device(), g, w)
}

// Choices returns the values of a key of workload that names a choice: algorithm, schedule, layout, direction,
// frontier, dedup and others of heddle kernel choices, including registered ones; nil for other keys.
func Choices(key string) (names []string) {
	key = "workload." + presentName(key)
	for _, x := range compose.Meanings() {
		if x.Key == key && !slices.Contains(names, x.Name) {
			names = append(names, x.Name)
		}
	}
	return names
}

// presentName returns the name that a key of workload has today. It does not ask the schema, whose use ends
// registration.
func presentName(key string) string {
	fields := reflect.TypeFor[workload.Workload]()
	for f := range fields.NumField() {
		tag := fields.Field(f).Tag
		if tag.Get("was") != key {
			continue
		}
		if group, _, _ := strings.Cut(tag.Get("key"), "."); tag.Get("main") != "" {
			return group
		}
		return tag.Get("key")
	}
	return key
}
