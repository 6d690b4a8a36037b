package direction

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPolicies(t *testing.T) {
	rules := map[string]Thresholds{"hybrid": {14, 24, Beamer}, "sep": {14, 24, SEPGraph}}
	for _, c := range []struct {
		policy string
		f      Frontier
		want   Direction
	}{
		{"push", Frontier{Before: Pull}, Push},
		{"pull", Frontier{Before: Push}, Pull},
		{"hybrid", Frontier{Before: Push, Growing: true, Edges: 101, Unexplored: 1400}, Pull},
		{"hybrid", Frontier{Before: Push, Growing: true, Edges: 100, Unexplored: 1400}, Push},
		{"hybrid", Frontier{Before: Push, Edges: 1000, Unexplored: 1400}, Push}, // it shrinks
		{"hybrid", Frontier{Before: Pull, Vertices: 99, AllVertices: 2400}, Push},
		{"hybrid", Frontier{Before: Pull, Vertices: 100, AllVertices: 2400}, Pull},
		{"hybrid", Frontier{Before: Pull, Growing: true, Vertices: 9, AllVertices: 2400}, Pull},
		{"sep", Frontier{Before: Push, Edges: 101, Unpushed: 1400, Vertices: 1, AllVertices: 2400}, Pull}, // it shrinks
		{"sep", Frontier{Before: Push, Growing: true, Edges: 100, Unpushed: 1400}, Push},
		{"sep", Frontier{Before: Pull, Vertices: 101, AllVertices: 2400, Unpushed: 1400}, Pull},
		{"sep", Frontier{Before: Pull, Vertices: 100, AllVertices: 2400, Unpushed: 1400}, Push},
		{"sep", Frontier{Before: Pull, Vertices: 100, AllVertices: 2400, Edges: 101, Unpushed: 1400}, Pull},
		{"sep", Frontier{Before: Push, Edges: 1000, Unpushed: -1}, Push},
		{"sep", Frontier{First: true, Edges: 1000, Unpushed: 1000}, Push},
	} {
		p, err := ByName(strings.Replace(c.policy, "sep", "hybrid", 1))
		require.NoError(t, err)
		got := p.Next(&c.f, rules[c.policy])
		require.Equal(t, c.want, got, "%s %+v", c.policy, c.f)
		require.Contains(t, p.Uses, got)
	}
	_, err := ByName("sideways")
	require.ErrorContains(t, err, `no direction "sideways"`)
	require.Equal(t, "push", Push.String())
	require.Equal(t, "pull", Pull.String())
	for _, p := range Policies() {
		require.NotEmpty(t, p.Doc, p.Name)
	}
}
