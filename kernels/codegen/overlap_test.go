package codegen

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
	"heddle/kernels/ir"
)

// unrolledBody builds a loop of a few random steps one after the other: loads of an array that nothing writes, of
// addresses that hang on what the steps before did; loads and stores of one that is written; conditions, breaks, and
// what lanes tell each other.
type unrolledBody struct {
	*ir.Builder
	r       *rand.Rand
	in, own ir.Value
	vars    []*ir.Variable
	values  []ir.Value
}

func newUnrolled(seed uint64) (*ir.Kernel, error) {
	g := &unrolledBody{Builder: ir.NewBuilder("unrolled"), r: rand.New(rand.NewPCG(seed, 9))}
	g.in = g.Array("in")
	for _, name := range []string{"acc", "grid"} { // the words that a trial has
		g.Array(name)
	}
	g.own = g.Address(g.Array("own"), g.Mul(g.GlobalThread(), g.U32(ownWords)))
	g.Param("n", ir.U32)
	last := g.Address(g.Array("last"), g.Mul(g.GlobalThread(), g.U32(lastWords)))
	for range 3 {
		g.vars = append(g.vars, g.Var(g.Mul(g.LaneID(), g.U32(g.r.Uint32N(9)))))
	}
	g.Unrolled(4, g.U32(0), g.U32(3+g.r.Uint32N(9)), g.U32(1), func(i ir.Value, l *ir.Loop) {
		g.values = []ir.Value{i, g.LaneID(), g.U32(g.r.Uint32N(100))}
		for range 4 + g.r.IntN(30) {
			g.step(l)
		}
	})
	for n, v := range g.vars {
		g.Store(last, g.U32(uint32(n)), v.Get())
	}
	return g.Build()
}

func (g *unrolledBody) value() ir.Value        { return g.values[g.r.IntN(len(g.values))] }
func (g *unrolledBody) variable() *ir.Variable { return g.vars[g.r.IntN(len(g.vars))] }
func (g *unrolledBody) cond() ir.Value {
	return g.Eq(g.And(g.value(), g.U32(3)), g.U32(g.r.Uint32N(4)))
}
func (g *unrolledBody) mine() ir.Value  { return g.And(g.value(), g.U32(ownWords-1)) }
func (g *unrolledBody) take(v ir.Value) { g.values = append(g.values, v) }
func (g *unrolledBody) load() ir.Value {
	return g.Load(ir.U32, g.in, g.And(g.value(), g.U32(inWords-1)))
}
func (g *unrolledBody) loadOwn() ir.Value { return g.Load(ir.U32, g.own, g.mine()) }

// step is one operation.
func (g *unrolledBody) step(l *ir.Loop) {
	switch g.r.IntN(16) {
	case 0, 1, 2, 3:
		g.take(g.load())
	case 4:
		g.take(g.loadOwn())
	case 5:
		g.Store(g.own, g.mine(), g.value())
	case 6, 7:
		g.take(g.variable().Get())
	case 8, 9:
		g.variable().Set(g.Add(g.value(), g.variable().Get()))
	case 10, 11:
		g.take(g.Xor(g.Mul(g.value(), g.U32(7)), g.value()))
	case 12:
		g.If(g.cond(), func() { g.variable().Set(g.load()) }, func() { g.Store(g.own, g.mine(), g.value()) })
	case 13:
		if g.r.IntN(3) == 0 {
			l.BreakIf(g.cond())
		}
	case 14:
		g.take(g.ShflXor(g.value(), g.U32(0)))
		g.take(g.Ballot(g.cond()))
	case 15:
		g.take(g.AtomicAdd(g.own, g.mine(), g.value()))
	}
}

// TestOverlap: moving loads does not change results.
func TestOverlap(t *testing.T) {
	from, n := testenv.Seed(t, 0), testenv.Cases(t, 600, 50_000)
	moved := 0
	for seed := from; seed < from+n; seed++ {
		x, err := newTrial(seed)
		require.NoError(t, err)
		x.spec, x.opt.MaskByUnit = nil, false
		x.k, err = newUnrolled(seed)
		require.NoError(t, err)
		before := ""
		_, _, err = x.try()
		if err != nil {
			require.NoError(t, err, "seed %d: %s\n%s", seed, x.blame(), x.k.Text())
		}
		x.opt.After = func(pass string, k *ir.Kernel) {
			if pass == "overlap" && k.Text() != before {
				moved++
			}
			before = k.Text()
		}
		_, err = Compile(x.k, x.opt)
		require.NoError(t, err)
	}
	require.Greater(t, moved, int(n)/2)
}

