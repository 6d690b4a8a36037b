package config

import (
	"fmt"
	"slices"
	"strings"

	"heddle/configs/schema"
)

// loadVariants loads an experiment with --set keys of a unit, or another optional section, that only some variants of
// compare have. Such a key is set in those variants alone; set for the experiment as a whole, it would create the unit
// in the others. It returns nil if there is no such key, or if the experiment has errors, which Load reports.
func loadVariants(in schema.Input) (*schema.Loaded[Experiment], error) {
	var plain, units []string
	for _, s := range in.Set {
		if key, _, ok := strings.Cut(s, "="); ok && Schema.Conditional(key) {
			units = append(units, s)
		} else {
			plain = append(plain, s)
		}
	}
	if len(units) == 0 {
		return nil, nil
	}
	with := func(more []string) (*schema.Loaded[Experiment], error) {
		in := in
		in.Set = slices.Concat(plain, more)
		return Schema.Load(in)
	}
	l, err := with(nil)
	if err != nil || len(l.Value.Compare) < 2 {
		return nil, nil // loading with all keys reports the errors
	}
	var all, some []string
	for _, s := range units {
		key, _, _ := strings.Cut(s, "=")
		switch n := holders(l, key, plain); {
		case n == len(l.Value.Compare):
			all = append(all, s)
		case n == 0:
			return nil, fmt.Errorf("--set %s: no variant of compare has %s: give it to those that are to have it, "+
				"or to all with --set %s={}", key, above(key), above(key))
		case !l.Value.Compare.Named():
			return nil, fmt.Errorf("--set %s: not all variants of compare have %s: name them (compare: - {name: …}) "+
				"and set the key in those that have it", key, above(key))
		default:
			some = append(some, s)
		}
	}
	if len(some) == 0 {
		return nil, nil
	}
	if l, err = with(all); err != nil {
		return nil, nil
	}
	l.Value.Compare = slices.Clone(l.Value.Compare)
	for _, s := range some {
		key, value, _ := strings.Cut(s, "=")
		for i := range l.Value.Compare {
			v := &l.Value.Compare[i]
			own := slices.ContainsFunc(v.Set, func(x schema.Setting) bool { return x.Key == key })
			if own || !l.Holds(key, settings(v, plain)...) {
				continue
			}
			v.Set = append(slices.Clone(v.Set), schema.Setting{Key: key, Value: value})
			if _, err := l.With(settings(v, plain)...); err != nil {
				return nil, fmt.Errorf("--set %s: at variant %s: %w", key, v.Name, err)
			}
		}
	}
	return l, nil
}

// holders counts the variants that have the sections enclosing a key.
func holders(l *schema.Loaded[Experiment], key string, set []string) (n int) {
	for i := range l.Value.Compare {
		if l.Holds(key, settings(&l.Value.Compare[i], set)...) {
			n++
		}
	}
	return n
}

// settings returns a variant's settings in the form that With takes, with those of --set below sections that the
// variant replaces.
func settings(v *schema.Variant, set []string) (args []string) {
	for _, s := range v.Set {
		args = append(args, s.Key+"="+s.Value)
	}
	for _, s := range set {
		key, _, _ := strings.Cut(s, "=")
		below := slices.ContainsFunc(v.Set, func(x schema.Setting) bool { return Schema.Within(key, x.Key) })
		if own := slices.ContainsFunc(v.Set, func(x schema.Setting) bool { return x.Key == key }); below && !own {
			args = append(args, s)
		}
	}
	return args
}

// above returns the section of a key.
func above(key string) string { return key[:strings.LastIndexByte(key, '.')] }
