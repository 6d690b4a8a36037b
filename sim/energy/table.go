package energy

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"heddle/components/dram"
	"heddle/configs"
	"heddle/configs/schema"
	"heddle/internal/files"
	"heddle/internal/suggest"
)

// Range is a value with its bounds: 0 <= Low <= Nominal <= High.
type Range struct {
	Low     float64 `json:"low"`
	Nominal float64 `json:"nominal"`
	High    float64 `json:"high"`
}

// Times returns the range scaled.
func (r Range) Times(f float64) Range { return Range{r.Low * f, r.Nominal * f, r.High * f} }

// Plus returns the sum if both are at their bounds together.
func (r Range) Plus(o Range) Range {
	return Range{r.Low + o.Low, r.Nominal + o.Nominal, r.High + o.High}
}

// check returns an error for a range that is out of order or negative.
func (r Range) check() error {
	if !(r.Low >= 0 && r.Low <= r.Nominal && r.Nominal <= r.High) || math.IsInf(r.High, 0) {
		return fmt.Errorf("low %v, nominal %v, high %v: expected 0 <= low <= nominal <= high", r.Low, r.Nominal, r.High)
	}
	return nil
}

// Table holds the energies of events.
type Table struct {
	Head
	Name  string // a preset's, or the file's
	File  string
	Lines []Line
	DRAM  []Part

	head []*schema.Node // keys, of the tables that it extends first
}

// Head describes a table.
type Head struct {
	Title       string   `key:"title" required:"true" lines:"true" doc:"Title: the purpose, in a line."`
	NM          float64  `key:"nm" required:"true" min:"1" max:"1000" unit:"nm" doc:"Process of the chip."`
	Volts       float64  `key:"volts" required:"true" min:"0.1" max:"10" unit:"V" doc:"Supply of the chip."`
	ClockMHz    float64  `key:"clock_mhz" default:"0" min:"0" max:"100000" unit:"MHz"`
	Exponent    float64  `key:"capacity_exponent" default:"0.5" min:"0" max:"1" unit:""`
	For         []string `key:"for" default:"" doc:"DRAM presets whose machines take this table if none is named."`
	NotModelled []string `key:"not_modelled" default:"" doc:"Consumers of energy that no line covers."`
}

// Docs describes the keys.
func (Head) Docs() map[string]string {
	return map[string]string{
		"clock_mhz": "Clock of the cores. 0: the one that the machine's DRAM clock and memory.clock_ratio imply, 1 GHz " +
			"without a ratio.",
		"capacity_exponent": "The energy of an access to a memory grows with its capacity to this power. 0.5: " +
			"Horowitz's three sizes, within 13 %.",
	}
}

// Line is the energy of one event, or a power.
type Line struct {
	Part    string  `key:"part" required:"true" doc:"Group in breakdowns, such as L1D."`
	Event   string  `key:"event" required:"true" lines:"true" doc:"The event; with its part the name of the line."`
	Count   string  `key:"count" required:"true" lines:"true"`
	Unit    string  `key:"unit" default:"pJ" oneof:"pJ,mW" doc:"pJ: of one event. mW: power, for the whole time."`
	Low     float64 `key:"low" required:"true" min:"0" max:"1e12" unit:"pJ or mW" doc:"Lower bound."`
	Nominal float64 `key:"nominal" required:"true" min:"0" max:"1e12" unit:"pJ or mW" doc:"Best estimate."`
	High    float64 `key:"high" required:"true" min:"0" max:"1e12" unit:"pJ or mW" doc:"Upper bound."`
	Source  string  `key:"source" required:"true" lines:"true"`
	Assumed bool    `key:"assumed" default:"false" doc:"The nominal value is an assumption; source has its reason."`
	Of      string  `key:"of" default:"none" oneof:"none,scratchpad,l1i,l1d,l2,l3"`
	Width   string  `key:"width" default:"none" oneof:"none,word,request,line"`
	Bits    float64 `key:"bits" default:"64" min:"1" max:"65536" unit:"bits" doc:"Of width, for which the values are."`
	Bytes   float64 `key:"bytes" default:"0" min:"0" max:"1099511627776" unit:"B"`
	NM      float64 `key:"nm" default:"0" min:"0" max:"1000" unit:"nm"`
	Volts   float64 `key:"volts" default:"0" min:"0" max:"10" unit:"V" doc:"0: the table's. Supply of the source's value."`

	count []term
}

