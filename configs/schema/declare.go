package schema

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Field is one key of the schema: a section, a leaf, or axes.
type Field struct {
	Key      string // its own name; empty at the root
	Path     string // dotted, from the root
	Doc      string
	Unit     string
	Optional bool     // a section that may be absent
	Required bool     // a leaf without default
	Presets  string   // kind of the presets that may stand for the section
	Fields   []*Field // of a section, as declared; of a group, its keys

	parent *Field
	index  []int        // in the parent's struct, through embedded ones; none of a group, whose keys are the struct's
	typ    reflect.Type // of the value; of a section the struct's, without pointer
	scalar scalar       // of a leaf
	list   bool
	axes   bool
	zipped bool          // axes that go together: lists of one length, whose values may repeat; of variants too
	def    reflect.Value // of a leaf; invalid when required

	exclusions bool // points of axes to leave out

	variants bool   // the compared variants
	within   string // of variants: the section whose keys may stand in them without it

	taken   string   // of an alternative: why no other can be there
	aliases []string // further names of Key

	group    bool              // see group.go
	main     *Field            // of a group: the key that a value in place of the group sets; nil: none
	was      string            // of a group's key: its name in the section around it, in Canonical; else empty
	declared []*Field          // of a section: the leaves and sections of its struct, in the struct's order
	former   map[string]*Field // of a section: its keys by their former names
}

// tree is a schema without the type of its root.
type tree struct {
	root   *Field
	fields []*Field // all, in declared order, root first
	byPath map[string]*Field
}

// Schema describes the configuration held by a T.
type Schema[T any] struct{ tree func() *tree }

// New reads the tags of T. presets is the kind of preset that "extends" names at the top of T's files; empty: none. It
// panics if a declaration is malformed.
func New[T any](presets string) *Schema[T] {
	s := Deferred[T](presets, func() {})
	s.tree()
	return s
}

// Deferred is New, but tags are read when the schema is first used: the names of enumerations and the alternatives that
// programs register when they start are in it. first is called then, before they are read.
func Deferred[T any](presets string, first func()) *Schema[T] {
	return &Schema[T]{sync.OnceValue(func() *tree {
		first()
		return declare(presets, reflect.TypeFor[T]())
	})}
}

// declare reads the tags of a struct.
func declare(presets string, t reflect.Type) *tree {
	b := &builder{
		tree:     tree{byPath: map[string]*Field{}},
		defaults: map[string]string{},
	}
	b.root = &Field{Presets: presets, typ: t}
	if t.Kind() != reflect.Struct {
		b.bug("%s is no struct", t)
	}
	b.section(b.root, nil)
	for path := range b.defaults {
		b.bug("defaults name %s, which is no leaf", path)
	}
	b.fields = b.root.walk(nil)
	return &b.tree
}

// Fields lists all keys in declared order, a group's together, without the root and without groups that a value may
// stand for: those have the path of their main key.
func (s *Schema[T]) Fields() []*Field {
	return slices.DeleteFunc(slices.Clone(s.tree().fields[1:]), func(f *Field) bool { return f.main != nil })
}

// Lookup finds a key by its path.
func (s *Schema[T]) Lookup(path string) (*Field, bool) { return s.tree().lookup(path) }

func (t *tree) lookup(path string) (*Field, bool) {
	if f, ok := t.byPath[path]; ok {
		return f, path != ""
	}
	f := t.root
	for _, key := range strings.Split(path, ".") { // one of them may be an alias
		if f = f.child(key); f == nil {
			return nil, false
		}
	}
	return f.meant(), true
}

// around returns the innermost section that a path which is no key lies in.
func (t *tree) around(path string) *Field {
	for {
		cut := strings.LastIndexByte(path, '.')
		if cut < 0 {
			return t.root
		}
		path = path[:cut]
		if f, ok := t.byPath[path]; ok && f.isSection() {
			return f
		}
	}
}

// Type names the field's type as documentation shows it.
func (f *Field) Type() string {
	switch {
	case f.axes:
		return "axes"
	case f.variants:
		return "variants"
	case f.exclusions:
		return "list of points"
	case f.main != nil:
		return f.main.Type() + " or " + sectionType
	case f.scalar == nil:
		return sectionType
	case f.list:
		return "list of " + f.scalar.name() + "s"
	}
	return f.scalar.name()
}

const sectionType = "section"

