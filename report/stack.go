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

// stacks are the breakdowns: a bar for each point.
func stacks(r *Result) (figures []Figure) {
	points := slices.DeleteFunc(slices.Clone(r.Points), func(p *Point) bool { return !p.counts() })
	for _, s := range stackings {
		shown := points[:min(len(points), maxBars)]
		f := Figure{ID: s.id, Group: s.id, Choice: s.title, Title: s.title, Kind: Stack,
			X: Scale{Name: s.axis, Percent: s.share}}
		if f.Series = s.series(r, shown); len(f.Series) == 0 {
			continue
		}
		fix(f.Series, s.colours)
		for _, p := range shown {
			f.Columns = append(f.Columns, p.Label)
		}
		f.Note = lump(&f)
		if len(points) > maxBars {
			f.Note += fmt.Sprintf(" The first %d of %d points.", maxBars, len(points))
		}
		figures = append(figures, f)
	}
	return figures
}

// series are the parts that are not zero everywhere, in declared order.
func (s *stacking) series(r *Result, points []*Point) (out []Series) {
	totals := make([]float64, len(points))
	for _, name := range r.names() {
		part, ok := s.part(name)
		if !ok {
			continue
		}
		one, any := Series{Name: part}, false
		for i, p := range points {
			v, _ := p.value(name)
			v = max(v, 0)
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
