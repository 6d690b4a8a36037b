package cache

import "fmt"

// CheckInvariants returns an error if the counts of a cache at rest contradict each other.
func (c *Cache) CheckInvariants() error {
	s := c.Stats()
	misses := s.ReadMisses + s.AtomicMisses
	if c.spec.WritePolicy == Back {
		misses += s.WriteMisses
	}
	for _, l := range []struct {
		invariant string
		got, want uint64
	}{
		{"nothing is left in it", uint64(c.Pending()), 0},
		{"reads = hits + misses", s.Reads, s.ReadHits + s.ReadMisses},
		{"writes = hits + misses", s.Writes, s.WriteHits + s.WriteMisses},
		{"atomics = hits + misses + passed on", s.Atomics, s.AtomicHits + s.AtomicMisses + s.AtomicsPassed},
		{"fills = misses - merges", s.Fills, misses - s.Merges},
	} {
		if l.got != l.want {
			return fmt.Errorf("%s: invariant violated: %s: %d, %d", c.Name(), l.invariant, l.got, l.want)
		}
	}
	return nil
}

// Sent counts a cache's requests to the next level.
type Sent struct{ Reads, Writes, Atomics uint64 }

// Sent returns the counts of a cache at rest.
func (c *Cache) Sent() Sent {
	s := c.Stats()
	writes := s.Writes + s.WriteResends + s.AtomicWrites
	if c.spec.WritePolicy == Back {
		writes = s.Writebacks
	}
	return Sent{Reads: s.Fills - s.Pairs, Writes: writes, Atomics: s.AtomicsPassed}
}
