package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"heddle/internal/suggest"
)

// op is the operation of a layer on a field.
type op int

const (
	opSet     op = iota // a leaf has this value
	opPresent           // a section is written here
	opTouch             // a key below the section is set, from outside a file
	opClear             // discard the section's values from lower layers
)

// assignment is one statement of a layer, checked against the schema.
type assignment struct {
	op    op
	field *Field
	value reflect.Value // of opSet
	from  Origin
}

// noValue goes with every op but opSet.
var noValue reflect.Value

// source is the text that a node was parsed from.
type source struct {
	fixed *Origin // environment and flags: every node has this origin
	file  string
	top   *Field // the section that the file as a whole is
	// presetOf is the kind of a preset; files embedded in the program have no
	// folder from which a path could start.
	presetOf string
}

func (s source) at(n *yaml.Node) Origin { return s.place(n.Line, n.Column) }

func (s source) place(line, col int) Origin {
	if s.fixed != nil {
		return *s.fixed
	}
	return Origin{Layer: File, File: s.file, Line: line, Col: col}
}

// checker turns the nodes of one layer into assignments.
type checker struct {
	tree    *tree
	presets Presets
	bad     *problems
	out     []assignment
	files   []string // read so far
	chain   []string // extends that lead to the present file
}

func (c *checker) emit(o op, f *Field, v reflect.Value, from Origin) {
	c.out = append(c.out, assignment{o, f, v, from})
}

// wrong reports a node of an unexpected kind.
func (c *checker) wrong(s source, path string, n *yaml.Node, expected string, names []string) {
	if c.bad.full() {
		c.bad.More++
		return
	}
	hint := ""
	if n.Kind == yaml.ScalarNode {
		hint = suggest.DidYouMean(n.Value, names)
	}
	c.bad.add(s.at(n), path, "expected %s; found %s%s", expected, describe(n), hint)
}

// describe returns the user's text as quoted in a message.
func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a section"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case isNull(n) && n.Value == "":
		return "nothing"
	case isNull(n):
		return "null"
	case isPlain(n):
		return clip(n.Value)
	}
	return strconv.Quote(clip(n.Value))
}

// clip keeps messages readable whatever was written.
func clip(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null"
}

// isPlain reports whether a scalar is unquoted: 4, not "4".
func isPlain(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Style == 0 }

func isString(n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode {
		return false
	}
	switch n.Tag {
	case "!!int", "!!float", "!!bool", "!!null":
		return false
	}
	return true
}

// field checks the node n as the value of f; from is the position of its key.
func (c *checker) field(s source, f *Field, n *yaml.Node, from Origin) {
	switch {
	case f.isSection():
		c.section(s, f, n, from)
	case f.axes:
		c.axes(s, f, n, from)
	case f.variants:
		c.variants(s, f, n, from)
	case f.exclusions:
		c.exclusions(s, f, n, from)
	default:
		c.leaf(s, f, n)
	}
}

func (c *checker) section(s source, f *Field, n *yaml.Node, from Origin) {
	switch {
	case f.group:
		c.group(s, f, n, from, map[*Field]int{})
	case n.Kind == yaml.MappingNode:
		c.mapping(s, f, n, from)
	case f.Optional && isNull(n) && n.Value != "":
		c.emit(opClear, f, noValue, from)
	case f.Presets != "" && isString(n):
		c.extend(s, f, n)
		c.emit(opPresent, f, noValue, from)
	case isNull(n) && n.Value == "":
		c.bad.add(from, f.Path, "expected %s; found nothing: write {} for a section of defaults", f.expected())
	default:
		c.wrong(s, f.Path, n, f.expected(), nil)
	}
}

// mapping checks a section's keys. Its presets come first wherever the key
// extends stands, because order in a section means nothing.
func (c *checker) mapping(s source, f *Field, n *yaml.Node, from Origin) {
	seen := map[string]int{} // key → line
	for i := 0; i < len(n.Content); i += 2 {
		if k := n.Content[i]; k.Value == extendsKey && seen[extendsKey] == 0 {
			seen[extendsKey] = k.Line
			c.extendsKey(s, f, k, n.Content[i+1])
		}
	}
	c.emit(opPresent, f, noValue, from)
	extended, lines := seen[extendsKey] != 0, map[*Field]int{}
	for i := 0; i < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Value == extendsKey && extended {
			extended = false // any other is a duplicate
			continue
		}
		c.entry(s, f, k, v, seen, lines)
	}
}

