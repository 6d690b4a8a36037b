package cmd

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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
