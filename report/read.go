package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"heddle/configs/schema"
	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/internal/files"
)

// Result is the stored result of an experiment.
type Result struct {
	Name     string
	Version  string
	Part     string // of runs that counts, in words; "": all
	Host     experiment.HostSummary
	About    experiment.About
	Points   []*Point
	Variants []string // names of the compared variants, the baseline first; a single empty name if nothing is compared
	Compare  []string // keys
	Sweep    []Axis
	Seeds    int               // number of seeds per point; 0: none
	Resolved string            // config.resolved.yaml
	Labels   map[string]string // from report.labels: labels of keys, values, variants and statistics
	Wrong    []string          // which of report.figures cannot be drawn, and why
	Unread   string            // why histories could not be read from the store; "": no error, or no store

	areas     Areas
	histories []history                    // of the first points
	short     map[string]map[string]string // short values of the sweep's axes, by key
	specs     []*Spec                      // of report.figures
	energy    string                       // report.energy
}

// Point is one simulation's result.
type Point struct {
	Axes        map[string]string `json:"axes"`
	Graph       string            `json:"graph"`
	Cycles      uint64            `json:"cycles"`
	CyclesCI95  float64           `json:"cycles_ci95"` // half the 95 % confidence interval; 0: they are exact
	Speedup     *float64          `json:"speedup"`
	SpeedupCI95 float64           `json:"speedup_ci95"`
	Verified    bool              `json:"verified"`
	Replay      string            `json:"replay"`  // name of a replayed trace's result
	Partial     string            `json:"partial"` // why the run was ended before it was done; "": it was not
	Failure     string            `json:"failure"`
	Error       string            `json:"error"`
	HostSeconds float64           `json:"host_seconds"`
	Stats       map[string]figure `json:"stats"`
	Config      string            `json:"config"`
	SuperSteps  []kernelRun       `json:"super_steps"`

	Label   string `json:"-"` // distinguishes it from the others
	Cell    string `json:"-"` // its place in the sweep, for people
	Variant int    `json:"-"`

	place string // its place in the sweep, which Cell may shorten
}

// figure is a statistic's value. Of an estimate there is an object with its confidence interval.
type figure struct {
	json.Number
	Half float64
}

// UnmarshalJSON reads either.
func (f *figure) UnmarshalJSON(text []byte) error {
	var e struct {
		Estimate json.Number `json:"estimate"`
		CI95     float64     `json:"ci95"`
	}
	if len(text) == 0 || text[0] != '{' {
		return json.Unmarshal(text, &f.Number)
	}
	err := json.Unmarshal(text, &e)
	f.Number, f.Half = e.Estimate, e.CI95
	return err
}

// kernelRun holds the cycles of one kernel in one super-step, from 1; 0: before the first.
type kernelRun struct {
	Step   int    `json:"step"`
	Kernel string `json:"kernel"`
	Cycles uint64 `json:"cycles"`
}

// counts reports whether the point has a usable result: verified, of a replayed trace, or of a part of a run.
func (p *Point) counts() bool {
	return p.Verified || p.Failure == "" && (p.Replay != "" || p.Partial != "")
}

// Axis is a swept key with its values.
type Axis struct {
	Key     string
	Values  []string
	Numbers []float64 // of the values; nil if they are not all numbers
	Group   string    // as it stands in the experiment: axes of one group go together
}

// maxFile bounds the size of a configuration file.
const maxFile = 16 << 20

// Read reads a directory of results.
func Read(dir string) (*Result, error) { return ReadOver(dir, "") }

// ReadOver is Read with speedups over a variant that is not the first of compare (experiment.SetBaseline); "": the
// first.
func ReadOver(dir, baseline string) (*Result, error) {
	data, err := experiment.Current(dir, baseline)
	if err != nil {
		return nil, err
	}
	var s struct {
		Experiment string                 `json:"experiment"`
		Version    string                 `json:"version"`
		Part       string                 `json:"part"`
		Points     []*Point               `json:"points"`
		Host       experiment.HostSummary `json:"host"`
		experiment.About
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("%s: expected a file written by heddle run: %w", filepath.Join(dir, "summary.json"), err)
	}
	if len(s.Points) == 0 || slices.Contains(s.Points, nil) {
		return nil, fmt.Errorf("%s: expected points, each an object", filepath.Join(dir, "summary.json"))
	}
	for _, p := range s.Points {
		p.presentNames()
	}
	resolved, err := files.Read(filepath.Join(dir, "config.resolved.yaml"), maxFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	r := &Result{Name: s.Experiment, Version: s.Version, Part: s.Part, Host: s.Host, About: s.About, Points: s.Points,
		Resolved: string(resolved)}
	if err := r.readReport(); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, "config.resolved.yaml"), err)
	}
	r.layOut()
	r.readHistories(dir)
	return r, nil
}