// entry checks a key of a section or group with its value. lines are those of the keys that the section has had, by
// whichever name.
func (c *checker) entry(s source, f *Field, k, v *yaml.Node, seen map[string]int, lines map[*Field]int) {
	switch key := c.key(s, f, k, seen, lines); {
	case key == nil:
	case key.group:
		c.group(s, key, v, s.at(k), lines)
	default:
		c.field(s, key, v, s.at(k))
	}
}

// key finds the field of a key; nil when the key is refused.
func (c *checker) key(s source, f *Field, k *yaml.Node, seen map[string]int, lines map[*Field]int) *Field {
	if !c.fresh(s, f, k, seen) {
		return nil
	}
	found := f.child(k.Value)
	if found == nil && c.bad.full() {
		c.bad.More++ // without the work of a hint
	} else if found == nil {
		c.bad.add(s.at(k), join(f.Path, clip(k.Value)), "unknown key%s", c.tree.hintKey(f, k.Value, seen))
	} else if !found.group && !c.once(s, found, k, join(f.Path, clip(k.Value)), lines) {
		return nil
	}
	return found
}

// once refuses a key that the section already has by another name. called is the present name.
func (c *checker) once(s source, f *Field, k *yaml.Node, called string, lines map[*Field]int) bool {
	switch line := lines[f]; {
	case line != 0 && called == f.Path:
		c.bad.add(s.at(k), called, "duplicate key; first on line %d, by another name", line)
		return false
	case line != 0:
		c.bad.add(s.at(k), called, "is another name of %s, which is on line %d", f.Path, line)
		return false
	}
	lines[f] = k.Line
	return true
}

// fresh refuses keys that are no names, or that stand twice.
func (c *checker) fresh(s source, f *Field, k *yaml.Node, seen map[string]int) bool {
	if k.Kind != yaml.ScalarNode || k.Value == "" {
		c.bad.add(s.at(k), f.Path, "expected a key; found %s", describe(k))
		return false
	}
	if line := seen[k.Value]; line != 0 {
		c.bad.add(s.at(k), join(f.Path, clip(k.Value)), "duplicate key; first on line %d", line)
		return false
	}
	seen[k.Value] = k.Line
	return true
}

func (c *checker) leaf(s source, f *Field, n *yaml.Node) {
	if v, ok := c.value(s, f, f.Path, n); ok {
		c.emit(opSet, f, v, s.at(n))
	}
}

// value reads a leaf's value; path is how messages call it.
func (c *checker) value(s source, f *Field, path string, n *yaml.Node) (reflect.Value, bool) {
	if f.list {
		return c.list(s, f, path, n)
	}
	return c.scalar(s, f, path, n)
}

func (c *checker) list(s source, f *Field, path string, n *yaml.Node) (reflect.Value, bool) {
	list, good := f.emptyList(), true
	if n.Kind != yaml.SequenceNode {
		c.wrong(s, path, n, f.expected(), nil)
		return list, false
	}
	for i, e := range n.Content {
		v, ok := c.scalar(s, f, element(path, i), e)
		if good = good && ok; good {
			list = reflect.Append(list, v)
		}
	}
	return list, good
}

func element(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// scalar is strict about quotes: "4" is no number and 4 is no name, so that a file means the same to every other YAML
// reader. A name of an enumeration that looks like a number is that name with and without quotes.
func (c *checker) scalar(s source, f *Field, path string, n *yaml.Node) (reflect.Value, bool) {
	if f.isMapping() {
		if n.Kind == yaml.MappingNode {
			return reflect.ValueOf(Mapping(flow(n))), true
		}
		c.wrong(s, path, n, f.scalar.expected(), nil)
		return noValue, false
	}
	fits := isPlain(n)
	if f.scalar.quotable() {
		fits = isString(n)
	}
	if e, ok := f.scalar.(*enum); ok && isPlain(n) {
		fits = fits || slices.Contains(e.names, n.Value)
	}
	if fits {
		if v, ok := f.scalar.parse(n.Value); ok {
			return v, true
		}
	}
	expected := f.scalar.expected()
	if _, text := f.scalar.(*freeText); text && fits && utf8.ValidString(n.Value) {
		expected += " on one line, without control characters"
	}
	c.wrong(s, path, n, expected, f.scalar.values())
	return noValue, false
}
