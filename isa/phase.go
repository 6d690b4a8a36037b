package isa

import (
	"fmt"
	"slices"
	"strings"
)

// Phase is the purpose of an instruction in a graph program: the steps of SparseWeaver's breakdowns (HPCA 2025, Fig.
// 17), and the end of a super-step. It affects only statistics.
type Phase uint8

// Phases.
const (
	PhaseOther Phase = iota // a program does not say
	PhaseInit
	PhaseRegistration
	PhaseSchedule
	PhaseEdgeAccess
	PhaseGatherSum
	PhaseApply
	NumPhases
)

var phases = [NumPhases]struct{ name, doc string }{
	PhaseOther:        {"other", "no phase: the program's end, or a program without marks"},
	PhaseInit:         {"init", "init: who a thread is, parameters, the next active set cleared, first values"},
	PhaseRegistration: {"registration", "registration: active vertices, filters, rows, scans of degrees, requests to a graph unit, the barrier behind them"},
	PhaseSchedule:     {"schedule", "edge schedule: which edge a lane handles next (the paper's work ID calculation)"},
	PhaseEdgeAccess:   {"edge_access", "edge information access: an edge's ends and weight"},
	PhaseGatherSum:    {"gather_sum", "gather & sum: an edge's value, its sum, the next active set"},
	PhaseApply:        {"apply", "apply: what ends a super-step for every vertex"},
}

func (p Phase) String() string { return phases[p].name }

// Doc describes the program's work in the phase.
func (p Phase) Doc() string { return phases[p].doc }

// PhasePrefix begins the symbols at the beginning of phases: heddle.phase.schedule, and for further occurrences
// heddle.phase.schedule.2 or any other suffix after a dot. A phase extends to the next such symbol.
const PhasePrefix = "heddle.phase."

// Symbol is the name of the symbol where the phase begins.
func (p Phase) Symbol() string { return PhasePrefix + p.String() }

// PhaseMark is the beginning of a phase.
type PhaseMark struct {
	Addr  uint32
	Phase Phase
}

// PhaseMarks lists the places where a program's phases begin, by address.
func (p *Program) PhaseMarks() (marks []PhaseMark, err error) {
	for _, s := range p.Symbols {
		name, ok := strings.CutPrefix(s.Name, PhasePrefix)
		if !ok {
			continue
		}
		name, _, _ = strings.Cut(name, ".")
		i := slices.IndexFunc(phases[:], func(x struct{ name, doc string }) bool { return x.name == name })
		if i < 0 {
			return nil, fmt.Errorf("%s: symbol %s: no phase %q: expected one of %s", p.Name, s.Name, name, phaseNames())
		}
		marks = append(marks, PhaseMark{s.Addr, Phase(i)})
	}
	slices.SortStableFunc(marks, func(a, b PhaseMark) int { return int(int64(a.Addr) - int64(b.Addr)) })
	return marks, nil
}

func phaseNames() string {
	var names []string
	for p := range NumPhases {
		names = append(names, p.String())
	}
	return strings.Join(names, ", ")
}

// PhaseAt is the phase of the instruction at an address.
func PhaseAt(marks []PhaseMark, addr uint32) Phase {
	n, found := slices.BinarySearchFunc(marks, addr, func(m PhaseMark,
		a uint32) int {
		return int(int64(m.Addr) - int64(a))
	})
	for found && n+1 < len(marks) && marks[n+1].Addr == addr { // the last of several marks counts
		n++
	}
	switch {
	case found:
		return marks[n].Phase
	case n == 0:
		return PhaseOther
	}
	return marks[n-1].Phase
}
