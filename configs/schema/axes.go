package schema

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Axes are a section of sweeps, in the order of the file: each key is the path
// of another key of the schema, each value a list of values of that key, or a
// range of numbers. Several keys may go together: then each value is a list
// with one for each. Every value is checked as if it stood at the key itself.
//
//	sweep:
//	  machine.core.warps: [8, 16, 32]
//	  machine.core.weaver.st_entries: {from: 128, to: 1024, times: 2}
//	  machine: [vortex-1c4w4t, vortex-6c32w32t]
//	  machine.l1d.bytes, machine.l1d.ways: [[16KiB, 4], [32KiB, 8]]
type Axes []Axis

// Axis is one key and its values, each as Loaded.With takes it.
type Axis struct {
	Key    string
	Values []string
	With   bool // goes with the axis before it: the values in the same places belong together
}

// Values are those of a key, in all axes that are of it.
func (a Axes) Values(key string) (values []string) {
	for _, x := range a {
		if x.Key == key {
			values = append(values, x.Values...)
		}
	}
	return values
}

// Exclusions are points to leave out: those that have, in all keys of one of
// them, one of its values.
//
//	exclude:
//	  - {machine.core.warps: 32, machine.core.threads: [16, 32]}
type Exclusions []Axes

func (c *checker) axes(s source, f *Field, n *yaml.Node, from Origin) {
	if axes, ok := c.axesIn(s, f, n); ok {
		c.emit(opSet, f, reflect.ValueOf(axes), from)
	}
}

// axesIn reads a mapping of axes; f names it in messages, and determines whether they are zipped.
func (c *checker) axesIn(s source, f *Field, n *yaml.Node) (axes Axes, ok bool) {
	if n.Kind != yaml.MappingNode {
		c.wrong(s, f.Path, n, expectedAxes, nil)
		return nil, false
	}
	axes = Axes{}
	seen := map[string]int{}
	for i := 0; i < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if !c.fresh(s, f, k, seen) {
			continue
		}
		if keys := c.axisKeys(s, f, k, axes); len(keys) > 1 {
			axes = append(axes, c.rows(s, f, keys, v)...)
		} else if len(keys) == 1 {
			axes = append(axes, Axis{Key: keys[0].Path,
				Values: c.axisValues(s, join(f.Path, keys[0].Path), keys[0], v, f.zipped)})
			c.together(s, f, axes, v)
		}
	}
	return axes, true
}

const expectedAxes = "keys, each with a list of values"

// axisKeys finds the keys of an axis: one, or those that go together; none when one is refused.
func (c *checker) axisKeys(s source, f *Field, k *yaml.Node, before Axes) (keys []*Field) {
	paths := []string{k.Value}
	if !f.zipped && strings.Contains(k.Value, ",") {
		paths = splitList(k.Value)
	}
	for _, path := range paths {
		key := c.axisKey(s, f, k, path)
		if key == nil {
			return nil
		}
		if before.has(key.Path) || slices.Contains(keys, key) {
			c.bad.add(s.at(k), join(f.Path, key.Path), "stands twice among the axes")
			return nil
		}
		keys = append(keys, key)
	}
	return keys
}

func (a Axes) has(key string) bool {
	return slices.ContainsFunc(a, func(x Axis) bool { return x.Key == key })
}

// rows reads axes that go together: a list of lists, each with a value for each.
func (c *checker) rows(s source, f *Field, keys []*Field, n *yaml.Node) Axes {
	axes, paths := make(Axes, len(keys)), make([]string, len(keys))
	for i, key := range keys {
		axes[i] = Axis{Key: key.Path, With: i > 0}
		paths[i] = key.Path
	}
	name := join(f.Path, strings.Join(paths, ", "))
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		c.bad.add(s.at(n), name, "expected a list of lists, each with %d values; found %s", len(keys), describeList(n))
		return nil
	}
	seen := map[string]bool{}
	for i, e := range n.Content {
		row, ok := c.row(s, keys, element(name, i), e)
		if text := strings.Join(row, "\x00"); ok && seen[text] {
			c.bad.add(s.at(e), element(name, i), "[%s] stands twice", clip(strings.Join(row, ", ")))
		} else if ok {
			seen[text] = true
			for k := range axes {
				axes[k].Values = append(axes[k].Values, row[k])
			}
		}
	}
	return axes
}

func (c *checker) row(s source, keys []*Field, name string, n *yaml.Node) (row []string, ok bool) {
	if n.Kind != yaml.SequenceNode || len(n.Content) != len(keys) {
		c.bad.add(s.at(n), name, "expected a list of %d values, one for each key; found %s", len(keys), describeRow(n))
		return nil, false
	}
	ok = true
	for i, e := range n.Content {
		text, good := c.axisValue(s, keys[i], element(name, i), e)
		row, ok = append(row, text), ok && good
	}
	return row, ok
}

func describeRow(n *yaml.Node) string {
	if n.Kind == yaml.SequenceNode {
		return fmt.Sprintf("a list of %d", len(n.Content))
	}
	return describe(n)
}

