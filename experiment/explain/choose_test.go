package explain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment/explain"
	"heddle/experiment/store"
)

// stored are the points of two schedules on two graphs, the fourth of which has failed.
func stored() []store.Point {
	point := func(position, baseline int, schedule, graph string, cycles uint64) store.Point {
		return store.Point{Position: position, Baseline: baseline, Cycles: cycles, Verified: true, Axes: []store.Axis{
			{Key: "workload.schedule", Value: schedule}, {Key: "graph.file", Value: graph}}}
	}
	all := []store.Point{point(0, 0, "vertex", "data/road.el", 100), point(1, 0, "edge", "data/road.el", 50),
		point(2, 2, "vertex", "data/kron.el", 400), point(3, 2, "edge", "data/kron.el", 100),
		point(4, 0, "weaver", "data/road.el", 200), point(5, 2, "weaver", "data/kron.el", 10)}
	all[5].Verified, all[5].Failure = false, "wrong"
	return all
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		texts []string
		a, b  int // numbers from 1
		note  string
	}{
		{nil, 3, 4, ""},
		{[]string{"2"}, 1, 2, ""},
		{[]string{"5", "2"}, 5, 2, ""},
		{[]string{"edge"}, 3, 4, "2 pairs of points match; this one differs most"},
		{[]string{"vertex", "edge,road.el"}, 1, 2, ""},
		{[]string{"schedule=vertex", "workload.schedule=weaver"}, 1, 5, ""},
		{[]string{"edge,kron.el", "vertex"}, 4, 3, ""},
	} {
		a, b, note, err := explain.Choose(stored(), c.texts...)
		require.NoError(t, err, "%q", c.texts)
		require.Equal(t, []int{c.a, c.b}, []int{a.Position + 1, b.Position + 1}, "%q", c.texts)
		require.Equal(t, c.note, note, "%q", c.texts)
	}
	for _, c := range []struct {
		texts []string
		says  string
	}{
		{[]string{"7"}, "no point 7: expected 1..6, or settings such as schedule=edge"},
		{[]string{"twc"}, "no point has twc: expected the number of a point, or values of its axes"},
		{[]string{"1", "1"}, "1 and 1: expected points that differ, with results"},
		{[]string{"weaver,kron.el"}, "weaver,kron.el: expected points that differ, with results"},
	} {
		_, _, _, err := explain.Choose(stored(), c.texts...)
		require.ErrorContains(t, err, c.says)
	}
	_, _, _, err := explain.Choose(stored()[:1])
	require.ErrorContains(t, err, "fewer than two points have a result")

	none := stored()
	for i := range none {
		none[i].Baseline = -1
	}
	a, b, note, err := explain.Choose(none)
	require.NoError(t, err)
	require.Equal(t, []int{3, 2}, []int{a.Position + 1, b.Position + 1})
	require.Contains(t, note, "its slowest point and its fastest")
}

func TestIncompleteStatisticsAreAnError(t *testing.T) {
	a, b := explain.Pair(&stored()[0], &stored()[1])
	require.Equal(t, "schedule=vertex", a.Name)
	_, err := explain.Explain(a, b)
	require.ErrorContains(t, err, "point 1: no statistics core0.cycles")
}

// A difference between estimates that is smaller than their intervals is said to be so.
func TestADifferenceWithinIntervals(t *testing.T) {
	run := func(cycles uint64, half float64) *explain.Run {
		return &explain.Run{Point: 1, Cycles: cycles, Half: half, Stats: map[string]float64{"core0.cycles": float64(cycles),
			"core.cycles": float64(cycles), "device_cycles": float64(cycles), "core.scheduler.issued": 100,
			"core.scheduler.drained": float64(cycles) - 100}}
	}
	for half, within := range map[float64]bool{0: false, 20: false, 60: true} {
		e, err := explain.Explain(run(1000, half), run(900, half))
		require.NoError(t, err)
		require.Equal(t, "drained", e.Findings[0].Key)
		if within {
			require.Contains(t, e.Sentence(), "within the confidence intervals")
		} else {
			require.NotContains(t, e.Sentence(), "confidence")
		}
	}
}
