package documents_test

import (
	"encoding/csv"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSectors computes what the silicon's README says of sectors: how many elements of a chain each cache of an H200
// holds, by the bytes between them. Four neighbours of 32 bytes share a line's room, as l1d.sectors and l2.sectors say.
func TestSectors(t *testing.T) {
	f, err := os.Open("../../docs/results/silicon/h200-sectors.csv")
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"cache", "stride", "elements", "cycles"}, rows[0])
	hit, most := map[string]float64{}, map[string]float64{} // of a cache: cycles of a hit; of a cache and stride: elements
	for _, row := range rows[1:] {
		elements, err := strconv.ParseFloat(row[2], 64)
		require.NoError(t, err)
		cycles, err := strconv.ParseFloat(row[3], 64)
		require.NoError(t, err)
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
