package main

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/template"
)

// Sizes of the list; each has its own table in the page.
const (
	quick = "Quick"
	whole = "Whole"
)

// table holds the costs of workloads, by name.
type table map[string]cost

// page is docs/design/speed.md: a table for each size.
type page map[string]table

//go:embed speed.md.tmpl
var pageText string

var pageTemplate = template.Must(template.New("speed").Parse(pageText))

// text renders the page.
func (p page) text() (string, error) {
	var s strings.Builder
	err := pageTemplate.Execute(&s, map[string]string{"Quick": p[quick].markdown(), "Whole": p[whole].markdown(),
		"Parts": p[quick].partsMarkdown()})
	return s.String(), err
}

// markdown renders the table's workloads.
func (t table) markdown() string {
	var s strings.Builder
	s.WriteString("| workload | machine | warp instructions | cycles | host instructions | per warp instruction | goal " +
		"| per cycle | without the profile |\n")
	s.WriteString("|---|---|---:|---:|---:|---:|---:|---:|---:|\n")
	for i := range workloads {
		w := &workloads[i]
		c, ok := t[w.name]
		if !ok {
			continue
		}
		goal := "–"
		if w.goal != 0 {
			goal = thousands(uint64(w.goal))
		}
		plain := "–"
		if c.Unprofiled != 0 {
			plain = thousands(c.Unprofiled)
		}
		fmt.Fprintf(&s, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", w.name, w.machine, thousands(c.WarpInstrs),
			thousands(c.Cycles), thousands(c.HostInstrs), rounded(c.perWarpInstr()), goal, rounded(c.perCycle()), plain)
	}
	return s.String()
}

// unprofiled returns the costs without the profile, of the workloads of which they are known.
func (t table) unprofiled() table {
	u := table{}
	for name, c := range t {
		if c.Unprofiled != 0 {
			u[name] = cost{WarpInstrs: c.WarpInstrs, Cycles: c.Cycles, HostInstrs: c.Unprofiled}
		}
	}
	return u
}

// readPage reads the tables of a page.
func readPage(text string) (page, error) {
	p := page{quick: {}, whole: {}}
	var current table
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			current = p[title] // nil under other titles, whose tables are not read
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if current == nil || len(cells) != 9 || !strings.HasPrefix(line, "| ") ||
			strings.HasPrefix(line, "| workload ") {
			continue
		}
		var n [4]uint64
		for j, column := range []int{2, 3, 4, 8} {
			text := strings.TrimSpace(cells[column])
			v, err := strconv.ParseUint(strings.ReplaceAll(text, ",", ""), 10, 64)
			if (err != nil || v == 0) && (column != 8 || text != "–") {
				return nil, fmt.Errorf("line %d: %q: expected a number", i+1, text)
			}
			n[j] = v
		}
		current[strings.TrimSpace(cells[0])] = cost{WarpInstrs: n[0], Cycles: n[1], HostInstrs: n[2], Unprofiled: n[3]}
	}
	return p, p[quick].readParts(lines)
}

// tolerance is the permitted increase over the recorded cost. Counts repeat to 0.1 %; processors differ in the routines
// that Go's runtime chooses to move memory.
const tolerance = 0.03

// change returns the increase of a cost over the recorded one, as a fraction.
func change(now, recorded cost) float64 { return now.perWarpInstr()/recorded.perWarpInstr() - 1 }

func rounded(f float64) string { return thousands(uint64(math.Round(f))) }

// thousands writes a number with separators.
func thousands(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
