package schema

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// YAML writes all keys of v in declared order, absent sections as null. Loading
// it gives an equal value, whatever presets and defaults have become since.
func (s *Schema[T]) YAML(v T) []byte {
	w := writer{note: func(*Field) string { return "" }}
	w.Grow(usualBytes)
	w.section(s.tree().root, reflect.ValueOf(&v).Elem(), "")
	return w.Bytes()
}

// usualBytes is more than the configuration of a point takes, most of the time.
const usualBytes = 8 << 10

// AnnotatedYAML is the same with a comment at each key: where it came from.
func (l *Loaded[T]) AnnotatedYAML() []byte {
	w := writer{explains: true, note: func(f *Field) string {
		// A comment ends with its line, a file's name need not.
		return " # " + strings.Map(printable, l.origins[f].String())
	}}
	w.section(l.schema.tree().root, reflect.ValueOf(&l.Value).Elem(), "")
	return w.Bytes()
}

func printable(r rune) rune {
	if !strconv.IsPrint(r) {
		return '?'
	}
	return r
}

type writer struct {
	bytes.Buffer
	note      func(*Field) string // comment at a leaf
	explains  bool                // a derived value too
	canonical bool                // as Canonical writes
	around    []around            // the sections around it
}

// Deriver is a section with values that stand for others: StandsFor returns the value that a key below it, possibly in
// a nested section, stands for; empty: none.
type Deriver interface{ StandsFor(key string) string }

// derived returns the value that a leaf stands for, as a part of its comment.
func (w *writer) derived(c *Field) string {
	if !w.explains {
		return ""
	}
	for i := len(w.around) - 1; i >= 0; i-- {
		if d, ok := w.around[i].value.Interface().(Deriver); ok {
			if text := d.StandsFor(strings.TrimPrefix(c.Path, w.around[i].path+".")); text != "" {
				return "; " + text
			}
		}
	}
	return ""
}

// around is a section that is being written.
type around struct {
	path  string
	value reflect.Value
}

func (w *writer) section(f *Field, v reflect.Value, indent string) {
	if !f.group {
		w.around = append(w.around, around{f.Path, v})
		defer func() { w.around = w.around[:len(w.around)-1] }()
	}
	for _, c := range w.fields(f) {
		sub, present := c.sectionIn(v)
		switch {
		case c.axes:
			w.axes(c, sub.Interface().(Axes), indent)
		case c.variants:
			w.variants(c, sub.Interface().(Variants), indent)
		case !c.isSection():
			for _, part := range [...]string{indent, w.key(c), ": ", w.leaf(c, sub), w.note(c), w.derived(c), "\n"} {
				w.WriteString(part)
			}
		case !present:
			fmt.Fprintf(w, "%s%s: null\n", indent, w.key(c))
		case len(c.Fields) == 0:
			fmt.Fprintf(w, "%s%s: {}\n", indent, w.key(c))
		default:
			fmt.Fprintf(w, "%s%s:\n", indent, w.key(c))
			w.section(c, sub, indent+"  ")
		}
	}
}

// leaf returns the text of a key's value, in the canonical form under its former name.
func (w *writer) leaf(f *Field, v reflect.Value) string {
	if s, ok := f.scalar.(*enum); ok && w.canonical && s.former != nil && !f.list {
		return s.former(s.text(v))
	}
	return f.yaml(v)
}

func (w *writer) axes(f *Field, axes Axes, indent string) {
	if len(axes) == 0 {
		fmt.Fprintf(w, "%s%s: {}%s\n", indent, f.Key, w.note(f))
		return
	}
	fmt.Fprintf(w, "%s%s:%s\n", indent, f.Key, w.note(f))
	for _, g := range axes.groups() {
		fmt.Fprintf(w, "%s  %s\n", indent, f.groupYAML(g))
	}
}

// groupYAML writes an axis, or those that go together, with a list of values for each place.
func (f *Field) groupYAML(g Axes) string {
	columns := make([][]string, len(g))
	for i, a := range g {
		columns[i] = f.axisItems(a)
	}
	if len(g) == 1 {
		return g[0].Key + ": [" + strings.Join(columns[0], ", ") + "]"
	}
	var rows []string
	for i := range columns[0] {
		var row []string
		for _, c := range columns {
			row = append(row, c[i])
		}
		rows = append(rows, "["+strings.Join(row, ", ")+"]")
	}
	return strconv.Quote(g.names()) + ": [" + strings.Join(rows, ", ") + "]"
}

// axisItems are an axis's values as YAML.
func (f *Field) axisItems(a Axis) []string {
	items := slices.Clone(a.Values)
	for i := range items {
		items[i] = f.valueYAML(a.Key, items[i])
	}
	return items
}

