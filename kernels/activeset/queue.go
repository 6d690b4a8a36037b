package activeset

import (
	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// queue lists the active vertices.
var queue = &Choice{
	Name:   "queue",
	Doc:    "a list of active vertices, filled by atomic additions to its size",
	Lists:  true,
	set:    func(k *emit.Kernel, d *Dedup) Set { return queueSet{k, d} },
	filled: func(k *emit.Kernel) Set { return filledQueue{queueSet{k, nil}} },
	state:  newQueue,
}

type queueSet struct {
	*emit.Kernel
	dedup *Dedup
}

func (s queueSet) Places() ir.Value { return s.Count("active.size") }
func (s queueSet) Vertex(place ir.Value) ir.Value {
	return s.Load(ir.U32, s.Addr("active.queue"), place)
}
func (s queueSet) Holds(ir.Value) ir.Value { return nil }
func (s queueSet) Clear()                  { s.dedup.clear(s.Kernel) }

func (s queueSet) Add(v ir.Value) {
	s.dedup.once(s.Kernel, v, func() {
		place := s.AtomicAdd(s.Addr("next.size"), s.U32(0), s.U32(1))
		s.Store(s.Addr("next.queue"), place, v)
	})
}

// filledQueue is the queue that the super-step has filled.
type filledQueue struct{ queueSet }

func (s filledQueue) Places() ir.Value { return s.Load(ir.U32, s.Addr("next.size"), s.U32(0)) }
func (s filledQueue) Vertex(place ir.Value) ir.Value {
	return s.Load(ir.U32, s.Addr("next.queue"), place)
}

// queueState is the host side.
type queueState struct {
	queues []*Array
	size   *Array
	dedup  []*Array
	active uint32 // vertices in the queue being read
	step   int
}

func newQueue(vertices, edges int, d *Dedup) State {
	return &queueState{
		queues: rotating("queue", d.room(vertices, edges), "active.queue", "next.queue"),
		size:   &Array{Name: "queue.size", Words: 1, Roles: []string{"next.size"}},
		dedup:  d.arrays(vertices),
	}
}

func (s *queueState) Arrays() []*Array {
	return append(append([]*Array{s.size}, s.queues...), s.dedup...)
}

func (s *queueState) Words() map[string]uint32 { return map[string]uint32{"active.size": s.active} }

func (s *queueState) Start(m Memory, active []uint32) error {
	m.WriteWords(with(s.queues, "active.queue", s.step).Addr, active)
	s.active = uint32(len(active))
	return nil
}

func (s *queueState) Next(m Memory) (uint32, error) {
	s.step++
	s.active = take(m, s.size)
	if room := s.queues[0].Words; int(s.active) > room {
		return 0, &Overflow{Size: int(s.active), Room: room}
	}
	return s.active, nil
}

func (s *queueState) Active(m Memory) []uint32 {
	v := make([]uint32, s.active)
	m.ReadWords(with(s.queues, "active.queue", s.step).Addr, v)
	return v
}
