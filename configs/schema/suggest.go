package schema

import "strings"

// maxSuggestLen bounds the work on hostile keys; ours are far shorter.
const maxSuggestLen = 80

// distance counts the insertions, deletions, replacements and swaps of
// neighbours that turn a into b.
func distance(a, b string) int {
	row := func() []int { return make([]int, len(b)+1) }
	before, last, now := row(), row(), row()
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		now[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(b)]
}

// nearest returns the name closest to word, the first of equals, or "" when
// none is close: a third of the letters may differ.
func nearest(word string, names []string) string {
	if len(word) > maxSuggestLen {
		return ""
	}
	best, found := max(1, len(word)/3)+1, ""
	for _, name := range names {
		if d := distance(strings.ToLower(word), name); d < best {
			best, found = d, name
		}
	}
	return found
}

// didYouMean is the tail of a message about an unknown name.
func didYouMean(word string, names []string) string {
	if n := nearest(word, names); n != "" {
		return "; did you mean " + n + "?"
	}
	return ""
}

// hintKey is the tail of the message about an unknown key of a section: the
// nearest key there; else the same or nearly the same key elsewhere, for keys
// that slipped a level; else all that is known there.
func (t *tree) hintKey(section *Field, key string) string {
	var here []string
	for _, f := range section.Fields {
		here = append(here, f.Key)
	}
	if n := nearest(key, here); n != "" {
		return "; did you mean " + join(section.Path, n) + "?"
	}
	var keys, paths []string
	for _, f := range t.fields[1:] {
		keys, paths = append(keys, f.Key), append(paths, f.Path)
	}
	if n := nearest(key, keys); n != "" {
		for i, k := range keys {
			if k == n {
				return "; did you mean " + paths[i] + "?"
			}
		}
	}
	return "; known here: " + strings.Join(here, ", ")
}
