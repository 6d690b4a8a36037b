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

// Experiment is the complete description of an experiment: the points to simulate, and the baselines of comparisons.
type Experiment struct {
	Name     string            `key:"name" required:"true" doc:"Name of the results, in results/<name>."`
	Machine  configs.Machine   `key:"machine" presets:"machines" doc:"The GPU."`
	Graph    graphspec.Graph   `key:"graph" doc:"The input."`
	Workload workload.Workload `key:"workload" doc:"The computation and its mapping to the machine."`
	Compare  schema.Variants   `key:"compare" within:"workload"`
	Sweep    schema.Axes       `key:"sweep"`

	Stop   Stop     `key:"stop" doc:"Conditions that end a run early."`
	Region Region   `key:"region" doc:"The super-steps that are counted."`
	Sample Sample   `key:"sample"`
	Stats  Sampling `key:"stats" doc:"Statistics over time."`
	Report Report   `key:"report" doc:"Presentation of results, which it does not change."`
	Run    Host     `key:"run" doc:"Execution on the host. No result depends on it."`

	Exclude schema.Exclusions `key:"exclude"`
	Seeds   []uint64          `key:"seeds" default:"" unit:""`
}

// Docs describes the keys.
func (Experiment) Docs() map[string]string {
	return map[string]string{
		"compare": "Variants to compare; the first is the baseline of the speedups. Either a list of variants, each " +
			"with a name, the keys of machine, graph, workload and sample that it sets (for workload, the section's name " +
			"may be left out; null removes a unit), and optionally a sweep of its own: {name: peg, schedule: peg, " +
			"machine: vortex-6c32w32t-graphpeg, sweep: {machine.core.graphpeg.alwt_entries: [8, 16]}}. Or keys with " +
			"lists of equal length, whose entries go together.",
		"sweep": "Axes whose cross product is simulated with every variant of compare; the last axis varies fastest. " +
			"A key of a unit does not apply to variants without the unit, which are simulated once. Values are a " +
			"list, or a range of numbers: {from: 10, to: 160, step: 10}, {from: 128, to: 1024, times: 2}. Keys that " +
			"vary together share an entry, with tuples of values: \"machine.l1d.bytes, machine.l1d.ways\": [[16KiB, " +
			"4], [32KiB, 8]].",
		"sample": "Sampled simulation: which parts of a run are simulated in time. The others are estimated from " +
			"them. Variants and axes may set its keys, so that each program is sampled in its own way, or beside a " +
			"complete run. See docs/guide/sampling.md.",
		"exclude": "Points to leave out: a list of sections that map axes of compare or sweep to a value or several. " +
			"A point that matches a section in all of its axes is not simulated.",
		"seeds": "Every point is simulated once with each of these seeds, which set all seeds of the graph: of its " +
			"generator, of random weights and of a random order. The table shows means with their 95 % confidence " +
			"intervals.",
	}
}

// Validate returns an error for an experiment that cannot run. Checks that need kernels are in package experiment.
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
	if e.Region.WarmRuns > 0 && e.Stop.MaxEdges > 0 {
		return &schema.FieldError{Key: "region.warm_runs", Msg: fmt.Sprintf(
			"%d, beside stop.max_edges, which would end the first of them: expected one of the two", e.Region.WarmRuns)}
	}
	ofTasks := !e.Workload.HasSchedule() || e.Workload.Kind() == workload.KindGraphIt
	if e.Machine.Swarm != nil && !ofTasks && !e.varies("machine") {
		return &schema.FieldError{Key: "workload.program", Msg: "a machine of Swarm tiles (machine.swarm) executes tasks, " +
			"which no kernel of heddle's has: expected a GraphIt program, or one of tasks (docs/guide/programs.md)"}
	}
	if !e.Workload.HasSchedule() { // a program's kernels determine the units it needs
		return nil
	}
	if u := e.Workload.Schedule.Kind(); u != nil && !e.Machine.Core.Unit.Is(u.Name) && !e.variesUnit(u) {
		return missingUnit(&e.Machine, e.Workload.Schedule, u)
	}
	return nil
}

// variesUnit reports whether the unit, or a schedule that needs it, is present at some points only.
func (e *Experiment) variesUnit(u *accel.Kind) bool {
	at := "machine.core." + u.Key
	return slices.ContainsFunc(e.varied(), func(key string) bool {
		return key == "workload.schedule" || key == "machine" || key == at || strings.HasPrefix(key, at+".")
	})
}

// validateInput returns an error for an experiment without a graph, or with keys that a trace determines.
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

// varies reports whether a variant or an axis sets the key.
func (e *Experiment) varies(key string) bool { return len(e.values(key)) > 0 }

// axes returns the axes of sweep and of the variants' own sweeps.
func (e *Experiment) axes() (all schema.Axes) {
	all = slices.Clone(e.Sweep)
	for _, v := range e.Compare {
		all = append(all, v.Sweep...)
	}
	return all
}

// values returns the values that variants and axes set a key to; none if the key does not vary.
func (e *Experiment) values(key string) []string {
	values := e.Compare.Values(key)
	for _, a := range e.axes() {
		if a.Key == key {
			values = append(values, a.Values...)
		}
	}
	return values
}

// varied returns the keys that variants and axes set.
func (e *Experiment) varied() []string {
	keys := e.Compare.Keys()
	for _, a := range e.axes() {
		keys = append(keys, a.Key)
	}
	return keys
}

// axisSections are the sections whose keys variants and axes may set.
var axisSections = []string{"machine", "graph", "workload", "sample"}

// validateAxes returns an error for axes of keys that do not affect the simulation, and for duplicate axes.
func (e *Experiment) validateAxes() error {
	for _, key := range e.varied() {
		if section, _, _ := strings.Cut(key, "."); !slices.Contains(axisSections, section) {
			return &schema.FieldError{Key: e.whereVaried(key),
				Msg: key + " cannot be an axis: expected a key of machine, graph, workload or sample"}
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

// variesGraph reports whether a variant or an axis sets a key of the graph.
func (e *Experiment) variesGraph() bool {
	return slices.ContainsFunc(e.varied(), func(key string) bool { return strings.HasPrefix(key, "graph.") })
}

// whereVaried returns the key that an error about a varied key names: compare or sweep.
func (e *Experiment) whereVaried(key string) string {
	if slices.ContainsFunc(e.Sweep, func(a schema.Axis) bool { return a.Key == key }) {
		return "sweep"
	}
	return "compare"
}

// validateOwn returns an error for axes of a variant's own sweep that the variant or the common sweep sets.
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

// validateExclude returns an error for exclusions with an axis or value that does not exist.
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

// excludable returns the values of an axis by which points can be excluded. Named variants are excluded by their names
// (schema.VariantKey), not by their settings.
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

// NeedsRandom returns the error for seeds of a graph without anything random.
func (e *Experiment) NeedsRandom() error {
	return &schema.FieldError{Key: "seeds", Msg: "nothing about the graph is random: expected a generator, " +
		"weights.from: random or reorder.order: random"}
}

// missingUnit returns the error for a machine without the unit that a schedule needs.
func missingUnit(m *configs.Machine, s workload.Schedule, u *accel.Kind) error {
	msg := fmt.Sprintf("%s: the machine's cores have no %s; give machine.core.%s", s, u.Title, u.Key)
	if names := configs.MachinesLike(m, u); len(names) > 0 {
		const most = 3
		msg += fmt.Sprintf(" (or use a preset that has it: %s)", strings.Join(names[:min(len(names), most)], ", "))
	}
	return &schema.FieldError{Key: "workload.schedule", Msg: msg}
}
