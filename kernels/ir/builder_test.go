package ir_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa"
	"heddle/isa/emu"
	"heddle/kernels/ir"
)

// TestErrors: an error in a kernel is reported with the position that built it.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		build func(b *ir.Builder)
		want  string
	}{
		{func(b *ir.Builder) { b.Add(b.I32(1), b.U32(1)) }, "argument 2 of add is u32: expected i32, as the one before"},
		{func(b *ir.Builder) { b.And(b.F32(1), b.F32(1)) }, "argument 1 of and is f32: expected i32, u32 or pred"},
		{func(b *ir.Builder) { b.If(b.I32(1), nil, nil) }, "argument 1 of if is i32: expected pred"},
		{func(b *ir.Builder) { b.Load(ir.Pred, b.U32(64), nil) }, "load of a pred"},
		{func(b *ir.Builder) { b.Load(ir.I32, b.I32(64), nil) }, "argument 1 of load is i32: expected u32"},
		{func(b *ir.Builder) { b.Var(b.I32(1)).Set(b.F32(1)) }, "set of a variable of type i32 to a value of type f32"},
		{func(b *ir.Builder) { b.Param("a", ir.I32); b.Param("a", ir.F32) }, "parameter a is f32, and was i32 before"},
		{func(b *ir.Builder) { b.Shared("s", 1<<20) }, "shared array s of 1048576 words: expected 1..16384"},
		{func(b *ir.Builder) { b.ToI32(b.U32(1)) }, "no conversion from u32 to i32"},
		{func(b *ir.Builder) { b.Add(nil, b.I32(1)) }, "argument 1 of add is nil"},
		{func(b *ir.Builder) {
			var x ir.Value
			b.If(b.Lt(b.LaneID(), b.U32(1)), func() { x = b.Add(b.LaneID(), b.LaneID()) }, nil)
			b.Add(x, x)
		}, "is not known here: it was computed in another block"},
		{func(b *ir.Builder) {
			b.If(b.Lt(b.LaneID(), b.U32(1)), func() { b.Barrier() }, nil)
		}, "barrier where only some lanes of a warp may be"},
		{func(b *ir.Builder) {
			b.If(b.Lt(b.LaneID(), b.U32(1)), func() {
				x := b.Add(b.WarpID(), b.U32(1))
				b.AllLanes(func() { b.Add(x, x) })
			}, nil)
		}, "is used in AllLanes, but was computed where only some lanes run"},
		{func(b *ir.Builder) {
			var l *ir.Loop
			b.Loop(func(x *ir.Loop) { l = x; x.BreakIf(b.Bool(true)) })
			l.BreakIf(b.Bool(true))
		}, "break_if of a loop that has ended"},
	} {
		b := ir.NewBuilder("test")
		c.build(b)
		_, err := b.Build()
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, err, "kernel test: builder_test.go:")
	}
}

// TestUniformity: varying values are marked in the text.
func TestUniformity(t *testing.T) {
	b := ir.NewBuilder("test")
	n, a := b.Param("n", ir.U32), b.Array("a")
	v := b.Var(b.U32(0))
	w := b.Var(b.U32(0))
	b.For(b.U32(0), n, b.U32(1), func(i ir.Value) {
		w.Set(b.Load(ir.U32, a, i))
		b.If(b.Lt(w.Get(), i), func() { b.Barrier() }, nil)
	})
	b.For(b.U32(0), b.Load(ir.U32, a, b.LaneID()), b.U32(1), func(i ir.Value) { v.Set(i) })
	b.Store(a, b.LaneID(), b.Add(v.Get(), w.Get()))
	k, err := b.Build()
	require.NoError(t, err)
	require.Equal(t, `kernel test
  param n u32 = word 0
  param a u32 = word 1 array
  var v0~, 0u
  var v1, 0u
  for 0u, n, 1u (%6)
    %7 u32 = index
    %8 u32 = load a, %7
    set v1, %8
    %10 u32 = get v1
    %11 pred = lt %10, %7
    if %11
     then:
      barrier
  %15 ~u32 = load a, lane_id
  for~ 0u, %15, 1u (%16)
    %17 u32 = index
    set v0~, %17
  %19 ~u32 = get v0~
  %20 u32 = get v1
  %21 ~u32 = add %19, %20
  store a, lane_id, %21
`, k.Text())
}

