// Package tune searches for the fastest kernel for a graph, an algorithm and a machine, over schedule, layout,
// direction, active set and the other choices of a workload that distribute its work.
//
// Every candidate is a verified point as heddle run simulates it, abandoned when it takes longer than the best so far.
// The search depends on cycles alone, so that it takes the same course on any host.
package tune

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"heddle/configs"
	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/kernels/activeset"
	"heddle/kernels/compose"
	"heddle/kernels/direction"
	"heddle/kernels/layout"
	"heddle/kernels/schedule"
	"heddle/kernels/workload"
)

// Axis is a dimension of the search: a key of workload with its values.
type Axis struct {
	Key    string
	Values []string
	set    func(w *workload.Workload, value string)
	// neutral is the value that is valid for every kernel, on axes whose other values are valid for some; empty: no
	// value is.
	neutral string
	// early lists values that a quick search tries with every schedule before it discards any, since they affect which
	// schedule is the best.
	early []string
}

// number returns an axis of an integer key. The first value is neutral.
func number(key string, values []string, field func(w *workload.Workload) *int) Axis {
	return Axis{Key: key, Values: values, neutral: values[0], set: func(w *workload.Workload, value string) {
		*field(w), _ = strconv.Atoi(value) // a value from Axes, or checked by Restrict
	}}
}

// choice returns an axis of an enumeration.
func choice(key string, values []string, field func(w *workload.Workload) *workload.Choice) Axis {
	return Axis{Key: key, Values: values, set: func(w *workload.Workload,
		value string) {
		*field(w) = workload.Choice(value)
	}}
}

// Keys of axes.
const (
	ScheduleKey = "workload.schedule" // always the first axis
	LayoutKey   = "workload.layout"
)

// Kinds selects the schedules to search.
type Kinds string

// Kinds of schedules.
const (
	Suited   Kinds = "auto"     // those of the machine's graph unit, or software schedules if it has none
	Software Kinds = "software" // software schedules only
	Every    Kinds = "all"      // both
)

// has reports whether a schedule is selected on a machine.
func (k Kinds) has(s *schedule.Schedule, m *configs.Machine) bool {
	own := s.Unit != nil && m.Core.Unit.Is(s.UnitName())
	switch {
	case s.Shards: // its layouts go with hardly another choice, so that no step of a search leads there or away
		return false
	case s.Unit != nil:
		return own && k != Software
	case k == Suited:
		return m.Core.Unit.Spec == nil
	}
	return true
}

// namesOf lists the names of all.
func namesOf[T any](all []T, name func(T) string) (list []string) {
	for _, x := range all {
		list = append(list, name(x))
	}
	return list
}

