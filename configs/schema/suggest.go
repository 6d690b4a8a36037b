package schema

import (
	"maps"
	"slices"
	"strings"

	"heddle/internal/suggest"
)

// hintKey is the tail of the message about an unknown key of a section: the
// nearest key there; else the same or nearly the same key elsewhere, for keys
// that slipped a level; else all that is known there.
func (t *tree) hintKey(section *Field, key string) string {
	var here []string
	for _, f := range section.Fields {
		here = append(here, f.Key)
	}
	names := slices.Clone(here)
	for _, f := range section.Fields {
		names = append(names, f.aliases...)
	}
	names = append(names, slices.Sorted(maps.Keys(section.former))...)
	if n := suggest.Nearest(key, names); n != "" {
		path := join(section.Path, n)
		if f := section.former[n]; f != nil {
			path = f.Path
		}
		return "; did you mean " + path + "?"
	}
	var keys, paths []string
	for _, f := range t.fields[1:] {
		keys, paths = append(keys, f.Key), append(paths, f.Path)
		if f.was != "" && f.was != f.Key {
			keys, paths = append(keys, f.was), append(paths, f.Path)
		}
	}
	if n := suggest.Nearest(key, keys); n != "" {
		for i, k := range keys {
			if k == n {
				return "; did you mean " + paths[i] + "?"
			}
		}
	}
	return "; known here: " + strings.Join(here, ", ")
}
