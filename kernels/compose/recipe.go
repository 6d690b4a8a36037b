package compose

import (
	"fmt"

	"heddle/graph"
	"heddle/kernels/algorithm"
	"heddle/kernels/direction"
	"heddle/kernels/schedule"
	"heddle/kernels/workload"
)

// Recipe holds the choices of a published implementation, as GraphPEG (ACM TACO 2021, §2 and §4.4) describes them.
type Recipe struct {
	Name, Doc string
	// choose returns the values that it sets in a workload, on a scale-free graph or another; "": not set.
	choose func(w workload.Workload, a *algorithm.Algorithm, scaleFree bool) recipeChoices
}

// recipeChoices holds the keys of a workload that a recipe sets.
type recipeChoices struct {
	schedule                     workload.Schedule
	direction, set, dedup, order workload.Choice
	variant                      schedule.Variant
	rule                         direction.Rule // between push and pull
	alpha, beta                  float64        // its thresholds
}

// recipes lists all recipes.
var recipes = []*Recipe{
	{
		Name: "datadriven", Doc: "GraphPEG's Fig. 1: a thread walks the row of a vertex from a queue and pushes; " +
			"what an atomic has changed goes into the next queue, with no other dedup",
		choose: func(_ workload.Workload, a *algorithm.Algorithm, _ bool) recipeChoices { return simple("vertex", a) },
	}, {
		Name: "strict", Doc: "datadriven, with load-balanced partitioning in place of a vertex a thread",
		choose: func(_ workload.Workload, a *algorithm.Algorithm, _ bool) recipeChoices { return simple("strict", a) },
	}, {
		Name: "gunrock", Doc: "Gunrock (TOPC 2017): push, load-balanced partitioning, an output of each edge, of which an " +
			"inexact filter makes a queue (its code, 1.1), near-far for sssp. Simplified: the scan is one kernel " +
			"and the sorted search a part of the gather, where Gunrock launches kernels for each, warps take equal " +
			"shares, where blocks do, and the filter reads a byte map, where Gunrock's has tables of recent vertices too. " +
			"On an H200 its kernels take 0.63 times as long as Gunrock 1.1's in the mean (0.3 to 1.1 times, for SSSP, BC " +
			"and, on road networks, BFS)",
		choose: func(_ workload.Workload, a *algorithm.Algorithm, _ bool) recipeChoices {
			c := simple("strict", a)
			if c.set == "queue" {
				c.set, c.dedup = "outputs", "bytemap"
			}
			if a.Ordered {
				c.order = "near-far"
			}
			return c
		},
	}, {
		Name: "sepgraph", Doc: "SEP-Graph (PPoPP 2019) as GraphPEG describes it, with its code's blocks and its rule: on " +
			"scale-free graphs cooperative blocks (cta of sep-graph) that push or pull (hybrid; near-far and algorithms " +
			"without a pull push), on others datadriven. Simplified: what is to be pushed next is marked in a byte map " +
			"and listed by a kernel, where its code appends to a queue. On road networks its code (flag sparse) is one " +
			"launch, with near-far for sssp: compiler.fusion and order, which the recipe leaves to the experiment. It " +
			"is asynchronous in that a vertex reads what others have written in the round, as here, and changes between " +
			"rounds over active and over all vertices for PageRank alone (hybrid_policy.h: traversals have the former). On " +
			"an H200 its kernels take 0.55 to 1.2 times as long as its code's, 0.74 in the mean",
		choose: func(w workload.Workload, a *algorithm.Algorithm, scaleFree bool) recipeChoices {
			if !scaleFree {
				return simple("vertex", a)
			}
			c := switching("cta", w, a)
			c.variant = schedule.SEPGraph
			if c.direction == "hybrid" {
				c.set = "qnb-bytemap"
			}
			return c
		},
	}, {
		Name: "hwwl", Doc: "GraphPEG's §4.4: datadriven, with vertices from a hardware worklist",
		choose: func(workload.Workload, *algorithm.Algorithm, bool) recipeChoices {
			return recipeChoices{schedule: "hwwl", direction: "push"}
		},
	}, {
		Name: "graphpeg", Doc: "GraphPEG, which switches as sepgraph does: peg that pushes or pulls on scale-free " +
			"graphs, and pushes on others",
		choose: func(w workload.Workload, a *algorithm.Algorithm, scaleFree bool) recipeChoices {
			if scaleFree {
				return switching("peg", w, a)
			}
			return recipeChoices{schedule: "peg", direction: "push"}
		},
	},
}

// simple pushes from a queue, or from all vertices if all are active.
func simple(s workload.Schedule, a *algorithm.Algorithm) recipeChoices {
	if a.Dense || a.Hook != nil {
		return recipeChoices{schedule: s, direction: "push", set: "counter", dedup: "none"}
	}
	return recipeChoices{schedule: s, direction: "push", set: "queue", dedup: "none"}
}

// switching pushes or pulls, by the frontier, if the algorithm permits it, by the rule of SEP-Graph's code and its
// flags' defaults.
func switching(s workload.Schedule, w workload.Workload, a *algorithm.Algorithm) recipeChoices {
	switch {
	case a.Dense:
		return recipeChoices{schedule: s}
	case a.PushOnly, a.Hook != nil, w.Order != "none":
		return recipeChoices{schedule: s, direction: "push"}
	}
	return recipeChoices{schedule: s, direction: "hybrid", rule: direction.SEPGraph, alpha: 15, beta: 18}
}

