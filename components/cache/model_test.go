package cache

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/count"
	"heddle/components/mem"
	"heddle/components/queue"
	"heddle/internal/testenv"
)

// model is the specification of a FIFO bank: its response to operations in the order in which they
// were accepted. It knows no pipeline: sets are slices, waiters are maps.
type model struct {
	ways, sets int
	back, meet bool // write-back; performs atomics
	resend     bool // replayed writes go on again
	keeps      func(line uint32) bool
	dirty      map[uint32]bool
	performed  []uint32 // tags of atomics, in order
	passed     []uint32
	sectors    uint32              // lines of a slot
	set        map[uint32][]uint32 // slots of a set, 0: free, else group+1
	present    map[uint32]bool     // by line
	turn       map[uint32]int
	waiters    map[uint32][]mem.Request
	answers    []uint32
	asked      []uint32 // lines, in order
	writes     []uint32 // lines, in order
	stats      Stats
}

func newModel(s Spec) *model {
	return &model{
		ways: s.Ways, sets: s.Sets(), back: s.WritePolicy == Back, resend: s.WritePolicy == Through && s.ResendWrites,
		dirty: map[uint32]bool{}, sectors: uint32(s.sectors()), present: map[uint32]bool{},
		set: map[uint32][]uint32{}, turn: map[uint32]int{}, waiters: map[uint32][]mem.Request{},
	}
}

func (m *model) has(line uint32) bool { return m.present[line] }

// slots returns the set of a line's group.
func (m *model) slots(line uint32) []uint32 {
	key := line / m.sectors % uint32(m.sets)
	if m.set[key] == nil {
		m.set[key] = make([]uint32, m.ways)
	}
	return m.set[key]
}

func (m *model) request(line uint32, r mem.Request) {
	hit := m.has(line)
	_, outstanding := m.waiters[line]
	switch r.Op {
	case mem.Write:
		m.stats.Writes++
		m.stats.WriteHits += b2u(hit)
		m.stats.WriteMisses += b2u(!hit)
		if !m.back {
			m.writes = append(m.writes, line)
			if !hit && outstanding {
				m.waiters[line] = append(m.waiters[line], r)
			}
			return
		}
	case mem.Read:
		m.stats.Reads++
		m.stats.ReadHits += b2u(hit)
		m.stats.ReadMisses += b2u(!hit)
	case mem.Atomic:
		m.stats.Atomics++
		if !m.meet {
			m.pass(line, r)
			return
		}
		m.stats.AtomicHits += b2u(hit)
		m.stats.AtomicMisses += b2u(!hit)
	}
	switch {
	case hit:
		m.finish(line, r)
		return
	case outstanding:
		m.stats.Merges++
	default:
		m.asked = append(m.asked, line)
	}
	m.waiters[line] = append(m.waiters[line], r)
}

// finish does a request whose line is there.
func (m *model) finish(line uint32, r mem.Request) {
	switch r.Op {
	case mem.Read:
		m.answers = append(m.answers, r.Tag)
	case mem.Write:
		if m.back {
			m.dirty[line] = true
		}
	case mem.Atomic:
		m.performed = append(m.performed, r.Tag)
		m.stats.AtomicOps += uint64(r.Atomic.Operations())
		m.stats.AtomicWrites++
		if m.back {
			m.dirty[line] = true
		} else {
			m.writes = append(m.writes, line)
		}
	}
}

// pass throws the line out and sends the atomic on.
func (m *model) pass(line uint32, r mem.Request) {
	m.stats.AtomicsPassed++
	m.passed = append(m.passed, r.Tag)
	if m.has(line) {
		m.stats.Invalidations++
		m.leave(line)
		slots, group := m.slots(line), line/m.sectors
		for l := group * m.sectors; l < (group+1)*m.sectors; l++ {
			if m.present[l] {
				return
			}
		}
		slots[slices.Index(slots, group+1)] = 0
	}
}

// leave is a line's going.
func (m *model) leave(line uint32) {
	delete(m.present, line)
	if m.dirty[line] {
		m.stats.Writebacks++
		m.writes = append(m.writes, line)
		delete(m.dirty, line)
	}
}

// fill takes an answer with one line or two.
func (m *model) fill(lines ...uint32) {
	for _, line := range lines {
		m.install(line)
	}
	for _, line := range lines {
		m.replay(line)
	}
}

func (m *model) install(line uint32) {
	slots, group := m.slots(line), line/m.sectors
	if m.keeps(line) && !slices.Contains(slots, group+1) {
		key := group % uint32(m.sets)
		way := m.turn[key] % m.ways
		m.turn[key]++
		for i := range m.sectors {
			if old := slots[way]; old != 0 && m.present[(old-1)*m.sectors+i] {
				m.stats.Evictions++
				m.leave((old-1)*m.sectors + i)
			}
		}
		slots[way] = group + 1
	}
	if m.keeps(line) {
		m.present[line] = true
	}
	m.stats.Fills++
}

func (m *model) replay(line uint32) {
	for _, r := range m.waiters[line] {
		m.stats.Replays++
		if m.resend && r.Op == mem.Write {
			m.stats.WriteResends++
			m.writes = append(m.writes, line)
		}
		m.finish(line, r)
	}
	delete(m.waiters, line)
}

// performer performs atomics; references are tags, and all write.
type performer struct{ done []uint32 }

func (p *performer) Perform(ref uint32) bool {
	p.done = append(p.done, ref)
	return true
}

