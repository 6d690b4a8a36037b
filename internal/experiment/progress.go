package experiment

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"heddle/sim"
)

// Quiet observes nothing.
type Quiet struct{}

// Started, Running and Finished do nothing.
func (Quiet) Started(int, uint64)       {}
func (Quiet) Running(int, sim.Progress) {}
func (Quiet) Finished(Outcome)          {}

// status is how far a point is.
type status struct {
	started time.Time
	edges   uint64 // in all; 0: not known
	now     sim.Progress
}

// left estimates the time until the point is done.
func (s *status) left(at time.Time) (d time.Duration, ok bool) {
	if s.edges == 0 || s.now.Edges == 0 {
		return 0, false
	}
	spent := at.Sub(s.started)
	rest := float64(s.edges-min(s.edges, s.now.Edges)) / float64(s.now.Edges)
	return time.Duration(float64(spent) * rest).Round(time.Second), true
}

func (s *status) rate(at time.Time) float64 {
	if t := at.Sub(s.started).Seconds(); t > 0 {
		return float64(s.now.Cycle) / t / 1e3
	}
	return 0
}

// Heartbeat writes a line for every running point now and then, for pipes and logs.
type Heartbeat struct {
	points []Point
	all    *Forecast
	w      io.Writer
	start  time.Time
	stop   chan struct{}
	ended  sync.WaitGroup

	mu      sync.Mutex
	running map[int]*status
}

// NewHeartbeat starts it. Close ends it.
func NewHeartbeat(points []Point, all *Forecast, w io.Writer, every time.Duration) *Heartbeat {
	h := &Heartbeat{points: points, all: all, w: w, start: time.Now(), stop: make(chan struct{}), running: map[int]*status{}}
	h.ended.Add(1)
	go h.beat(every)
	return h
}

func (h *Heartbeat) beat(every time.Duration) {
	defer h.ended.Done()
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-h.stop:
			return
		case now := <-t.C:
			h.print(now)
		}
	}
}

func (h *Heartbeat) print(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.points {
		s := h.running[i]
		if s == nil {
			continue
		}
		eta := ""
		if d, ok := s.left(now); ok {
			eta = fmt.Sprintf(", %s of %s edges, about %v left", Thousands(s.now.Edges), Thousands(s.edges), d)
		}
		fmt.Fprintf(h.w, "%4.0f s  %s; %s: %s cycles, %.0f kcycles/s%s\n", now.Sub(h.start).Seconds(), h.all.text(now, h.points),
			Label(h.points[i].Axes), Thousands(s.now.Cycle), s.rate(now), eta)
	}
}

// Close ends the lines.
func (h *Heartbeat) Close() {
	close(h.stop)
	h.ended.Wait()
}

// Started is told of a point's beginning.
func (h *Heartbeat) Started(point int, edges uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := &status{started: time.Now(), edges: edges}
	h.running[point] = s
	h.all.begun(point, s)
}

// Resumed is told of a point that goes on.
func (h *Heartbeat) Resumed(point int, before time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all.resumed(h.running[point], before)
}

// Running is told how far a point is.
func (h *Heartbeat) Running(point int, p sim.Progress) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all.moved(h.running[point], p)
}

// Finished is told of a point's end.
func (h *Heartbeat) Finished(o Outcome) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.running, o.Point)
	h.all.over(&o)
}

// Bars draws a bar for every running point on a terminal.
type Bars struct {
	points []Point
	whole  *Forecast
	p      *mpb.Progress
	all    *mpb.Bar

	mu   sync.Mutex
	bars map[int]*bar
}

type bar struct {
	*mpb.Bar
	status
}

// NewBars starts drawing on a terminal.
func NewBars(points []Point, whole *Forecast, w io.Writer) *Bars {
	b := &Bars{points: points, whole: whole, p: mpb.New(mpb.WithOutput(w), mpb.WithWidth(40)), bars: map[int]*bar{}}
	b.all = b.p.AddBar(int64(len(points)), mpb.BarPriority(1<<30), mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return whole.text(time.Now(), points) })))
	b.all.SetCurrent(int64(whole.ended))
	return b
}

// Started adds a bar. A point that is run again has one already.
func (b *Bars) Started(point int, edges uint64) {
	b.drop(point)
	b.mu.Lock()
	defer b.mu.Unlock()
	n := &bar{status: status{started: time.Now(), edges: edges}}
	n.Bar = b.p.AddBar(int64(edges), mpb.BarPriority(point), mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name(Label(b.points[point].Axes)+" ")),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return b.tail(n) })))
	b.bars[point] = n
	b.whole.begun(point, &n.status)
}

// tail is the text behind a bar.
func (b *Bars) tail(n *bar) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	s := fmt.Sprintf("%s cycles, %.0f kcycles/s", Thousands(n.now.Cycle), n.rate(now))
	if d, ok := n.left(now); ok {
		s += fmt.Sprintf(", %v left", d)
	}
	return s
}

// Resumed is told of a point that goes on.
func (b *Bars) Resumed(point int, before time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.whole.resumed(&b.bars[point].status, before)
}

// Write writes lines above the bars.
func (b *Bars) Write(lines []byte) (int, error) { return b.p.Write(lines) }

// Running moves a bar. It stays short of its end, at which it would go away.
func (b *Bars) Running(point int, p sim.Progress) {
	b.mu.Lock()
	n := b.bars[point]
	b.whole.moved(&n.status, p)
	b.mu.Unlock()
	if n.edges > 0 {
		n.SetCurrent(int64(min(p.Edges, n.edges-1)))
	}
}

// Finished takes a bar away.
func (b *Bars) Finished(o Outcome) {
	b.drop(o.Point)
	b.whole.over(&o)
	b.all.Increment()
}

func (b *Bars) drop(point int) {
	b.mu.Lock()
	n := b.bars[point]
	delete(b.bars, point)
	b.mu.Unlock()
	if n != nil {
		n.Abort(true)
	}
}

// Close waits until all is drawn.
func (b *Bars) Close() {
	b.all.Abort(true)
	b.p.Wait()
}
