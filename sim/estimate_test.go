package sim_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
	"heddle/isa/micro"
	"heddle/sim"
)

// TestExecutionIsPacedByTime: the estimate that paces functional execution is close to the machine's cycles: for
// micro-programs, which stress one part each, within a few percent for one warp, and for cores full of warps within the
// effect of the queues and arbiters that it leaves out.
func TestExecutionIsPacedByTime(t *testing.T) {
	for _, c := range []struct {
		machine string
		most    float64 // cycles in time by those without, or the inverse
	}{{"vortex-rtl-w1", 1.25}, {"vortex-6c32w32t", 1.25}} {
		for i, name := range micro.Names() {
			if i%4 > 0 && c.machine != "vortex-rtl-w1" && testenv.Long(t) == 0 {
				continue // the larger machine takes its time
			}
			p, err := micro.Program(name, 10)
			require.NoError(t, err)
			cycles := func(run func(*sim.Machine) error) float64 {
				m := machine(t, load(t, c.machine))
				d := m.Cores[0].ClockHandle().Domain()
				before := d.After()
				require.NoError(t, run(m), name)
				return float64(d.After() - before)
			}
			timed := cycles(func(m *sim.Machine) error { _, err := m.Launch(context.Background(), p, 0); return err })
			without := cycles(func(m *sim.Machine) error {
				_,
					err := m.Execute(context.Background(), p, 0)
				return err
			})
			require.Less(t, max(timed/without, without/timed), c.most, "%s on %s: %.0f cycles, estimated %.0f", name,
				c.machine, timed, without)
		}
	}
}