// keys returns the keys that a recipe can set.
func (c *recipeChoices) keys(w *workload.Workload) []setting {
	return []setting{
		{"schedule", string(w.Schedule), string(c.schedule), func() { w.Schedule = c.schedule }},
		{"direction", string(w.Direction), string(c.direction), func() { w.Direction = c.direction }},
		{"frontier", string(w.ActiveSet), string(c.set), func() { w.ActiveSet = c.set }},
		{"frontier.dedup", string(w.Dedup), string(c.dedup), func() { w.Dedup = c.dedup }},
		{"order", string(w.Order), string(c.order), func() { w.Order = c.order }},
		{"schedule.variant", string(w.Variant), string(c.variant), func() { w.Variant = workload.Choice(c.variant) }},
		{"direction.rule", string(w.HybridRule), string(c.rule), func() { w.HybridRule = workload.Choice(c.rule) }},
		{"direction.alpha", fmt.Sprint(w.Alpha), c.threshold(c.alpha), func() { w.Alpha = c.alpha }},
		{"direction.beta", fmt.Sprint(w.Beta), c.threshold(c.beta), func() { w.Beta = c.beta }},
	}
}

// threshold returns a threshold of the rule as an experiment has it; "" without a rule.
func (c *recipeChoices) threshold(x float64) string {
	if c.rule == "" {
		return ""
	}
	return fmt.Sprint(x)
}

// setting is a key with its values in the workload and in the recipe.
type setting struct {
	key, own, value string
	set             func()
}

// NoRecipe is the value of workload.recipe without a recipe.
const NoRecipe workload.Choice = "none"

// recipeOf returns a workload's recipe and algorithm; nil without a recipe.
func recipeOf(w workload.Workload) (*Recipe, *algorithm.Algorithm, error) {
	if w.Recipe == NoRecipe || w.Recipe == "" {
		return nil, nil, nil
	}
	for _, r := range recipes {
		if r.Name == string(w.Recipe) {
			a, err := algorithm.ByName(string(w.Algorithm))
			return r, a, err
		}
	}
	return nil, nil, fmt.Errorf("no recipe %q", w.Recipe)
}

// WithRecipe replaces a workload's recipe by the values that it sets.
func WithRecipe(w workload.Workload, scaleFree bool) (workload.Workload, error) {
	r, a, err := recipeOf(w)
	if r == nil || err != nil {
		return w, err
	}
	c := r.choose(w, a, scaleFree)
	for _, k := range c.keys(&w) {
		if k.value != "" {
			k.set()
		}
	}
	other := r.choose(w, a, !scaleFree)
	resetUnused(&w, &c, &other)
	w.Recipe = NoRecipe
	return w, nil
}

// resetUnused resets keys that have no effect under the schedule that a recipe sets for this kind of graph, but have
// one under the schedule for the other kind, for which the user has set them.
func resetUnused(w *workload.Workload, here, other *recipeChoices) {
	s, err := schedule.ByName(string(here.schedule))
	o, errOther := schedule.ByName(string(other.schedule))
	if err != nil || errOther != nil {
		return
	}
	ResetUnread(w, s, o)
	if other.direction == "hybrid" && here.direction != "hybrid" {
		d := workload.Default()
		w.HybridRule, w.Alpha, w.Beta = d.HybridRule, d.Alpha, d.Beta
	}
}

// ResetUnread resets keys of a workload that its schedule does not read and another one does, for which the user has
// set them.
func ResetUnread(w *workload.Workload, own, other *schedule.Schedule) {
	if v := schedule.Variant(w.Variant); other.ByBlocks(v) && !own.ByBlocks(v) {
		w.CTAThreads = 0
	}
	if v := schedule.Variant(w.Variant); other.Has(v) && !own.Has(v) {
		w.Variant = workload.Choice(schedule.OwnCode)
	}
	if v := schedule.Variant(w.Variant); other.As(v) != nil && own.As(v) == nil {
		w.Scan = workload.Choice(schedule.Shuffle)
	}
	if other.Rows.Owned() && !own.Rows.Owned() {
		w.Ahead = true
	}
}

// ForGraph replaces a workload's recipe by the values that it sets for a graph.
func ForGraph(w workload.Workload, g *graph.Graph) (workload.Workload, error) {
	if w.Recipe == NoRecipe || w.Recipe == "" {
		return w, nil
	}
	return WithRecipe(w, scaleFree(g, w.ScaleFree))
}

// scaleFree reports whether some vertex has at least times the mean degree, in or out.
func scaleFree(g *graph.Graph, times float64) bool {
	most, out, in := 0, g.CSR(), g.CSC()
	for v := range g.Vertices() {
		most = max(most, out.Degree(v), in.Degree(v))
	}
	return float64(most)*float64(g.Vertices()) >= times*float64(g.Edges())
}

// Contradiction is a key with a value other than the recipe's.
type Contradiction struct{ Key, Says string }

// Contradictions returns the given keys that contradict the recipe. auto contradicts nothing.
func Contradictions(w workload.Workload, given func(key string) bool) (list []Contradiction) {
	r, a, err := recipeOf(w)
	if r == nil || err != nil {
		return nil
	}
	on, off := r.choose(w, a, true), r.choose(w, a, false)
	other := off.keys(&w)
	for i, k := range on.keys(&w) {
		if !given(k.key) || k.own == string(workload.Auto) || agrees(k.own, k.value) && agrees(k.own, other[i].value) {
			continue
		}
		list = append(list, Contradiction{k.key,
			fmt.Sprintf("%s: recipe %s sets %s: leave one of them out", k.own, r.Name,
				either(k.value, other[i].value))})
	}
	return list
}

func agrees(own, sets string) bool { return sets == "" || own == sets }

// either describes the values that a recipe sets on a scale-free graph and on another.
func either(on, off string) string {
	switch {
	case on == off:
		return on
	case on == "":
		return off + " on a graph that is not scale-free"
	case off == "":
		return on + " on a scale-free graph"
	}
	return on + " on a scale-free graph, else " + off
}
