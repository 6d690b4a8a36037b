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
	if loop != nil {
		return // of a loop, only the type of its queue counts
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
