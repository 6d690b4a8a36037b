package activeset

import (
	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// counter only counts. Every vertex is visited, and its own value determines whether it is active.
var counter = &Choice{
	Name:  "counter",
	Doc:   "only the number of vertices added: every vertex is walked in every super-step",
	Sized: true,
	set:   func(k *emit.Kernel, _ *Dedup) Set { return counterSet{k} },
	state: func(vertices, _ int, _ *Dedup) State {
		return &counterState{count: &Array{Name: "count", Words: 1, Roles: []string{"next.count"}}}
	},
}

type counterSet struct{ *emit.Kernel }

func (s counterSet) Places() ir.Value               { return s.Count("vertices") }
func (s counterSet) Vertex(place ir.Value) ir.Value { return place }
func (s counterSet) Holds(ir.Value) ir.Value        { return nil }
func (s counterSet) Clear()                         {}

func (s counterSet) Add(ir.Value) {
	s.AtomicAdd(s.Addr("next.count"), s.U32(0), s.U32(1))
}

// counterState is the host side. It does not know which vertices are active.
type counterState struct{ count *Array }

func (s *counterState) Arrays() []*Array              { return []*Array{s.count} }
func (s *counterState) Words() map[string]uint32      { return nil }
func (s *counterState) Start(Memory, []uint32) error  { return nil }
func (s *counterState) Next(m Memory) (uint32, error) { return take(m, s.count), nil }
func (s *counterState) Active(Memory) []uint32        { return nil }
