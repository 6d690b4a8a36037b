package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"heddle/configs/schema"
	"heddle/graph"
	"heddle/graph/graphspec"
	"heddle/internal/files"
)

func newGraph() *cobra.Command {
	c := &cobra.Command{
		Use:   "graph",
		Short: "Describe, generate, convert and download graphs",
		Long: `Describe, generate, convert and download graphs. A graph is the name of one that heddle
ships (heddle graph list), or a file: an edge list (SNAP, Network Repository),
a table (an edge list with a header or names: CSV, TSV), LINQS, MatrixMarket,
DIMACS .gr, METIS .graph, Galois .gr, GAPBS .sg and .wsg, Ligra or heddle's own .hgr;
plain or compressed by gzip, xz, bzip2 or zstd. Flags select how it is processed
first; without any, it is not changed.`,
	}
	c.AddCommand(newGraphInfo(), newGraphGen(), newGraphConvert(), newGraphFetch(), newGraphList())
	return c
}

// graphKeys lists the keys of a graphspec.Graph that all graph commands have as flags: the processing of the graph.
var graphKeys = []struct{ flag, key, needs string }{
	{"ids", "ids", ""},
	{"drop-self-loops", "clean.drop_self_loops", ""},
	{"symmetrise", "clean.symmetrise", ""},
	{"drop-duplicates", "clean.drop_duplicates", ""},
	{"compact-ids", "clean.compact_ids", ""},
	{"weights", "weights.from", ""},
	{"weight-words", "weights.words", ""},
	{"weight-min", "weights.min", "weights=random"},
	{"weight-max", "weights.max", "weights=random"},
	{"weight-seed", "weights.seed", "weights=random"},
	{"reorder", "reorder.order", ""},
	{"reorder-seed", "reorder.seed", "reorder=random"},
}

// graphFlags holds flags that set keys of a graphspec.Graph. Types, defaults and documentation come from the schema.
type graphFlags struct {
	set   []string          // KEY=VALUE, in the order of the command line
	flags map[string]string // key → flag
}

func (f *graphFlags) add(c *cobra.Command, flag, key string) {
	field, ok := graphspec.Schema.Lookup(key)
	if !ok {
		panic("BUG: graph: no key " + key)
	}
	if f.flags == nil {
		f.flags = map[string]string{}
	}
	f.flags[key] = flag
	def, _ := field.Default()
	v := c.Flags().VarPF(&keyValue{field, def, &f.set}, flag, "", usage(field))
	if field.Type() == "boolean" {
		v.NoOptDefVal = "true"
	}
}

// usage returns a key's documentation without backquotes, which pflag would take for the value's name.
func usage(f *schema.Field) string {
	doc := strings.TrimSuffix(f.Doc, ".")
	if f.Required {
		doc += " (required)"
	}
	return doc
}

// keyValue is the value of such a flag.
type keyValue struct {
	field *schema.Field
	text  string
	set   *[]string
}

func (v *keyValue) String() string { return v.text }

func (v *keyValue) Type() string {
	switch t := v.field.Type(); t {
	case "name":
		return strings.Join(v.field.Values(), "|")
	case "boolean":
		return "bool" // pflag does not print this type
	default:
		return t
	}
}

// Set collects the value; the schema checks all values together.
func (v *keyValue) Set(text string) error {
	v.text = text
	*v.set = append(*v.set, v.field.Path+"="+text)
	return nil
}

// addClean adds the flags that all graph commands have, except those for reading numbers, which generators do not need.
func (f *graphFlags) addClean(c *cobra.Command, generator bool) {
	for _, k := range graphKeys {
		if k.key != "ids" || !generator {
			f.add(c, k.flag, k.key)
		}
	}
	const plain, wrapped = ".LocalFlags.FlagUsages", ".LocalFlags.FlagUsagesWrapped 110"
	c.SetUsageTemplate(strings.Replace(c.UsageTemplate(), plain, wrapped, 1))
	c.Flags().SortFlags = false
}

// addSection adds a flag for each key of a generator.
func (f *graphFlags) addSection(c *cobra.Command, section string) {
	for _, field := range graphspec.Schema.Fields() {
		if key, ok := strings.CutPrefix(field.Path, section+"."); ok {
			f.add(c, strings.ReplaceAll(key, "_", "-"), field.Path)
		}
	}
}

// spec returns the graph that the flags and set describe.
func (f *graphFlags) spec(c *cobra.Command, set ...string) (graphspec.Graph, error) {
	for _, k := range graphKeys {
		flag, value, _ := strings.Cut(k.needs, "=")
		if k.needs != "" && c.Flags().Changed(k.flag) && c.Flags().Lookup(flag).Value.String() != value {
			return graphspec.Graph{}, fmt.Errorf("--%s means nothing without --%s %s", k.flag, flag, value)
		}
	}
	l, err := graphspec.Schema.Load(schema.Input{Set: append(set, f.set...)})
	if err != nil {
		return graphspec.Graph{}, f.explain(err)
	}
	return l.Value, nil
}

