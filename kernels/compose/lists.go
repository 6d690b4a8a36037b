package compose

import (
	"heddle/components/graphpeg"
	"heddle/kernels/activeset"
	"heddle/kernels/direction"
	"heddle/kernels/ir"
)

// lists are the device's vertex-lists as an active set sees them. Vertices are dealt out in blocks.
type lists struct{ graphpeg.Host }

func (l lists) Fill(list int, vertices []uint32) error {
	return l.Host.Fill(list, vertices, graphpeg.Block)
}

// Lists are the vertex-lists of the device's graph units.
func (r *run) Lists() activeset.Lists { return lists{r.GraphPEG()} }

// placeLists gives the units' lists memory.
func (r *run) placeLists() error {
	if !r.Plan.Schedule.Lists {
		return nil
	}
	r.GraphPEG().Forget()
	a, err := r.image.Reserve("lists", int(r.GraphPEG().RegionBytes()/4))
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
		}{{offsets, fields != 0}, {ids, fields != 0}, {weights, fields&graphpeg.FieldWt != 0}} {
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
	switch {
	case r.Plan.Schedule.Unit == "eghw":
		return r.configureEGHW(k)
	case !r.Plan.Schedule.Lists:
		return nil
	}
	s := graphpeg.Setup{
		VertexMode: true, Vertices: uint32(r.problem.Graph.Vertices()), Edges: uint32(r.problem.Graph.Edges()),
		In: activeset.InList, Out: activeset.OutList, Regions: r.regions,
	}
	if k == r.kernels.Split && r.Plan.Set.OfUnit {
		s.In = activeset.FarList
	}
	for _, p := range r.kernels.passes() {
		if k == p.kernel && k.Fields() != 0 {
			s.VertexMode, s.Pull, s.Fields = false, p.dir == direction.Pull, k.Fields()
			offsets, ids, weights := r.Plan.Layout.Arrays(p.dir)
			s.Offsets, s.Neighbours, s.Weights = r.places[offsets], r.places[ids], r.places[weights]
		}
	}
	return r.GraphPEG().Configure(s)
}

// exchange has the units read what a kernel has registered.
func (r *run) exchange(p *Plan) {
	if p.Schedule.Lists && !p.Set.OfUnit {
		r.GraphPEG().Swap(activeset.InList, activeset.OutList)
	}
}
