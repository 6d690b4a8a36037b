package schema

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"heddle/internal/suggest"
)

// EnvPrefix begins the names of the environment variables that are keys.
const EnvPrefix = "HEDDLE_"

// EnvName is the environment variable of a key.
func EnvName(path string) string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(path, ".", "__"))
}

// env checks the variables with our prefix, those of sections first. A variable
// that is no key is refused: a misspelt one would otherwise change nothing,
// silently. others are variables that the program uses for something else.
func (c *checker) env(environ, others []string) {
	environ = slices.Clone(environ)
	slices.Sort(environ)
	names := map[*Field]string{}
	for _, pair := range environ {
		name, text, _ := strings.Cut(pair, "=")
		rest, ours := strings.CutPrefix(name, EnvPrefix)
		if !ours || slices.Contains(others, name) {
			continue
		}
		at := Origin{Layer: Env, Name: name}
		f, ok := c.tree.lookup(strings.ToLower(strings.ReplaceAll(rest, "__", ".")))
		if !ok || strings.ToUpper(name) != name {
			c.bad.add(at, "", "unknown variable%s", c.tree.hintEnv(rest))
			continue
		}
		if other := names[f]; other != "" {
			c.bad.add(at, f.Path, "is another name of $%s, which is there too", other)
			continue
		}
		names[f] = name
		c.text(f, text, at)
	}
}

func (t *tree) hintEnv(rest string) string {
	var names []string
	for _, f := range t.fields[1:] {
		names = append(names, strings.ReplaceAll(f.Path, ".", "__"))
	}
	if n := suggest.Nearest(rest, names); n != "" {
		return "; did you mean " + EnvPrefix + strings.ToUpper(n) + "?"
	}
	return "; two underscores part the keys, as in " + EnvPrefix + strings.ToUpper(names[len(names)-1])
}

// sets checks KEY=VALUE arguments in their order.
func (c *checker) sets(layer Layer, args []string) {
	for _, arg := range args {
		key, text, ok := strings.Cut(arg, "=")
		at := Origin{Layer: layer, Name: clip(key)}
		if !ok {
			c.bad.add(at, "", "expected KEY=VALUE")
			continue
		}
		if f := c.find(key, at); f != nil {
			c.text(f, text, at)
		}
	}
}

// find returns the field at a path, or reports the key at which the path fails.
func (c *checker) find(path string, at Origin) *Field {
	f := c.tree.root
	for _, key := range strings.Split(path, ".") {
		next := f.child(key)
		switch {
		case next != nil:
			f = next
			continue
		case f.isSection():
			c.bad.add(at, join(f.Path, clip(key)), "unknown key%s", c.tree.hintKey(f, key, nil))
		default:
			c.bad.add(at, clip(path), "%s is no section", f.Path)
		}
		return nil
	}
	return f.meant()
}

// text checks a value given as text, and marks the sections around it.
func (c *checker) text(f *Field, text string, at Origin) {
	if f.isMain() && strings.HasPrefix(strings.TrimSpace(text), "{") {
		f = f.parent
	}
	n, ok := textNode(f, text, at, c.bad)
	if !ok {
		return
	}
	for p := f.parent; p != nil; p = p.parent {
		c.emit(opTouch, p, noValue, at)
	}
	c.field(source{fixed: &at}, f, n, at)
}

// textNode parses text to a node, so that one checker serves all layers. Only lists in brackets, sections and axes are
// YAML there: a string needs no quotes, and is a string even when it looks like a number.
func textNode(f *Field, text string, at Origin, p *problems) (*yaml.Node, bool) {
	trimmed := strings.TrimSpace(text)
	switch {
	case f.scalar != nil && !f.list && !f.isMapping():
		return scalarNode(f.scalar.quotable(), text), true
	case f.list && !strings.HasPrefix(trimmed, "["):
		list := &yaml.Node{Kind: yaml.SequenceNode}
		for _, item := range splitList(text) {
			list.Content = append(list.Content, scalarNode(f.scalar.quotable(), item))
		}
		return list, true
	case f.isSection() && !strings.HasPrefix(trimmed, "{") && trimmed != "null":
		return scalarNode(true, trimmed), true // a preset's name
	}
	n, ok := parseYAML([]byte(text), func(int, int) Origin { return at }, p)
	if ok && n == nil {
		n = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
	}
	return n, ok
}

func scalarNode(quoted bool, text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	if quoted {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}
