package core

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/queue"
	"heddle/isa"
	"heddle/isa/emu"
)

// padAt is an access that wants to enter from a cycle on.
type padAt struct {
	at uint64
	padAccess
}

// load makes a load, and words a store, of one word a lane.
func load(at uint64, access int16, words ...uint16) padAt {
	p := padAt{at, padAccess{access: access, lanes: 1<<len(words) - 1}}
	copy(p.word[:], words)
	return p
}

func store(at uint64, words ...uint16) padAt {
	p := load(at, -1, words...)
	p.write = true
	return p
}

// padAnswered is a part of a load that the switch can take in a cycle.
type padAnswered struct {
	cycle uint64
	packed
}

// begin lets an access enter.
func (s *scratchpad) begin(p *padAccess, now uint64) {
	var addr isa.Lanes
	for l, w := range p.word {
		addr[l] = emu.ScratchpadBase + 4*uint32(w)
	}
	s.enter(p.access, p.write, p.lanes, &addr, now)
}

// feed feeds accesses in order, each as soon as the entry is free, and takes answers at once.
func (s *scratchpad) feed(accesses ...padAt) (out []padAnswered, conflicts int) {
	for now := uint64(1); len(accesses) > 0 || !s.idle() || !s.packed.Empty(); now++ {
		if s.packed.Ready(now) {
			out = append(out, padAnswered{now, s.packed.Take(now)})
		}
		if _, conflict := s.step(now); conflict {
			conflicts++
		}
		if len(accesses) > 0 && accesses[0].at <= now && !s.closed() {
			s.begin(&accesses[0].padAccess, now)
			accesses = accesses[1:]
		}
	}
	return out, conflicts
}

// A load without conflicts is answered whole, ScratchpadLatency cycles after it entered, less
// the one of the switch's register; and one a cycle.
func TestTheScratchpadAnswersALoadACycle(t *testing.T) {
	s := newScratchpad(4, &queue.Owner{})
	out, conflicts := s.feed(load(1, 7, 0, 1, 2, 3), load(1, 8, 7, 6, 5, 4), load(1, 9, 1, 2, 3, 0))
	require.Zero(t, conflicts)
	require.Equal(t, []padAnswered{{ScratchpadLatency + 1, packed{7, 15}}, {ScratchpadLatency + 2, packed{8, 15}},
		{ScratchpadLatency + 3, packed{9, 15}}}, out)
}

// Lanes of one bank go one after the other, also to one word, and are answered in parts; the
// low lanes of a later load overtake the high lanes of an earlier one.
func TestLowLanesOvertakeInABank(t *testing.T) {
	s := newScratchpad(4, &queue.Owner{})
	out, conflicts := s.feed(load(1, 1, 0, 4, 8, 12), load(4, 2, 16, 16, 1, 2))
	require.Equal(t, []padAnswered{
		{7, packed{1, 0b0001}}, {8, packed{1, 0b0010}}, {9, packed{1, 0b0100}},
		{10, packed{2, 0b0101}}, {11, packed{2, 0b0010}}, {12, packed{1, 0b1000}}, {13, packed{2, 0b1000}},
	}, out)
	require.Equal(t, 5, conflicts)
}

// Lanes that share banks in pairs are two parts.
func TestAStrideOfTwoIsTwoParts(t *testing.T) {
	s := newScratchpad(4, &queue.Owner{})
	out, conflicts := s.feed(load(1, 1, 0, 2, 4, 6))
	require.Equal(t, []padAnswered{{7, packed{1, 0b0011}}, {8, packed{1, 0b1100}}}, out)
	require.Equal(t, 1, conflicts)
}

// A bank reads a word that it has written in the cycle before a cycle later, and others at once.
func TestABankDoesNotReadWhatItHasJustWritten(t *testing.T) {
	s := newScratchpad(4, &queue.Owner{})
	out, _ := s.feed(store(1, 0, 1, 2, 3), load(1, 1, 0, 5, 6, 7))
	require.Equal(t, []padAnswered{{8, packed{1, 0b1110}}, {9, packed{1, 0b0001}}}, out)
	s = newScratchpad(4, &queue.Owner{})
	out, _ = s.feed(store(1, 0, 1, 2, 3), load(3, 1, 0, 5, 6, 7))
	require.Equal(t, []padAnswered{{9, packed{1, 0b1111}}}, out)
}

