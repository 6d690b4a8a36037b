// Package stats names, documents and lists the counts of machines.
//
// A count is declared once, as a field of its unit's Stats whose tags hold its name, unit and meaning. This package
// only walks such structures. It knows no unit.
package stats

import (
	"fmt"
	"reflect"
	"strconv"
)

// Stat is one statistic.
type Stat struct {
	Name string // dotted: core0.scheduler.issued
	Unit string // unit of a value; "" for a ratio
	Doc  string // one line
	// Half is half the 95 % confidence interval of an estimate, in the statistic's unit; 0: it is exact.
	Half float64

	count       uint64
	ratio       float64
	isF         bool
	over, under float64 // of a ratio; under is 0 of a constant
}

// Count makes a statistic that is counted.
func Count(name, unit, doc string, v uint64) Stat {
	return Stat{Name: name, Unit: unit, Doc: doc, count: v}
}

// Ratio makes a statistic that is a quotient: of counts, 0 if the divisor is 0.
func Ratio(name, unit, doc string, over, under float64) Stat {
	return Stat{Name: name, Unit: unit, Doc: doc, isF: true}.of(over, under)
}

// Constant makes a statistic that is no count, and the same over any time.
func Constant(name, unit, doc string, v float64) Stat {
	return Stat{Name: name, Unit: unit, Doc: doc, isF: true, ratio: v}
}

func (s Stat) of(over, under float64) Stat {
	s.over, s.under, s.ratio = over, under, 0
	if under != 0 {
		s.ratio = over / under
	}
	return s
}

// Since returns the statistic over the time since an earlier value of it: the difference of a
// count, the quotient of the differences of a ratio.
func (s Stat) Since(before Stat) Stat {
	switch {
	case !s.isF:
		s.count -= before.count
	case s.under != 0:
		return s.of(s.over-before.over, s.under-before.under)
	}
	return s
}

// Plus puts two times together that follow each other. Intervals of estimates add up, as if their errors went together.
func (s Stat) Plus(next Stat) Stat {
	switch {
	case !s.isF:
		s.count += next.count
		s.Half += next.Half
	case s.under != 0 || next.under != 0:
		both := s.of(s.over+next.over, s.under+next.under)
		if both.under > 0 {
			both.Half = (s.Half*s.under + next.Half*next.under) / both.under
		}
		return both
	}
	return s
}

// Float returns the value.
func (s Stat) Float() float64 {
	if s.isF {
		return s.ratio
	}
	return float64(s.count)
}

// Uint returns a count; ok is false of a ratio.
func (s Stat) Uint() (n uint64, ok bool) { return s.count, !s.isF }

// MarshalJSON writes the value alone; counts as integers. An estimate is an object with its confidence interval.
func (s Stat) MarshalJSON() ([]byte, error) {
	if s.Half == 0 {
		return []byte(s.String()), nil
	}
	return fmt.Appendf(nil, `{"estimate":%s,"ci95":%s}`, s, strconv.FormatFloat(s.Half, 'g', -1, 64)), nil
}

// String returns the value: a count in full, a ratio with all its digits.
func (s Stat) String() string {
	if s.isF {
		return strconv.FormatFloat(s.ratio, 'g', -1, 64)
	}
	return strconv.FormatUint(s.count, 10)
}

// Since returns all statistics over the time since an earlier tree of the same machine.
func (t Tree) Since(before Tree) Tree {
	out := make(Tree, len(t))
	for i := range t {
		out[i] = t[i].Since(before[i])
	}
	return out
}

// Final returns the values alone: ratios have become constants, whatever they were quotients of.
func (t Tree) Final() Tree {
	out := make(Tree, len(t))
	for i, s := range t {
		s.over, s.under = 0, 0
		out[i] = s
	}
	return out
}

// Tree is a list of statistics in a fixed order, with unique names.
type Tree []Stat

// Get returns the statistic of that name.
func (t Tree) Get(name string) (Stat, bool) {
	for _, s := range t {
		if s.Name == name {
			return s, true
		}
	}
	return Stat{}, false
}

// Map returns the values by name, for JSON.
func (t Tree) Map() map[string]Stat {
	m := make(map[string]Stat, len(t))
	for _, s := range t {
		m[s.Name] = s
	}
	return m
}

// describer is an array whose elements have names of their own.
type describer interface {
	Describe(i int) (name, doc string)
}

// counter is a structure that comes to one count, as a count.Span or count.Level.
type counter interface{ Count() uint64 }

// Walk lists the counts of a Stats structure, given by pointer, under a prefix: each uint64 or
// counter with its tags stat, unit and doc; arrays that describe their elements; structures within. A
// field without a tag is a mistake of the programmer.
func Walk(prefix string, p any) Tree { return walk(nil, prefix, reflect.ValueOf(p).Elem()) }

func walk(t Tree, prefix string, v reflect.Value) Tree {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, ok := f.Tag.Lookup("stat")
		if !ok {
			panic(fmt.Sprintf("BUG: stats: %s.%s has no stat tag", v.Type(), f.Name))
		}
		if name == "-" {
			continue
		}
		t = field(t, join(prefix, name), f.Tag, v.Field(i))
	}
	return t
}

func field(t Tree, name string, tag reflect.StructTag, v reflect.Value) Tree {
	switch v.Kind() {
	case reflect.Uint64:
		return append(t, Count(name, tag.Get("unit"), tag.Get("doc"), v.Uint()))
	case reflect.Struct:
		if c, ok := v.Addr().Interface().(counter); ok {
			return append(t, Count(name, tag.Get("unit"), tag.Get("doc"), c.Count()))
		}
		return walk(t, name, v)
	case reflect.Array:
		d, ok := v.Addr().Interface().(describer)
		if !ok {
			break
		}
		for i := range v.Len() {
			part, doc := d.Describe(i)
			t = append(t, Count(join(name, part), tag.Get("unit"), doc, counted(v.Index(i))))
		}
		return t
	}
	panic(fmt.Sprintf("BUG: stats: %s is a %s", name, v.Type()))
}

// counted is the count of an element of an array.
func counted(v reflect.Value) uint64 {
	if c, ok := v.Addr().Interface().(counter); ok {
		return c.Count()
	}
	return v.Uint()
}

func join(prefix, name string) string {
	if prefix == "" || name == "" {
		return prefix + name
	}
	return prefix + "." + name
}

// Sum adds up trees of one structure, such as those of all cores, under a prefix of its own.
func Sum(prefix string, of []Tree) Tree {
	if len(of) == 0 {
		return nil
	}
	out := make(Tree, len(of[0]))
	for i, s := range of[0] {
		out[i] = Count(join(prefix, s.Name), s.Unit, s.Doc, 0)
		for _, t := range of {
			out[i].count += t[i].count
		}
	}
	return out
}

// Under puts a tree below a prefix.
func (t Tree) Under(prefix string) Tree {
	out := make(Tree, len(t))
	for i, s := range t {
		s.Name = join(prefix, s.Name)
		out[i] = s
	}
	return out
}