// fill is told to the model when the bank accepts it, and so are requests; but what
// was accepted just before a fill is decided before it.
func TestBankDoesWhatTheModelSays(t *testing.T) {
	pairs := 0
	for seed := range testenv.Cases(t, 400, 8000) {
		r := rand.New(rand.NewPCG(seed, 0))
		s := draw(r)
		s.Banks, s.MemoryPorts, s.Replacement = 1, 1, FIFO
		s.Bytes = s.setBytes() << r.IntN(3)
		line := uint32(s.LineBytes)
		b, m := newBank(&queue.Owner{Unit: "b"}, &s, 0), newModel(s)
		var answers, results, asked, along, writes, passed []uint32
		var due []mem.Request // reads and atomics in memory
		var place performer
		if m.meet = r.IntN(2) == 0; m.meet {
			b.atomics = atomics{performer: &place, interval: 1 + r.Uint64N(9), occupies: r.Uint64N(4)}
		}
		var next *request
		lines, tag := uint32(2+r.IntN(24)), uint32(0)
		some := span{r.Uint32N(lines), r.Uint32N(2 * lines)}
		b.readOnly = &[]span{some}
		m.keeps = func(at uint32) bool {
			return s.Keeps == All || s.Keeps == ReadOnly && some.from <= at && at < some.to
		}
		atomic := map[uint32]bool{}
		answered := func(tag uint32) {
			if atomic[tag] {
				results = append(results, tag)
			} else {
				answers = append(answers, tag)
			}
		}
		sent := func(q *mem.Request) {
			switch q.Op {
			case mem.Read:
				asked, due = append(asked, q.Addr/line), append(due, *q)
				b.mshr.left(int16(q.Tag))
				if b.mshr.entries[q.Tag].pair != alone {
					along = append(along, q.Addr/line^1)
				}
			case mem.Atomic:
				passed, due = append(passed, q.Atomic.Name()), append(due, *q)
			default:
				writes = append(writes, q.Addr/line)
			}
		}
		busy, leave, pick := 1+r.IntN(4), 1+r.IntN(3), 0
		for now := uint64(0); now < 1500 || b.mshr.used > 0 || next != nil || !b.idle(); now++ {
			require.Less(t, now, uint64(20000), "seed %d: stuck", seed)
			if next == nil && now < 1500 && r.IntN(busy) == 0 {
				at := r.Uint32N(lines)
				op := [...]mem.Op{mem.Read, mem.Read, mem.Read, mem.Write, mem.Write, mem.Atomic}[r.IntN(6)]
				next = &request{line: at, mem: mem.Request{Addr: at * line, Tag: tag, Op: op,
					Atomic: mem.MakeAtomicRef(tag, 1+r.IntN(4))}}
				atomic[tag] = op == mem.Atomic
				tag++
			}
			second := b.second // of the answer that is offered
			if second == none {
				pick, b.in.fill = 0, none
				if len(due) > 0 && r.IntN(8) == 0 {
					pick = r.IntN(len(due))
					b.in.fill = int16(due[pick].Tag)
				}
			}
			out := b.step(now, next)
			b.finish()
			require.False(t, out.has(tookRequest) && out.has(tookFill), "one operation a cycle")
			if out.has(tookRequest) {
				m.request(next.line, next.mem)
				next = nil
			}
			if out.has(tookFill) {
				switch q := due[pick]; {
				case q.Op != mem.Read:
					m.stats.Replays++
				case second == none:
					m.fill(q.Addr / line)
				default:
					m.fill(q.Addr/line, q.Addr/line^1)
				}
				due = slices.Delete(due, pick, pick+1)
			}
			if b.rsp.Len() > 0 && r.IntN(leave) == 0 {
				answered(b.rsp.Front().mem.Tag)
				b.rsp.Drop()
			}
			if b.mreq.Len() > 0 && r.IntN(leave) == 0 {
				sent(b.mreq.Front())
				b.mreq.Drop()
			}
		}
		for ; b.rsp.Len() > 0; b.rsp.Drop() {
			answered(b.rsp.Front().mem.Tag)
		}
		for ; b.mreq.Len() > 0; b.mreq.Drop() {
			sent(b.mreq.Front())
		}
		require.Equal(t, m.answers, answers, "seed %d: answers, in order", seed)
		if len(along) == 0 {
			require.Equal(t, m.asked, asked, "seed %d: lines asked for, in order", seed)
		}
		require.ElementsMatch(t, m.asked, append(asked, along...), "seed %d: sectors asked for", seed)
		require.Equal(t, m.writes, writes, "seed %d: writes, in order", seed)
		require.Equal(t, m.performed, place.done, "seed %d: atomics performed, in order", seed)
		require.Equal(t, m.passed, passed, "seed %d: atomics passed on, in order", seed)
		require.ElementsMatch(t, append(m.performed, m.passed...), results, "seed %d: every atomic is answered", seed)
		require.Len(t, along, int(b.stats.Pairs), "seed %d: went along", seed)
		pairs += len(along)
		got := b.stats
		got.Pairs = 0 // a matter of time
		got.MSHRFull, got.MemoryQueueFull, got.ResponseQueueFull, got.AtomicWaits = count.Span{}, count.Span{},
			count.Span{}, 0
		require.Equal(t, m.stats, got, "seed %d", seed)
	}
	require.NotZero(t, pairs)
}
