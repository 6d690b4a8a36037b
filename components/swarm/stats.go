package swarm

import "fmt"

// Stats are the counts of a machine.
type Stats struct {
	Cycles CoreCycles `stat:"core_cycles" unit:"core-cycles" doc:"Cycles of cores; the five sum to cores × cycles."`

	Enqueued  uint64 `stat:"tasks.enqueued" unit:"tasks" doc:"Tasks that were created: the program's first, and by enqueues that may have been discarded since."`
	Committed uint64 `stat:"tasks.committed" unit:"tasks" doc:"Tasks that have committed."`
	Discarded uint64 `stat:"tasks.discarded" unit:"tasks" doc:"Tasks whose parent was aborted; committed and discarded sum to enqueued."`
	Spilled   uint64 `stat:"tasks.spilled" unit:"tasks" doc:"Tasks that were moved to memory because a task queue filled."`
	Restored  uint64 `stat:"tasks.restored" unit:"tasks" doc:"Spilled tasks that were moved back."`
	Hosted    uint64 `stat:"tasks.dispatched" unit:"executions" doc:"Executions that began; those that committed or aborted sum to it."`

	Aborts Aborts `stat:"aborts" unit:"executions" doc:"Executions that were aborted."`

	FalsePositives uint64 `stat:"false_positives" unit:"executions" doc:"Of aborts.conflict and aborts.dependent, those of tasks that had not touched the line: the signature's false positives."`
	Undone         uint64 `stat:"words_restored" unit:"words" doc:"Entries of undo logs that were restored."`

	Instrs   uint64 `stat:"instrs.committed" unit:"instructions" doc:"Instructions of executions that committed."`
	Wasted   uint64 `stat:"instrs.aborted" unit:"instructions" doc:"Instructions of executions that were aborted."`
	Reads    uint64 `stat:"reads" unit:"accesses" doc:"Loads of executions of all fates."`
	Writes   uint64 `stat:"writes" unit:"accesses" doc:"Stores and atomics of executions of all fates."`
	L1Hits   uint64 `stat:"l1.hits" unit:"accesses" doc:"Accesses served by the core's L1, without a check."`
	L2Hits   uint64 `stat:"l2.hits" unit:"accesses" doc:"Of the others, those served by the tile's L2, with a check of the tile alone."`
	Canaries uint64 `stat:"l2.canaries" unit:"accesses" doc:"Accesses whose line was in the L2, but for a later task than theirs, so that other tiles were checked."`
	Global   uint64 `stat:"global" unit:"accesses" doc:"Accesses that went to the line's L3 bank and directory; with the hits of L1 and L2 they are all."`
	L3Hits   uint64 `stat:"l3.hits" unit:"accesses" doc:"Of them, those whose line was in the L3."`
	Memory   uint64 `stat:"memory" unit:"lines" doc:"Lines read from main memory."`
	Clears   uint64 `stat:"l1.clears" unit:"clears" doc:"L1s that were invalidated because their core began an earlier task than its last."`

	TileChecks uint64 `stat:"checks" unit:"checks" doc:"Checks of an access against the tasks of a tile, its own or another."`
	Compares   uint64 `stat:"compares" unit:"tasks" doc:"Tasks whose signatures matched in a check, so that virtual times were compared."`

	Messages uint64 `stat:"mesh.messages" unit:"messages" doc:"Messages between different tiles."`
	Hops     uint64 `stat:"mesh.hops" unit:"hops" doc:"Links that they passed."`
	Queued   uint64 `stat:"mesh.waits" unit:"cycles" doc:"Cycles that they waited for links."`

	Updates uint64 `stat:"updates" unit:"updates" doc:"Updates of global virtual time."`
	Rooms   uint64 `stat:"rooms" unit:"tasks" doc:"Tasks that lost their task queue entry so that the earliest task could enqueue or be restored."`

	QueueLevel  uint64 `stat:"task_queue" unit:"entries × updates" doc:"Task queue entries in use, summed over updates of global virtual time."`
	CommitLevel uint64 `stat:"commit_queue" unit:"entries × updates" doc:"Commit queue entries in use, summed likewise, before the commits of the update."`
}

// CoreCycles are core cycles by the core's activity.
type CoreCycles struct {
	Committed uint64 `stat:"committed" unit:"core-cycles" doc:"Executing tasks that committed."`
	Aborted   uint64 `stat:"aborted" unit:"core-cycles" doc:"Executing tasks that were aborted."`
	Spill     uint64 `stat:"spill" unit:"core-cycles" doc:"Spilling and restoring tasks."`
	Stalled   uint64 `stat:"stalled" unit:"core-cycles" doc:"Waiting for an entry of a task queue or of the commit queue, or, after a trap, to be the earliest task."`
	Empty     uint64 `stat:"empty" unit:"core-cycles" doc:"Without a task."`
}

// Total returns their sum.
func (c *CoreCycles) Total() uint64 { return c.Committed + c.Aborted + c.Spill + c.Stalled + c.Empty }

// Aborts are aborted executions by cause.
type Aborts struct {
	Conflict  uint64 `stat:"conflict" unit:"executions" doc:"An earlier task accessed a line that the task had."`
	Dependent uint64 `stat:"dependent" unit:"executions" doc:"The task had a line that an aborted task had written."`
	Parent    uint64 `stat:"parent" unit:"executions" doc:"The task's parent was aborted."`
	Resource  uint64 `stat:"resource" unit:"executions" doc:"An earlier task needed the core or the queue entry."`
}

// Total returns their sum.
func (a *Aborts) Total() uint64 { return a.Conflict + a.Dependent + a.Parent + a.Resource }

// check returns an error if the counts of a machine at rest contradict each other.
func (s *Stats) check(cores int, cycles uint64) error {
	for _, c := range []struct {
		invariant string
		got, want uint64
	}{
		{"core cycles = cores × cycles", s.Cycles.Total(), uint64(cores) * cycles},
		{"tasks committed + discarded = enqueued", s.Committed + s.Discarded, s.Enqueued},
		{"executions committed + aborted = dispatched", s.Committed + s.Aborts.Total(), s.Hosted},
		{"tasks restored = spilled", s.Restored, s.Spilled},
		{"accesses of L1, L2 and beyond = all", s.L1Hits + s.L2Hits + s.Global, s.Reads + s.Writes},
	} {
		if c.got != c.want {
			return fmt.Errorf("swarm: invariant violated: %s: %d, %d", c.invariant, c.got, c.want)
		}
	}
	return nil
}
