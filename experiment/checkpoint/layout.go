package checkpoint

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// kind is the kind of a layout's step.
type kind uint8

const (
	raw       kind = iota // bytes without pointers
	truth                 // a bool
	pointer               // to a piece of memory
	opaque                // a pointer to a constant
	forgotten             // a pointer to a forgotten type
	slice
	text
	dict
	boxed // an interface
	function
	repeat // an array of elements with steps
	own    // a Saver
	kept   // a field that keeps its value from construction
	absent // a value that must be zero, since it cannot be saved
)

// step describes the value at an offset of a layout.
type step struct {
	kind  kind
	off   uintptr
	bytes uintptr      // raw, kept, absent
	n     int          // repeat
	t     reflect.Type // the field's own; repeat: the element's
	elem  *layout      // pointer, slice: its elements; repeat: the element; dict: the value
	key   *layout      // dict
	at    string       // for messages: type and field
}

// layout describes the memory of a type as steps, ordered by offset.
type layout struct {
	t        reflect.Type
	size     uintptr
	steps    []step
	links    bool // it has steps other than raw and truth
	flat     bool // it is a single raw step
	complete bool // it is complete; false while a recursive type is being laid out
	name     string
	named    []reflect.Type // its component types, which a state may name
}

// Layouts caches layouts by type for all censuses that share the rules. Its methods may be called concurrently.
type Layouts struct {
	opaque    map[reflect.Type]bool
	forgotten map[reflect.Type]bool
	assembled map[reflect.Type]map[string]bool

	mu sync.RWMutex
	of map[reflect.Type]*layout
}

// NewLayouts returns an empty cache for graphs with these rules.
func NewLayouts(r Rules) *Layouts {
	l := &Layouts{
		of: map[reflect.Type]*layout{}, opaque: map[reflect.Type]bool{}, forgotten: map[reflect.Type]bool{},
		assembled: map[reflect.Type]map[string]bool{},
	}
	for _, t := range r.Opaque {
		l.opaque[t] = true
	}
	for _, t := range r.Forgotten {
		l.forgotten[t] = true
	}
	for t, fields := range r.Assembled {
		l.assembled[t] = map[string]bool{}
		for _, f := range fields {
			l.assembled[t][f] = true
		}
	}
	return l
}

var saverType = reflect.TypeFor[Saver]()

// layout returns the layout of a type.
func (l *Layouts) layout(t reflect.Type) (*layout, error) {
	l.mu.RLock()
	o, ok := l.of[t]
	l.mu.RUnlock()
	if ok {
		return o, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var made []reflect.Type
	o, err := (&maker{l, &made}).layout(t)
	if err != nil { // drop the incomplete layouts of types that it refers to
		for _, t := range made {
			delete(l.of, t)
		}
		return nil, err
	}
	return o, nil
}

// maker builds layouts while it holds the lock.
type maker struct {
	*Layouts
	made *[]reflect.Type
}

func (l *maker) layout(t reflect.Type) (*layout, error) {
	if o, ok := l.of[t]; ok {
		return o, nil
	}
	o := &layout{t: t, size: t.Size(), name: typeName(t)}
	l.of[t] = o // before its components, since types may be recursive
	*l.made = append(*l.made, t)
	if reflect.PointerTo(t).Implements(saverType) {
		o.steps = []step{{kind: own, t: t, at: t.String()}}
		o.named = append(o.named, t)
	} else if err := l.add(o, t, 0, t.String()); err != nil {
		return nil, err
	}
	for i := range o.steps {
		o.links = o.links || o.steps[i].kind > truth
	}
	o.flat = len(o.steps) == 1 && o.steps[0].kind == raw && o.steps[0].bytes == o.size
	o.complete = true
	return o, nil
}

// typeName returns the name of a type with complete package paths.
func typeName(t reflect.Type) string {
	switch {
	case t.Name() != "":
		if t.PkgPath() == "" {
			return t.Name()
		}
		return t.PkgPath() + "." + t.Name()
	case t.Kind() == reflect.Pointer:
		return "*" + typeName(t.Elem())
	case t.Kind() == reflect.Slice:
		return "[]" + typeName(t.Elem())
	case t.Kind() == reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), typeName(t.Elem()))
	case t.Kind() == reflect.Map:
		return "map[" + typeName(t.Key()) + "]" + typeName(t.Elem())
	case t.Kind() == reflect.Struct:
		var b strings.Builder
		b.WriteString("struct{")
		for f := range t.Fields() {
			fmt.Fprintf(&b, "%s %s;", f.Name, typeName(f.Type))
		}
		return b.String() + "}"
	}
	return t.String()
}

