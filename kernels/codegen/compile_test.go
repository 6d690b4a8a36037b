package codegen

import (
	"context"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa"
	"heddle/isa/emu"
	"heddle/kernels/ir"
	"heddle/kernels/ir/example"
)

// build makes a kernel of one array, "a".
func build(t *testing.T, body func(b *ir.Builder, a ir.Value)) *ir.Kernel {
	t.Helper()
	b := ir.NewBuilder("test")
	body(b, b.Array("a"))
	k, err := b.Build()
	require.NoError(t, err)
	return k
}

// text is a program's instructions, a line each, without addresses.
func text(p *isa.Program) string {
	var s strings.Builder
	d := p.Segments[0].Data
	for o := 0; o < len(d); o += 4 {
		s.WriteString(isa.Disassemble(binary.LittleEndian.Uint32(d[o:]), 0) + "\n")
	}
	return s.String()
}

func compiled(t *testing.T, k *ir.Kernel, o Options) *Compiled {
	t.Helper()
	c, err := Compile(k, o)
	require.NoError(t, err)
	return c
}

// runBoth runs a kernel interpreted and compiled and compares the first words of its array.
func runBoth(t *testing.T, k *ir.Kernel, words uint32) *Compiled {
	t.Helper()
	const at = 0x100000
	c := compiled(t, k, Options{})
	m, err := emu.New(emu.Config{Cores: 1, Warps: 2, Threads: 4, Arg: argsAt, MaxInstrs: 10_000_000})
	require.NoError(t, err)
	m.Mem.Store32(argsAt, at)
	m.Load(c.Program)
	require.NoError(t, m.Run(context.Background()))
	im := ir.Machine{Cores: 1, Warps: 2, Threads: 4, Mem: emu.NewMemory(), Args: argsAt, MaxSteps: 10_000_000}
	im.Mem.Store32(argsAt, at)
	_, err = ir.Run(k, im)
	require.NoError(t, err)
	for i := range words {
		require.Equal(t, im.Mem.Load32(at+4*i), m.Mem.Load32(at+4*i), "word %d", i)
	}
	return c
}

// TestPlainBranchesWhereLanesAgree: branches on a value that is the same in all lanes need no masks.
func TestPlainBranchesWhereLanesAgree(t *testing.T) {
	k := build(t, func(b *ir.Builder, a ir.Value) {
		n := b.Param("n", ir.U32)
		b.For(b.U32(0), n, b.U32(1), func(i ir.Value) {
			b.If(b.Lt(b.Load(ir.U32, a, i), b.WarpID()), func() { b.Store(a, b.LaneID(), i) }, nil)
		})
	})
	for _, s := range []string{"split", "join", "pred", "vote", "tmc a", "tmc t"} {
		require.NotContains(t, strings.SplitN(text(compiled(t, k, Options{}).Program), "mscratch", 2)[1], s)
	}
	k = build(t, func(b *ir.Builder, a ir.Value) {
		b.If(b.Lt(b.LaneID(), b.U32(2)), func() { b.Store(a, b.LaneID(), b.U32(1)) }, nil)
	})
	s := text(compiled(t, k, Options{}).Program)
	require.Equal(t, 1, strings.Count(s, "split"))
	require.Equal(t, 1, strings.Count(s, "join"))
}

// TestPerEdge: the inner loops of the examples are as long as hand-written ones.
func TestPerEdge(t *testing.T) {
	for name, want := range map[string]int{"pagerank_vertex": 9, "pagerank_vertex_ahead": 9, "pagerank_edge": 11,
		"pagerank_weaver": 11} {
		k, err := example.Kernels[name]()
		require.NoError(t, err)
		c := compiled(t, k, Options{})
		require.Equal(t, []int{want}, c.Stats.PerEdge, name)
		require.Zero(t, c.Stats.Spills)
		require.NoError(t, ir.Verify(c.Kernel))
	}
}

