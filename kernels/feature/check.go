package feature

import (
	"fmt"
	"math"

	"heddle/graph"
	"heddle/internal/tolerance"
)

// HostEdge is an edge as the reference sees it.
type HostEdge struct {
	ID, Src, Dst int
	Weight       float64
}

// Reference is an algorithm in float64.
type Reference struct {
	// Terms computes the terms that function f of an edge adds to the words of its property at the destination, for the
	// source's value.
	Terms func(p *Problem, f *EdgeFunc, e *HostEdge, value, terms []float64)
	// Goes reports whether function f of an edge goes on, for the source's present value and the old one that it last
	// sent; nil: always.
	Goes func(p *Problem, f *EdgeFunc, e *HostEdge, value, old []float64) bool
	// Next computes, for vertex v, the error of its next value got from its properties and its present value now (off:
	// as a difference of values or of the two sides of an equation), and the bound that roundings permit.
	Next func(p *Problem, v int, of func(property string, word int) float64, now, got, off, bound []float64)
	// Edge, for algorithms with Slots, computes the error of an edge's new value and the bound that roundings permit.
	// Late replaces Terms: the edge's additions and subtractions, from the values that it holds after the kernels.
	Edge func(p *Problem, e *HostEdge, s *Step, off, bound []float64)
	Late func(p *Problem, e *HostEdge, s *Step, plus, minus []float64)
}

// Reader returns a word of an array as a float.
type Reader func(array string, word int) float64

// Step gives access to the device's arrays before and after the kernels over edges of a super-step, for algorithms with
// Slots.
type Step struct {
	Before, After Reader
	Slot          func(v int) int // before the super-step
}

// unit is the maximum relative error of a rounding to f32; for subnormal results the error of a product or a quotient
// is at most underflow, doubled for safety (Higham, Accuracy and Stability of Numerical Algorithms, §2.1). Sums are
// exact there.
const (
	unit      = 0x1p-24
	underflow = 0x1p-149
)

// Memory returns an array of the device.
type Memory func(array string) []uint32

// Checker follows a run: it recomputes each super-step from the device's state before it, so that bounds cover one
// super-step's roundings; sums that the device accumulates over several are followed with the sum of their bounds.
type Checker struct {
	Plan    *Plan    `checkpoint:"assembled"`
	problem *Problem `checkpoint:"assembled"`
	device  Memory   `checkpoint:"assembled"`

	now, before []uint32
	held        map[string][]uint32 // with Slots: arrays of edges before the super-step
	slots       []uint32
	active      []bool
	touched     []bool // vertices changed by an edge since vertex functions last ran
	sums        map[string]*sum
	edges       uint64 // edges that the super-step handles
}

// sum tracks a property that edges add to.
type sum struct {
	words     int       // per set of features of a vertex
	sets      int       // per vertex
	want, mag []float64 // the sum, and the sum of magnitudes
	adds      []int     // additions per set
}

// NewChecker begins to follow a run whose arrays have their initial contents.
func NewChecker(p *Plan, problem *Problem, device Memory) *Checker {
	problem.plan = p
	c := &Checker{Plan: p, problem: problem, device: device, sums: map[string]*sum{}}
	n := problem.Graph.Vertices()
	for _, x := range p.Properties {
		if x.Sum {
			words := x.Words(p.K)
			rows := n * c.sets()
			c.sums[x.Name] = &sum{words, c.sets(), make([]float64, rows*words), make([]float64, rows*words),
				make([]int, rows)}
		}
	}
	c.active = make([]bool, n)
	c.touched = make([]bool, n)
	for v := range c.active {
		c.active[v], c.touched[v] = true, true
	}
	if p.Slots {
		c.slots = make([]uint32, n)
	}
	return c
}

// sets returns the number of sets of features per vertex.
func (c *Checker) sets() int { return max(1, c.Plan.Sets) }

// add follows the additions of a kernel's edge functions: for active sources, or for all.
func (c *Checker) add(funcs []EdgeFunc, all bool) {
	c.edges = c.count(all)
	if c.Plan.Check.Late != nil {
		return
	}
	k, sets := c.Plan.K, c.sets()
	a := adding{Checker: c, funcs: funcs, value: make([]float64, k), old: make([]float64, k)}
	for i := range funcs {
		words := 0
		if s := c.sums[funcs[i].Into]; s != nil {
			words = s.words
		}
		a.terms, a.less = append(a.terms, make([]float64, words)), append(a.less, make([]float64, words))
	}
	forEdges(c.problem.Graph, func(e *HostEdge) {
		if !all && !c.active[e.Src] {
			return
		}
		for n := range sets {
			if sets > 1 {
				e.Weight = float64(c.problem.Data(setWeightArray, setWeights)[e.ID*sets+n])
			}
			floats(a.value, c.now[(e.Src*sets+n)*k:])
			if c.Plan.Changes {
				floats(a.old, c.before[(e.Src*sets+n)*k:])
			}
			a.edge(e, e.Dst*sets+n)
		}
	})
}

