package sim

import (
	"context"
	"fmt"
	"strings"

	"heddle/components/accel"
	"heddle/components/clock"
	"heddle/components/core"
)

// stallAfter is the number of cycles without any action of a core, cache or memory after which the machine counts as
// stuck. The longest DRAM command of the slowest memory takes some ten thousand.
const stallAfter = 1_000_000

// checkEvery is the number of cycles between the watchdog's checks.
const checkEvery = 10_000

// StallError is the end of a run without progress, with the causes of all waits.
type StallError struct {
	Cycle  uint64
	Reason string
	Waits  []string
}

func (e *StallError) Error() string {
	return fmt.Sprintf("no progress at cycle %d: %s\n  %s", e.Cycle, e.Reason, strings.Join(e.Waits, "\n  "))
}

// CycleLimitError is the end of a run by the cycle limit, with the positions of the warps.
type CycleLimitError struct {
	Limit uint64
	Where []string
}

func (e *CycleLimitError) Error() string {
	return strings.Join(append([]string{fmt.Sprintf("cycle limit reached: %d cycles", e.Limit)}, e.Where...), "\n  ")
}

// EdgeLimitError is the end of a run by the limit on edges. Counts are complete to the last cycle.
type EdgeLimitError struct {
	Limit, Edges, Cycle uint64
}

func (e *EdgeLimitError) Error() string {
	return fmt.Sprintf("%d edges have been handled at cycle %d: the run was to end after %d", e.Edges, e.Cycle, e.Limit)
}

// edgesEvery is the number of cycles between the watchdog's checks of the edges handled.
const edgesEvery = 100

// watchdog ends runs that are interrupted, too long, or stuck. It only observes: cycles do not depend on it.
type watchdog struct {
	m        *Machine
	handle   clock.Handle
	limit    uint64          `checkpoint:"assembled"`
	bound    uint64          `checkpoint:"assembled"` // of the next launch's cycles; 0: none
	until    uint64          `checkpoint:"assembled"` // the cycle in which a launch exceeds its bound; 0: none
	edges    uint64          `checkpoint:"assembled"` // to end the run at; 0: never
	report   func(Progress)  `checkpoint:"assembled"`
	reported clock.Cycle     // the cycle of the last report
	ctx      context.Context `checkpoint:"assembled"` // of a launch
	err      error

	progress uint64 // progress of cores, caches and memory when it last changed
	moved    uint64 // the cycle of that look

	rest clock.Cycle // no core has work: the cycle of the next whole check, unless nothing is pending before; else 0
	way  way         // a link that had a value on it in the last whole check; nil: none
}

func (w *watchdog) join(m *Machine, opt Options) error {
	w.m, w.limit, w.edges, w.report = m, opt.MaxCycles, opt.MaxEdges, opt.Progress
	d, err := m.System.AddObserver("watchdog", corePeriod)
	if err != nil {
		return err
	}
	w.handle = d.Add(w)
	return nil
}

// arm starts looking at a launch that begins after a cycle.
func (w *watchdog) arm(ctx context.Context, began uint64) {
	w.ctx, w.err, w.until = ctx, nil, 0
	if w.bound > 0 {
		w.until = began + w.bound
	}
	w.moved = w.m.domain.Cycle()
	w.look()
}

// look makes the watchdog check in this cycle.
func (w *watchdog) look() {
	w.rest = 0
	w.handle.Wake()
}

// Tick checks, and sets the timer for the next check. Behind the end of all cores' programs, for the cycles that stores
// take to memory, a check is whether something is certainly pending.
func (w *watchdog) Tick(now clock.Cycle) bool {
	if now < w.rest && (w.m.Memory.Pending() > 0 || w.way != nil && w.way.Len() > 0) {
		w.handle.WakeAt(now + 1)
		return false
	}
	working, failed := w.observe(now)
	switch {
	case failed: // Run returns the error
		working = false
	case w.ctx.Err() != nil:
		w.err = w.ctx.Err()
	case w.limit > 0 && now >= w.limit && working:
		w.err = &CycleLimitError{w.limit, w.m.Where()}
	case w.until > 0 && now >= w.until && working:
		w.err = &BoundError{w.bound}
	case w.edges > 0 && working && w.m.Arch.Stats().Edges >= w.edges:
		w.err = &EdgeLimitError{w.edges, w.m.Arch.Stats().Edges, now}
	case now-w.moved >= stallAfter && (working || w.m.pending() > 0):
		what := "core, cache or memory has done anything"
		if w.m.tasks != nil {
			what = "task has committed, and the earliest has done nothing,"
		}
		w.err = w.m.stalled(fmt.Sprintf("no %s for %d cycles", what, now-w.moved))
	}
	draining := !working && !failed && w.m.pending() > 0 // stores, which no core waits for
	w.rest = 0
	if w.err != nil || !working && !draining { // a DRAM that refreshes would go on for ever
		w.m.System.Stop()
		return false
	}
	next := w.nextCheck(now)
	if draining {
		w.rest, w.way, next = next, w.m.filled(), now+1
	}
	w.handle.WakeAt(next)
	return false
}

