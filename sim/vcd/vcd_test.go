package vcd_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/sim/vcd"
)

func TestFile(t *testing.T) {
	e := vcd.NewEncoder([]vcd.Var{{"a.b.valid", 1}, {"a.b.pc", 32}, {"c.state", 0}, {"a.n", 3}})
	require.Equal(t, `$comment heddle $end
$timescale 1ns $end
$scope module a $end
$var wire 3 $ n [2:0] $end
$scope module b $end
$var wire 1 ! valid $end
$var wire 32 " pc [31:0] $end
$upscope $end
$upscope $end
$scope module c $end
$var string 1 # state $end
$upscope $end
$enddefinitions $end
`, string(e.Header("heddle", "1ns")))
	e.Number(0, 1)
	e.Number(1, 0x80000000)
	e.Text(2, "s0 init")
	e.Number(3, 5)
	require.Equal(t, "#7\n$dumpvars\n1!\nb10000000000000000000000000000000 \"\nss0_init #\nb101 $\n$end\n",
		string(e.Take(7)))
	e.Number(0, 1)
	e.Text(2, "s0 init")
	require.Empty(t, e.Take(8))
	e.Number(0, 0)
	require.Equal(t, "#9\n0!\n", string(e.Take(9)))
	require.PanicsWithValue(t, "BUG: vcd: a.n of 3 bits is to be 8", func() { e.Number(3, 8) })
}

// TestIDs: no two variables have one short name.
func TestIDs(t *testing.T) {
	vars := make([]vcd.Var, 20000)
	for i := range vars {
		vars[i] = vcd.Var{Name: fmt.Sprintf("v%d", i), Bits: 1}
	}
	e, seen := vcd.NewEncoder(vars), map[string]bool{}
	for i := range vars {
		e.Number(i, 1)
		b := e.Take(uint64(i))
		require.False(t, seen[string(b)])
		line := b[len(vcd.Time(uint64(i))):]
		seen[string(line)] = true
	}
	require.Len(t, seen, len(vars))
}
