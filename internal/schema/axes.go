package schema

import (
	"path/filepath"
	"reflect"

	"go.yaml.in/yaml/v3"
)

// Axes are a section of sweeps, in the order of the file: each key is the path
// of another key of the schema, each value a list of what that key shall be.
// Every value is checked as if it stood at the key itself.
//
//	sweep:
//	  machine.core.warps: [8, 16, 32]
//	  machine: [vortex-1c4w4t, vortex-6c32w32t]
type Axes []Axis

// Axis is one key and its values, each as Loaded.With takes it.
type Axis struct {
	Key    string
	Values []string
}

func (c *checker) axes(s source, f *Field, n *yaml.Node, from Origin) {
	if n.Kind != yaml.MappingNode {
		c.wrong(s, f.Path, n, f.expected(), nil)
		return
	}
	axes := Axes{}
	seen := map[string]int{}
	for i := 0; i < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if !c.fresh(s, f, k, seen) {
			continue
		}
		if key := c.axisKey(s, f, k); key != nil {
			axes = append(axes, Axis{key.Path, c.axisValues(s, f, key, v)})
			c.together(s, f, axes, v)
		}
	}
	c.emit(opSet, f, reflect.ValueOf(axes), from)
}

// together checks that the last of axes that go together is as long as the first.
func (c *checker) together(s source, f *Field, axes Axes, n *yaml.Node) {
	first, last := axes[0], axes[len(axes)-1]
	if f.zipped && n.Kind == yaml.SequenceNode && len(n.Content) != len(first.Values) {
		c.bad.add(s.at(n), join(f.Path, last.Key), "expected as many values as %s has, %d, since they go together; found %d", first.Key, len(first.Values), len(n.Content))
	}
}

// axisKey finds what an axis varies: a leaf, or a section that has presets.
func (c *checker) axisKey(s source, f *Field, k *yaml.Node) *Field {
	key := c.find(k.Value, s.at(k))
	if key != nil && (key.axes || key.isSection() && key.Presets == "") {
		c.bad.add(s.at(k), join(f.Path, k.Value), "%s cannot be an axis: it has no single value", key.Type())
		return nil
	}
	return key
}

func (c *checker) axisValues(s source, f, key *Field, n *yaml.Node) []string {
	name := join(f.Path, key.Path)
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		c.bad.add(s.at(n), name, "expected a list of values; found %s", describeList(n))
		return nil
	}
	var values []string
	seen := map[string]bool{}
	for i, e := range n.Content {
		text, ok := c.axisValue(s, key, element(name, i), e)
		if ok && seen[text] && !f.zipped {
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

// axisPreset tries a preset so that a sweep does not fail at its last point,
// and forgets what it said.
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
