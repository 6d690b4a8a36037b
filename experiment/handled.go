package experiment

import (
	"fmt"
	"slices"
	"strings"

	"heddle/kernels/algorithm"
	"heddle/kernels/workload"
)

// minEdgeShare is the fraction of a graph's edges below which a search measures little but its launches.
const minEdgeShare = 0.01

// handled is the work that a run did, by its statistics. Comparing cycles is meaningful only between runs that handled
// the same work.
type handled struct {
	source          uint64
	stopped         string // the reason if max_iterations stopped the run; empty: it was complete
	vertices, edges uint64 // active vertices and the edges that leave them, over all super-steps
	graph           GraphSummary
}

// handledBy returns the work of a point; ok is false without the statistics, or if only a part of the run counts.
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

// Warnings names searches that end almost at once, and points whose speedup compares different work.
func Warnings(points []Point, outcomes []Outcome, graphs map[string]GraphSummary) (notes []string) {
	add := func(note string) {
		if note != "" && !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	for i := range outcomes { // there are none if the run ended before its points
		p := &points[i]
		h, ok := handledBy(p, &outcomes[i], graphs)
		if !ok {
			continue
		}
		add(h.slightNote(p))
		if p.Baseline >= 0 {
			base, ok := handledBy(&points[p.Baseline], &outcomes[p.Baseline], graphs)
			if ok && base.stopped == h.stopped { // a speedup needs equal reasons
				add(unevenNote(p, &points[p.Baseline], &h, &base))
			}
		}
	}
	return notes
}

// slightNote warns of a search that handles next to nothing of its graph.
func (h *handled) slightNote(p *Point) string {
	if float64(h.edges) >= minEdgeShare*float64(h.graph.Edges) || h.stopped != "" {
		return ""
	}
	what, advice := p.work().began(h.source)
	return fmt.Sprintf("%s of %s reaches %s of %s vertices and %s of %s edges: its cycles are mostly those of "+
		"launches and of the init kernel: give %s that reaches more",
		what, h.graph.Source, Thousands(h.vertices), Thousands(uint64(h.graph.Vertices)), Thousands(h.edges),
		Thousands(uint64(h.graph.Edges)), advice)
}

// unevenNote warns of a point that handled other edges than its baseline for a reason other than its schedule.
func unevenNote(p, base *Point, h, of *handled) string {
	if h.edges == of.edges {
		return ""
	}
	var why []string
	a, b := &p.Config.Workload, &base.Config.Workload
	if x, y := a.Runs(), b.Runs(); x != y {
		why = append(why, fmt.Sprintf("they run %s and %s", x, y))
	} else if h.source != of.source {
		why = append(why, fmt.Sprintf("they begin at vertices %d and %d", h.source, of.source))
	}
	if h.graph.Edges != of.graph.Edges || h.graph.Vertices != of.graph.Vertices {
		why = append(why, fmt.Sprintf("their graphs have %s and %s edges", Thousands(uint64(h.graph.Edges)),
			Thousands(uint64(of.graph.Edges))))
	}
	for _, c := range []struct{ key, a, b string }{
		{"graphit.arguments", strings.Join(a.Arguments, " "), strings.Join(b.Arguments, " ")},
		{"algorithm.target", fmt.Sprint(a.Target), fmt.Sprint(b.Target)},
		{"max_iterations", fmt.Sprint(a.Iterations), fmt.Sprint(b.Iterations)},
		{"algorithm.tolerance", fmt.Sprint(a.Tolerance), fmt.Sprint(b.Tolerance)},
		{"algorithm.threshold", fmt.Sprint(a.Threshold), fmt.Sprint(b.Threshold)},
	} {
		if c.a != c.b && a.Runs() == b.Runs() {
			why = append(why, fmt.Sprintf("workload.%s is %s and %s", c.key, c.a, c.b))
		}
	}
	if why == nil && h.stopped != "" && !sameWhenStopped(b) { // without numbers, so that all seeds share one notice
		return fmt.Sprintf("%s handles other edges than its baseline, so that its speedup compares different work: "+
			"both are stopped by workload.%s, and %s progresses faster if values are used within the super-step "+
			"that computes them",
			variantName(p), h.stopped, b.Algorithm)
	}
	if why == nil {
		return ""
	}
	return fmt.Sprintf("%s handles %s edges and its baseline %s, so that its speedup compares different work: %s",
		variantName(p), Thousands(h.edges), Thousands(of.edges), strings.Join(why, "; "))
}

// sameWhenStopped reports whether all runs of an algorithm have equal results after an equal number of super-steps.
func sameWhenStopped(w *workload.Workload) bool {
	a, err := algorithm.ByName(string(w.Algorithm))
	return err == nil && a.Stopped != nil && a.Stopped.Alike
}
