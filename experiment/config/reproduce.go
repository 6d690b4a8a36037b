package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"heddle/configs"
	"heddle/configs/schema"
	"heddle/internal/files"
	"heddle/kernels/workload"
)

// Pack compares one published statement with simulation: experiments, in a quick and a full variant, and checks of
// their results.
//
// Its file has the keys of PackHead and six more: common, the base of all experiments of the pack; quick and full,
// lists of experiments; checks; figures; cells.
type Pack struct {
	Name string // paper/pack
	File string
	PackHead
	Checks    []Check
	Figures   []PackFigure
	Paper     Paper
	Published map[string]Published
	Readings  map[Variant][]Reading // the chosen readings, Described first

	Cells  []Cells
	Tables []PublishedTable
	Items  []Item

	common *schema.Node
	lists  map[Variant]*schema.Node
	read   func(file string) ([]byte, error) // of the files beside it; nil: none
}

// PackHead describes a pack.
type PackHead struct {
	Figure       string   `key:"figure" required:"true" lines:"true" doc:"Part of the paper, such as Fig. 10."`
	Title        string   `key:"title" required:"true" lines:"true" doc:"Subject of the comparison, in a few words."`
	Statement    string   `key:"statement" required:"true" lines:"true" doc:"The paper's statement."`
	Scaled       string   `key:"scaled" required:"true" lines:"true"`
	ScaledFull   string   `key:"scaled_full" default:"" lines:"true"`
	Discussion   string   `key:"discussion" default:"" lines:"true"`
	ReadingNames []string `key:"readings" default:""`
	FullReadings []string `key:"full_readings" default:"" doc:"The same for the full variant, which costs more."`
	Apart        []string `key:"apart" default:"" doc:"Names of experiments that are run only as described."`
	Studied      []string `key:"studied" default:"" doc:"Names of the experiments that --sensitivity runs. None: all."`
	Repeats      string   `key:"repeats" default:"" doc:"A pack whose statements these are too: they count there alone."`
	QuickSeconds int      `key:"quick_seconds" required:"true" min:"0" max:"100000" unit:"seconds"`
	FullHours    float64  `key:"full_hours" default:"0" min:"0" max:"10000" unit:"hours"`
}

// Docs describes the keys.
func (PackHead) Docs() map[string]string {
	return map[string]string{
		"scaled":      "Differences from the paper's set-up, with reasons: substitute graphs, smaller machines.",
		"scaled_full": "The same for the full variant, if it differs.",
		"discussion":  "Explanation of the outcome, as far as the statistics support one.",
		"readings": "Names of other readings of the paper (readings.yaml beside the pack), under which all " +
			"experiments except those in apart are run and checked too.",
		"quick_seconds": "Approximate duration of the quick variant on two processors, with all readings.",
		"full_hours":    "Estimated duration of the full variant on two processors. 0: unknown.",
	}
}

// Quantity is a number computed from points.
type Quantity struct {
	Metric  string          `key:"metric" default:"cycles" doc:"A statistic, a cost (docs/guide/cost.md), or a sum: a + b."`
	Per     string          `key:"per" default:"" doc:"A statistic or a number to divide by."`
	Measure workload.Choice `key:"measure" default:"value" oneof:"value,ratio,speedup,difference"`
	Of      []string        `key:"of" default:""`
	Over    []string        `key:"over" default:"" doc:"Conditions on the partners of ratio, speedup and difference."`
	Sum     []string        `key:"sum" default:""`
	Across  []string        `key:"across" default:""`
}

// Docs describes the keys.
func (Quantity) Docs() map[string]string {
	return map[string]string{
		"measure": "value: of each point in of. ratio: each point in of over its partner in over. speedup: the " +
			"partner over the point. difference: the point minus the partner. A partner has equal values in all " +
			"axes except those that over names, those that vary together with them, and those of compare if of " +
			"names one of them.",
		"of": "Conditions on points: KEY=VALUE, or KEY=VALUE|VALUE. KEY is a key of the experiment (an axis, or one " +
			"of the resolved configuration), experiment (its name), variant (its name), or seed.",
		"sum": "Keys in which points may differ; the numbers of such points, and of their partners, are added up " +
			"before they are compared. For instance, the times of several operators.",
		"across": "Keys in which points may differ; the numbers of such points are reduced to one. Points that " +
			"differ in a key that is named nowhere are refused, except for the seed.",
	}
}

