package traces

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"heddle/isa"
	"heddle/isa/emu"
)

func word(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }

// write writes a launch.
func (t *text) write(out *writer, meta *Meta, i int) error {
	l := &t.launches[i]
	p, err := t.program(l, i)
	if err != nil {
		return err
	}
	c := newCode(p)
	meta.Programs = append(meta.Programs, newProgram(p))
	launch := Launch{Program: i, Kernel: "imported", Step: i + 1}
	out.begin(i)
	for _, w := range slices.Sorted(maps.Keys(l.warps)) {
		m := &importer{Walker: Walker{full: uint32(1<<t.shape.Threads - 1),
			ipdom: isa.NewIPDOM(max(1, t.shape.Threads-1))}}
		m.begin(c)
		for k := range l.warps[w] {
			line := &l.warps[w][k]
			if err := m.line(line); err != nil {
				return fmt.Errorf("line %d, %s: %w", line.number, t.shape.Name(w), err)
			}
			launch.WarpInstrs++
			launch.ThreadInstrs += uint64(bits.OnesCount32(line.mask))
			if line.addrs != nil {
				launch.LaneAddresses += uint64(bits.OnesCount32(line.mask))
			}
		}
		if m.mask != 0 {
			return fmt.Errorf("%s: its instructions end before it does: expected ends in the last", t.shape.Name(w))
		}
		m.out.settle()
		m.out.endTurns()
		out.add(w, &m.out)
	}
	out.flush()
	meta.Launches = append(meta.Launches, launch)
	return out.err
}

// program assembles the instructions from their addresses. The machine starts warp 0 of every core at its entry.
func (t *text) program(l *textLaunch, number int) (*isa.Program, error) {
	p := &isa.Program{Name: fmt.Sprintf("launch %d", number)}
	for _, pc := range slices.Sorted(maps.Keys(l.code)) {
		if pc%4 != 0 {
			return nil, fmt.Errorf("an instruction at %08x: expected a multiple of 4", pc)
		}
		if n := len(p.Segments); n == 0 || p.Segments[n-1].Addr+p.Segments[n-1].Size != pc {
			p.Segments = append(p.Segments, isa.Segment{Addr: pc, Executable: true})
		}
		s := &p.Segments[len(p.Segments)-1]
		s.Data = binary.LittleEndian.AppendUint32(s.Data, l.code[pc].word)
		s.Size += 4
	}
	for c := range t.shape.Cores {
		first := l.warps[c*t.shape.Warps]
		if len(first) == 0 {
			return nil, fmt.Errorf("core %d warp 0 has no instructions: the machine starts it at every launch", c)
		}
		if c == 0 {
			p.Entry = first[0].pc
		}
		if first[0].pc != p.Entry {
			return nil, fmt.Errorf("core %d warp 0 begins at %08x, and that of core 0 at %08x: expected the same", c,
				first[0].pc, p.Entry)
		}
	}
	return p, nil
}

// importer writes the trace of one warp, and follows its execution to check that it is possible.
type importer struct {
	Walker
	out encoder
}

func (m *importer) begin(c *code) {
	m.Walker.begin(c)
	m.out.begin(c)
}

func (m *importer) line(l *textLine) error {
	if m.out.instrs++; m.mask == 0 {
		m.pc, m.mask = l.pc, 1
		m.ipdom.Reset()
		m.out.address(l.pc)
	}
	if l.pc != m.pc || l.mask != m.mask {
		return fmt.Errorf("%08x with lanes %08x: the warp is at %08x with %08x", l.pc, l.mask, m.pc, m.mask)
	}
	op := m.Walker.code.at(l.pc)
	if op == nil {
		return errors.New("is no instruction of the machine")
	}
	m.pc += 4
	if err := m.write(op, l); err != nil {
		return err
	}
	if l.next != nil && *l.next != m.pc && m.mask != 0 {
		return fmt.Errorf("goes on at %08x, not at %08x", m.pc, *l.next)
	}
	if l.active != nil && *l.active != m.mask {
		return fmt.Errorf("goes on with lanes %08x, not with %08x", m.mask, *l.active)
	}
	return nil
}

// write writes the instruction's decision, and executes it.
func (m *importer) write(op *codeOp, l *textLine) error {
	switch s := op.Sem.(type) {
	case isa.Branch:
		if m.out.turn(l.next != nil); l.next != nil {
			m.pc = l.pc + uint32(op.Imm)
		}
	case isa.Jump:
		switch {
		case !s.Indirect:
			m.pc = l.pc + uint32(op.Imm)
		case l.next != nil:
			m.pc = *l.next
		}
		if s.Indirect {
			m.out.address(m.pc)
		}
	case isa.Control:
		return m.controlled(s, op, l)
	case isa.Load:
		return m.access(l, s.Size)
	case isa.Store:
		return m.access(l, s.Size)
	case isa.AMO, isa.LoadReserved:
		return m.access(l, 4)
	case isa.StoreConditional, isa.CompareSwap:
		*m.out.chosen.push() = emu.Outcome{Wrote: l.wrote & l.mask}
		m.out.settle()
		return m.access(l, 4)
	case isa.UnitOp:
		return errors.New("asks a graph unit, which is not imported")
	case isa.Environment:
		return errors.New("ends the program with an error")
	}
	return nil
}

func (m *importer) access(l *textLine, size uint8) error {
	if l.addrs == nil {
		return errors.New("expected addresses after @")
	}
	for k := l.mask; k != 0; k &= k - 1 {
		if a := l.addrs[bits.TrailingZeros32(k)]; a&uint32(size-1) != 0 {
			return fmt.Errorf("address %08x: expected a multiple of %d", a, size)
		}
	}
	m.out.addresses(m.out.site(l.pc), l.mask, size, l.addrs)
	return nil
}

// controlled finds operands with which the instruction has the stated effect.
func (m *importer) controlled(do isa.Control, op *codeOp, l *textLine) error {
	next := l.mask
	if l.active != nil {
		next = *l.active
	}
	a := isa.ControlArgs{Negated: op.Neg != 0}
	some := func(lanes uint32) { // candidate lane sets for a predicate's operands
		if a.Pred = lanes; a.Negated {
			a.Pred = l.mask &^ lanes
		}
	}
	switch op.Name {
	case "tmc":
		a.A = next
	case "split":
		if some(0); next != l.mask {
			some(next)
		}
	case "join":
		if a.A = uint32(m.ipdom.Depth()); next != l.mask {
			a.A--
		}
	case "pred":
		if some(next); next&^l.mask != 0 || next == 0 {
			some(0)
			a.B = next
		}
	default:
		if !l.hasArgs {
			return fmt.Errorf("%s: expected args and its two operands", op.Name)
		}
		a.A, a.B = l.args[0], l.args[1]
	}
	m.out.control(m.out.site(l.pc), a)
	return do(walked{&m.Walker}, a)
}
