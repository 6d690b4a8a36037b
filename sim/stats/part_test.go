package stats

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPartsComeBack packs random differences of trees, of all kinds of values, with their quotients' parts, and adds up
// two that follow each other.
func TestPartsComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 1))
	require.Nil(t, PackPart(nil).Tree())
	for range 300 {
		n, shape := 1+r.IntN(60), r.Uint64()
		draw := func() (tree Tree) {
			kinds := rand.New(rand.NewPCG(shape, 1))
			for i := range n {
				name, value := fmt.Sprintf("s%d", i), r.Uint64()>>(r.IntN(65))
				switch kinds.IntN(6) {
				case 0:
					tree = append(tree, Ratio(name, "", "Doc.", float64(value>>12),
						float64(r.Uint64()>>(12+r.IntN(53)))))
				case 1:
					tree = append(tree, Constant(name, "", "Doc.", r.NormFloat64()*float64(r.IntN(2))))
				case 2, 3:
					tree = append(tree, Count(name, "things", "Doc.", 0))
				default:
					tree = append(tree, Count(name, "things", "Doc.", value))
				}
			}
			return tree
		}
		first, second := draw(), draw()
		p := PackPart(first)
		require.Equal(t, n, p.Len())
		require.Equal(t, first, p.Tree())
		want := append(Tree(nil), first...)
		for i := range want {
			want[i] = want[i].Plus(second[i])
		}
		require.Equal(t, want, p.Plus(second).Tree())
		require.Equal(t, first.Since(second), PackPart(first.Since(second)).Tree())
	}
}

// TestPartsAreSmall: a part in which little happened is a small fraction of its tree.
func TestPartsAreSmall(t *testing.T) {
	var tree Tree
	for i := range 1000 {
		tree = append(tree, Count(fmt.Sprint("s", i), "", "", uint64(i%5/4)*100))
	}
	require.Less(t, testing.AllocsPerRun(10, func() { PackPart(tree) }), 10.0)
	require.Less(t, len(PackPart(tree).text), 1000)
}
