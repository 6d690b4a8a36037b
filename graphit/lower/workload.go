package lower

import (
	"fmt"

	"heddle/kernels/compose"
	"heddle/kernels/workload"
)

// Keys are the workload's keys that determine how an operator without a schedule runs. The other keys determine the
// computation, or concern loops.
var Keys = []string{
	"schedule", "schedule.scan", "schedule.skip", "schedule.warps_per_core", "schedule.cta_threads",
	"layout", "layout.block_vertices", "layout.block_by", "layout.shard_vertices", "layout.virtual_degree",
	"layout.ell_width", "layout.slot_order", "layout.dia_diagonals",
	"direction", "direction.rule", "direction.alpha", "direction.beta", "frontier", "frontier.dedup",
	"compiler.sum", "compiler.ahead", "compiler.unroll", "compiler.spill", "launch_overhead", "step_overhead",
}

// CheckWorkload returns an error for keys that a GraphIt program cannot follow. Keys that configure the computation of
// heddle's own kernels have no effect.
func CheckWorkload(w *workload.Workload) error {
	refuse := func(key, format string, args ...any) error {
		return &compose.KeyError{Key: "workload." + key, Msg: fmt.Sprintf(format, args...)}
	}
	switch {
	case w.Fusion == compose.LoopFusion:
		return refuse("compiler.fusion", " = loop: it is for heddle's own algorithms: expected none, and "+
			"configKernelFusion(ENABLED) of a loop of %s", w.Program)
	case w.Recipe != compose.NoRecipe:
		return refuse("recipe", " = %s: it is for algorithms of heddle's own: expected none", w.Recipe)
	case w.Order != "none":
		return refuse("order", " = %s: %s orders vertices by its own priority_queue: expected none", w.Order, w.Program)
	case w.Kernel != workload.Compiled:
		return refuse("kernel", " = %s: expected compiled", w.Kernel)
	}
	return nil
}