// Axes returns all axes of a search on a machine.
func Axes(m *configs.Machine, kinds Kinds) []Axis {
	var schedules, layouts, splits []string
	for _, s := range schedule.All() {
		if kinds.has(s, m) {
			schedules = append(schedules, s.Name)
		}
	}
	for _, l := range layout.Layouts() {
		if l.Shards != nil && l.Shards.Concatenated { // for schedule shard alone
			continue
		}
		layouts = append(layouts, l.Name)
		if l.Virtual != nil && l.Virtual.Splits {
			splits = append(splits, l.Name)
		}
	}
	directions := namesOf(direction.Policies(), func(p *direction.Policy) string { return p.Name })
	// Outputs are Gunrock's code, like variants of schedules, and store a word an edge more than a queue.
	own := slices.DeleteFunc(slices.Clone(activeset.Choices()), func(s *activeset.Choice) bool { return s.Outputs })
	sets := namesOf(own, func(s *activeset.Choice) string { return s.Name })
	dedups := namesOf(activeset.Dedups(), func(d *activeset.Dedup) string { return d.Name })
	orders := namesOf(activeset.Orders(), func(o *activeset.Order) string { return o.Name })
	scans := namesOf(schedule.Scans(), func(s schedule.Scan) string { return string(s) })
	return []Axis{
		{Key: ScheduleKey, Values: schedules,
			set: func(w *workload.Workload, v string) { w.Schedule = workload.Schedule(v) }},
		choice("workload.direction", directions, func(w *workload.Workload) *workload.Choice { return &w.Direction }),
		choice("workload.frontier", sets, func(w *workload.Workload) *workload.Choice { return &w.ActiveSet }),
		{Key: LayoutKey, Values: layouts, early: splits,
			set: func(w *workload.Workload, v string) { w.Layout = workload.Layout(v) }},
		choice("workload.frontier.dedup", dedups, func(w *workload.Workload) *workload.Choice { return &w.Dedup }),
		choice("workload.order", orders, func(w *workload.Workload) *workload.Choice { return &w.Order }),
		number("workload.order.buckets", openBuckets(), func(w *workload.Workload) *int { return &w.Buckets }),
		choice("workload.schedule.scan", scans, func(w *workload.Workload) *workload.Choice { return &w.Scan }),
		number("workload.layout.block_vertices", blockSizes(), func(w *workload.Workload) *int { return &w.BlockVertices }),
		{Key: "workload.layout.block_by", Values: blockEnds(), neutral: string(layout.ByDestination),
			set: func(w *workload.Workload, v string) { w.BlockBy = workload.Choice(v) }},
		number("workload.layout.shard_vertices", shardSizes(), func(w *workload.Workload) *int { return &w.ShardVertices }),
		number("workload.layout.virtual_degree", degrees(), func(w *workload.Workload) *int { return &w.VirtualDegree }),
		number("workload.layout.ell_width", []string{"0", "4", "16", "64"},
			func(w *workload.Workload) *int { return &w.ELLWidth }),
		number("workload.layout.dia_diagonals", []string{"0", "2", "8"},
			func(w *workload.Workload) *int { return &w.Diagonals }),
		{Key: "workload.layout.slot_order", Values: []string{workload.Auto, string(compose.Rows), string(compose.Columns)},
			neutral: workload.Auto,
			set:     func(w *workload.Workload, v string) { w.SlotOrder = workload.Choice(v) }},
		choice("workload.compiler.fusion", []string{"none", string(compose.LoopFusion)},
			func(w *workload.Workload) *workload.Choice { return &w.Fusion }),
		{Key: "workload.compiler.unroll", Values: []string{"1", "4", string(compose.UnrollAuto)}, neutral: "1",
			set: func(w *workload.Workload, v string) { w.Unroll = workload.Choice(v) }},
		number("workload.schedule.warps_per_core", warpCounts(m.Core.Warps),
			func(w *workload.Workload) *int { return &w.WarpsPerCore }),
		number("workload.schedule.cta_threads", blockThreads(m.Core.Warps, m.Core.Threads),
			func(w *workload.Workload) *int { return &w.CTAThreads }),
	}
}

// openBuckets returns the default number of open buckets in Δ-stepping, a quarter of it and four times it.
func openBuckets() []string {
	const usual = activeset.DefaultBuckets
	return []string{strconv.Itoa(usual), strconv.Itoa(usual / 4), strconv.Itoa(usual * 4)}
}

// blockSizes returns the default block size of block-coo, a quarter and a sixteenth of it.
func blockSizes() (values []string) {
	for _, part := range []int{1, 4, 16} {
		values = append(values, strconv.Itoa(layout.DefaultBlock/part))
	}
	return values
}

// blockEnds returns the ends of edges by which blocks can be formed.
func blockEnds() (values []string) {
	for _, by := range layout.Bys() {
		values = append(values, string(by))
	}
	return values
}

// shardSizes returns the default size of shards, a quarter and a sixteenth of it.
func shardSizes() (values []string) {
	for _, part := range []int{1, 4, 16} {
		values = append(values, strconv.Itoa(layout.DefaultShard/part))
	}
	return values
}

// degrees returns the default degree of virtual vertices, four times and sixteen times it.
func degrees() (values []string) {
	for _, times := range []int{1, 4, 16} {
		values = append(values, strconv.Itoa(layout.DefaultDegree*times))
	}
	return values
}

// warpCounts returns all warps of a core, which is 0, a half and a quarter.
func warpCounts(warps int) []string {
	values := []string{"0"}
	for n := warps / 2; n > 0 && n >= warps/4; n /= 2 {
		values = append(values, strconv.Itoa(n))
	}
	return values
}

// blockThreads returns the sizes of thread blocks: of a whole core, which is 0, and each a quarter of the one before.
func blockThreads(warps, lanes int) []string {
	values := []string{"0"}
	for n := warps / 4; n > 0; n /= 4 {
		if n > 1 {
			values = append(values, strconv.Itoa(n*lanes))
		}
	}
	return values
}

