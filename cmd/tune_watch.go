package cmd

import (
	"fmt"
	"io"
	"sync"
	"time"

	"heddle/internal/experiment"
	"heddle/sim"
)

// tuneWatch says how far a search is, which does not know how many candidates it will try.
type tuneWatch struct {
	t        *tuning
	w        io.Writer
	terminal bool
	start    time.Time
	stop     chan struct{}
	ended    sync.WaitGroup

	mu        sync.Mutex
	running   map[int]uint64 // cycles of candidates
	simulated int
	best      experiment.Outcome // no cycles: there is none
}

// terminalBeat is the time between lines that replace each other.
const terminalBeat = 500 * time.Millisecond

func newTuneWatch(t *tuning, w io.Writer, every time.Duration) *tuneWatch {
	b := &tuneWatch{t: t, w: w, terminal: onTerminal(w), start: time.Now(), stop: make(chan struct{}), running: map[int]uint64{}}
	if b.terminal {
		every = terminalBeat
	}
	b.ended.Add(1)
	go b.beat(every)
	return b
}

func (b *tuneWatch) beat(every time.Duration) {
	defer b.ended.Done()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-b.stop:
			if b.terminal {
				fmt.Fprint(b.w, "\r\x1b[K")
			}
			return
		case now := <-tick.C:
			b.print(now)
		}
	}
}

func (b *tuneWatch) print(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	line := fmt.Sprintf("%4.0f s  %s: %d simulated", now.Sub(b.start).Seconds(), b.t.name, b.simulated)
	if b.best.Cycles > 0 {
		line += ", best " + experiment.Cycles(b.best.Cycles, b.best.Half) + " cycles"
	}
	most := uint64(0)
	for _, cycles := range b.running {
		most = max(most, cycles)
	}
	if len(b.running) > 0 {
		line += fmt.Sprintf("; %d running, at %s", len(b.running), experiment.Thousands(most))
	}
	if b.terminal {
		fmt.Fprintf(b.w, "\r\x1b[K%.79s", line)
		return
	}
	fmt.Fprintln(b.w, line)
}

// Close ends the lines.
func (b *tuneWatch) Close() {
	select {
	case <-b.stop:
	default:
		close(b.stop)
	}
	b.ended.Wait()
}

// Started is told of a candidate's beginning.
func (b *tuneWatch) Started(point int, _ uint64) { b.now(point, 0) }

// Resumed is told of a candidate that goes on from a checkpoint.
func (b *tuneWatch) Resumed(int, time.Duration) {}

// Running is told how far a candidate is.
func (b *tuneWatch) Running(point int, p sim.Progress) { b.now(point, p.Cycle) }

func (b *tuneWatch) now(point int, cycles uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running[point] = cycles
}

// Finished is told of a candidate's end.
func (b *tuneWatch) Finished(o experiment.Outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.running, o.Point)
	b.simulated++
	if o.Counts() && (b.best.Cycles == 0 || o.Cycles < b.best.Cycles) {
		b.best = o
	}
}
