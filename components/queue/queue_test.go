package queue

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// entry is one of the model's.
type entry struct{ v, at uint64 }

// model is a queue again, as a list without a ring.
type model struct {
	entries  []entry
	capacity int
	held     int    // slots freed by Take in cycle freedAt
	freedAt  uint64 //
}

func (m *model) full() bool { return len(m.entries) == m.capacity }

func (m *model) closed(now uint64) bool {
	held := 0
	if m.freedAt == now {
		held = m.held
	}
	return len(m.entries)+held >= m.capacity
}

func (m *model) pop() uint64 {
	v := m.entries[0].v
	m.entries = m.entries[1:]
	return v
}

func (m *model) take(now uint64) uint64 {
	if m.freedAt != now {
		m.held, m.freedAt = 0, now
	}
	m.held++
	return m.pop()
}

func (m *model) insert(e entry) {
	i := len(m.entries)
	for i > 0 && m.entries[i-1].at > e.at {
		i--
	}
	m.entries = append(m.entries[:i:i], append([]entry{e}, m.entries[i:]...)...)
}

func (m *model) first() uint64 {
	if len(m.entries) == 0 {
		return Never
	}
	return m.entries[0].at
}

// forAllCapacities runs a test with queues of 1 to 65 slots.
func forAllCapacities(t *testing.T, test func(t *testing.T, capacity int, draw *rand.Rand)) {
	for capacity := 1; capacity <= 65; capacity++ {
		test(t, capacity, rand.New(rand.NewPCG(uint64(capacity), 3)))
	}
}

// filling reports whether more is pushed than taken.
func filling(now uint64) bool { return now%128 < 64 }

// A queue of any size has the contents of a list after any operations, and its bit is set if it is not empty.
func TestQueueIsAList(t *testing.T) {
	forAllCapacities(t, func(t *testing.T, capacity int, draw *rand.Rand) {
		const other = 1 << 7
		q, m, word := New[uint64](capacity, nil, "q"), model{capacity: capacity}, uint64(other)
		bit := draw.IntN(7)
		q.Flag(&word, bit)
		require.Equal(t, capacity, q.Capacity())
		next, full := uint64(1), 0
		for now := uint64(1); now < 256; now++ {
			for range draw.IntN(4 + capacity/8) {
				n := draw.IntN(22)
				if filling(now) {
					n = draw.IntN(16)
				}
				switch {
				case n < 9 && !m.full():
					q.Push(next)
					m.entries = append(m.entries, entry{v: next})
				case n < 12 && !m.full():
					*q.Add() = next
					m.entries = append(m.entries, entry{v: next})
				case n < 12:
					full++
				case n == 12 && draw.IntN(20) == 0:
					q.Clear()
					m.entries = nil
				case len(m.entries) == 0:
				case n < 15:
					require.Equal(t, m.pop(), q.Pop())
				case n < 17:
					m.pop()
					q.Drop()
				case n < 20:
					require.Equal(t, m.take(now), q.Take(now))
				default:
					last := len(m.entries) - 1
					require.Equal(t, m.entries[last].v, q.PopBack())
					m.entries = m.entries[:last]
				}
				next++
				same(t, &m, &q, now)
				require.Equal(t, len(m.entries) > 0, word>>bit&1 == 1)
				require.EqualValues(t, other, word&^(1<<bit), "the word's other bits are others'")
			}
		}
		require.NotZero(t, full, "it has been full")
	})
}

// looked is the visible state of a queue of either kind.
type looked interface {
	Len() int
	Empty() bool
	Full() bool
	Closed(now uint64) bool
	At(i int) *uint64
	Front() *uint64
}

func same(t *testing.T, m *model, q looked, now uint64) {
	t.Helper()
	require.Equal(t, len(m.entries), q.Len())
	require.Equal(t, len(m.entries) == 0, q.Empty())
	require.Equal(t, m.full(), q.Full(), "%d of %d", len(m.entries), m.capacity)
	require.Equal(t, m.closed(now), q.Closed(now), "%d of %d, cycle %d", len(m.entries), m.capacity, now)
	for i := range m.entries {
		if v := *q.At(i); v != m.entries[i].v {
			require.Equal(t, m.entries[i].v, v, "entry %d", i)
		}
	}
	if len(m.entries) > 0 {
		require.Equal(t, m.entries[0].v, *q.Front())
	}
}

