package experiment_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
)

func TestDiffering(t *testing.T) {
	p := func(kv ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i]] = kv[i+1]
		}
		return m
	}
	require.Empty(t, experiment.Differing(nil))
	require.Empty(t, experiment.Differing([]map[string]string{p("a", "1")}))
	require.Empty(t, experiment.Differing([]map[string]string{p("a", "1", "seed", "1"), p("a", "1", "seed", "2")}),
		"repetitions")
	require.Equal(t, []string{"a", "b", "c"},
		experiment.Differing([]map[string]string{p("b", "1", "c", "1"), p("b", "1", "c", "1"),
			p("a", "1", "b", "2", "d", "")})[:3], "absent ones differ")
	require.Equal(t, []string{"b"}, experiment.Differing([]map[string]string{p("a", "1", "b", ""), p("a", "1")}))
}
