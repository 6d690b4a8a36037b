package count

import "strconv"

// Level accumulates a number over cycles, as Span does for a condition. The zero value is at 0 and has counted nothing.
type Level struct {
	counted uint64
	since   uint64
	n       uint64
}

// Set sets the number from cycle now on.
func (l *Level) Set(n int, now uint64) {
	if uint64(n) != l.n {
		l.Settle(now)
		l.n = uint64(n)
	}
}

// Add changes the number by more, which may be negative, from cycle now on.
func (l *Level) Add(more int, now uint64) {
	l.Settle(now)
	l.n += uint64(more)
}

// Settle books the cycles before now. It must precede a read of the count.
func (l *Level) Settle(now uint64) {
	l.counted += l.n * (now - l.since)
	l.since = now
}

// Count returns the sum up to the last Settle or change.
func (l *Level) Count() uint64 { return l.counted }

// String returns the count, for messages.
func (l Level) String() string { return strconv.FormatUint(l.counted, 10) }

func (l *Level) add(o *Level) { l.counted += o.counted }