// TestPhases: ranges of addresses within the program, by address.
func TestPhases(t *testing.T) {
	k, err := example.Weaver()
	require.NoError(t, err)
	c := compiled(t, k, Options{})
	require.NotEmpty(t, c.Phases)
	last := c.Program.Entry
	registration := c.Phases[:0:0]
	for _, p := range c.Phases {
		if p.Phase == isa.PhaseRegistration {
			registration = append(registration, p)
		}
		require.LessOrEqual(t, last, p.From)
		require.Less(t, p.From, p.To)
		last = p.To
	}
	found := false
	for _, in := range registration {
		code := c.Program.Segments[0].Data[in.From-c.Program.Entry : in.To-c.Program.Entry]
		for o := 0; o < len(code); o += 4 {
			found = found || strings.HasPrefix(isa.Disassemble(binary.LittleEndian.Uint32(code[o:]), 0), "weaver.reg")
		}
	}
	require.True(t, found, "registration registers")
}

// TestFarBranches: bodies longer than a branch reaches.
func TestFarBranches(t *testing.T) {
	k := build(t, func(b *ir.Builder, a ir.Value) {
		me := b.Address(a, b.Mul(b.GlobalThread(), b.U32(16)))
		x := b.Var(b.GlobalThread())
		b.For(b.U32(0), b.And(b.LaneID(), b.U32(3)), b.U32(1), func(i ir.Value) {
			b.If(b.Ne(b.And(x.Get(), b.U32(1)), i), func() {
				for n := range uint32(900) {
					x.Set(b.Xor(b.Add(x.Get(), b.U32(n)), i))
				}
			}, func() { x.Set(b.Add(x.Get(), b.U32(7))) })
			b.Store(me, i, x.Get())
		})
	})
	c := runBoth(t, k, 16*8)
	require.Greater(t, c.Stats.Instrs, 1500)
}

// TestManyLiveValues: more than there are registers live on the stack; more than the
// stack holds are an error.
func TestManyLiveValues(t *testing.T) {
	live := func(n uint32) *ir.Kernel {
		return build(t, func(b *ir.Builder, a ir.Value) {
			me := b.Address(a, b.Mul(b.GlobalThread(), b.U32(16)))
			var list []ir.Value
			for i := range n {
				b.Store(me, nil, b.U32(i))
				list = append(list, b.Load(ir.U32, me, nil))
			}
			for i, v := range list {
				b.Store(me, b.U32(uint32(i%16)), v)
			}
		})
	}
	require.Zero(t, runBoth(t, live(20), 16*8).Stats.Spills)
	few := runBoth(t, live(50), 16*8).Stats.Spills
	require.True(t, 0 < few && few <= joinedMax, "%d", few)
	require.Greater(t, runBoth(t, live(100), 16*8).Stats.Spills, 60)
	_, err := Compile(live(700), Options{})
	require.ErrorContains(t, err, "values live on the stack, and at most 512 can: the kernel keeps too many")
}

// TestDecIDNeedsUnmaskedWeaver: with mask_by_unit the mask would change unseen.
func TestDecIDNeedsUnmaskedWeaver(t *testing.T) {
	k := build(t, func(b *ir.Builder, a ir.Value) { b.Store(a, b.LaneID(), b.WeaverDecID()) })
	compiled(t, k, Options{})
	_, err := Compile(k, Options{MaskByUnit: true})
	require.ErrorContains(t, err, "compile_test.go:")
	require.ErrorContains(t, err, "mask_by_unit): use WeaverEdges")
}

// TestEveryPassIsDocumented, and named once.
func TestEveryPassIsDocumented(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range passes {
		require.NotEmpty(t, PassDoc(p.name))
		require.False(t, seen[p.name], p.name)
		seen[p.name] = true
	}
}

// TestCompileLeavesTheKernelAlone: it may be compiled again.
func TestCompileLeavesTheKernelAlone(t *testing.T) {
	for _, name := range example.Names() {
		k, err := example.Kernels[name]()
		require.NoError(t, err)
		before := k.Text()
		first := compiled(t, k, Options{})
		require.Equal(t, before, k.Text())
		require.Equal(t, first.Program, compiled(t, k, Options{}).Program)
	}
}

