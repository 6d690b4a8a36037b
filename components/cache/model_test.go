package cache

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/mem"
)

// model says what a FIFO bank must do with operations in the order in which they
// were accepted. It knows no pipeline: sets are slices, waiters are maps.
type model struct {
	ways, sets int
	set        map[uint32][]uint32 // slots of a set, 0: free, else line+1
	turn       map[uint32]int
	waiters    map[uint32][]mem.Request
	answers    []uint32
	asked      []uint32 // lines, in order
	writes     []uint32 // lines, in order
	stats      Stats
}

func newModel(s Spec) *model {
	return &model{
		ways: s.Ways, sets: s.Sets(),
		set: map[uint32][]uint32{}, turn: map[uint32]int{}, waiters: map[uint32][]mem.Request{},
	}
}

func (m *model) has(line uint32) bool { return slices.Contains(m.set[line%uint32(m.sets)], line+1) }

func (m *model) request(line uint32, r mem.Request) {
	hit := m.has(line)
	_, outstanding := m.waiters[line]
	if r.Op == mem.Write {
		m.stats.Writes++
		m.stats.WriteHits += b2u(hit)
		m.stats.WriteMisses += b2u(!hit)
		m.writes = append(m.writes, line)
		if !hit && outstanding {
			m.waiters[line] = append(m.waiters[line], r)
		}
		return
	}
	m.stats.Reads++
	switch {
	case hit:
		m.stats.ReadHits++
		m.answers = append(m.answers, r.Tag)
		return
	case outstanding:
		m.stats.Merges++
	default:
		m.asked = append(m.asked, line)
	}
	m.stats.ReadMisses++
	m.waiters[line] = append(m.waiters[line], r)
}

func (m *model) fill(line uint32) {
	key := line % uint32(m.sets)
	if m.set[key] == nil {
		m.set[key] = make([]uint32, m.ways)
	}
	way := m.turn[key] % m.ways
	m.turn[key]++
	m.stats.Evictions += b2u(m.set[key][way] != 0)
	m.set[key][way] = line + 1
	m.stats.Fills++
	for _, r := range m.waiters[line] {
		m.stats.Replays++
		if r.Op == mem.Read {
			m.answers = append(m.answers, r.Tag)
		}
	}
	delete(m.waiters, line)
}

// fill is told to the model when the bank accepts it, and so are requests; but what
// was accepted just before a fill is decided before it.
func TestBankDoesWhatTheModelSays(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 0))
		s := small(r)
		s.Banks, s.MemoryPorts, s.Replacement = 1, 1, FIFO
		s.Bytes = s.Ways * s.LineBytes << r.IntN(3)
		b, m := newBank("b", &s, 0), newModel(s)
		var answers, asked, writes []uint32
		var due []mem.Request // reads in memory
		var next *request
		lines, tag := uint32(2+r.IntN(24)), uint32(0)
		busy, leave := 1+r.IntN(4), 1+r.IntN(3)
		for now := uint64(0); now < 1500 || b.mshr.used > 0 || next != nil || !b.idle(); now++ {
			require.Less(t, now, uint64(20000), "seed %d: stuck", seed)
			if next == nil && now < 1500 && r.IntN(busy) == 0 {
				line := r.Uint32N(lines)
				next = &request{line: line, mem: mem.Request{Addr: line * 64, Tag: tag, Op: mem.Op(b2u(r.IntN(4) == 0))}}
				tag++
			}
			in, pick := inputs{request: next, fill: none}, 0
			if len(due) > 0 && r.IntN(8) == 0 {
				pick = r.IntN(len(due))
				in.fill = int16(due[pick].Tag)
			}
			out := b.step(now, in)
			require.False(t, out.request && out.fill, "one operation a cycle")
			if out.request {
				m.request(next.line, next.mem)
				next = nil
			}
			if out.fill {
				m.fill(due[pick].Addr / 64)
				due = slices.Delete(due, pick, pick+1)
			}
			if a := b.rsp.front(now); a != nil && r.IntN(leave) == 0 {
				answers = append(answers, a.mem.Tag)
				b.rsp.pop()
			}
			if q := b.mreq.front(now); q != nil && r.IntN(leave) == 0 {
				if q.Op == mem.Read {
					asked, due = append(asked, q.Addr/64), append(due, *q)
				} else {
					writes = append(writes, q.Addr/64)
				}
				b.mreq.pop()
			}
		}
		for ; b.rsp.n > 0; b.rsp.pop() {
			answers = append(answers, b.rsp.front(1<<40).mem.Tag)
		}
		for ; b.mreq.n > 0; b.mreq.pop() {
			writes = append(writes, b.mreq.front(1<<40).Addr/64)
		}
		require.Equal(t, m.answers, answers, "seed %d: answers, in order", seed)
		require.Equal(t, m.asked, asked, "seed %d: lines asked for, in order", seed)
		require.Equal(t, m.writes, writes, "seed %d: writes, in order", seed)
		got := b.stats
		got.MSHRFull, got.MemoryQueueFull, got.ResponseQueueFull = 0, 0, 0
		require.Equal(t, m.stats, got, "seed %d", seed)
	}
}
