package count

import "strconv"

// Level counts cycles times how many of something there are in them: what a Span counts for one, a Level does for
// several at once. The zero value is at none and has counted nothing.
type Level struct {
	counted uint64
	since   uint64
	n       uint64
}

// Set says how many there are in cycle now and in those that follow.
func (l *Level) Set(n int, now uint64) {
	if uint64(n) != l.n {
		l.Settle(now)
		l.n = uint64(n)
	}
}

// Add says how many more there are (fewer, if that is negative) from cycle now on.
func (l *Level) Add(more int, now uint64) {
	l.Settle(now)
	l.n += uint64(more)
}

// Settle counts the cycles before now. It comes before the count is read.
func (l *Level) Settle(now uint64) {
	l.counted += l.n * (now - l.since)
	l.since = now
}

// Count returns what was counted up to the last Settle or change.
func (l *Level) Count() uint64 { return l.counted }

// String returns the count, for messages.
func (l Level) String() string { return strconv.FormatUint(l.counted, 10) }

func (l *Level) add(o *Level) { l.counted += o.counted }