// Docs describes the keys.
func (Line) Docs() map[string]string {
	return map[string]string{
		"count": "Sum of statistics, each with factors: 2*thread_instrs.alu + l1d.reads. Factors are numbers and what a " +
			"machine has: " + strings.Join(quantityNames(), ", ") + ". Of a power, such factors alone.",
		"source": "Where the values come from: a publication with its table, a rule by which they were derived, or the " +
			"reason of an assumption.",
		"of":    "The memory that is accessed: values are scaled to its capacity (bytes) and its width.",
		"width": "word: 32 bits. request: the bytes of a request. line: the memory's line.",
		"bytes": "Capacity for which the values are. 0: they do not depend on it.",
		"nm":    "Process of the source's value, which is scaled to the table's. 0: the table's.",
	}
}

// Part is a DRAM part: its currents, or its energies.
type Part struct {
	Presets []string `key:"presets" required:"true" doc:"DRAM presets (machine.memory.preset) that it is."`
	Method  string   `key:"method" required:"true" oneof:"currents,energies" doc:"Which of the keys below it has."`
	Source  string   `key:"source" required:"true" lines:"true" doc:"Where the values come from."`

	Devices int       `key:"devices" default:"1" min:"1" max:"64" unit:"devices" doc:"currents: devices of a rank."`
	Share   float64   `key:"share" default:"1" min:"0.01" max:"1" unit:""`
	Volts   float64   `key:"volts" default:"0" min:"0" max:"10" unit:"V" doc:"currents: VDD."`
	IDD0    float64   `key:"idd0" default:"0" min:"0" max:"1e6" unit:"mA" doc:"One bank: ACT and PRE every tRC."`
	IDD2N   float64   `key:"idd2n" default:"0" min:"0" max:"1e6" unit:"mA" doc:"All banks precharged, standby."`
	IDD3N   float64   `key:"idd3n" default:"0" min:"0" max:"1e6" unit:"mA" doc:"A row open, standby."`
	IDD4R   float64   `key:"idd4r" default:"0" min:"0" max:"1e6" unit:"mA" doc:"Reads without a gap."`
	IDD4W   float64   `key:"idd4w" default:"0" min:"0" max:"1e6" unit:"mA" doc:"Writes without a gap."`
	IDD5    float64   `key:"idd5" default:"0" min:"0" max:"1e6" unit:"mA" doc:"All-bank refresh (IDD5B)."`
	Factor  []float64 `key:"factor" default:"1, 1" min:"0" max:"100" unit:""`

	ActPJ     []float64 `key:"act_pj" default:"" min:"0" max:"1e9" unit:"pJ" doc:"energies: of a row of row_bytes, opened and closed."`
	RowBytes  float64   `key:"row_bytes" default:"1024" min:"1" max:"1e6" unit:"B" doc:"energies: the row of act_pj; others in proportion."`
	ReadPJ    []float64 `key:"read_pj_bit" default:"" min:"0" max:"1e6" unit:"pJ" doc:"energies: of a bit that is read."`
	WritePJ   []float64 `key:"write_pj_bit" default:"" min:"0" max:"1e6" unit:"pJ" doc:"energies: of a bit that is written."`
	RefreshPJ []float64 `key:"refresh_pj" default:"" min:"0" max:"1e12" unit:"pJ" doc:"energies: of a REF of a rank."`
	OpenMW    []float64 `key:"open_mw" default:"" min:"0" max:"1e6" unit:"mW" doc:"energies: a rank with a row open, standby."`
	ClosedMW  []float64 `key:"closed_mw" default:"" min:"0" max:"1e6" unit:"mW" doc:"energies: a precharged rank, standby."`

	IOPJ     []float64 `key:"io_pj_bit" default:"0, 0, 0" min:"0" max:"1e6" unit:"pJ" doc:"Of a bit on the way between chip and DRAM: drivers, termination, controller."`
	IOSource string    `key:"io_source" default:"" lines:"true" doc:"Where io_pj_bit comes from."`
}

// Docs describes the keys.
func (Part) Docs() map[string]string {
	return map[string]string{
		"share": "currents: the share of a device's currents that a rank has; an HBM channel's are those of both pseudo " +
			"channels.",
		"factor": "currents: bounds of all energies, over those of the currents: LOW, HIGH.",
	}
}

