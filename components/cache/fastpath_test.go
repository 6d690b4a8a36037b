package cache

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/mem"
	"heddle/components/queue"
	"heddle/internal/testenv"
)

// shortCycle does a bank's cycle the short way if that is possible: it returns the answer's tag, and whether a request
// was accepted.
func shortCycle(b *bank, now uint64, r *request) (answers []uint32, done actions, ok bool) {
	line := -1
	if b.st1.kind != bubble {
		line = b.hit()
	}
	if b.in.fill != none || b.rsp.Len()+b.mreq.Len() > 0 || !b.calm() || r != nil && !b.takes(&r.mem) ||
		b.st1.kind != bubble && line < 0 {
		return nil, 0, false
	}
	if line >= 0 {
		answers = append(answers, b.st1.mem.Tag)
	}
	b.advance(line)
	if r != nil {
		done = b.acceptRequest(now, r, 0)
	}
	return answers, done, true
}

// longCycle does it the long way, with an answer leaving at once.
func longCycle(b *bank, now uint64, r *request) (answers []uint32, done actions) {
	done = b.step(now, r)
	if b.rsp.Len() > 0 {
		answers = append(answers, b.rsp.Front().mem.Tag)
		b.rsp.Drop()
	}
	return answers, done
}

// TestTheShortWayDoesWhatAStepDoes: of two banks with the same requests and fills one goes the short way whenever it
// can.
func TestTheShortWayDoesWhatAStepDoes(t *testing.T) {
	shorts := 0
	for seed := range testenv.Cases(t, 60, 1200) {
		r := rand.New(rand.NewPCG(seed, 0))
		s := draw(r)
		s.Banks, s.MemoryPorts = 1, 1
		s.Bytes = s.setBytes() << r.IntN(3)
		short, step := newBank(&queue.Owner{Unit: "short"}, &s, 0), newBank(&queue.Owner{Unit: "step"}, &s, 0)
		var due []int16
		var next *request
		lines, writes := uint32(1+r.IntN(2*s.Ways)), r.IntN(3)
		for now := range uint64(2000) {
			if next == nil && r.IntN(4) > 0 {
				at := r.Uint32N(lines)
				next = &request{line: at, mem: mem.Request{Addr: at * uint32(s.LineBytes), Tag: uint32(now)}}
				if r.IntN(50) < writes {
					next.mem.Op = mem.Write
				}
			}
			fill := none
			if len(due) > 0 && r.IntN(8) == 0 {
				fill = due[0]
			}
			short.in.fill, step.in.fill = fill, fill
			want, done := longCycle(step, now, next)
			got, also, ok := shortCycle(short, now, next)
			if ok {
				shorts++
			} else {
				got, also = longCycle(short, now, next)
			}
			require.Equal(t, want, got, "seed %d, cycle %d", seed, now)
			require.Equal(t, done&(tookRequest|tookFill), also&(tookRequest|tookFill), "seed %d, cycle %d", seed, now)
			if done.has(tookRequest) {
				next = nil
			}
			if done.has(tookFill) {
				due = due[1:]
			}
			for ; step.mreq.Len() > 0; step.mreq.Drop() {
				q := step.mreq.Front()
				require.Equal(t, *q, *short.mreq.Front(), "seed %d, cycle %d", seed, now)
				short.mreq.Drop()
				if q.Op != mem.Write {
					due = append(due, int16(q.Tag))
				}
			}
		}
		require.Equal(t, step.stats, short.stats, "seed %d", seed)
		require.Equal(t, step.mshr, short.mshr, "seed %d", seed)
	}
	require.NotZero(t, shorts)
}