// presentNames gives axes of results of an earlier version the names that their keys have now.
func (p *Point) presentNames() {
	for key, value := range p.Axes {
		if now := config.Schema.Path(key); now != key {
			delete(p.Axes, key)
			p.Axes[now] = value
		}
	}
}

// readReport reads the section report of the experiment.
func (r *Result) readReport() (err error) {
	var y struct {
		Report struct {
			Labels, Figures []string
			Energy          string
		} `yaml:"report"`
	}
	if yaml.Unmarshal([]byte(r.Resolved), &y) != nil {
		return nil // of an experiment that is not ours, or none
	}
	if r.Labels, err = Labels(y.Report.Labels); err != nil {
		return err
	}
	r.energy = y.Report.Energy
	r.specs, err = Specs(y.Report.Figures)
	return err
}

// layOut finds the axes and each point's place on them.
func (r *Result) layOut() {
	compare, sweep := axisKeys(r.Resolved)
	if len(compare)+len(sweep) == 0 {
		sweep = axesOf(r.Points)
	}
	r.Compare = compare
	for _, group := range sweep {
		for _, key := range strings.Split(group, ",") {
			a := newAxis(strings.TrimSpace(key), r.Points)
			a.Group = group
			r.Sweep = append(r.Sweep, a)
		}
	}
	if _, ok := r.Points[0].Axes[experiment.SeedKey]; ok {
		r.Seeds = len(values(experiment.SeedKey, r.Points))
	}
	name := variantNamer(compare, r.Points)
	of := map[string]int{}
	varying := r.varying()
	r.short = map[string]map[string]string{}
	for _, a := range r.Sweep {
		r.short[a.Key] = experiment.ShortValues(a.Key, a.Values)
	}
	for _, p := range r.Points {
		v := tuple(p, compare)
		if _, ok := of[v]; !ok {
			of[v] = len(r.Variants)
			r.Variants = append(r.Variants, name(p))
		}
		p.Variant = of[v]
		p.Cell, p.place = r.cellName(p, withAxes(varying, r.sweepKeys())), tuple(p, r.sweepKeys())
		p.Label = strings.TrimSpace(name(p) + "  " + p.Cell)
		if r.Seeds > 0 {
			p.Label = strings.TrimSpace(p.Label + "  " + settings(p, []string{experiment.SeedKey}))
		}
	}
	distinct(r.Variants)
	if len(r.Points) == 1 {
		r.Points[0].Label = r.Name
	}
}

// cellName writes a point's values of the sweep with the experiment's labels; a single axis of names needs no key.
func (r *Result) cellName(p *Point, keys []string) string {
	short := experiment.ShortKeys(keys)
	var parts []string
	for i, k := range keys {
		if !p.has(k) {
			continue
		}
		value, key := clip(r.short[k][p.Axes[k]]), short[i]
		if l, ok := r.Labels[p.Axes[k]]; ok {
			value = l
		}
		if l, ok := r.Labels[k]; ok {
			key = l
		}
		if _, number := ParseNumber(p.Axes[k]); !number && experiment.OverInputs([]string{k}) {
			parts = append(parts, value) // the name of a graph or an algorithm needs no key
			continue
		}
		parts = append(parts, key+"="+value)
	}
	return strings.Join(parts, " ")
}

// axesOf are the keys of the axes that some point has, but for the seed.
func axesOf(points []*Point) []string {
	all := map[string]bool{}
	for _, p := range points {
		for key := range p.Axes {
			all[key] = true
		}
	}
	delete(all, experiment.SeedKey)
	return sortedKeys(all)
}

// distinct numbers names that occur twice.
func distinct(names []string) {
	seen := map[string]int{}
	for i, n := range names {
		if seen[n]++; seen[n] > 1 {
			names[i] = fmt.Sprintf("%s (%d)", n, seen[n])
		}
	}
}

// varying are the keys of the axes with more than one value, or that some points lack.
func (r *Result) varying() []string {
	var keys []string
	for _, key := range slices.Concat(r.Compare, r.sweepKeys()) {
		if len(values(key, r.Points)) > 1 || slices.ContainsFunc(r.Points, func(p *Point) bool { return !p.has(key) }) {
			keys = append(keys, key)
		}
	}
	return keys
}