var (
	headSchema = schema.New[Head]("")
	lineSchema = schema.New[Line]("")
	partSchema = schema.New[Part]("")
)

// Limits of a table.
const (
	maxFile  = 1 << 20
	maxLines = 500
)

// Names lists the tables that heddle ships, sorted.
func Names() (names []string) {
	list, err := configs.Files.ReadDir("energy")
	if err != nil {
		panic(fmt.Sprintf("BUG: energy: %v", err))
	}
	for _, f := range list {
		if name := strings.TrimSuffix(f.Name(), ".yaml"); name != partsName {
			names = append(names, name)
		}
	}
	return names
}

// partsName is the file of DRAM parts, which all tables have that do not have their own of a preset.
const partsName = "dram"

// Load reads a table by its name, or a file.
func Load(name string) (*Table, error) {
	t, err := loadTable(name, 0)
	if err != nil {
		return nil, err
	}
	t.Name = name
	return t, t.addParts()
}

// maxDepth bounds chains of tables that extend others.
const maxDepth = 8

func loadTable(name string, depth int) (*Table, error) {
	file, read := path.Join("energy", name+".yaml"), configs.Files.ReadFile
	switch {
	case depth > maxDepth:
		return nil, fmt.Errorf("%s: extends: more than %d tables extend each other", name, maxDepth)
	case strings.ContainsAny(name, `/\.`):
		file, read = filepath.ToSlash(filepath.Clean(name)),
			func(name string) ([]byte, error) { return files.Read(name, maxFile) }
	case !slices.Contains(Names(), name):
		return nil, fmt.Errorf("no energy table %q%s: expected a file, or one of %s", name,
			suggest.DidYouMean(name, Names()), strings.Join(Names(), ", "))
	}
	text, err := read(file)
	if err != nil {
		return nil, err
	}
	return parse(file, text, depth)
}

// DefaultName returns the name of the table for a machine: the one that names its DRAM preset.
func DefaultName(m *configs.Machine) (string, error) {
	for _, name := range Names() {
		t, err := Load(name)
		if err != nil {
			return "", err
		}
		if slices.Contains(t.For, m.Memory.Preset) {
			return name, nil
		}
	}
	return "", fmt.Errorf("no energy table is for machines with memory.preset %s: name one of %s, or a file of your own",
		m.Memory.Preset, strings.Join(Names(), ", "))
}

// addParts adds the DRAM parts that heddle ships, of presets that the table has no own part for.
func (t *Table) addParts() error {
	file := path.Join("energy", partsName+".yaml")
	text, err := configs.Files.ReadFile(file)
	if err != nil {
		return err
	}
	top, err := schema.Parse(file, text)
	if err != nil {
		return err
	}
	var bad []error
	for _, s := range schema.Sections(top) {
		if s.Key == "dram" {
			t.addDRAM(file, s.Value, &bad)
		}
	}
	return errors.Join(bad...)
}

// addDRAM parses parts, and adds those of presets that the table has none of.
func (t *Table) addDRAM(file string, n *schema.Node, bad *[]error) {
	own := len(t.DRAM)
	for i, l := range loadAll(partSchema, file, "dram", n, bad) {
		if err := l.Value.check(); err != nil {
			at, _ := l.Origin("presets")
			*bad = append(*bad, fmt.Errorf("%s: dram[%d]: %w", at, i, err))
		}
		if !slices.ContainsFunc(t.DRAM[:own], func(o Part) bool { return o.is(l.Value.Presets...) }) {
			t.DRAM = append(t.DRAM, l.Value)
		}
	}
}

// is reports whether the part is one of the presets.
func (p *Part) is(presets ...string) bool {
	return slices.ContainsFunc(presets, func(name string) bool { return slices.Contains(p.Presets, name) })
}

// Parse parses the text of a table.
func Parse(file string, text []byte) (*Table, error) { return parse(file, text, 0) }

