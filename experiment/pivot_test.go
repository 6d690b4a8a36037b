package experiment_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
)

// Seeds are one cell, with the mean and its interval; means over graphs are geometric, and need whole columns.
func TestPivot(t *testing.T) {
	point := func(schedule, graph, seed string, value float64) experiment.Valued {
		return experiment.Valued{Value: value, Axes: []experiment.Setting{{Key: "workload.schedule", Value: schedule},
			{Key: "graph.file", Value: "data/" + graph + ".el"}, {Key: experiment.SeedKey, Value: seed}}}
	}
	points := []experiment.Valued{
		point("vertex", "road", "1", 1), point("vertex", "road", "2", 1),
		point("edge", "road", "1", 2), point("edge", "road", "2", 2.5),
		point("vertex", "kron", "1", 1), point("vertex", "kron", "2", 1),
		point("edge", "kron", "1", 10), point("edge", "kron", "2", math.NaN()),
		point("warp", "road", "1", 3),
	}
	p, err := experiment.NewPivot(points, "speedup", nil, nil)
	require.NoError(t, err)
	require.Equal(t, [][]string{{"vertex"}, {"edge"}, {"warp"}}, p.Columns)
	require.Equal(t, []string{"graph.file"}, p.RowKeys)
	require.InDelta(t, 2.25, p.Cells[0][1].Value, 1e-12)
	require.InDelta(t, 12.706*0.25, p.Cells[0][1].Half, 1e-2, "Student's t of two values")
	require.Equal(t, experiment.Cell{Value: 10, N: 1}, p.Cells[1][1])
	require.InDelta(t, math.Sqrt(22.5), p.Mean[1].Value, 1e-12)
	var b bytes.Buffer
	require.NoError(t, p.Write(&b, "markdown", map[string]string{"edge": "edges", "graph.file": "graph"}))
	require.Equal(t, `| graph | vertex | edges | warp |
| --- | ---: | ---: | ---: |
| road | 1.00 | 2.25 ± 3.18 | 3.00 |
| kron | 1.00 | 10.00 | – |
| geomean | 1.00 | 4.74 | – |
`, b.String())
	b.Reset()
	require.NoError(t, p.Write(&b, "latex", nil))
	require.Contains(t, b.String(), "{lS[table-format=1.2]S[table-format=2.2\\pm1.2]S[table-format=1.2]}")
	require.Contains(t, b.String(), "kron & 1.00 & 10.00 & {--} \\\\\n\\midrule\ngeomean")

	// Paired differences leave out the variation between seeds.
	for i, v := range []float64{100, 200, 97, 195} {
		points[i].Value = v
	}
	p, err = experiment.NewPivot(points[:4], "cycles", nil, nil)
	require.NoError(t, err)
	require.InDelta(t, 12.706*50, p.Cells[0][0].Half, 0.1)
	require.NoError(t, p.Pair(points[:4]))
	require.Equal(t, experiment.Cell{Value: 0, Half: 0, N: 2}, p.Cells[0][0])
	require.InDelta(t, -4, p.Cells[0][1].Value, 1e-12)
	require.InDelta(t, 12.706*1, p.Cells[0][1].Half, 1e-2)

	_, err = experiment.NewPivot(points, "speedup", []string{"schedule"}, []string{"seed"})
	require.ErrorContains(t, err, "a cell would have 2 points, which differ in graph.file: give it a place in --rows or "+
		"--columns, or choose points, as by --where graph.file=data/road.el")
	_, err = experiment.NewPivot(nil, "speedup", nil, nil)
	require.Error(t, err)
}
