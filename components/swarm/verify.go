package swarm

import (
	"bytes"
	"context"
	"fmt"

	"heddle/isa"
	"heddle/isa/emu"
)

// Audit makes the engine check that accesses which it does not check have no conflict, which costs host time.
func (e *Engine) Audit() { e.auditing = true }

// Before is the state in which a launch begins, for Verify.
type Before struct {
	memory  *emu.Memory
	printed int
}

// Remember returns the state that the next launch begins with, once the program is in memory, and makes the engine keep
// the order of its commits.
func (e *Engine) Remember() Before {
	e.recording = true
	return Before{e.arch.Mem.Snapshot(), len(e.arch.Console())}
}

// Verify executes the launch's tasks one after another, in the order in which they were committed, on the state that it
// began with. It returns an error if that is no order of their timestamps, if other tasks are executed, or if memory or
// the console differ at the end.
func (e *Engine) Verify(ctx context.Context, p *isa.Program, arg uint32, b Before) error {
	m, err := emu.New(emu.Config{Cores: 1, Warps: 1, Threads: 1, Arg: arg})
	if err != nil {
		return err
	}
	m.Mem = b.memory
	if _, err := m.RunTasks(ctx, p, e.order); err != nil {
		if ctx.Err() != nil {
			return err
		}
		return fmt.Errorf("swarm: the run is not one of its tasks in the order of their timestamps: %w", err)
	}
	if addr, differ := e.arch.Mem.FirstDifference(m.Mem); differ {
		return fmt.Errorf("swarm: memory at 0x%08x is 0x%08x, but 0x%08x after the tasks one after another", addr,
			e.arch.Mem.Load32(addr), m.Mem.Load32(addr))
	}
	e.arch.FlushConsole()
	if got := e.arch.Console()[b.printed:]; !bytes.Equal(got, m.Console()) && !e.arch.ConsoleTruncated() {
		return fmt.Errorf("swarm: the console is %q, but %q after the tasks one after another", got, m.Console())
	}
	return nil
}