// Restrict limits an axis to the values of KEY=VALUE,VALUE.
func Restrict(axes []Axis, text string) error {
	key, list, ok := strings.Cut(text, "=")
	named := func(key string) int { return slices.IndexFunc(axes, func(a Axis) bool { return a.Key == key }) }
	i := named(key)
	if i < 0 {
		i = named(config.KeyOf(key))
	}
	if !ok || i < 0 {
		var keys []string
		for _, a := range axes {
			keys = append(keys, experiment.Short(a.Key))
		}
		return fmt.Errorf("--only %s: expected KEY=VALUE,VALUE… with one of %s", text, strings.Join(keys, ", "))
	}
	values := strings.Split(list, ",")
	for _, v := range values {
		if !slices.Contains(axes[i].Values, v) {
			if _, err := strconv.ParseUint(v, 10, 16); err != nil || !isNumber(axes[i].Values) {
				return fmt.Errorf("--only %s: %s: expected some of %s", text, v, strings.Join(axes[i].Values, ", "))
			}
		}
	}
	axes[i].Values = values
	return nil
}

func isNumber(values []string) bool {
	_, err := strconv.Atoi(values[0])
	return err == nil
}

// Candidate is the index of a value on every axis.
type Candidate []int

// Space is the set of candidates of a search.
type Space struct {
	Axes       []Axis
	Candidates []Candidate // legal, each a different kernel; the last axis varies fastest

	names    []string
	workload workload.Workload // the keys that are not searched

	// For the schedules of a GraphIt program's label:
	settings func(c Candidate) []experiment.Setting // settings of a point; nil: the values of the workload's keys
	texts    func(c Candidate) string               // the label's schedule
	first    Candidate                              // the program's own schedule
}

// MostCandidates bounds a space, as more are probably a mistake.
const MostCandidates = 200_000

// NewSpace finds the legal combinations; w has the keys that are not searched. The first of those that result in the
// same kernel becomes a candidate.
func NewSpace(w workload.Workload, m *configs.Machine, axes []Axis) (*Space, error) {
	s := &Space{Axes: axes, workload: w}
	e := enumeration{Space: s, core: schedule.Core{Warps: m.Core.Warps, Lanes: m.Core.Threads}, seen: map[string]bool{}}
	if err := e.all(w); err != nil {
		return nil, err
	}
	if len(s.Candidates) == 0 {
		return nil, fmt.Errorf("workload.algorithm: %s: no combination is legal: nothing to search", w.Algorithm)
	}
	return s, nil
}

// enumeration finds the candidates of a space. It varies axes with a neutral value only within combinations of the
// other choices that are legal with all of them neutral, since most combinations are illegal whatever the numbers.
type enumeration struct {
	*Space
	core schedule.Core
	seen map[string]bool // names of kernels
}

// all visits every combination of the axes without a neutral value.
func (e *enumeration) all(w workload.Workload) error {
	choices := slices.Clone(e.Axes)
	for i, a := range e.Axes {
		if a.neutral != "" {
			choices[i].Values = []string{a.neutral}
		}
	}
	at := make(Candidate, len(choices))
	for more := true; more; more = next(at, choices) {
		own := w
		for i, a := range choices {
			a.set(&own, a.Values[at[i]])
		}
		if _, err := compose.NewPlan(own); err != nil {
			continue
		}
		if err := e.numbers(own, at); err != nil {
			return err
		}
	}
	return nil
}

// numbers visits the values of the axes with a neutral value that are legal with a combination of the others.
func (e *enumeration) numbers(w workload.Workload, choices Candidate) error {
	suit := slices.Clone(e.Axes)   // with the values that are legal when the other axes are neutral
	of := make([][]int, len(suit)) // indices of these values in Axes
	for i, a := range e.Axes {
		suit[i].Values = nil
		for v, value := range a.Values {
			if a.neutral == "" && v != choices[i] {
				continue
			}
			if a.neutral != "" && value != a.neutral { // otherwise it is w itself, which is legal
				own := w
				a.set(&own, value)
				if _, err := compose.NewPlan(own); err != nil {
					continue
				}
			}
			suit[i].Values, of[i] = append(suit[i].Values, value), append(of[i], v)
		}
		if len(of[i]) == 0 {
			return nil
		}
	}
	at := make(Candidate, len(suit))
	for more := true; more; more = next(at, suit) {
		own, c := w, make(Candidate, len(suit))
		for i, a := range suit {
			a.set(&own, a.Values[at[i]])
			c[i] = of[i][at[i]]
		}
		if err := e.add(own, c); err != nil {
			return err
		}
	}
	return nil
}

