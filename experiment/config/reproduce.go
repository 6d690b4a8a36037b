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

// Pack holds one published statement up against what this simulator does: experiments,
// in a quick and a full variant, and checks of their results.
//
// Its file has the keys of PackHead, and five more: common, an experiment that all of the
// pack's are laid over; quick and full, lists of experiments; checks; figures.
type Pack struct {
	Name string // paper/pack
	File string
	PackHead
	Checks    []Check
	Figures   []PackFigure
	Paper     Paper
	Published map[string]Published
	Readings  map[Variant][]Reading // of the paper, Described first

	common *schema.Node
	lists  map[Variant]*schema.Node
}

// PackHead is a pack's description of itself.
type PackHead struct {
	Figure       string   `key:"figure" required:"true" lines:"true" doc:"What of the paper: Fig. 10."`
	Title        string   `key:"title" required:"true" lines:"true" doc:"What is compared, in a few words."`
	Statement    string   `key:"statement" required:"true" lines:"true" doc:"What the paper states."`
	Scaled       string   `key:"scaled" required:"true" lines:"true" doc:"What differs from the paper's set-up and why: graphs that stand for others, smaller machines."`
	ScaledFull   string   `key:"scaled_full" default:"" lines:"true" doc:"The same of the full variant, where it differs."`
	Discussion   string   `key:"discussion" default:"" lines:"true" doc:"Why the outcome is what it is, as far as the statistics say."`
	ReadingNames []string `key:"readings" default:"" doc:"Names of other readings of the paper (readings.yaml beside the pack), which all experiments but those in apart are run and checked under, too."`
	FullReadings []string `key:"full_readings" default:"" doc:"The same for the full variant, which costs more."`
	Apart        []string `key:"apart" default:"" doc:"Names of experiments that are run as described alone."`
	QuickSeconds int      `key:"quick_seconds" required:"true" min:"0" max:"100000" unit:"seconds" doc:"What the quick variant takes on two processors, about, all readings together."`
	FullHours    float64  `key:"full_hours" default:"0" min:"0" max:"10000" unit:"hours" doc:"What the full variant may take on two processors: an estimate. 0: not known."`
}

// Quantity is a number computed from points.
type Quantity struct {
	Metric  string          `key:"metric" default:"cycles" doc:"The statistic, or a sum: a + b."`
	Per     string          `key:"per" default:"" doc:"A statistic that it is divided by."`
	Measure workload.Choice `key:"measure" default:"value" oneof:"value,ratio,speedup,difference" doc:"value: of each point in of. ratio: of each point in of over that of its partner in over. speedup: the partner's over the point's. difference: the point's less the partner's. The partner is equal in all axes but those that over names and those that go together with them, and those of compare if of names one of them."`
	Of      []string        `key:"of" default:"" doc:"Conditions that points meet: KEY=VALUE, or KEY=VALUE|VALUE. A key of the experiment (that of an axis, or of the resolved configuration), experiment (its name), variant (its name), or seed."`
	Over    []string        `key:"over" default:"" doc:"The same for the partners of ratio and speedup."`
	Sum     []string        `key:"sum" default:"" doc:"Keys in which points may differ whose numbers are added up, as are those of their partners, before they are compared: the time of several operators, say."`
	Across  []string        `key:"across" default:"" doc:"Keys in which points may differ that become one number: the number is over them. Points that differ in a key which is named nowhere are refused, but for the seed."`
}

// Check is one statement as data: a number from points, and which numbers mean that it holds.
type Check struct {
	Says string `key:"says" required:"true" lines:"true" doc:"The statement."`
	Quantity
	Along     string            `key:"along" default:"" doc:"An axis of numbers: points that differ in it alone are a series. Needed for r2, tau, spread, first and last."`
	Among     []string          `key:"among" default:"" doc:"Keys whose values are the options of a problem; points that are equal in the keys of across are of one problem. Needed for slowest, second, most-second and second-differs."`
	Options   int               `key:"options" default:"2" min:"2" max:"1000000" unit:"options" doc:"With among: the options that each problem has at least, the problems being what across tells apart. The check counts as not run where one has fewer."`
	Differs   string            `key:"differs" default:"" doc:"Of second-differs: the key of among that is compared."`
	Reduce    workload.Choice   `key:"reduce" default:"geomean" oneof:"geomean,mean,min,max,r2,tau,spread,first,last,slowest,second,most-second,second-differs" doc:"How values become one number. geomean, mean, min, max: of all. Of each series, and then of series the worst: r2: of a straight line fitted by least squares (lowest). tau: Kendall's, 1 if it only rises, -1 if it only falls (lowest). spread: largest over smallest (highest). first, last: at the axis's end, the geometric mean over series. Of each problem, by its options: slowest, second: the largest, the second smallest over the smallest (geometric mean). most-second: the latter (highest). second-differs: 1 if the second smallest has another value of differs than the smallest, else 0 (mean)."`
	Published string            `key:"published" default:"" doc:"Name of the published value to compare with."`
	Direction string            `key:"direction" default:"" doc:"Rule by which it holds in direction at least. Without one: of a ratio or speedup with a published value, on the side of 1 that the published value is on; else holds, or partly."`
	Holds     string            `key:"holds" required:"true" doc:"Rule by which it holds: '>= X', '<= X', 'between X Y', or 'within X': ours differs from the published value by at most that share of it."`
	Partly    string            `key:"partly" default:"" doc:"Rule by which it holds partly, if it does not hold."`
	Decides   bool              `key:"decides" default:"true" doc:"false: shown, but does not count for the pack: what we add to the paper's machine, or another machine."`
	Variants  []workload.Choice `key:"variants" default:"quick, full" oneof:"quick,full" doc:"In which it is checked."`
}