// observe notes the progress up to this cycle. It reports whether a core has work, and whether one has failed.
func (w *watchdog) observe(now clock.Cycle) (working, failed bool) {
	progress := uint64(0)
	for _, c := range w.m.Cores {
		s := c.Counts()
		progress += s.Issued + s.Committed
		working = working || !c.Done()
		failed = failed || c.Err() != nil
	}
	if w.report != nil && (w.edges == 0 || now-w.reported >= checkEvery) {
		w.report(w.m.progress(now))
		w.reported = now
	}
	if t := w.m.tasks; t != nil {
		progress, working, failed = t.Progress(), !t.Done(), t.Err() != nil
	}
	for _, c := range w.m.Caches {
		progress += c.Progress(now)
	}
	for _, u := range w.m.functional {
		if u.Goes() { // memory may be estimated to take very long, which nothing counts
			w.moved = now
		}
	}
	if w.m.functional != nil {
		progress += w.m.Arch.Stats().WarpInstrs
	}
	if progress += w.m.Memory.Bytes(); progress != w.progress {
		w.progress, w.moved = progress, now
	}
	return working, failed
}

// nextCheck returns the cycle of the check after this one, which is no later than the ends of the run and the launch.
func (w *watchdog) nextCheck(now clock.Cycle) clock.Cycle {
	next := now + checkEvery
	if w.edges > 0 {
		next = now + edgesEvery
	}
	for _, end := range [...]uint64{w.limit, w.until} {
		if end > 0 {
			next = min(next, max(end, now+1))
		}
	}
	return next
}

// BoundError is the end of a launch that takes more cycles than Machine.Bound allows.
type BoundError struct{ Cycles uint64 }

func (e *BoundError) Error() string {
	return fmt.Sprintf("the launch takes more than %d cycles", e.Cycles)
}

// Bound makes launches end with a *BoundError if they take more than so many cycles; 0: however long they take.
func (m *Machine) Bound(cycles uint64) { m.watchdog.bound = cycles }

// Interrupt ends the run after the current instant, with an error. It is for use by observers.
func (m *Machine) Interrupt(err error) {
	m.watchdog.err = err
	m.System.Stop()
}

// watched is a core that makes the watchdog check when its program ends, so that the run ends, and the next launch
// begins, in that cycle and not at the next check.
type watched struct {
	*core.Core
	w    *watchdog
	ends bool
}

// Tick ticks the core.
func (c *watched) Tick(now clock.Cycle) bool {
	awake := c.Core.Tick(now)
	if !awake && (c.Done() || c.Err() != nil) {
		c.ends = true
		c.ClockHandle().Finish()
	}
	return awake
}

// Finish ends the core's cycle.
func (c *watched) Finish(now clock.Cycle) {
	c.Core.Finish(now)
	if c.ends {
		c.ends = false
		c.w.look()
	}
}

// pending returns the number of messages in caches and memory, and on their way there.
func (m *Machine) pending() int {
	n := m.Memory.Pending()
	for _, c := range m.Caches { // before the links, which hold nothing for a cache that trails
		n += c.Pending()
	}
	for _, l := range m.links {
		n += l.Len()
	}
	for _, u := range m.Units {
		if u, ok := u.(accel.MemoryUser); ok {
			n += u.Pending()
		}
	}
	return n
}

// filled returns a link with a value on it that both ends tick for; nil: there is none.
func (m *Machine) filled() way {
	for _, l := range m.links {
		if l.Len() > 0 && l.Trailing() == nil {
			return l
		}
	}
	return nil
}

// stalled is the error of a machine that is stuck.
func (m *Machine) stalled(reason string) error {
	return &StallError{Cycle: m.domain.Cycle(), Reason: reason, Waits: m.Waits()}
}

// Where returns for each core the next program counters of its warps, grouped by address.
func (m *Machine) Where() (out []string) {
	if m.tasks != nil {
		return m.tileWaits()
	}
	for _, c := range m.Cores {
		out = append(out, c.Where()...)
	}
	return out
}

// Waits describes the cause of every wait.
func (m *Machine) Waits() (out []string) {
	if m.tasks != nil {
		return m.tasks.Waits()
	}
	for _, c := range m.Cores {
		out = append(out, c.Waits()...)
	}
	for _, u := range m.Units {
		if text := u.Waits(); text != "" {
			out = append(out, text)
		}
	}
	if m.Control != nil && m.Control.Waits() != "" {
		out = append(out, m.Control.Waits())
	}
	for _, c := range m.Concentrators {
		out = append(out, c.Waits()...)
	}
	return append(out, m.Pending()...)
}

// Pending describes the contents of caches, of the links between units, and of memory.
func (m *Machine) Pending() (all []string) {
	for _, c := range m.Caches {
		all = append(all, c.Waits()...)
	}
	for _, l := range m.links {
		if n := l.Len(); n > 0 {
			all = append(all, fmt.Sprintf("%s: %d of %d slots taken", l.Name(), n, l.Capacity()))
		}
	}
	return append(all, m.Memory.Waits()...)
}
