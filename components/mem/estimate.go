package mem

import "math/bits"

// What follows are the parts of which estimates of time are made: a Server serves requests in the order in which it is
// asked, a Calendar in the order of their cycles, and Entries are held by requests for as long as they need them.

// Server is a part that begins with one request in so many cycles, as an estimate sees it: the cycle from which it is
// free.
type Server uint64

// Take returns the cycle in which a request begins that comes at a cycle, and is followed by the next so many cycles
// later.
func (s *Server) Take(at, interval uint64) uint64 {
	at = max(at, uint64(*s))
	*s = Server(at + interval)
	return at
}

// Calendar is a part that begins with one request in so many cycles, as an estimate sees it. Requests do not come in
// the order of their cycles: it books them into spans of cycles, of which it remembers the last ones. Where in a span a
// request lies is known only as far as requests come in order.
type Calendar struct {
	booked [spans]uint64 // by slot: a span, counted from 1, and how many of its cycles are taken
	longer uint8         // log2 of a span's cycles, beyond spanShift
}

const (
	spans     = 64
	spanShift = 4  // log2 of a span's cycles, at least
	takenBits = 24 // of booked
)

// NewCalendar makes one whose requests keep it for up to so many cycles each.
func NewCalendar(longest uint64) (c Calendar) {
	if longest > 1<<spanShift {
		c.longer = uint8(bits.Len64(longest-1) - spanShift)
	}
	return c
}

// Take returns the cycle in which a request begins that comes at a cycle, and keeps the part for so many. One that
// comes further back than it remembers begins at once.
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

// Entries are the entries of a finite resource, as an estimate sees them: the cycles from which they are free, the
// first before all others, and each before those at twice its number.
type Entries []uint64

// First returns when the first is free.
func (p Entries) First() uint64 { return p[0] }

// Take takes the first, until a cycle.
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

// Last returns when all are free.
func (p Entries) Last() (at uint64) {
	for _, until := range p {
		at = max(at, until)
	}
	return at
}
