package ir

import (
	"fmt"
	"math"
	"strings"

	"heddle/isa"
)

// Text returns the kernel as text: ~ marks values and constructs that vary between the lanes of a warp.
func (k *Kernel) Text() string {
	lines, _ := k.Lines()
	return strings.Join(lines, "\n") + "\n"
}

// Lines returns the lines of the text, and the number of each instruction's line, from 1.
func (k *Kernel) Lines() (lines []string, at map[*Instr]int) {
	d := dumper{k: k, u: Analyse(k), at: map[*Instr]int{}}
	d.printf("kernel %s", k.Name)
	for _, p := range k.Params {
		note := ""
		if p.Aligned {
			note = " array"
		}
		d.printf("  param %s %s = word %d%s", p.Name, p.Type, p.Word, note)
	}
	for _, s := range k.Shared {
		d.printf("  shared %s: %d words at %d", s.Name, s.Words, s.Offset)
	}
	if k.Warps > 0 {
		d.printf("  warps of a core: %d", k.Warps)
	}
	if k.Block > 0 {
		d.printf("  warps of a thread block: %d", k.Block)
	}
	d.block(k.Body, 1)
	return d.lines, d.at
}

type dumper struct {
	k     *Kernel
	u     *Uniformity
	lines []string
	at    map[*Instr]int
	// phase of the last instruction written
	phase isa.Phase
}

// printf appends a line.
func (d *dumper) printf(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

// blockNames are the names of an operation's blocks.
var blockNames = [NumOps][]string{OpIf: {"then", "else"}, OpLoop: {"test", "body", "latch"}}

func (d *dumper) block(b *Block, depth int) {
	for _, i := range b.Instrs {
		d.instr(i, depth)
	}
}

func (d *dumper) instr(i *Instr, depth int) {
	indent := strings.Repeat("  ", depth)
	if i.Phase != d.phase {
		d.phase = i.Phase
		d.printf("%s# %s", indent, i.Phase)
	}
	d.printf("%s%s", indent, d.line(i))
	d.at[i] = len(d.lines)
	for n, b := range i.Blocks {
		if names := blockNames[i.Op]; names != nil {
			if len(b.Instrs) == 0 {
				continue
			}
			d.printf("%s %s:", indent, names[n])
		}
		d.block(b, depth+1)
	}
}

func (d *dumper) line(i *Instr) string {
	var s strings.Builder
	if i.Type != None {
		fmt.Fprintf(&s, "%%%d %s%s = ", i.ID, mark(d.u.Varying[i.ID]), i.Type)
	}
	s.WriteString(i.Op.String())
	if i.Op.Kind() == KindControl {
		s.WriteString(mark(d.u.Partial[i.ID]))
	}
	if i.Var != nil {
		fmt.Fprintf(&s, " v%d%s", i.Var.ID, mark(d.u.Vars[i.Var.ID]))
	}
	for n, a := range i.Args {
		if n > 0 || i.Var != nil {
			s.WriteString(",")
		}
		s.WriteString(" " + d.arg(a))
	}
	if i.Op.Memory() && i.Imm != 0 {
		fmt.Fprintf(&s, " + %d bytes", int32(i.Imm))
	}
	if i.Loop != nil {
		fmt.Fprintf(&s, " of %%%d", i.Loop.ID)
	}
	if blocks := i.Blocks; blocks != nil && i.Type == None &&
		(i.Op == OpLoop || i.Op == OpFor || i.Op == OpWeaverEdges) {
		fmt.Fprintf(&s, " (%%%d)", i.ID)
	}
	if i.Grid != nil {
		fmt.Fprintf(&s, " grid v%d < %s", i.Grid.Next.ID, d.arg(i.Grid.Safe))
	}
	return s.String()
}

func mark(varying bool) string {
	if varying {
		return "~"
	}
	return ""
}

// arg returns the name of a value; roots are written in full.
func (d *dumper) arg(v Value) string {
	switch {
	case v == nil:
		return "_"
	case v.Op == OpConst:
		return constText(v)
	case v.Op == OpParam:
		return d.k.Params[v.Imm].Name
	case v.Op == OpShared:
		return d.k.Shared[v.Imm].Name
	case v.Op.Kind() == KindRoot:
		return v.Op.String()
	}
	return fmt.Sprintf("%%%d", v.ID)
}

func constText(v Value) string {
	switch v.Type {
	case F32:
		return fmt.Sprintf("%gf", math.Float32frombits(v.Imm))
	case I32:
		return fmt.Sprint(int32(v.Imm))
	case Pred:
		return fmt.Sprint(v.Imm != 0)
	}
	return fmt.Sprintf("%du", v.Imm)
}
