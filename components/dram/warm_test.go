package dram

import (
	"math/rand/v2"
	"testing"

	akita "github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"heddle/components/clock"
	"heddle/components/mem"
)

// TestWarmOpensRows: after any functional accesses, estimated or not, each bank has the row of its last access open,
// unless the policy closes rows, and each rank's count of open rows is right.
func TestWarmOpensRows(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 2))
		spec := preset(t, []string{"hbm2-2gbps", "ddr4-3200", "ideal"}[r.IntN(3)])
		spec.Mapping, spec.PagePolicy = Mapping(r.IntN(4)), PagePolicy(r.IntN(2))
		sys := clock.NewSystem("Clock", akita.NewSerialEngine())
		d, err := sys.AddDomain("dram", clock.Femto(spec.TCKps)*1000)
		require.NoError(t, err)
		m, err := NewMemory("Memory", spec, spec.LineBytes<<r.IntN(2), 1, d)
		require.NoError(t, err)
		want := map[[2]int]uint32{}
		for range 500 {
			addr, op := r.Uint32(), mem.Op(r.IntN(mem.NumOps))
			if a := (mem.Access{Op: op, Addr: addr, Wrote: true}); seed%2 == 0 {
				m.Warm(a, 0)
			} else {
				m.Touch(a)
			}
			for k := range m.bursts {
				if line := uint64(addr/m.line)*uint64(m.bursts) + uint64(k); !op.Flushes() &&
					spec.PagePolicy == OpenPage && spec.Standard != Ideal {
					at := m.mapper.Map(line)
					want[[2]int{at.Channel, at.Bank}] = at.Row
				}
			}
		}
		open := 0
		for c, ch := range m.channels {
			for b := range ch.state.banks {
				row, ok := want[[2]int{c, b}]
				if !ok {
					row = closedRow
				}
				require.Equal(t, row, ch.state.banks[b].row, "seed %d", seed)
			}
			for i := range ch.state.ranks {
				open += ch.state.ranks[i].open
			}
			require.Zero(t, ch.Stats(0).Reads+ch.Stats(0).Writes)
		}
		require.Equal(t, len(want), open)
	}
}
