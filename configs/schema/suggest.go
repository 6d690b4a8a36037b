package schema

import (
	"maps"
	"slices"
	"strings"

	"heddle/internal/suggest"
)

// closest returns the path of a key of that name: of several one in a section beside which the name was written, else
// the one that has the most sections in common with where it was written.
func closest(section, name string, keys, paths []string, beside map[string]int) (path string) {
	most, at := -1, strings.Split(section, ".")
	for i, k := range keys {
		if k != name {
			continue
		}
		common, other := 0, strings.Split(paths[i], ".")
		for common < min(len(at), len(other)) && at[common] == other[common] {
			common++
		}
		if _, written := beside[other[min(common, len(other)-1)]]; written && common == len(at) {
			common++
		}
		if common > most {
			most, path = common, paths[i]
		}
	}
	return path
}

// hintKey is the tail of the message about an unknown key of a section: the
// nearest key there; else the same or nearly the same key elsewhere, for keys
// that slipped a level; else all that is known there. beside has the keys that
// were written before it in the section.
func (t *tree) hintKey(section *Field, key string, beside map[string]int) string {
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
		return "; did you mean " + closest(section.Path, n, keys, paths, beside) + "?"
	}
	return "; known here: " + strings.Join(here, ", ")
}