// add appends a candidate if it is legal on the machine and its kernel is new.
func (e *enumeration) add(w workload.Workload, c Candidate) error {
	p, err := compose.NewPlan(w)
	if err != nil || p.Fits(e.core) != nil || e.seen[p.Name()] {
		return nil //nolint:nilerr // not a candidate
	}
	e.seen[p.Name()] = true
	e.Candidates, e.names = append(e.Candidates, c), append(e.names, p.Name())
	if len(e.Candidates) > MostCandidates {
		return fmt.Errorf("more than %d candidates: leave some out by --only", MostCandidates)
	}
	return nil
}

// next advances at to the next element of a cross product; false after the last.
func next(at Candidate, axes []Axis) bool {
	for i := len(at) - 1; i >= 0; i-- {
		if at[i]++; at[i] < len(axes[i].Values) {
			return true
		}
		at[i] = 0
	}
	return false
}

// Settings returns a candidate's values as axes of a point.
func (s *Space) Settings(i int) (out []experiment.Setting) {
	if s.settings != nil {
		return s.settings(s.Candidates[i])
	}
	return s.values(i)
}

// values returns a candidate's values with the keys of the axes.
func (s *Space) values(i int) (out []experiment.Setting) {
	for a, v := range s.Candidates[i] {
		out = append(out, experiment.Setting{Key: s.Axes[a].Key, Value: s.Axes[a].Values[v]})
	}
	return out
}

// Name returns the name of a candidate's kernel.
func (s *Space) Name(i int) string { return s.names[i] }

// Named returns the candidates with the given kernels, as far as they exist.
func (s *Space) Named(kernels []string) (list []int) {
	for _, k := range kernels {
		if i := slices.Index(s.names, k); i >= 0 {
			list = append(list, i)
		}
	}
	return list
}

// Find returns the candidate of a workload's own choices; if there is none, the one that suits the first schedule.
func (s *Space) Find(w workload.Workload) int {
	if p, err := compose.NewPlan(w); err == nil {
		if i := slices.Index(s.names, p.Name()); i >= 0 {
			return i
		}
	}
	return max(0, s.suited(0))
}

// suited returns the candidate of a schedule with the workload's other choices, where auto resolves to the best for
// the schedule; if there is none, the first candidate of the schedule; -1: none.
func (s *Space) suited(value int) int {
	if s.settings != nil {
		near := s.nearest(s.first, 0, value)
		return append(near, -1)[0]
	}
	w := s.workload
	s.Axes[0].set(&w, s.Axes[0].Values[value])
	if p, err := compose.NewPlan(w); err == nil {
		if i := slices.Index(s.names, p.Name()); i >= 0 {
			return i
		}
	}
	return slices.IndexFunc(s.Candidates, func(c Candidate) bool { return c[0] == value })
}

// nearest returns the candidates with a value on an axis that differ from to on the fewest other axes, at most
// mostNearest of them, with the same schedule unless axis is the schedule. There are several if the value requires a
// change on another axis.
func (s *Space) nearest(to Candidate, axis, value int) (list []int) {
	least := len(s.Axes) + 1
	first := to[0]
	if axis == 0 {
		first = value
	}
	// The last axis varies fastest: those with a value on the first are together.
	begin, _ := slices.BinarySearchFunc(s.Candidates, first, func(c Candidate, v int) int { return c[0] - v })
	for i := begin; i < len(s.Candidates) && s.Candidates[i][0] == first; i++ {
		c := s.Candidates[i]
		if c[axis] != value {
			continue
		}
		most := least // as many differences are of use: fewer, once the list is full
		if len(list) == mostNearest {
			most--
		}
		differs := 0
		for a := 0; a < len(c) && differs <= most; a++ {
			if c[a] != to[a] {
				differs++
			}
		}
		switch {
		case differs > most:
			continue
		case differs < least:
			least, list = differs, nil
		}
		list = append(list, i)
	}
	return list
}

const mostNearest = 3
