package cache

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInvariantsCanBeBroken: each invariant, by a count that is wrong.
func TestInvariantsCanBeBroken(t *testing.T) {
	for says, fault := range map[string]func(*bank){
		"L1: invariant violated: reads = hits + misses: 2, 3":                      func(b *bank) { b.stats.ReadHits++ },
		"L1: invariant violated: writes = hits + misses: 1, 2":                     func(b *bank) { b.stats.WriteMisses++ },
		"L1: invariant violated: atomics = hits + misses + passed on: 1, 0":        func(b *bank) { b.stats.Atomics++ },
		"L1: invariant violated: fills = misses - merges: 2, 1":                    func(b *bank) { b.stats.Fills++ },
		"L1: invariant violated: fills = misses - merges: 1, 18446744073709551615": func(b *bank) { b.stats.Merges += 2 },
		"L1: invariant violated: nothing is left in it: 1, 0":                      func(b *bank) { b.mshr.allocate(&request{}) },
	} {
		m := one(t, nil, 10, read(pushed, 5, 1), read(199, 5, 2), write(300, 5))
		c := m.levels[0]
		require.NoError(t, c.CheckInvariants())
		fault(c.banks[0])
		require.EqualError(t, c.CheckInvariants(), says)
	}
}

// TestSent: by write policy.
func TestSent(t *testing.T) {
	for policy, want := range map[WritePolicy]Sent{Through: {Reads: 1, Writes: 2}, Back: {Reads: 1, Writes: 1}} {
		m := one(t, func(s *Spec) { s.WritePolicy = policy }, 10, read(pushed, 5, 1), write(300, 5), write(310, 5),
			flushAt(320, 2))
		require.Equal(t, want, m.levels[0].Sent(), "%v", policy)
	}
}
