package compose

import (
	"errors"
	"fmt"
	"slices"

	"heddle/graph"
	"heddle/kernels/activeset"
	"heddle/kernels/algorithm"
	"heddle/kernels/host"
	"heddle/kernels/layout"
	"heddle/kernels/workload"
)

// Outline describes a run for a host other than heddle's own: kernels as they are composed, the arrays and numbers that
// they are given, and how the run ends. It is laid out for machines of one shape, whose number of cores may differ.
type Outline struct {
	Plan     *Plan
	Kernels  Kernels
	Graph    *graph.Graph
	Workload workload.Workload // all keys resolved
	Source   uint32            // the source vertex, if the algorithm has one
	Target   uint32
	Arrays   []OutlineArray    // in the order in which kernels name them
	Frontier []Rotation        // arrays of the active set
	Numbers  map[string]uint32 // parameters in the first super-step, floats as their bits
	Start    []uint32          // active vertices of the first super-step
	MaxSteps int               // super-steps at most; 0: until no vertex is active

	run *run
}

// OutlineArray is an array that a kernel names and that keeps its role.
type OutlineArray struct {
	Name    string
	Words   int      // its length; with PerWarp, besides
	PerWarp int      // further words for each warp of the device
	Data    []uint32 // contents before init; nil: zeros
	From    Origin
	Zero    bool // zeroed before each gather
}

// Origin is the part of a plan that an array belongs to.
type Origin int

// Origins.
const (
	OfGraph Origin = iota
	OfLayout
	OfSchedule
	OfAlgorithm
)

// Rotation is a set of arrays of equal length, of which each passes its role on after every super-step: the array with
// role i has role i+1 in the next one. A single role stays.
type Rotation struct {
	Roles []string
	Words int
}

// NewOutline lays out a run of a workload. Workloads that need a graph unit are refused.
func NewOutline(s host.Shape, g *graph.Graph, w workload.Workload) (*Outline, error) {
	w, err := ForGraph(w, g)
	if err != nil {
		return nil, err
	}
	p, err := NewPlan(w)
	if err != nil {
		return nil, err
	}
	p.Weights = g.WeightKind()
	if p.Schedule.Unit != nil {
		return nil, refuse("schedule", " = %s needs the graph unit %s, which only heddle's machines have: expected a "+
			"software schedule", p.Schedule.Name, p.Schedule.UnitName())
	}
	if err := p.Runs(s); err != nil {
		return nil, err
	}
	ks, err := p.Build(coreOf(s))
	if err != nil {
		return nil, err
	}
	r, err := newRun(&sketch{exporter{shape: s}}, p, ks, g, w)
	if err != nil {
		return nil, err
	}
	o := &Outline{Plan: p, Kernels: ks, Graph: g, Workload: resolve(w), Source: r.Source, Target: r.problem.Target,
		Numbers: r.words(), Start: r.start(), MaxSteps: r.maxSteps(), run: r}
	o.Frontier = rotations(r.set.Arrays())
	return o, o.listArrays()
}

// NewOperatorOutline lays out an operator over edges of a program whose arrays and words it is given by name. What
// words hold is of no interest: the program has them.
func NewOperatorOutline(s host.Shape, o *EdgeOperator, g *graph.Graph, w workload.Workload, arrays []string,
	words map[string]uint32) (*Outline, error) {
	p := o.Plan
	if p.Schedule.Unit != nil {
		return nil, refuse("schedule", " = %s needs the graph unit %s, which only heddle's machines have: expected a "+
			"software schedule", p.Schedule.Name, p.Schedule.UnitName())
	}
	if err := p.Runs(s); err != nil {
		return nil, err
	}
	ks, err := p.Build(coreOf(s))
	if err != nil {
		return nil, err
	}
	p.Algorithm.Words = func(*algorithm.Problem) map[string]uint32 { return words }
	r, err := newRunIn(&sketch{exporter{shape: s}}, p, ks, g, w, func(r *run) {
		for _, name := range arrays {
			r.addresses[name] = 0
		}
	})
	if err != nil {
		return nil, err
	}
	x := &Outline{Plan: p, Kernels: ks, Graph: g, Workload: w, Numbers: r.words(), run: r,
		Frontier: rotations(r.set.Arrays())}
	return x, x.listArrays(arrays...)
}

// sketch is a machine in which a run is laid out and never launched.
type sketch struct{ exporter }

