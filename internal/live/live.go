// Package live writes what a command says while it works, so that nobody waits for whoever reads it: a terminal may be
// stopped (Ctrl-S, a hung connection), and a pipe not read.
//
// Callers queue text, or change state of their own which a function of theirs turns into lines. One goroutine asks it
// and writes. It calls and writes under no lock, and no caller ever waits for a write.
package live

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"

	"heddle/internal/plain"
)

const (
	// refresh is the time between two drawings of a foot.
	refresh = 150 * time.Millisecond
	// patience is how long Close waits for what has been queued to be written.
	patience = 2 * time.Second
	// most bounds what is queued for a reader who does not read.
	most = 1 << 20
)

// Foot returns the lines that are kept at the foot of a terminal, for its size. Those that do not fit are cut.
type Foot func(now time.Time, rows, columns int) []string

// Beat returns lines that are written now and then where there is no terminal; "": none.
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
	lost   int // bytes that there was no room for

	drawn int // rows of the foot on the screen; the goroutine's own
}

// New returns a writer that also writes what beat says, every so often.
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

// IsTerminal reports whether a person reads what is written there.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// The size of a terminal that does not know its own.
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

// Write queues whole lines. It does not wait, and does not fail: of what nobody reads the newest is left out, which a
// line says once somebody does.
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

// Close writes what is queued and takes the foot away. It gives up after a while if nobody reads.
func (l *Writer) Close() {
	l.once.Do(func() { close(l.stop) })
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-l.ended:
	case <-t.C:
	}
}

func (l *Writer) run() {
	defer close(l.ended)
	defer l.ticks.Stop()
	for {
		select {
		case now := <-l.ticks.C:
			l.write(now, true)
		case <-l.wake:
			l.write(time.Now(), false)
		case <-l.stop:
			l.foot, l.beat = nil, nil
			l.write(time.Now(), false)
			return
		}
	}
}

// take returns what is queued.
func (l *Writer) take() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.queued
	if l.lost > 0 {
		b = fmt.Appendf(b, "heddle: warning: %d bytes of messages are left out here, since nobody read them\n", l.lost)
	}
	l.queued, l.lost = nil, 0
	return b
}

// write writes what is queued where the foot was, and the foot below it, in one piece. A foot is taken to have as many
// rows as lines: after a change of size a terminal may have broken these, and what then is left of them stays, rather
// than that something above is erased.
func (l *Writer) write(now time.Time, tick bool) {
	var b bytes.Buffer
	if l.drawn > 0 {
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
		_, _ = l.w.Write(b.Bytes()) // there is nobody to tell
	}
}

// narrow is how narrow a terminal may be to have a foot.
const narrow = 10

// fit cuts lines, and leaves out the first ones, so that neither the last column nor the last row is written to: either
// may move the screen.
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