// PackFigure is a table of values, and a drawing of it.
type PackFigure struct {
	Name  string          `key:"name" required:"true" doc:"Its file's name."`
	Title string          `key:"title" required:"true" lines:"true" doc:"What it shows."`
	Kind  workload.Choice `key:"kind" default:"bars" oneof:"bars,lines,stack,table" doc:"How it is drawn. table: not at all."`
	Quantity
	Metrics  []string          `key:"metrics" default:"" doc:"Several statistics, each a series of its own; instead of metric."`
	Columns  []string          `key:"columns" required:"true" doc:"Keys whose values tell columns apart. For lines one key with numbers."`
	Series   []string          `key:"series" default:"" doc:"Keys whose values tell series apart."`
	Reduce   workload.Choice   `key:"reduce" default:"geomean" oneof:"geomean,mean" doc:"What is shown where several points meet."`
	Geomean  bool              `key:"geomean" default:"false" doc:"A last column with the geometric mean of the others."`
	Log      bool              `key:"log" default:"false" doc:"A logarithmic axis of the columns of lines."`
	Axis     string            `key:"axis" default:"" doc:"Name of the values' axis; default: the metric."`
	Variants []workload.Choice `key:"variants" default:"quick, full" oneof:"quick,full" doc:"In which it is made."`
}

// Paper is where published values are from.
type Paper struct {
	Title string `key:"title" required:"true" lines:"true" doc:"Its title."`
	Venue string `key:"venue" required:"true" doc:"Where it appeared."`
}

// Published is one number that a paper's text or tables print.
type Published struct {
	Name     string  `key:"name" required:"true" doc:"What packs call it."`
	Quantity string  `key:"quantity" required:"true" doc:"What it is."`
	Value    float64 `key:"value" required:"true" min:"-1e18" max:"1e18" unit:"" doc:"The number as printed."`
	Unit     string  `key:"unit" default:"×" doc:"Its unit."`
	Where    string  `key:"where" required:"true" doc:"Section or table that prints it."`
}

// Variant is how much of a pack is run.
type Variant string

// The variants.
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
		if b := path.Base(f); b != publishedFile && b != readingsFile {
			names = append(names, packName(f))
		}
	}
	return names
}

// publishedFile has the published values of a paper's packs, beside them.
const publishedFile = "published.yaml"

// packName is the file's own and its directory's.
func packName(file string) string {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	dir, name := path.Split(filepath.ToSlash(file))
	return path.Join(path.Base(dir), strings.TrimSuffix(name, ".yaml"))
}

// LoadPack loads a pack: one that heddle ships by its name, or a file, whose name ends in .yaml.
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
	beside = path.Join(path.Dir(file), readingsFile)
	readings, err := read(beside)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p, p.chooseReadings(beside, nil)
	case err != nil:
		return nil, fmt.Errorf("the pack's readings: %w", err)
	}
	return p, p.AddReadings(beside, readings)
}

// ParsePack reads a pack's text, and that of its published values. It has one reading, Described.
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

// AddReadings reads a paper's readings, and keeps those that the pack names.
func (p *Pack) AddReadings(file string, text []byte) error {
	all, err := parseReadings(file, text)
	if err != nil {
		return err
	}
	return p.chooseReadings(file, all)
}

// maxPackFile bounds what is read; the parser has a limit of its own, below that.
const maxPackFile = 4 << 20

// parse reads a pack's file.
func (p *Pack) parse(file string, text []byte) error {
	top, err := schema.Parse(file, text)
	if err != nil {
		return err
	}
	parts, head, err := split(file, top, "common", string(Quick), string(Full), "checks", "figures")
	if err != nil {
		return err
	}
	p.common = parts["common"]
	p.lists = map[Variant]*schema.Node{Quick: parts["quick"], Full: parts["full"]}
	var bad []error
	p.PackHead = loadPart(packSchema, file, "", head, &bad).Value
	for i, c := range loadList(checkSchema, file, "checks", parts["checks"], &bad) {
		p.Checks = append(p.Checks, c.Value)
		if _, known := p.Published[c.Value.Published]; c.Value.Published != "" && !known {
			at, _ := c.Origin("published")
			bad = append(bad, fmt.Errorf("%s: checks[%d].published: no value %q in %s", at, i, c.Value.Published,
				publishedFile))
		}
	}
	for _, f := range loadList(figureSchema, file, "figures", parts["figures"], &bad) {
		p.Figures = append(p.Figures, f.Value)
	}
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
	parts, head, err := split(file, top, "values")
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
	return errors.Join(bad...)
}

// split takes keys out of a mapping, which are of other schemas than the rest.
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

// loadPart loads a node by its schema; key is where it stands.
func loadPart[T any](s *schema.Schema[T], file, key string, n *schema.Node, bad *[]error) *schema.Loaded[T] {
	l, err := s.Load(schema.Input{File: file, Nodes: []*schema.Node{n}})
	if err != nil {
		*bad = append(*bad, within(key, err))
		return new(schema.Loaded[T])
	}
	return l
}

// loadList loads the elements of a list; an absent one has none.
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

// within names the section in which errors' keys are.
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
