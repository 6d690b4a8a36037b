package compose

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/kernels/host"
)

func TestBalance(t *testing.T) {
	s := host.Shape{Cores: 2, Warps: 2, Threads: 3}
	before := []uint64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
	require.Equal(t, Balance{}, balanceOf(before, before, s, 2))
	even := []uint64{3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3}
	require.Equal(t, Balance{1, 1, 1}, balanceOf(before, even, s, 2))
	one := []uint64{1, 1, 1, 1, 7, 1, 1, 1, 1, 1, 1, 1}
	require.Equal(t, Balance{12, 4, 2}, balanceOf(before, one, s, 2))
	require.Equal(t, Balance{4, 2, 1}, balanceOf(before, []uint64{5, 3, 1, 1, 1, 1, 3, 2, 2, 1, 2, 2}, s, 2))
	first := []uint64{1, 1, 7, 1, 1, 1, 1, 1, 1, 1, 1, 1}
	require.Equal(t, Balance{6, 2, 2}, balanceOf(before, first, s, 1), "of the first warp of each core")
}
