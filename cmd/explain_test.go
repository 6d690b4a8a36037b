package cmd

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// checkWhatIf checks --whatif: it simulates the points with those settings, and its sums hold.
func checkWhatIf(t *testing.T) {
	t.Helper()
	type run struct {
		Name string
		A, B float64
	}
	var e struct {
		A, B   struct{ Cycles float64 }
		WhatIf struct {
			A, B    float64
			Changes []run
			All     run
		}
	}
	out, errs, code := heddle(t, "explain", "a", "1", "3", "--whatif", "--json")
	require.Equal(t, exitOK, code, errs)
	require.NoError(t, json.Unmarshal([]byte(out), &e))
	w := e.WhatIf
	require.Equal(t, []float64{e.A.Cycles, e.B.Cycles}, []float64{w.A, w.B}, "as it is")
	require.Len(t, w.Changes, 4)
	_, errs, code = heddle(t, "run", "./e.yaml", "--set", "name=free", "--set", "workload.launch_overhead=0")
	require.Equal(t, exitOK, code, errs)
	var free []struct{ Cycles float64 }
	require.NoError(t, json.Unmarshal([]byte(results(t, "list", "free", "--json")), &free))
	require.Equal(t, run{"launches cost nothing", free[0].Cycles, free[2].Cycles}, w.Changes[0])
	interaction := w.A - w.All.A
	for _, c := range w.Changes {
		interaction -= w.A - c.A
	}
	require.Less(t, w.All.A, w.Changes[0].A)
	out, errs, code = heddle(t, "explain", "a", "1", "3", "--whatif")
	require.Equal(t, exitOK, code, errs)
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		require.LessOrEqual(t, utf8.RuneCountInString(line), 80, line)
	}
	require.Regexp(t, `(?m)^all of these +[0-9,]+ +[0-9,]+ +−?[0-9,]+ +−?[0-9,]+$`, out)
	digits := strings.NewReplacer(",", "", "−", "-", "+", "").Replace(out)
	require.Regexp(t, fmt.Sprintf(`(?m)^interaction: saved +%.0f `, interaction), digits)
}

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

	checkWhatIf(t)

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
