package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// stacking is a set of statistics that add up to a whole.
type stacking struct {
	id, title, axis string
	share           bool // of the whole; else absolute
	part            func(name string) (part string, ok bool)
	colours         map[string]string // by part; nil: by place
}

var stackings = []stacking{
	{"schedulers", "Scheduler states and causes of stalls", "share of scheduler-cycles", true,
		below("core.scheduler.", "stall.", "scoreboard."), causeColours},
	{"shared", "Causes of empty issue slots, shared by all warps", "share of empty scheduler-cycles", true,
		below("core.shared_stalls.", "scoreboard."), causeColours},
	{"warps", "States of resident warps", "share of warp-cycles", true, warpState, stateColours},
	{"breakdown", "Cycles by phase of the kernels", "scheduler-cycles", false, step, nil},
	{"phases", "Cycles of the kernels", "cycles", false, phase, nil},
}

// below names the parts after a prefix, dropping redundant words.
func below(prefix string, drop ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		part, ok := strings.CutPrefix(name, prefix)
		for _, d := range drop {
			part = strings.TrimPrefix(part, d)
		}
		return part, ok
	}
}

// warpState leaves out the counts that are sums over others.
func warpState(name string) (string, bool) {
	part, ok := strings.CutPrefix(name, "core.warps.")
	return part, ok && part != "resident" && part != "eligible"
}

// step names the steps of kernels (SparseWeaver, HPCA 2025, Fig. 17).
func step(name string) (string, bool) {
	part, ok := strings.CutPrefix(name, "core.phase.")
	part, cycles := strings.CutSuffix(part, ".scheduler_cycles")
	return strings.ReplaceAll(part, "_", " "), ok && cycles
}

// phase names kernels, and the host's cost between them.
func phase(name string) (string, bool) {
	if name == "launch.overhead_cycles" {
		return "launch overhead", true
	}
	part, ok := strings.CutPrefix(name, "kernel.")
	part, cycles := strings.CutSuffix(part, ".cycles")
	return part, ok && cycles
}

// foldBars is the number of points from which on a breakdown has a bar for each variant, and its points on demand.
const foldBars = 12

// stacks are the breakdowns: a bar for each point; of many points, for each variant, and each variant's points folded.
func stacks(r *Result) (figures []Figure) {
	points := slices.DeleteFunc(slices.Clone(r.Points), func(p *Point) bool { return !p.counts() })
	label := func(p *Point) string { return p.Label }
	for i := range stackings {
		s := &stackings[i]
		if len(points) <= foldBars {
			figures = append(figures, s.figure(r, s.title, points, label)...)
			continue
		}
		if len(r.Variants) < 2 {
			for _, f := range s.figure(r, s.title, points, label) {
				f.Fold = fmt.Sprintf("%s: %d points", s.title, len(points))
				figures = append(figures, f)
			}
			continue
		}
		figures = append(figures, s.byVariant(r, points)...)
	}
	return figures
}

// byVariant is a breakdown of many points.
func (s *stacking) byVariant(r *Result, points []*Point) (figures []Figure) {
	var columns []string
	var pools [][]*Point
	for v := range r.Variants {
		of := slices.DeleteFunc(slices.Clone(points), func(p *Point) bool { return p.Variant != v })
		if len(of) == 0 {
			continue
		}
		name := r.name(r.Variants[v])
		columns, pools = append(columns, name), append(pools, of)
		cell := func(p *Point) string { return cmp.Or(p.Cell, p.Label) }
		for _, f := range s.figure(r, s.title+": "+name, of, cell) {
			f.ID += "-" + r.Variants[v]
			f.Group = fmt.Sprintf("%s-%d", s.id, v+1)
			f.Fold = fmt.Sprintf("%s: %d points", name, len(of))
			figures = append(figures, f)
		}
	}
	f := s.plot(s.title+", by variant", columns, s.series(r, pools))
	if len(f.Series) == 0 {
		return nil
	}
	f.Note = strings.TrimSpace(pick(s.share, "Of all points of a variant together. ",
		"Means over the points of a variant. ") +
		f.Note)
	return append([]Figure{f}, figures...)
}

// figure has a bar for each of the first points; none without parts.
func (s *stacking) figure(r *Result, title string, points []*Point, label func(*Point) string) []Figure {
	shown := points[:min(len(points), maxBars)]
	var columns []string
	var pools [][]*Point
	for _, p := range shown {
		columns, pools = append(columns, label(p)), append(pools, []*Point{p})
	}
	f := s.plot(title, columns, s.series(r, pools))
	if len(f.Series) == 0 {
		return nil
	}
	if len(points) > maxBars {
		f.Note += fmt.Sprintf(" The first %d of %d points.", maxBars, len(points))
	}
	return []Figure{f}
}

func (s *stacking) plot(title string, columns []string, series []Series) Figure {
	f := Figure{ID: s.id, Group: s.id, Choice: s.title, Title: title, Kind: Stack, Columns: columns, Series: series,
		X: Scale{Name: s.axis, Percent: s.share}}
	if len(series) > 0 {
		fix(f.Series, s.colours)
		f.Note = lump(&f)
	}
	return f
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// series are the parts that are not zero everywhere, in declared order; a value for each pool of points, their mean.
func (s *stacking) series(r *Result, pools [][]*Point) (out []Series) {
	totals := make([]float64, len(pools))
	for _, name := range r.names() {
		part, ok := s.part(name)
		if !ok {
			continue
		}
		one, any := Series{Name: part}, false
		for i, pool := range pools {
			v := 0.0
			for _, p := range pool {
				x, _ := p.value(name)
				v += max(x, 0) / float64(len(pool))
			}
			any = any || v > 0
			totals[i] += v
			one.Values = append(one.Values, Number(v))
		}
		if any {
			out = append(out, one)
		}
	}
	for _, one := range out {
		for i := range one.Values {
			if s.share {
				one.Values[i] /= Number(max(totals[i], 1))
			}
		}
	}
	return out
}

// names are all statistics' names: those that are described first, in declared order.
func (r *Result) names() (out []string) {
	seen := map[string]bool{}
	for _, s := range r.About.Statistics {
		if !seen[s.Name] {
			seen[s.Name] = true
			out = append(out, s.Name)
		}
	}
	rest := map[string]bool{}
	for _, p := range r.Points {
		for name := range p.Stats {
			if !seen[name] {
				rest[name] = true
			}
		}
	}
	return append(out, sortedKeys(rest)...)
}

// maxParts bounds the colours of a stack; smaller parts are put together.
const maxParts = 8

// lump merges all but the largest parts into one, and notes which.
func lump(f *Figure) string {
	if len(f.Series) <= maxParts+1 {
		return ""
	}
	size := func(s Series) (sum float64) {
		for _, v := range s.Values {
			sum += float64(v)
		}
		return sum
	}
	order := slices.Clone(f.Series)
	slices.SortStableFunc(order, func(a, b Series) int { return cmp.Compare(size(b), size(a)) })
	small := map[string]bool{}
	other := Series{Name: "other", Values: make([]Number, len(f.Columns)), Other: true}
	for _, s := range order[maxParts:] {
		small[s.Name] = true
		for i, v := range s.Values {
			other.Values[i] += v
		}
	}
	var names []string
	f.Series = slices.DeleteFunc(f.Series, func(s Series) bool {
		if small[s.Name] {
			names = append(names, s.Name)
		}
		return small[s.Name]
	})
	f.Series = append(f.Series, other)
	return "Other: " + strings.Join(names, ", ") + "."
}
