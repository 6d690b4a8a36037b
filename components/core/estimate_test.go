package core

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/mem"
	"heddle/isa/emu"
)

// Of an estimated front end, as many fetches begin in a cycle as it can make, and as many decodes; a warp is fetched
// for once at a time, and when it can be, its buffer holds no more than it can, instructions come no sooner than they
// can, and in order.
func TestEstimatedFront(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 4))
		var f estimatedFront
		var launched launchOrder
		warps := 1 + r.IntN(64)
		f.selector = newSelector(policies[r.IntN(len(policies))].schedule, 1+r.IntN(8), 0, 1, warps, &launched)
		f.width = 1 + r.Uint64N(8)
		f.room, f.most = uint8(2+r.IntN(64)), uint8(fetches*f.width)
		f.begin()
		for i := range warps {
			f.restart(i, 0, r.Uint64N(20))
		}
		fetched, decoded, begun := map[uint64]uint64{}, map[uint64]uint64{}, [64]uint64{}
		order := []int(nil)
		for n := uint64(0); n < 2000; n++ {
			switch {
			case f.decodable() <= min(f.due, n):
				at := f.decodable()
				i := f.decode(at)
				require.Equal(t, order[0], i)
				order = order[1:]
				require.GreaterOrEqual(t, at, begun[i]+fetchToDecode)
				decoded[at]++
				require.LessOrEqual(t, decoded[at], f.width)
				require.LessOrEqual(t, f.count[i], f.room)
				f.unlock(i, 0, at+1)
			case f.due <= n:
				at := f.due
				i, _ := f.fetch(0)
				require.NotContains(t, order, i)
				require.LessOrEqual(t, f.free[i], at)
				first := uint64(never)
				for m := f.ready; m != 0; m &= m - 1 {
					first = min(first, max(at, f.free[bits.TrailingZeros64(m)]))
				}
				require.Equal(t, first, f.first)
				order, begun[i] = append(order, i), at
				fetched[at]++
				require.LessOrEqual(t, fetched[at], f.width)
				require.LessOrEqual(t, len(order), int(f.most))
			}
			if f.filled != 0 && r.IntN(3) == 0 {
				i := bits.TrailingZeros64(f.filled)
				f.issued(i, n)
			}
		}
		require.NotEmpty(t, fetched)
	}
}

// An estimated slice issues one instruction a cycle, none while what waits for the load-store unit fills it, and lets
// each policy choose among those that are ready.
func TestEstimatedSlice(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 5))
		var launched launchOrder
		s := estimatedSlice{selector: newSelector(policies[r.IntN(len(policies))].issue, 1+r.IntN(8), 0, 1, 64,
			&launched)}
		s.room = uint8(1 + r.IntN(16) + dispatched)
		s.waits = make(mem.Entries, s.room)
		s.begin()
		op, last, queue := new(emu.Op), uint64(0), []int(nil)
		for n := uint64(1); n < 3000; n++ {
			if i := r.IntN(64); s.ready>>i&1 == 0 {
				s.join(i, n)
			}
			if s.due <= n {
				require.Less(t, int(s.queued), int(s.room))
				require.Greater(t, s.due, last)
				last = s.due
				before := s.ready
				i := s.issue(r.Uint64(), r.Uint64())
				require.Equal(t, before, s.ready|1<<i)
				require.NotEqual(t, before, s.ready)
				if r.IntN(2) == 0 {
					s.put(i, op, n)
					queue = append(queue, i)
				}
			}
			if len(queue) > 0 && r.IntN(3) == 0 {
				require.Equal(t, queue[0], s.take(n).warp)
				queue = queue[1:]
			}
		}
	}
}

// Every legal core fits the estimate's types.
func TestEstimateHoldsEveryCore(t *testing.T) {
	most := Spec{Collectors: 16, IBuffer: 64, FetchWidth: 8, Warps: 64, Threads: 32, LSUQueue: 64, FPUQueue: 64,
		CoalescerTags: 256}
	most.Issue.Slices = 64
	require.LessOrEqual(t, most.Collectors+dispatched, maxQueued)
	require.Zero(t, maxQueued&(maxQueued-1))
	require.LessOrEqual(t, most.IBuffer+1, 255)
	require.LessOrEqual(t, fetches*most.FetchWidth, maxFetches)
	require.Zero(t, 256%maxFetches)
	require.Zero(t, 256%maxQueued)
}
