package emu

import (
	"container/heap"
	"fmt"

	"heddle/isa"
)

// sequential executes tasks one after another.
type sequential struct {
	m       *Machine
	code    *ScalarCode
	core    Scalar
	waiting waitingTasks
	made    [][]*waitingTask // by number of the task that enqueued them, plus 1
	stats   TaskStats
	limit   uint64 // on instructions; 0: none
}

// waitingTask is a task that has not been executed, or an entry of the heap that is stale because it has.
type waitingTask struct {
	Task
	number uint64 // in order of enqueueing
	taken  bool
}

// waitingTasks is a heap, the next to be executed first.
type waitingTasks []*waitingTask

func (w waitingTasks) Len() int { return len(w) }
func (w waitingTasks) Less(i, j int) bool {
	return w[i].TS < w[j].TS || w[i].TS == w[j].TS && w[i].number < w[j].number
}
func (w waitingTasks) Swap(i, j int) { w[i], w[j] = w[j], w[i] }
func (w *waitingTasks) Push(x any)   { *w = append(*w, x.(*waitingTask)) }
func (w *waitingTasks) Pop() any {
	last := len(*w) - 1
	x := (*w)[last]
	*w = (*w)[:last]
	return x
}

// add makes a task wait that task number parent has enqueued.
func (r *sequential) add(t Task, parent int32) {
	w := &waitingTask{Task: t, number: r.stats.Enqueues}
	r.stats.Enqueues++
	for len(r.made) <= int(parent)+1 {
		r.made = append(r.made, nil)
	}
	r.made[parent+1] = append(r.made[parent+1], w)
	heap.Push(&r.waiting, w)
}

// first returns the waiting task of the lowest timestamp.
func (r *sequential) first() (*waitingTask, bool) {
	for len(r.waiting) > 0 {
		if w := r.waiting[0]; !w.taken {
			return w, true
		}
		heap.Pop(&r.waiting)
	}
	return nil, false
}

// named returns task n of an order, which may not be before a waiting one of a lower timestamp.
func (r *sequential) named(order []TaskRecord, n int, first *waitingTask) (*waitingTask, error) {
	if n >= len(order) {
		return nil, &TaskOrderError{fmt.Sprintf("%d tasks were committed, but there is another, at 0x%08x with timestamp %d",
			len(order), first.Fn, first.TS)}
	}
	o := order[n]
	if o.Parent+1 < 0 || int(o.Parent+1) >= len(r.made) || o.Child < 0 || int(o.Child) >= len(r.made[o.Parent+1]) {
		return nil, &TaskOrderError{fmt.Sprintf("task %d was committed as number %d of task %d, which does not enqueue it", n,
			o.Child, o.Parent)}
	}
	t := r.made[o.Parent+1][o.Child]
	switch {
	case t.taken:
		return nil, &TaskOrderError{fmt.Sprintf("task %d of task %d was committed twice", o.Child, o.Parent)}
	case t.TS > first.TS:
		return nil, &TaskOrderError{fmt.Sprintf("task %d was committed with timestamp %d before one with timestamp %d", n, t.TS,
			first.TS)}
	}
	return t, nil
}

// quantum is the number of instructions between checks of the limit.
const quantum = 1 << 16

// execute runs a task to its end; n is its number.
func (r *sequential) execute(t *waitingTask, n int32) error {
	s := &r.core
	s.Begin(r.code, &t.Task)
	for {
		ran, o, err := s.Run(quantum)
		r.stats.Instrs += uint64(ran)
		switch {
		case err != nil:
			return err
		case r.limit > 0 && r.stats.Instrs >= r.limit:
			return &LimitError{r.limit}
		case o == nil:
			continue
		}
		r.stats.Instrs++
		switch {
		case o.IsMemory():
			addr, err := s.Address(o)
			if err != nil {
				return err
			}
			if b, ok := s.Prints(o, addr); ok {
				r.m.Print(addr, b)
				s.PC += 4
				continue
			}
			s.Perform(o, addr)
		case o.fn == isa.SwarmEnqueue:
			child, err := s.Enqueued(o, t.TS)
			if err != nil {
				return err
			}
			r.add(child, n)
		default:
			r.stats.Tasks++
			r.m.Count(0, &s.Counts, s.Edges)
			return nil
		}
	}
}