// valueYAML is a value, as Loaded.With takes it for a key of f's tree, as YAML.
func (f *Field) valueYAML(path, value string) string {
	if path == VariantKey {
		return quote(value)
	}
	key := f.top()
	for _, k := range strings.Split(path, ".") {
		if key = key.child(k); key == nil {
			panic("BUG: schema: " + path + " is no key")
		}
	}
	key = key.meant()
	switch {
	case key.isSection() && (value == noSection || value == emptySection):
		return value
	case key.isSection() || !key.list && key.scalar.quotable():
		return quote(value)
	}
	return value
}

// top is the root of f's tree.
func (f *Field) top() *Field {
	for f.parent != nil {
		f = f.parent
	}
	return f
}

// axesYAML writes axes in a line.
func (f *Field) axesYAML(axes Axes) string {
	var items []string
	for _, g := range axes.groups() {
		items = append(items, f.groupYAML(g))
	}
	return "{" + strings.Join(items, ", ") + "}"
}

// yaml writes a leaf's value.
func (f *Field) yaml(v reflect.Value) string {
	if f.axes {
		return f.axesYAML(v.Interface().(Axes))
	}
	if f.variants {
		return f.variantsYAML(v.Interface().(Variants))
	}
	if f.exclusions {
		var items []string
		for _, e := range v.Interface().(Exclusions) {
			items = append(items, f.axesYAML(e))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	if !f.list {
		return f.yamlScalar(v)
	}
	items := make([]string, v.Len())
	for i := range items {
		items[i] = f.yamlScalar(v.Index(i))
	}
	return "[" + strings.Join(items, ", ") + "]"
}

func (f *Field) yamlScalar(v reflect.Value) string {
	if f.scalar.quotable() {
		return quote(f.scalar.text(v))
	}
	return f.scalar.text(v)
}

// yamlWords need quotes in YAML, in any case of their letters, although they are plain.
var yamlWords = []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null"}

// unquoted reports whether a string needs no quotes in YAML, unless it is among the words: a letter, then letters,
// digits and _./-. Configurations are written for every point of a sweep, so this is no regular expression.
func unquoted(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case i > 0 && ('0' <= c && c <= '9' || c == '_' || c == '.' || c == '/' || c == '-'):
		default:
			return false
		}
	}
	return s != ""
}

// quote writes a string; Go's escapes are a subset of YAML's.
func quote(s string) string {
	if unquoted(s) {
		return quoteWord(s)
	}
	return strconv.Quote(s)
}

// quoteWord writes a string that needs no quotes, unless it is one of the words.
func quoteWord(s string) string {
	if slices.Contains(yamlWords, strings.ToLower(s)) {
		return strconv.Quote(s)
	}
	return s
}

// Difference is a key that two configurations have not in common, with its
// values as YAML. An absent section, and all below it, is Absent.
type Difference struct{ Key, A, B string }

// Absent and Present are Diff's values of a section that one side lacks.
const (
	Absent  = "absent"
	Present = "present"
)

// Diff lists the keys at which a and b differ, in declared order.
func (s *Schema[T]) Diff(a, b T) []Difference {
	left, right := map[*Field]string{}, map[*Field]string{}
	s.tree().root.flatten(reflect.ValueOf(&a).Elem(), left)
	s.tree().root.flatten(reflect.ValueOf(&b).Elem(), right)
	var diff []Difference
	for _, f := range s.tree().fields {
		x, inA := left[f]
		y, inB := right[f]
		if x == y && inA == inB {
			continue
		}
		diff = append(diff, Difference{f.Path, orAbsent(x, inA), orAbsent(y, inB)})
	}
	return diff
}

// Value is a key with its value as YAML. A section that is there has Present, an absent one and all below it are none.
type Value struct{ Key, Text string }

// Values lists the keys of v and their values, in declared order, a section before its keys.
func (s *Schema[T]) Values(v T) (list []Value) {
	text := map[*Field]string{}
	s.tree().root.flatten(reflect.ValueOf(&v).Elem(), text)
	for _, f := range s.tree().fields[1:] {
		if t, ok := text[f]; ok {
			list = append(list, Value{f.Path, t})
		}
	}
	return list
}

func orAbsent(text string, ok bool) string {
	if !ok {
		return Absent
	}
	return text
}

// flatten notes the text of each leaf, and that sections are present.
func (f *Field) flatten(v reflect.Value, into map[*Field]string) {
	if !f.group {
		into[f] = Present
	}
	for _, c := range f.Fields {
		sub, present := c.sectionIn(v)
		switch {
		case present:
			c.flatten(sub, into)
		case !c.isSection():
			into[c] = c.yaml(sub)
		}
	}
}