// Check is one statement as data: a number computed from points, and the rule by which it holds.
type Check struct {
	Says string `key:"says" required:"true" lines:"true" doc:"The statement."`
	Quantity
	Along     string            `key:"along" default:""`
	Among     []string          `key:"among" default:""`
	Tuned     []string          `key:"tuned" default:"" doc:"Keys of among: options that differ in them alone are one, the fastest of them."`
	Options   int               `key:"options" default:"2" min:"2" max:"1000000" unit:"options"`
	Differs   string            `key:"differs" default:"" doc:"For second-differs: the key of among to compare."`
	Alike     []string          `key:"alike" default:"" doc:"For second-differs: values of that key that count as one."`
	Reduce    workload.Choice   `key:"reduce" default:"geomean" oneof:"geomean,mean,min,max,r2,tau,spread,first,last,slowest,second,most-second,second-differs,restricted"`
	Within    []string          `key:"within" default:"" doc:"For restricted: conditions on the options of the restricted search."`
	Published string            `key:"published" default:"" doc:"Name of the published value to compare with."`
	Direction string            `key:"direction" default:""`
	Holds     string            `key:"holds" required:"true"`
	Partly    string            `key:"partly" default:"" doc:"Rule by which it holds partly, if it does not hold."`
	Built     string            `key:"by_construction" default:"" lines:"true"`
	Decides   bool              `key:"decides" default:"true"`
	Variants  []workload.Choice `key:"variants" default:"quick, full" oneof:"quick,full" doc:"Where it is checked."`
}

// Docs describes the keys.
func (Check) Docs() map[string]string {
	return map[string]string{
		"along": "A numeric axis: points that differ in it alone form a series. Needed for r2, tau, spread, first " +
			"and last.",
		"among": "Keys whose values are the options of a problem; points with equal values of the keys in across " +
			"belong to one problem. Needed for slowest, second, most-second, second-differs and restricted.",
		"options": "With among: the least number of options of each problem, problems being distinguished by across. " +
			"The check counts as not run if a problem has fewer.",
		"reduce": "Reduction of values to one number. geomean, mean, min, max: over all values. Over each series, " +
			"and then the worst of all series: r2: of a straight line fitted by least squares (lowest). tau: " +
			"Kendall's, 1 if the series only rises, -1 if it only falls (lowest). spread: largest over smallest " +
			"(highest). first, last: at the end of the axis, the geometric mean over series. Over the options of " +
			"each problem: slowest, second: the largest, or the second smallest, over the smallest (geometric " +
			"mean). most-second: the same as second (highest). second-differs: 1 if the second smallest has another " +
			"value of differs than the smallest, else 0 (mean). restricted: the smallest among the options that meet " +
			"within, over the smallest of all (geometric mean).",
		"direction": "Rule by which the statement holds at least in direction. Default: an effect of 5 % on the " +
			"published value's side of 1, or, without one, on the side that the rule in holds asks for. A statement " +
			"whose value or rule has no such effect has no direction.",
		"holds": "Rule by which the statement holds: '>= X', '<= X', 'between X Y', or 'within X': the relative " +
			"difference from the published value is at most X.",
		"by_construction": "Why the machine cannot fail the statement, if it cannot. It is shown, and not counted.",
		"decides": "false: the check is shown, but does not count for the pack, as it concerns an addition to the " +
			"paper's machine, or another machine.",
	}
}

// PackFigure is a table of values and its drawing.
type PackFigure struct {
	Name  string          `key:"name" required:"true" doc:"Name of the file."`
	Title string          `key:"title" required:"true" lines:"true" doc:"Title of the figure."`
	Kind  workload.Choice `key:"kind" default:"bars" oneof:"bars,lines,stack,table"`
	Quantity
	Metrics  []string          `key:"metrics" default:""`
	Columns  []string          `key:"columns" required:"true"`
	Series   []string          `key:"series" default:"" doc:"Keys whose values distinguish series."`
	Reduce   workload.Choice   `key:"reduce" default:"geomean" oneof:"geomean,mean"`
	Geomean  bool              `key:"geomean" default:"false"`
	Log      bool              `key:"log" default:"false" doc:"Logarithmic axis for the columns of lines."`
	Axis     string            `key:"axis" default:"" doc:"Name of the values' axis; default: the metric."`
	Variants []workload.Choice `key:"variants" default:"quick, full" oneof:"quick,full" doc:"Where it is drawn."`
}

// Docs describes the keys.
func (PackFigure) Docs() map[string]string {
	return map[string]string{
		"kind":    "Kind of drawing. table: no drawing.",
		"metrics": "Several statistics, each a series of its own, instead of metric.",
		"columns": "Keys whose values distinguish columns. For lines, one key with numbers.",
		"reduce":  "Reduction of several points that fall together.",
		"geomean": "Adds a last column with the geometric mean of the others.",
	}
}

// Paper is the source of published values.
type Paper struct {
	Title string `key:"title" required:"true" lines:"true" doc:"Its title."`
	Venue string `key:"venue" required:"true" doc:"Where it appeared."`
}