// parse parses a table, which may extend another: of that, it replaces keys, and lines and DRAM parts of equal names.
func parse(file string, text []byte, depth int) (*Table, error) {
	top, err := schema.Parse(file, text)
	if err != nil {
		return nil, err
	}
	sections := schema.Sections(top)
	if sections == nil {
		return nil, fmt.Errorf("%s: expected an energy table: title, nm, volts, lines", file)
	}
	t := &Table{Name: strings.TrimSuffix(path.Base(file), ".yaml"), File: file}
	rest := *top
	rest.Content = nil
	var parts, base schema.Node
	var lines *schema.Node
	for i, s := range sections {
		if i > 0 && slices.ContainsFunc(sections[:i], func(o schema.Section) bool { return o.Key == s.Key }) {
			return nil, fmt.Errorf("%s:%d:%d: %s: duplicate key", file, s.Value.Line, s.Value.Column, s.Key)
		}
		switch s.Key {
		case "lines":
			lines = s.Value
		case "dram":
			parts = *s.Value
		case "extends":
			base = *s.Value
		default:
			rest.Content = append(rest.Content, top.Content[2*i], s.Value)
		}
	}
	under, err := extended(file, &base, depth)
	if err != nil {
		return nil, err
	}
	var bad []error
	t.head = append(slices.Clone(under.head), &rest)
	if t.Head, err = loadHead(file, t.head); err != nil {
		bad = append(bad, err)
	}
	if lines == nil && len(under.Lines) == 0 {
		bad = append(bad, fmt.Errorf("%s: lines: missing: expected the list of energies", file))
	}
	t.addLines(lines, &bad)
	t.inherit(under)
	if parts.Kind != 0 {
		t.addDRAM(file, &parts, &bad)
	}
	t.DRAM = append(t.DRAM, slices.DeleteFunc(slices.Clone(under.DRAM), func(p Part) bool {
		return slices.ContainsFunc(t.DRAM, func(o Part) bool { return o.is(p.Presets...) })
	})...)
	return t, errors.Join(bad...)
}