// explain replaces keys by flags in errors of the schema.
func (f *graphFlags) explain(err error) error {
	var list *schema.Errors
	if !errors.As(err, &list) {
		return err
	}
	var out []error
	for _, e := range list.List {
		if flag, ok := f.flags[e.Key]; ok {
			out = append(out, fmt.Errorf("--%s: %s", flag, e.Msg))
		} else {
			out = append(out, e)
		}
	}
	return errors.Join(out...)
}

// named loads a graph by its name or file.
func (f *graphFlags) named(c *cobra.Command, name string) (*graph.Graph, error) {
	spec, err := f.spec(c, "file="+name)
	if err != nil {
		return nil, err
	}
	g, err := loadGraph(c.Context(), spec)
	if err != nil {
		return nil, err
	}
	warn(c, g)
	return g, nil
}

// loadGraph loads a graph; an interrupt ends it at once, since there is nothing to clean up.
func loadGraph(ctx context.Context, spec graphspec.Graph) (*graph.Graph, error) {
	type loaded struct {
		g   *graph.Graph
		err error
	}
	done := make(chan loaded, 1)
	go func() {
		g, err := graph.Load(spec)
		done <- loaded{g, err}
	}()
	select {
	case <-ctx.Done():
		return nil, failed(ctx.Err())
	case l := <-done:
		return l.g, l.err
	}
}

// namesFlag is the file that receives the names of the vertices.
type namesFlag string

func (n *namesFlag) add(c *cobra.Command) {
	c.Flags().StringVar((*string)(n), "names", "", "`file` for the vertices' names, as CSV: vertex,name")
}

// write writes the file if it was requested.
func (n namesFlag) write(g *graph.Graph) error {
	if n == "" {
		return nil
	}
	if g.Names() == nil {
		return fmt.Errorf("--names %s: the vertices of %s have numbers, not names", n, g.Record.Source)
	}
	var b bytes.Buffer
	if err := g.WriteNames(&b); err != nil {
		return failed(err)
	}
	if err := files.Write(string(n), b.Bytes()); err != nil {
		return failed(err)
	}
	return nil
}

func warn(c *cobra.Command, g *graph.Graph) {
	for _, w := range g.Record.Warnings {
		fmt.Fprintf(c.ErrOrStderr(), "heddle: %s: %s\n", g.Record.Source, w)
	}
}

func newGraphInfo() *cobra.Command {
	var f graphFlags
	var names namesFlag
	var asJSON bool
	c := &cobra.Command{
		Use: "info GRAPH", Short: "Describe a graph", Args: cobra.ExactArgs(1),
		Long: `Describe a graph: size, degrees, components, memory of its layouts, the hash that
identifies it, and the distribution of its degrees.`,
		Example: `  heddle graph info facebook_combined --symmetrise
  heddle graph info USA-road-d.NY.gr.gz
  heddle graph info web.mtx.gz --drop-self-loops --drop-duplicates --json | jq .summary.hash`,
		RunE: func(c *cobra.Command, args []string) error {
			g, err := f.named(c, args[0])
			if err != nil {
				return err
			}
			if err := names.write(g); err != nil {
				return err
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), map[string]any{"record": g.Record, "summary": g.Summarise()})
			}
			return describeGraph(c.OutOrStdout(), g)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	names.add(c)
	f.addClean(c, false)
	return c
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// outFlags holds the flags for the output of a graph.
type outFlags struct {
	graphFlags
	json bool
}

// written is the output of --json.
type written struct {
	File     string       `json:"file"`
	Vertices int          `json:"vertices"`
	Edges    int          `json:"edges"`
	Hash     string       `json:"hash"`
	Record   graph.Record `json:"record"`
}

func (f *outFlags) write(c *cobra.Command, g *graph.Graph, file string) error {
	if err := g.WriteFile(c.Context(), file); err != nil {
		return failed(err)
	}
	if g.WeightKind() == graph.NoWeights &&
		strings.HasSuffix(strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(file), ".gz"), ".zst"), ".gr") {
		fmt.Fprintf(c.ErrOrStderr(), "heddle: %s: DIMACS has no edges without weights: each is written as 1, which "+
			"gives the file another hash\n", file)
	}
	w := written{file, g.Vertices(), g.Edges(), g.Hash(), g.Record}
	if f.json {
		return printJSON(c.OutOrStdout(), w)
	}
	fmt.Fprintf(c.ErrOrStderr(), "%s: %s vertices, %s directed edges, hash %s\n", file, grouped(w.Vertices),
		grouped(w.Edges), w.Hash)
	return nil
}

