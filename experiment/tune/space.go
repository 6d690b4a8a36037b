// Package tune searches the choices of a kernel for the fastest on a graph, an algorithm and a machine: schedule,
// layout, direction, active set, and what else a workload says of how an algorithm's work is dealt out.
//
// Every candidate that it compares is a point as heddle run simulates it, verified; one that takes longer than the best
// so far is abandoned there. The search depends on cycles alone, so that its way and its result are the same on any
// host.
package tune

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"heddle/configs"
	"heddle/experiment"
	"heddle/kernels/activeset"
	"heddle/kernels/compose"
	"heddle/kernels/direction"
	"heddle/kernels/layout"
	"heddle/kernels/schedule"
	"heddle/kernels/workload"
)

// Axis is a choice that is searched: a key of workload, and its values.
type Axis struct {
	Key    string
	Values []string
	set    func(w *workload.Workload, value string)
	// neutral is the value, of an axis of numbers or the like, that suits every kernel; other values suit some. Empty:
	// it is no such axis.
	neutral string
	// early are values that a quick search tries with each schedule before it leaves any: they change which schedule is
	// the best.
	early []string
}

// number is an axis of one of a workload's numbers. The first value is the one that suits every kernel.
func number(key string, values []string, field func(w *workload.Workload) *int) Axis {
	return Axis{Key: key, Values: values, neutral: values[0], set: func(w *workload.Workload, value string) {
		*field(w), _ = strconv.Atoi(value) // a value of ours, or checked
	}}
}

// choice is an axis of one of a workload's names.
func choice(key string, values []string, field func(w *workload.Workload) *workload.Choice) Axis {
	return Axis{Key: key, Values: values, set: func(w *workload.Workload,
		value string) {
		*field(w) = workload.Choice(value)
	}}
}

// Keys of axes.
const (
	ScheduleKey = "workload.schedule" // which a search begins with
	LayoutKey   = "workload.layout"
)

// Kinds says which schedules are searched.
type Kinds string

// Kinds of schedules.
const (
	Suited   Kinds = "auto"     // those of the machine's graph unit, or software's if it has none
	Software Kinds = "software" // software's alone
	Every    Kinds = "all"      // both
)

// has reports whether a schedule is among them on a machine.
func (k Kinds) has(s *schedule.Schedule, m *configs.Machine) bool {
	own := s.Unit != "" && m.Core.Unit.Is(s.Unit)
	switch {
	case s.Unit != "":
		return own && k != Software
	case k == Suited:
		return m.Core.Unit.Spec == nil
	}
	return true
}

