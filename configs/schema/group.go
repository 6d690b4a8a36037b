package schema

import (
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A group is a section that is one for users alone: its keys are fields of the struct around it, with a dot in their
// key. Grouping keys therefore changes no Go code.
//
//	CTAThreads int      `key:"schedule.cta_threads" was:"cta_threads" …`
//	Schedule   Schedule `key:"schedule.name" main:"true" …`
//
// A value in place of the group sets its main key, which has the path of the group: "schedule: twce" is short for
// "schedule: {name: twce}", and both leave the group's other keys as lower layers have them. A list or mapping could
// not be told from the group, so that main keys are single values.
//
// Keys have moved into groups. Their former names in the section around the group remain valid, and Canonical writes
// them, so that the identity of stored configurations does not change. A key that has never had another name is written
// as group.key there, which a section accepts of all its groups' keys.

// group returns the group of a section with that key, which it adds if there is none.
func (b *builder) group(section *Field, key, doc string) *Field {
	if g := section.child(key); g != nil {
		if !g.group {
			b.bug("%q is a key already, and no group", key)
		}
		return g
	}
	g := b.named(section, key, doc)
	g.group, g.typ = true, section.typ
	section.Fields = append(section.Fields, g)
	b.add(g)
	return g
}

// grouped makes a field of a section's struct a key of the group that is its parent.
func (b *builder) grouped(section, f *Field) {
	g := f.parent
	f.was = b.tags["was"]
	if b.flag("main") {
		if g.main != nil {
			b.bug("%s is the main key of %s already", g.main.Key, g.Path)
		}
		g.main, f.Path = f, g.Path
	}
	if f.was == "" {
		if f.was = join(g.Key, f.Key); f.isMain() {
			f.was = g.Key
		}
		return
	}
	if section.child(f.was) != nil {
		b.bug("was:%q is a key", f.was)
	}
	if section.former == nil {
		section.former = map[string]*Field{}
	}
	section.former[f.was] = f
}

// isMain reports whether the field is the main key of a group.
func (f *Field) isMain() bool { return f.parent != nil && f.parent.main == f }

// meant returns the field that a path to f means: a group's main key, if it has one.
func (f *Field) meant() *Field {
	if f.main != nil {
		return f.main
	}
	return f
}

// describes reports whether a key of Docs is one of the section's, or group.key of one of its groups.
func (f *Field) describes(key string) bool {
	in, own := f, key
	if group, rest, ok := strings.Cut(key, "."); ok {
		in, own = f.child(group), rest
	}
	return in != nil && slices.ContainsFunc(in.Fields, func(c *Field) bool { return c.Key == own })
}

// walk appends the field and all below it.
func (f *Field) walk(all []*Field) []*Field {
	all = append(all, f)
	for _, c := range f.Fields {
		all = c.walk(all)
	}
	return all
}

// group checks a group's value. lines are those of the section around it.
func (c *checker) group(s source, g *Field, n *yaml.Node, from Origin, lines map[*Field]int) {
	switch {
	case n.Kind == yaml.MappingNode:
		c.emit(opPresent, g, noValue, from)
		seen := map[string]int{}
		for i := 0; i < len(n.Content); i += 2 {
			c.entry(s, g, n.Content[i], n.Content[i+1], seen, lines)
		}
	case g.main == nil || n.Kind == yaml.SequenceNode:
		c.wrong(s, g.Path, n, g.expected(), nil)
	case c.once(s, g.main, n, g.Path, lines):
		c.leaf(s, g.main, n)
	}
}

// Canonical writes all keys of v as YAML does, but without groups: each key stands in the section of its struct, in the
// struct's order, by its former name if it has one. Configurations are stored so, and identified by it: the text of a
// configuration is the same before its keys were grouped and after.
func (s *Schema[T]) Canonical(v T) []byte {
	w := writer{note: func(*Field) string { return "" }, canonical: true}
	w.Grow(usualBytes)
	w.section(s.tree().root, reflect.ValueOf(&v).Elem(), "")
	return w.Bytes()
}

// Canonical returns the key's path in the form of Schema.Canonical.
func (f *Field) Canonical() string {
	if f.parent == nil || !f.parent.group {
		return f.Path
	}
	return join(f.parent.parent.Path, f.was)
}

// key returns the key under which a field is written.
func (w *writer) key(f *Field) string {
	if w.canonical && f.was != "" {
		return f.was
	}
	return f.Key
}

// fields returns the fields of a section as they are written.
func (w *writer) fields(f *Field) []*Field {
	if w.canonical {
		return f.declared
	}
	return f.Fields
}

// Path returns the path of the key that a path names, possibly by a former name; the path itself if it is no key's.
func (s *Schema[T]) Path(path string) string {
	if f, ok := s.Lookup(path); ok {
		return f.Path
	}
	return path
}

// Within reports whether a key is below a path that is a section's. The keys of a group are not below its main key,
// although that has the group's path.
func (s *Schema[T]) Within(key, path string) bool {
	return strings.HasPrefix(key, path+".") && s.IsSection(path)
}
