package report

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCausesKeepTheirColours: whatever else a report has, a cause has one colour, on the page and in files; no two have
// the same.
func TestCausesKeepTheirColours(t *testing.T) {
	for _, of := range []map[string]string{causeColours, stateColours} {
		seen := map[string]string{}
		for name, c := range of {
			require.Empty(t, seen[c], "%s and %s", name, seen[c])
			seen[c] = name
		}
	}
	point := func(values map[string]string) *Point {
		p := &Point{Verified: true, Stats: map[string]figure{}}
		for name, v := range values {
			p.Stats[name] = figure{Number: json.Number(v)}
		}
		return p
	}
	of := func(points ...*Point) map[string]string {
		out := map[string]string{}
		for _, f := range stacks(&Result{Points: points}) {
			for i := range f.Series {
				s := &f.Series[i]
				out[f.ID+" "+s.Name] = colour(i, s, stackPalette)
			}
		}
		return out
	}
	few := of(point(map[string]string{"core.scheduler.drained": "3", "core.scheduler.stall.ibuffer": "1",
		"core.shared_stalls.ibuffer": "2"}))
	more := of(point(map[string]string{"core.scheduler.issued": "9", "core.scheduler.stall.scoreboard.memory": "5",
		"core.scheduler.drained": "3", "core.scheduler.stall.ibuffer": "1", "core.scheduler.stall.barrier": "1"}))
	require.Len(t, few, 3)
	require.Equal(t, few["schedulers ibuffer"], few["shared ibuffer"])
	require.Equal(t, few["schedulers ibuffer"], more["schedulers ibuffer"])
	require.Equal(t, few["schedulers drained"], more["schedulers drained"])
}
