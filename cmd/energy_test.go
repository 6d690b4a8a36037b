package cmd

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"heddle/sim/energy"
)

// energyDoc is the output of heddle energy --json, as far as tests use it.
type energyDoc struct {
	Points []struct {
		Point, Baseline int
		Joules          energy.Range
		Interval        [2]float64 `json:"joules_ci95"`
		Watts           float64
		Delay           float64 `json:"energy_delay"`
		Parts           []energy.Share
		Ratio           *energy.Comparison
		Result          energy.Result
	}
}

// energyOf runs heddle energy --json.
func energyOf(t *testing.T, args ...string) (doc energyDoc) {
	t.Helper()
	out, errs, code := heddle(t, append([]string{"energy", "--json"}, args...)...)
	require.Equal(t, exitOK, code, errs)
	require.NoError(t, json.Unmarshal([]byte(out), &doc))
	return doc
}

func TestEnergy(t *testing.T) {
	someResults(t)
	all := energyOf(t, "a")
	require.Len(t, all.Points, 4)
	for _, p := range all.Points {
		sum := 0.0
		for _, part := range p.Parts {
			sum += part.Joules.Nominal
		}
		require.InEpsilon(t, p.Joules.Nominal, sum, 1e-9)
		require.InEpsilon(t, p.Joules.Nominal, p.Watts*p.Result.Seconds, 1e-9)
		require.InEpsilon(t, p.Delay, p.Joules.Nominal*p.Result.Seconds, 1e-9)
		require.Less(t, p.Joules.Low, p.Interval[0])
		require.Greater(t, p.Joules.High, p.Interval[1])
		require.Equal(t, p.Point == p.Baseline, p.Ratio == nil, "every variant has a ratio to its baseline")
		if p.Ratio != nil {
			base := all.Points[p.Baseline-1]
			require.InEpsilon(t, p.Joules.Nominal/base.Joules.Nominal, p.Ratio.Nominal, 1e-9)
			require.Less(t, p.Ratio.Interval[1]/p.Ratio.Interval[0], p.Interval[1]/p.Interval[0], "errors cancel")
		}
		for _, i := range p.Result.Items {
			require.NotEmpty(t, i.Source, i.Event)
		}
	}
	for _, args := range [][]string{{"a"}, {"a", "1"}, {"a", "vertex"}, {"a", "3", "edge,damping=0.6"}} {
		out, errs, code := heddle(t, append([]string{"energy", "--columns", "80"}, args...)...)
		require.Equal(t, exitOK, code, errs)
		for _, line := range strings.Split(out, "\n") {
			require.LessOrEqual(t, utf8.RuneCountInString(line), 80, line)
		}
		require.Contains(t, out, "vortex-45nm: 45 nm, 0.9 V, 1,000 MHz")
	}
}

// TestEnergyTable: a table of one's own replaces values, and its errors name file, line and key.
func TestEnergyTable(t *testing.T) {
	someResults(t)
	write := func(text string) { require.NoError(t, os.WriteFile("my.yaml", []byte(text), 0o644)) }
	const leak = "lines:\n  - {part: leakage, event: lanes, count: machine.chip, unit: mW, low: 1e6, nominal: 1e6, " +
		"high: 1e6, source: mine}\n"
	write("extends: vortex-45nm\n" + leak)
	was, is := energyOf(t, "a", "1").Points[0], energyOf(t, "a", "1", "--table", "my.yaml").Points[0]
	require.InDelta(t, 1000, is.Watts-was.Watts, 1, "a kilowatt more, less the leakage of lanes")
	for text, want := range map[string]string{
		"extends: vortex-45nm\n" + strings.Replace(leak, "low: 1e6", "low: -1", 1): "heddle: my.yaml:3:71: lines[0].low: expected",
		"extends: vortex-45nm\nlines:\n  - {part: A, event: e, count: l1d.raeds, low: 1, nominal: 1, high: 1, " +
			"source: s}\n": "no statistic l1d.raeds; did you mean l1d.reads?",
	} {
		write(text)
		_, errs, code := heddle(t, "energy", "a", "--table", "my.yaml")
		require.NotEqual(t, exitOK, code)
		require.Contains(t, errs, want)
	}
	for _, args := range [][2]string{{"9", "9: no further point"}, {"schedule=warp", "schedule=warp: no further point"}} {
		_, errs, code := heddle(t, "energy", "a", args[0])
		require.NotEqual(t, exitOK, code)
		require.Contains(t, errs, args[1])
	}
	_, errs, code := heddle(t, "energy", "a", "--table", "vortex-45")
	require.NotEqual(t, exitOK, code)
	require.Contains(t, errs, "did you mean vortex-45nm?")
}