// adding follows edge functions of a kernel.
type adding struct {
	*Checker
	funcs       []EdgeFunc
	value, old  []float64   // of the source
	terms, less [][]float64 // per function
}

// edge follows an edge's functions, into one set of features of its destination, until one does not go on.
func (a *adding) edge(e *HostEdge, to int) {
	check := &a.Plan.Check
	for i := range a.funcs {
		f, terms, less := &a.funcs[i], a.terms[i], a.less[i]
		if s := a.sums[f.Into]; s != nil {
			check.Terms(a.problem, f, e, a.value, terms)
			if a.Plan.Changes && !f.Lone {
				check.Terms(a.problem, f, e, a.old, less)
			}
			at := to * s.words
			for w := range terms {
				s.want[at+w] += terms[w] - less[w]
				s.mag[at+w] += math.Abs(terms[w]) + math.Abs(less[w])
			}
			s.adds[to]++
		}
		if check.Goes != nil && !check.Goes(a.problem, f, e, a.value, a.old) {
			return
		}
	}
	a.touched[e.Dst] = true
}

// count returns the number of edges that a kernel handles.
func (c *Checker) count(all bool) (n uint64) {
	rows := c.problem.Graph.CSR()
	for v, active := range c.active {
		if all || active {
			n += uint64(rows.Offsets[v+1] - rows.Offsets[v])
		}
	}
	return n
}

// reader returns a Reader of the device's arrays that fetches each once.
func reader(device Memory) Reader {
	read := map[string][]uint32{}
	return func(array string, word int) float64 {
		words, ok := read[array]
		if !ok {
			words = device(array)
			read[array] = words
		}
		return float64(math.Float32frombits(words[word]))
	}
}

// late checks the edges' values, and follows the additions derived from them.
func (c *Checker) late() error {
	s := &Step{
		Before: reader(func(array string) []uint32 { return c.held[array] }), After: reader(c.device),
		Slot: func(v int) int { return int(c.slots[v]) },
	}
	k, check, sums := c.Plan.K, &c.Plan.Check, c.sums[c.Plan.Edges[len(c.Plan.Edges)-1].Into]
	off, bound, plus, minus := make([]float64, k), make([]float64, k), make([]float64, k), make([]float64, k)
	var wrong error
	forEdges(c.problem.Graph, func(e *HostEdge) {
		if wrong != nil || c.Plan.Changes && !c.active[e.Src] {
			return
		}
		check.Edge(c.problem, e, s, off, bound)
		check.Late(c.problem, e, s, plus, minus)
		for f := range off {
			if !tolerance.Small(off[f], bound[f]) {
				wrong = fmt.Errorf("feature %d of edge %d, from %d to %d, is off by %v: expected at most %v, of "+
					"roundings",
					f, e.ID, e.Src, e.Dst, off[f], bound[f])
			}
			sums.want[e.Dst*k+f] += plus[f] - minus[f]
			sums.mag[e.Dst*k+f] += math.Abs(plus[f]) + math.Abs(minus[f])
		}
		if sums.adds[e.Dst]++; c.Plan.Separate {
			sums.adds[e.Dst]++
		}
		c.touched[e.Dst] = c.touched[e.Dst] || s.differs(k, e)
	})
	return wrong
}

// differs reports whether an edge's new value differs from its last one.
func (s *Step) differs(k int, e *HostEdge) bool {
	slot := s.Slot(e.Src)
	for f := range k {
		if message(s.After, k, e.ID, 1-slot, f) != message(s.After, k, e.ID, slot, f) {
			return true
		}
	}
	return false
}

// marked checks the set of vertices that edges have marked.
func (c *Checker) marked() error {
	if !c.Plan.Touched {
		return nil
	}
	words, lanes := c.device(Marked), c.Plan.Lanes
	for v, want := range c.touched {
		if is := words[v/lanes]>>(v%lanes)&1 != 0; is != want {
			return fmt.Errorf("vertex %d is marked as changed by an edge: %v: expected %v", v, is, want)
		}
	}
	return nil
}

// flipped checks the slots.
func (c *Checker) flipped() error {
	for v, slot := range c.device(slotArray) {
		if c.active[v] || !c.Plan.Changes {
			c.slots[v] = 1 - c.slots[v]
		}
		if slot != c.slots[v] {
			return fmt.Errorf("vertex %d: slot %d: expected %d", v, slot, c.slots[v])
		}
	}
	return nil
}

