package graphpeg

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/balance"
)

// TestTable holds the table's order of ready entries and its largest entry against a plain search, on random
// operations: small tables, large ones, and ones that grow beyond their size.
func TestTable(t *testing.T) {
	for _, size := range []int{1, 2, 24, smallTable, smallTable + 1, 100, 1024} {
		r := rand.New(rand.NewPCG(uint64(size), 7))
		table := newALWT(size)
		for range 3 {
			testTable(t, r, &table)
			table.clear()
		}
	}
}

func testTable(t *testing.T, r *rand.Rand, table *alwt) {
	var ready, fetching []int
	remove := func(i int) {
		ready = slices.DeleteFunc(ready, func(j int) bool { return j == i })
	}
	for n := range 4000 {
		switch r.IntN(8) {
		case 0, 1:
			if len(table.free) > 0 {
				fetching = append(fetching, table.allocate(uint32(n), 1))
			}
		case 2:
			if len(fetching) > 0 {
				k := r.IntN(len(fetching))
				i := fetching[k]
				fetching = slices.Delete(fetching, k, k+1)
				if start := uint32(n); r.IntN(4) == 0 {
					table.fill(i, start, start)
				} else {
					table.fill(i, start, start+1+r.Uint32N(20))
					ready = append(ready, i)
				}
			}
		case 3:
			if r.IntN(3) > 0 {
				break
			}
			table.insert(balance.Range{Base: uint32(n), Start: 5, End: 6 + r.Uint32N(50)})
			ready = append(ready, int(table.newest))
		case 4:
			if table.promote() {
				require.Equal(t, ready[0], table.fe)
				ready = ready[1:]
			}
		case 5, 6:
			if i := table.fe; i >= 0 {
				if e := &table.entries[i]; e.left() > 0 {
					table.request(1 + r.Uint32N(e.left()))
				} else {
					table.release(i)
				}
			}
		case 7:
			if i := table.largest(); i >= 0 {
				table.cut(i, 1+r.Uint32N(30))
				if table.entries[i].status == IVD {
					remove(i)
				}
			}
		}
		checkTable(t, table, ready)
	}
}

func checkTable(t *testing.T, table *alwt, ready []int) {
	best, most, edges := -1, uint32(0), uint64(0)
	for i := range table.entries {
		e := &table.entries[i]
		if e.status < RD {
			continue
		}
		edges += uint64(e.left())
		if e.left() > most {
			best, most = i, e.left()
		}
	}
	require.Equal(t, best, table.largest())
	require.Equal(t, edges, table.edges)
	var order []int
	for i := table.oldest; i >= 0; i = table.entries[i].newer {
		order = append(order, int(i))
	}
	require.Equal(t, len(ready), len(order))
	require.Equal(t, len(ready), table.count[RD])
	for k := range ready {
		require.Equal(t, ready[k], order[k])
	}
}
