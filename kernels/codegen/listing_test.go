package codegen

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa"
	"heddle/isa/emu"
	"heddle/kernels/ir"
	"heddle/kernels/ir/example"
)

// TestListing: every load, store and atomic comes from a line of the last pass's text that has the operation, and every
// such line has an instruction. With few registers, values on the stack and parameters that are loaded again have the
// line that needs them.
func TestListing(t *testing.T) {
	for _, name := range example.Names() {
		for _, registers := range []int{0, 6} {
			k, err := example.Kernels[name]()
			require.NoError(t, err)
			last := ""
			c, err := Compile(k, Options{Registers: registers, Sink: registers == 0,
				After: func(_ string, k *ir.Kernel) { last = k.Text() }})
			require.NoError(t, err, name)
			require.Len(t, c.Program.Listings, 1)
			l := c.Program.Listings[0]
			require.Equal(t, last, strings.Join(l.Lines(), "\n")+"\n", name)
			memoryLines(t, c, l)
		}
	}
}

// memoryLines checks the lines of a program's accesses to memory.
func memoryLines(t *testing.T, c *Compiled, l isa.Listing) {
	var want, got []int
	for n, text := range l.Lines() {
		if operation(text) != "" {
			want = append(want, n+1)
		}
	}
	text := c.Program.Segments[0]
	begun := false      // a line of the kernel has come: the rest is no entry code
	block := isa.Reg(0) // holds the address of the parameters; 0: none does
	for n := 0; n < len(text.Data); n += 4 {
		pc := text.Addr + uint32(n)
		word := uint32(text.Data[n]) | uint32(text.Data[n+1])<<8 | uint32(text.Data[n+2])<<16 | uint32(text.Data[n+3])<<24
		in, ok := isa.Decode(word)
		require.True(t, ok)
		line := l.Line(pc)
		begun = begun || line > 0
		kind := map[isa.Class]string{isa.ClassLoad: "load", isa.ClassStore: "store", isa.ClassAtomic: "atomic"}[in.Row.Class]
		switch {
		case kind == "":
		case in.Rs1 == stackPointer && c.Stats.Spills > 0:
			require.True(t, line > 0 || !begun, "%s: %08x %s", l.Name(), pc, in.Text(pc))
		case block != 0 && in.Rs1 == block && kind == "load": // a parameter, at the beginning or again
		case in.Rs1 == 0 && line == 0 && kind == "store": // the exit code
		default:
			require.Positive(t, line, "%s: %08x %s", l.Name(), pc, in.Text(pc))
			require.Equal(t, kind, operation(l.Lines()[line-1]), "%s: %08x %s", l.Name(), pc, in.Text(pc))
			got = append(got, line)
		}
		switch {
		case in.Row.Name == "csrrs" && in.CSR == isa.CSRMscratch:
			block = in.Rd
		case accesses()[in.Row.Op].rd && in.Rd == block:
			block = 0
		}
	}
	slices.Sort(got)
	require.Equal(t, want, slices.Compact(got), l.Name())
}

// operation is the kind of access of a line; empty: it has none.
func operation(text string) string {
	if _, right, ok := strings.Cut(text, " = "); ok {
		text = right
	}
	name, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	for _, kind := range []string{"load", "store", "atomic"} {
		if strings.HasPrefix(name, kind) {
			return kind
		}
	}
	return ""
}

// TestTrapNamesItsLine: the message of a trap in a compiled kernel has the line of the last pass's text, and the phase.
func TestTrapNamesItsLine(t *testing.T) {
	b := ir.NewBuilder("crooked")
	out := b.Array("out")
	b.Phase(isa.PhaseApply, func() { b.Store(b.Add(out, b.U32(2)), b.LaneID(), b.U32(5)) })
	k, err := b.Build()
	require.NoError(t, err)
	c, err := Compile(k, Options{})
	require.NoError(t, err)
	m, err := emu.New(emu.Config{Cores: 1, Warps: 1, Threads: 4, Arg: argsAt, MaxInstrs: 1000})
	require.NoError(t, err)
	m.Mem.Store32(argsAt, 0x90000000)
	m.Load(c.Program)
	err = m.Run(context.Background())
	require.ErrorContains(t, err, "misaligned")
	lines := strings.Split(c.Kernel.Text(), "\n")
	n := slices.IndexFunc(lines, func(l string) bool { return operation(l) == "store" })
	require.ErrorContains(t, err, fmt.Sprintf("\n  from crooked.ir:%d (apply): %s\n", n+1, strings.TrimSpace(lines[n])))
}
