package cmd

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
)

// again is a row of docs/results/hardware-vs-tuned-again.csv: a kernel that the study of hardware-vs-tuned found, on
// one of its graphs, simulated later.
type again struct{ machine, graph, algorithm, variant, workload, cycles string }

func agains(t *testing.T) (rows []again) {
	f, err := os.Open("../docs/results/hardware-vs-tuned-again.csv")
	require.NoError(t, err)
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"machine", "graph", "algorithm", "variant", "workload", "cycles"}, all[0])
	for _, r := range all[1:] {
		rows = append(rows, again{r[0], r[1], r[2], r[3], r[4], r[5]})
	}
	return rows
}

// TestAgain: rows of hardware-vs-tuned-again.csv are the cycles of the points that they name.
func TestAgain(t *testing.T) {
	testenv.NeedSlow(t, "it simulates recorded points again")
	var rows []again
	for _, r := range agains(t) { // the graph that is shipped, and its cheapest algorithm
		if r.graph == "facebook_combined" && r.algorithm == "pagerank" {
			rows = append(rows, r)
		}
	}
	for _, r := range testenv.Some(t, int(testenv.Seed(t, 1)), 3, rows) {
		dir := t.TempDir()
		file := filepath.Join(dir, "again.yaml")
		text := fmt.Sprintf("name: again\nmachine: %s\ngraph:\n  file: %s\n  clean: {symmetrise: true, "+
			"drop_duplicates: true, drop_self_loops: true, compact_ids: true}\n  weights: {from: random}\n"+
			"workload: {algorithm: %s, %s}\n",
			r.machine, r.graph, r.algorithm, r.workload)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		out, errs, code := heddle(t, "run", file, "--out", dir, "--json")
		require.Equal(t, exitOK, code, errs)
		var got struct {
			Points []struct{ Cycles uint64 }
		}
		require.NoError(t, json.Unmarshal([]byte(out), &got))
		require.Len(t, got.Points, 1)
		require.Equal(t, r.cycles, fmt.Sprint(got.Points[0].Cycles), "%+v", r)
	}
}

// againTable is the table of the page: best software's cycles over those of the best of each unit, and of vertex
// mapping, geometric means over problems. The papers' plain units were simulated on Vortex alone, and without
// unrolling.
func againTable(rows []again) string {
	type problem struct{ machine, graph, algorithm string }
	units := []string{"weaver-rows", "weaver-plain", "peg", "eghw-lines", "eghw-plain", "hwwl"}
	table := "| over the best software (geometric means) | problems | Weaver, rows | plain | GraphPEG | EGHW, lines | " +
		"plain | worklist | vertex |\n| --- | --: | --: | --: | --: | --: | --: | --: | --: |\n"
	for _, l := range []struct {
		name, machine, unroll, without string
	}{
		{"vortex-6c32w32t, `unroll: 1`", "vortex-6c32w32t", "unroll: 1", ""},
		{"vortex-6c32w32t, the faster of 1 and `auto`", "vortex-6c32w32t", "", ""},
		{"gpu-60sm", "gpu-60sm", "", ""},
		{"gpu-60sm, without `edge`", "gpu-60sm", "", "edge"},
	} {
		best := map[problem]map[string]float64{} // by problem: cycles of software, vertex and each unit
		for _, r := range rows {
			if !strings.HasPrefix(r.machine, l.machine) || !strings.Contains(r.workload, l.unroll) ||
				r.variant == l.without {
				continue
			}
			names := []string{"software", r.variant}
			for _, u := range units {
				if strings.HasPrefix(r.variant, u) {
					names = []string{u}
				}
			}
			p := problem{l.machine, r.graph, r.algorithm}
			if best[p] == nil {
				best[p] = map[string]float64{}
			}
			cycles, _ := strconv.ParseFloat(r.cycles, 64)
			for _, n := range names {
				if b := best[p][n]; b == 0 || cycles < b {
					best[p][n] = cycles
				}
			}
		}
		table += fmt.Sprintf("| %s | %d |", l.name, len(best))
		for _, of := range append(units, "vertex") {
			if l.unroll == "" && strings.HasSuffix(of, "-plain") {
				table += " – |"
				continue
			}
			logs := 0.0
			for _, b := range best {
				logs += math.Log(b["software"] / b[of])
			}
			table += fmt.Sprintf(" %.2f |", math.Exp(logs/float64(len(best))))
		}
		table += "\n"
	}
	return table
}

// TestAgainTable: the page has the table of the rows.
func TestAgainTable(t *testing.T) {
	page, err := os.ReadFile("../docs/results/hardware-vs-tuned.md")
	require.NoError(t, err)
	require.Contains(t, string(page), againTable(agains(t)))
}
