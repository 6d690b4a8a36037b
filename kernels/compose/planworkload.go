package compose

import (
	"cmp"

	"heddle/kernels/schedule"
	"heddle/kernels/workload"
)

// Workload returns a workload with the choices that the plan's name tells; a plan of it is this plan. base has the
// others, such as iterations, unrolling and parameters of rules.
func (p *Plan) Workload(base workload.Workload) workload.Workload {
	w := base
	w.Kernel, w.Algorithm = workload.Compiled, workload.Algorithm(p.Algorithm.Name)
	w.Schedule, w.Layout = workload.Schedule(p.Schedule.Name), workload.Layout(p.Layout.Name)
	w.Direction, w.ActiveSet = workload.Choice(p.Direction.Name), workload.Choice(p.Set.Name)
	w.Dedup, w.Order = workload.Choice(p.Dedup.Name), workload.Choice(p.Order.Name)
	w.Scan, w.Skip, w.Settled = workload.Choice(p.Scan), workload.Choice(p.Skip), p.Settled
	w.Sum, w.Ahead = workload.Choice(p.Sum), p.Ahead
	w.Coefficient, w.BlockBy = workload.Choice(p.Coefficient.Name), workload.Choice(p.Sizes.BlockBy)
	w.Variant = workload.Choice(cmp.Or(p.Variant, schedule.OwnCode))
	w.Fusion = "none"
	if p.Fused {
		w.Fusion = LoopFusion
	}
	return w
}