func (x *sketch) Reserved() []graph.Region       { return nil }
func (x *sketch) WriteWords(uint32, []uint32)    {}
func (x *sketch) ShareWords(uint32, []uint32)    {}
func (x *sketch) ReadWords(_ uint32, _ []uint32) {}

// rotations groups arrays that pass on their roles.
func rotations(arrays []*activeset.Array) (list []Rotation) {
	for _, a := range arrays {
		if !slices.ContainsFunc(list, func(r Rotation) bool { return slices.Contains(r.Roles, a.Roles[0]) }) {
			list = append(list, Rotation{a.Roles, a.Words})
		}
	}
	return list
}

// listArrays lists the arrays that kernels name, other than those of the active set and others.
func (o *Outline) listArrays(others ...string) error {
	seen := map[string]bool{}
	for _, name := range others {
		seen[name] = true
	}
	for _, a := range o.run.rotating() {
		for _, role := range a.Roles {
			seen[role] = true
		}
	}
	for name := range o.Numbers {
		seen[name] = true
	}
	for _, k := range o.Kernels.All() {
		for _, p := range k.Params {
			if seen[p.Name] {
				continue
			}
			seen[p.Name] = true
			a, err := o.array(p.Name)
			if err != nil {
				return err
			}
			o.Arrays = append(o.Arrays, a)
		}
	}
	return nil
}

// array describes the array that kernels know by a name.
func (o *Outline) array(name string) (OutlineArray, error) {
	r, a := o.run, OutlineArray{Name: name}
	if own := o.Plan.Schedule.Array(name); own != nil {
		a.From, a.Zero = OfSchedule, own.Zero
		a.Words = own.Words(r.maxWalk, 0)
		a.PerWarp = own.Words(r.maxWalk, 1) - a.Words
		if own.Words(r.maxWalk, 1000) != a.Words+1000*a.PerWarp {
			return a, fmt.Errorf("BUG: compose: the length of %s is not linear in the number of warps", name)
		}
		return a, nil
	}
	switch name {
	case o.Plan.Layout.Gathers:
		a.Words, a.From = o.Graph.Edges(), OfLayout
		return a, nil
	case activeRows:
		a.Words, a.From = r.maxWalk, OfLayout
		return a, nil
	case rowsSize:
		a.Words, a.From, a.Zero = 1, OfLayout, true
		return a, nil
	}
	if data, own, ok := r.built(name); ok {
		a.Data, a.Words, a.From = data, len(data), OfGraph
		if own {
			a.From = OfLayout
		}
		return a, nil
	}
	data, ok := r.data(name)
	if !ok {
		return a, fmt.Errorf("%s: a kernel names %q, which nothing provides", o.Plan.Name(), name)
	}
	a.Data, a.Words, a.From = data, o.Plan.Algorithm.Size(name, &r.problem), OfAlgorithm
	if name == "residual" {
		a.Words = 1
	}
	return a, nil
}

// ResultWords returns the length of the array that holds the result.
func (o *Outline) ResultWords() int {
	return o.Plan.Algorithm.Size(o.Plan.Algorithm.Result, &o.run.problem)
}

// Problem returns the computation.
func (o *Outline) Problem() *algorithm.Problem { return &o.run.problem }

// Room returns the largest number of entries of a walk over the active set.
func (o *Outline) Room() int { return o.run.maxWalk }

// Waits describes the vertices that wait under an order; nil: none do.
func (o *Outline) Waits() activeset.Pile { return o.run.waiting }

// Verify compares a result with the reference: that of a run which ended by itself, or after MaxSteps.
func (o *Outline) Verify(values []uint32, out *algorithm.Outcome) error {
	if len(values) != o.ResultWords() {
		return errors.New("the result has another length")
	}
	x := *out
	x.Result = values
	return o.Plan.Algorithm.Verify(&o.run.problem, &x)
}

// LayoutNumbers returns the names of the parameters that follow from the layout and the graph.
func (o *Outline) LayoutNumbers() (names []string) {
	for name := range o.run.layoutScalars {
		names = append(names, name)
	}
	for _, end := range []layout.End{layout.Source, layout.Destination} {
		if _, ok := o.run.virtualRows[layout.RowCount(end)]; ok {
			names = append(names, layout.RowCount(end))
		}
	}
	slices.Sort(names)
	return names
}
