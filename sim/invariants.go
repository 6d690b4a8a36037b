package sim

import (
	"errors"
	"fmt"
	"slices"

	"heddle/components/cache"
	"heddle/components/clock"
	"heddle/components/concentrator"
	"heddle/components/mem"
)

// auditor counts the messages between units independently, to check the units' counts. It only observes: cycles do not
// depend on it.
type auditor struct {
	sources []*source
	levels  []*audited
	broken  []error // invariants broken by messages
}

// audited is a unit that receives requests.
type audited struct {
	name     string
	received func() cache.Sent // by its own count; nil: memory
	wires    []*wire           // to it
}

// served returns the number of requests that a cache has received, in timed and functional execution.
func served(c *cache.Cache) cache.Sent {
	s, without := c.Stats(), c.Served()
	return cache.Sent{Reads: s.Reads + without.Reads, Writes: s.Writes + without.Writes,
		Atomics: s.Atomics + without.Atomics}
}

// passed returns the counts of requests that a concentrator has received and passed on.
func passed(c *concentrator.Concentrator) cache.Sent {
	s := c.Stats()
	return cache.Sent{Reads: s.Reads, Writes: s.Writes, Atomics: s.Atomics}
}

// source is a unit that sends requests: a core, to one of its caches, a graph unit, a concentrator, or a cache.
type source struct {
	name  string
	cache *cache.Cache                                       // nil: a core, a graph unit or a concentrator
	count func() uint64                                      // the sender's own count of these requests
	kinds func() (reads, writes, atomics uint64, known bool) // of a core's L1D: the same by kind
	line  uint32                                             // bytes
	wires []*wire
	fills map[uint32]bool // of a cache: lines in flight to it
}

// wire is the links of one port, and their traffic.
type wire struct {
	name string
	a    *auditor
	from *source
	req  *clock.Link[mem.Request]
	rsp  *clock.Link[mem.Response]
	sent [mem.NumOps]uint64
	open map[uint32]mem.Request // by tag: requests without an answer
}

// BrokenInvariant is an invariant that a run has broken: a bug of a unit, not of the program.
type BrokenInvariant struct{ Place, Invariant, Detail string }

func (e *BrokenInvariant) Error() string {
	return fmt.Sprintf("%s: invariant violated: %s: %s", e.Place, e.Invariant, e.Detail)
}

func (a *auditor) fail(place, invariant, format string, args ...any) {
	if len(a.broken) < maxBroken {
		a.broken = append(a.broken, &BrokenInvariant{place, invariant, fmt.Sprintf(format, args...)})
	}
}

// maxBroken is the number of broken invariants that are listed.
const maxBroken = 20

// watch makes the auditor observe a port.
func (a *auditor) watch(name string, from *source, to *audited, req *clock.Link[mem.Request],
	rsp *clock.Link[mem.Response]) {
	w := &wire{name: name, a: a, from: from, req: req, rsp: rsp, open: map[uint32]mem.Request{}}
	if len(from.wires) == 0 {
		a.sources = append(a.sources, from)
	}
	from.wires = append(from.wires, w)
	to.wires = append(to.wires, w)
	req.Observe(w.request)
	rsp.Observe(w.response)
}

func (w *wire) request(r *mem.Request) {
	w.sent[r.Op]++
	if r.Op == mem.Write {
		return
	}
	if before, ok := w.open[r.Tag]; ok {
		w.a.fail(w.name, allAnswered, "%s of 0x%08x has tag %d, and so has a %s that is not answered", r.Op, r.Addr,
			r.Tag, before.Op)
	}
	w.open[r.Tag] = *r
	if line := r.Addr / w.from.line; r.Op == mem.Read && w.from.fills != nil {
		if w.from.fills[line] {
			w.a.fail(w.from.name, oneFill, "line 0x%08x is asked for again before it has come", line*w.from.line)
		}
		w.from.fills[line] = true
	}
}

func (w *wire) response(r *mem.Response) {
	q, ok := w.open[r.Tag]
	if !ok {
		w.a.fail(w.name, allAnswered, "an answer with tag %d, which nothing asked for", r.Tag)
	}
	delete(w.open, r.Tag)
	if q.Op == mem.Read && w.from.fills != nil {
		delete(w.from.fills, q.Addr/w.from.line)
	}
}

// The invariants that messages obey.
const (
	allAnswered = "every request that asks for an answer gets one"
	allTaken    = "every message that enters a link leaves it"
	oneFill     = "a line has one fill under way"
	conserved   = "bytes sent by one level = bytes received by the next"
)

