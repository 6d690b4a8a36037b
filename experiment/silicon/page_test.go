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

var update = flag.Bool("update", false, "write docs/results/silicon.md, silicon-own.md and their scatters from recorded cycles")

const results = "../../docs/results/"

// page is a page of docs/results: what the recorded times and the recorded cycles come to.
type page struct {
	file, times, cycles, scatter string
	variants                     []string
	head                         string
}

var pages = []page{
	{"silicon.md", "h100.csv", "cycles.csv", "scatter.svg", []string{"as is", "vertex not unrolled"},
		"The kernels on silicon were written apart from heddle's, after the same descriptions: " +
			"[silicon-own.md](silicon-own.md) has heddle's own.\n"},
	{"silicon-own.md", "h100-heddle.csv", "cycles-heddle.csv", "scatter-heddle.svg", []string{"heddle kernel export"},
		"The kernels on silicon are heddle's own, printed as CUDA from the representation that the simulated ones are " +
			"compiled\nfrom: the same program, source and weights on both sides. nvcc unrolls them.\n"},
}

// command makes a page, with graphs in graphs/; it takes hours.
func (p *page) command() string {
	variants := ""
	for _, v := range p.variants {
		variants += " --variant='" + v + "'"
	}
	return "heddle validate --silicon=docs/results/silicon/" + p.times +
		" --machine=vortex-6c32w32t --machine=gpu-60sm \\\n" +
		"      --config=full1024 --config=sm60 --config=sm6" + variants + " \\\n" +
		"      --graph=facebook --graph=wiki-Vote --cycles=docs/results/silicon/" + p.cycles + " \\\n" +
		"      --scatter=docs/results/silicon/" + p.scatter + " --markdown=docs/results/" + p.file
}

// against are the rows that it compares with.
func (p *page) against() (all []silicon.Against) {
	for _, v := range p.variants {
		for _, c := range []string{"full1024", "sm60", "sm6"} {
			all = append(all, silicon.Against{Variant: v, Config: c})
		}
	}
	return all
}

func TestPages(t *testing.T) {
	for i := range pages {
		p := &pages[i]
		t.Run(p.file, p.test)
	}
}

func (p *page) test(t *testing.T) {
	f, err := os.Open(results + "silicon/" + p.times)
	require.NoError(t, err)
	defer f.Close() //nolint:errcheck // read only
	c, err := silicon.Read("docs/results/silicon/"+p.times, f)
	require.NoError(t, err)
	recorded, err := os.ReadFile(results + "silicon/" + p.cycles)
	require.NoError(t, err)
	r := c.NewReport(cycles(t, recorded), p.against())
	require.Equal(t, string(recorded), string(r.Cycles()))
	var first []*silicon.Comparison
	for _, k := range r.Comparisons {
		if k.Unroll == "auto" && k.Against == p.against()[0] {
			first = append(first, k)
		}
	}
	picture, err := report.Draw(report.SiliconScatter(first), report.Style{}, report.SVG)
	require.NoError(t, err)
	text := r.Markdown(silicon.Head(p.command(), "silicon/"+p.times, silicon.MaxBlock) + "\n" + p.head +
		"\n![Scaled cycles over time on silicon](silicon/" + p.scatter + ")\n")
	for name, want := range map[string][]byte{p.file: text, "silicon/" + p.scatter: picture} {
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
