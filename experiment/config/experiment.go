package config

import (
	"fmt"
	"slices"
	"strings"

	"heddle/components/accel"
	"heddle/configs"
	"heddle/configs/schema"
	"heddle/graph/graphspec"
	"heddle/kernels/workload"
)

// Experiment says everything about an experiment: points that are simulated, and
// what they are compared with.
type Experiment struct {
	Name     string            `key:"name" required:"true" doc:"Names the results: they go to results/<name>."`
	Machine  configs.Machine   `key:"machine" presets:"machines" doc:"The GPU."`
	Graph    graphspec.Graph   `key:"graph" doc:"The input."`
	Workload workload.Workload `key:"workload" doc:"What is computed, and how."`
	Compare  schema.Variants   `key:"compare" within:"workload" doc:"Variants to compare, of which the first is the baseline of the speedups. A list of variants, each with a name, with keys of machine, graph and workload that it sets (those of workload also without their section; null takes a unit away), and with sweep, if it has axes of its own: {name: peg, schedule: peg, machine: vortex-6c32w32t-graphpeg, sweep: {machine.core.graphpeg.alwt_entries: [8, 16]}}. Or keys with lists that go together, entry by entry."`
	Sweep    schema.Axes       `key:"sweep" doc:"Axes whose cross product is simulated, with every variant of compare. The last axis moves fastest. Keys of a unit are not for variants without that unit, which are simulated once. Values are a list, or a range of numbers: {from: 10, to: 160, step: 10}, {from: 128, to: 1024, times: 2}. Keys that go together stand in one, with lists of as many values: \"machine.l1d.bytes, machine.l1d.ways\": [[16KiB, 4], [32KiB, 8]]."`

	Stop   Stop     `key:"stop" doc:"When a run ends before it is done."`
	Region Region   `key:"region" doc:"The super-steps that are counted."`
	Sample Sample   `key:"sample" doc:"Which parts of a run are simulated in time, and which are estimated from them. docs/guide/sampling.md."`
	Stats  Sampling `key:"stats" doc:"Samples over time."`
	Report Report   `key:"report" doc:"How results are shown. No figure depends on it."`
	Run    Host     `key:"run" doc:"How it is run on the host. No figure depends on it."`

	Exclude schema.Exclusions `key:"exclude" doc:"Points to leave out: a list of sections, each with axes of compare or sweep and a value, or several, for each. A point that fits one of them is not simulated."`
	Seeds   []uint64          `key:"seeds" default:"" unit:"" doc:"Every point is simulated once with each of these for all seeds of the graph: its generator's, that of random weights and that of a random order. The table shows means with their 95 % confidence intervals."`
}