// Range returns a number's range in words; empty if unlimited.
func (f *Field) Range() string {
	if f.scalar == nil {
		return ""
	}
	return f.scalar.span()
}

// Values are the names an enumeration allows.
func (f *Field) Values() []string {
	if f.scalar == nil {
		return nil
	}
	return f.scalar.values()
}

// Default is the default as YAML; ok is false for required keys and sections.
func (f *Field) Default() (text string, ok bool) {
	if !f.def.IsValid() {
		return "", false
	}
	return f.yaml(f.def), true
}

// isSection reports whether the field is a section rather than a leaf or axes.
func (f *Field) isSection() bool { return f.scalar == nil && !f.special() }

// special reports whether a key concerns points: axes, variants, or excluded points.
func (f *Field) special() bool { return f.axes || f.variants || f.exclusions }

func (f *Field) child(key string) *Field {
	for _, c := range f.Fields {
		if c.Key == key || slices.Contains(c.aliases, key) {
			return c
		}
	}
	if group, own, ok := strings.Cut(key, "."); ok {
		if g := f.child(group); g != nil && g.group {
			return g.child(own)
		}
	}
	return f.former[key]
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// extendsKey is reserved in every section.
const extendsKey = "extends"

// Keys are restricted to those that viper keeps (it lower-cases, and splits at dots) and
// the environment can spell (see EnvName).
var keyPattern = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

// The tags of each sort of field; key and doc go with all.
var (
	sectionTags = []string{"defaults", "presets"}
	leafTags    = []string{"default", "required"}
	integerTags = []string{"min", "max", "unit", "pow2", "multiple"}
	floatTags   = []string{"min", "max", "unit"}
	textTags    = []string{"oneof"}
	lineTags    = []string{"lines"}
)

type builder struct {
	tree
	defaults map[string]string // path → default, from outer sections
	where    string            // the Go field under construction
	tags     map[string]string
}

func (b *builder) bug(format string, args ...any) {
	msg := fmt.Sprintf(format, args...)
	if b.where != "" {
		msg = b.where + ": " + msg
	}
	panic("BUG: schema: " + msg)
}

// section adds f and the fields below it; outer are the enclosing struct types.
func (b *builder) section(f *Field, outer []reflect.Type) {
	if slices.Contains(outer, f.typ) {
		b.bug("%s contains itself", f.typ)
	}
	outer = append(slices.Clone(outer), f.typ)
	b.add(f)
	b.members(f, f.typ, nil, outer)
}

// Documented is implemented by structs with descriptions that are too long for tags, by key. A key that Docs describes
// has no doc tag.
type Documented interface{ Docs() map[string]string }

// Tagged is implemented by structs with tags that do not fit beside their fields: long lists of values, former names.
// Tags returns them by key. A key has each of its tags in one of the two places.
type Tagged interface{ Tags() map[string]string }

// methodTags holds the descriptions and tags that a struct's methods add to those beside its fields, by key.
type methodTags struct{ docs, tags map[string]string }

func methodTagsOf(t reflect.Type) (x methodTags) {
	zero := reflect.Zero(t).Interface()
	if d, ok := zero.(Documented); ok {
		x.docs = d.Docs()
	}
	if d, ok := zero.(Tagged); ok {
		x.tags = d.Tags()
	}
	return x
}

// members adds the fields of t, which is f's struct or embedded in it at index at.
func (b *builder) members(f *Field, t reflect.Type, at []int, outer []reflect.Type) {
	own := methodTagsOf(t)
	for i := range t.NumField() {
		sf, index := t.Field(i), append(slices.Clone(at), i)
		b.where = t.String() + "." + sf.Name
		if sf.Anonymous && sf.Tag == "" && sf.IsExported() && sf.Type.Kind() == reflect.Struct {
			b.members(f, sf.Type, index, outer)
			continue
		}
		if list, ok := alternatives(sf); ok {
			b.alternatives(f, sf.Type, list, index, outer)
			continue
		}
		if c := b.declare(f, sf, index, own); c != nil {
			c.parent.Fields = append(c.parent.Fields, c)
			f.declared = append(f.declared, c)
			b.field(c, sf.Type, outer)
		}
	}
	b.where = t.String()
	for key := range own.docs { // those of an embedded struct, whose method is promoted, are keys of f too
		if !f.describes(key) {
			b.bug("Docs describes %q, which is no key", key)
		}
	}
	for key := range own.tags {
		if !f.describes(key) {
			b.bug("Tags has %q, which is no key", key)
		}
	}
}

func (b *builder) add(f *Field) { b.byPath[f.Path] = f }

// declare reads the tags that all fields have; nil: sf is not part of the configuration.
func (b *builder) declare(parent *Field, sf reflect.StructField, index []int, own methodTags) *Field {
	b.tags = map[string]string{}
	b.parseTags(string(sf.Tag))
	key, tagged := b.tags["key"]
	b.parseTags(own.tags[key])
	switch {
	case key == "-", !tagged && !sf.IsExported() && !sf.Anonymous:
		return nil
	case !tagged:
		b.bug("no key tag; key:\"-\" keeps it out of the configuration")
	case !sf.IsExported():
		b.bug("has a key but is not exported")
	}
	doc, inTag := b.tags["doc"]
	if long, ok := own.docs[key]; ok {
		if inTag {
			b.bug("key %q is described by a tag and by Docs", key)
		}
		doc = long
	}
	section := parent
	if group, last, ok := strings.Cut(key, "."); ok {
		parent, key = b.group(section, group, own.docs[group]), last
	}
	f := b.named(parent, key, doc)
	f.Unit, f.Presets, f.index = b.tags["unit"], b.tags["presets"], index
	if parent.group {
		b.grouped(section, f)
	} else if b.tags["main"]+b.tags["was"] != "" {
		b.bug("main and was are for keys of groups")
	}
	return f
}

// named returns a field below parent with the common properties.
func (b *builder) named(parent *Field, key, doc string) *Field {
	switch {
	case !keyPattern.MatchString(key):
		b.bug("key %q is not lower snake case", key)
	case key == extendsKey:
		b.bug("key %q is reserved", key)
	case parent.child(key) != nil:
		b.bug("key %q is declared twice", key)
	case strings.TrimSpace(doc) == "":
		b.bug("no doc")
	}
	return &Field{Key: key, Path: join(parent.Path, key), Doc: doc, parent: parent}
}

// tagCharacters are those of a tag's name.
const tagCharacters = "abcdefghijklmnopqrstuvwxyz0123456789"

// parseTags adds the tags of a text to those of the field.
func (b *builder) parseTags(text string) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		tag, rest, _ := strings.Cut(text, ":")
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil || quoted[0] != '"' || tag == "" || strings.Trim(tag, tagCharacters) != "" {
			b.bug("malformed tags at %s", text)
		}
		if _, twice := b.tags[tag]; twice {
			b.bug("tag %s is repeated", tag)
		}
		b.tags[tag], _ = strconv.Unquote(quoted) // a quoted prefix can be
		text = rest[len(quoted):]
	}
}

