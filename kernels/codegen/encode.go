package codegen

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strconv"

	"heddle/isa"
	"heddle/isa/emu"
	"heddle/kernels/ir"
)

// finish allocates registers and encodes the program.
func (c *code) finish(k *ir.Kernel, o Options) (*Compiled, error) {
	if o.Lean {
		c.masks()
		c.dropUnread()
	}
	if o.Sink {
		c = c.sunk(o.Lean)
	}
	if o.Zba {
		c.shiftedAdditions()
	}
	c, a, err := c.allocated(o)
	if err != nil {
		return nil, err
	}
	list, err := c.assign(a)
	if err != nil {
		return nil, err
	}
	if o.Lean {
		list = dropCopies(list)
	}
	list = relax(list)
	e := encoder{list: list, base: o.Base, at: addresses32(list, o.Base)}
	p, err := e.program(k.Name)
	if err != nil {
		return nil, err
	}
	p.Listings = []isa.Listing{newListing(k, o.Base, list)}
	out := &Compiled{Program: p, Kernel: k, Phases: e.phases()}
	out.Stats = Stats{Instrs: len(p.Segments[0].Data) / 4, Spills: a.slots, Moved: a.moved,
		PerEdge: perEdgeInstrs(list), EdgeLoops: edgeLoops(list),
		XRegisters: bits.OnesCount64(a.used & xRegisters), FRegisters: bits.OnesCount64(a.used &^ xRegisters)}
	return out, nil
}

// allocated returns the code, in a better order if that pays, with its allocation.
func (c *code) allocated(o Options) (*code, *allocation, error) {
	if o.Task {
		a, err := c.finishTask(o)
		return c, a, err
	}
	a := c.allocate(o)
	r := c.reordered()
	if b := r.allocate(o); b.slots <= a.slots { // with more spills, reordering would not pay
		return r, b, nil
	}
	return c, a, nil
}

// addresses32 returns the address of every label, counted from base.
func addresses32(list []machine, base uint32) map[label]uint32 {
	at := map[label]uint32{}
	for _, m := range list {
		if m.Row == nil {
			at[m.label] = base
		} else {
			base += 4
		}
	}
	return at
}

// relax replaces conditional branches whose targets are too far away by the opposite branch around a jump.
func relax(list []machine) []machine {
	const reach = 4096 - 256
	for again := true; again; {
		again = false
		at, pc := addresses32(list, 0), uint32(0)
		next := label(0)
		for _, m := range list {
			next = max(next, m.label)
		}
		var out []machine
		for _, m := range list {
			if m.Row == nil {
				out = append(out, m)
				continue
			}
			if d := int32(at[m.to] - pc); m.to != 0 && m.Row.Name != "jal" && (d > reach || d < -reach) {
				next++
				around, jump := m, machine{Inst: isa.Inst{Row: row("jal")}, to: m.to, phase: m.phase,
					from: m.from}
				around.Row, around.to = row(oppositeBranch[m.Row.Name]), next
				out = append(out, around, jump, machine{label: next})
				again = true
			} else {
				out = append(out, m)
			}
			pc += 4
		}
		list = out
	}
	return list
}

var oppositeBranch = map[string]string{"beq": "bne", "bne": "beq", "blt": "bge", "bge": "blt", "bltu": "bgeu",
	"bgeu": "bltu"}

// span is a range of a program's instructions.
type span struct{ from, to uint32 }

// perEdge returns the innermost loop around each edge, or the program if there is none.
func perEdge(list []machine) (out []span) {
	at := addresses32(list, 0)
	var loops []span
	var edges []uint32
	pc := uint32(0)
	for _, m := range list {
		if m.Row == nil {
			continue
		}
		if m.to != 0 && at[m.to] <= pc {
			loops = append(loops, span{at[m.to], pc + 4})
		}
		if m.edge != 0 {
			edges = append(edges, pc)
		}
		pc += 4
	}
	for _, e := range edges {
		best := span{0, pc}
		for _, s := range loops {
			if s.from <= e && e < s.to && s.to-s.from < best.to-best.from {
				best = s
			}
		}
		out = append(out, best)
	}
	return out
}

// perEdgeInstrs counts the instructions of these loops.
func perEdgeInstrs(list []machine) (out []int) {
	for _, s := range perEdge(list) {
		out = append(out, int(s.to-s.from)/4)
	}
	return out
}

// edgeLoops summarises the loops around edges. Consecutive edges of one loop are handled by one iteration.
func edgeLoops(list []machine) (out []EdgeLoop) {
	last := span{}
	for _, s := range perEdge(list) {
		if s != last {
			out = append(out, EdgeLoop{Instrs: int(s.to-s.from) / 4, Loads: loadsUnderWay(list, s)})
		}
		out[len(out)-1].Edges++
		last = s
	}
	return out
}

// loadsUnderWay returns the largest number of loads in a range that are issued before any of their registers is read,
// in the order of the program, ignoring branches.
func loadsUnderWay(list []machine, in span) (most int) {
	waits := map[isa.Reg]bool{}
	pc := uint32(0)
	for n := range list {
		m := &list[n]
		if m.Row == nil {
			continue
		}
		if in.from <= pc && pc < in.to {
			x := accesses()[m.Row.Op]
			for _, u := range []struct {
				used bool
				r    isa.Reg
			}{{x.a, m.Rs1}, {x.b, m.Rs2}, {x.c, m.Rs3}, {x.rd, m.Rd}} {
				if u.used {
					delete(waits, u.r)
				}
			}
			if m.Row.Class == isa.ClassLoad {
				waits[m.Rd] = true
				most = max(most, len(waits))
			}
		}
		pc += 4
	}
	return most
}

type encoder struct {
	list []machine
	base uint32
	at   map[label]uint32
}

func (e *encoder) program(name string) (*isa.Program, error) {
	var data []byte
	symbols := []isa.Symbol{{Name: "_start", Addr: e.base}}
	last := isa.PhaseOther
	for n := range e.list {
		m := &e.list[n]
		if m.Row == nil {
			continue
		}
		pc := e.base + uint32(len(data))
		if m.to != 0 {
			m.Imm = int32(e.at[m.to] - pc)
		}
		w, err := isa.Encode(&m.Inst)
		if err != nil {
			return nil, fmt.Errorf("BUG: codegen: at 0x%08x: %w", pc, err)
		}
		if m.phase != last {
			symbols = append(symbols, isa.Symbol{Name: m.phase.Symbol(), Addr: pc})
			last = m.phase
		}
		switch {
		case m.edge == 1:
			symbols = append(symbols, isa.Symbol{Name: emu.EdgeSymbol, Addr: pc})
		case m.edge > 1:
			symbols = append(symbols, isa.Symbol{Name: emu.BlockEdgeSymbol + strconv.Itoa(int(m.edge)), Addr: pc})
		}
		data = binary.LittleEndian.AppendUint32(data, w)
	}
	text := isa.Segment{Addr: e.base, Data: data, Size: uint32(len(data)), Executable: true}
	return &isa.Program{Name: name, Entry: e.base, Segments: []isa.Segment{text}, Symbols: symbols}, nil
}

// phases lists the ranges of addresses that belong to phases.
func (e *encoder) phases() (out []Phase) {
	pc, last := e.base, isa.PhaseOther
	for _, m := range e.list {
		if m.Row == nil {
			continue
		}
		switch {
		case m.phase == isa.PhaseOther:
		case m.phase == last:
			out[len(out)-1].To = pc + 4
		default:
			out = append(out, Phase{m.phase, pc, pc + 4})
		}
		last = m.phase
		pc += 4
	}
	return out
}