// So does one whose entries have cycles of their own, in order of arrival or of these cycles.
func TestTimedIsAList(t *testing.T) {
	forAllCapacities(t, func(t *testing.T, capacity int, draw *rand.Rand) {
		q, m, word := NewTimed[uint64](capacity, nil, "q"), model{capacity: capacity}, uint64(0)
		bit := draw.IntN(64)
		q.Flag(&word, bit)
		require.Equal(t, capacity, q.Capacity())
		inOrder, next, full := draw.IntN(2) == 0, uint64(1), 0
		for now := uint64(1); now < 256; now++ {
			for range draw.IntN(4 + capacity/8) {
				e := entry{next, now + draw.Uint64N(6)}
				next++
				n := draw.IntN(20)
				if filling(now) {
					n = draw.IntN(13)
				}
				switch {
				case n < 10 && m.full():
					full++
				case n < 10 && inOrder:
					q.Insert(e.v, e.at)
					m.insert(e)
				case n < 10:
					q.Push(e.v, e.at)
					m.entries = append(m.entries, e)
				case n == 10 && draw.IntN(20) == 0:
					q.Clear()
					m.entries = nil
				case m.first() > now:
				case n < 14:
					require.Equal(t, m.pop(), q.Pop())
				default:
					require.Equal(t, m.take(now), q.Take(now))
				}
				same(t, &m, &q, now)
				sameTimes(t, &m, &q, now, now+draw.Uint64N(8))
				require.Equal(t, len(m.entries) > 0, word>>bit&1 == 1)
			}
		}
		require.NotZero(t, full, "it has been full")
	})
}

func sameTimes(t *testing.T, m *model, q *Timed[uint64], now, at uint64) {
	t.Helper()
	for i := range m.entries {
		if at := q.Due(i); at != m.entries[i].at {
			require.Equal(t, m.entries[i].at, at, "entry %d", i)
		}
	}
	first := m.first()
	require.Equal(t, first, q.First())
	require.Equal(t, first <= now, q.Ready(now))
	if first > now {
		at = min(at, first)
	}
	require.Equal(t, at, q.Next(now, at))
}

// A slot that Take frees can be filled from the next cycle on: the RTL's ready flag is a register. One that Pop frees
// can at once.
func TestTakeFreesASlotACycleLater(t *testing.T) {
	q := New[int](2, nil, "q")
	q.Push(1)
	q.Push(2)
	require.True(t, q.Closed(1))
	require.Equal(t, 1, q.Take(1))
	require.True(t, q.Closed(1))
	require.False(t, q.Full())
	require.False(t, q.Closed(2))
	q.Push(3)
	require.Equal(t, 2, q.Pop())
	require.False(t, q.Closed(2))
	require.Equal(t, 3, q.Take(2))
	require.False(t, q.Closed(2), "one of two slots was free before")
	q.Push(4)
	require.True(t, q.Closed(2))
	require.False(t, q.Closed(3))
}

// The panic of a full queue names the queue, its unit and the cycle.
func TestAPushToAFullQueue(t *testing.T) {
	for capacity := 1; capacity <= 65; capacity++ {
		of := &Owner{Unit: "Core3"}
		q, timed, none := New[int](capacity, of, "slice 1, issued"), NewTimed[int](capacity, of, "LSU requests"),
			New[int](capacity, nil, "queue of nobody")
		for i := range capacity {
			q.Push(i)
			timed.Push(i, uint64(i))
			none.Push(i)
		}
		of.Now = 17
		require.PanicsWithError(t, "BUG: Core3 @17: slice 1, issued: push to a full queue", func() { q.Push(1) })
		require.PanicsWithError(t, "BUG: Core3 @17: slice 1, issued: push to a full queue", func() { q.Add() })
		require.PanicsWithError(t, "BUG: Core3 @17: LSU requests: push to a full queue", func() { timed.Push(1, 2) })
		require.PanicsWithError(t, "BUG: queue of nobody: push to a full queue", func() { none.Push(1) })
	}
	require.PanicsWithValue(t, "BUG: Core3: results: a queue of 0 slots",
		func() { New[int](0, &Owner{Unit: "Core3"}, "results") })
}

func TestLevelNamesTheQueueAndItsUnit(t *testing.T) {
	of := &Owner{Unit: "Core3"}
	q, timed, seen := New[int](5, of, "schedule buffer"), NewTimed[int](3, of, "LSU done"), ""
	q.Push(1)
	timed.Push(1, 9)
	timed.Push(1, 9)
	see := func(name string, n, capacity int) { seen += fmt.Sprintf("%s %d of %d;", name, n, capacity) }
	q.Level(see)
	timed.Level(see)
	require.Equal(t, "Core3: schedule buffer 1 of 5;Core3: LSU done 2 of 3;", seen)
}

func TestQueuesAllocateNothingInACycle(t *testing.T) {
	q, timed := New[int](3, nil, ""), NewTimed[[3]int](3, nil, "")
	require.Zero(t, testing.AllocsPerRun(100, func() {
		q.Push(1)
		timed.Insert([3]int{}, 1)
		q.Take(1)
		timed.Take(1)
	}))
}