// TestControl: breaks and continues out of nested loops and conditions, all lanes, votes and shuffles, against a
// computation per lane.
func TestControl(t *testing.T) {
	b := ir.NewBuilder("test")
	out := b.Array("out")
	lane := b.LaneID()
	sum := b.Var(b.U32(0))
	b.For(b.U32(0), b.U32(10), b.U32(1), func(i ir.Value) {
		b.Loop(func(l *ir.Loop) {
			sum.Set(b.Add(sum.Get(), i))
			b.If(b.Lt(i, lane), func() { l.BreakIf(b.Gt(sum.Get(), b.U32(3))) }, nil)
			sum.Set(b.Add(sum.Get(), b.U32(1)))
			l.ContinueIf(b.Lt(sum.Get(), b.U32(5)))
			l.BreakIf(b.Bool(true))
		})
	})
	b.Store(out, b.GlobalThread(), sum.Get())
	b.If(b.Eq(lane, b.U32(2)), func() {
		b.AllLanes(func() {
			b.AtomicAdd(b.Address(out, b.U32(100)), nil, b.ShflXor(lane, b.U32(1)))
		})
	}, nil)
	k, err := b.Build()
	require.NoError(t, err)
	m := ir.Machine{Cores: 1, Warps: 2, Threads: 4, Mem: emu.NewMemory(), Args: 0x20000, MaxSteps: 10000}
	put(m.Mem, m.Args, 0x40000)
	_, err = ir.Run(k, m)
	require.NoError(t, err)
	for l := range uint32(4) {
		s := uint32(0)
		for i := range uint32(10) {
			for {
				s += i
				if i < l && s > 3 {
					break
				}
				if s++; s >= 5 {
					break
				}
			}
		}
		require.Equal(t, s, m.Mem.Load32(0x40000+4*l))
		require.Equal(t, s, m.Mem.Load32(0x40000+16+4*l))
	}
	require.EqualValues(t, 12, m.Mem.Load32(0x40000+400))
}

// TestDeadlockAndLimit: kernels that do not end are errors.
func TestDeadlockAndLimit(t *testing.T) {
	run := func(body func(b *ir.Builder)) error {
		b := ir.NewBuilder("test")
		body(b)
		k, err := b.Build()
		require.NoError(t, err)
		_, err = ir.Run(k, ir.Machine{Cores: 1, Warps: 2, Threads: 4, Mem: emu.NewMemory(), MaxSteps: 10000})
		return err
	}
	require.ErrorIs(t, run(func(b *ir.Builder) { b.Loop(func(*ir.Loop) { b.Fence() }) }), ir.ErrSteps)
	require.ErrorContains(t, run(func(b *ir.Builder) {
		b.If(b.Eq(b.WarpID(), b.U32(1)), func() { b.Barrier() }, nil)
	}), "deadlock: 1 of 2 warps wait at a barrier")
	require.ErrorContains(t, run(func(b *ir.Builder) { b.Load(ir.U32, b.U32(2), nil) }), "load of builder_test.go:")
	require.ErrorContains(t, run(func(b *ir.Builder) {
		b.If(b.Lt(b.LaneID(), b.U32(2)), func() { b.ShflDown(b.LaneID(), b.U32(1)) }, nil)
	}), "lane 1 takes the value of lane 2, which is off")
	require.ErrorContains(t, run(func(b *ir.Builder) { b.WeaverDecID() }), "this machine has no weaver unit")
	require.ErrorContains(t, run(func(b *ir.Builder) { b.ListPush(b.U32(1), b.U32(1)) }),
		"this machine has no peg unit")
	require.ErrorContains(t, run(func(b *ir.Builder) { b.EghwPush(b.U32(1)) }), "this machine has no eghw unit")
	require.ErrorContains(t, run(func(b *ir.Builder) {
		b.UseLists(worklist)
		b.ListVertices(b.U32(0), func(ir.Value) {})
	}), "this machine has no hwwl unit")
}

// TestLists: misuses of vertex-lists are refused, and which fields of an edge a kernel reads.
var worklist = ir.ListOps{Pop: "hwwl.pop", Push: "hwwl.push"}

