package direction

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPolicies(t *testing.T) {
	beamer := Thresholds{Alpha: 14, Beta: 24}
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
	} {
		p, err := ByName(c.policy)
		require.NoError(t, err)
		got := p.Next(&c.f, beamer)
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
