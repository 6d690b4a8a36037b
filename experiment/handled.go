package experiment

import (
	"fmt"
	"slices"
	"strings"

	"heddle/kernels/algorithm"
	"heddle/kernels/workload"
)

// What points have handled: cycles of a search that is over at once compare launches, and those of two searches from
// different vertices compare the vertices.

// slight is the part of a graph's edges below which a search is too small to measure anything but its launches.
const slight = 0.01

// handled is what a point's run went through, as far as it says.
type handled struct {
	source          uint64
	stopped         string // by max_iterations
	vertices, edges uint64 // that were active, over all super-steps, and that left those
	graph           GraphSummary
}

// handledBy returns what a point has handled; ok is false if it does not say, or only a part of its run counts.
func handledBy(p *Point, o *Outcome, graphs map[string]GraphSummary) (h handled, ok bool) {
	if !o.Counts() || o.Partial != "" && !o.Verified || !p.Config.Region.Whole() {
		return h, false
	}
	h.stopped = o.Partial
	if h.graph, ok = graphs[o.Graph]; !ok {
		return h, false
	}
	for name, to := range map[string]*uint64{"source": &h.source, "frontier.vertices": &h.vertices,
		"frontier.edges": &h.edges} {
		s, there := o.Stats.Get(name)
		if !there {
			return h, false
		}
		*to, _ = s.Uint()
	}
	return h, true
}

// Warnings are about outcomes that say less than they seem to: of searches that are over at once, and of points whose
// speedup compares different work.
func Warnings(points []Point, outcomes []Outcome, graphs map[string]GraphSummary) (notes []string) {
	add := func(note string) {
		if note != "" && !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	for i := range outcomes { // none, if the run ended before its points
		p := &points[i]
		h, ok := handledBy(p, &outcomes[i], graphs)
		if !ok {
			continue
		}
		add(h.slightNote(p))
		if p.Baseline >= 0 {
			base, ok := handledBy(&points[p.Baseline], &outcomes[p.Baseline], graphs)
			if ok && base.stopped == h.stopped { // otherwise there is no speedup
				add(unevenNote(p, &points[p.Baseline], &h, &base))
			}
		}
	}
	return notes
}

// slightNote names a search that handles next to nothing of its graph.
func (h *handled) slightNote(p *Point) string {
	if float64(h.edges) >= slight*float64(h.graph.Edges) || h.stopped != "" {
		return ""
	}
	what, advice := p.work().began(h.source)
	return fmt.Sprintf("%s of %s reaches %s of %s vertices and %s of %s edges: its cycles are mostly those of launches and of the init kernel: give %s that reaches more",
		what, h.graph.Source, Thousands(h.vertices), Thousands(uint64(h.graph.Vertices)), Thousands(h.edges),
		Thousands(uint64(h.graph.Edges)), advice)
}

// unevenNote says why a point has handled other edges than its baseline, if that is not by its schedule.
func unevenNote(p, base *Point, h, of *handled) string {
	if h.edges == of.edges {
		return ""
	}
	var why []string
	if h.source != of.source {
		why = append(why, fmt.Sprintf("they begin at vertices %d and %d", h.source, of.source))
	}
	if h.graph.Edges != of.graph.Edges || h.graph.Vertices != of.graph.Vertices {
		why = append(why, fmt.Sprintf("their graphs have %s and %s edges", Thousands(uint64(h.graph.Edges)),
			Thousands(uint64(of.graph.Edges))))
	}
	a, b := &p.Config.Workload, &base.Config.Workload
	for _, c := range []struct{ key, a, b string }{
		{"program", a.Program, b.Program}, {"arguments", strings.Join(a.Arguments, " "), strings.Join(b.Arguments, " ")},
		{"algorithm", string(a.Algorithm), string(b.Algorithm)},
		{"target", fmt.Sprint(a.Target), fmt.Sprint(b.Target)}, {"max_iterations", fmt.Sprint(a.Iterations), fmt.Sprint(b.Iterations)},
		{"tolerance", fmt.Sprint(a.Tolerance), fmt.Sprint(b.Tolerance)}, {"threshold", fmt.Sprint(a.Threshold), fmt.Sprint(b.Threshold)},
	} {
		if c.a != c.b {
			why = append(why, fmt.Sprintf("workload.%s is %s and %s", c.key, c.a, c.b))
		}
	}
	if why == nil && h.stopped != "" && !alike(b) { // once for all seeds, without numbers
		return fmt.Sprintf("%s handles other edges than its baseline, so that its speedup compares different work: both are "+
			"stopped by workload.%s, and %s comes farther in a super-step if it uses values in the one that brings them",
			variantName(p), h.stopped, b.Algorithm)
	}
	if why == nil {
		return ""
	}
	return fmt.Sprintf("%s handles %s edges and its baseline %s, so that its speedup compares different work: %s",
		variantName(p), Thousands(h.edges), Thousands(of.edges), strings.Join(why, "; "))
}

// alike reports whether all runs of an algorithm that are stopped after as many super-steps have come to the same.
func alike(w *workload.Workload) bool {
	a, err := algorithm.ByName(string(w.Algorithm))
	return err == nil && a.Stopped != nil && a.Stopped.Alike
}
