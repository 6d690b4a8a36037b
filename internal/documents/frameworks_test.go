package documents_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFrameworks computes what evidence.md says of the programs that stand for frameworks' own code: in how many pairs
// both ran on an H200, by which factor the times of their kernels differ in the median, and the geometric mean of ours
// over theirs.
func TestFrameworks(t *testing.T) {
	columns, rows := silicon(t, "h200-frameworks.csv")
	column := map[string]int{}
	for i, name := range columns {
		column[name] = i
	}
	field := func(row []string, name string) string { return row[column[name]] }
	point := func(row []string, code string) string {
		return strings.Join([]string{code, field(row, "graph"), field(row, "shrink"), field(row, "program")}, " ")
	}
	ours := map[string]float64{}
	for _, row := range rows {
		code, ok := strings.CutPrefix(field(row, "code"), "heddle as ")
		if !ok {
			continue
		}
		require.Contains(t, []string{"right", "paths beyond float32"}, field(row, "result"), "%v", row)
		code, outputs := strings.CutSuffix(code, " with outputs") // as recipe gunrock has it, but for BFS that pulls
		if key := point(row, code); outputs || ours[key] == 0 {
			ours[key] = number(t, field(row, "ms_kernels"))
		}
	}
	var factors []float64
	sum := 0.0
	for _, row := range rows {
		own, time := ours[point(row, field(row, "code"))], field(row, "ms_kernels")
		if own == 0 || time == "" || !asOurs(field(row, "code"), field(row, "program"), field(row, "graph"),
			field(row, "options")) {
			continue
		}
		ratio := math.Log(own / number(t, time))
		factors = append(factors, math.Exp(math.Abs(ratio)))
		sum += ratio
	}
	slices.Sort(factors)
	text, err := os.ReadFile("../../docs/results/evidence.md")
	require.NoError(t, err)
	require.Contains(t, string(text), fmt.Sprintf("Kernels of %d pairs, on chosen graphs: a median factor of %.2f, ours "+
		"%.2f of theirs", len(factors), factors[len(factors)/2], math.Exp(sum/float64(len(factors)))))
}

// asOurs reports whether a framework's program ran with the options that ours have: Gunrock's BFS changes direction but
// on the road network, and GraphIt's shortest paths have our buckets.
func asOurs(code, program, graph, options string) bool {
	road := graph == "road_usa"
	switch {
	case code == "Gunrock" && program == "bfs" && !road:
		return options == "direction-optimized idempotence"
	case code == "Gunrock":
		return options == ""
	case code == "UGF" && program == "sssp" && road:
		return options == "delta 13600"
	}
	return true
}
