package codegen

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/kernels/ir"
)

// TestIntervals: an operation's result is in its interval, for arguments that are in theirs.
func TestIntervals(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	word := func() uint64 {
		edges := []uint64{0, 1, 2, 31, 63, 64, 1984, 1 << 31, maxWord - 6, maxWord}
		if r.IntN(2) == 0 {
			return edges[r.IntN(len(edges))]
		}
		return r.Uint64N(1 << r.IntN(33))
	}
	some := func() (x interval, in uint64) {
		a, b := word(), word()
		x = interval{min(a, b), max(a, b)}
		return x, x.lo + r.Uint64N(x.hi-x.lo+1)
	}
	narrow := 0
	for range 200_000 {
		op := []ir.Op{ir.OpAdd, ir.OpSub, ir.OpShl, ir.OpShr, ir.OpAnd, ir.OpOr}[r.IntN(6)]
		a, x := some()
		b, y := some()
		i := &ir.Instr{Op: op, Type: ir.U32, Args: []ir.Value{{Type: ir.U32}, {Type: ir.U32}}}
		got := uint64(i.Eval([3]uint32{uint32(x), uint32(y)}))
		said := arithmetic(op, a, b)
		require.True(t, said.lo <= got && got <= said.hi, "%s %v %v: %v, and %d %d give %d", op, a, b, said, x, y, got)
		if said != anything {
			narrow++
		}
	}
	require.Greater(t, narrow, 50_000)
}
