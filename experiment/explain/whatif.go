package explain

import (
	"fmt"
	"math"
	"strings"
)

// WhatIf holds the cycles of both runs with single parts of the machine made ideal, each alone and all together.
type WhatIf struct {
	A       uint64        `json:"a"`
	B       uint64        `json:"b"`
	Changes []Alternative `json:"changes"` // each alone
	All     Alternative   `json:"all"`     // all together; without a name if there is one change
}

// Alternative is one way to run both points.
type Alternative struct {
	Name     string   `json:"name"`
	Settings []string `json:"settings"` // KEY=VALUE
	A        uint64   `json:"a"`
	B        uint64   `json:"b"`
}

// Gains returns the cycles that a change saves in both runs.
func (w *WhatIf) Gains(of *Alternative) (a, b float64) {
	return float64(w.A) - float64(of.A), float64(w.B) - float64(of.B)
}

// Interaction returns the cycles that all changes together save beyond the sum of each alone.
func (w *WhatIf) Interaction() (a, b float64) {
	a, b = w.Gains(&w.All)
	for i := range w.Changes {
		ga, gb := w.Gains(&w.Changes[i])
		a, b = a-ga, b-gb
	}
	return a, b
}

// Text returns a table of 80 columns: the cycles of both runs, the gain of each change, and the difference
// that remains.
func (w *WhatIf) Text() string {
	const first, cell = 26, 13
	line := func(name string, cells ...string) string {
		text := fmt.Sprintf("%-*s", first, name)
		for _, c := range cells {
			text += fmt.Sprintf("%*s", cell, c)
		}
		return strings.TrimRight(text, " ")
	}
	d := float64(w.B) - float64(w.A)
	lines := []string{line("cycles if", "A", "B", "B − A", "of it gone"),
		line("as it is", grouped(float64(w.A)), grouped(float64(w.B)), grouped(d))}
	row := func(x *Alternative) {
		a, b := w.Gains(x)
		lines = append(lines, line(x.Name, grouped(float64(x.A)), grouped(float64(x.B)), grouped(d-b+a), grouped(b-a)))
	}
	for i := range w.Changes {
		row(&w.Changes[i])
	}
	if len(w.Changes) > 1 {
		row(&w.All)
		a, b := w.Interaction()
		lines = append(lines, line("interaction: saved", signed(a), signed(b), "", grouped(b-a)))
	}
	return strings.Join(append(append(lines, ""), wrapped(w.Sentence(), width)...), "\n") + "\n"
}

// Sentence names the change that removes most of the difference, and the effect of all changes beyond that of each
// alone.
func (w *WhatIf) Sentence() string {
	d := float64(w.B) - float64(w.A)
	var best *Alternative
	most := 0.0
	for i := range w.Changes {
		a, b := w.Gains(&w.Changes[i])
		if gone := math.Copysign(1, d) * (b - a); gone > most {
			best, most = &w.Changes[i], gone
		}
	}
	text := "No change alone makes the difference smaller."
	if best != nil {
		text = fmt.Sprintf("Most of the difference goes with %s: %s of %s cycles.", best.Name, grouped(most),
			grouped(math.Abs(d)))
	}
	if len(w.Changes) > 1 {
		a, b := w.Interaction()
		of := func(x float64) string { return grouped(math.Abs(x)) + pick(x < 0, " less", " more") }
		text += fmt.Sprintf(" Interaction: together they save %s of A's cycles, and %s of B's, than one by one.",
			of(a), of(b))
	}
	return text
}
