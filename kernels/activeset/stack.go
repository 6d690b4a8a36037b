package activeset

import (
	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// kept is the queue of a run that returns through its super-steps, in which no vertex is active twice: the vertices of
// all super-steps, one after the other (S of Brandes, J. Math. Sociol. 2001; S and ends of McLaughlin and Bader, SC
// 2014).
var kept = &Choice{
	Name:  "queue",
	Doc:   "a list of the vertices of all super-steps, filled by atomic additions to its size",
	Lists: true,
	set:   func(k *emit.Kernel, d *Dedup) Set { return stackSet{pastSet{k}, d} },
	state: func(vertices, _ int, d *Dedup) State { return newStack(vertices, d, false) },
}

// keptList is the counterpart for a unit's list. Units discard their lists, so a stack in memory keeps them.
var keptList = &Choice{
	Name:   "list",
	Doc:    "the units' vertex-lists, and a list of the vertices of all super-steps",
	Lists:  true,
	OfUnit: true,
	set:    func(k *emit.Kernel, d *Dedup) Set { return stackListSet{listSet{k, d}} },
	state:  func(vertices, _ int, d *Dedup) State { return newStack(vertices, d, true) },
}

// past traverses the stack, and adds nothing.
var past = &Choice{
	Name:  "past",
	Doc:   "the vertices that were active in a super-step",
	Lists: true,
	set:   func(k *emit.Kernel, _ *Dedup) Set { return pastSet{k} },
}

// Kept returns the variant for a run that returns through its super-steps. Sets that do not list vertices keep none: on
// the way back each vertex is tested instead.
func (c *Choice) Kept() *Choice {
	switch {
	case c.Outputs:
		return keptOutputs
	case !c.Lists:
		return c
	case c.OfUnit:
		return keptList
	}
	return kept
}

// Back returns the variant with which the backward kernels traverse a super-step's vertices.
func (c *Choice) Back() *Choice {
	if c.Lists || c.Outputs {
		return past
	}
	return counter
}

// pastSet traverses the vertices of one super-step.
type pastSet struct{ *emit.Kernel }

func (s pastSet) Places() ir.Value { return s.Count("stack.size") }
func (s pastSet) Vertex(place ir.Value) ir.Value {
	return s.Load(ir.U32, s.Address(s.Addr("stack"), s.Count("stack.first")), place)
}
func (s pastSet) Holds(ir.Value) ir.Value { return nil }
func (s pastSet) Clear()                  {}
func (s pastSet) Add(ir.Value)            { panic("BUG: activeset: what was is not added to") }

// stackSet also adds vertices.
type stackSet struct {
	pastSet
	dedup *Dedup
}

func (s stackSet) Clear() { s.dedup.clear(s.Kernel) }

func (s stackSet) Add(v ir.Value) {
	s.dedup.once(s.Kernel, v, func() { keep(s.Kernel, v) })
}

// keep pushes v onto the stack.
func keep(k *emit.Kernel, v ir.Value) {
	k.Store(k.Addr("stack"), k.AtomicAdd(k.Addr("stack.top"), k.U32(0), k.U32(1)), v)
}

type stackListSet struct{ listSet }

func (s stackListSet) Add(v ir.Value) {
	s.dedup.once(s.Kernel, v, func() {
		s.ListPush(v, s.U32(OutList))
		keep(s.Kernel, v)
	})
}

// Keeper is the state of a set that keeps the vertices of all super-steps.
type Keeper interface {
	// Again selects the super-step, from 0, whose vertices are traversed.
	Again(step int)
}

// stackState is the host side.
type stackState struct {
	vertices, top *Array
	dedup         []*Array
	ends          []uint32 // end of each super-step's vertices
	at            int      // super-step whose vertices are traversed
	ofUnit        bool
}

func newStack(vertices int, d *Dedup, ofUnit bool) State {
	return &stackState{
		vertices: &Array{Name: "stack", Words: vertices, Roles: []string{"stack"}},
		top:      &Array{Name: "stack.top", Words: 1, Roles: []string{"stack.top"}},
		dedup:    d.arrays(vertices), ofUnit: ofUnit,
	}
}

func (s *stackState) Arrays() []*Array { return append([]*Array{s.top, s.vertices}, s.dedup...) }

func (s *stackState) Words() map[string]uint32 {
	first, size := s.part()
	return map[string]uint32{"stack.first": first, "stack.size": size}
}

// part returns the first entry and the number of the vertices being traversed.
func (s *stackState) part() (first, size uint32) {
	if len(s.ends) == 0 {
		return 0, 0
	}
	if s.at > 0 {
		first = s.ends[s.at-1]
	}
	return first, s.ends[s.at] - first
}

func (s *stackState) Start(m Memory, active []uint32) error {
	s.ends = []uint32{uint32(len(active))}
	m.WriteWords(s.vertices.Addr, active)
	m.WriteWords(s.top.Addr, s.ends)
	if s.ofUnit {
		return m.Lists().Deal(InList, active)
	}
	return nil
}

func (s *stackState) Next(m Memory) (uint32, error) {
	top := []uint32{0}
	m.ReadWords(s.top.Addr, top)
	if room := s.vertices.Words; int(top[0]) > room {
		return 0, &Overflow{Size: int(top[0] - s.ends[s.at]), Room: room - int(s.ends[s.at])}
	}
	s.ends = append(s.ends, top[0])
	s.at++
	if s.ofUnit {
		m.Lists().Swap(InList, OutList)
	}
	_, size := s.part()
	return size, nil
}

// push takes the vertices that a kernel has appended for those of the next super-step.
func (s *stackState) push(m Memory) {
	top := []uint32{0}
	m.ReadWords(s.top.Addr, top)
	s.ends = append(s.ends, top[0])
	s.at = len(s.ends) - 1
}

func (s *stackState) Active(m Memory) []uint32 {
	first, size := s.part()
	v := make([]uint32, size)
	m.ReadWords(s.vertices.Addr+4*first, v)
	return v
}

func (s *stackState) Again(step int) { s.at = step }
