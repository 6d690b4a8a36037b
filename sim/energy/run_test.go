package energy_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/isa/micro"
	"heddle/sim"
	"heddle/sim/energy"
)

// TestAsleepOrAwake: units that sleep and units that tick in every cycle take the same energy, by every table, and
// every part of the machine takes some.
func TestAsleepOrAwake(t *testing.T) {
	p, err := micro.Program("ld_rand", 5)
	require.NoError(t, err)
	l, err := configs.LoadMachine("vortex-6c32w32t", nil, []string{"sockets=2", "l1d.bytes=4KiB"})
	require.NoError(t, err)
	run := func(awake bool) *sim.Machine {
		m, err := sim.New(l.Value, sim.Options{Check: true})
		require.NoError(t, err)
		if awake {
			for _, c := range m.Cores {
				c.StayAwake()
			}
		}
		_, err = m.Run(context.Background(), p)
		require.NoError(t, err)
		return m
	}
	asleep, awake := run(false).Statistics(), run(true).Statistics()
	for _, name := range energy.Names() {
		table, err := energy.Load(name)
		require.NoError(t, err)
		a, err := table.Of(&l.Value, asleep)
		require.NoError(t, err)
		b, err := table.Of(&l.Value, awake)
		require.NoError(t, err)
		require.Equal(t, a, b)
		sum := energy.Range{}
		for _, part := range a.Parts() {
			idle := part.Part == "graph unit" || part.Part == "scratchpad" || part.Part == "L3"
			require.Equal(t, idle, part.Joules.Nominal == 0, part.Part)
			sum = sum.Plus(part.Joules)
		}
		require.InEpsilon(t, sum.Nominal, a.Total().Nominal, 1e-12)
	}
}