// roundings is the number of roundings in a term, not counting its addition.
const roundings = 8

// check compares a property with its sum.
func (s *sum) check(name string, words []uint32) error {
	for at, w := range words {
		n := float64(s.adds[at/s.words] + roundings)
		bound := n*unit/(1-n*unit)*s.mag[at] + roundings*float64(s.adds[at/s.words])*underflow
		got := float64(math.Float32frombits(w))
		if tolerance.LeavesFloat32(got, s.mag[at]+bound) {
			return fmt.Errorf("%s of vertex %d, word %d, is %v: what the edges add up comes to %.4g on the way, and "+
				"a float32 holds up to %.4g: expected smaller weights (graph.weights)", name, at/s.words/s.sets,
				at%s.words, got, s.mag[at],
				math.MaxFloat32)
		}
		if !tolerance.Within(got, s.want[at], bound) {
			return fmt.Errorf("%s of vertex %d, word %d: the edges have added up to %v: expected %v, with at most "+
				"%v of roundings",
				name, at/s.words/s.sets, at%s.words, got, s.want[at], bound)
		}
	}
	return nil
}

// Lone checks the additions before the first super-step.
func (c *Checker) Lone() error {
	c.read()
	for _, funcs := range c.Plan.LoneKernels() {
		c.add(funcs, true)
	}
	for name, s := range c.sums {
		if err := s.check(name, c.device(name)); err != nil {
			return err
		}
	}
	return nil
}

func (c *Checker) read() {
	c.now = c.device(Now)
	if c.Plan.Changes {
		c.before = c.device(Before)
	}
}

// Begin reads the state at the start of a super-step.
func (c *Checker) Begin() {
	c.read()
	if c.Plan.Slots {
		c.held = map[string][]uint32{Now: c.now}
		for _, x := range c.Plan.Properties {
			if x.Slots {
				c.held[x.Name] = c.device(x.Name)
			}
		}
	}
	if !c.Plan.Changes {
		for _, s := range c.sums {
			clear(s.want)
			clear(s.mag)
			clear(s.adds)
		}
	}
	for _, funcs := range c.Plan.EdgeKernels() {
		c.add(funcs, !c.Plan.Changes)
	}
}

// Active returns the number of active vertices at the start of the super-step.
func (c *Checker) Active() (n uint64) {
	for _, active := range c.active {
		if active || !c.Plan.Changes {
			n++
		}
	}
	return n
}

// Edges returns the number of edges that each kernel of the super-step handles.
func (c *Checker) Edges() uint64 { return c.edges }

// Gathered checks the sums over edges.
func (c *Checker) Gathered() error {
	if c.Plan.Slots {
		if err := c.late(); err != nil {
			return err
		}
	}
	for name, s := range c.sums {
		if err := s.check(name, c.device(name)); err != nil {
			return err
		}
	}
	return c.marked()
}

// Updated checks the vertices' values after a super-step, and which are active. sums are the properties before the
// kernels over vertices.
func (c *Checker) Updated(sums map[string][]uint32) error {
	u := update{Checker: c, held: c.now, sent: c.before, sums: sums}
	for _, x := range []*[]float64{&u.now, &u.next, &u.off, &u.bound} {
		*x = make([]float64, c.Plan.K)
	}
	if c.Plan.Slots {
		if err := c.flipped(); err != nil {
			return err
		}
	}
	c.read()
	c.problem.after = reader(c.device)
	changed := uint32(0)
	words, lanes := c.device(Active), c.Plan.Lanes
	for v := range c.active {
		updated := false
		for n := range c.sets() {
			set, err := u.set(v, n)
			if err != nil {
				return err
			}
			updated = updated || set
		}
		if is := words[v/lanes]>>(v%lanes)&1 != 0; is != updated {
			return fmt.Errorf("vertex %d is active: %v: expected %v", v, is, updated)
		}
		if c.active[v], c.touched[v] = updated, false; updated {
			changed++
		}
	}
	if n := c.device(Count)[0]; n != changed {
		return fmt.Errorf("%d vertices have been counted as changed: expected %d", n, changed)
	}
	return nil
}

// update checks vertices after a super-step; held and sent are the state at its start.
type update struct {
	*Checker
	held, sent            []uint32
	sums                  map[string][]uint32
	now, next, off, bound []float64
}

