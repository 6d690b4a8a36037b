package reproduce_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/report/reproduce"
	"heddle/rtl/area"
)

// TestCosts: checks name energies, powers and hardware as they name statistics, and divide by numbers.
func TestCosts(t *testing.T) {
	l, err := config.ParseWith("e.yaml", []byte(`
name: cost
machine: vortex-1c4w4t-weaver
graph: {erdos_renyi: {vertices: 40, edges: 100}}
workload: {algorithm: bfs}
compare: {workload.schedule: [vertex, weaver]}
`), nil)
	require.NoError(t, err)
	points, err := experiment.Points(l, nil)
	require.NoError(t, err)
	r := &experiment.Runner{Points: points, Jobs: 1, Observer: experiment.Quiet{}}
	outcomes := r.Run(context.Background())
	list := reproduce.NewPoints(config.Described, &l.Value, points, outcomes)
	value := func(metric, per string) float64 {
		p := pack(config.Check{Quantity: config.Quantity{Metric: metric, Per: per, Measure: "value",
			Of: []string{"workload.schedule=weaver"}}, Reduce: "mean", Holds: ">= 0"})
		o, err := reproduce.Evaluate(p, config.Quick, list)
		require.NoError(t, err)
		return *o.Checks[0].Readings[0].Ours
	}
	require.Less(t, value("energy.low", ""), value("energy.total", ""))
	require.Less(t, value("energy.total", ""), value("energy.high", ""))
	require.Less(t, value("energy.dynamic", ""), value("energy.total", ""))
	require.InEpsilon(t, value("energy.total", "energy.power"), value("energy.dynamic", "energy.dynamic_power"), 1e-12,
		"seconds")
	require.InEpsilon(t, value("energy.total", "")/4, value("energy.total", "4"), 1e-12)

	bad := pack(config.Check{Quantity: config.Quantity{Metric: "cycles + energy.totl", Measure: "value"}, Holds: ">= 0"})
	_, err = reproduce.Evaluate(bad, config.Quick, list)
	require.ErrorContains(t, err, "no cost energy.totl: expected one of energy.total, ")
	t.Setenv("PATH", t.TempDir())
	units := pack(config.Check{Quantity: config.Quantity{Metric: "units.luts", Measure: "value"}, Holds: ">= 0"})
	_, err = reproduce.Evaluate(units, config.Quick, list)
	require.ErrorIs(t, err, area.ErrNoYosys)
}
