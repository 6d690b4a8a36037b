package tune

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"heddle/configs"
	"heddle/configs/schema"
	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/graph"
	"heddle/graphit"
	"heddle/graphit/graphir"
	"heddle/graphit/lower"
	"heddle/kernels/host"
	"heddle/kernels/layout"
	"heddle/kernels/schedule"
)

// Program is a GraphIt program whose schedules are searched, one label after the other: for each label, Space (or
// Fusion for a loop) returns the space, with the choices for earlier labels fixed by Choose.
type Program struct {
	file    *graphit.File
	options lower.Options
	machine *configs.Machine
	weights graph.WeightKind
	kinds   Kinds
	// chosen holds the schedules of labels so far, as YAML; other labels have the program's own.
	chosen    map[string]string
	labels    []string // of edge operators, in the order of the program
	loops     []string // labels of loops that some schedule can fuse into one launch
	allLabels []string // labels, loops, and other labels that the experiment schedules
}

// NewProgram returns the program of an experiment, with its labels.
func NewProgram(e *config.Experiment, weights graph.WeightKind, kinds Kinds) (*Program, error) {
	f, o, err := experiment.GraphIt(e)
	if err != nil {
		return nil, err
	}
	p := &Program{file: f, options: o, machine: &e.Machine, weights: weights, kinds: kinds, chosen: map[string]string{}}
	plans, err := lower.Plans(f, o, weights)
	if err != nil {
		return nil, err
	}
	for i := range plans {
		if path := plans[i].Op.Path; path != "" && !slices.Contains(p.labels, path) {
			p.labels = append(p.labels, path)
		}
	}
	loops, err := p.fusible(o.Schedule)
	if err != nil {
		return nil, err
	}
	for _, l := range loops {
		p.loops = append(p.loops, l.Path)
	}
	if err := p.readSchedules(e.Workload.Schedules); err != nil {
		return nil, err
	}
	if len(p.labels) == 0 {
		return nil, fmt.Errorf("%s: expected labels of operators over edges, as #step#: there is nothing to search",
			e.Workload.Program)
	}
	return p, nil
}

// readSchedules adds the experiment's schedules, since the axes of a point replace workload.graphit.schedules as a
// whole.
func (p *Program) readSchedules(schedules schema.Mapping) error {
	var labels map[string]yaml.Node
	if err := yaml.Unmarshal([]byte(schedules), &labels); err != nil {
		return fmt.Errorf("workload.graphit.schedules: %w", err)
	}
	p.allLabels = slices.Concat(p.labels, p.loops)
	for _, l := range slices.Sorted(maps.Keys(labels)) {
		n := labels[l]
		n.Style = yaml.FlowStyle
		text, err := yaml.Marshal(&n)
		if err != nil {
			return fmt.Errorf("workload.graphit.schedules: %s: %w", l, err)
		}
		if p.chosen[l] = strings.TrimSpace(string(text)); !slices.Contains(p.allLabels, l) {
			p.allLabels = append(p.allLabels, l)
		}
	}
	return nil
}

// Labels returns the labels of the operators whose schedules are searched.
func (p *Program) Labels() []string { return p.labels }

// Loops returns the labels of loops that can run on the host or as one launch.
func (p *Program) Loops() []string { return p.loops }

// Choose fixes the schedule of a label to that of a candidate.
func (p *Program) Choose(label string, s *Space, candidate int) {
	p.chosen[label] = s.text(candidate)
}

// Chosen returns the fixed schedules of all labels, as axes of a point.
func (p *Program) Chosen() []experiment.Setting { return setting(p.allLabels, p.chosen) }

// SchedulesKey is the key of a program's schedules.
const SchedulesKey = "workload.graphit.schedules"

func setting(labels []string, chosen map[string]string) []experiment.Setting {
	var list []string
	for _, l := range labels {
		if chosen[l] != "" {
			list = append(list, strconv.Quote(l)+": "+chosen[l])
		}
	}
	return []experiment.Setting{{Key: SchedulesKey, Value: "{" + strings.Join(list, ", ") + "}"}}
}

// Count is the size of the space of a label.
type Count struct {
	Label string `json:"label"`
	// Words counts combinations of the scheduling language's words, Legal those that are valid on the machine, and
	// Kernels the different kernels that result; by direction, as the paper counts (UGF, Table 6.10).
	Words   map[string]int `json:"words"`
	Legal   map[string]int `json:"legal"`
	Kernels map[string]int `json:"kernels"`
	// Hybrids counts pairs of a push and a pull schedule, with each threshold.
	Hybrids int `json:"hybrids"`
}

