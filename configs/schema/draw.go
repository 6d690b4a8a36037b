package schema

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
)

// Drawing configures Draw.
type Drawing[T any] struct {
	Rand *rand.Rand
	// Keep are paths of keys and sections, or the own names of keys, that stay as they are.
	Keep []string
	// Most is, by path or by a key's own name, the largest value that is drawn, where a legal one would cost too much
	// host time.
	Most map[string]int64
	// Fit adjusts the other values that a drawn value requires, before the rules across keys are checked; nil: no
	// change. Without it, values that are legal only in combination would never be drawn together.
	Fit func(*T)
	// Refused checks rules that the schema does not know, and returns the violation; nil: none.
	Refused func(T) error
}

// Draw returns a configuration in which each key has any of its legal values, drawn key by key from start, in random
// order: minimum, maximum, small values and all in between. It is for tests. A drawn value that violates a rule across
// keys is redrawn a few times, and otherwise left unchanged. The error is a mistake in the schema: a string without a
// list of values, or a Validator that blames a nonexistent key.
func (s *Schema[T]) Draw(start T, d Drawing[T]) (T, error) {
	const tries = 4
	fields := slices.Clone(s.Fields())
	d.Rand.Shuffle(len(fields), func(i, k int) { fields[i], fields[k] = fields[k], fields[i] })
	// Sections first: a key counts only where its section is.
	slices.SortStableFunc(fields, func(a, b *Field) int {
		return cmp.Compare(depthIfSection(a), depthIfSection(b))
	})
	for _, f := range fields {
		if d.keeps(f) {
			continue
		}
		for range tries {
			next := s.clone(start)
			drawn, err := d.change(s.tree().root, f, reflect.ValueOf(&next).Elem())
			if err != nil || !drawn {
				if err != nil {
					return start, err
				}
				break
			}
			if d.Fit != nil {
				d.Fit(&next)
			}
			illegal, err := s.Legal(next)
			if err != nil {
				return start, err
			}
			if illegal == nil && (d.Refused == nil || d.Refused(next) == nil) {
				start = next
				break
			}
		}
	}
	return start, nil
}

func depthIfSection(f *Field) int {
	if f.isSection() {
		return strings.Count(f.Path, ".")
	}
	return math.MaxInt
}

func (d *Drawing[T]) keeps(f *Field) bool {
	own := f.Path[strings.LastIndexByte(f.Path, '.')+1:]
	if f.special() || f.isSection() && !f.Optional || slices.Contains(d.Keep, own) {
		return true
	}
	for p := f; p != nil; p = p.parent {
		if p.Path != "" && p.main == nil && slices.Contains(d.Keep, p.Path) {
			return true
		}
	}
	return false
}

// change draws f in v, the root's struct; drawn is false when f's section is absent.
func (d *Drawing[T]) change(root, f *Field, v reflect.Value) (drawn bool, err error) {
	section, ok := f.parent.in(v)
	if !ok {
		return false, nil
	}
	dst := section.FieldByIndex(f.index)
	if f.isSection() {
		if f.taken != "" && f.rival(dst) != nil {
			return false, nil
		}
		dst.SetZero()
		if d.Rand.IntN(2) == 0 {
			fresh := reflect.New(f.typ)
			dst.Set(fresh)
			f.fillDefaults(fresh.Elem())
		}
		return true, nil
	}
	x, err := d.value(f)
	if err == nil {
		dst.Set(x)
	}
	return true, err
}

// in finds the struct of section f below v, the root's; ok is false when it is absent.
func (f *Field) in(v reflect.Value) (reflect.Value, bool) {
	if f.parent == nil {
		return v, true
	}
	v, ok := f.parent.in(v)
	if !ok {
		return v, false
	}
	return f.sectionIn(v)
}

// fillDefaults fills a section that is new.
func (f *Field) fillDefaults(v reflect.Value) {
	for _, c := range f.Fields {
		switch {
		case c.isSection() && !c.Optional:
			c.fillDefaults(v.FieldByIndex(c.index))
		case !c.isSection() && c.def.IsValid():
			v.FieldByIndex(c.index).Set(copied(c.def))
		}
	}
}

// Default returns the configuration of an empty file. Required keys are left empty.
func (s *Schema[T]) Default() (v T) {
	s.tree().root.fillDefaults(reflect.ValueOf(&v).Elem())
	return v
}

// DefaultSection returns a pointer to the struct of an optional section of which nothing is said but that it is there.
// It panics when path is none.
func (s *Schema[T]) DefaultSection(path string) any {
	f := s.tree().byPath[path]
	if f == nil || !f.Optional {
		panic("BUG: schema: " + path + " is no optional section")
	}
	section := reflect.New(f.typ)
	f.fillDefaults(section.Elem())
	return section.Interface()
}

func (d *Drawing[T]) value(f *Field) (reflect.Value, error) {
	if !f.list {
		return d.scalar(f)
	}
	list := f.emptyList()
	for range d.Rand.IntN(4) {
		x, err := d.scalar(f)
		if err != nil {
			return list, err
		}
		list = reflect.Append(list, x)
	}
	return list, nil
}

func (d *Drawing[T]) scalar(f *Field) (reflect.Value, error) {
	switch s := f.scalar.(type) {
	case *integer:
		most, limited := d.Most[f.Path]
		if !limited {
			most, limited = d.Most[f.Key]
		}
		hi := s.hi
		if limited && hi.Cmp(big.NewInt(most)) > 0 {
			hi = big.NewInt(max(most, s.lo.Int64()))
		}
		return s.draw(d.Rand, hi), nil
	case *float:
		v := reflect.New(s.typ).Elem()
		v.SetFloat([]float64{s.lo, s.hi, s.lo + (s.hi-s.lo)*d.Rand.Float64()}[d.Rand.IntN(3)])
		return v, nil
	}
	names := f.scalar.values()
	if len(names) == 0 {
		return reflect.Value{}, fmt.Errorf("%s has no values to draw from", f.Path)
	}
	v, _ := f.scalar.parse(names[d.Rand.IntN(len(names))])
	return v, nil
}