// allow refuses tags that have no effect, which are mostly misspelt.
func (b *builder) allow(groups ...[]string) {
	for tag := range b.tags {
		if !slices.Contains(append(slices.Concat(groups...), "key", "doc", "main", "was"), tag) {
			b.bug("tag %s means nothing on this field", tag)
		}
	}
}

var (
	axesType       = reflect.TypeFor[Axes]()
	exclusionsType = reflect.TypeFor[Exclusions]()
	variantsType   = reflect.TypeFor[Variants]()
)

func (b *builder) field(f *Field, t reflect.Type, outer []reflect.Type) {
	switch {
	case t == axesType:
		b.allow()
		f.axes, f.typ, f.def = true, t, reflect.ValueOf(Axes{})
		b.add(f)
	case t == variantsType:
		b.allow([]string{"within"})
		f.zipped, f.within = true, b.tags["within"]
		f.variants, f.typ, f.def = true, t, reflect.ValueOf(Variants{})
		b.add(f)
	case t == exclusionsType:
		b.allow()
		f.exclusions, f.typ, f.def = true, t, reflect.ValueOf(Exclusions{})
		b.add(f)
	case t.Kind() == reflect.Struct && !isText(t):
		b.subsection(f, t, outer)
	case t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct:
		f.Optional = true
		b.subsection(f, t.Elem(), outer)
	default:
		b.leaf(f, t)
	}
}