// Validate refuses what cannot run.
func (e Experiment) Validate() error {
	if strings.ContainsAny(e.Name, `/\`) || strings.HasPrefix(e.Name, ".") || e.Name == "" {
		return &schema.FieldError{Key: "name",
			Msg: fmt.Sprintf("%q: expected a name that can be a directory's", e.Name)}
	}
	for _, check := range []func() error{e.validateAxes, e.validateExclude, e.validateSeeds} {
		if err := check(); err != nil {
			return err
		}
	}
	if err := e.validateInput(); err != nil {
		return err
	}
	if err := e.validateSample(); err != nil {
		return err
	}
	if e.Workload.Kind() == workload.KindProgram { // its kernels need what it says
		return nil
	}
	if u := e.Workload.Schedule.Kind(); u != nil && !e.Machine.Core.Unit.Is(u.Name) && !e.variesUnit(u) {
		return missingUnit(e.Workload.Schedule, u)
	}
	return nil
}

// variesUnit reports whether it depends on the point whether there is a schedule that needs the unit, and the unit.
func (e *Experiment) variesUnit(u *accel.Kind) bool {
	at := "machine.core." + u.Key
	return slices.ContainsFunc(e.varied(), func(key string) bool {
		return key == "workload.schedule" || key == "machine" || key == at || strings.HasPrefix(key, at+".")
	})
}

// validateInput refuses experiments without a graph, and those that say what a trace does beside the trace.
func (e *Experiment) validateInput() error {
	given := len(e.Graph.Sources()) > 0
	switch {
	case e.Workload.Trace == "" && !given && !e.varies("workload.trace") && !e.variesGraph():
		return &schema.FieldError{Key: "graph", Msg: graphspec.NoSource()}
	case e.Workload.Trace == "":
		return nil
	case given:
		return &schema.FieldError{Key: "graph",
			Msg: "beside workload.trace: expected none, since the trace was recorded on one"}
	}
	w := e.Workload
	w.Trace = ""
	for _, d := range workload.Schema.Diff(workload.Default(), w) {
		return &schema.FieldError{Key: "workload." + d.Key,
			Msg: fmt.Sprintf("%s, beside workload.trace: expected its default, since the trace determines the work",
				d.B)}
	}
	return nil
}

// varies reports whether some variant or axis gives the key its value.
func (e *Experiment) varies(key string) bool { return len(e.values(key)) > 0 }

// axes are those of sweep, and of the variants' own sweeps.
func (e *Experiment) axes() (all schema.Axes) {
	all = slices.Clone(e.Sweep)
	for _, v := range e.Compare {
		all = append(all, v.Sweep...)
	}
	return all
}

// values are all that variants and axes give a key; none: it does not vary.
func (e *Experiment) values(key string) []string {
	values := e.Compare.Values(key)
	for _, a := range e.axes() {
		if a.Key == key {
			values = append(values, a.Values...)
		}
	}
	return values
}

// varied are all keys that variants and axes give values.
func (e *Experiment) varied() []string {
	keys := e.Compare.Keys()
	for _, a := range e.axes() {
		keys = append(keys, a.Key)
	}
	return keys
}

// validateAxes refuses axes that change no simulation, or stand twice.
func (e *Experiment) validateAxes() error {
	for _, key := range e.varied() {
		if section, _, _ := strings.Cut(key, "."); !slices.Contains([]string{"machine", "graph", "workload"}, section) {
			return &schema.FieldError{Key: e.whereVaried(key),
				Msg: key + " cannot be an axis: expected a key of machine, graph or workload"}
		}
	}
	keys := e.Compare.Keys()
	for _, a := range e.Sweep {
		if slices.Contains(keys, a.Key) {
			return &schema.FieldError{Key: "sweep", Msg: a.Key + " is an axis of compare already"}
		}
	}
	for i, v := range e.Compare {
		if err := e.validateOwn(fmt.Sprintf("compare[%d].sweep", i), &v); err != nil {
			return err
		}
	}
	return nil
}

// variesGraph reports whether some variant or axis is about the graph.
func (e *Experiment) variesGraph() bool {
	return slices.ContainsFunc(e.varied(), func(key string) bool { return strings.HasPrefix(key, "graph.") })
}

// whereVaried is compare or sweep: what to blame for a key.
func (e *Experiment) whereVaried(key string) string {
	if slices.ContainsFunc(e.Sweep, func(a schema.Axis) bool { return a.Key == key }) {
		return "sweep"
	}
	return "compare"
}

// validateOwn refuses a variant's own axes that are set or swept outside them.
func (e *Experiment) validateOwn(name string, v *schema.Variant) error {
	for _, a := range v.Sweep {
		if slices.ContainsFunc(v.Set, func(s schema.Setting) bool { return s.Key == a.Key }) {
			return &schema.FieldError{Key: "compare",
				Msg: fmt.Sprintf("%s: %s is set by the variant already", name, a.Key)}
		}
		if slices.ContainsFunc(e.Sweep, func(b schema.Axis) bool { return a.Key == b.Key }) {
			return &schema.FieldError{Key: "compare",
				Msg: fmt.Sprintf("%s: %s is an axis of the experiment's sweep already", name, a.Key)}
		}
	}
	return nil
}

// validateExclude refuses exclusions that fit no point.
func (e *Experiment) validateExclude() error {
	for i, axes := range e.Exclude {
		name := fmt.Sprintf("exclude[%d]", i)
		for _, x := range axes {
			known := e.excludable(x.Key)
			if known == nil {
				return &schema.FieldError{Key: name, Msg: x.Key + " is no axis of compare or sweep"}
			}
			for _, v := range x.Values {
				if !slices.Contains(known, v) {
					return &schema.FieldError{Key: name,
						Msg: fmt.Sprintf("%s: the axis has no value %s; it has %s", x.Key, v,
							strings.Join(known, ", "))}
				}
			}
		}
	}
	return nil
}

// excludable are the values of an axis that points are named by: of variants with names that is schema.VariantKey, and
// not what they set.
func (e *Experiment) excludable(key string) []string {
	if !e.Compare.Named() {
		return e.values(key)
	}
	values := e.axes().Values(key)
	if key == schema.VariantKey {
		values = e.Compare.Values(key)
	}
	return values
}

func (e *Experiment) validateSeeds() error {
	seen := make(map[uint64]bool, len(e.Seeds))
	for i, s := range e.Seeds {
		if seen[s] {
			return &schema.FieldError{Key: fmt.Sprintf("seeds[%d]", i), Msg: fmt.Sprintf("%d stands twice", s)}
		}
		seen[s] = true
	}
	g := e.Graph
	if len(e.Seeds) > 0 && !g.SetSeed(0) && !e.variesGraph() {
		return e.NeedsRandom()
	}
	return nil
}

// NeedsRandom is the error for seeds of a graph that has none.
func (e *Experiment) NeedsRandom() error {
	return &schema.FieldError{Key: "seeds", Msg: "nothing about the graph is random: expected a generator, " +
		"weights.from: random or reorder.order: random"}
}

// missingUnit is the error for a machine without the unit.
func missingUnit(s workload.Schedule, u *accel.Kind) error {
	msg := fmt.Sprintf("%s: the machine's cores have no %s; give machine.core.%s", s, u.Title, u.Key)
	if names := configs.MachinesWith(u); len(names) > 0 {
		const most = 3
		msg += fmt.Sprintf(" (or use a preset that has it: %s)", strings.Join(names[:min(len(names), most)], ", "))
	}
	return &schema.FieldError{Key: "workload.schedule", Msg: msg}
}
