package cmd

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExplain(t *testing.T) {
	someResults(t)
	out, errs, code := heddle(t, "explain", "a")
	require.Equal(t, exitOK, code, errs)
	lines := strings.Split(out, "\n")
	require.LessOrEqual(t, len(lines), 26)
	require.Contains(t, lines[0], "schedule=vertex")
	require.Contains(t, lines[1], "schedule=edge")
	require.Regexp(t, `(?m)^total +[0-9,]+ +[0-9,]+ `, out)

	var e struct {
		A, B struct {
			Point  int
			Cycles float64
		}
		Parts, Kernels []struct{ A, B, Difference float64 }
		Sentence       string
	}
	out, errs, code = heddle(t, "explain", "a", "3", "edge,damping=0.6", "--json")
	require.Equal(t, exitOK, code, errs)
	require.NoError(t, json.Unmarshal([]byte(out), &e))
	require.Equal(t, []int{3, 4}, []int{e.A.Point, e.B.Point})
	sum := 0.0
	for _, p := range e.Parts {
		sum += p.Difference
	}
	require.InDelta(t, e.B.Cycles-e.A.Cycles, sum, 1e-3)
	require.NotEmpty(t, e.Kernels)
	require.Contains(t, e.Sentence, "times as")

	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"c"}, "results/c/results.sqlite: no results"},
		{[]string{"a", "9"}, "a: no point 9: expected 1..4"},
		{[]string{"a", "1", "2", "3"}, "accepts between 1 and 3 arg(s)"},
	} {
		_, errs, code := heddle(t, append([]string{"explain"}, c.args...)...)
		require.Equal(t, exitUsage, code)
		require.Contains(t, errs, c.says)
	}
}