// has reports whether an axis applies to the point.
func (p *Point) has(key string) bool {
	_, ok := p.Axes[key]
	return ok
}

func (r *Result) sweepKeys() (keys []string) {
	for _, a := range r.Sweep {
		keys = append(keys, a.Key)
	}
	return keys
}

func withAxes(keys, of []string) (out []string) {
	for _, k := range keys {
		if slices.Contains(of, k) {
			out = append(out, k)
		}
	}
	return out
}

// axisKeys reads the keys by which results name variants, and those of the sweeps: of all points, then of the variants'
// own. Each is in its order.
func axisKeys(resolved string) (compare, sweep []string) {
	var y struct {
		Compare yaml.Node `yaml:"compare"`
		Sweep   yaml.Node `yaml:"sweep"`
	}
	if yaml.Unmarshal([]byte(resolved), &y) != nil {
		return nil, nil
	}
	sweep = mappingKeys(&y.Sweep)
	if y.Compare.Kind != yaml.SequenceNode {
		return mappingKeys(&y.Compare), sweep
	}
	for _, v := range y.Compare.Content {
		var own struct {
			Sweep yaml.Node `yaml:"sweep"`
		}
		if v.Decode(&own) == nil {
			sweep = union(sweep, mappingKeys(&own.Sweep))
		}
	}
	return []string{schema.VariantKey}, sweep
}

func mappingKeys(n *yaml.Node) (keys []string) {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i < len(n.Content); i += 2 {
		group := strings.Split(n.Content[i].Value, ",")
		for k := range group {
			group[k] = config.Schema.Path(strings.TrimSpace(group[k]))
		}
		keys = append(keys, strings.Join(group, ", "))
	}
	return keys
}

// variantNamer names variants by the first key that distinguishes them, or by all that differ.
func variantNamer(compare []string, points []*Point) func(*Point) string {
	variants := map[string]bool{}
	for _, p := range points {
		variants[tuple(p, compare)] = true
	}
	var differ []string
	for _, key := range compare {
		n := len(values(key, points))
		if n == len(variants) && n > 1 {
			return func(p *Point) string { return clip(p.Axes[key]) }
		}
		if n > 1 {
			differ = append(differ, key)
		}
	}
	return func(p *Point) string { return settings(p, differ) }
}

// settings writes a point's values of some keys.
func settings(p *Point, keys []string) string {
	var parts []string
	for _, k := range keys {
		if p.has(k) {
			parts = append(parts, clip(experiment.Short(k)+"="+p.Axes[k]))
		}
	}
	return strings.Join(parts, " ")
}

// clip shortens a value that is a whole section.
func clip(s string) string {
	const most = 48
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

func tuple(p *Point, keys []string) string {
	var b strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&b, "%q ", p.Axes[k])
	}
	return b.String()
}

func newAxis(key string, points []*Point) Axis {
	a := Axis{Key: key, Values: values(key, points)}
	for _, v := range a.Values {
		n, ok := ParseNumber(v)
		if !ok {
			a.Numbers = nil
			return a
		}
		a.Numbers = append(a.Numbers, n)
	}
	return a
}

// values lists a key's values in the order in which they come.
func values(key string, points []*Point) (out []string) {
	seen := map[string]bool{}
	for _, p := range points {
		if v, ok := p.Axes[key]; ok && !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}

// Flatten returns a configuration's leaves by path.
func Flatten(config string) map[string]string {
	var n yaml.Node
	out := map[string]string{}
	if yaml.Unmarshal([]byte(config), &n) == nil && n.Kind == yaml.DocumentNode {
		flattenNode("", n.Content[0], out)
	}
	return out
}

func flattenNode(path string, n *yaml.Node, into map[string]string) {
	path = config.Schema.Path(path)
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		if n.Tag != "!!null" {
			into[path] = leafText(n)
		}
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i].Value
		if path != "" {
			key = path + "." + key
		}
		flattenNode(key, n.Content[i+1], into)
	}
}

// leafText writes a value; no configuration has aliases or mappings in lists.
func leafText(n *yaml.Node) string {
	switch n.Kind {
	case yaml.ScalarNode:
		return n.Value
	case yaml.SequenceNode:
		var parts []string
		for _, c := range n.Content {
			parts = append(parts, c.Value)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return "{}"
}
