package compose

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/sim"
)

// TestTimeSwitchedOffAndOn: switched between time and none at any moment, within warps' requests to units too, they are
// right, and no law is broken.
func TestTimeSwitchedOffAndOn(t *testing.T) {
	graphs := tiny()
	first, step, all := share(t)
	for i, p := range All() {
		if i%step != first {
			continue
		}
		t.Run(p.Name(), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(uint64(i), 4))
			for name, g := range graphs {
				if !all && name != "skewed" {
					continue
				}
				a := sim.Alternation{Begin: 1 + r.Uint64N(60), Warm: r.Uint64N(30), Measure: 1 + r.Uint64N(60)}
				a.Period = 2*(a.Warm+a.Measure) + r.Uint64N(200)
				d := timed(t, p)
				d.SetAlternation(&a)
				check(t, p, d, name, g)
				require.NoError(t, d.Machine.CheckLaws(), "%+v", a)
			}
		})
	}
}