func (b *builder) subsection(f *Field, t reflect.Type, outer []reflect.Type) {
	b.allow(sectionTags)
	for _, item := range strings.Split(b.tags["defaults"], ";") {
		if strings.TrimSpace(item) == "" {
			continue
		}
		key, value, ok := strings.Cut(item, "=")
		if !ok {
			b.bug("defaults: %q is not key=value", item)
		}
		path := join(f.Path, strings.TrimSpace(key))
		if _, outerSays := b.defaults[path]; !outerSays {
			b.defaults[path] = strings.TrimSpace(value)
		}
	}
	f.typ = t
	b.section(f, outer)
}

func (b *builder) leaf(f *Field, t reflect.Type) {
	f.typ = t
	elem := t
	if t.Kind() == reflect.Slice && !isText(t) {
		f.list, elem = true, t.Elem()
	}
	switch f.scalar = b.scalar(elem); {
	case f.list && elem == mappingType:
		b.bug("a list of mappings")
	case f.isMain() && (f.list || elem == mappingType):
		b.bug("the main key of a group is a single value")
	}
	if x, ok := reflect.Zero(elem).Interface().(Explained); ok {
		f.Doc = x.Explain(f.Doc)
	}
	f.Required = b.flag("required")
	b.add(f)
	text, has := b.tags["default"]
	if outer, ok := b.defaults[f.Path]; ok {
		text, has, f.Required = outer, true, false
		delete(b.defaults, f.Path)
	}
	switch {
	case has && f.Required, !has && !f.Required:
		b.bug("needs a default or required:\"true\", and not both")
	case f.Required:
		return
	}
	def, ok := f.parse(text)
	if !ok {
		b.bug("default %q: expected %s", text, f.expected())
	}
	f.def = def
}

// flag reads a tag that is "true" or absent.
func (b *builder) flag(tag string) bool {
	text, has := b.tags[tag]
	if has && text != "true" {
		b.bug("%s:%q: only \"true\" means something", tag, text)
	}
	return has
}

var (
	marshaler   = reflect.TypeFor[encoding.TextMarshaler]()
	unmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

func isText(t reflect.Type) bool {
	return t.Implements(marshaler) && reflect.PointerTo(t).Implements(unmarshaler)
}

func (b *builder) scalar(t reflect.Type) scalar {
	switch k := t.Kind(); {
	case isText(t):
		return b.enum(t)
	case k >= reflect.Int && k <= reflect.Int64, k >= reflect.Uint && k <= reflect.Uint64:
		return b.integer(t)
	case k == reflect.Float32, k == reflect.Float64:
		return b.float(t)
	case k == reflect.Bool:
		b.allow(leafTags)
		return &boolean{t}
	case k == reflect.String && (b.tags["oneof"] != "" || hasNames(t)):
		return b.enum(t)
	case t == mappingType:
		b.allow(leafTags)
		return mapping{}
	case k == reflect.String:
		b.allow(leafTags, lineTags)
		return &freeText{t, b.flag("lines")}
	}
	b.bug("type %s is none of the schema's", t)
	return nil
}

// named is an enumeration that lists its names itself.
type named interface{ Names() []string }

func hasNames(t reflect.Type) bool { return t.Implements(reflect.TypeFor[named]()) }

// Explained is a type that completes the documentation of its keys with that of parts registered elsewhere.
type Explained interface{ Explain(doc string) string }

func (b *builder) enum(t reflect.Type) scalar {
	b.allow(leafTags, textTags)
	s := &enum{typ: t, names: splitList(b.tags["oneof"])}
	if list, ok := reflect.Zero(t).Interface().(named); ok && len(s.names) == 0 {
		s.names = list.Names()
	}
	if len(s.names) == 0 {
		b.bug("no oneof")
	}
	if a, ok := reflect.Zero(t).Interface().(aliased); ok {
		s.alias = a.Alias
	}
	if r, ok := reflect.Zero(t).Interface().(renamed); ok {
		s.former = r.Former
	}
	for _, name := range s.names {
		v, ok := s.parse(name)
		if !ok || s.text(v) != name || name == "" {
			b.bug("oneof: %q does not survive reading and writing", name)
		}
		if s.former != nil && (s.alias == nil || s.alias(s.former(name)) != name) {
			b.bug("oneof: the former name %q is no alias of %q", s.former(name), name)
		}
	}
	return s
}

func (b *builder) integer(t reflect.Type) scalar {
	b.allow(leafTags, integerTags)
	s := &integer{typ: t, unit: b.unit(), pow2: b.flag("pow2")}
	signed := t.Kind() <= reflect.Int64
	one := big.NewInt(1)
	if signed {
		half := new(big.Int).Lsh(one, uint(t.Bits()-1))
		s.lo, s.hi = new(big.Int).Neg(half), new(big.Int).Sub(half, one)
	} else {
		s.lo, s.hi = new(big.Int), new(big.Int).Lsh(one, uint(t.Bits()))
		s.hi.Sub(s.hi, one)
	}
	s.multiple = b.bound(s, "multiple", false)
	lo, hi := b.bound(s, "min", signed), b.bound(s, "max", signed)
	s.full = lo == nil && hi == nil
	if lo != nil {
		s.lo = lo
	}
	if hi != nil {
		s.hi = hi
	}
	if s.multiple != nil && s.multiple.Sign() <= 0 {
		b.bug("multiple must be positive")
	}
	if s.lo.Cmp(s.hi) > 0 {
		b.bug("min is above max")
	}
	return s
}

// bound reads a limit; nil when the tag is absent.
func (b *builder) bound(s *integer, tag string, needed bool) *big.Int {
	text, has := b.tags[tag]
	if !has && needed {
		b.bug("no %s", tag)
	}
	if !has {
		return nil
	}
	n, ok := s.parseNumber(text)
	if !ok || n.Cmp(s.lo) < 0 || n.Cmp(s.hi) > 0 {
		b.bug("%s %q is no %s", tag, text, s.typ)
	}
	return n
}

func (b *builder) unit() string {
	unit, ok := b.tags["unit"]
	if !ok {
		b.bug("no unit; unit:\"\" for a pure number")
	}
	return unit
}

func (b *builder) float(t reflect.Type) scalar {
	b.allow(leafTags, floatTags)
	s := &float{typ: t, unit: b.unit()}
	s.lo, s.hi = b.floatBound("min", t.Bits()), b.floatBound("max", t.Bits())
	if !(s.lo <= s.hi) {
		b.bug("min is above max")
	}
	return s
}

// floatBound rounds as values are rounded, so that a bound is within itself.
func (b *builder) floatBound(tag string, bits int) float64 {
	x, err := strconv.ParseFloat(b.tags[tag], bits)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		b.bug("%s %q is no number", tag, b.tags[tag])
	}
	return x
}