// TestBreakBeforeTheArrayEnds: a loop that is left does not walk to its end, which may be
// behind the end of the address space; so its test is not on an address.
func TestBreakBeforeTheArrayEnds(t *testing.T) {
	k := build(t, func(b *ir.Builder, a ir.Value) {
		b.For(b.U32(0), b.U32(6), b.U32(1), func(i ir.Value) { b.Store(a, i, b.Mul(i, i)) })
		steps := b.Var(b.U32(0))
		b.ForLoop(b.U32(0), b.U32(1<<30), b.U32(1), func(i ir.Value, l *ir.Loop) {
			l.BreakIf(b.Eq(b.Load(ir.U32, a, i), b.U32(16)))
			steps.Set(b.Add(steps.Get(), b.U32(1)))
		})
		b.Store(a, b.Add(b.GlobalThread(), b.U32(8)), steps.Get())
	})
	runBoth(t, k, 16)
}

// TestValuesInVariables: a value is computed directly into the variable that is set to it only where
// nothing reads the variable's old value afterwards.
func TestValuesInVariables(t *testing.T) {
	for name, body := range map[string]func(b *ir.Builder, out func(ir.Value), v *ir.Variable, x func() ir.Value){
		"the old value is read later": func(_ *ir.Builder, out func(ir.Value), v *ir.Variable, x func() ir.Value) {
			next := x()
			out(v.Get())
			v.Set(next)
		},
		"the old value was read before": func(_ *ir.Builder, out func(ir.Value), v *ir.Variable, x func() ir.Value) {
			old, next := v.Get(), x()
			out(old)
			v.Set(next)
		},
		"the value is used when the variable has changed": func(b *ir.Builder, out func(ir.Value), v *ir.Variable, x func() ir.Value) {
			next := x()
			v.Set(next)
			v.Set(b.Mul(v.Get(), b.U32(3)))
			out(next)
		},
		"the variable changes in a loop that uses the value": func(b *ir.Builder, out func(ir.Value), v *ir.Variable, x func() ir.Value) {
			next := x()
			v.Set(next)
			b.For(b.U32(0), b.U32(3), b.U32(1), func(ir.Value) {
				out(next)
				v.Set(b.Mul(v.Get(), b.U32(3)))
			})
		},
		"two variables take the value": func(b *ir.Builder, out func(ir.Value), v *ir.Variable, x func() ir.Value) {
			next, w := x(), b.Var(b.U32(7))
			w.Set(next)
			v.Set(next)
			w.Set(b.Mul(w.Get(), b.U32(3)))
			out(w.Get())
		},
		"lanes leave in between": func(b *ir.Builder, out func(ir.Value), v *ir.Variable, x func() ir.Value) {
			b.Loop(func(l *ir.Loop) {
				l.BreakIf(b.Lt(b.U32(1000), v.Get())) // the loop's test; the rest is its body
				next := x()
				l.BreakIf(b.Lt(b.U32(20), next))
				v.Set(next)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := build(t, func(b *ir.Builder, a ir.Value) {
				me := b.Address(a, b.Mul(b.GlobalThread(), b.U32(8)))
				n := b.Var(b.U32(1))
				out := func(x ir.Value) {
					b.Store(me, n.Get(), x)
					n.Set(b.Add(n.Get(), b.U32(1)))
				}
				v := b.Var(b.Add(b.GlobalThread(), b.U32(1)))
				b.Store(me, nil, b.U32(3))
				body(b, out, v, func() ir.Value {
					sum := b.Add(b.Load(ir.U32, me, nil), v.Get())
					b.Store(me, nil, sum)
					return b.Add(b.Load(ir.U32, me, nil), b.U32(5))
				})
				out(v.Get())
			})
			runBoth(t, k, 8*8)
		})
	}
}
