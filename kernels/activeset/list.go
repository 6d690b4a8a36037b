package activeset

import (
	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// Numbers of a graph unit's vertex-lists.
const (
	InList  = iota // read in a super-step
	OutList        // filled during a super-step
	FarList        // the far pile
)

// list keeps the active vertices in vertex-lists of the cores' graph units (GraphPEG, ACM TACO 2021, §3.2), which only
// the units read.
var list = &Choice{
	Name:   "list",
	Doc:    "vertex-lists of the cores' GraphPEGs or hardware worklists, filled by their instructions",
	Lists:  true,
	OfUnit: true,
	set:    func(k *emit.Kernel, d *Dedup) Set { return listSet{k, d} },
	state: func(vertices, _ int, d *Dedup) State {
		return &listState{dedup: d.arrays(vertices)}
	},
}

type listSet struct {
	*emit.Kernel
	dedup *Dedup
}

func (s listSet) Places() ir.Value         { panic("BUG: activeset: only a unit walks its lists") }
func (s listSet) Vertex(ir.Value) ir.Value { panic("BUG: activeset: only a unit walks its lists") }
func (s listSet) Holds(ir.Value) ir.Value  { return nil }
func (s listSet) Clear()                   { s.dedup.clear(s.Kernel) }

func (s listSet) Add(v ir.Value) {
	s.dedup.once(s.Kernel, v, func() { s.ListPush(v, s.U32(OutList)) })
}

// listState is the host side.
type listState struct{ dedup []*Array }

func (s *listState) Arrays() []*Array         { return s.dedup }
func (s *listState) Words() map[string]uint32 { return nil }

func (s *listState) Start(m Memory, active []uint32) error { return m.Lists().Deal(InList, active) }

func (s *listState) Next(m Memory) (uint32, error) {
	m.Lists().Swap(InList, OutList)
	return uint32(m.Lists().Size(InList)), nil
}

func (s *listState) Active(m Memory) []uint32 { return m.Lists().Read(InList) }
