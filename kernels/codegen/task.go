package codegen

import (
	"errors"

	"heddle/isa"
	"heddle/kernels/ir"
)

// Tasks of Swarm machines. Their arguments and their timestamp are in a0 to a6 when they begin, and those of a new task
// are where it is enqueued. Nothing else is ever allocated to these registers, so that neither is lost.

const firstTaskRegister = isa.Reg(10)

// taskRegisters are the registers, a bit each.
const taskRegisters = (1<<(isa.SwarmArgs+1) - 1) << firstTaskRegister

// taskRegister returns the register that stands for a0 and so many more.
func (l *lowering) taskRegister(n int) reg {
	if l.fixed[n] == 0 {
		l.fixed[n] = l.code.newX()
		l.code.preloads[l.fixed[n]] = firstTaskRegister + isa.Reg(n)
	}
	return l.fixed[n]
}

// enqueue lowers the creation of a task.
func (l *lowering) enqueue(i *ir.Instr) {
	code, at := l.reg(i.Args[0]), l.reg(i.Args[1])
	for n, v := range i.Args[2:] {
		if v == nil {
			continue
		}
		to := l.taskRegister(n)
		if bits, ok := v.IsConst(); ok {
			l.constant(to, bits)
			continue
		}
		l.move(to, l.reg(v))
	}
	l.emit("swarm.enqueue", 0, code, at, 0)
}

// finishTask allocates a task's registers. The core executes an instruction a cycle and waits for loads, so that no
// order is better than another. Tasks have no stack: other tasks would conflict on it.
func (c *code) finishTask(o Options) (*allocation, error) {
	o.FloatSpills = true
	a := c.allocate(o)
	if a.slots > 0 {
		return nil, errTaskStack
	}
	return a, nil
}

var errTaskStack = errors.New("its values do not all fit in registers, and a task has no stack: expected shorter " +
	"functions")
