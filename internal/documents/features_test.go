package documents_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFeatures computes what the guide says of features on an H200: how much faster feature-aware kernels are on a
// random graph, whose rows are alike, by the number of features; loads go past the L1, as on a P4.
func TestFeatures(t *testing.T) {
	columns, rows := silicon(t, "h200-features.csv")
	require.Equal(t, "graph vertices edges algorithm choices ms steps edges_handled differs features loads",
		strings.Join(columns, " "))
	ms := map[string]float64{}
	for _, r := range rows {
		if r[0] == "uniform" && r[10] == "cg" {
			ms[r[3]+r[4]+r[9]] = number(t, r[5])
		}
	}
	faster := func(algorithm string) string {
		var by []string
		for _, k := range []string{"2", "4", "8", "16", "32"} {
			by = append(by, fmt.Sprintf("%.1f", ms[algorithm+"NFA/NCD"+k]/ms[algorithm+"FA/NCD"+k]))
		}
		return strings.Join(by[:4], ", ") + " and " + by[4]
	}
	page, err := os.ReadFile("../../docs/guide/features.md")
	require.NoError(t, err)
	require.Contains(t, strings.Join(strings.Fields(string(page)), " "), fmt.Sprintf(
		"is %s times as fast (`lp`), or %s (`mmr`).", faster("lp"), faster("mmr")))
}
