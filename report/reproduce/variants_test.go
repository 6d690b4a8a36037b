package reproduce_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/report/reproduce"
)

// A baseline that lacks the other variant's own axes is the partner at each of their values. Conditions may name a
// variant's settings, or the variant.
func TestVariantsWithAxesOfTheirOwn(t *testing.T) {
	l, err := config.ParseWith("e.yaml", []byte(`
name: own
machine: vortex-1c4w4t
graph: {erdos_renyi: {vertices: 40, edges: 100}}
compare:
  - {name: vertex, schedule: vertex}
  - {name: weaver, schedule: weaver, sweep: {machine.core.weaver.table_latency: [10, 20]}}
sweep: {workload.algorithm.damping: [0.5, 0.85]}
`), nil)
	require.NoError(t, err)
	points, err := experiment.Points(l, nil)
	require.NoError(t, err)
	outcomes := make([]experiment.Outcome, len(points))
	for i := range outcomes {
		outcomes[i] = experiment.Outcome{Point: i, Verified: true, Cycles: []uint64{1000, 500, 250, 3000, 1000, 750}[i]}
	}
	list := reproduce.NewPoints(config.Described, &l.Value, points, outcomes)
	for _, c := range []struct {
		of, over string
		across   []string
		ours     float64
	}{
		{
			"workload.schedule=weaver",
			"workload.schedule=vertex",
			[]string{"workload.algorithm.damping", "machine.core.weaver.table_latency"},
			(2 + 4 + 3 + 4) / 4.0,
		},
		{"variant=weaver", "variant=vertex", []string{"workload.algorithm.damping", "machine.core.weaver.table_latency"}, (2 + 4 + 3 + 4) / 4.0},
	} {
		p := pack(config.Check{
			Quantity: config.Quantity{Of: []string{c.of}, Over: []string{c.over}, Across: c.across}, Reduce: "mean",
			Holds: ">= 1",
		})
		o, err := reproduce.Evaluate(p, config.Quick, list)
		require.NoError(t, err)
		require.NoError(t, reproduce.Check(p, config.Quick, list, true))
		require.InDelta(t, c.ours, *o.Checks[0].Readings[0].Ours, 1e-12)
	}
	p := pack(config.Check{
		Quantity: config.Quantity{
			Of: []string{"variant=weaver"}, Over: []string{"variant=vertex"}, Across: []string{"workload.algorithm.damping"},
		},
		Reduce: "mean", Holds: ">= 1",
	})
	_, err = reproduce.Evaluate(p, config.Quick, list)
	require.ErrorContains(t, err, "differ in machine.core.weaver.table_latency, which nothing here names")
	p = pack(config.Check{
		Quantity: config.Quantity{
			Of: []string{"variant=vertex"}, Over: []string{"variant=weaver"}, Across: []string{"workload.algorithm.damping"},
		},
		Reduce: "mean", Holds: ">= 1",
	})
	_, err = reproduce.Evaluate(p, config.Quick, list)
	require.ErrorContains(t, err, "more than one partner")
}
