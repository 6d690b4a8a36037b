// Package live writes a command's progress without ever blocking on the reader: a terminal may be stopped (Ctrl-S, a
// hung connection), and a pipe not read.
//
// Callers queue text, or update state of their own that a callback turns into lines. A single goroutine calls it and
// writes. It does both without holding a lock, and no caller ever waits for a write.
package live

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"

	"heddle/internal/plain"
)

const (
	// refresh is the interval between redraws of a foot.
	refresh = 150 * time.Millisecond
	// patience is the time that Close waits for queued text to be written.
	patience = 2 * time.Second
	// most bounds the text queued for a reader that does not read.
	most = 1 << 20
)

// Foot returns the lines to keep at the foot of a terminal of that size. Lines that do not fit are cut.
type Foot func(now time.Time, rows, columns int) []string

// Beat returns lines that are written periodically if there is no terminal; "": none.
type Beat func(now time.Time) string

// Writer writes lines.
type Writer struct {
	w    io.Writer
	foot Foot // nil: none
	beat Beat // nil: none

	ticks       *time.Ticker
	wake        chan struct{} // text has been queued
	stop, ended chan struct{}
	once        sync.Once

	mu     sync.Mutex
	queued []byte
	lost   int // bytes dropped for lack of room

	drawn     int         // rows of the foot on the screen; used only by the goroutine
	abandoned atomic.Bool // Close has given up: nothing more is erased
}

// New returns a writer that also writes beat's lines at that interval.
func New(w io.Writer, every time.Duration, beat Beat) *Writer {
	return start(&Writer{w: w, beat: beat, ticks: time.NewTicker(every)})
}

// NewTerminal returns a writer to a terminal with a foot.
func NewTerminal(w io.Writer, foot Foot) *Writer {
	return start(&Writer{w: w, foot: foot, ticks: time.NewTicker(refresh)})
}

func start(l *Writer) *Writer {
	l.wake, l.stop, l.ended = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	go l.run()
	return l
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// The size of a terminal that does not report its own.
const usualRows, usualColumns = 24, 80

// Size returns the size of a terminal.
func Size(w io.Writer) (rows, columns int) {
	if f, ok := w.(interface{ Fd() uintptr }); ok {
		if columns, rows, err := term.GetSize(int(f.Fd())); err == nil && rows > 0 && columns > 0 {
			return rows, columns
		}
	}
	return usualRows, usualColumns
}

// Write queues whole lines. It neither waits nor fails: if the reader does not read, the newest text is dropped, and a
// line reports this once reading resumes.
func (l *Writer) Write(b []byte) (int, error) {
	l.mu.Lock()
	if len(l.queued)+len(b) > most {
		l.lost += len(b)
	} else {
		l.queued = append(l.queued, b...)
	}
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
	return len(b), nil
}

// Close writes the queued text and removes the foot. It gives up after a while if the reader does not read: the foot
// then stays, as other text may be below it by the time that the reader goes on.
func (l *Writer) Close() {
	l.once.Do(func() { close(l.stop) })
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-l.ended:
	case <-t.C:
		l.abandoned.Store(true)
	}
}

func (l *Writer) run() {
	defer close(l.ended)
	defer l.ticks.Stop()
	for !l.stopped() {
		select {
		case now := <-l.ticks.C:
			l.write(now, true)
		case <-l.wake:
			l.write(time.Now(), false)
		case <-l.stop:
		}
	}
	l.foot, l.beat = nil, nil
	l.write(time.Now(), false)
}

// stopped reports whether Close has been called. A tick may be due as well, after a write that took long: to draw the
// foot once more would leave it on the screen.
func (l *Writer) stopped() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}

// take returns the queued text.
func (l *Writer) take() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.queued
	if l.lost > 0 {
		b = fmt.Appendf(b, "heddle: warning: %d bytes of messages are left out here, since they were not read in time\n",
			l.lost)
	}
	l.queued, l.lost = nil, 0
	return b
}

// write writes the queued text in place of the foot, and the foot below it, in a single write. A foot is assumed to
// have as many rows as lines: after a change of size a terminal may have wrapped them, and the remains then stay on the
// screen rather than risk erasing text above.
func (l *Writer) write(now time.Time, tick bool) {
	var b bytes.Buffer
	if l.drawn > 0 && !l.abandoned.Load() {
		fmt.Fprintf(&b, "\r\x1b[%dA\x1b[J", l.drawn)
	}
	b.Write(l.take())
	if tick && l.beat != nil {
		b.WriteString(l.beat(now))
	}
	l.drawn = 0
	if l.foot != nil {
		rows, columns := Size(l.w)
		for _, line := range fit(l.foot(now, rows, columns), rows, columns) {
			b.WriteString(line + "\n")
			l.drawn++
		}
	}
	if b.Len() > 0 {
		_, _ = l.w.Write(b.Bytes()) // an error could not be reported
	}
}

// narrow is the minimum width of a terminal for a foot.
const narrow = 10

// fit cuts lines, and drops the first ones, so that neither the last column nor the last row is written to: either may
// scroll the screen.
func fit(lines []string, rows, columns int) []string {
	if columns < narrow {
		return nil
	}
	if most := max(0, rows-1); len(lines) > most {
		lines = lines[len(lines)-most:]
	}
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = strings.TrimRight(Cut(plain.Line(line), columns-1), " ")
	}
	return out
}

// Cut shortens a text to so many columns.
func Cut(s string, columns int) string { return text.Snip(s, max(0, columns), "…") }
