// Package count provides statistics counters over cycles, which go on counting while a unit sleeps.
//
// A unit records changes in the cycle in which they happen: recording the same state again costs one comparison, and
// cycles that the unit sleeps through count like the last one that it ran. A unit must call Settle for all counters
// before its statistics are read. Time is the unit's own and never goes back: the cycles of its clock, or its own count
// if it does not count between launches.
package count

import "strconv"

// Span counts the cycles in which a condition holds. In the zero value it does not, and nothing has been counted.
type Span struct {
	counted uint64
	since   uint64
	holds   bool
}

// Set records whether the condition holds from cycle now on.
func (s *Span) Set(holds bool, now uint64) {
	if holds != s.holds {
		s.Settle(now)
		s.since, s.holds = now, holds
	}
}

// Settle books the cycles before now. It must precede a read of the count.
func (s *Span) Settle(now uint64) {
	if s.holds {
		s.counted += now - s.since
		s.since = now
	}
}

// Count returns the cycles counted up to the last Settle or change.
func (s *Span) Count() uint64 { return s.counted }

// String returns the count, for messages.
func (s Span) String() string { return strconv.FormatUint(s.counted, 10) }

func (s *Span) add(o *Span) { s.counted += o.counted }