// Axes are all that are searched on a machine, with those kinds of schedules.
func Axes(m *configs.Machine, kinds Kinds) []Axis {
	var schedules, layouts, splits, directions, sets, dedups, orders, scans []string
	for _, s := range schedule.All() {
		if kinds.has(s, m) {
			schedules = append(schedules, s.Name)
		}
	}
	for _, l := range layout.Layouts() {
		layouts = append(layouts, l.Name)
		if l.Virtual != nil && l.Virtual.Splits {
			splits = append(splits, l.Name)
		}
	}
	for _, d := range direction.Policies() {
		directions = append(directions, d.Name)
	}
	for _, s := range activeset.Choices() {
		sets = append(sets, s.Name)
	}
	for _, d := range activeset.Dedups() {
		dedups = append(dedups, d.Name)
	}
	for _, o := range activeset.Orders() {
		orders = append(orders, o.Name)
	}
	for _, s := range schedule.Scans() {
		scans = append(scans, string(s))
	}
	return []Axis{
		{Key: ScheduleKey, Values: schedules,
			set: func(w *workload.Workload, v string) { w.Schedule = workload.Schedule(v) }},
		choice("workload.direction", directions, func(w *workload.Workload) *workload.Choice { return &w.Direction }),
		choice("workload.active_set", sets, func(w *workload.Workload) *workload.Choice { return &w.ActiveSet }),
		{Key: LayoutKey, Values: layouts, early: splits,
			set: func(w *workload.Workload, v string) { w.Layout = workload.Layout(v) }},
		choice("workload.dedup", dedups, func(w *workload.Workload) *workload.Choice { return &w.Dedup }),
		choice("workload.order", orders, func(w *workload.Workload) *workload.Choice { return &w.Order }),
		number("workload.buckets", openBuckets(), func(w *workload.Workload) *int { return &w.Buckets }),
		choice("workload.scan", scans, func(w *workload.Workload) *workload.Choice { return &w.Scan }),
		number("workload.block_vertices", blockSizes(), func(w *workload.Workload) *int { return &w.BlockVertices }),
		{Key: "workload.block_by", Values: bys(), neutral: string(layout.ByDestination),
			set: func(w *workload.Workload, v string) { w.BlockBy = workload.Choice(v) }},
		number("workload.shard_vertices", shardSizes(), func(w *workload.Workload) *int { return &w.ShardVertices }),
		number("workload.virtual_degree", degrees(), func(w *workload.Workload) *int { return &w.VirtualDegree }),
		number("workload.ell_width", []string{"0", "4", "16", "64"},
			func(w *workload.Workload) *int { return &w.ELLWidth }),
		number("workload.dia_diagonals", []string{"0", "2", "8"},
			func(w *workload.Workload) *int { return &w.Diagonals }),
		{Key: "workload.slot_order", Values: []string{workload.Auto, string(compose.Rows), string(compose.Columns)}, neutral: workload.Auto,
			set: func(w *workload.Workload, v string) { w.SlotOrder = workload.Choice(v) }},
		choice("workload.fusion", []string{"none", string(compose.LoopFusion)},
			func(w *workload.Workload) *workload.Choice { return &w.Fusion }),
		{Key: "workload.unroll", Values: []string{"1", "4", string(compose.UnrollAuto)}, neutral: "1",
			set: func(w *workload.Workload, v string) { w.Unroll = workload.Choice(v) }},
		number("workload.warps_per_core", parts(m.Core.Warps),
			func(w *workload.Workload) *int { return &w.WarpsPerCore }),
		number("workload.cta_threads", blocks(m.Core.Warps, m.Core.Threads),
			func(w *workload.Workload) *int { return &w.CTAThreads }),
	}
}

// openBuckets are the default of Δ-stepping's open buckets, a quarter of it and four times it.
func openBuckets() []string {
	const usual = activeset.DefaultBuckets
	return []string{strconv.Itoa(usual), strconv.Itoa(usual / 4), strconv.Itoa(usual * 4)}
}

// blockSizes are the default of block-coo's blocks, and a quarter and a sixteenth of it.
func blockSizes() (values []string) {
	for _, part := range []int{1, 4, 16} {
		values = append(values, strconv.Itoa(layout.DefaultBlock/part))
	}
	return values
}

// bys are the ends of edges by which blocks may be formed.
func bys() (values []string) {
	for _, by := range layout.Bys() {
		values = append(values, string(by))
	}
	return values
}

// shardSizes are the default of shards, and a quarter and a sixteenth of it.
func shardSizes() (values []string) {
	for _, part := range []int{1, 4, 16} {
		values = append(values, strconv.Itoa(layout.DefaultShard/part))
	}
	return values
}

// degrees are the default of virtual vertices' degrees, four times and sixteen times it.
func degrees() (values []string) {
	for _, times := range []int{1, 4, 16} {
		values = append(values, strconv.Itoa(layout.DefaultDegree*times))
	}
	return values
}

// parts are all of a core's warps, which 0 means, a half and a quarter.
func parts(warps int) []string {
	values := []string{"0"}
	for n := warps / 2; n > 0 && n >= warps/4; n /= 2 {
		values = append(values, strconv.Itoa(n))
	}
	return values
}

// blocks are thread blocks of a whole core, which 0 means, and of fewer of its warps, each a quarter of the one before.
func blocks(warps, lanes int) []string {
	values := []string{"0"}
	for n := warps / 4; n > 0; n /= 4 {
		if n > 1 {
			values = append(values, strconv.Itoa(n*lanes))
		}
	}
	return values
}

