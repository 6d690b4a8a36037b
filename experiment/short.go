package experiment

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// ShortKeys returns keys without the leading sections that are not needed to distinguish them: bytes, or l1d.bytes
// beside l2.bytes.
func ShortKeys(keys []string) []string {
	short := make([]string, len(keys))
	for i, key := range keys {
		parts := strings.Split(key, ".")
		for n := 1; n <= len(parts); n++ {
			short[i] = strings.Join(parts[len(parts)-n:], ".")
			if !slices.ContainsFunc(keys, func(other string) bool {
				return other != key && (other == short[i] || strings.HasSuffix(other, "."+short[i]))
			}) {
				break
			}
		}
	}
	return short
}

// fileSuffix matches the suffixes of files of graphs, programs and traces, with that of a compressed one.
var fileSuffix = regexp.MustCompile(`\.[a-zA-Z][a-zA-Z0-9]{0,6}(\.(gz|xz|bz2|zst))?$`)

// fileKeys are the last parts of keys whose values are files.
var fileKeys = []string{"file", "program", "trace", "schedule_file"}

// mostShort is the length to which values are cut that are whole sections.
const mostShort = 32

// ShortValues returns short forms of a key's values, each of another value: files without folders and suffixes, and
// sections without their braces and at most 32 characters long.
func ShortValues(key string, values []string) map[string]string {
	short, taken := map[string]string{}, map[string]int{}
	for _, v := range values {
		if _, done := short[v]; !done {
			short[v] = shortValue(key, v)
			taken[short[v]]++
		}
	}
	for v, s := range short {
		if taken[s] > 1 {
			short[v] = v
		}
	}
	return short
}

func shortValue(key, value string) string {
	isFile := slices.Contains(fileKeys, Short(key))
	switch {
	case strings.HasPrefix(value, "{"):
		value = strings.NewReplacer("{", "", "}", "", `"`, "").Replace(value)
		if runes := []rune(value); len(runes) > mostShort {
			value = string(runes[:mostShort-1]) + "…"
		}
	case isFile || strings.Contains(value, "/") && fileSuffix.MatchString(value):
		base := path.Base(strings.ReplaceAll(value, `\`, "/"))
		if without := fileSuffix.ReplaceAllString(base, ""); without != "" {
			return without
		}
		return base
	}
	return value
}

// axes are the keys that vary among points, for a table: a column each.
type axes struct {
	keys   []string
	titles []string            // short forms of the keys
	short  []map[string]string // short forms of the values, by column
	// implied are the columns, from 0, whose values follow from those of another column: they are left out where there
	// is no room.
	implied []int
}

// newAxes returns the axes of points, whose settings are given in the order of the experiment.
func newAxes(keys []string, points [][]Setting) axes {
	a := axes{keys: keys, titles: ShortKeys(keys)}
	columns := make([][]string, len(keys))
	for k, key := range keys {
		for _, p := range points {
			v, ok := settingOf(p, key)
			if ok {
				columns[k] = append(columns[k], v)
			} else {
				columns[k] = append(columns[k], missing)
			}
		}
		a.short = append(a.short, ShortValues(key, columns[k]))
	}
	for k := len(keys) - 1; k > 0; k-- { // the first names variants
		for j := range keys {
			if j != k && !slices.Contains(a.implied, j) && !slices.Contains(columns[j], missing) &&
				follows(columns[k], columns[j]) {
				a.implied = append(a.implied, k)
				break
			}
		}
	}
	return a
}

// missing stands for the value of an axis that a point lacks.
const missing = "–"

func settingOf(p []Setting, key string) (string, bool) {
	for _, s := range p {
		if s.Key == key {
			return s.Value, true
		}
	}
	return "", false
}

// follows reports whether the values of a column follow from those of another.
func follows(values, from []string) bool {
	of := map[string]string{}
	for i, v := range values {
		if seen, ok := of[from[i]]; ok && seen != v {
			return false
		}
		of[from[i]] = v
	}
	return true
}

// row returns the short values of a point.
func (a *axes) row(p []Setting) (row []any) {
	for k, key := range a.keys {
		value, ok := settingOf(p, key)
		if !ok {
			value = missing
		}
		if s, ok := a.short[k][value]; ok {
			value = s
		}
		row = append(row, value)
	}
	return row
}

// longest returns the length of the longest value of each axis, so that values are not broken while columns can still
// be dropped.
func (a *axes) longest() (lengths []int) {
	for k, values := range a.short {
		most := utf8.RuneCountInString(a.titles[k])
		for _, s := range values {
			most = max(most, utf8.RuneCountInString(s))
		}
		lengths = append(lengths, most)
	}
	return lengths
}

// varyingKeys returns the keys of axes in which points differ, in the order of the experiment.
func varyingKeys(points [][]Setting) (keys []string) {
	for _, p := range points {
		for _, s := range p {
			if slices.Contains(keys, s.Key) {
				continue
			}
			first, there := settingOf(points[0], s.Key)
			if slices.ContainsFunc(points, func(o []Setting) bool {
				v, ok := settingOf(o, s.Key)
				return ok != there || v != first
			}) {
				keys = append(keys, s.Key)
			}
		}
	}
	return keys
}

// AxisColumns returns the settings that vary among points as columns of a table: titles, and each point's short values.
// Points that differ in nothing have no columns.
func AxisColumns(points [][]Setting) (titles []string, rows [][]any) {
	if len(points) == 0 {
		return nil, nil
	}
	a := newAxes(varyingKeys(points), points)
	for _, p := range points {
		rows = append(rows, a.row(p))
	}
	return a.titles, rows
}

// HasSetting reports whether a point has a setting that a user gives as key=value or as a value alone. Keys may be
// given by their last parts, and values without the part before their last slash.
func HasSetting(p []Setting, text string) bool {
	key, value, named := strings.Cut(strings.TrimSpace(text), "=")
	if !named {
		key, value = "", key
	}
	for _, s := range p {
		if key != "" && s.Key != key && !strings.HasSuffix(s.Key, "."+key) {
			continue
		}
		if s.Value == value || s.Value[strings.LastIndexByte(s.Value, '/')+1:] == value ||
			shortValue(s.Key, s.Value) == value {
			return true
		}
	}
	return false
}
