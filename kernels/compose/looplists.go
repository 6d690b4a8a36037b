package compose

import (
	"errors"
	"fmt"
	"slices"

	"heddle/graph"
	"heddle/kernels/emit"
	"heddle/kernels/ir"
	"heddle/kernels/reference"
)

// List is a list of sets of vertices in the device's memory, which a fused loop appends a set to in each round, or pops
// one off. Vertices lie one set behind the other in the array Name. In Name+endsSuffix are the number of sets, and from
// firstEnd on the end of each set, behind a zero; the number of vertices, to which threads add, is in Name+fillSuffix.
//
// The memory is bounded. Kernels and the driver write nothing beyond it, and the host, which goes along with the loop,
// fails a run that needs more (Room).
type List struct {
	Name           string
	Append, Pop    *VertexOperator // one of them is nil
	vertices, ends uint32          // the capacities, in vertices and in sets
}

const (
	endsSuffix = ".ends"
	fillSuffix = ".fill"
	firstEnd   = 1 // word of the array of ends
)

// NewList returns a program's list that a round appends to or, if pops is set, pops off.
func NewList(list string, pops bool) *List {
	name := "list." + list
	l := &List{Name: name}
	if pops {
		l.Pop = &VertexOperator{Name: "pop." + list, Keeps: true, Each: l.each,
			Emit: func(k *emit.Kernel, _ ir.Value) ir.Value { return k.Bool(true) }}
		return l
	}
	l.Append = &VertexOperator{Name: "append." + list, Listed: true,
		Emit: func(k *emit.Kernel, v ir.Value) ir.Value {
			place := k.AtomicAdd(k.Addr(name+fillSuffix), k.U32(0), k.U32(1))
			k.When(k.Lt(place, k.U32(l.vertices)), func() { k.Store(k.Addr(name), place, v) })
			return nil
		}}
	return l
}

// each visits the vertices of the last set.
func (l *List) each(k *emit.Kernel, visit func(v ir.Value)) {
	sets := k.Load(ir.U32, k.Addr(l.Name+endsSuffix), k.U32(0))
	first := k.Load(ir.U32, k.Addr(l.Name+endsSuffix), sets) // of no sets: their number, 0, as is the end
	last := k.Load(ir.U32, k.Addr(l.Name+endsSuffix), k.Add(sets, k.U32(firstEnd)))
	k.Strided(k.Sub(last, first), func(i ir.Value) {
		visit(k.Load(ir.U32, k.Addr(l.Name), k.Add(first, i)))
	})
}

// bound sets the capacities for a graph with n vertices: in searches every vertex is in one set, and no set is empty,
// but for the last.
func (l *List) bound(n int) { l.vertices, l.ends = uint32(2*n+2), uint32(n+4) }

// listArrays returns the arrays of the lists of loops, of which several may use the same one.
func (s *Session) listArrays() (arrays []graph.Array) {
	seen := map[string]bool{}
	for _, loop := range s.loops {
		for _, l := range loop.Lists {
			if l.bound(s.graph.Vertices()); !seen[l.Name] {
				arrays = append(arrays, l.arrays()...)
			}
			seen[l.Name] = true
		}
	}
	return arrays
}

func (l *List) arrays() []graph.Array {
	return []graph.Array{
		{Name: l.Name, Data: make([]uint32, l.vertices)},
		{Name: l.Name + endsSuffix, Data: make([]uint32, firstEnd+l.ends)},
		{Name: l.Name + fillSuffix, Data: make([]uint32, 1)},
	}
}

// ErrRoom is the error of sets that the device's memory for a list does not hold.
var ErrRoom = errors.New("no room on the device")

// Room returns an error if the list cannot hold sets with so many vertices.
func (l *List) Room(sets, vertices int) error {
	if uint32(vertices) > l.vertices || uint32(sets) >= l.ends {
		return fmt.Errorf("%w: the list has %d sets with %d vertices, and in a loop that is one launch it may have %d with "+
			"%d: expected a schedule without configKernelFusion for the loop", ErrRoom, sets, vertices, l.ends-1, l.vertices)
	}
	return nil
}

// WriteList lays out a list's sets on the device.
func (s *Session) WriteList(l *List, sets [][]uint32) error {
	ends, all := make([]uint32, firstEnd+1, firstEnd+1+len(sets)), []uint32{}
	for _, set := range sets {
		all = append(all, set...)
		ends = append(ends, uint32(len(all)))
	}
	if err := l.Room(len(sets), len(all)); err != nil {
		return err
	}
	ends[0] = uint32(len(sets))
	s.device.WriteWords(s.places[l.Name], all)
	s.device.WriteWords(s.places[l.Name+endsSuffix], ends)
	s.device.WriteWords(s.places[l.Name+fillSuffix], []uint32{uint32(len(all))})
	return nil
}

// SameList fails unless the device's list has the host's sets, whose vertices ascend.
func (s *Session) SameList(l *List, sets [][]uint32) error {
	ends, all := s.Array(l.Name+endsSuffix), s.Array(l.Name)
	if int(ends[0]) != len(sets) {
		return fmt.Errorf("%w: the device's list has %d sets where the host's has %d", reference.ErrWrong, ends[0], len(sets))
	}
	for i, set := range sets {
		first, last := ends[firstEnd+i], ends[firstEnd+i+1]
		if last < first || last > uint32(len(all)) {
			return fmt.Errorf("%w: set %d of the device's list is from %d to %d", reference.ErrWrong, i, first, last)
		}
		own := slices.Sorted(slices.Values(all[first:last]))
		if !slices.Equal(own, set) {
			return fmt.Errorf("%w: set %d of the device's list has %d vertices, which are not the %d of the host's",
				reference.ErrWrong, i, len(own), len(set))
		}
	}
	return nil
}

// settleLists has the lane end the sets that the round has appended, and drop those that it has popped. The round's
// kernels are through.
func (l *FusedLoop) settleLists(d *driver) {
	for _, list := range l.Lists {
		d.line(" li t0, 0x%x\n li t3, 0x%x\n lw t1, 0(t0)", d.addresses[list.Name+endsSuffix],
			d.addresses[list.Name+fillSuffix])
		if list.Pop != nil {
			d.line(" beqz t1, 1f\n addi t1, t1, -1\n sw t1, 0(t0)\n slli t1, t1, 2\n add t1, t1, t0\n lw t2, %d(t1)\n "+
				"sw t2, 0(t3)\n1:", 4*firstEnd)
			continue
		}
		d.line(" addi t1, t1, 1\n li t2, %d\n bgeu t1, t2, 1f\n sw t1, 0(t0)\n slli t1, t1, 2\n add t1, t1, t0\n "+
			"lw t2, 0(t3)\n sw t2, %d(t1)\n1:", list.ends, 4*firstEnd)
	}
}
