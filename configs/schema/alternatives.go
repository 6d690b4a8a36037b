package schema

import "reflect"

// Alternatives are sections of which one at most is there, kept in one place: a struct without tags whose only field is
// an interface, which is nil or holds a pointer to the section. Their keys belong to the section around the struct.
type Alternatives interface {
	// Alternatives returns the section's alternatives, in the order of documentation; it is called once, on the zero
	// value.
	Alternatives() []Alternative
}

// Alternative is one.
type Alternative struct {
	Key, Doc string
	Aliases  []string // further names of Key, accepted and not written
	Section  any      // a pointer to a struct like the section's
	Taken    string   // says to whom gives another section too why there cannot be both
}

// alternatives are a field's, if it has some.
func alternatives(sf reflect.StructField) (list []Alternative, ok bool) {
	if sf.Tag != "" || !sf.IsExported() || sf.Type.Kind() != reflect.Struct {
		return nil, false
	}
	a, ok := reflect.Zero(sf.Type).Interface().(Alternatives)
	if !ok {
		return nil, false
	}
	return a.Alternatives(), true
}

// alternatives adds the sections that the struct t at index may hold.
func (b *builder) alternatives(f *Field, t reflect.Type, list []Alternative, index []int, outer []reflect.Type) {
	if t.NumField() != 1 || t.Field(0).Type.Kind() != reflect.Interface {
		b.bug("alternatives are kept in a struct with one field, an interface")
	}
	where, index := b.where, append(index, 0)
	for _, a := range list {
		b.where, b.tags = where+" "+a.Key, nil
		p := reflect.TypeOf(a.Section)
		if p == nil || p.Kind() != reflect.Pointer || p.Elem().Kind() != reflect.Struct ||
			!p.Implements(t.Field(0).Type) {
			b.bug("%v is no pointer to a struct that %s can hold", p, t)
		}
		c := b.named(f, a.Key, a.Doc)
		c.Optional, c.index, c.taken, c.aliases = true, index, a.Taken, a.Aliases
		f.Fields, f.declared = append(f.Fields, c), append(f.declared, c)
		b.subsection(c, p.Elem(), outer)
	}
}

// held is the section's struct where it is kept, v: by a pointer of its own, or as one of several alternatives. ok is
// false when it is absent.
func (f *Field) held(v reflect.Value) (section reflect.Value, ok bool) {
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() || v.Type() != reflect.PointerTo(f.typ) || v.IsNil() {
		return v, false
	}
	return v.Elem(), true
}

// rival is the alternative that is there in f's stead; nil: none.
func (f *Field) rival(v reflect.Value) *Field {
	for _, c := range f.parent.Fields {
		if c == f || c.taken == "" {
			continue
		}
		if _, ok := c.held(v); ok {
			return c
		}
	}
	return nil
}
