package cache

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	akita "github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"heddle/components/clock"
	"heddle/components/mem"
	"heddle/internal/testenv"
)

// recorder is a next level that records its requests.
type recorder struct{ seen []mem.Request }

func (r *recorder) Warm(a mem.Access, at uint64) (taken, answered uint64) {
	r.seen = append(r.seen, mem.Request{Op: a.Op, Addr: a.Addr})
	return at, at
}

func (r *recorder) Touch(a mem.Access) { r.Warm(a, 0) }

// writes is a performer of atomics that write or do not.
type writes struct{ wrote bool }

func (w *writes) Perform(uint32) bool { return w.wrote }

// slow sends one request at a time through a cache, and answers for the next level.
type slow struct {
	clock.Base
	sys      *clock.System
	req      *clock.Link[mem.Request]
	rsp      *clock.Link[mem.Response]
	memory   []*clock.Link[mem.Request]
	answers  []*clock.Link[mem.Response]
	next     *mem.Request
	awaits   bool
	answered int
	seen     []mem.Request
}

func (s *slow) Tick(clock.Cycle) bool {
	if s.next != nil && !s.req.Full() {
		s.req.Push(*s.next)
		s.awaits, s.next = s.next.Op != mem.Write, nil
	}
	for i, l := range s.memory {
		for l.Ready() && !s.answers[i].Full() {
			r := l.Pop()
			s.seen = append(s.seen, mem.Request{Op: r.Op, Addr: r.Addr})
			if r.Op != mem.Write {
				s.answers[i].Push(mem.Response{Tag: r.Tag})
			}
		}
	}
	for s.rsp.Ready() {
		s.rsp.Pop()
		s.answered++
	}
	return s.next != nil
}

// do makes an access, and lets all that follows from it end.
func (s *slow) do(t *testing.T, r mem.Request) {
	s.next, s.answered, s.seen = &r, 0, nil
	s.ClockHandle().Wake()
	require.NoError(t, s.sys.Run())
	require.Equal(t, s.awaits, s.answered == 1)
}

func newSlow(t *testing.T, spec Spec) (*slow, *Cache) {
	sys := clock.NewSystem("Clock", akita.NewSerialEngine())
	d, err := sys.AddDomain("core", ns)
	require.NoError(t, err)
	s := &slow{Base: clock.NewBase("Slow"), sys: sys}
	s.Join(d, s)
	c, err := New("Cache", spec, d)
	require.NoError(t, err)
	s.req = clock.NewLink[mem.Request]("req", 2, 1, s.ClockHandle(), c.ClockHandle())
	s.rsp = clock.NewLink[mem.Response]("rsp", 2, 1, c.ClockHandle(), s.ClockHandle())
	c.ConnectPort(0, s.req, s.rsp)
	for i := range spec.MemoryPorts {
		out := clock.NewLink[mem.Request]("out", 2, 1, c.ClockHandle(), s.ClockHandle())
		in := clock.NewLink[mem.Response]("in", 2, 1, s.ClockHandle(), c.ClockHandle())
		c.ConnectMemory(i, out, in)
		s.memory, s.answers = append(s.memory, out), append(s.answers, in)
	}
	return s, c
}

// held describes a bank's lines, and the state that decides which of them is replaced next: marks of use by their order
// only, since a miss in time marks its line twice.
func (t *tags) held() string {
	text := fmt.Sprint(t.next, t.random)
	for i, line := range t.line {
		if line == invalid {
			continue
		}
		text += fmt.Sprintf(" %d:%x", i, line)
		if t.dirty != nil && t.dirty[i] {
			text += "*"
		}
		if t.used != nil {
			way := i / t.sectors
			set := t.used[way/t.ways*t.ways:][:t.ways]
			text += strings.Repeat("<", len(slices.DeleteFunc(slices.Clone(set),
				func(at uint64) bool { return at >= t.used[way] })))
		}
	}
	return text
}

// TestSectorsGoTogetherWithoutTime: a missing sector comes with its neighbour if a bank has asked for that last.
func TestSectorsGoTogetherWithoutTime(t *testing.T) {
	spec := DefaultSpec()
	spec.Sectors, spec.SectorPairs, spec.Banks, spec.Ways, spec.LineBytes = 2, true, 2, 2, 32
	spec.Bytes = 64 * spec.setBytes()
	_, warm := newSlow(t, spec)
	_, untimed := newSlow(t, spec)
	var next, after recorder
	warm.WarmInto(&next, new(writes))
	untimed.WarmInto(&after, new(writes))
	// 4 and 5 are in one bank, 6 and 7 in the other
	for _, line := range []uint32{4, 6, 5, 7, 8, 9, 8, 9, 13, 12, 20, 24, 21} {
		a := mem.Access{Op: mem.Read, Addr: line * 32}
		warm.Warm(a, 0)
		untimed.Touch(a)
	}
	var asked []uint32
	for _, q := range next.seen {
		asked = append(asked, q.Addr/32)
	}
	require.Equal(t, []uint32{4, 6, 8, 13, 20, 24, 21}, asked)
	require.Equal(t, next.seen, after.seen)
}

