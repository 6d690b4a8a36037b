package count

import "reflect"

// Cycles are the Spans and Levels of a structure of statistics.
type Cycles []interface{ Settle(now uint64) }

// In finds those of a structure, given by pointer, that stays where it is.
func In(stats any) (found Cycles) {
	each(reflect.ValueOf(stats).Elem(), func(v reflect.Value) {
		if v.Kind() != reflect.Uint64 {
			found = append(found, v.Addr().Interface().(interface{ Settle(now uint64) }))
		}
	})
	return found
}

// Settle has all of them count the cycles before now: a unit does so before its statistics are read.
func (c Cycles) Settle(now uint64) {
	for _, s := range c {
		s.Settle(now)
	}
}

// Sum adds to a structure of statistics what another of its type has counted, both given by pointer.
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

// each calls f for all counts within a structure or an array, which are numbers, Spans and Levels.
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
