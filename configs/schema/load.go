package schema

import (
	"cmp"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Input is everything a configuration is made from; each part may be missing.
type Input struct {
	File     string   // path of the file, or its name in messages if Data is given
	Data     []byte   // the file's text, instead of reading File
	Nodes    []*Node  // mappings of the file, which Parse has read, each over those before it; instead of Data
	Env      []string // as os.Environ gives it
	EnvOther []string // variables with EnvPrefix that are no keys
	Set      []string // KEY=VALUE, as after --set
	Presets  Presets  // nil: none
}

// Loaded is a configuration and where it came from. It does not change.
type Loaded[T any] struct {
	Value T
	// Files are the files read, in order, presets under their own names.
	Files []string

	schema  *Schema[T]
	stack   stack
	origins map[*Field]Origin
}

// stack holds the checked layers, so that points of a sweep can go on top.
type stack struct {
	presets                 Presets
	files, env, set, points []assignment
}

// layers puts everything that is said over each other.
func (st *stack) layers() *layers {
	y := newLayers()
	y.merge(st.files)
	y.merge(st.env)
	y.override(st.set)
	y.override(st.points)
	return y
}

// Load reads, checks and layers everything, and fills a T. An error is an
// *Errors, complete up to its limit.
func (s *Schema[T]) Load(in Input) (*Loaded[T], error) {
	var bad problems
	c := checker{tree: s.tree(), presets: in.Presets, bad: &bad}
	st := stack{presets: in.Presets}
	st.files = c.layer(func() { c.file(in) })
	st.env = c.layer(func() { c.env(in.Env, in.EnvOther) })
	st.set = c.layer(func() { c.sets(Set, in.Set) })
	if err := bad.err(); err != nil {
		return nil, err
	}
	return s.resolve(st, c.files)
}

// With returns the configuration at a point of a sweep: KEY=VALUE arguments
// over everything else, those of sections first.
func (l *Loaded[T]) With(args ...string) (*Loaded[T], error) {
	st, files, err := l.with(args)
	if err != nil {
		return nil, err
	}
	return l.schema.resolve(st, files)
}

func (l *Loaded[T]) with(args []string) (st stack, files []string, err error) {
	var bad problems
	c := checker{tree: l.schema.tree(), presets: l.stack.presets, bad: &bad, files: slices.Clone(l.Files)}
	args = slices.Clone(args)
	slices.SortStableFunc(args, func(a, b string) int {
		return cmp.Compare(strings.Count(key(a), "."), strings.Count(key(b), "."))
	})
	st = l.stack
	st.points = slices.Concat(st.points, c.layer(func() { c.sets(Point, args) }))
	return st, c.files, bad.err()
}

// layered are the layers of a point; ok is false if some setting is refused.
func (l *Loaded[T]) layered(args []string) (y *layers, ok bool) {
	st, _, err := l.with(args)
	return st.layers(), err == nil
}

func key(arg string) string {
	k, _, _ := strings.Cut(arg, "=")
	return k
}

// layer returns the assignments that fill makes.
func (c *checker) layer(fill func()) []assignment {
	c.out = nil
	fill()
	return c.out
}

func (c *checker) file(in Input) {
	if in.File == "" && in.Data == nil && in.Nodes == nil {
		return
	}
	name := cmp.Or(in.File, "input")
	if in.Nodes != nil {
		c.within(name, func() { c.nodes(source{file: name}, in.Nodes) })
		return
	}
	data, err := in.Data, error(nil)
	if data == nil {
		name = filepath.Clean(name)
		data, err = readFile(name)
	}
	if err != nil {
		c.bad.add(Origin{Layer: File, File: name}, "", "%v", err)
		return
	}
	c.within(name, func() { c.document(source{file: name}, c.tree.root, data) })
}

// nodes checks mappings that stand inside a file of another kind.
func (c *checker) nodes(s source, nodes []*Node) {
	s.top = c.tree.root
	c.files = append(c.files, s.file)
	for _, n := range nodes {
		if n.Kind != yaml.MappingNode {
			c.wrong(s, "", n, c.tree.root.expected(), nil)
			continue
		}
		c.mapping(s, c.tree.root, n, s.at(n))
	}
}

func (s *Schema[T]) resolve(st stack, files []string) (*Loaded[T], error) {
	l := &Loaded[T]{schema: s, stack: st, Files: files}
	r := resolver{tree: s.tree(), layers: st.layers(), origins: make(map[*Field]Origin, len(s.tree().fields))}
	root := reflect.ValueOf(&l.Value).Elem()
	r.section(s.tree().root, root, Origin{})
	if r.bad.err() == nil {
		r.validate(s.tree().root, root)
	}
	l.origins = r.origins
	if err := r.bad.err(); err != nil {
		return nil, err
	}
	return l, nil
}

// Origin returns the position where a key's value was set, or of a section; ok is false for unknown keys and in absent
// sections.
func (l *Loaded[T]) Origin(path string) (at Origin, ok bool) {
	f, ok := l.schema.Lookup(path)
	if !ok {
		return Origin{}, false
	}
	at, ok = l.origins[f]
	return at, ok
}

// resolver fills the Go structs from the layers.
type resolver struct {
	tree    *tree
	layers  *layers
	origins map[*Field]Origin
	bad     problems
	strays  []string // nonexistent keys that Validators have blamed
}

// section fills a section that is present; around is the position of the enclosing section, in case no layer mentions
// this one.
func (r *resolver) section(f *Field, v reflect.Value, around Origin) {
	at := around
	if e := r.layers.section(f); e != nil {
		at = e.from
	}
	r.origins[f] = at
	for _, c := range f.Fields {
		dst := v.FieldByIndex(c.index)
		switch {
		case !c.isSection():
			r.leaf(c, dst, at)
		case !c.Optional:
			r.section(c, dst, at)
		case r.layers.section(c) != nil:
			r.optional(c, dst, at)
		}
	}
}

// optional fills a section that need not be there.
func (r *resolver) optional(f *Field, dst reflect.Value, around Origin) {
	if f.taken != "" {
		if other := f.rival(dst); other != nil {
			r.bad.add(r.layers.section(f).from, f.Path, "%s", other.taken)
			return
		}
	}
	fresh := reflect.New(f.typ)
	dst.Set(fresh)
	r.section(f, fresh.Elem(), around)
}

func (r *resolver) leaf(f *Field, dst reflect.Value, section Origin) {
	e := r.layers.get(opSet, f)
	switch {
	case e != nil:
		dst.Set(copied(e.value))
		r.origins[f] = e.from
	case f.Required:
		r.bad.add(section, f.Path, "missing; expected %s", f.expected())
	default:
		dst.Set(copied(f.def))
		r.origins[f] = Origin{}
	}
}

// copied keeps a caller who changes a list from changing the schema's default.
func copied(v reflect.Value) reflect.Value {
	if v.Kind() != reflect.Slice || v.IsNil() {
		return v
	}
	list := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	reflect.Copy(list, v)
	return list
}

// validate runs the Validators below f, then f's own, which may rely on theirs.
func (r *resolver) validate(f *Field, v reflect.Value) bool {
	good := true
	for _, c := range f.Fields {
		if sub, ok := c.sectionIn(v); ok {
			good = r.validate(c, sub) && good
		}
	}
	if !good {
		return false
	}
	check, ok := v.Addr().Interface().(Validator)
	if !ok || f.group { // a group's struct is that of the section around it
		return true
	}
	err := check.Validate()
	r.report(f, err)
	return err == nil
}

// sectionIn finds the section f in its parent's struct; ok is false when f is
// none, or absent.
func (f *Field) sectionIn(parent reflect.Value) (v reflect.Value, ok bool) {
	v = parent.FieldByIndex(f.index)
	switch {
	case !f.isSection():
		return v, false
	case f.Optional:
		return f.held(v)
	}
	return v, true
}

// report adds the errors of a section's Validate.
func (r *resolver) report(f *Field, err error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			r.report(f, e)
		}
		return
	}
	var blame fieldError
	switch {
	case err == nil:
	case errors.As(err, &blame):
		r.reportField(join(f.Path, blame.FieldKey()), blame.FieldMsg())
	default:
		if key, msg, ok := r.keyOf(f, err.Error()); ok {
			r.reportField(join(f.Path, key), msg)
			return
		}
		r.bad.add(r.origins[f], f.Path, "%v", err)
	}
}

