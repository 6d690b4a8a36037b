package inspect

import (
	"fmt"
	"slices"

	akita "github.com/sarchlab/akita/v3/sim"

	"heddle/components/clock"
	"heddle/components/core"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/sim"
)

// Stopped is the error of a run that was stopped at a point.
type Stopped struct{ Text string }

func (e *Stopped) Error() string { return e.Text }

// Watcher stops a timed machine at the first issue of a point, or at a cycle, whichever comes first.
type Watcher struct {
	m       *sim.Machine
	point   *Point // nil: none
	cycle   uint64 // 0: none
	shown   Scope
	program *isa.Program
	pcs     []uint32     // of the point, in it
	known   bool         // the point exists in some program
	decoded [][][]uint32 // by core and warp: the PCs of instructions that have not been issued
	why     string       // non-empty: stop at the end of the cycle
	state   *State
}

// Attach adds a watcher to a machine that has not run yet. It shows the scope's state.
func Attach(m *sim.Machine, p *Point, cycle uint64, s Scope) (*Watcher, error) {
	d, err := m.System.AddObserver("stop", m.Cores[0].ClockHandle().Domain().Period())
	if err != nil {
		return nil, err
	}
	m.System.Alone()
	w := &Watcher{m: m, point: p, cycle: cycle, shown: s, known: p == nil}
	if p != nil {
		for n, c := range m.Cores {
			w.decoded = append(w.decoded, make([][]uint32, c.NumWarps()))
			c.AcceptHook(&hook{w, n})
		}
	}
	handle := d.Add(w)
	if p != nil {
		handle.WakeAt(0)
	} else {
		handle.WakeAt(cycle)
	}
	return w, nil
}

// hook is a watcher's hook of a core. A warp's instructions issue in the order of decoding.
type hook struct {
	*Watcher
	core int
}

// Func implements sim.Hook.
func (h *hook) Func(ctx akita.HookCtx) {
	e, ok := ctx.Item.(*core.HookEvent)
	if !ok {
		return
	}
	q := &h.decoded[h.core][e.Warp]
	switch ctx.Pos {
	case core.HookPosDecode:
		*q = append(*q, e.PC)
	case core.HookPosIssue:
		pc := (*q)[0]
		*q = (*q)[:copy(*q, (*q)[1:])]
		h.issued(h.core, e.Warp, pc)
	}
}

func (w *Watcher) issued(core, warp int, pc uint32) {
	if p := w.m.Arch.Program(); p != w.program {
		w.program, w.pcs = p, w.point.In(p)
		w.known = w.known || len(w.pcs) > 0
	}
	if w.why == "" && w.point.of(core, warp) && slices.Contains(w.pcs, pc) {
		w.why = fmt.Sprintf("%s: core %d warp %d issues %s", w.point.Text, core, warp, at(w.m.Arch, pc))
	}
}

// Tick stops the run at the end of the cycle in which the point was reached.
func (w *Watcher) Tick(now clock.Cycle) bool {
	if w.why == "" && w.cycle > 0 && now >= w.cycle {
		w.why = "as was asked"
	}
	if w.why == "" {
		return true
	}
	if w.state == nil {
		why := fmt.Sprintf("stopped at cycle %d: %s", now, w.why)
		w.state = Take(w.m, w.shown)
		w.state.Stopped = why
		w.m.Interrupt(&Stopped{why})
	}
	return false
}

// State returns the state of the machine when it was stopped; nil if it was not.
func (w *Watcher) State() *State { return w.state }

// Missed returns the reason why the run was not stopped.
func (w *Watcher) Missed() string {
	switch {
	case w.state != nil:
		return ""
	case !w.known:
		return fmt.Sprintf("--break %s: no program that ran has that symbol", w.point.Text)
	case w.point != nil:
		return fmt.Sprintf("--break %s: the run ended, and it was not issued", w.point.Text)
	}
	return fmt.Sprintf("--at-cycle %d: the run ended before, at cycle %d", w.cycle, w.m.Instant())
}

// Functional stops a functional machine before the first execution of a point.
type Functional struct {
	Point   *Point
	Program *isa.Program
	Scope   Scope
	pcs     []uint32
	state   *State
}

// Before is called before each instruction.
func (u *Functional) Before(w *emu.Warp) error {
	if u.pcs == nil {
		u.pcs = u.Point.In(u.Program)
	}
	core, warp := w.ID()
	if !slices.Contains(u.pcs, w.PC()) || !u.Point.of(core, warp) {
		return nil
	}
	why := fmt.Sprintf("stopped: %s: core %d warp %d is about to execute %s", u.Point.Text, core, warp,
		at(w.Machine(), w.PC()))
	u.state = TakeFunctional(w.Machine(), u.Scope)
	u.state.Stopped = why
	return &Stopped{why}
}

// State returns the state of the machine when it was stopped; nil if it was not.
func (u *Functional) State() *State { return u.state }

// Missed returns the reason why the run was not stopped.
func (u *Functional) Missed() string {
	if u.state != nil {
		return ""
	}
	return fmt.Sprintf("--break %s: the run ended, and it was not executed", u.Point.Text)
}

// at formats an instruction with its address.
func at(m *emu.Machine, pc uint32) string {
	return fmt.Sprintf("0x%08x%s: %s", pc, m.SymbolAt(pc), m.TextAt(pc))
}
