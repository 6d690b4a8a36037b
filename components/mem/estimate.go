package mem

import "math/bits"

// Building blocks of time estimates: a Server serves requests in the order of calls, a Calendar in the order of their
// cycles, and Entries are occupied by requests for their duration.

// Server is the estimate of a part that begins one request per interval: its value is the first cycle in which it is
// free.
type Server uint64

// Take returns the cycle in which a request that arrives at cycle at begins. The next one begins at least interval
// cycles later.
func (s *Server) Take(at, interval uint64) uint64 {
	at = max(at, uint64(*s))
	*s = Server(at + interval)
	return at
}

// Calendar is the estimate of a part that begins one request per interval, for requests that do not come in the order
// of their cycles: it books them into spans of cycles, of which it remembers the last ones. The position within a span
// is exact only for requests that come in order.
type Calendar struct {
	booked [spans]uint64 // by slot: number of a span, counted from 1, and its occupied cycles
	longer uint8         // log2 of a span's cycles, beyond spanShift
}

const (
	spans     = 64
	spanShift = 4  // log2 of a span's cycles, at least
	takenBits = 24 // of booked
)

// NewCalendar returns a calendar for requests of up to longest cycles.
func NewCalendar(longest uint64) (c Calendar) {
	if longest > 1<<spanShift {
		c.longer = uint8(bits.Len64(longest-1) - spanShift)
	}
	return c
}

// Take returns the cycle in which a request that arrives at cycle at begins; it occupies the part for interval cycles.
// A request before the remembered spans begins at once.
func (c *Calendar) Take(at, interval uint64) uint64 {
	shift := (spanShift + c.longer) & 63
	for n := at>>shift + 1; ; n++ {
		b := &c.booked[n%spans]
		taken := uint64(0)
		switch span := *b >> takenBits; {
		case span > n:
			return at
		case span == n:
			if taken = *b & (1<<takenBits - 1); taken+interval > 1<<shift {
				continue
			}
		}
		*b = n<<takenBits | (taken + interval)
		return max(at, (n-1)<<shift+taken)
	}
}

// Entries is the estimate of a finite resource: the cycles in which its entries become free, as a binary heap.
type Entries []uint64

// First returns the cycle in which the first entry is free.
func (p Entries) First() uint64 { return p[0] }

// Take occupies the first free entry until a cycle.
func (p Entries) Take(until uint64) {
	i := 0
	for {
		next := 2*i + 1
		if next >= len(p) {
			break
		}
		if next+1 < len(p) && p[next+1] < p[next] {
			next++
		}
		if p[next] >= until {
			break
		}
		p[i] = p[next]
		i = next
	}
	p[i] = until
}

// Last returns the cycle in which all entries are free.
func (p Entries) Last() (at uint64) {
	for _, until := range p {
		at = max(at, until)
	}
	return at
}