// extended returns the table that another names in extends, or an empty one.
func extended(file string, base *schema.Node, depth int) (*Table, error) {
	if base.Kind == 0 {
		return &Table{}, nil
	}
	if base.Kind != schema.ScalarNode || base.Value == "" {
		return nil, fmt.Errorf("%s:%d:%d: extends: expected the name of a table, or a file", file, base.Line, base.Column)
	}
	name := base.Value
	if strings.ContainsAny(name, `/\.`) && !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(file), name)
		if !strings.ContainsAny(name, `/\`) {
			name = "./" + name
		}
	}
	t, err := loadTable(name, depth+1)
	if err != nil {
		return nil, fmt.Errorf("%s:%d:%d: extends: %w", file, base.Line, base.Column, err)
	}
	return t, nil
}

// loadHead loads a table's keys over those of the tables that it extends.
func loadHead(file string, nodes []*schema.Node) (Head, error) {
	l, err := headSchema.Load(schema.Input{File: file, Nodes: nodes})
	if err != nil {
		return Head{}, err
	}
	return l.Value, nil
}

// inherit adds the lines of an extended table that the table does not replace, at that table's process, and puts those
// that it replaces in their place.
func (t *Table) inherit(under *Table) {
	own := t.Lines
	t.Lines = nil
	for _, l := range under.Lines {
		if at := slices.IndexFunc(own, func(o Line) bool { return o.name() == l.name() }); at >= 0 {
			l = own[at]
			own = slices.Delete(slices.Clone(own), at, at+1)
		} else if l.Unit != "mW" {
			l.NM, l.Volts = cmp.Or(l.NM, under.NM), cmp.Or(l.Volts, under.Volts)
		}
		t.Lines = append(t.Lines, l)
	}
	t.Lines = append(t.Lines, own...)
}

// addLines parses the lines, and refuses those with values out of order, a malformed count or a name that stands twice.
func (t *Table) addLines(n *schema.Node, bad *[]error) {
	seen := map[string]bool{}
	for i, l := range loadAll(lineSchema, t.File, "lines", n, bad) {
		line := l.Value
		complain := func(key string, err error) {
			at, _ := l.Origin(key)
			*bad = append(*bad, fmt.Errorf("%s: lines[%d].%s: %w", at, i, key, err))
		}
		if err := (Range{line.Low, line.Nominal, line.High}).check(); err != nil {
			complain("nominal", err)
		}
		var err error
		if line.count, err = parseCount(line.Count, line.Unit == "mW"); err != nil {
			complain("count", err)
		}
		switch name := line.name(); {
		case seen[name]:
			complain("event", fmt.Errorf("%s stands twice", name))
		case (line.Width != "none" || line.Bytes != 0) && line.Of == "none":
			complain("event", errors.New("width and bytes describe a memory: expected its name in of"))
		default:
			seen[name] = true
		}
		t.Lines = append(t.Lines, line)
	}
}

// name is the line's name within its table.
func (l *Line) name() string { return l.Part + ": " + l.Event }

// load loads a node by its schema; key is its path in messages.
func load[T any](s *schema.Schema[T], file, key string, n *schema.Node, bad *[]error) *schema.Loaded[T] {
	l, err := s.Load(schema.Input{File: file, Nodes: []*schema.Node{n}})
	if err == nil {
		return l
	}
	var all *schema.Errors
	if key != "" && errors.As(err, &all) {
		for _, e := range all.List {
			e.Key = strings.TrimSuffix(key+"."+e.Key, ".")
		}
	}
	*bad = append(*bad, err)
	return new(schema.Loaded[T])
}

// loadAll loads the elements of a list, which may be absent.
func loadAll[T any](s *schema.Schema[T], file, key string, n *schema.Node, bad *[]error) (all []*schema.Loaded[T]) {
	list, ok := schema.List(n)
	if !ok || len(list) > maxLines {
		*bad = append(*bad, fmt.Errorf("%s:%d:%d: %s: expected a list of at most %d sections", file, n.Line, n.Column,
			key, maxLines))
		return nil
	}
	for i, e := range list {
		before := len(*bad)
		if l := load(s, file, fmt.Sprintf("%s[%d]", key, i), e, bad); len(*bad) == before {
			all = append(all, l)
		}
	}
	return all
}

// check returns an error for a part with an unknown preset, keys of the other method, or values out of order.
func (p *Part) check() error {
	for _, name := range p.Presets {
		if !slices.Contains(dram.Presets(), name) {
			return fmt.Errorf("presets: no DRAM preset %q%s: expected some of %s", name,
				suggest.DidYouMean(name, dram.Presets()), strings.Join(dram.Presets(), ", "))
		}
	}
	triples := []struct {
		key string
		v   []float64
	}{{"io_pj_bit", p.IOPJ}}
	if p.Method == "energies" {
		triples = append(triples, []struct {
			key string
			v   []float64
		}{
			{"act_pj", p.ActPJ}, {"read_pj_bit", p.ReadPJ}, {"write_pj_bit", p.WritePJ}, {"refresh_pj", p.RefreshPJ},
			{"open_mw", p.OpenMW}, {"closed_mw", p.ClosedMW},
		}...)
	} else if len(p.Factor) != 2 || !(p.Factor[0] <= 1 && p.Factor[1] >= 1) {
		return fmt.Errorf("factor %v: expected two numbers, LOW <= 1 and HIGH >= 1", p.Factor)
	}
	for _, t := range triples {
		if len(t.v) != 3 {
			return fmt.Errorf("%s %v: expected LOW, NOMINAL, HIGH", t.key, t.v)
		}
		if err := rangeOf(t.v).check(); err != nil {
			return fmt.Errorf("%s: %w", t.key, err)
		}
	}
	return nil
}

func rangeOf(v []float64) Range { return Range{v[0], v[1], v[2]} }

// scaled returns the line's values in the table's process. Powers are not scaled: leakage follows no such rule.
func (t *Table) scaled(l *Line) Range {
	r := Range{l.Low, l.Nominal, l.High}
	if l.Unit == "mW" {
		return r
	}
	return scale(r, cmp.Or(l.NM, t.NM), cmp.Or(l.Volts, t.Volts), t.NM, t.Volts)
}

// Exponents of the ratio of feature sizes (see the package's documentation).
const (
	leastShrink, meanShrink, mostShrink = 0, 1.0 / 3, 1
)

// scale carries values from one process to another.
func scale(r Range, fromNM, fromVolts, nm, volts float64) Range {
	size, supply := nm/fromNM, (volts/fromVolts)*(volts/fromVolts)
	low, high := math.Pow(size, mostShrink), math.Pow(size, leastShrink)
	if size > 1 {
		low, high = high, low
	}
	return Range{r.Low * supply * low, r.Nominal * supply * math.Pow(size, meanShrink), r.High * supply * high}
}