// keyOf takes apart the error of a component's own check, "core issue.slices = 4: expected 1..2": the component is the
// section, and the words after it may name a key of it.
func (r *resolver) keyOf(f *Field, text string) (key, msg string, ok bool) {
	key, msg, ok = strings.Cut(text, " = ")
	if _, name, named := strings.Cut(key, " "); named {
		key = name
	}
	if !ok || strings.Contains(key, " ") {
		return "", "", false
	}
	_, ok = r.tree.lookup(join(f.Path, key))
	return key, msg, ok
}

// reportField reports an error at the key at path. If that does not exist, as when a section's check is that of a
// component which it stands for, it is reported at the nearest enclosing section: the user still gets the message.
func (r *resolver) reportField(path, msg string) {
	leaf, _, _ := strings.Cut(path, "[") // an element of a list
	f, ok := r.tree.lookup(leaf)
	if ok {
		path = f.Path + strings.TrimPrefix(path, leaf)
	} else {
		f = r.tree.around(leaf)
		path, msg = f.Path, strings.TrimPrefix(path, f.Path+".")+" = "+msg
		r.strays = append(r.strays, leaf)
	}
	at, ok := r.origins[f]
	if def, has := f.Default(); ok && has && at.Layer == Default {
		msg += " (" + def + " is its default)"
	}
	// A default has no line; the section that leaves it at that may have.
	for ; f != nil && at.Layer == Default; f = f.parent {
		at = r.origins[f]
	}
	r.bad.add(at, path, "%s", msg)
}
