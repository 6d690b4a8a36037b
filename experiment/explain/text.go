package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"heddle/internal/fit"
)

const (
	width    = 80
	maxLines = 25
	mostRows = 10 // of parts, beside the total
	nameWide = 20
	cellWide = 12
	indent   = 9
)

// Notes on how causes are counted, and on its limits.
const (
	Note       = "An empty issue slot has one cause, by priority: see heddle explain --help."
	noteShared = "An empty issue slot is shared by all warps of its slice, evenly."
)

// Note returns the note on how the explanation's causes are counted.
func (e *Explanation) Note() string { return pick(e.Sharing, noteShared, Note) }

// Text returns the explanation in at most 25 lines of 80 columns: if words take more lines, the table has fewer rows.
func (e *Explanation) Text() string {
	var lines []string
	for rows := mostRows; rows > 2; rows-- {
		if lines = e.lines(rows); len(lines) <= maxLines {
			break
		}
	}
	return strings.Join(lines[:min(len(lines), maxLines)], "\n") + "\n"
}

// lines returns the text with a table of at most so many parts.
func (e *Explanation) lines(rows int) []string {
	lines := []string{runLine("A", &e.A), runLine("B", &e.B), ""}
	lines = append(lines, e.table(rows)...)
	for _, l := range []struct{ label, text string }{
		{"warps", e.warpsText()}, {"shared", e.sharedText()},
		{"changed", e.evidenceText()}, {"where", e.whereText()}, {"in it", e.stepText()}, {"steps", e.unmatchedText()},
	} {
		if l.text != "" {
			lines = append(lines, hanging(l.label, l.text)...)
		}
	}
	lines = append(lines, "")
	lines = append(lines, wrapped(e.Sentence(), width)...)
	return append(lines, e.Note())
}

// hanging wraps a text behind a label.
func hanging(label, text string) []string {
	lines := wrapped(text, width-indent)
	for i := range lines {
		lines[i] = fmt.Sprintf("%-*s%s", indent, label, lines[i])
		label = ""
	}
	return lines
}

// wrapped breaks a text into lines, and no percentage from its sign.
func wrapped(text string, columns int) []string {
	const joined = "␣%"
	lines := fit.Lines(strings.ReplaceAll(text, " %", joined), columns)
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], joined, " %")
	}
	return lines
}

// runLine names a run, with its cycles at the right.
func runLine(letter string, r *Run) string {
	cycles := grouped(float64(r.Cycles)) + " cycles"
	if r.Half > 0 {
		cycles = fmt.Sprintf("%s ±%.1f %%", cycles, 100*r.Half/float64(r.Cycles))
	}
	name := fmt.Sprintf("%s  point %d: %s", letter, r.Point, r.Name)
	room := width - utf8.RuneCountInString(cycles) - 2
	if n := []rune(name); len(n) > room {
		name = string(n[:room-1]) + "…"
	}
	return name + strings.Repeat(" ", width-utf8.RuneCountInString(name)-utf8.RuneCountInString(cycles)) + cycles
}

// table lists the parts, the largest difference first, so that each column sums to the digit.
func (e *Explanation) table(most int) []string {
	unit, title := 1.0, "cycles"
	if max(e.A.Cycles, e.B.Cycles) >= 1e8 {
		unit, title = 1000, "thousand cycles"
	}
	rows := slices.Clone(e.Parts)
	if len(rows) > most {
		rest := Part{Key: "others", Name: fmt.Sprintf("%d others", len(rows)-most+1)}
		for _, p := range rows[most-1:] {
			rest.A, rest.B, rest.ByCount = rest.A+p.A, rest.B+p.B, rest.ByCount+p.ByCount
		}
		rows = append(rows[:most-1], rest)
	}
	column := func(of func(Part) float64) []float64 {
		var values []float64
		for _, p := range rows {
			values = append(values, of(p)/unit)
		}
		return rounded(values)
	}
	a, b := column(func(p Part) float64 { return p.A }), column(func(p Part) float64 { return p.B })
	byCount := column(func(p Part) float64 { return p.ByCount })
	lines := []string{row(title, "A", "B", "B − A", "by number", "by each")}
	var sums [5]float64
	for i, p := range rows {
		cells := [5]float64{a[i], b[i], b[i] - a[i], byCount[i], b[i] - a[i] - byCount[i]}
		for k := range cells {
			sums[k] += cells[k]
		}
		lines = append(lines, numbers(p.Name, cells))
	}
	return append(lines, numbers("total", sums))
}

func numbers(name string, cells [5]float64) string {
	var texts []string
	for _, c := range cells {
		texts = append(texts, grouped(c))
	}
	return row(name, texts...)
}

func row(name string, cells ...string) string {
	line := fmt.Sprintf("%-*s", nameWide, name)
	for _, c := range cells {
		line += fmt.Sprintf("%*s", cellWide, c)
	}
	return line
}