// With more lanes than an arbiter has inputs, crossbars have two levels: a cycle more each way.
func TestCrossbarsOfTwoLevels(t *testing.T) {
	s := newScratchpad(16, &queue.Owner{})
	words := make([]uint16, 16)
	for l := range words {
		words[l] = uint16(l)
	}
	out, _ := s.feed(load(1, 1, words...))
	require.Equal(t, []padAnswered{{ScratchpadLatency + 3, packed{1, 0xFFFF}}}, out)
}

// naivePad is the scratchpad again, with one queue for each buffer of the RTL and a loop over all
// of them.
type naivePad struct {
	lanes, slices  int
	in             padAccess
	requests, bank []queue.Timed[padRequest]
	joining        [][]queue.Timed[padRequest] // by slice, by bank
	out            []queue.Timed[padAnswer]
	parting        [][]queue.Timed[padAnswer] // by slice, by lane
	answers        []queue.Timed[padAnswer]
	packed         queue.Timed[packed]
	wroteAt        []uint64
	word           []uint16
}

func newNaivePad(lanes int) *naivePad {
	n := &naivePad{lanes: lanes, slices: 1, packed: queue.NewTimed[packed](2, nil, ""), wroteAt: make([]uint64, lanes),
		word: make([]uint16, lanes)}
	if lanes > 12 {
		n.slices = lanes / 8
	}
	for range lanes {
		n.requests = append(n.requests, queue.NewTimed[padRequest](2, nil, ""))
		n.bank = append(n.bank, queue.NewTimed[padRequest](2, nil, ""))
		n.out = append(n.out, queue.NewTimed[padAnswer](1, nil, ""))
		n.answers = append(n.answers, queue.NewTimed[padAnswer](2, nil, ""))
	}
	for range n.slices {
		var r []queue.Timed[padRequest]
		var a []queue.Timed[padAnswer]
		for range lanes {
			r, a = append(r, queue.NewTimed[padRequest](2, nil, "")), append(a, queue.NewTimed[padAnswer](2, nil, ""))
		}
		n.joining, n.parting = append(n.joining, r), append(n.parting, a)
	}
	return n
}

func (n *naivePad) step(now uint64) {
	n.pack(now)
	if n.slices > 1 {
		arbitrate(now, n.parting, n.answers)
		for i, to := range n.parting {
			n.deliver(now, to, i*8, i*8+8)
		}
	} else {
		n.deliver(now, n.answers, 0, n.lanes)
	}
	n.serve(now)
	if n.slices > 1 {
		arbitrate(now, n.joining, n.bank)
		for i, to := range n.joining {
			n.request(now, to, i*8, i*8+8)
		}
	} else {
		n.request(now, n.bank, 0, n.lanes)
	}
	for l := range n.lanes {
		if n.in.lanes>>l&1 != 0 && !n.requests[l].Closed(now) {
			n.requests[l].Push(padRequest{n.in.access, n.in.word[l], uint8(l), n.in.write}, now+1)
			n.in.lanes &^= 1 << l
		}
	}
}

// arbitrate joins the slices, the lowest first.
func arbitrate[T any](now uint64, from [][]queue.Timed[T], to []queue.Timed[T]) {
	for i := range to {
		for s := range from {
			if from[s][i].Ready(now) {
				if !to[i].Closed(now) {
					to[i].Push(from[s][i].Take(now), now+1)
				}
				break
			}
		}
	}
}

func (n *naivePad) pack(now uint64) {
	p := packed{access: -1}
	for l := range n.lanes {
		if a := &n.answers[l]; a.Ready(now) && !n.packed.Closed(now) && (p.lanes == 0 || a.Front().access == p.access) {
			p.access = a.Front().access
			p.lanes |= 1 << l
			a.Take(now)
		}
	}
	if p.lanes != 0 {
		n.packed.Push(p, now+1)
	}
}

// deliver is a crossbar's arbiters, one a lane, over some banks.
func (n *naivePad) deliver(now uint64, to []queue.Timed[padAnswer], first, end int) {
	for l := range n.lanes {
		for b := first; b < end; b++ {
			if o := &n.out[b]; o.Ready(now) && int(o.Front().lane) == l {
				if !to[l].Closed(now) {
					to[l].Push(o.Pop(), now+1)
				}
				break
			}
		}
	}
}

// request is the other crossbar's, one a bank, over some lanes.
func (n *naivePad) request(now uint64, to []queue.Timed[padRequest], first, end int) {
	granted := map[int]bool{} // a lane's next request comes a cycle later
	for b := range n.lanes {
		for l := first; l < end; l++ {
			if q := &n.requests[l]; !granted[l] && q.Ready(now) && int(q.Front().word)%n.lanes == b {
				if !to[b].Closed(now) {
					to[b].Push(q.Take(now), now+1)
					granted[l] = true
				}
				break
			}
		}
	}
}

