// Package swarm is a machine of Swarm tiles (Jeffrey, Subramanian, Yan, Emer, Sanchez: A Scalable Architecture for
// Ordered Parallelism, MICRO 2015; Unlocking Ordered Parallelism with the Swarm Architecture, IEEE Micro 36(3), 2016):
// in-order cores that execute tasks speculatively and out of order, such that they appear to run one after another in
// the order of their timestamps.
//
// Engine is the machine, without a clock: events in order of cycle and creation, so that runs are equal to the cycle.
// Machine puts it on the clock of the other components, an event an epoch. The architectural state of a core and the
// instructions are isa/emu's (emu.Scalar); emu.Machine.RunTasks, the same program one task after another, is the
// reference against which Engine.Verify checks a run.
//
// The model, file by file:
//
//   - task.go: tasks, their virtual times, and the queue of idle ones.
//   - core.go: cores. An instruction takes a cycle; memory and Swarm instructions take theirs.
//   - tile.go: the task unit: task queue, dispatch, commit queue, stalls, and the abort of a task.
//   - conflict.go: signatures, and the checks of an access against later tasks.
//   - memory.go: caches, directory and memory. An access takes effect, and walks the hierarchy, when it is issued; its
//     latency is the sum of its stages'. Links and memory controllers serve the requests that reach them in a window of
//     cycles one after another (calendar.go), so that they contend.
//   - commit.go: global virtual time, commits, and the guarantee of progress.
//   - spill.go: coalescers and splitters.
//
// Public descriptions leave some mechanisms open. Spec says of each key where its value comes from; the choices that
// have no key are stated where they are made, and are these: instructions hit in the L1I; an undo log entry is restored
// by the accessing task's tile while the access waits; the exchange of virtual times and the commit itself take no
// cycles; enqueuers hold a credit for their task's queue entry instead of retrying; coalescers and splitters move tasks
// without traffic in the caches, and splitters take no entry of the task queue; directory entries outlive the L3's
// lines.
package swarm
