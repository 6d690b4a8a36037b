package count

import "reflect"

// Cycles are the Spans and Levels of a structure of statistics.
type Cycles []interface{ Settle(now uint64) }

// In finds the Spans and Levels of a structure, given by pointer, which must not move afterwards.
func In(stats any) (found Cycles) {
	each(reflect.ValueOf(stats).Elem(), func(v reflect.Value) {
		if v.Kind() != reflect.Uint64 {
			found = append(found, v.Addr().Interface().(interface{ Settle(now uint64) }))
		}
	})
	return found
}

// Settle settles all of them, before the unit's statistics are read.
func (c Cycles) Settle(now uint64) {
	for _, s := range c {
		s.Settle(now)
	}
}

// Sum adds the counts in of to those in sum, both given by pointer.
func Sum[S any](sum, of *S) {
	var counts []reflect.Value
	each(reflect.ValueOf(of).Elem(), func(v reflect.Value) { counts = append(counts, v) })
	each(reflect.ValueOf(sum).Elem(), func(v reflect.Value) {
		switch to := v.Addr().Interface().(type) {
		case *Span:
			to.add(counts[0].Addr().Interface().(*Span))
		case *Level:
			to.add(counts[0].Addr().Interface().(*Level))
		default:
			v.SetUint(v.Uint() + counts[0].Uint())
		}
		counts = counts[1:]
	})
}

// each calls f for all counts in a structure or array: numbers, Spans and Levels.
func each(v reflect.Value, f func(v reflect.Value)) {
	switch {
	case v.Type() == reflect.TypeFor[Span](), v.Type() == reflect.TypeFor[Level](), v.Kind() == reflect.Uint64:
		f(v)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			each(v.Field(i), f)
		}
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			each(v.Index(i), f)
		}
	default:
		panic("BUG: count: a statistic is a " + v.Type().String())
	}
}