func (n *naivePad) serve(now uint64) {
	for b := range n.lanes {
		q := &n.bank[b]
		if !q.Ready(now) {
			continue
		}
		switch r := q.Front(); {
		case r.write:
			n.wroteAt[b], n.word[b] = now, r.word
			q.Take(now)
		case n.out[b].Full() || n.wroteAt[b] == now-1 && n.word[b] == r.word:
		default:
			n.out[b].Push(padAnswer{r.access, r.lane}, now+1)
			q.Take(now)
		}
	}
}

// TestTheScratchpadIsThatOfOneQueueABuffer: on random accesses of machines of all sizes, with
// answers that are taken at random times.
func TestTheScratchpadIsThatOfOneQueueABuffer(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 13))
	for lanes := 1; lanes <= padLanes; lanes *= 2 {
		for range 40 {
			sameAsNaive(t, rng, lanes)
		}
	}
}

func sameAsNaive(t *testing.T, rng *rand.Rand, lanes int) {
	s, n := newScratchpad(lanes, &queue.Owner{}), newNaivePad(lanes)
	words := 1 + rng.IntN(4*lanes)
	stalls, gaps, stores, clashes := rng.IntN(3), rng.IntN(3), rng.IntN(4), rng.IntN(4)
	asked, got := map[int16]uint32{}, map[int16]uint32{}
	id, wake := int16(0), uint64(0)
	for now := uint64(1); now < 400 || !s.idle() || !s.packed.Empty(); now++ {
		require.Less(t, now, uint64(4000), "%d lanes: something is stuck", lanes)
		require.Equal(t, n.packed.Ready(now), s.packed.Ready(now), "%d lanes, cycle %d", lanes, now)
		took := false
		if rng.IntN(3) >= stalls && s.packed.Ready(now) {
			p := s.packed.Take(now)
			require.Equal(t, n.packed.Take(now), p, "%d lanes, cycle %d", lanes, now)
			require.Zero(t, got[p.access]&p.lanes, "a lane is answered twice")
			got[p.access] |= p.lanes
			wake, took = now, true
		}
		if now >= wake { // else nothing has said that this step does something
			wake = now + 1
			if moved, _ := s.step(now); !moved && !took {
				wake = s.next(now, never)
			}
		}
		n.step(now)
		if !s.closed() {
			require.Zero(t, n.in.lanes, "%d lanes, cycle %d", lanes, now)
		}
		if now < 400 && n.in.lanes == 0 && rng.IntN(3) >= gaps {
			require.False(t, s.closed(), "%d lanes, cycle %d", lanes, now)
			in := padAccess{access: id, write: rng.IntN(4) < stores, lanes: 1 + rng.Uint32N(uint32(1<<lanes-1))}
			clash := rng.IntN(4) < clashes
			for l, w := range rng.Perm(lanes) {
				in.word[l] = uint16(w + lanes*rng.IntN(2))
				if clash {
					in.word[l] = uint16(rng.IntN(words))
				}
			}
			if !in.write {
				asked[id] = in.lanes
			}
			n.in = in
			s.begin(&in, now)
			wake = min(wake, max(now+1, s.next(now, now+1)))
			id++
		}
	}
	require.Equal(t, asked, got, "%d lanes: every lane of every load is answered once", lanes)
	require.Zero(t, s.held)
}

func TestAStepOfTheScratchpadAllocatesNothing(t *testing.T) {
	s := newScratchpad(32, &queue.Owner{})
	now, addr := uint64(1), isa.Lanes{}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if !s.closed() {
			s.enter(1, false, ^uint32(0), &addr, now)
		}
		now++
		s.step(now)
		if s.packed.Ready(now) {
			s.packed.Take(now)
		}
	}))
}

// BenchmarkScratchpad is the cost of a load of 32 lanes, one behind the other.
func BenchmarkScratchpad(b *testing.B) {
	for _, stride := range []int{1, 2, 0} {
		b.Run(fmt.Sprint("stride ", stride), func(b *testing.B) {
			s := newScratchpad(32, &queue.Owner{})
			now, addr := uint64(1), isa.Lanes{}
			for l := range addr {
				addr[l] = uint32(4 * l * stride)
			}
			for b.Loop() {
				for entered := false; !entered; now++ {
					if s.packed.Ready(now) {
						s.packed.Take(now)
					}
					s.step(now)
					if entered = !s.closed(); entered {
						s.enter(1, false, ^uint32(0), &addr, now)
					}
				}
			}
		})
	}
}