const formatHelp = `The suffix of the output file selects the format: .hgr is heddle's own, which is the
fastest to read, .mtx MatrixMarket, .gr DIMACS, .graph METIS, .sg and .wsg GAPBS, .csv
and .tsv tables, .el, .wel, .txt and names without a suffix edge lists; a further .gz
or .zst compresses it. Text formats other than METIS have a line for every directed
edge.`

func newGraphConvert() *cobra.Command {
	var f outFlags
	var names namesFlag
	c := &cobra.Command{
		Use: "convert GRAPH FILE", Short: "Write a graph in another format, cleaned up", Args: cobra.ExactArgs(2),
		Long: "Write a graph in another format, after processing it as the flags select.\n" + formatHelp,
		Example: `  heddle graph convert usroads.mtx.gz roads.txt.gz
  heddle graph convert cnr-2000.txt.gz cnr.hgr --drop-self-loops
  heddle graph convert facebook_combined fb.gr --symmetrise --weights random --weight-max 100`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := graph.CheckOutput(args[1]); err != nil {
				return err
			}
			g, err := f.named(c, args[0])
			if err != nil {
				return err
			}
			if err := names.write(g); err != nil {
				return err
			}
			return f.write(c, g, args[1])
		},
	}
	c.Flags().BoolVar(&f.json, "json", false, "print what was written, as JSON")
	names.add(c)
	f.addClean(c, false)
	return c
}

// generators lists the sections of graphspec.Graph that generate graphs, which are commands.
var generators = []struct{ section, example string }{
	{"rmat", "--scale 14 --edge-factor 16 -o rmat14.mtx.gz"},
	{"powerlaw_cluster", "--vertices 20000 --edges-per-step 48 --triangle-probability 0.1 -o pl.txt.gz"},
	{"erdos_renyi", "--vertices 10000 --edges 80000 -o er.txt"},
	{"grid", "--width 300 --height 300 --remove 0.35 -o road.gr --weights random --weight-max 1000"},
	{"bipartite", "--left 5000 --right 20000 --edges 300000 -o ratings.txt.gz --symmetrise"},
	{"like", "--name soc-orkut --shrink 1000 -o orkut-like.hgr"},
}

func newGraphGen() *cobra.Command {
	c := &cobra.Command{
		Use: "gen", Short: "Generate a graph and write it to a file",
		Long: "Generate a graph and write it to a file. The same parameters and seed give the same\ngraph on every " +
			"machine.\n\n" + formatHelp,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Help()
			}
			return fmt.Errorf("no generator %q: expected one of %s", args[0], strings.Join(generatorNames(), ", "))
		},
	}
	for _, g := range generators {
		c.AddCommand(newGenerator(g.section, g.example))
		c.Example += "  heddle graph gen " + command(g.section) + " " + g.example + "\n"
	}
	c.Example = strings.TrimSuffix(c.Example, "\n")
	return c
}

func generatorNames() []string {
	var names []string
	for _, g := range generators {
		names = append(names, command(g.section))
	}
	return names
}

// command returns the name of the command for a section, with dashes for underscores.
func command(section string) string { return strings.ReplaceAll(section, "_", "-") }

func newGenerator(section, example string) *cobra.Command {
	var f outFlags
	var out string
	field, _ := graphspec.Schema.Lookup(section)
	doc, _, _ := strings.Cut(field.Doc, " Source:")
	c := &cobra.Command{
		Use: command(section) + " -o FILE", Short: strings.TrimSuffix(doc, "."), Args: cobra.NoArgs,
		Long:    field.Doc + "\n\n" + formatHelp,
		Example: "  heddle graph gen " + command(section) + " " + example,
		RunE: func(c *cobra.Command, _ []string) error {
			spec, err := f.spec(c, section+"={}")
			if err != nil {
				return err
			}
			if out == "" {
				return errors.New("no output: expected -o FILE")
			}
			if err := graph.CheckOutput(out); err != nil {
				return err
			}
			g, err := loadGraph(c.Context(), spec)
			if err != nil {
				return err
			}
			return f.write(c, g, out)
		},
	}
	f.addSection(c, section)
	c.Flags().StringVarP(&out, "output", "o", "", "output `file` (required)")
	c.Flags().BoolVar(&f.json, "json", false, "print what was written, as JSON")
	f.addClean(c, true)
	return c
}

func newGraphList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the graphs that heddle ships", Args: cobra.NoArgs,
		Long: "List the graphs that heddle ships. graph/data/README.md has their sources and licences.",
		RunE: func(c *cobra.Command, _ []string) error {
			for _, n := range graph.Names() {
				fmt.Fprintln(c.OutOrStdout(), n)
			}
			return nil
		},
	}
}
