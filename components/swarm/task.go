package swarm

import (
	"heddle/isa"
	"heddle/isa/emu"
)

// state is where a task is.
type state uint8

const (
	arriving state = iota // on its way to its tile
	idle                  // in the task queue
	running
	finished // in the commit queue
	gone     // committed, discarded, or in a spilled batch
)

// time is a task's virtual time: its timestamp, and a tie-breaker, which is the number of its dispatch over all tiles.
// An idle task has none yet, and so comes after all dispatched ones of its timestamp.
type time struct {
	ts  uint32
	tie uint64
}

const undispatched = ^uint64(0)

func (a time) before(b time) bool { return a.ts < b.ts || a.ts == b.ts && a.tie < b.tie }

// never is later than any task's time.
var never = time{^uint32(0), undispatched}

// task is a task from its enqueue to its commit. It holds an entry of its tile's task queue all the time.
type task struct {
	emu.Task
	time
	state  state
	tile   *tile
	number uint64 // of its creation: the order of idle tasks of equal timestamp
	at     int    // in the heap of idle tasks
	slot   int    // of the tile's signatures, while running or finished
	core   *core  // while running
	queued int    // in the commit queue, while finished

	parent   *task   // nil: it has committed, so that no abort discards the task any more
	settled  bool    // it is known to be the earliest, and so is not aborted any more
	children []*task // of this execution
	acked    uint64  // the cycle at which the last child's tile has acknowledged it

	reads, writes []uint32 // lines, each once
	undo          []undo
	printed       []printed

	busy   uint64                 // core cycles of this execution that were neither stalled nor spilling
	ran    int                    // the core of this execution, once it has ended
	counts [isa.NumClasses]uint32 // its instructions
	edges  uint32

	ofParent emu.TaskRecord // its name in the record of commits, once the parent has committed
}

// undo is a word before a write.
type undo struct{ addr, old uint32 }

// printed is a byte for the console.
type printed struct {
	addr uint32
	b    byte
}

// idleTasks is a heap: the task queue's idle tasks, the next to be dispatched first.
type idleTasks []*task

func (q idleTasks) less(a, b *task) bool { return a.TS < b.TS || a.TS == b.TS && a.number < b.number }

func (q *idleTasks) push(t *task) {
	t.at = len(*q)
	*q = append(*q, t)
	q.up(t.at)
}

func (q *idleTasks) remove(t *task) {
	i, last := t.at, len(*q)-1
	moved := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	if i != last {
		(*q)[i], moved.at = moved, i
		q.up(i)
		q.down(moved.at)
	}
}

func (q idleTasks) up(i int) {
	for i > 0 {
		p := (i - 1) / 2
		if !q.less(q[i], q[p]) {
			return
		}
		q.swap(i, p)
		i = p
	}
}

func (q idleTasks) down(i int) {
	for {
		c := 2*i + 1
		if c >= len(q) {
			return
		}
		if c+1 < len(q) && q.less(q[c+1], q[c]) {
			c++
		}
		if !q.less(q[c], q[i]) {
			return
		}
		q.swap(i, c)
		i = c
	}
}

func (q idleTasks) swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].at, q[j].at = i, j
}