// Fusion takes the place of the direction in the count of a loop.
const Fusion = "FUSION"

// ProgramKeys lists the keys of labels' axes. A label has those that apply to its operator.
var ProgramKeys = []string{"load_balance", "direction", "frontier_creation", "deduplication", "delta", "kernel_fusion"}

// Values of labels' axes, and thresholds of hybrids.
var (
	directions    = []string{"PUSH", "PULL BITMAP", "PULL BOOLMAP"}
	frontiers     = []string{"FUSED", "UNFUSED_BITMAP", "UNFUSED_BOOLMAP"}
	deduplication = []string{"ENABLED MONOTONIC_COUNTERS", "ENABLED BITMAP", "ENABLED BOOLMAP", "DISABLED"}
	deltas        = []string{"1", "4", "16", "64", "256", "1024"}
	fusions       = []string{"DISABLED", "ENABLED"}
	thresholds    = []string{"0.003", "0.01", "0.03", "0.1", "0.3"}
)

// balances returns the load balances that the machine supports: UGF's, EdgeBlocking with each block size, and those of
// the machine's graph unit.
func (p *Program) balances() (list []string) {
	for _, name := range graphit.LoadBalances {
		s, err := schedule.ByName(string(lower.ScheduleOf(name)))
		switch {
		case err != nil || name == "ETWC" || !p.kinds.has(s, p.machine): // ETWC is another name of TWCE
			continue
		case name == "EDGE_ONLY":
			list = append(list, name)
			for _, size := range blockSizes() {
				list = append(list, "EDGE_ONLY BLOCKED "+size)
			}
		default:
			list = append(list, name)
		}
	}
	return list
}

// operator returns the plan of the operator with a label.
func (p *Program) operator(label string, schedule *graphit.Schedule) (lower.Plan, error) {
	o := p.options
	o.Schedule = schedule
	plans, err := lower.Plans(p.file, o, p.weights)
	if err != nil {
		return lower.Plan{}, err
	}
	i := slices.IndexFunc(plans, func(x lower.Plan) bool { return x.Op.Path == label })
	if i < 0 {
		panic("BUG: tune: there is no label " + label)
	}
	return plans[i], nil
}

// core returns the shape of the machine's cores.
func (p *Program) core() schedule.Core {
	return schedule.Core{Warps: p.machine.Core.Warps, Lanes: p.machine.Core.Threads}
}

// schedule returns the program's schedule with the fixed ones and that of one more label.
func (p *Program) schedule(label, text string) (*graphit.Schedule, error) {
	chosen := map[string]string{}
	for l, s := range p.chosen {
		chosen[l] = s
	}
	chosen[label] = text
	labels, err := graphit.ParseLabels([]byte(setting(p.allLabels, chosen)[0].Value))
	if err != nil {
		return nil, err
	}
	own := p.options.Schedule
	if own == nil {
		own = p.file.Schedule
	}
	return own.With(labels), nil
}

// kernel names the kernels that a schedule of a label results in; false if the schedule is not legal.
func (p *Program) kernel(label, text string) (string, bool) {
	s, err := p.schedule(label, text)
	if err != nil {
		return "", false
	}
	plan, err := p.operator(label, s)
	if err != nil {
		return "", false
	}
	return p.named(plan)
}

func (p *Program) named(plan lower.Plan) (name string, ok bool) {
	ms := []*graphir.Metadata{&plan.Op.Metadata}
	if plan.Op.Hybrid != nil {
		ms = append(ms, &plan.Op.Hybrid.Above)
	}
	for i, x := range plan.Plans {
		if x.Fits(p.core()) != nil {
			return "", false
		}
		if i > 0 {
			name += " from " + plan.Op.Hybrid.Threshold.Text + " on "
		}
		name += x.Name()
		if b := ms[i].Blocking; b != nil && x.Layout.Name == "block-coo" &&
			b.Text != strconv.Itoa(layout.DefaultBlock) && !strings.Contains(x.Name(), b.Text) {
			name += "/blocks-" + b.Text
		}
		if d := ms[i].Delta; d != nil {
			name += "/delta-" + d.Text
		}
	}
	return name, true
}

