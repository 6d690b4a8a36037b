package configs

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/schema"
)

// Experiment says everything about an experiment: points that are simulated, and
// what they are compared with.
type Experiment struct {
	Name     string      `key:"name" required:"true" doc:"Names the results: they go to results/<name>."`
	Machine  Machine     `key:"machine" presets:"machines" doc:"The GPU."`
	Graph    Graph       `key:"graph" doc:"The input."`
	Workload Workload    `key:"workload" doc:"What is computed, and how."`
	Compare  schema.Axes `key:"compare" zipped:"true" doc:"Variants to compare, one in each place of the lists, which go together. The first is the baseline of the speedups."`
	Sweep    schema.Axes `key:"sweep" doc:"Axes whose cross product is simulated, with every variant of compare. The last axis moves fastest. Values are a list, or a range of numbers: {from: 10, to: 160, step: 10}, {from: 128, to: 1024, times: 2}. Keys that go together stand in one, with lists of as many values: \"machine.l1d.bytes, machine.l1d.ways\": [[16KiB, 4], [32KiB, 8]]."`

	Exclude schema.Exclusions `key:"exclude" doc:"Points to leave out: a list of sections, each with axes of compare or sweep and a value, or several, for each. A point that fits one of them is not simulated."`
	Seeds   []uint64          `key:"seeds" default:"" unit:"" doc:"Every point is simulated once with each of these for all seeds of the graph: its generator's, that of random weights and that of a random order. The table shows means with their 95 % confidence intervals."`
}

// Workload is an algorithm and how its work is dealt out.
type Workload struct {
	Algorithm      Algorithm `key:"algorithm" default:"pagerank" oneof:"pagerank" doc:"What is computed. pagerank: pull, f32; what a vertex without out-edges holds is not passed on, as in GAP and GraphIt."`
	Schedule       Schedule  `key:"schedule" default:"vertex" oneof:"vertex,edge,weaver" doc:"Which lane handles which edge. vertex: each lane walks its vertex (CSC). edge: an edge a lane, from a list sorted by target (COO), summed with atomics. weaver: the Weaver unit deals edges out (CSC), summed with atomics."`
	Iterations     int       `key:"max_iterations" default:"1" min:"1" max:"1000000" unit:"super-steps" doc:"Super-steps at most."`
	Damping        float64   `key:"damping" default:"0.85" min:"0" max:"1" unit:"" doc:"PageRank's d."`
	Tolerance      float64   `key:"tolerance" default:"0" min:"0" max:"1e9" unit:"" doc:"PageRank has converged when Σ|change of a rank| is not above it. 0: never, and the sum is not computed."`
	LaunchOverhead int       `key:"launch_overhead" default:"2000" min:"0" max:"1000000000" unit:"cycles" doc:"What the host costs for each kernel launch; counted in cycles, and apart in launch.overhead_cycles. 2000 is about 2 µs."`
}

// Algorithm is what is computed.
type Algorithm string

// PageRank is the only one so far.
const PageRank Algorithm = "pagerank"

// Schedule says which lane handles which edge.
type Schedule string

// Schedules of the hand-written kernels.
const (
	VertexSchedule Schedule = "vertex"
	EdgeSchedule   Schedule = "edge"
	WeaverSchedule Schedule = "weaver"
)

// Validate refuses what cannot run.
func (e Experiment) Validate() error {
	if strings.ContainsAny(e.Name, `/\`) || strings.HasPrefix(e.Name, ".") || e.Name == "" {
		return &schema.FieldError{Key: "name", Msg: fmt.Sprintf("%q: expected a name that can be a directory's", e.Name)}
	}
	for _, check := range []func() error{e.validateAxes, e.validateExclude, e.validateSeeds} {
		if err := check(); err != nil {
			return err
		}
	}
	if e.Workload.Schedule == WeaverSchedule && e.Machine.Core.Weaver == nil && !e.varies("workload.schedule") {
		return e.NeedsWeaver()
	}
	return nil
}

// varies tells whether some axis gives the key its value.
func (e *Experiment) varies(key string) bool { return e.axis(key) != nil }

// axis finds an axis by its key; nil: there is none.
func (e *Experiment) axis(key string) *schema.Axis {
	for _, axes := range []schema.Axes{e.Compare, e.Sweep} {
		for i := range axes {
			if axes[i].Key == key {
				return &axes[i]
			}
		}
	}
	return nil
}

// validateAxes refuses axes that change no simulation, or stand twice.
func (e *Experiment) validateAxes() error {
	for _, a := range slices.Concat(e.Compare, e.Sweep) {
		if section, _, _ := strings.Cut(a.Key, "."); !slices.Contains([]string{"machine", "graph", "workload"}, section) {
			return &schema.FieldError{Key: "sweep", Msg: a.Key + " cannot be an axis: expected a key of machine, graph or workload"}
		}
	}
	for _, a := range e.Sweep {
		if slices.ContainsFunc(e.Compare, func(b schema.Axis) bool { return a.Key == b.Key }) {
			return &schema.FieldError{Key: "sweep", Msg: a.Key + " is an axis of compare already"}
		}
	}
	return nil
}

// validateExclude refuses exclusions that fit no point.
func (e *Experiment) validateExclude() error {
	for i, axes := range e.Exclude {
		name := fmt.Sprintf("exclude[%d]", i)
		for _, x := range axes {
			a := e.axis(x.Key)
			if a == nil {
				return &schema.FieldError{Key: name, Msg: x.Key + " is no axis of compare or sweep"}
			}
			for _, v := range x.Values {
				if !slices.Contains(a.Values, v) {
					return &schema.FieldError{Key: name, Msg: fmt.Sprintf("%s: the axis has no value %s; it has %s", x.Key, v, strings.Join(a.Values, ", "))}
				}
			}
		}
	}
	return nil
}

func (e *Experiment) validateSeeds() error {
	for i, s := range e.Seeds {
		if slices.Contains(e.Seeds[:i], s) {
			return &schema.FieldError{Key: fmt.Sprintf("seeds[%d]", i), Msg: fmt.Sprintf("%d stands twice", s)}
		}
	}
	g := e.Graph
	if len(e.Seeds) > 0 && !g.SetSeed(0) && !slices.ContainsFunc(slices.Concat(e.Compare, e.Sweep), func(a schema.Axis) bool { return strings.HasPrefix(a.Key, "graph.") }) {
		return e.NeedsRandom()
	}
	return nil
}

// NeedsRandom is the error for seeds of a graph that has none.
func (e *Experiment) NeedsRandom() error {
	return &schema.FieldError{Key: "seeds", Msg: "nothing about the graph is random: expected a generator, weights.from: random or reorder.order: random"}
}

// NeedsWeaver is the error for a weaver schedule on a machine without a Weaver.
func (e *Experiment) NeedsWeaver() error {
	return &schema.FieldError{Key: "workload.schedule", Msg: "weaver: the machine's cores have no Weaver; give machine.core.weaver (or use a preset whose name ends in -weaver)"}
}