// TestWarmLeavesWhatTimeLeaves: after every one of random accesses, made one at a time, caches in which no time passes,
// estimated or not, hold the same lines as one in time, with the same ones dirty and the same one to go next, and have
// asked the next level for the same, in the same order.
func TestWarmLeavesWhatTimeLeaves(t *testing.T) {
	for seed := range testenv.Cases(t, 60, 1200) {
		r := rand.New(rand.NewPCG(seed, 1))
		spec := draw(r)
		spec.Ports, spec.Inputs, spec.SectorPairs = 1, nil, false // one after the other, no two go together
		for spec.Bytes = spec.setBytes(); spec.Bytes < 64 ||
			r.IntN(2) == 0 && spec.Bytes < 1<<16; spec.Bytes *= 2 {
		}
		s, timed := newSlow(t, spec)
		_, warm := newSlow(t, spec)
		_, untimed := newSlow(t, spec)
		var next, after recorder
		var atomic writes
		if r.IntN(2) == 0 {
			timed.PerformAtomics(&atomic, 1, r.IntN(2))
			warm.PerformAtomics(&atomic, 1, 1)
			untimed.PerformAtomics(&atomic, 1, 1)
		}
		warm.WarmInto(&next, &atomic)
		untimed.WarmInto(&after, &atomic)
		estimates := untimed.functional.estimate.text(len(untimed.banks))
		lines := uint32(1 + r.IntN(3*len(timed.banks)*len(timed.banks[0].tags.line)))
		for _, c := range [...]*Cache{timed, warm, untimed} {
			c.ReadOnly(lines/2*uint32(spec.LineBytes), uint64(lines/4*uint32(spec.LineBytes)))
			c.ReadOnly(uint32(spec.LineBytes), uint64(lines/4*uint32(spec.LineBytes)))
		}
		for n := range 200 {
			q := mem.Request{Addr: r.Uint32N(lines * uint32(spec.LineBytes)), Tag: uint32(n),
				Atomic: mem.MakeAtomicRef(1, 1)}
			switch k := r.IntN(100); {
			case k < 45 || !spec.WriteEnable && k < 97:
			case k < 75:
				q.Op = mem.Write
			case k < 97:
				q.Op = mem.Atomic
			case k < 98:
				q.Op = mem.Flush
			default:
				q.Op = mem.Invalidate
			}
			atomic.wrote = r.IntN(2) == 0
			s.do(t, q)
			next.seen, after.seen = nil, nil
			a := mem.Access{Op: q.Op, Addr: q.Addr, Wrote: atomic.wrote, Operations: 1}
			warm.Warm(a, 0)
			untimed.Touch(a)
			for i, b := range timed.banks {
				for _, c := range [...]*Cache{warm, untimed} {
					require.Equal(t, b.tags.held(), c.banks[i].tags.held(), "seed %d, access %d: %s %x", seed, n, q.Op,
						q.Addr)
				}
			}
			require.Equal(t, next.seen, after.seen)
			same(t, spec, q, s.seen, next.seen)
		}
		require.Equal(t, Stats{}, warm.Stats(), "nothing is counted")
		require.Equal(t, Stats{}, untimed.Stats(), "nothing is counted")
		require.Equal(t, estimates, untimed.functional.estimate.text(len(untimed.banks)), "nothing is estimated")
	}
}

// text describes all that estimates of later accesses depend on.
func (e *estimate) text(banks int) string {
	text := fmt.Sprint(e.walks, e.walked)
	for _, b := range e.banks[:banks] {
		text += fmt.Sprintf(" %+v %v %v %+v %v %+v", b.begins, b.mshrs, b.queue, *b.port, b.there, b.atomics)
	}
	return text
}

// same compares the requests of two caches to the next level; banks that walk in parallel do so in no order.
func same(t *testing.T, spec Spec, q mem.Request, timed, warm []mem.Request) {
	t.Helper()
	line := uint32(spec.LineBytes)
	for _, list := range [][]mem.Request{timed, warm} {
		for i := range list {
			if list[i].Addr = list[i].Addr / line * line; list[i].Op == mem.Flush {
				list[i].Addr = 0
			}
		}
	}
	require.ElementsMatch(t, timed, warm, "%s %x", q.Op, q.Addr)
	if !q.Op.Flushes() && len(timed) > 0 {
		require.Equal(t, timed[0], warm[0])
	}
}
