package cmd

import (
	"fmt"
	"io"
	"sync"
	"time"

	"heddle/experiment"
	"heddle/internal/live"
	"heddle/sim"
)

// tuneWatch shows the progress of a search, whose number of candidates is unknown. It makes no calls while it is
// locked.
type tuneWatch struct {
	*live.Writer
	name  string
	start time.Time

	mu        sync.Mutex
	running   map[int]uint64 // cycles of running candidates
	simulated int
	best      experiment.Outcome // without cycles: none yet
}

func newTuneWatch(name string, w io.Writer, every time.Duration) *tuneWatch {
	b := &tuneWatch{name: name, start: time.Now(), running: map[int]uint64{}}
	if live.IsTerminal(w) {
		b.Writer = live.NewTerminal(w, func(now time.Time, _, _ int) []string { return []string{b.line(now)} })
	} else {
		b.Writer = live.New(w, every, func(now time.Time) string { return b.line(now) + "\n" })
	}
	return b
}

// line formats the progress of the search.
func (b *tuneWatch) line(now time.Time) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	line := fmt.Sprintf("%4.0f s  %s: %d simulated", now.Sub(b.start).Seconds(), b.name, b.simulated)
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
	return line
}

// Started records the start of a candidate.
func (b *tuneWatch) Started(point int, _ uint64) { b.now(point, 0) }

// Resumed does nothing: the progress of a search has no estimate of time.
func (b *tuneWatch) Resumed(int, time.Duration) {}

// Running records the progress of a candidate.
func (b *tuneWatch) Running(point int, p sim.Progress) { b.now(point, p.Cycle) }

func (b *tuneWatch) now(point int, cycles uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running[point] = cycles
}

// Finished records the end of a candidate.
func (b *tuneWatch) Finished(o experiment.Outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.running, o.Point)
	b.simulated++
	if o.Counts() && (b.best.Cycles == 0 || o.Cycles < b.best.Cycles) {
		b.best = o
	}
}
