package compose

import (
	"heddle/components/accel"
	"heddle/kernels/activeset"
	"heddle/kernels/direction"
	"heddle/kernels/ir"
)

// lists is the host's hand on units that have lists of vertices.
func (r *run) lists() accel.ListHand { return r.Hand().(accel.ListHand) }

// Lists are the vertex-lists of the device's graph units.
func (r *run) Lists() activeset.Lists { return r.lists() }

// placeLists gives the units' lists memory.
func (r *run) placeLists() error {
	if !r.Plan.Schedule.Lists {
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

// placeRead gives the arrays that units read their places.
func (r *run) placeRead() error {
	if !r.Plan.Schedule.Reads {
		return nil
	}
	for _, p := range r.kernels.passes() {
		fields := p.kernel.Fields()
		offsets, ids, weights := r.Plan.Layout.Arrays(p.dir)
		for _, a := range []struct {
			name string
			read bool
		}{{offsets, fields != 0}, {ids, fields != 0}, {weights, fields&accel.FieldWeight != 0}} {
			if _, placed := r.places[a.name]; placed || !a.read {
				continue
			}
			if err := r.placeArray(a.name); err != nil {
				return err
			}
		}
	}
	return nil
}

// configure writes the units' registers for a kernel. Only a gather that takes edges has them gathered.
func (r *run) configure(k *ir.Kernel) error {
	hand := r.Hand()
	if r.Plan.Schedule.Unit == "" || hand == nil {
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
			e.Offsets, e.Neighbours, e.Weights = r.places[offsets], r.places[ids], r.places[weights]
		}
	}
	return hand.SetUp(s)
}

// exchange has the units read what a kernel has registered.
func (r *run) exchange(p *Plan) {
	if p.Schedule.Lists && !p.Set.OfUnit {
		r.lists().Swap(activeset.InList, activeset.OutList)
	}
}
