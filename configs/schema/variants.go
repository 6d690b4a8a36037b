package schema

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"heddle/internal/suggest"
)

// Variants are the configurations that are compared. They are lists that go together, entry by entry, or a list of
// variants, each with a name, the keys that it sets over the rest, and axes of its own.
//
//	compare:
//	  - {name: vertex, schedule: vertex}
//	  - name: peg
//	    schedule: peg
//	    machine: {core: {weaver: null, graphpeg: {}}}
//	    sweep: {machine.core.graphpeg.alwt_entries: [4, 8, 16]}
type Variants []Variant

// Variant is one of the compared configurations.
type Variant struct {
	Name  string    // "": of lists that go together, where its settings identify it
	Set   []Setting // over everything else
	Sweep Axes      // of its points alone
}

// Setting is the value of a key, as Loaded.With takes it.
type Setting struct{ Key, Value string }

// VariantKey names a variant among axes, where Variants have names.
const VariantKey = "variant"

// Values that With takes for a section that is absent, and for one of defaults.
const (
	noSection    = "null"
	emptySection = "{}"
)

// Named reports whether variants have names.
func (v Variants) Named() bool { return len(v) > 0 && v[0].Name != "" }

// Keys are those that variants set, in the order in which they come.
func (v Variants) Keys() (keys []string) {
	for _, x := range v {
		for _, s := range x.Set {
			if !slices.Contains(keys, s.Key) {
				keys = append(keys, s.Key)
			}
		}
	}
	return keys
}

// Values are those of a key, in the order in which they come; VariantKey's are the names.
func (v Variants) Values(key string) (values []string) {
	for _, x := range v {
		value, ok := x.value(key)
		if ok && !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	return values
}

func (v *Variant) value(key string) (string, bool) {
	if key == VariantKey {
		return v.Name, v.Name != ""
	}
	for _, s := range v.Set {
		if s.Key == key {
			return s.Value, true
		}
	}
	return "", false
}

// Identity returns the settings that distinguish a variant from the others: its name, or all that it sets.
func (v *Variant) Identity() []Setting {
	if v.Name != "" {
		return []Setting{{VariantKey, v.Name}}
	}
	return v.Set
}

func (c *checker) variants(s source, f *Field, n *yaml.Node, from Origin) {
	var out Variants
	switch n.Kind {
	case yaml.MappingNode:
		axes, _ := c.axesIn(s, f, n)
		out = unzipped(axes)
	case yaml.SequenceNode:
		out = c.variantList(s, f, n)
	default:
		c.wrong(s, f.Path, n, f.expected(), nil)
		return
	}
	c.emit(opSet, f, reflect.ValueOf(out), from)
}

// unzipped makes variants of lists that go together. Lists of different lengths have been refused.
func unzipped(axes Axes) Variants {
	out := Variants{}
	for i, a := range axes {
		for k, value := range a.Values {
			if i == 0 {
				out = append(out, Variant{})
			}
			if k < len(out) {
				out[k].Set = append(out[k].Set, Setting{a.Key, value})
			}
		}
	}
	return out
}

// Axes are variants without names as lists that go together, entry by entry.
func (v Variants) Axes() (axes Axes) {
	for _, key := range v.Keys() {
		a := Axis{Key: key}
		for _, x := range v {
			value, _ := x.value(key)
			a.Values = append(a.Values, value)
		}
		axes = append(axes, a)
	}
	return axes
}

func (c *checker) variantList(s source, f *Field, n *yaml.Node) Variants {
	out, seen := Variants{}, map[string]bool{}
	for i, e := range n.Content {
		name := element(f.Path, i)
		if e.Kind != yaml.MappingNode {
			c.bad.add(s.at(e), name, "expected a variant: name, the keys that it sets, and sweep, if it has axes of its own; "+
				"found %s", describe(e))
			continue
		}
		v := c.variant(s, f, name, e)
		switch {
		case v.Name == "":
			c.bad.add(s.at(e), join(name, "name"), "missing; expected the variant's name in tables and figures")
		case seen[v.Name]:
			c.bad.add(s.at(e), join(name, "name"), "%s stands twice", clip(v.Name))
		}
		seen[v.Name] = true
		out = append(out, v)
	}
	return out
}

func (c *checker) variant(s source, f *Field, name string, n *yaml.Node) (v Variant) {
	at := &Field{Path: name}
	seen, set := map[string]int{}, map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		k, e := n.Content[i], n.Content[i+1]
		if !c.fresh(s, at, k, seen) {
			continue
		}
		switch k.Value {
		case "name":
			v.Name = c.variantName(s, join(name, "name"), e)
			continue
		case "sweep":
			v.Sweep, _ = c.axesIn(s, &Field{Path: join(name, "sweep")}, e)
			continue
		}
		key := c.variantKey(s, f, name, k)
		if key == nil {
			continue
		}
		for _, x := range c.settings(s, key, e, s.at(k)) {
			if set[x.Key] {
				c.bad.add(s.at(k), name, "%s stands twice", x.Key)
			}
			set[x.Key] = true
			v.Set = append(v.Set, x)
		}
	}
	return v
}

// variantName reads the name of a variant, which results, figures and files show.
func (c *checker) variantName(s source, name string, n *yaml.Node) string {
	const most = 48
	text := ""
	if n.Kind == yaml.ScalarNode && !isNull(n) {
		text = strings.TrimSpace(n.Value)
	}
	if text == "" || len([]rune(text)) > most || strings.Map(printable, text) != text {
		c.bad.add(s.at(n), name, "expected a name of at most %d characters, in one line; found %s", most, describe(n))
		return "?"
	}
	return text
}