// Published is one number that a paper's text or tables print.
type Published struct {
	Name     string  `key:"name" required:"true" doc:"Name in packs."`
	Quantity string  `key:"quantity" required:"true" doc:"The quantity."`
	Value    float64 `key:"value" required:"true" min:"-1e18" max:"1e18" unit:"" doc:"The number as printed."`
	Unit     string  `key:"unit" default:"×" doc:"Its unit."`
	Where    string  `key:"where" required:"true" doc:"Section or table that prints it."`
}

// Variant is the extent to which a pack is run.
type Variant string

// Variants of packs: a subset for every day, and the paper's whole set-up.
const (
	Quick Variant = "quick"
	Full  Variant = "full"
)

var (
	packSchema      = schema.New[PackHead]("")
	checkSchema     = schema.New[Check]("")
	figureSchema    = schema.New[PackFigure]("")
	paperSchema     = schema.New[Paper]("")
	publishedSchema = schema.New[Published]("")
)

// PackNames lists the packs that heddle ships, sorted.
func PackNames() (names []string) {
	files, err := fs.Glob(configs.Files, "reproduce/*/*.yaml")
	if err != nil {
		panic(fmt.Sprintf("BUG: config: %v", err))
	}
	for _, f := range files {
		if b := path.Base(f); !slices.Contains([]string{publishedFile, readingsFile, sensitivityFile}, b) {
			names = append(names, packName(f))
		}
	}
	return names
}

// publishedFile is the name of the file beside the packs of a paper that holds its published values.
const publishedFile = "published.yaml"

// packName returns PAPER/PACK, from the names of the directory and the file.
func packName(file string) string {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	dir, name := path.Split(filepath.ToSlash(file))
	return path.Join(path.Base(dir), strings.TrimSuffix(name, ".yaml"))
}

// LoadPack loads a shipped pack by its name, or a file if the name ends in .yaml.
func LoadPack(name string) (*Pack, error) {
	file, read := path.Join("reproduce", name+".yaml"), configs.Files.ReadFile
	switch {
	case strings.HasSuffix(name, ".yaml"):
		file, read = filepath.ToSlash(filepath.Clean(name)),
			func(name string) ([]byte, error) { return files.Read(name, maxPackFile) }
	case !slices.Contains(PackNames(), name):
		return nil, fmt.Errorf("no pack %q: expected a file that ends in .yaml, or one of %s", name,
			strings.Join(PackNames(), ", "))
	}
	text, err := read(file)
	if err != nil {
		return nil, err
	}
	beside := path.Join(path.Dir(file), publishedFile)
	published, err := read(beside)
	if err != nil {
		return nil, fmt.Errorf("the pack's published values: %w", err)
	}
	p, err := ParsePack(file, text, beside, published)
	if err != nil {
		return nil, err
	}
	p.read = read
	beside, readings, err := p.beside(readingsFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p, p.chooseReadings(beside, nil)
	case err != nil:
		return nil, fmt.Errorf("the pack's readings: %w", err)
	}
	return p, p.AddReadings(beside, readings)
}

// beside reads a file of the pack's directory.
func (p *Pack) beside(name string) (file string, text []byte, err error) {
	file = path.Join(path.Dir(filepath.ToSlash(p.File)), name)
	if p.read == nil {
		return file, nil, fs.ErrNotExist
	}
	text, err = p.read(file)
	return file, text, err
}

// ParsePack parses the texts of a pack and of its published values. The pack has only the reading Described.
func ParsePack(file string, text []byte, publishedFile string, published []byte) (*Pack, error) {
	p := &Pack{Name: packName(file), File: file,
		Readings: map[Variant][]Reading{Quick: {asDescribed}, Full: {asDescribed}}}
	if err := p.parsePublished(publishedFile, published); err != nil {
		return nil, err
	}
	if err := p.parse(file, text); err != nil {
		return nil, err
	}
	return p, nil
}

// AddReadings parses a paper's readings, and adds those that the pack names.
func (p *Pack) AddReadings(file string, text []byte) error {
	all, err := parseReadings(file, text)
	if err != nil {
		return err
	}
	return p.chooseReadings(file, all)
}

// maxPackFile bounds the size of a file; the parser has a lower limit of its own.
const maxPackFile = 4 << 20

