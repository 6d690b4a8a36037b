// Package count has the counters of statistics that are more than a sum of events: of cycles, which go on while a unit
// sleeps.
//
// A unit says in its cycle what holds from that cycle on: what it says again costs a comparison, and cycles that it
// sleeps through are like the last one that it did. Before its statistics are read it calls Settle for all of them.
// Time is the unit's own, in cycles that never go back: that of its clock, or its own count of them if it does not
// count between launches.
package count

import "strconv"

// Span counts the cycles in which something holds. The zero value holds nothing and has counted nothing.
type Span struct {
	counted uint64
	since   uint64
	holds   bool
}

// Set records whether it holds in cycle now and in those that follow.
func (s *Span) Set(holds bool, now uint64) {
	if holds != s.holds {
		s.Settle(now)
		s.since, s.holds = now, holds
	}
}

// Settle counts the cycles before now. It comes before the count is read.
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