// check adds invariants that hold only at the end of a run.
func (a *auditor) check(m *Machine) []error {
	for _, l := range a.levels {
		for _, w := range l.wires {
			w.check()
		}
	}
	for _, s := range a.sources {
		a.sent(s)
	}
	for _, l := range a.levels {
		a.received(l, m.Memory)
	}
	return a.broken
}

func (w *wire) check() {
	if n := len(w.open); n > 0 {
		w.a.fail(w.name, allAnswered, "%d have none", n)
	}
	in, out := w.req.Traffic()
	back, taken := w.rsp.Traffic()
	if in != out || back != taken {
		w.a.fail(w.name, allTaken, "%d requests of %d, %d answers of %d", out, in, taken, back)
	}
}

// total sums the traffic of the wires, without fences and invalidations.
func total(wires []*wire) (s cache.Sent) {
	for _, w := range wires {
		s.Reads += w.sent[mem.Read]
		s.Writes += w.sent[mem.Write]
		s.Atomics += w.sent[mem.Atomic]
	}
	return s
}

// sent compares a sender's counts with the traffic of its wires.
func (a *auditor) sent(s *source) {
	wires := total(s.wires)
	if s.cache != nil {
		a.same(s, "sent", s.cache.Sent(), wires)
		return
	}
	if n := wires.Reads + wires.Writes + wires.Atomics; s.count() != n {
		a.fail(s.name, conserved, "it has sent %d requests, and on its wires were %d", s.count(), n)
	}
	if s.kinds == nil {
		return
	}
	if reads, writes, atomics, known := s.kinds(); known {
		a.same(s, "sent", cache.Sent{Reads: reads, Writes: writes, Atomics: atomics}, wires)
	}
}

// received compares a receiver's counts with the traffic of the wires to it.
func (a *auditor) received(l *audited, memory Memory) {
	to := &source{name: l.name, line: l.wires[0].from.line}
	if l.received != nil {
		a.same(to, "received", l.received(), total(l.wires))
		return
	}
	var got cache.Sent
	for _, s := range memory.Stats() {
		got.Reads += s.Reads
		got.Writes += s.Writes
	}
	want := total(l.wires)
	for _, w := range l.wires {
		want.Reads += w.sent[mem.Flush] // memory answers a fence as a read
	}
	to.line /= uint32(memory.Bursts())
	want.Reads, want.Writes = want.Reads*uint64(memory.Bursts()), want.Writes*uint64(memory.Bursts())
	a.same(to, "received", got, want)
}

// same records a difference between counts.
func (a *auditor) same(u *source, verb string, says, wires cache.Sent) {
	for _, k := range []struct {
		what        string
		says, wires uint64
	}{{"reads", says.Reads, wires.Reads}, {"writes", says.Writes, wires.Writes},
		{"atomics", says.Atomics, wires.Atomics}} {
		if k.says != k.wires {
			a.fail(u.name, conserved, "it has %s %s of %d bytes, and on the wires were %d", verb, k.what,
				k.says*uint64(u.line), k.wires*uint64(u.line))
		}
	}
}

// InvariantsError lists the invariants that a machine has broken.
type InvariantsError struct{ Broken []error }

func (e *InvariantsError) Error() string {
	return fmt.Sprintf("the simulator is wrong: please report this\n%v", errors.Join(e.Broken...))
}

// CheckInvariants returns an *InvariantsError if the runs so far have broken an invariant. Messages are checked with
// Options.Check only. It may be called after a run without an error.
func (m *Machine) CheckInvariants() error {
	if m.tasks != nil {
		return m.checkTiles()
	}
	var all []error
	for _, c := range m.Cores {
		all = append(all, c.CheckInvariants())
	}
	for _, c := range m.Caches {
		all = append(all, c.CheckInvariants())
	}
	for _, c := range m.Concentrators {
		all = append(all, c.CheckInvariants())
	}
	for _, u := range m.Units {
		all = append(all, u.CheckInvariants(m.domain.Cycle()))
	}
	all = append(all, m.checkBalance(), m.Memory.CheckInvariants())
	if m.auditor != nil {
		all = append(all, m.auditor.check(m)...)
	}
	all = slices.DeleteFunc(all, func(err error) bool { return err == nil })
	if len(all) == 0 {
		return nil
	}
	return &InvariantsError{all}
}
