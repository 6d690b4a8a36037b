package isa

import (
	"go/format"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLaneLoopsAreCurrent(t *testing.T) {
	want, err := format.Source([]byte(generateLaneLoops()))
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.WriteFile("lanes_gen.go", want, 0o644))
	}
	got, err := os.ReadFile("lanes_gen.go")
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "run go test ./isa -run LaneLoops -update")
}

func TestLaneLoopsEqualTheScalarFunction(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, row := range All() {
		f, ok := row.Sem.(IntOp)
		if !ok {
			continue
		}
		for n := range 33 {
			d, a, b := make([]uint32, n), make([]uint32, n), make([]uint32, n)
			for l := range a {
				a[l], b[l] = r.Uint32()>>(r.Uint32()&31), r.Uint32()>>(r.Uint32()&31)
			}
			row.Lanes()(d, a, b)
			for l := range d {
				require.Equal(t, f(a[l], b[l]), d[l], row.Name)
			}
		}
	}
}
