package documents_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSectors: lines have four sectors, as the silicon's README says, by how many elements of a chain each cache of an
// H200 holds at how many bytes between them. Four neighbours of 32 bytes share a line's room, as with sectors: 4.
func TestSectors(t *testing.T) {
	columns, rows := silicon(t, "h200-sectors.csv")
	require.Equal(t, []string{"cache", "stride", "elements", "cycles"}, columns)
	hit, most := map[string]float64{}, map[string]float64{} // of a cache: cycles of a hit; of a cache and stride: elements
	for _, row := range rows {
		elements, cycles := number(t, row[2]), number(t, row[3])
		if hit[row[0]] == 0 {
			hit[row[0]] = cycles
		}
		if cycles < 1.05*hit[row[0]] {
			most[row[0]+" "+row[1]] = max(most[row[0]+" "+row[1]], elements)
		}
	}
	for _, cache := range []string{"L1", "L2"} {
		apart := most[cache+" 128"] // each in a line of its own
		require.InEpsilon(t, 4, most[cache+" 32"]/apart, 0.2, cache)
		require.InEpsilon(t, 2, most[cache+" 64"]/apart, 0.2, cache)
		require.InEpsilon(t, 1, most[cache+" 256"]/apart, 0.2, cache)
	}
}
