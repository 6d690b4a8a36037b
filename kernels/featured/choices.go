package featured

import (
	"fmt"
	"slices"
	"strings"

	"heddle/kernels/compose"
	"heddle/kernels/feature"
	"heddle/kernels/host"
	"heddle/kernels/workload"
)

// Name returns a name for the workload's choices.
func Name(w *workload.Workload) string {
	f := &w.Features
	aware, changes, count := "NFA", "NCD", fmt.Sprint(f.Count)
	if f.Aware {
		aware = "FA"
	}
	if f.Changes {
		changes = "CD-" + string(f.Unsent)
	}
	if f.Sets > 1 {
		count = fmt.Sprintf("%dx%d", f.Sets, f.Count)
	}
	name := fmt.Sprintf("%s-%s/%s/%s/%s/fold-%s", w.Algorithm, count, w.Schedule, aware, changes, f.Folding)
	for _, x := range []struct {
		chosen bool
		name   string
	}{
		{w.Direction == "pull", "pull"}, {f.Pipelined, "pipelined"}, {f.Group == "block", "block"},
		{f.Vertices == "touched", "touched"},
		{f.Retracts == "separate", "separate"}, {f.Solver == "inverse", "inverse"}, {oneCoupling(w), "one-coupling"},
		{w.Unroll != "1" && w.Unroll != "", "unroll-" + string(w.Unroll)}, {w.Spill == "registers", "spill-registers"},
	} {
		if x.chosen {
			name += "/" + x.name
		}
	}
	return name
}

// refuse returns an error for a key and the settings that it conflicts with.
func refuse(key, format string, args ...any) error {
	return &compose.KeyError{Key: key, Msg: fmt.Sprintf(format, args...)}
}

// Check returns an error for a workload with conflicting settings.
func Check(w *workload.Workload, shape host.Shape) error {
	a, err := feature.ByName(string(w.Algorithm))
	if err != nil {
		return err
	}
	for _, c := range []struct {
		key      string
		value    workload.Choice
		expected []workload.Choice
	}{
		{"kernel", w.Kernel, []workload.Choice{workload.Compiled}},
		{"direction", w.Direction, []workload.Choice{workload.Auto, "pull", "push"}},
		{"frontier", w.ActiveSet, []workload.Choice{workload.Auto}},
		{"frontier.dedup", w.Dedup, []workload.Choice{workload.Auto, "none"}},
	} {
		if !slices.Contains(c.expected, c.value) {
			return refuse("workload."+c.key, " = %s: %s keeps its active vertices in a bit-vector of its own, "+
				"or has all active: expected %s", c.value, w.Algorithm, c.expected[len(c.expected)-1])
		}
	}
	if w.Tolerance != 0 {
		return refuse("workload.algorithm.tolerance", " = %g: %s ends by workload.features.epsilon: expected 0, the default",
			w.Tolerance, w.Algorithm)
	}
	if err := checkChoices(a, w, shape); err != nil {
		return err
	}
	r, err := planOf(a, w, shape, nil)
	if err != nil {
		return err
	}
	return r.fits(w, shape)
}

// checkChoices returns an error for conflicting choices of features.
func checkChoices(a *feature.Algorithm, w *workload.Workload, shape host.Shape) error {
	f, key := &w.Features, "workload.features."
	if f.Changes && w.Direction == "pull" {
		return refuse("workload.direction", " = pull: with change_driven, vertices that have changed push: expected "+
			"push, or features.change_driven false")
	}
	block := f.Group == "block"
	for _, x := range []struct {
		refused  bool
		key, why string
		expected string
		unused   bool // nothing reads the key
	}{
		{f.Unsent != "lost" && !f.Changes, "unsent = " + string(f.Unsent),
			"everything is sent without change_driven", "lost, the default", true},
		{f.Pipelined && !f.Aware, "pipelined = true",
			"a lane computes the features of its edge alone", "false, or features.aware true", false},
		{f.Pipelined && block && f.Count > shape.Threads, "pipelined = true",
			"a thread block walks its edges itself", "false, or features.group warp", false},
		{block && !f.Aware, "group = block",
			"a lane computes the features of its edge alone", "warp, the default, or features.aware true", true},
		{f.Vertices == "touched" && !f.Changes, "vertices = touched",
			"every vertex is given something in each super-step without change_driven", "all, the default", true},
		{f.Vertices == "touched" && a.Alone, "vertices = touched",
			"vertices of " + a.Name + " change though nothing has come along their edges", "all, the default", true},
		{f.Solver == "inverse" && a.Name != "als", "solver = inverse",
			a.Name + " has no systems to solve", "elimination, the default", true},
		{oneCoupling(w) && a.Name != "bp", "coupling = graph",
			a.Name + " has no matrices of edges", "edge, the default", true},
		{f.Retracts == "separate" && (!f.Changes || a.Name != "bp"), "retraction = separate",
			"nothing but a message of bp, with change_driven, is taken out of a product", "merged, the default", true},
		{f.Sets > 1 && (!a.Sets || f.Folding == "none"), fmt.Sprint("sets = ", f.Sets),
			"only lp has several sets, and a kernel that goes through them",
			"1, or lp with features.folding scratchpad or registers", false},
	} {
		if x.refused {
			name, value, _ := strings.Cut(x.key, " ")
			return &compose.KeyError{Key: key + name, Msg: fmt.Sprintf(" %s: %s: expected %s", value, x.why, x.expected),
				NoUse: x.unused}
		}
	}
	return nil
}

// fits returns an error if a machine's cores lack the memory or the lanes.
func (r *run) fits(w *workload.Workload, shape host.Shape) error {
	vertices, edges := r.ScratchpadWords()
	for _, o := range append(r.lone, r.edges...) {
		if s := o.Plan.Schedule.Name; r.BlockWarps() > 1 && s != "vertex" && s != "edge" {
			return refuse("workload.schedule", " = %s: a thread block of %d warps shares an edge of %d features "+
				"(workload.features.group), and lanes have none to hand on: expected vertex or edge, or "+
				"features.group warp",
				w.Schedule, r.BlockWarps(), r.K)
		}
		if n := r.BlockWarps(); n > 1 && o.Plan.Layout.Waits {
			return refuse("workload.layout", " = %s: all threads of the device wait behind each of its blocks, and "+
				"thread blocks of %d warps share an edge (workload.features.group): expected coo, or "+
				"features.group warp", w.Layout, n)
		}
		if err := o.Plan.RunsWith(shape, 4*edges); err != nil {
			return err
		}
	}
	switch need := 4 * vertices; {
	case need <= shape.ScratchpadBytes:
		return nil
	case r.Fold != feature.Scratchpad:
		return refuse("workload.features.group",
			" = block: the warps of a thread block exchange values by %d bytes of a core's "+
				"scratchpad, and there are %d (machine.core.scratchpad_bytes): expected warp, or fewer warps_per_core",
			need, shape.ScratchpadBytes)
	default:
		return refuse("workload.features.folding",
			" = scratchpad: what functions leave for each other takes %d bytes of a core's "+
				"scratchpad, and there are %d (machine.core.scratchpad_bytes): expected registers or none, "+
				"features.aware true, or fewer features or warps_per_core", need, shape.ScratchpadBytes)
	}
}
