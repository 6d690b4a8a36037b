package silicon_test

import (
	"bytes"
	"encoding/csv"
	"flag"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment/silicon"
	"heddle/report"
)

var update = flag.Bool("update", false, "write docs/results/silicon.md and its scatter from recorded cycles")

const results = "../../docs/results/"

// pageCommand makes the page, with graphs in graphs/; it takes hours.
const pageCommand = `heddle validate --silicon=docs/results/silicon/h100.csv --machine=vortex-6c32w32t --machine=gpu-60sm \
      --unroll=auto --unroll=1 --config=full1024 --config=sm60 --config=sm6 --variant='as is' \
      --variant='vertex not unrolled' --cycles=docs/results/silicon/cycles.csv \
      --scatter=docs/results/silicon/scatter.svg --markdown=docs/results/silicon.md`

// pageAgainst are the rows that it compares with.
func pageAgainst() (all []silicon.Against) {
	for _, v := range []string{"as is", "vertex not unrolled"} {
		for _, c := range []string{"full1024", "sm60", "sm6"} {
			all = append(all, silicon.Against{Variant: v, Config: c})
		}
	}
	return all
}

// TestPage: docs/results/silicon.md is what the recorded times and the recorded cycles come to.
func TestPage(t *testing.T) {
	f, err := os.Open(results + "silicon/h100.csv")
	require.NoError(t, err)
	defer f.Close() //nolint:errcheck // read only
	c, err := silicon.Read("docs/results/silicon/h100.csv", f)
	require.NoError(t, err)
	recorded, err := os.ReadFile(results + "silicon/cycles.csv")
	require.NoError(t, err)
	r := c.NewReport(cycles(t, recorded), pageAgainst())
	require.Equal(t, string(recorded), string(r.Cycles()))
	var first []*silicon.Comparison
	for _, k := range r.Comparisons {
		if k.Unroll == "auto" && k.Against == pageAgainst()[0] {
			first = append(first, k)
		}
	}
	picture, err := report.Draw(report.SiliconScatter(first), report.Style{}, report.SVG)
	require.NoError(t, err)
	page := r.Markdown(silicon.Head(pageCommand, "silicon/h100.csv") +
		"\n![Scaled cycles over time on silicon](silicon/scatter.svg)\n")
	for name, want := range map[string][]byte{"silicon.md": page, "silicon/scatter.svg": picture} {
		if *update {
			require.NoError(t, os.WriteFile(results+name, want, 0o644))
		}
		got, err := os.ReadFile(results + name)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), "go test ./experiment/silicon -run Page -update writes it")
	}
}

// cycles reads what validate --cycles has written.
func cycles(t *testing.T, text []byte) (all []silicon.Simulated) {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	require.NoError(t, err)
	for _, r := range rows[1:] {
		var n [4]uint64
		for i := range n {
			n[i], err = strconv.ParseUint(r[5+i], 10, 64)
			require.NoError(t, err)
		}
		all = append(all, silicon.Simulated{
			What:   silicon.What{Machine: r[0], Unroll: r[1], Graph: r[2], Algorithm: r[3], Schedule: r[4]},
			Cycles: n[0], Overhead: int(n[1]), Launches: n[2], SuperSteps: n[3],
		})
	}
	return all
}
