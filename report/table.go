package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"heddle/experiment"
)

// table is all points with the headline figures.
type table struct {
	Head []head
	Rows [][]cell
	More int // points that are left out
}

// foldRows is the number of points from which on the page shows the table when the reader asks for it.
const foldRows = 20

// Folded reports whether the page shows the table only when the reader asks for it.
func (t *table) Folded() bool { return len(t.Rows) > foldRows }

type head struct {
	Title   string
	Numeric bool
}

// cell is a text and its sort key.
type cell struct {
	Text string
	Sort string
	Bad  bool
}

// maxRows bounds the rows that a browser lays out.
const maxRows = 5000

func newTable(r *Result) (t table) {
	keys := r.varying()
	if r.Seeds > 1 {
		keys = append(keys, experiment.SeedKey)
	}
	for _, k := range keys {
		t.Head = append(t.Head, head{Title: experiment.Short(k)})
	}
	var shown []metric
	for _, m := range metrics {
		if slices.ContainsFunc(r.Points, func(p *Point) bool { _, ok := p.any(m.Name); return ok }) {
			shown = append(shown, m)
			t.Head = append(t.Head, head{m.Title, true})
		}
	}
	t.Head = append(t.Head, head{Title: "verified"})
	for _, p := range r.Points[:min(len(r.Points), maxRows)] {
		t.Rows = append(t.Rows, newRow(p, keys, shown))
	}
	t.More = max(0, len(r.Points)-maxRows)
	return t
}

func newRow(p *Point, keys []string, shown []metric) (row []cell) {
	for _, k := range keys {
		c := cell{Text: clip(p.Axes[k]), Sort: p.Axes[k]}
		if n, ok := ParseNumber(p.Axes[k]); ok {
			c.Sort = strconv.FormatFloat(n, 'g', -1, 64)
		}
		if !p.has(k) {
			c.Text = "–"
		}
		row = append(row, c)
	}
	for _, m := range shown {
		row = append(row, p.cell(m))
	}
	text := experiment.Verdict(p.Verified, p.Replay, p.Partial, p.Failure)
	return append(row, cell{Text: text, Sort: text, Bad: !p.counts()})
}

func (p *Point) cell(m metric) cell {
	v, ok := p.any(m.Name)
	if !ok {
		return cell{Text: "–"}
	}
	c := cell{Sort: strconv.FormatFloat(v, 'g', -1, 64)}
	switch {
	case m.Name == "speedup":
		c.Text = strconv.FormatFloat(v, 'f', 2, 64) + "×"
	case m.Percent:
		c.Text = strconv.FormatFloat(100*v, 'f', 1, 64) + " %"
	case v == float64(uint64(max(v, 0))) && v >= 1000:
		c.Text = experiment.Thousands(uint64(v))
	default:
		c.Text = strconv.FormatFloat(v, 'g', 4, 64)
	}
	c.Text += experiment.Within(p.half(m.Name), v)
	return c
}

// differences are the keys at which the variants' configurations differ.
type differences struct {
	Names []string
	Rows  []differenceRow
}

type differenceRow struct {
	Key    string
	Values []string
	Same   []bool // as the baseline
	// Section is one that some variants lack, which has the key: keys of one section are one row, whose Lines, by
	// variant, are all of its keys and values.
	Section string
	Lines   [][]string

	absent []bool // by variant: it lacks the key
	folded int    // keys in the row, if there are several
}

// maxCompared bounds the columns.
const maxCompared = 12

// compareConfigs compares the variants at the sweep's first place.
func compareConfigs(r *Result) (d differences) {
	var first []*Point
	for v := range r.Variants[:min(len(r.Variants), maxCompared)] {
		i := slices.IndexFunc(r.Points, func(p *Point) bool { return p.Variant == v })
		first = append(first, r.Points[i])
		d.Names = append(d.Names, r.Variants[v])
	}
	if len(first) < 2 {
		return differences{}
	}
	of := make([]map[string]string, len(first))
	keys := map[string]bool{}
	for i, p := range first {
		of[i] = Flatten(p.Config)
		for k := range of[i] {
			keys[k] = true
		}
	}
	for _, key := range sortedKeys(keys) {
		row, differ := compareKey(key, of)
		if !differ {
			continue
		}
		if n := len(d.Rows); row.Section != "" && n > 0 && d.Rows[n-1].Section == row.Section &&
			slices.Equal(d.Rows[n-1].absent, row.absent) {
			d.Rows[n-1].add(&row)
			continue
		}
		d.Rows = append(d.Rows, row)
	}
	return d
}

// add folds another key of a section that some variants lack into the section's row.
func (r *differenceRow) add(key *differenceRow) {
	if r.folded == 0 {
		first := *r
		r.Key, r.folded = r.Section, 1
		r.Lines = make([][]string, len(r.Values))
		for v := range r.Values {
			r.Lines[v] = append(r.Lines[v], first.Key[len(r.Section)+1:]+": "+first.Values[v])
		}
	}
	r.folded++
	for v := range r.Values {
		r.Same[v] = r.Same[v] && key.Same[v]
		r.Lines[v] = append(r.Lines[v], key.Key[len(r.Section)+1:]+": "+key.Values[v])
		r.Values[v] = fmt.Sprintf("%d keys", r.folded)
		if r.absent[v] {
			r.Values[v], r.Lines[v] = absent, nil
		}
	}
}

// compareKey compares the values of a key in the variants' configurations.
func compareKey(key string, of []map[string]string) (row differenceRow, differ bool) {
	row.Key = key
	base := keyText(of[0], key)
	for _, config := range of {
		text := keyText(config, key)
		row.Values = append(row.Values, text)
		row.Same = append(row.Same, text == base)
		differ = differ || text != base
		_, has := config[key]
		row.absent = append(row.absent, !has)
		if section := lacking(config, key); !has && (row.Section == "" || len(section) < len(row.Section)) {
			row.Section = section
		}
	}
	return row, differ
}

// lacking returns the outermost section around a key that is absent from a configuration; "": every one is present.
func lacking(config map[string]string, key string) string {
	for i := range key {
		if key[i] != '.' {
			continue
		}
		some := false
		for k := range config {
			if strings.HasPrefix(k, key[:i+1]) {
				some = true
				break
			}
		}
		if !some {
			return key[:i]
		}
	}
	return ""
}

// absent stands for the value of a key that a configuration lacks.
const absent = "absent"

func keyText(config map[string]string, key string) string {
	if v, ok := config[key]; ok {
		return clip(v)
	}
	return absent
}
