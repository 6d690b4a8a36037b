package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"heddle/configs"
	"heddle/configs/schema"
)

// GraphsPrefix stands in packs for the directory of graphs that the user names.
const GraphsPrefix = "$graphs/"

// PackOptions are the inputs of a pack that its file leaves open.
type PackOptions struct {
	Graphs string                 // directory that replaces GraphsPrefix
	Set    []string               // KEY=VALUE settings for all experiments
	Exists func(file string) bool // whether a graph file exists
	// AsWritten leaves graphs as the pack names them, stand-ins among them, and drops none. It is for what depends on
	// the pack alone; such experiments cannot run.
	AsWritten bool
	// Only names the experiments that are loaded; nil: all.
	Only []string
}

// FileExists is the default of PackOptions.Exists.
func FileExists(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}

// Experiments loads a variant's experiments. absent lists the graph files that do not exist; axis values that name them
// are dropped, and so are experiments without any other graph.
func (p *Pack) Experiments(v Variant, o PackOptions) (list []*schema.Loaded[Experiment], absent []string, err error) {
	nodes, err := elements(p.File, string(v), p.lists[v])
	if err != nil {
		return nil, nil, err
	}
	g := graphFiles{dir: o.Graphs, exists: o.Exists}
	var bad []error
	names := map[string]bool{}
	for i, n := range nodes {
		key := fmt.Sprintf("%s[%d]", v, i)
		layers := []*schema.Node{n}
		if p.common != nil {
			layers = []*schema.Node{p.common, n}
		}
		gone := false
		for k, layer := range layers {
			copied := deepCopy(layer)
			if !o.AsWritten {
				gone = g.fill(copied, false) || gone
			}
			layers[k] = copied
		}
		if gone {
			continue
		}
		l, err := Schema.Load(schema.Input{File: p.File, Nodes: layers, Set: o.Set,
			Presets: configs.Presets})
		if err != nil {
			bad = append(bad, within(key, err))
			continue
		}
		if names[l.Value.Name] {
			at, _ := l.Origin("name")
			bad = append(bad, fmt.Errorf("%s: %s.name: %s stands twice", at, key, l.Value.Name))
		}
		names[l.Value.Name] = true
		if o.Only == nil || slices.Contains(o.Only, l.Value.Name) {
			list = append(list, l)
		}
	}
	for _, name := range o.Only {
		if !names[name] && g.absent == nil {
			bad = append(bad, fmt.Errorf("%s: studied: the %s variant has no experiment %q", p.File, v, name))
		}
	}
	return list, g.absent, errors.Join(bad...)
}

// Has reports whether the pack has experiments of a variant.
func (p *Pack) Has(v Variant) bool {
	list, _ := schema.List(p.lists[v])
	return len(list) > 0
}

// ScaledIn describes how a variant differs from the paper's set-up.
func (p *Pack) ScaledIn(v Variant) string {
	if v == Full && p.ScaledFull != "" {
		return p.ScaledFull
	}
	return p.Scaled
}

func deepCopy(n *schema.Node) *schema.Node {
	c := *n
	c.Content = nil
	for _, e := range n.Content {
		c.Content = append(c.Content, deepCopy(e))
	}
	return &c
}

// graphFiles replaces GraphsPrefix in experiments, and collects the files that do not exist.
type graphFiles struct {
	dir    string
	exists func(string) bool
	absent []string
}

// fill replaces GraphsPrefix below a node, and reports whether the node needs a graph that does not exist. Such
// elements are dropped from lists; a list inside a list is a tuple of values, and is kept or dropped as a whole.
func (g *graphFiles) fill(n *schema.Node, inList bool) (gone bool) {
	if n.Kind == schema.ScalarNode {
		return g.file(n)
	}
	g.original(n)
	var left []*schema.Node
	for _, e := range n.Content {
		if g.fill(e, n.Kind == schema.SequenceNode) {
			gone = true
			continue
		}
		left = append(left, e)
	}
	if n.Kind == schema.SequenceNode && !inList && len(left) > 0 {
		n.Content, gone = left, false
	}
	return gone
}

// endings are those of a graph's file, the first that exists being taken.
var endings = []string{".hgr", ".mtx", ".mtx.gz", ".txt.gz", ".edges.gz", ".gr.gz"}

// original replaces a whole stand-in (graph.like) by the graph itself, if the directory has it.
func (g *graphFiles) original(n *schema.Node) {
	for _, s := range schema.Sections(n) {
		if s.Key != "like" || len(s.Value.Content) != 2 || s.Value.Content[0].Value != "name" {
			continue
		}
		for _, end := range endings {
			file := filepath.Join(g.dir, s.Value.Content[1].Value+end)
			if !strings.ContainsAny(file, `/\`) {
				file = "./" + file
			}
			if g.exists(file) {
				s.Value.Kind, s.Value.Tag, s.Value.Content, s.Value.Value = schema.ScalarNode, "!!str", nil, file
				rename(n, "like", "file")
				return
			}
		}
	}
}

// rename renames a key of a mapping.
func rename(n *schema.Node, from, to string) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == from {
			n.Content[i].Value = to
		}
	}
}

func (g *graphFiles) file(n *schema.Node) (gone bool) {
	name, ok := strings.CutPrefix(n.Value, GraphsPrefix)
	if !ok {
		return false
	}
	n.Value = filepath.Join(g.dir, filepath.FromSlash(name))
	if !strings.ContainsAny(n.Value, `/\`) {
		n.Value = "./" + n.Value // a path, not the name of a shipped graph
	}
	if g.exists(n.Value) {
		return false
	}
	if !slices.Contains(g.absent, n.Value) {
		g.absent = append(g.absent, n.Value)
	}
	return true
}
