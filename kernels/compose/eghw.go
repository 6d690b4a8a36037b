package compose

import (
	"heddle/components/eghw"
	"heddle/kernels/ir"
)

// configureEGHW writes the registers of edge-generating hardware for a kernel. Only a gather uses it.
func (r *run) configureEGHW(k *ir.Kernel) error {
	for _, p := range r.kernels.passes() {
		if k != p.kernel {
			continue
		}
		offsets, ids, weights := r.Plan.Layout.Arrays(p.dir)
		s := eghw.Setup{
			Vertices: uint32(r.problem.Graph.Vertices()), Edges: uint32(r.problem.Graph.Edges()), Offsets: r.places[offsets], Neighbours: r.places[ids],
		}
		if k.Fields()&eghw.FieldWeight != 0 {
			s.Weights = r.places[weights]
		}
		return r.EGHW().Configure(s)
	}
	return nil
}
