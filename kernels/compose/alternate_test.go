package compose

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
	"heddle/sim"
)

// TestTimeSwitchedOffAndOn: switched between time and none at any moment, within warps' requests to units too, they are
// right, and no invariant is broken.
func TestTimeSwitchedOffAndOn(t *testing.T) {
	testenv.NeedSlow(t, "it simulates in turns")
	for i, p := range share(t, legal, thinned(covering, 64), 0) {
		t.Run(p.Name(), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(i), 4))
			for name, g := range onGraphs(t, i+1) {
				most := uint64(100) << r.IntN(4) // measuring reads all statistics, which takes long here
				a := sim.Alternation{Begin: 1 + r.Uint64N(most), Warm: r.Uint64N(most), Measure: 1 + r.Uint64N(most)}
				a.Period = 2*(a.Warm+a.Measure) + r.Uint64N(4*most)
				d := timed(t, p)
				d.SetAlternation(&a)
				check(t, p, d, name, g)
				require.NoError(t, d.Machine.CheckInvariants(), "%+v", a)
			}
		})
	}
}
