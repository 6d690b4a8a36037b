package compose

import (
	"heddle/components/accel"
	"heddle/kernels/activeset"
	"heddle/kernels/direction"
	"heddle/kernels/ir"
)

// lists returns the host-side interface to the units' lists of vertices.
func (r *run) lists() accel.ListHand { return r.Hand().(accel.ListHand) }

// Lists returns the vertex-lists of the device's graph units.
func (r *run) Lists() activeset.Lists { return r.lists() }

// placeLists allocates memory for the units' lists.
func (r *run) placeLists() error {
	if !r.Plan.Schedule.Unit.HasLists() {
		return nil
	}
	r.lists().Forget()
	a, err := r.image.Reserve(r.prefix+"lists", int(r.lists().RegionBytes()/4))
	if err != nil {
		return err
	}
	r.regions = a.Addr
	return nil
}

// placeRead allocates the arrays that units read.
func (r *run) placeRead() error {
	if !r.Plan.Schedule.Unit.ReadsRows() {
		return nil
	}
	for _, p := range r.kernels.passes() {
		fields := p.kernel.Fields()
		offsets, ids, weights := r.Plan.Layout.Arrays(p.dir)
		for _, a := range []struct {
			name string
			read bool
		}{{offsets, fields != 0}, {ids, fields != 0}, {weights, fields&accel.FieldWeight != 0}} {
			if _, placed := r.addresses[a.name]; placed || !a.read {
				continue
			}
			if err := r.placeArray(a.name); err != nil {
				return err
			}
		}
	}
	return nil
}

// configure writes the units' registers for a kernel. They fetch edges only for a gather that takes edges from them.
func (r *run) configure(k *ir.Kernel) error {
	hand := r.Hand()
	if r.Plan.Schedule.Unit == nil || hand == nil {
		return nil
	}
	s := accel.Setup{
		Edges: accel.Edges{Vertices: uint32(r.problem.Graph.Vertices()), Edges: uint32(r.problem.Graph.Edges())},
		In:    activeset.InList, Out: activeset.OutList, Memory: r.regions,
	}
	if k == r.kernels.Split && r.Plan.Set.OfUnit && r.Plan.Order.Listed {
		s.In = activeset.FarList
	}
	for _, p := range r.kernels.passes() {
		if k == p.kernel && k.Fields() != 0 {
			e := &s.Edges
			offsets, ids, weights := r.Plan.Layout.Arrays(p.dir)
			e.Fields, e.Pull = k.Fields(), p.dir == direction.Pull
			e.Offsets, e.Neighbours, e.Weights = r.addresses[offsets], r.addresses[ids], r.addresses[weights]
		}
	}
	return hand.SetUp(s)
}

// exchange makes the units read the list that a kernel has registered.
func (r *run) exchange(p *Plan) {
	if p.Schedule.Unit.HasLists() && !p.Set.OfUnit {
		r.lists().Swap(activeset.InList, activeset.OutList)
	}
}
