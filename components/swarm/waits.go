package swarm

import "fmt"

// Progress returns a number that changes as long as the program comes nearer to its end: it counts committed tasks, and
// the instructions of the earliest task that has not finished. That one is never aborted, while later ones could be
// aborted and executed again for ever.
func (e *Engine) Progress() uint64 {
	n := e.Stats.Committed
	if c := e.earliest().core; c != nil && c.task != nil {
		for _, of := range c.s.Counts {
			n += uint64(of)
		}
	}
	return n
}

// Waits describes the reason for which each task on a core waits, the tasks that wait for a core, and the earliest
// task, for which all commits wait.
func (e *Engine) Waits() (out []string) {
	first := e.earliest()
	if e.live > 0 && first.tile != nil {
		where := fmt.Sprintf("in the task queue of tile %d", first.tile.id)
		switch {
		case first.core != nil:
			where = fmt.Sprintf("on core %d", first.core.id)
		case first.task == nil:
			where = fmt.Sprintf("spilled by tile %d", first.tile.id)
		}
		out = append(out, fmt.Sprintf("commits wait for the earliest task, with timestamp %d, %s", first.ts, where))
	}
	for _, c := range e.cores {
		if text := c.waits(); text != "" {
			out = append(out, text)
		}
	}
	for _, t := range e.tiles {
		if t.entries == 0 && len(t.batches) == 0 {
			continue
		}
		spilled := 0
		for _, b := range t.batches {
			spilled += len(b.tasks)
		}
		out = append(out, fmt.Sprintf("tile %d: %d of %d task queue entries taken (%d tasks wait for a core), %d of %d "+
			"commit queue entries, %d tasks spilled", t.id, t.entries, t.room, len(t.idle), len(t.commits), t.commitRoom,
			spilled))
	}
	return out
}

// waits describes the core's reason to wait; "": none.
func (c *core) waits() string {
	of := ""
	switch c.mode {
	case waitsForQueue:
		of = fmt.Sprintf("an entry of tile %d's task queue, which its child needs", c.target.id)
	case waitsForCommit:
		of = fmt.Sprintf("an entry of tile %d's commit queue", c.tile.id)
	case waitsForTurn:
		of = fmt.Sprintf("all earlier tasks, since it has trapped: %v", c.trap)
	default:
		return ""
	}
	return fmt.Sprintf("core %d: its task, with timestamp %d, waits for %s", c.id, c.task.TS, of)
}

// Forsake makes updates of global virtual time no longer help the earliest task to its queue entry or core, so that
// small queues deadlock: for tests of the detection of deadlocks.
func (e *Engine) Forsake() { e.faults.keepWaiting = true }