// draw draws one of the type's values up to hi: often the least, the most and small ones, and else any.
func (s *integer) draw(r *rand.Rand, hi *big.Int) reflect.Value {
	span := new(big.Int).Sub(hi, s.lo) // at most 2^64 - 1
	n := new(big.Int)
	switch r.IntN(6) {
	case 0:
	case 1:
		n.Set(span)
	case 2:
		n.SetUint64(r.Uint64N(8))
	case 3, 4: // as likely of each size
		n.SetUint64(r.Uint64() >> (64 - r.IntN(span.BitLen()+1)))
	default:
		n.SetUint64(r.Uint64())
		n.Mod(n, new(big.Int).Add(span, big.NewInt(1)))
	}
	if n.Cmp(span) > 0 {
		n.Set(span)
	}
	n.Add(n, s.lo)
	s.round(n)
	v := reflect.New(s.typ).Elem()
	if v.CanInt() {
		v.SetInt(n.Int64())
	} else {
		v.SetUint(n.Uint64())
	}
	return v
}

// round makes n a power of two, or a multiple, where it has to be one.
func (s *integer) round(n *big.Int) {
	if s.pow2 {
		n.SetBit(new(big.Int), max(n.BitLen()-1, 0), 1)
		if n.Cmp(s.lo) < 0 {
			n.Lsh(n, 1)
		}
	}
	if s.multiple != nil {
		n.Sub(n, new(big.Int).Mod(n, s.multiple))
		if n.Cmp(s.lo) < 0 {
			n.Add(n, s.multiple)
		}
	}
}

// Legal checks a configuration that was not loaded: every key's range, and the rules across keys. illegal describes a
// violation; the error is a mistake in the schema, a Validator that blames a nonexistent key.
func (s *Schema[T]) Legal(v T) (illegal, err error) {
	r := resolver{tree: s.tree(), layers: newLayers(), origins: map[*Field]Origin{}}
	root := reflect.ValueOf(&v).Elem()
	r.ranges(s.tree().root, root)
	if r.bad.err() == nil {
		r.validate(s.tree().root, root)
	}
	if len(r.strays) > 0 {
		return r.bad.err(), fmt.Errorf("a Validator blames %s, which is no key", strings.Join(r.strays, ", "))
	}
	return r.bad.err(), nil
}

// ranges checks each leaf by itself.
func (r *resolver) ranges(f *Field, v reflect.Value) {
	for _, c := range f.Fields {
		if sub, ok := c.sectionIn(v); ok {
			r.ranges(c, sub)
		} else if c.scalar != nil && !c.list {
			if text := c.scalar.text(sub); !c.parses(text) {
				r.bad.add(Origin{}, c.Path, "%s: expected %s", text, c.expected())
			}
		}
	}
}

func (f *Field) parses(text string) bool {
	_, ok := f.scalar.parse(text)
	return ok
}

// clone copies a configuration with all that it points to.
func (s *Schema[T]) clone(v T) T {
	s.tree().root.unshare(reflect.ValueOf(&v).Elem())
	return v
}

func (f *Field) unshare(v reflect.Value) {
	for _, c := range f.Fields {
		dst := v.FieldByIndex(c.index)
		switch {
		case c.isSection() && c.Optional:
			if section, ok := c.held(dst); ok {
				fresh := reflect.New(c.typ)
				fresh.Elem().Set(section)
				dst.Set(fresh)
				c.unshare(fresh.Elem())
			}
		case c.isSection():
			c.unshare(dst)
		case c.list:
			dst.Set(copied(dst))
		}
	}
}

// Extremes returns, for each key that start has, start with that key at its least and at its most (of an enumeration,
// at each of its values), as far as Fit makes these legal. Keep and Most are heeded.
func (s *Schema[T]) Extremes(start T, d Drawing[T]) (all map[string]T, err error) {
	all = map[string]T{}
	for _, f := range s.Fields() {
		if d.keeps(f) || f.isSection() || f.list {
			continue
		}
		if _, ok := f.parent.in(reflect.ValueOf(&start).Elem()); !ok {
			continue
		}
		for _, text := range d.extremes(f) {
			next := s.clone(start)
			section, _ := f.parent.in(reflect.ValueOf(&next).Elem())
			x, ok := f.scalar.parse(text)
			if !ok {
				continue
			}
			section.FieldByIndex(f.index).Set(x)
			if d.Fit != nil {
				d.Fit(&next)
			}
			illegal, err := s.Legal(next)
			if err != nil {
				return nil, err
			}
			if illegal == nil {
				all[f.Path+"="+text] = next
			}
		}
	}
	return all, nil
}

func (d *Drawing[T]) extremes(f *Field) []string {
	switch s := f.scalar.(type) {
	case *integer:
		hi := new(big.Int).Set(s.hi)
		if most, ok := d.Most[f.Key]; ok && hi.Cmp(big.NewInt(most)) > 0 {
			hi.SetInt64(most)
		}
		lo := new(big.Int).Set(s.lo)
		s.round(lo)
		s.round(hi)
		return []string{s.format(lo), s.format(hi)}
	case *float:
		return []string{s.format(s.lo), s.format(s.hi)}
	}
	return f.scalar.values()
}