// flow formats a schedule as YAML, with values of several words as lists.
func flow(axes []Axis, c Candidate) string {
	var list []string
	for a, v := range c {
		if words := strings.Fields(axes[a].Values[v]); len(words) == 1 {
			list = append(list, axes[a].Key+": "+words[0])
		} else {
			list = append(list, axes[a].Key+": ["+strings.Join(words, ", ")+"]")
		}
	}
	return "{" + strings.Join(list, ", ") + "}"
}

// text returns the schedule of a candidate.
func (s *Space) text(i int) string { return s.texts(s.Candidates[i]) }

// Space returns the space of a label's schedules, with the other labels' schedules as they are now, and its size. A
// search begins at the candidate of the program's own schedule, or at the first one.
func (p *Program) Space(label string, only func(axes []Axis) error) (*Space, Count, error) {
	count := Count{Label: label, Words: map[string]int{}, Legal: map[string]int{}, Kernels: map[string]int{}}
	own, err := p.own()
	if err != nil {
		return nil, count, err
	}
	plan, err := p.operator(label, own)
	if err != nil {
		return nil, count, err
	}
	s := &Space{Axes: []Axis{{Key: "load_balance", Values: p.balances()},
		{Key: "direction", Values: slices.Clone(directions)}}}
	if plan.Op.Output == graphir.Modified {
		s.Axes = append(s.Axes, Axis{Key: "frontier_creation", Values: slices.Clone(frontiers)},
			Axis{Key: "deduplication", Values: slices.Clone(deduplication)})
	}
	if plan.Op.Output == graphir.Priority {
		values := slices.Clone(deltas)
		if d := plan.Op.Delta; d != nil && !slices.Contains(values, d.Text) && !d.Quoted {
			values = append(values, d.Text)
		}
		s.Axes = append(s.Axes, Axis{Key: "delta", Values: values})
	}
	if only != nil {
		if err := only(s.Axes); err != nil {
			return nil, count, err
		}
	}
	s.texts = func(c Candidate) string { return flow(s.Axes, c) }
	s.settings = p.settings(label, s)
	p.enumerate(label, s, &count)
	if len(s.Candidates) == 0 {
		return nil, count, fmt.Errorf("%s: no combination is legal: nothing to search", label)
	}
	s.first = s.Candidates[0]
	if name, ok := p.named(plan); ok {
		if i := slices.Index(s.names, name); i >= 0 {
			s.first = s.Candidates[i]
		}
	}
	if plan.Op.Input != nil {
		count.Hybrids = count.Kernels["PUSH"] * count.Kernels["PULL"] * len(thresholds)
	}
	return s, count, nil
}

// fusible returns the loops that can be fused under a schedule.
func (p *Program) fusible(s *graphit.Schedule) (list []lower.Loop, err error) {
	o := p.options
	o.Schedule = s
	d, err := host.NewRehearsal(p.machine)
	if err != nil {
		return nil, err
	}
	list, err = lower.Loops(p.file, o, p.weights, d.Shape())
	return slices.DeleteFunc(list, func(l lower.Loop) bool { return l.Refused != nil }), err
}

// Unfuse disables the fusion of loops that the schedules chosen since have made impossible.
func (p *Program) Unfuse() error {
	own, err := p.own()
	if err != nil {
		return err
	}
	loops, err := p.fusible(own)
	for _, label := range p.loops {
		if p.chosen[label] != "" && !slices.ContainsFunc(loops, func(l lower.Loop) bool { return l.Path == label }) {
			p.chosen[label] = "{kernel_fusion: " + fusions[0] + "}"
		}
	}
	return err
}

// Fusion returns the space of a loop, on the host or as one launch, with the operators' schedules as they are now; nil
// if the loop cannot be fused.
func (p *Program) Fusion(label string, only func(axes []Axis) error) (*Space, Count, error) {
	count := Count{Label: label, Words: map[string]int{Fusion: len(fusions)}, Legal: map[string]int{Fusion: 1},
		Kernels: map[string]int{Fusion: 1}}
	own, err := p.own()
	if err != nil {
		return nil, count, err
	}
	loops, err := p.fusible(own)
	i := slices.IndexFunc(loops, func(l lower.Loop) bool { return l.Path == label })
	if err != nil || i < 0 {
		return nil, count, err
	}
	s := &Space{Axes: []Axis{{Key: "kernel_fusion", Values: slices.Clone(fusions)}}}
	if only != nil {
		if err := only(s.Axes); err != nil {
			return nil, count, err
		}
	}
	s.texts = func(c Candidate) string { return flow(s.Axes, c) }
	s.settings = p.settings(label, s)
	for v, word := range s.Axes[0].Values {
		s.Candidates, s.names = append(s.Candidates, Candidate{v}), append(s.names, label+" "+word)
		if loops[i].Fused == (word == fusions[1]) || s.first == nil {
			s.first = Candidate{v}
		}
	}
	count.Legal[Fusion], count.Kernels[Fusion] = len(s.Candidates), len(s.Candidates)
	return s, count, nil
}