func TestLists(t *testing.T) {
	b := ir.NewBuilder("test")
	b.Loop(func(l *ir.Loop) {
		b.ListEdges(b.U32(0), func(_, dst, _, _ ir.Value) { l.BreakIf(b.Eq(dst, b.U32(1))) })
	})
	_, err := b.Build()
	require.ErrorContains(t, err, "break_if of a loop that has ended")
	b = ir.NewBuilder("test")
	b.UseLists(worklist)
	b.ListEdges(b.U32(0), func(_, _, _, _ ir.Value) {})
	_, err = b.Build()
	require.ErrorContains(t, err, "list_edges of a unit whose lists hold vertices only")
	b = ir.NewBuilder("test")
	b.ListEdges(b.U32(0), func(src, _, weight, _ ir.Value) {
		b.If(b.Eq(b.LaneID(), b.U32(0)), func() { b.Store(src, nil, weight) }, nil)
	})
	b.ListEdges(b.U32(0), func(_, _, _, number ir.Value) { b.ListPush(number, b.U32(1)) })
	k, err := b.Build()
	require.NoError(t, err)
	require.EqualValues(t, 1<<isa.PegSrc|1<<isa.PegWt|1<<isa.PegIdx, k.Fields())
	b = ir.NewBuilder("test")
	b.ListEdges(b.U32(0), func(_, _, _, _ ir.Value) { b.Edge() })
	k, err = b.Build()
	require.NoError(t, err)
	require.EqualValues(t, 1<<isa.PegDst, k.Fields(), "a pop returns something")
	b = ir.NewBuilder("test")
	b.EghwEdges(func(_, other, weight ir.Value) { b.Store(other, nil, weight) })
	k, err = b.Build()
	require.NoError(t, err)
	require.EqualValues(t, 0b111, k.Fields(), "a pop returns the base")
}

// TestBlocks: a barrier is for a thread block, whose warps are those of a core that run the kernel or a part of them.
func TestBlocks(t *testing.T) {
	for _, c := range []struct {
		warps, block int
		says         string
	}{
		{6, 2, ""}, {6, 3, ""}, {4, 1, ""}, {6, 0, "deadlock: 2 of 6 warps"}, {6, 6, "deadlock: 2 of 6 warps"}, {3, 3, "deadlock: 2 of 3 warps"},
	} {
		b := ir.NewBuilder("blocks")
		b.Launch(c.warps, c.block)
		out := b.Array("out")
		b.AtomicAdd(out, nil, b.U32(1))
		b.If(b.Lt(b.WarpID(), b.U32(2)), func() { b.Barrier() }, nil) // the first two warps
		if c.block == 3 && c.warps == 6 {
			b.If(b.Eq(b.WarpID(), b.U32(2)), func() { b.Barrier() }, nil)
		}
		k, err := b.Build()
		require.NoError(t, err)
		m := ir.Machine{Cores: 2, Warps: 6, Threads: 4, Mem: emu.NewMemory(), Args: 0x100, MaxSteps: 10000}
		m.Mem.Store32(0x100, 0x200)
		_, err = ir.Run(k, m)
		if c.says != "" {
			require.ErrorContains(t, err, c.says)
			continue
		}
		require.NoError(t, err)
		require.EqualValues(t, 2*c.warps*4, m.Mem.Load32(0x200))
	}
	for _, c := range [][2]int{{0, 2}, {6, 4}, {2, 4}, {-1, 0}} {
		b := ir.NewBuilder("blocks")
		b.Launch(c[0], c[1])
		_, err := b.Build()
		require.ErrorContains(t, err, "expected a divisor")
	}
	b := ir.NewBuilder("blocks")
	b.Launch(4, 2)
	b.DeviceBarrier()
	_, err := b.Build()
	require.ErrorContains(t, err, "several thread blocks")
	k, err := func() (*ir.Kernel, error) {
		b := ir.NewBuilder("blocks")
		b.Launch(7, 0)
		return b.Build()
	}()
	require.NoError(t, err)
	_, err = ir.Run(k, ir.Machine{Cores: 1, Warps: 6, Threads: 4, Mem: emu.NewMemory()})
	require.ErrorContains(t, err, "for 7 warps of a core, and the machine has 6")
}

// TestBlockEdges: an edge that a thread block shares needs one of several warps, and all lanes.
func TestBlockEdges(t *testing.T) {
	build := func(block int, body func(b *ir.Builder)) error {
		b := ir.NewBuilder("k")
		b.Launch(4, block)
		body(b)
		_, err := b.Build()
		return err
	}
	edge := func(b *ir.Builder) { b.BlockEdge() }
	require.NoError(t, build(2, edge))
	for _, block := range []int{0, 1} {
		require.ErrorContains(t, build(block, edge), "expected 2 and more, and all lanes")
	}
	require.ErrorContains(t, build(2, func(b *ir.Builder) {
		b.If(b.Eq(b.LaneID(), b.U32(0)), b.BlockEdge, nil)
	}), "expected 2 and more, and all lanes")
}
