package activeset

import (
	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// mapSet is the common part of maps, which have one entry per vertex.
type mapSet struct {
	*emit.Kernel
	words  func(k *emit.Kernel, vertices ir.Value) ir.Value
	walked string // role of the map that is traversed and tested
}

// Roles of maps.
const activeMap, nextMap = "active.map", "next.map"

func (s mapSet) Places() ir.Value               { return s.Count("vertices") }
func (s mapSet) Vertex(place ir.Value) ir.Value { return place }
func (s mapSet) Clear()                         { s.Wipe(s.Addr("spare.map"), s.words(s.Kernel, s.Count("vertices"))) }

// something signals to the host that the next set is not empty.
func (s mapSet) something() { s.Store(s.Addr("next.some"), s.U32(0), s.U32(1)) }

// mapState is the host side.
type mapState struct {
	maps     []*Array
	some     *Array
	vertices int
	step     int
	put      func(words []uint32, v uint32)
	list     func(words []uint32, vertices int) []uint32
}

func newMap(vertices, words int, put func([]uint32, uint32), list func([]uint32, int) []uint32) State {
	return &mapState{
		maps:     rotating("map", words, activeMap, "spare.map", nextMap),
		some:     &Array{Name: "map.some", Words: 1, Roles: []string{"next.some"}},
		vertices: vertices, put: put, list: list,
	}
}

func (s *mapState) Arrays() []*Array         { return append([]*Array{s.some}, s.maps...) }
func (s *mapState) Words() map[string]uint32 { return nil }

func (s *mapState) Start(m Memory, active []uint32) error {
	words := make([]uint32, s.maps[0].Words)
	for _, v := range active {
		s.put(words, v)
	}
	m.WriteWords(with(s.maps, activeMap, s.step).Addr, words)
	return nil
}

func (s *mapState) Next(m Memory) (uint32, error) {
	s.step++
	return take(m, s.some), nil
}

func (s *mapState) Active(m Memory) []uint32 {
	words := make([]uint32, s.maps[0].Words)
	m.ReadWords(with(s.maps, activeMap, s.step).Addr, words)
	return s.list(words, s.vertices)
}