// rounded rounds values so that their sum is the rounded sum: those with the largest fractions are rounded up.
func rounded(values []float64) []float64 {
	sum, floors := 0.0, 0.0
	out, order := make([]float64, len(values)), make([]int, len(values))
	for i, v := range values {
		sum += v
		out[i], order[i] = math.Floor(v), i
		floors += out[i]
	}
	slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(values[k]-out[k], values[i]-out[i]) })
	for _, i := range order[:min(len(order), max(0, int(math.Round(sum)-floors)))] {
		out[i]++
	}
	return out
}

// maxEvidence bounds the quantities in the text.
const maxEvidence = 5

// evidenceText lists the changes: of instructions and their cycles, then of statistics that bear on the largest
// findings.
func (e *Explanation) evidenceText() string {
	na, nb := e.A.Stats[schedulers+issuedKey], e.B.Stats[schedulers+issuedKey]
	var parts []string
	if na > 0 && nb > 0 {
		parts = append(parts, fmt.Sprintf("warp instructions %s → %s (%s), cycles each %s → %s", grouped(na), grouped(nb),
			percent(nb/na-1), short(float64(e.A.Cycles)/na), short(float64(e.B.Cycles)/nb)))
	}
	said := map[string]bool{instructionsKey: true}
	for i := range e.Evidence {
		if x := &e.Evidence[i]; !said[x.Key] && len(parts) < maxEvidence {
			said[x.Key] = true
			parts = append(parts, x.printed())
		}
	}
	if text := e.bandwidth(); text != "" {
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// sharedText names the causes with the largest differences if each empty slot is shared by all warps.
func (e *Explanation) sharedText() string {
	if e.Sharing {
		return ""
	}
	oneCause := map[string]float64{}
	for _, p := range e.Parts {
		if strings.HasPrefix(p.Key, "stall.") {
			oneCause[p.Name] = p.Difference
		}
	}
	var parts []string
	for _, p := range e.Shared {
		if one, stall := oneCause[p.Name]; stall && math.Abs(p.Difference) >= 0.5 && len(parts) < 3 {
			parts = append(parts, fmt.Sprintf("%s %s (%s)", p.Name, signed(p.Difference), signed(one)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "by the causes of all warps, and by one a slot: " + strings.Join(parts, ", ")
}

// warpsText names the states in which all warps spend more or less time, the largest differences first.
func (e *Explanation) warpsText() string {
	if e.Sharing || len(e.Shared) > 0 { // which say more
		return ""
	}
	var parts []string
	for _, p := range e.Warps {
		if math.Abs(p.Difference) >= 0.5 && len(parts) < 4 {
			parts = append(parts, p.Name+" "+signed(p.Difference))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "by the states of all of them, not one a slot: " + strings.Join(parts, ", ")
}

// bandwidth formats the DRAM's bandwidth in use.
func (e *Explanation) bandwidth() string {
	of := func(r *Run) string {
		used, peak := r.Stats["dram.bytes_per_cycle"], r.Stats["dram.peak_bytes_per_cycle"]
		if peak == 0 {
			return ""
		}
		return fmt.Sprintf("%s (%.0f %%)", short(used), 100*used/peak)
	}
	a, b := of(&e.A), of(&e.B)
	if a == "" || b == "" {
		return ""
	}
	return fmt.Sprintf("DRAM bytes a cycle %s → %s", a, b)
}

func percent(share float64) string {
	if share < 0 {
		return fmt.Sprintf("−%.0f %%", -100*share)
	}
	return fmt.Sprintf("+%.0f %%", 100*share)
}

// short formats a number with three digits.
func short(v float64) string {
	switch {
	case v >= 100:
		return grouped(v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// whereText names the kernel, the phase and the super-step in which most of the difference lies.
func (e *Explanation) whereText() string {
	d := e.difference()
	var parts []string
	for _, of := range []struct {
		kind string
		in   []Place
	}{{"kernel", e.Kernels}, {"phase", e.Phases}, {"super-step", places(slices.Concat(e.SuperSteps, e.Unmatched)...)}} {
		if p, ok := most(of.in, d); ok {
			text := fmt.Sprintf("%s %s %s", of.kind, p.Name, signed(p.Difference))
			if len(parts) == 0 {
				text += " of " + signed(d)
			}
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ", ")
}

// mostCauses bounds the causes of a super-step in the text.
const mostCauses = 4

// stepText names the causes of the super-step in which most of the difference lies; "": there is one super-step alone,
// or its causes are not stored.
func (e *Explanation) stepText() string {
	steps := slices.Concat(e.SuperSteps, e.Unmatched)
	p, ok := most(places(steps...), e.difference())
	if !ok || len(steps) < 3 { // the first is before the super-steps
		return ""
	}
	causes := steps[slices.IndexFunc(steps, func(s Step) bool { return s.Name == p.Name })].Causes
	var parts []string
	rest, others := 0.0, 0
	for _, c := range causes {
		switch {
		case math.Abs(c.Difference) < 0.5:
		case len(parts) < mostCauses:
			parts = append(parts, c.Name+" "+signed(c.Difference))
		default:
			rest, others = rest+c.Difference, others+1
		}
	}
	if others > 0 {
		parts = append(parts, fmt.Sprintf("%d others %s", others, signed(rest)))
	}
	return strings.Join(parts, ", ")
}

// unmatchedText gives the part of the difference in super-steps of one run alone; "": there are none.
func (e *Explanation) unmatchedText() string {
	if len(e.Unmatched) == 0 {
		return ""
	}
	var both, onlyA, onlyB float64
	var steps []string
	for _, p := range e.SuperSteps {
		both += p.Difference
	}
	for _, p := range e.Unmatched {
		onlyA, onlyB = onlyA+p.A, onlyB+p.B
		steps = append(steps, p.Name)
	}
	span := steps[0]
	if len(steps) > 1 {
		span += "–" + steps[len(steps)-1]
	}
	text := fmt.Sprintf("super-steps of both %s; ", signed(both))
	if onlyA > 0 {
		return text + fmt.Sprintf("%s only in A %s", span, signed(-onlyA))
	}
	return text + fmt.Sprintf("%s only in B %s", span, signed(onlyB))
}

func signed(v float64) string {
	if v > 0 {
		return "+" + grouped(v)
	}
	return grouped(v)
}

// Sentence says in words how the runs differ, and why.
func (e *Explanation) Sentence() string {
	d := e.difference()
	if d == 0 {
		return "A and B take the same number of cycles."
	}
	text := fmt.Sprintf("B is %s times as fast as A", ratio(e.Speedup()))
	if d > 0 {
		text = fmt.Sprintf("B takes %s times as long as A", ratio(1/e.Speedup()))
	}
	var reasons []string
	left := math.Abs(d)
	for _, f := range e.Findings {
		if f.Cycles*d <= 0 || len(reasons) == 3 || len(reasons) > 0 && math.Abs(f.Cycles) < 0.15*math.Abs(d) {
			break
		}
		reasons = append(reasons, e.reason(f))
		if left -= math.Abs(f.Cycles); left <= 0.1*math.Abs(d) {
			break
		}
	}
	if len(reasons) > 0 {
		text += ": " + strings.Join(reasons, "; ")
	}
	if math.Abs(d) < e.A.Half+e.B.Half {
		return text + ". That is within the confidence intervals of these estimates."
	}
	for _, f := range e.Findings {
		if f.Cycles*d < 0 && math.Abs(f.Cycles) >= 0.25*math.Abs(d) {
			return text + ". Against it: " + e.reason(f) + "."
		}
	}
	return text + "."
}

func ratio(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.1f", x)
}

// reason says a finding in words, with the quantity that changed most of those that bear on it.
func (e *Explanation) reason(f Finding) string {
	var words string
	more := f.Cycles > 0
	switch {
	case f.Key == instructionsKey:
		words = pick(more, "more instructions", "fewer instructions")
	case f.Key == launchesKey:
		words = pick(more, "more launches", "fewer launches")
	case f.Key == issuedKey:
		words = pick(more, "fewer issue slots a cycle", "more issue slots a cycle")
	case f.Key == launchKey:
		words = pick(more, "costlier launches", "cheaper launches")
	default:
		words = pick(more, "more ", "less ") + inWords(f.Key)
	}
	words = fmt.Sprintf("%s (%s)", words, signed(f.Cycles))
	for i := range e.Evidence {
		if x := &e.Evidence[i]; x.Finding == f.Key && x.Key != instructionsKey {
			return words + ", with " + x.printed()
		}
	}
	return words
}

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// inWords names a part as time: "waiting for memory".
func inWords(key string) string {
	switch key {
	case "stall.operands":
		return "waiting for operand collectors"
	case "stall.alu_busy", "stall.fpu_busy", "stall.sfu_busy":
		return "waiting for room in the " + strings.ToUpper(strings.TrimSuffix(strings.TrimPrefix(key, "stall."), "_busy"))
	case queueKey:
		return "waiting for room in the load-store unit"
	case "stall.scoreboard.unit":
		return "waiting for the graph unit"
	case "stall.scoreboard.alu", "stall.scoreboard.fpu", "stall.scoreboard.sfu":
		return "waiting for results of the " + strings.ToUpper(strings.TrimPrefix(key, "stall.scoreboard."))
	case "stall.scoreboard.scratchpad":
		return "waiting for the scratchpad"
	case "stall.ibuffer":
		return "waiting for fetch and branches"
	case "stall.barrier":
		return "waiting at barriers"
	case "stall.inactive":
		return "time outside the policy's active set"
	case drained:
		return "time without warps in a slice"
	case idleKey:
		return "waiting for the last core to end"
	case restKey:
		return "time that no statistic attributes"
	}
	return nameOf(key)
}
