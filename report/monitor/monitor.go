package monitor

import (
	"context"
	"slices"
	"sync"
	"time"

	"heddle/sim"
)

// Hold determines when a machine pauses until a user resumes it.
type Hold struct {
	Start   bool // before its first cycle
	Failure bool // when its run has failed: it makes no progress, or its program or its result is wrong
	End     bool // when its run has ended, however
}

// Monitor shows the machines of a run of several points.
type Monitor struct {
	Patience time.Duration // how long a request waits for a machine that is between two launches
	Farewell time.Duration // how long an open page is given, when all is over, to hear of it

	name string
	hold Hold
	host *host

	mu      sync.Mutex
	total   int // points
	done    int
	failed  int
	cycles  uint64 // simulated by machines that have ended
	over    bool
	last    int // identity given
	running []*Machine
	ended   []ended
	polled  time.Time // when the page asked last
	end     sync.Once
	told    chan struct{} // closed when a page has been informed of the end
}

// ended is a machine whose run is over.
type ended struct {
	Label  string `json:"label"`
	Cycles uint64 `json:"cycles"` // of its clock
	Error  string `json:"error,omitempty"`
}

// keep is the number of entries shown.
const keep = 100

// New returns the monitor of that many points, some of which are done.
func New(name string, total, done int, hold Hold) *Monitor {
	return &Monitor{
		Patience: 10 * time.Second, Farewell: 2 * time.Second, name: name, total: total, done: done, hold: hold,
		host: newHost(), told: make(chan struct{}),
	}
}

// Machine is one that runs.
type Machine struct {
	desk
	of    *Monitor
	id    int
	label string
	edges uint64 // that it will handle; 0: not known
	begun time.Time
	m     *sim.Machine
	ctx   context.Context
	past  *history

	mu    sync.Mutex
	now   progress
	first uint64 // first simulated cycle: that of its checkpoint, if resumed
	known bool   // first is known
}

// progress is a machine's progress, as displayed.
type progress struct {
	ID        int     `json:"id"`
	Label     string  `json:"label"`
	State     string  `json:"state"`
	Cycle     uint64  `json:"cycle"`
	Instrs    uint64  `json:"warp_instrs"`
	Edges     uint64  `json:"edges"`
	AllEdges  uint64  `json:"all_edges"` // that will have been handled; 0: not known
	Launches  uint64  `json:"launches"`
	SuperStep int     `json:"super_step"` // from 1; 0: none has begun
	Seconds   float64 `json:"seconds"`
	Error     string  `json:"error,omitempty"`
}

// States of a machine.
const (
	running = "running"
	paused  = "paused"
	held    = "held" // its run is over, and it waits
)

// Begin shows a machine before its first launch. Its Launches must be called by this goroutine.
func (o *Monitor) Begin(ctx context.Context, label string, edges uint64, m *sim.Machine) *Machine {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last++
	s := &Machine{desk: newDesk(), of: o, id: o.last, label: label, edges: edges, begun: time.Now(), m: m, ctx: ctx}
	s.past = newHistory(m, s.begun)
	s.now = progress{ID: s.id, Label: label, AllEdges: edges}
	s.paused.Store(o.hold.Start)
	o.running = append(o.running, s)
	m.BeforeBatches(s.attend)
	return s
}

// attend is called by who simulates, before every batch.
func (s *Machine) attend() {
	s.publish("")
	s.past.look()
	s.serve(s.ctx)
}

// publish notes how far the machine is, for those who must not wait.
func (s *Machine) publish(failure string) {
	p, launches := s.m.Progress(), s.m.Launches()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Cycle, s.now.Instrs, s.now.Edges, s.now.Launches, s.now.Error = p.Cycle, p.WarpInstrs, p.Edges, launches,
		failure
	if !s.known {
		s.first, s.known = p.Cycle, true
	}
}

// simulated returns how many cycles the machine has simulated here.
func (s *Machine) simulated() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now.Cycle - s.first
}

// simulated returns how many cycles all machines have simulated here.
func (o *Monitor) simulated() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	sum := o.cycles
	for _, s := range o.running {
		sum += s.simulated()
	}
	return sum
}

// Step is the beginning of super-step n, from 1.
func (s *Machine) Step(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.SuperStep = n
}

// progress returns the machine's progress.
func (s *Machine) progress() progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.now
	p.Seconds = time.Since(s.begun).Seconds()
	if p.State == "" {
		p.State = running
		if s.paused.Load() {
			p.State = paused
		}
	}
	return p
}

// End ends the machine's run; err is its outcome.
func (s *Machine) End(err error) {
	failure := ""
	if err != nil {
		failure = err.Error()
	}
	s.publish(failure)
	s.past.record()
	if h := s.of.hold; h.End || h.Failure && err != nil {
		s.mu.Lock()
		s.now.State = held
		s.mu.Unlock()
		s.pause(true)
		s.serve(s.ctx)
	}
	close(s.gone)
	s.of.forget(s, failure)
}

func (o *Monitor) forget(s *Machine, failure string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cycles += s.simulated()
	o.running = slices.DeleteFunc(o.running, func(r *Machine) bool { return r == s })
	if len(o.ended) == keep {
		o.ended = o.ended[1:]
	}
	o.ended = append(o.ended, ended{s.label, s.progress().Cycle, failure})
}

// Finished counts a point that is over, with a machine or without.
func (o *Monitor) Finished(failed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.done++
	if failed {
		o.failed++
	}
}

// machine returns a running machine.
func (o *Monitor) machine(id int) *Machine {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.running {
		if s.id == id {
			return s
		}
	}
	return nil
}

// state is all that the page shows without asking a machine.
type state struct {
	Name     string     `json:"name"`
	Total    int        `json:"total"`
	Done     int        `json:"done"`
	Failed   int        `json:"failed"`
	Over     bool       `json:"over"`
	Machines []progress `json:"machines"`
	Ended    []ended    `json:"ended"` // the last one first
}

// state returns the state for the page, or for another client.
func (o *Monitor) state(page bool) state {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := state{Name: o.name, Total: o.total, Done: o.done, Failed: o.failed, Over: o.over, Machines: []progress{},
		Ended: append([]ended{}, o.ended...)}
	slices.Reverse(s.Ended)
	for _, m := range o.running {
		s.Machines = append(s.Machines, m.progress())
	}
	if page {
		o.polled = time.Now()
	}
	if page && o.over {
		o.end.Do(func() { close(o.told) })
	}
	return s
}

// conclude announces the end, and gives an open page, one that has polled recently, the time to receive it.
func (o *Monitor) conclude() {
	o.mu.Lock()
	o.over = true
	open := time.Since(o.polled) < o.Farewell+time.Second
	o.mu.Unlock()
	if open {
		select {
		case <-o.told:
		case <-time.After(o.Farewell):
		}
	}
}
