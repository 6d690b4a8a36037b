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
	DivergentBranch
	StackFault // IPDOM overflow or a join that matches no split
	BarrierMisuse
	EnvironmentCall
	UnitError
	MissingUnit
)

var causeNames = [...]string{
	IllegalInstruction: "illegal instruction", MisalignedFetch: "misaligned instruction address", MisalignedAccess: "misaligned access",
	AccessFault: "access fault", DivergentBranch: "divergent branch", StackFault: "IPDOM stack", BarrierMisuse: "barrier",
	EnvironmentCall: "environment call", UnitError: "graph unit", MissingUnit: "missing graph unit",
}

func (c Cause) String() string { return causeNames[c] }

// Trap is a program error: what went wrong, and where.
type Trap struct {
	Cause  Cause
	Detail string
	Core   int
	Warp   int
	Lane   int // -1: the whole warp
	PC     uint32
	Inst   string // disassembly
	Symbol string // "loop+0x8", when known
}

func (t *Trap) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s: %s\n  at pc 0x%08x", t.Cause, t.Detail, t.PC)
	if t.Symbol != "" {
		fmt.Fprintf(&s, " <%s>", t.Symbol)
	}
	fmt.Fprintf(&s, ": %s\n  core %d, warp %d", t.Inst, t.Core, t.Warp)
	if t.Lane >= 0 {
		fmt.Fprintf(&s, ", lane %d", t.Lane)
	}
	return s.String()
}

// fault is a Trap before the machine has added where it happened.
type fault struct {
	cause  Cause
	lane   int
	detail string
}

func (f *fault) Error() string { return f.detail }

func faultf(c Cause, lane int, format string, args ...any) error {
	return &fault{c, lane, fmt.Sprintf(format, args...)}
}

// trap turns an error of an instruction into a Trap at its place.
func (w *Warp) trap(err error, pc uint32) error {
	f := &fault{StackFault, -1, err.Error()} // IPDOM errors come from isa as they are
	errors.As(err, &f)
	t := &Trap{
		Cause: f.cause, Detail: f.detail, Lane: f.lane,
		Core: w.core.id, Warp: w.id, PC: pc,
		Inst: isa.Disassemble(w.m.Mem.View().Load32(pc&^3), pc),
	}
	if name, off, ok := w.m.program.Where(pc); ok {
		t.Symbol = fmt.Sprintf("%s+0x%x", name, off)
	}
	return t
}

// LimitError says that the instruction limit ended the run.
type LimitError struct{ Limit uint64 }

func (e *LimitError) Error() string {
	return fmt.Sprintf("instruction limit reached: %d warp instructions", e.Limit)
}

// DeadlockError says that warps are left and none can run.
type DeadlockError struct{ Waiting []string }

func (e *DeadlockError) Error() string {
	return "no progress: every warp that is left waits\n  " + strings.Join(e.Waiting, "\n  ")
}