// parse parses a pack's file.
func (p *Pack) parse(file string, text []byte) error {
	top, err := schema.Parse(file, text)
	if err != nil {
		return err
	}
	parts, head, err := split(file, top, "common", string(Quick), string(Full), "checks", "figures",
		"cells")
	if err != nil {
		return err
	}
	p.common = parts["common"]
	p.lists = map[Variant]*schema.Node{Quick: parts["quick"], Full: parts["full"]}
	var bad []error
	p.PackHead = loadPart(packSchema, file, "", head, &bad).Value
	said := map[string]bool{}
	for i, c := range loadList(checkSchema, file, "checks", parts["checks"], &bad) {
		c.Value.canonical()
		present(c.Value.Among)
		present(c.Value.Tuned)
		c.Value.Along, c.Value.Differs = Schema.Path(c.Value.Along), Schema.Path(c.Value.Differs)
		p.Checks = append(p.Checks, c.Value)
		for _, v := range c.Value.Variants {
			if at, _ := c.Origin("says"); said[string(v)+c.Value.Says] {
				bad = append(bad, fmt.Errorf("%s: checks[%d].says: %q stands twice in the %s variant: name each "+
					"statement", at, i, c.Value.Says, v))
			}
			said[string(v)+c.Value.Says] = true
		}
		if _, known := p.Published[c.Value.Published]; c.Value.Published != "" && !known {
			at, _ := c.Origin("published")
			bad = append(bad, fmt.Errorf("%s: checks[%d].published: no value %q in %s", at, i, c.Value.Published,
				publishedFile))
		}
	}
	for _, f := range loadList(figureSchema, file, "figures", parts["figures"], &bad) {
		f.Value.canonical()
		present(f.Value.Columns)
		present(f.Value.Series)
		p.Figures = append(p.Figures, f.Value)
	}
	p.loadCells(file, parts["cells"], &bad)
	for _, v := range []Variant{Quick, Full} {
		if _, err := elements(file, string(v), p.lists[v]); err != nil {
			bad = append(bad, err)
		}
	}
	return errors.Join(bad...)
}

func (p *Pack) parsePublished(file string, text []byte) error {
	top, err := schema.Parse(file, text)
	if err != nil {
		return err
	}
	parts, head, err := split(file, top, "values", "tables", "items")
	if err != nil {
		return err
	}
	var bad []error
	p.Paper = loadPart(paperSchema, file, "", head, &bad).Value
	p.Published = map[string]Published{}
	for i, l := range loadList(publishedSchema, file, "values", parts["values"], &bad) {
		v := l.Value
		if _, twice := p.Published[v.Name]; twice {
			at, _ := l.Origin("name")
			bad = append(bad, fmt.Errorf("%s: values[%d].name: %s stands twice", at, i, v.Name))
		}
		p.Published[v.Name] = v
	}
	p.loadTables(file, parts, &bad)
	return errors.Join(bad...)
}

// split separates a mapping into the values of keys, which have schemas of their own, and the rest.
func split(file string, top *schema.Node, keys ...string) (parts map[string]*schema.Node, rest *schema.Node,
	err error) {
	if top == nil || schema.Sections(top) == nil {
		return nil, nil, fmt.Errorf("%s: expected a section", file)
	}
	parts = map[string]*schema.Node{}
	copied := *top
	copied.Content = nil
	for i, s := range schema.Sections(top) {
		if !slices.Contains(keys, s.Key) {
			copied.Content = append(copied.Content, top.Content[2*i], s.Value)
			continue
		}
		if parts[s.Key] != nil {
			return nil, nil, fmt.Errorf("%s:%d:%d: %s: duplicate key", file, s.Value.Line, s.Value.Column, s.Key)
		}
		parts[s.Key] = s.Value
	}
	return parts, &copied, nil
}

// loadPart loads a node by its schema; key is its path in messages.
func loadPart[T any](s *schema.Schema[T], file, key string, n *schema.Node, bad *[]error) *schema.Loaded[T] {
	l, err := s.Load(schema.Input{File: file, Nodes: []*schema.Node{n}})
	if err != nil {
		*bad = append(*bad, within(key, err))
		return new(schema.Loaded[T])
	}
	return l
}

// loadList loads the elements of a list, which may be absent.
func loadList[T any](s *schema.Schema[T], file, key string, n *schema.Node, bad *[]error) (values []*schema.Loaded[T]) {
	list, err := elements(file, key, n)
	if err != nil {
		*bad = append(*bad, err)
	}
	for i, e := range list {
		before := len(*bad)
		if l := loadPart(s, file, fmt.Sprintf("%s[%d]", key, i), e, bad); len(*bad) == before {
			values = append(values, l)
		}
	}
	return values
}

// maxElements bounds the lists of a pack.
const maxElements = 1000

func elements(file, key string, n *schema.Node) ([]*schema.Node, error) {
	list, ok := schema.List(n)
	if !ok || len(list) > maxElements {
		return nil, fmt.Errorf("%s:%d:%d: %s: expected a list of at most %d sections", file, n.Line, n.Column, key,
			maxElements)
	}
	return list, nil
}

// within prefixes the keys in errors with the path of their section.
func within(key string, err error) error {
	var all *schema.Errors
	if key == "" || !errors.As(err, &all) {
		return err
	}
	for _, e := range all.List {
		e.Key = strings.TrimSuffix(key+"."+e.Key, ".")
	}
	return all
}
