package heddle_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle"
)

func functional(t *testing.T) *heddle.Machine {
	cfg, err := heddle.LoadMachine("vortex-1c4w4t")
	require.NoError(t, err)
	m, err := heddle.NewFunctionalMachine(cfg, heddle.MachineOptions{})
	require.NoError(t, err)
	return m
}

func TestPlaceRefuses(t *testing.T) {
	m := functional(t)
	k := heddle.NewKernel("k")
	k.Store(k.Addr("a"), k.U32(0), k.Count("n"))
	c, err := heddle.CompileKernel(k, m)
	require.NoError(t, err)
	for says, x := range map[string]struct {
		arrays  map[string][]uint32
		numbers map[string]uint32
	}{
		"parameter a of kernel k: expected it among the arrays or among the numbers": {nil, map[string]uint32{"n": 1}},
		"parameter n of kernel k: expected it among the arrays or among the numbers": {map[string][]uint32{"a": {1}, "n": {1}}, map[string]uint32{"n": 1}},
	} {
		_, _, err := c.Place(m, x.arrays, x.numbers)
		require.EqualError(t, err, says)
	}
	bad := heddle.NewKernel("bad")
	bad.Add(bad.U32(1), bad.F32(1))
	_, err = heddle.CompileKernel(bad, nil)
	require.ErrorContains(t, err, "kernel_test.go:")
	unit := heddle.NewKernel("unit")
	unit.Unit("none.such")
	_, err = heddle.CompileKernel(unit, nil)
	require.ErrorContains(t, err, `"none.such" is no instruction of a graph unit`)
}

func TestRunRefuses(t *testing.T) {
	g, err := heddle.NewGraph(2, [][2]uint32{{0, 1}})
	require.NoError(t, err)
	for setting, says := range map[string]string{
		"algorithm=bfss":     "expected one of pagerank, bfs",
		"schedule=weaver":    "the schedule needs a machine whose cores have a Weaver",
		"kernel=handwritten": "trace, program, kernel and algorithms on features are for experiments",
		"algorithm=cc":       "cc needs both directions of every edge",
	} {
		_, err := heddle.Run(context.Background(), functional(t), g, setting)
		require.ErrorContains(t, err, says)
	}
	_, err = heddle.Run(context.Background(), functional(t), nil)
	require.ErrorContains(t, err, "there is no graph")
	_, err = heddle.NewGraph(2, [][2]uint32{{0, 2}})
	require.Error(t, err)
	_, err = heddle.NewGraph(-1, nil)
	require.Error(t, err)
}
