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
	Sweep    schema.Axes `key:"sweep" doc:"Axes whose cross product is simulated, with every variant of compare. The last axis moves fastest."`
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
	if e.Workload.Schedule == WeaverSchedule && e.Machine.Core.Weaver == nil && !e.varies("workload.schedule") {
		return e.NeedsWeaver()
	}
	return nil
}

// varies tells whether some axis gives the key its value.
func (e *Experiment) varies(key string) bool {
	return slices.ContainsFunc(slices.Concat(e.Compare, e.Sweep), func(a schema.Axis) bool { return a.Key == key })
}

// NeedsWeaver is the error for a weaver schedule on a machine without a Weaver.
func (e *Experiment) NeedsWeaver() error {
	return &schema.FieldError{Key: "workload.schedule", Msg: "weaver: the machine's cores have no Weaver; give machine.core.weaver (or use a preset whose name ends in -weaver)"}
}