// set checks one set of features of a vertex, and reports whether it has changed.
func (u *update) set(v, n int) (updated bool, err error) {
	k, row := u.Plan.K, v*u.sets()+n
	floats(u.now, u.held[row*k:])
	floats(u.next, u.Checker.now[row*k:])
	u.Plan.Check.Next(u.problem, row, func(property string, word int) float64 {
		return float64(math.Float32frombits(u.sums[property][word]))
	}, u.now, u.next, u.off, u.bound)
	if err := u.problem.refused; err != nil {
		return false, err
	}
	handled := !u.Plan.Touched || u.touched[v] || u.active[v]
	for f := range k {
		at := row*k + f
		got := math.Float32frombits(u.Checker.now[at])
		if err := u.within(v, f, got); err != nil { // an unchanged value must agree with its sums, too
			return false, err
		}
		if !handled { // it keeps its value, and the value last sent
			if u.Checker.now[at] != u.held[at] || u.before[at] != u.sent[at] {
				return false, fmt.Errorf("feature %d of vertex %d, at which no edge has changed anything, has changed",
					f, v)
			}
			continue
		}
		old := u.held[at]
		if u.Plan.Kept && !u.active[v] {
			old = u.sent[at]
		}
		if u.Plan.Changes && u.before[at] != old {
			return false, fmt.Errorf("feature %d of vertex %d: %v is kept as what it has sent: expected %v",
				f, v, math.Float32frombits(u.before[at]), math.Float32frombits(old))
		}
		diff := got - math.Float32frombits(old)
		updated = updated || float32(math.Abs(float64(diff))) > u.problem.Epsilon
	}
	return updated, nil
}

// within checks a feature's error.
func (u *update) within(v, f int, got float32) error {
	if x := float64(got); math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Errorf("feature %d of vertex %d is %v: a number was too large for f32, or a system singular: "+
			"expected a greater workload.features.lambda, or smaller weights", f, v, got)
	}
	if !tolerance.Small(u.off[f], u.bound[f]) {
		return fmt.Errorf("feature %d of vertex %d, %v, is off by %v: expected at most %v, of roundings", f, v, got,
			u.off[f], u.bound[f])
	}
	return nil
}

// Ended checks, for accumulated changes, that their sum equals a recomputation from scratch: the sums of the values
// that vertices have sent.
func (c *Checker) Ended() error {
	if !c.Plan.Kept || c.Plan.Slots {
		return c.endedSlots()
	}
	again := NewChecker(c.Plan, c.problem, c.device)
	again.now, again.before = c.before, make([]uint32, len(c.before))
	for _, funcs := range c.Plan.EdgeKernels() {
		again.add(funcs, true)
	}
	for name, s := range c.sums {
		lone := true
		for i := range c.Plan.Edges {
			lone = lone && (c.Plan.Edges[i].Into != name || c.Plan.Edges[i].Lone)
		}
		if lone {
			continue
		}
		whole := again.sums[name]
		for at := range s.want {
			if bound := 1e-9*s.mag[at] + 1e-30; !tolerance.Within(s.want[at], whole.want[at], bound) {
				return fmt.Errorf("%s of vertex %d: the changes add up to %v, and everything to %v",
					name, at/s.words/s.sets, s.want[at], whole.want[at])
			}
		}
	}
	return nil
}

// endedSlots checks that sums of changes equal those of the edges' final values.
func (c *Checker) endedSlots() error {
	if !c.Plan.Slots || !c.Plan.Changes {
		return nil
	}
	s := &Step{After: reader(c.device), Slot: func(v int) int { return 1 - int(c.slots[v]) }}
	k, sums := c.Plan.K, c.sums[c.Plan.Edges[len(c.Plan.Edges)-1].Into]
	plus, minus, whole := make([]float64, k), make([]float64, k), make([]float64, len(sums.want))
	forEdges(c.problem.Graph, func(e *HostEdge) {
		c.Plan.Check.Late(c.problem, e, s, plus, minus)
		for f, x := range plus {
			whole[e.Dst*k+f] += x
		}
	})
	for at, want := range whole {
		if !tolerance.Within(sums.want[at], want, 1e-9*sums.mag[at]+1e-12) {
			return fmt.Errorf("vertex %d: the changes add up to %v, and everything to %v", at/k, sums.want[at], want)
		}
	}
	return nil
}

// forEdges visits all edges in the order of csr.
func forEdges(g *graph.Graph, visit func(e *HostEdge)) {
	rows := g.CSR()
	var e HostEdge
	for v := range g.Vertices() {
		for id := rows.Offsets[v]; id < rows.Offsets[v+1]; id++ {
			e = HostEdge{int(id), v, int(rows.IDs[id]), weight(g, int(id))}
			visit(&e)
		}
	}
}

func floats(to []float64, words []uint32) {
	for i := range to {
		to[i] = float64(math.Float32frombits(words[i]))
	}
}
