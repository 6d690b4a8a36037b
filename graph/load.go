package graph

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"strings"

	"heddle/graph/graphspec"
	"heddle/internal/files"
)

// shipped are the graphs that come with heddle; data/README.md says whence.
//
//go:embed data
var shipped embed.FS

// Names lists the shipped graphs, sorted.
func Names() []string {
	var names []string
	for _, file := range shippedFiles() {
		names = append(names, shortName(file))
	}
	return names
}

func shippedFiles() []string {
	files, err := fs.Glob(shipped, "data/*.gz")
	if err != nil {
		panic(fmt.Sprintf("BUG: graph: %v", err))
	}
	return files
}

func shortName(file string) string {
	name, _, _ := strings.Cut(path.Base(file), ".")
	return name
}

// isPath reports whether file is a path rather than the name of a shipped graph.
func isPath(file string) bool { return strings.ContainsAny(file, `./\`) }

// Load reads or generates a graph and cleans it up, as specified by spec.
func Load(spec graphspec.Graph) (*Graph, error) {
	if err := errors.Join(spec.Validate(), spec.CheckSource()); err != nil {
		return nil, fmt.Errorf("graph: %w", err)
	}
	g, err := source(&spec)
	if err != nil {
		return nil, err
	}
	if err := g.clean(spec.Clean); err != nil {
		return nil, fmt.Errorf("%s: %w", g.Record.Source, err)
	}
	g.weigh(spec.Weights)
	g.reorder(spec.Reorder)
	g.note(&spec)
	return g, nil
}

// note completes the record.
func (g *Graph) note(spec *graphspec.Graph) {
	w := spec.Weights
	switch w.From {
	case graphspec.RandomWeights:
		g.Record.Weights = fmt.Sprintf("int, random %d..%d, seed %d", w.Min, w.Max, w.Seed)
	case graphspec.UnitWeights:
		g.Record.Weights = "none"
	}
	g.Record.Order = spec.Reorder.Order.String()
	if spec.Reorder.Order == graphspec.RandomOrder {
		g.Record.Order += fmt.Sprintf(", seed %d", spec.Reorder.Seed)
	}
}

func source(spec *graphspec.Graph) (*Graph, error) {
	o := ReadOptions{IDs: spec.IDs, SkipWeights: spec.Weights.From != graphspec.FileWeights,
		FloatWords: spec.Weights.Words == graphspec.FloatWords}
	switch {
	case isPath(spec.File):
		return readFile(spec.File, o)
	case spec.File != "":
		return readShipped(spec.File, o)
	}
	return generate(spec)
}

func readFile(name string, o ReadOptions) (*Graph, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // read only
	return Read(name, f, o)
}

func readShipped(name string, o ReadOptions) (*Graph, error) {
	for _, file := range shippedFiles() {
		if shortName(file) != name {
			continue
		}
		data, err := shipped.ReadFile(file)
		if err != nil {
			return nil, err
		}
		g, err := Read(path.Base(file), bytes.NewReader(data), o)
		if err != nil {
			return nil, err
		}
		g.Record.Source = name
		return g, nil
	}
	return nil, fmt.Errorf("no graph %q: expected a file (with a dot or a slash in its path), or one of %s", name,
		strings.Join(Names(), ", "))
}

// generate generates a graph.
func generate(spec *graphspec.Graph) (*Graph, error) {
	var l *edges
	var how any
	switch {
	case spec.RMAT != nil:
		how, l = *spec.RMAT, rmat(spec.RMAT)
	case spec.PowerlawCluster != nil:
		how, l = *spec.PowerlawCluster, powerlawCluster(spec.PowerlawCluster)
	case spec.ErdosRenyi != nil:
		how, l = *spec.ErdosRenyi, erdosRenyi(spec.ErdosRenyi)
	case spec.Grid != nil:
		how, l = *spec.Grid, grid(spec.Grid)
	case spec.Bipartite != nil:
		how, l = *spec.Bipartite, bipartite(spec.Bipartite)
	case spec.Like != nil:
		l = like(spec.Like)
	default:
		return nil, errors.New("BUG: graph: no source after it was validated")
	}
	g := l.build()
	g.Record = Record{
		Source: origin(spec, how), FileVertices: g.Vertices(), FileEdges: g.Edges(),
		IDs: "generated", Weights: "none", Warnings: []string{},
	}
	return g, nil
}

// origin describes how a generated graph came about.
func origin(spec *graphspec.Graph, how any) string {
	if spec.Like != nil {
		return likeSource(spec.Like)
	}
	return spec.Sources()[0] + parameters(how)
}

// parameters writes a generator's section as YAML would.
func parameters(section any) string {
	v := reflect.ValueOf(section)
	items := make([]string, v.NumField())
	for i := range items {
		items[i] = fmt.Sprintf("%s: %v", v.Type().Field(i).Tag.Get("key"), v.Field(i))
	}
	return "{" + strings.Join(items, ", ") + "}"
}