// Restrict leaves of an axis those values: KEY=VALUE,VALUE.
func Restrict(axes []Axis, text string) error {
	key, list, ok := strings.Cut(text, "=")
	named := func(key string) int { return slices.IndexFunc(axes, func(a Axis) bool { return a.Key == key }) }
	i := named(key)
	if i < 0 && !strings.Contains(key, ".") {
		i = named("workload." + key)
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

// Candidate is a value on every axis, by its place among the axis's.
type Candidate []int

// Space is the set of candidates of a search.
type Space struct {
	Axes       []Axis
	Candidates []Candidate // legal, each another kernel; in the order of the axes, the last of which moves fastest

	names    []string
	workload workload.Workload // what is not searched

	// Of a GraphIt program's schedules.
	settings func(c Candidate) []experiment.Setting // nil: a candidate's values are keys of the workload
	texts    func(c Candidate) string               // a label's schedule
	first    Candidate                              // what the program says itself
}

// MostCandidates bounds a space: more is a mistake.
const MostCandidates = 200_000

// NewSpace finds the legal combinations, by a workload that has all else. Of those that come to the same kernel, the
// first is one.
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

// enumeration goes through a space. Numbers are looked at below choices that go together: most of these do not, and
// then no number makes them legal.
type enumeration struct {
	*Space
	core schedule.Core
	seen map[string]bool // names of kernels
}

// all looks at every combination of the choices that are no numbers.
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

// numbers looks at the numbers that suit a combination of the other choices.
func (e *enumeration) numbers(w workload.Workload, choices Candidate) error {
	suit := slices.Clone(e.Axes)   // with the values that suit, each alone
	of := make([][]int, len(suit)) // places of these among all
	for i, a := range e.Axes {
		suit[i].Values = nil
		for v, value := range a.Values {
			own := w
			if a.neutral != "" {
				a.set(&own, value)
			} else if v != choices[i] {
				continue
			}
			if _, err := compose.NewPlan(own); err == nil {
				suit[i].Values, of[i] = append(suit[i].Values, value), append(of[i], v)
			}
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

// add adds a candidate, if it is legal on the machine and none before it is the same kernel.
func (e *enumeration) add(w workload.Workload, c Candidate) error {
	p, err := compose.NewPlan(w)
	if err != nil || p.Fits(e.core) != nil || e.seen[p.Name()] {
		return nil //nolint:nilerr // it is no candidate
	}
	e.seen[p.Name()] = true
	e.Candidates, e.names = append(e.Candidates, c), append(e.names, p.Name())
	if len(e.Candidates) > MostCandidates {
		return fmt.Errorf("more than %d candidates: leave some out by --only", MostCandidates)
	}
	return nil
}

// next is the next place in a cross product; false: there is none.
func next(at Candidate, axes []Axis) bool {
	for i := len(at) - 1; i >= 0; i-- {
		if at[i]++; at[i] < len(axes[i].Values) {
			return true
		}
		at[i] = 0
	}
	return false
}

// Settings are a candidate's values, as a point's axes.
func (s *Space) Settings(i int) (out []experiment.Setting) {
	if s.settings != nil {
		return s.settings(s.Candidates[i])
	}
	return s.values(i)
}

// values are a candidate's, by the axes' keys.
func (s *Space) values(i int) (out []experiment.Setting) {
	for a, v := range s.Candidates[i] {
		out = append(out, experiment.Setting{Key: s.Axes[a].Key, Value: s.Axes[a].Values[v]})
	}
	return out
}

// Name is the name of a candidate's kernel.
func (s *Space) Name(i int) string { return s.names[i] }

// Named are the candidates of kernels, without those that are none.
func (s *Space) Named(kernels []string) (list []int) {
	for _, k := range kernels {
		if i := slices.Index(s.names, k); i >= 0 {
			list = append(list, i)
		}
	}
	return list
}

// Find is the candidate that a workload's own choices come to; if that is none, what suits the first schedule.
func (s *Space) Find(w workload.Workload) int {
	if p, err := compose.NewPlan(w); err == nil {
		if i := slices.Index(s.names, p.Name()); i >= 0 {
			return i
		}
	}
	return max(0, s.suited(0))
}

// suited is the candidate of a schedule with the workload's other choices, or what suits the schedule where these are
// auto; if that is none, the first of the schedule; -1: there is none.
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

// nearest are the candidates that have a value on an axis and as many of another's values as there can be, its schedule
// unless the axis is that; at most mostNearest. There are several where the value asks for another one on a second
// axis.
func (s *Space) nearest(to Candidate, axis, value int) (list []int) {
	least := len(s.Axes) + 1
	for i, c := range s.Candidates {
		if c[axis] != value || axis != 0 && c[0] != to[0] {
			continue
		}
		differs := 0
		for a := range c {
			if c[a] != to[a] {
				differs++
			}
		}
		if differs < least {
			least, list = differs, nil
		}
		if differs == least && len(list) < mostNearest {
			list = append(list, i)
		}
	}
	return list
}

const mostNearest = 3
