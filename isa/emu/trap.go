package emu

import (
	"errors"
	"fmt"
	"strings"

	"heddle/isa"
)

// Cause is why a program was stopped.
type Cause uint8

// Causes.
const (
	IllegalInstruction Cause = iota
	MisalignedFetch
	MisalignedAccess
	AccessFault
	FetchFault
	DivergentBranch
	StackFault // IPDOM overflow or a join that matches no split
	BarrierMisuse
	EnvironmentCall
	UnitError
	MissingUnit
)

var causeNames = [...]string{
	IllegalInstruction: "illegal instruction", MisalignedFetch: "misaligned instruction address",
	MisalignedAccess: "misaligned access",
	AccessFault:      "access fault", FetchFault: "instruction access fault", DivergentBranch: "divergent branch",
	StackFault: "IPDOM stack", BarrierMisuse: "barrier",
	EnvironmentCall: "environment call", UnitError: "graph unit", MissingUnit: "missing graph unit",
}

func (c Cause) String() string { return causeNames[c] }

// Trap is a program error, with its cause and position.
type Trap struct {
	Cause  Cause
	Detail string
	Core   int
	Warp   int
	Lane   int // -1: the whole warp
	PC     uint32
	Inst   string // disassembly
	Symbol string // "loop+0x8", when known
	Source string // "gather.ir:12 (gather_sum): %7 = load x", for a compiled kernel

	As          isa.Exception // the architecture's exception
	Exceptional bool          // As is valid: a handler of the program may take it
	Value       uint32        // mtval
}

func (t *Trap) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s: %s\n  at pc 0x%08x", t.Cause, t.Detail, t.PC)
	if t.Symbol != "" {
		fmt.Fprintf(&s, " <%s>", t.Symbol)
	}
	fmt.Fprintf(&s, ": %s", t.Inst)
	if t.Source != "" {
		fmt.Fprintf(&s, "\n  from %s", t.Source)
	}
	fmt.Fprintf(&s, "\n  core %d, warp %d", t.Core, t.Warp)
	if t.Lane >= 0 {
		fmt.Fprintf(&s, ", lane %d", t.Lane)
	}
	return s.String()
}

// Handles reports whether a handler of the program takes the warp's trap: its cause is an exception of the
// architecture, and mtvec is set.
func (w *Warp) Handles(t *Trap) bool { return t.Exceptional && w.core.mtvec != 0 }

// Handle continues the warp in the handler. All instructions before the trap must have been executed, and none after
// it.
func (w *Warp) Handle(t *Trap) {
	m := &w.machine
	m.epc, m.cause, m.tval = t.PC, uint32(t.As), t.Value
	m.status = m.status & isa.MstatusMIE << 4 // MPIE = MIE, MIE = 0
	w.pc = w.core.mtvec
}

// machine is a warp's state of machine mode.
type machine struct {
	status           uint32 // the variable bits of mstatus
	epc, cause, tval uint32
}

// fault is a Trap to which the machine has not yet added the position.
type fault struct {
	cause  Cause
	lane   int
	detail string

	as          isa.Exception
	exceptional bool
	value       uint32
}

func (f *fault) Error() string { return f.detail }

func faultf(c Cause, lane int, format string, args ...any) error {
	return &fault{cause: c, lane: lane, detail: fmt.Sprintf(format, args...)}
}

// exceptionf returns a fault that a handler may take, with the values for mcause and mtval.
func exceptionf(as isa.Exception, value uint32, c Cause, lane int, format string, args ...any) error {
	return &fault{cause: c, lane: lane, detail: fmt.Sprintf(format, args...), as: as, exceptional: true, value: value}
}

// trap turns an error of an instruction into a Trap with its position.
func (w *Warp) trap(err error, pc uint32) *Trap {
	f := &fault{cause: StackFault, lane: -1, detail: err.Error()} // IPDOM errors come from isa as they are
	errors.As(err, &f)
	t := &Trap{
		Cause: f.cause, Detail: f.detail, Lane: f.lane,
		As: f.as, Exceptional: f.exceptional, Value: f.value,
		Core: w.core.id, Warp: w.id, PC: pc,
		Inst: isa.Disassemble(w.m.Mem.View().Load32(pc&^3), pc),
	}
	if name, off, ok := w.m.program.Where(pc); ok {
		t.Symbol = fmt.Sprintf("%s+0x%x", name, off)
	}
	t.Source = source(w.m.program, pc)
	return t
}

// source returns the line of its listing that an instruction comes from, with its phase; empty: unknown.
func source(p *isa.Program, pc uint32) string {
	name, line, text, ok := p.LineAt(pc)
	if !ok {
		return ""
	}
	phase := isa.PhaseOther
	if marks, err := p.PhaseMarks(); err == nil {
		phase = isa.PhaseAt(marks, pc)
	}
	return fmt.Sprintf("%s:%d (%s): %s", name, line, phase, text)
}

// LimitError is the end of a run by the instruction limit.
type LimitError struct{ Limit uint64 }

func (e *LimitError) Error() string {
	return fmt.Sprintf("instruction limit reached: %d warp instructions", e.Limit)
}

// DeadlockError is the end of a run in which warps are left and none can run.
type DeadlockError struct{ Waiting []string }

func (e *DeadlockError) Error() string {
	return "no progress: every warp that is left waits\n  " + strings.Join(e.Waiting, "\n  ")
}