// variantNames reads one or several, to leave out.
func (c *checker) variantNames(s source, name string, n *yaml.Node) (names []string) {
	list := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		list = n.Content
	}
	for _, e := range list {
		names = append(names, c.variantName(s, name, e))
	}
	return names
}

// variantKey finds a key that a variant sets: a section or leaf by its path, or one of f.within by its own name.
func (c *checker) variantKey(s source, f *Field, name string, k *yaml.Node) *Field {
	first, _, _ := strings.Cut(k.Value, ".")
	within, ok := c.tree.byPath[f.within]
	if ok && c.tree.root.child(first) == nil {
		if key, ok := c.tree.lookup(join(f.within, k.Value)); ok {
			return key
		}
		known := []string{"name", "sweep"}
		for _, list := range [][]*Field{c.tree.root.Fields, within.Fields} {
			for _, x := range list {
				known = append(known, x.Key)
			}
		}
		known = slices.AppendSeq(known, maps.Keys(within.former))
		c.bad.add(s.at(k), join(name, clip(k.Value)), "unknown key%s", suggest.DidYouMean(k.Value, known))
		return nil
	}
	key := c.find(k.Value, s.at(k))
	if key != nil && key.special() {
		c.bad.add(s.at(k), join(name, clip(k.Value)), "stands outside variants")
		return nil
	}
	return key
}

// settings checks the value of a key as if it were outside variants, and returns it leaf by leaf.
func (c *checker) settings(s source, f *Field, n *yaml.Node, from Origin) []Setting {
	if f.isMain() && n.Kind == yaml.MappingNode {
		f = f.parent
	}
	before, files, out := c.bad.count(), len(c.files), len(c.out)
	c.field(s, f, n, from)
	c.out, c.files = c.out[:out], c.files[:files]
	if c.bad.count() > before {
		return nil
	}
	return c.flatten(s, f, n)
}

// flatten returns the settings of a node that has been checked. Sections precede their contents.
func (c *checker) flatten(s source, f *Field, n *yaml.Node) (out []Setting) {
	switch {
	case f.main != nil && n.Kind != yaml.MappingNode:
		return c.flatten(s, f.main, n)
	case !f.isSection():
		if text, ok := c.axisValue(s, f, f.Path, n); ok {
			out = append(out, Setting{f.Path, text})
		}
	case f.group && len(n.Content) == 0: // nothing is said of it
	case n.Kind == yaml.MappingNode && len(n.Content) == 0:
		out = append(out, Setting{f.Path, emptySection})
	case n.Kind == yaml.MappingNode:
		for i := 0; i < len(n.Content); i += 2 {
			if k, e := n.Content[i], n.Content[i+1]; k.Value == extendsKey {
				out = append([]Setting{{f.Path, fromHere(s, e.Value)}}, out...)
			} else {
				out = append(out, c.flatten(s, f.child(k.Value), e)...)
			}
		}
	case isNull(n):
		out = append(out, Setting{f.Path, noSection})
	default:
		out = append(out, Setting{f.Path, fromHere(s, n.Value)})
	}
	return out
}

func (w *writer) variants(f *Field, v Variants, indent string) {
	if !v.Named() {
		w.axes(f, v.Axes(), indent)
		return
	}
	fmt.Fprintf(w, "%s%s:%s\n", indent, f.Key, w.note(f))
	for i := range v {
		fmt.Fprintf(w, "%s  - %s\n", indent, f.variantYAML(&v[i]))
	}
}

// variantsYAML writes variants in a line.
func (f *Field) variantsYAML(v Variants) string {
	if !v.Named() {
		return f.axesYAML(v.Axes())
	}
	var items []string
	for i := range v {
		items = append(items, f.variantYAML(&v[i]))
	}
	return "[" + strings.Join(items, ", ") + "]"
}

func (f *Field) variantYAML(v *Variant) string {
	items := []string{"name: " + quote(v.Name)}
	for _, s := range v.Set {
		items = append(items, s.Key+": "+f.valueYAML(s.Key, s.Value))
	}
	if len(v.Sweep) > 0 {
		items = append(items, "sweep: "+f.axesYAML(v.Sweep))
	}
	return "{" + strings.Join(items, ", ") + "}"
}

// Holds reports whether the sections around a key are present at a point of a sweep, as With returns it, before rules
// across keys are checked. Refused settings yield false.
func (l *Loaded[T]) Holds(path string, args ...string) bool {
	y, ok := l.layered(args)
	f, known := l.schema.Lookup(path)
	if !ok || !known {
		return false
	}
	for p := f.parent; p != nil; p = p.parent {
		if p.Optional && y.section(p) == nil {
			return false
		}
	}
	return true
}

// Given reports whether --set, as the configuration was loaded with, has a key.
func (l *Loaded[T]) Given(key string) bool {
	return slices.ContainsFunc(l.stack.set, func(a assignment) bool { return a.from.Name == clip(key) })
}

// Conditional reports whether a key is in a section that may be absent.
func (s *Schema[T]) Conditional(path string) bool {
	f, ok := s.Lookup(path)
	for ; ok && f != nil; f = f.parent {
		if f.Optional && f.Path != path {
			return true
		}
	}
	return false
}

// IsSection reports whether a path is a section's.
func (s *Schema[T]) IsSection(path string) bool {
	f, ok := s.Lookup(path)
	return ok && f.isSection()
}
