package graphir

import "heddle/graphit"

// swarm gives an operator its schedule for Swarm tiles, and refuses what its tasks cannot do.
func (b *builder) swarm(s *graphit.Schedule, a *graphit.SwarmApplied) {
	op, loop := b.labelled(s, a.Label, a.Pos)
	word := func(x *graphit.Setting) string {
		if x == nil {
			return ""
		}
		return x.Args[0].Text
	}
	x := a.Simple
	switch {
	case word(x.Direction) == "PULL":
		scheduleError(s, x.Direction.Pos, "configDirection: PULL: tasks follow the edges from their sources: expected PUSH")
	case word(x.Stride) == "STRIDE_ON":
		scheduleError(s, x.Stride.Pos, "configStride: STRIDE_ON: ranges of vertices are halved: expected STRIDE_OFF")
	case word(x.SpatialHint) == "HINTS_ENABLED":
		scheduleError(s, x.SpatialHint.Pos, "configSpatialHint: HINTS_ENABLED: the machine maps tasks to tiles, by hints "+
			"too (machine.swarm.mapping: hint): expected HINTS_DISABLED")
	case x.QueueType != nil && word(x.QueueType) != "PRIOQUEUE":
		scheduleError(s, x.QueueType.Pos, "configQueueType: %s: rounds and priorities are timestamps: expected PRIOQUEUE",
			word(x.QueueType))
	}
	if x.Delta != nil {
		if wrong := graphit.Deltas.Wrong(x.Delta.Args[0]); wrong != "" {
			scheduleError(s, x.Delta.Pos, "configDelta of %s: %s", a.Label, wrong)
		}
	}
	if x.NumCores != nil {
		if wrong := graphit.Counts.Wrong(x.NumCores.Args[0]); wrong != "" {
			scheduleError(s, x.NumCores.Pos, "configNumCores of %s: %s", a.Label, wrong)
		}
	}
	if loop != nil { // the type of its queue has been looked at
		x.Settings(func(name string, at *graphit.Setting) {
			if name != "configQueueType" {
				scheduleError(s, at.Pos, "%s of %s, which is a loop: expected configQueueType, or the label of an operator",
					name, a.Label)
			}
		})
		return
	}
	if x.Delta != nil && op.Output != Priority {
		scheduleError(s, x.Delta.Pos, "%s: a delta is for applyUpdatePriority", op.Path)
	}
	op.Swarm = x
}

// ForTasks makes the program one for Swarm tiles: settings of GPUs' and CPUs' schedules do not count.
func (p *Program) ForTasks() {
	for _, op := range p.Edges {
		op.Delta, op.Hybrid = nil, nil
		if op.Swarm != nil && op.Swarm.Delta != nil {
			op.Delta = &op.Swarm.Delta.Args[0]
		}
	}
}