// add appends the steps of a type at an offset.
func (l *maker) add(o *layout, t reflect.Type, off uintptr, at string) (err error) {
	s := step{off: off, t: t, at: at}
	o.named = append(o.named, t)
	switch t.Kind() {
	case reflect.Bool:
		s.kind = truth
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		o.raw(off, t.Size(), at)
		return nil
	case reflect.Struct:
		return l.addStruct(o, t, off, at)
	case reflect.Array:
		return l.addArray(o, t, off, at)
	case reflect.Pointer:
		switch {
		case l.opaque[t.Elem()]:
			s.kind = opaque
		case l.forgotten[t.Elem()]:
			s.kind = forgotten
		default:
			s.kind = pointer
			s.elem, err = l.layout(t.Elem())
		}
	case reflect.Slice:
		s.kind = slice
		s.elem, err = l.layout(t.Elem())
	case reflect.String:
		s.kind = text
	case reflect.Map:
		s.kind = dict
		if s.key, err = l.layout(t.Key()); err == nil {
			s.elem, err = l.layout(t.Elem())
		}
		if err == nil && !sortable(t.Key()) {
			err = failf(at, "a map by %s has no order: expected keys that are numbers or texts, or the tag %s:%q",
				t.Key(), Tag, Assembled)
		}
	case reflect.Interface:
		s.kind = boxed
	case reflect.Func:
		s.kind = function
	default: // channels, unsafe pointers and addresses as numbers
		s.kind, s.bytes = absent, t.Size()
	}
	o.steps = append(o.steps, s)
	return err
}

// raw appends bytes, extending the previous step if they are adjacent. Padding between fields is not saved, since its
// contents are arbitrary.
func (o *layout) raw(off, n uintptr, at string) {
	if k := len(o.steps) - 1; k >= 0 && o.steps[k].kind == raw && o.steps[k].off+o.steps[k].bytes == off {
		o.steps[k].bytes += n
		return
	}
	if n > 0 {
		o.steps = append(o.steps, step{kind: raw, off: off, bytes: n, at: at})
	}
}

func (l *maker) addStruct(o *layout, t reflect.Type, off uintptr, at string) error {
	if reflect.PointerTo(t).Implements(saverType) {
		o.steps = append(o.steps, step{kind: own, off: off, t: t, at: at})
		return nil
	}
	for f := range t.Fields() {
		switch tag := f.Tag.Get(Tag); {
		case tag == Assembled || l.assembled[t][f.Name]:
			o.steps = append(o.steps, step{kind: kept, off: off + f.Offset, bytes: f.Type.Size(), t: f.Type,
				at: t.String() + "." + f.Name})
			continue
		case tag != "":
			return failf(at+"."+f.Name, "tag %s:%q: expected %q", Tag, tag, Assembled)
		}
		if err := l.add(o, f.Type, off+f.Offset, t.String()+"."+f.Name); err != nil {
			return err
		}
	}
	return nil
}

// addArray appends a step for an array.
func (l *maker) addArray(o *layout, t reflect.Type, off uintptr, at string) error {
	elem, err := l.layout(t.Elem())
	switch {
	case err != nil || t.Len() == 0 || len(elem.steps) == 0 && elem.complete:
		return err
	case elem.flat && elem.complete:
		o.raw(off, t.Size(), at)
		return nil
	}
	o.steps = append(o.steps, step{kind: repeat, off: off, n: t.Len(), t: t.Elem(), elem: elem, at: at})
	return nil
}

// sortable reports whether the keys of a map have an order that is the same in every process.
func sortable(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.String,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return true
	}
	return false
}

// consecutive returns the number of consecutive values of type want at an offset into n values of type t; 0: none.
func consecutive(t reflect.Type, n int, off uintptr, want reflect.Type) int {
	for {
		size := t.Size()
		if size == 0 {
			return 0
		}
		i := off / size
		if i >= uintptr(n) {
			return 0
		}
		rest := n - int(i)
		off -= i * size
		if off == 0 && t == want {
			return rest
		}
		switch t.Kind() {
		case reflect.Array:
			t, n = t.Elem(), t.Len()
		case reflect.Struct:
			f, ok := fieldAt(t, off)
			if !ok {
				return 0
			}
			t, n, off = f.Type, 1, off-f.Offset
		default:
			return 0
		}
	}
}

// fieldAt returns the field of a struct at an offset.
func fieldAt(t reflect.Type, off uintptr) (f reflect.StructField, ok bool) {
	for i := range t.NumField() {
		if f = t.Field(i); f.Offset <= off && off < f.Offset+f.Type.Size() {
			return f, true
		}
	}
	return f, false
}