// own returns the program's schedule with the fixed ones.
func (p *Program) own() (*graphit.Schedule, error) {
	own := p.options.Schedule
	if own == nil {
		own = p.file.Schedule
	}
	labels, err := graphit.ParseLabels([]byte(p.Chosen()[0].Value))
	if err != nil {
		return nil, err
	}
	return own.With(labels), nil
}

// settings returns a function from a label's candidates to the settings of their points, with the other labels'
// schedules as they are now.
func (p *Program) settings(label string, s *Space) func(c Candidate) []experiment.Setting {
	others := map[string]string{}
	for l, text := range p.chosen {
		others[l] = text
	}
	return func(c Candidate) []experiment.Setting {
		chosen := map[string]string{label: s.texts(c)}
		for l, text := range others {
			if l != label {
				chosen[l] = text
			}
		}
		return setting(p.allLabels, chosen)
	}
}

// enumerate finds the legal combinations. The first of those that result in the same kernel becomes a candidate.
func (p *Program) enumerate(label string, s *Space, count *Count) {
	seen := map[string]bool{}
	at := make(Candidate, len(s.Axes))
	for more := true; more; more = next(at, s.Axes) {
		direction, _, _ := strings.Cut(s.Axes[1].Values[at[1]], " ")
		count.Words[direction]++
		name, ok := p.kernel(label, s.texts(at))
		if !ok {
			continue
		}
		count.Legal[direction]++
		if seen[name] {
			continue
		}
		seen[name] = true
		count.Kernels[direction]++
		s.Candidates, s.names = append(s.Candidates, slices.Clone(at)), append(s.names, name)
	}
}

// First returns the candidate at which the search of a label begins.
func (s *Space) First() int {
	return slices.IndexFunc(s.Candidates, func(c Candidate) bool { return slices.Equal(c, s.first) })
}

// Hybrid returns the space of the thresholds at which a label switches from the push to the pull schedule, with the
// best single schedule as the first candidate; nil if the two schedules do not combine.
func (p *Program) Hybrid(label string, of *Space, best, push, pull int) *Space {
	alone := of.text(best)
	s := &Space{Axes: []Axis{{Key: "threshold", Values: append([]string{"none"}, thresholds...)}}}
	s.texts = func(c Candidate) string {
		if c[0] == 0 {
			return alone
		}
		return "{threshold: " + s.Axes[0].Values[c[0]] + ", below: " + of.text(push) + ", above: " + of.text(pull) + "}"
	}
	s.settings = p.settings(label, s)
	for v := range s.Axes[0].Values {
		if name, ok := p.kernel(label, s.texts(Candidate{v})); ok {
			s.Candidates, s.names = append(s.Candidates, Candidate{v}), append(s.names, name)
		}
	}
	if len(s.Candidates) < 2 || s.Candidates[0][0] != 0 {
		return nil
	}
	s.first = s.Candidates[0]
	return s
}

// Fastest returns the fastest candidate with a direction that was simulated to its end, or else the one most similar to
// the best; -1: none.
func (s *Search) Fastest(direction string) int {
	fastest := -1
	for _, i := range s.order {
		t := s.known[i]
		if t.Cycles > 0 && !t.Abandoned && strings.HasPrefix(s.Space.Axes[1].Values[s.Space.Candidates[i][1]],
			direction) && (fastest < 0 || s.compare(i, fastest) < 0) {
			fastest = i
		}
	}
	for v, word := range s.Space.Axes[1].Values {
		if fastest < 0 && s.best >= 0 && strings.HasPrefix(word, direction) {
			fastest = append(s.Space.nearest(s.Space.Candidates[s.best], 1, v), -1)[0]
		}
	}
	return fastest
}