// exclusions reads points to leave out.
func (c *checker) exclusions(s source, f *Field, n *yaml.Node, from Origin) {
	if n.Kind != yaml.SequenceNode {
		c.wrong(s, f.Path, n, f.expected(), nil)
		return
	}
	out := Exclusions{}
	for i, e := range n.Content {
		name := element(f.Path, i)
		if e.Kind != yaml.MappingNode || len(e.Content) == 0 {
			c.bad.add(s.at(e), name, "expected axes, each with the value, or a list of values, to leave out; found %s",
				describe(e))
			continue
		}
		out = append(out, c.exclusion(s, f, name, e))
	}
	c.emit(opSet, f, reflect.ValueOf(out), from)
}

func (c *checker) exclusion(s source, f *Field, name string, n *yaml.Node) (axes Axes) {
	seen := map[string]int{}
	for i := 0; i < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if !c.fresh(s, f, k, seen) {
			continue
		}
		if k.Value == VariantKey {
			axes = append(axes, Axis{Key: VariantKey, Values: c.variantNames(s, join(name, VariantKey), v)})
			continue
		}
		key := c.axisKey(s, f, k, k.Value)
		if key == nil {
			continue
		}
		if one := v.Kind == yaml.ScalarNode || key.isMapping() && v.Kind == yaml.MappingNode ||
			key.list && !isListOfLists(v); one {
			v = &yaml.Node{Kind: yaml.SequenceNode, Line: v.Line, Column: v.Column, Content: []*yaml.Node{v}}
		}
		axes = append(axes, Axis{Key: key.Path, Values: c.axisValues(s, join(name, key.Path), key, v, false)})
	}
	return axes
}

func isListOfLists(n *yaml.Node) bool {
	return n.Kind == yaml.SequenceNode && len(n.Content) > 0 && n.Content[0].Kind == yaml.SequenceNode
}

// together checks that the last of axes that go together is as long as the first.
func (c *checker) together(s source, f *Field, axes Axes, n *yaml.Node) {
	first, last := axes[0], axes[len(axes)-1]
	found := len(n.Content)
	if n.Kind == yaml.MappingNode {
		found = len(last.Values)
	}
	if f.zipped && last.Values != nil && found != len(first.Values) {
		c.bad.add(s.at(n), join(f.Path, last.Key),
			"expected as many values as %s has, %d, since they go together; found %d", first.Key, len(first.Values),
			found)
	}
}

// axisKey returns the key that an axis varies: a leaf, or a section that has presets.
func (c *checker) axisKey(s source, f *Field, k *yaml.Node, path string) *Field {
	key := c.find(path, s.at(k))
	if key != nil && (key.special() || key.isSection() && key.Presets == "") {
		c.bad.add(s.at(k), join(f.Path, path), "%s cannot be an axis: it has no single value", key.Type())
		return nil
	}
	return key
}

// axisValues reads a list, or a range, of values; they may be repeated in lists that go together.
func (c *checker) axisValues(s source, name string, key *Field, n *yaml.Node, repeated bool) []string {
	if n.Kind == yaml.MappingNode {
		return c.axisRange(s, name, key, n)
	}
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		c.bad.add(s.at(n), name, "expected a list of values%s; found %s", orRange(key), describeList(n))
		return nil
	}
	var values []string
	seen := map[string]bool{}
	for i, e := range n.Content {
		text, ok := c.axisValue(s, key, element(name, i), e)
		if ok && seen[text] && !repeated {
			c.bad.add(s.at(e), element(name, i), "%s stands twice", clip(text))
		}
		if ok {
			values, seen[text] = append(values, text), true
		}
	}
	return values
}

func describeList(n *yaml.Node) string {
	if n.Kind == yaml.SequenceNode {
		return "an empty list"
	}
	return describe(n)
}

func (c *checker) axisValue(s source, key *Field, name string, n *yaml.Node) (string, bool) {
	if key.isSection() {
		return c.axisPreset(s, key, name, n)
	}
	v, ok := c.value(s, key, name, n)
	if !ok {
		return "", false
	}
	if key.list {
		return key.yaml(v), true
	}
	return key.scalar.text(v), true
}

// axisPreset checks a preset early, so that a sweep does not fail at its last point, and discards its values.
func (c *checker) axisPreset(s source, key *Field, name string, n *yaml.Node) (string, bool) {
	if !isString(n) {
		c.wrong(s, name, n, "the name of one of the "+key.Presets, nil)
		return "", false
	}
	before, files := c.bad.count(), len(c.files)
	out := len(c.out)
	c.extend(s, key, n)
	c.out, c.files = c.out[:out], c.files[:files]
	return fromHere(s, n.Value), c.bad.count() == before
}

// fromHere keeps a path as seen from the working directory, because a point of
// a sweep has no file to start from.
func fromHere(s source, name string) string {
	if !isPath(name) || filepath.IsAbs(name) {
		return name
	}
	if name = filepath.Join(filepath.Dir(s.file), name); !isPath(name) {
		return "./" + name // ./base without its dot is a preset
	}
	return name
}