// parse reads a leaf from text: a default, an environment variable, a flag.
func (f *Field) parse(text string) (reflect.Value, bool) {
	if !f.list {
		return f.scalar.parse(text)
	}
	list := f.emptyList()
	for _, item := range splitList(text) {
		v, ok := f.scalar.parse(item)
		if !ok {
			return list, false
		}
		list = reflect.Append(list, v)
	}
	return list, true
}

// emptyList is not nil, wherever the list comes from, so that equal
// configurations are equal values.
func (f *Field) emptyList() reflect.Value { return reflect.MakeSlice(f.typ, 0, 0) }

// splitList splits at commas; blank text is the empty list.
func splitList(text string) []string {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	items := strings.Split(text, ",")
	for i := range items {
		items[i] = strings.TrimSpace(items[i])
	}
	return items
}

// expected describes the values that the field accepts.
func (f *Field) expected() string {
	switch {
	case f.main != nil:
		return f.main.scalar.expected() + ", or a section"
	case f.axes:
		return expectedAxes
	case f.variants:
		return "a list of variants, or keys, each with a list of values that go together"
	case f.exclusions:
		return "a list of points to leave out, each with axes and values"
	case f.isSection():
		return f.expectedSection()
	case f.list:
		return "a list, each of it " + f.scalar.expected()
	}
	return f.scalar.expected()
}

func (f *Field) expectedSection() string {
	s := "a section"
	if f.Presets != "" {
		s += ", or the name of one of the " + f.Presets
	}
	if f.Optional {
		s += ", or null for none"
	}
	return s
}

// Fill fills the struct that p points to with the defaults of its tags, as for an optional section that is present and
// empty. The error is a malformed declaration, for sections from other modules.
func Fill(p any) (err error) {
	defer func() {
		p := recover()
		text, _ := p.(string)
		if says, ok := strings.CutPrefix(text, "BUG: schema: "); ok {
			err = errors.New(says)
		} else if p != nil {
			panic(p)
		}
	}()
	v := reflect.ValueOf(p)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return fmt.Errorf("%T: expected a pointer to a struct", p)
	}
	declare("", v.Type().Elem()).root.fillDefaults(v.Elem())
	return nil
}