// order is the order in which the body of a kernel's loop does some things, after overlap.
func order(t *testing.T, build func(b *ir.Builder, i ir.Value, l *ir.Loop)) (list []string) {
	b := ir.NewBuilder("order")
	b.Unrolled(2, b.U32(0), b.Param("n", ir.U32), b.U32(1), func(i ir.Value, l *ir.Loop) { build(b, i, l) })
	k, err := b.Build()
	require.NoError(t, err)
	_, err = Compile(k, Options{After: func(pass string, k *ir.Kernel) {
		if pass != "overlap" {
			return
		}
		k.Body.Walk(func(i *ir.Instr) {
			if i.Op.Memory() || i.Op == ir.OpBreak || i.Op == ir.OpBarrier {
				list = append(list, fmt.Sprint(i.Op))
			}
		})
	}})
	require.NoError(t, err)
	return list
}

// TestOverlapOrder: loads of read-only words pass stores and atomics, but stay behind the instructions on which they
// depend; other loads stay, and none passes a break or a barrier.
func TestOverlapOrder(t *testing.T) {
	push := func(k int, between func(b *ir.Builder, l *ir.Loop)) func(b *ir.Builder, i ir.Value, l *ir.Loop) {
		return func(b *ir.Builder, i ir.Value, l *ir.Loop) {
			for n := range 2 {
				id := b.Load(ir.U32, b.Array("ids"), b.Add(i, b.U32(uint32(n))))
				if k > 1 {
					id = b.Load(ir.U32, b.Array("to"), id)
				}
				if n > 0 && between != nil {
					between(b, l)
				}
				b.AtomicAdd(b.Array("sums"), id, b.U32(1))
			}
		}
	}
	const load, add, store = "load", "atomic_add", "store"
	require.Equal(t, []string{load, load, add, add}, order(t, push(1, nil)))
	require.Equal(t, []string{load, load, load, load, add, add}, order(t, push(2, nil)))
	written := push(1, func(b *ir.Builder, _ *ir.Loop) { b.Store(b.Array("ids"), b.LaneID(), b.U32(1)) })
	require.Equal(t, []string{load, add, load, store, add}, order(t, written))
	unknown := push(1, func(b *ir.Builder, _ *ir.Loop) { b.Store(b.Param("where", ir.U32), b.LaneID(), b.U32(1)) })
	require.Equal(t, []string{load, add, load, store, add}, order(t, unknown))
	breaks := func(b *ir.Builder, i ir.Value, l *ir.Loop) {
		for n := range 2 {
			x := b.Load(ir.U32, b.Array("ids"), b.Add(i, b.U32(uint32(n))))
			b.AtomicAdd(b.Array("sums"), x, b.U32(1))
			l.BreakIf(b.Eq(x, b.U32(7)))
		}
	}
	require.Equal(t, 1, slices.Index(order(t, breaks), add))
	scratch := func(b *ir.Builder, i ir.Value, _ *ir.Loop) {
		for n := range 2 {
			x := b.Load(ir.U32, b.Shared("s", 64), b.Add(b.And(i, b.U32(31)), b.U32(uint32(n))))
			b.Store(b.Shared("s", 64), x, x)
		}
	}
	require.Equal(t, []string{load, store, load, store}, order(t, scratch))
	barrier := func(b *ir.Builder, i ir.Value, _ *ir.Loop) {
		for n := range 2 {
			x := b.Load(ir.U32, b.Array("ids"), b.Add(i, b.U32(uint32(n))))
			b.Store(b.Array("to"), i, x)
			b.Barrier()
		}
	}
	require.Equal(t, []string{load, store, "barrier", load, store, "barrier"}, order(t, barrier))
}
