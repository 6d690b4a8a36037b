// Package suggest finds the name closest to an unknown one, for messages.
package suggest

import "strings"

// longest bounds the work on hostile words; names are far shorter.
const longest = 80

// DidYouMean returns the tail of a message about an unknown name: empty if no name is close.
func DidYouMean(word string, names []string) string {
	if n := Nearest(word, names); n != "" {
		return "; did you mean " + n + "?"
	}
	return ""
}

// Nearest returns the name closest to word, the first of equals, or "" if none is close: a third of the letters may
// differ, and always one. If none is that close, it returns the only name that contains word or is contained in it
// ("peg" for "graphpeg"), with three letters in common or more. Case is ignored.
func Nearest(word string, names []string) string {
	if len(word) > longest {
		return ""
	}
	best, found := max(1, len(word)/3)+1, ""
	for _, name := range names {
		if d := distance(strings.ToLower(word), strings.ToLower(name)); d < best {
			best, found = d, name
		}
	}
	if found == "" {
		found = contained(strings.ToLower(word), names)
	}
	return found
}

// contained returns the only name that contains word or that word contains, or "".
func contained(word string, names []string) (found string) {
	const least = 3
	for _, name := range names {
		lower := strings.ToLower(name)
		if min(len(lower), len(word)) < least || !strings.Contains(lower, word) && !strings.Contains(word, lower) {
			continue
		}
		if found != "" {
			return ""
		}
		found = name
	}
	return found
}

// distance returns the number of insertions, deletions, replacements and swaps of neighbours that turn a into b (the
// optimal string alignment distance).
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
