package core

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/queue"
	"heddle/isa"
	"heddle/isa/emu"
)

// pureSlice is a slice whose instructions are set by hand.
func pureSlice(change ...func(*Spec)) *slice {
	s := DefaultSpec(32, 4)
	for _, f := range change {
		f(&s)
	}
	p := &pipe{spec: s.Derived(), warps: make([]warp, 32)}
	for i := range p.warps {
		p.warps[i].collector = uint8(i / 2 % 4)
	}
	sl := new(slice)
	sl.build(p, "", 0)
	return sl
}

// flying starts an instruction of no meaning.
func (sl *slice) flying(warp uint8, class isa.Class) flightID {
	id := sl.newPacket(warp)
	sl.all[id].class, sl.all[id].unit, sl.all[id].op = class, class.Unit(), &emu.Op{}
	return id
}

// Operations of lanes on words 1, 1, 2, 3, 1 and, inactive, 9.
func TestOperationsOfAnAtomic(t *testing.T) {
	a := emu.Access{Addr: isa.Lanes{4, 4, 8, 12, 4, 36}}
	for s, want := range map[Atomics]int{{}: 5, {Combine: true}: 3, {Together: true}: 3,
		{Together: true, Combine: true}: 1} {
		require.Equal(t, want, s.operations(&a, 0b11111), "%+v", s)
	}
	require.Equal(t, 1, (&Atomics{Together: true}).operations(&a, 0b1110))
}

// Results of the integer unit and of the multiplier leave in turn.
func TestTheSwitchBehindTheALUAlternates(t *testing.T) {
	sl := pureSlice(func(s *Spec) { s.Latency.ALU = 5 })
	for w := range uint8(4) {
		sl.alu.Push(sl.flying(w, isa.ClassALU), 1)
		sl.mul.Push(sl.flying(10+w, isa.ClassMul), 3)
	}
	var order []uint8
	for now := uint64(1); now <= 8; now++ {
		sl.finishALU(now)
		if !sl.computed.Empty() {
			order = append(order, sl.all[sl.computed.Take(now)].warp)
		}
	}
	require.Equal(t, []uint8{0, 1, 10, 2, 11, 3, 12, 13}, order)
}

// A shared unit selects a slice in the cycle before it takes from it: the lowest with
// something, the last if none has.
func TestSlicesEnterASharedUnit(t *testing.T) {
	c := &Core{slices: make([]slice, 2)}
	for i := range c.slices {
		c.slices[i].build(pureSlice().pipe, "", i)
	}
	c.entries[isa.SFU] = entry{1, 1, queue.New[flightID](2, nil, "")}
	push := func(slice int, id flightID) {
		c.slices[slice].dispatch[isa.SFU].Push(id)
		c.shared++
	}
	entered := func(cycles uint64) (warps []int) {
		for now := uint64(1); now <= cycles; now++ {
			c.enter(isa.SFU, now)
			if q := &c.entries[isa.SFU].buffer; q.Empty() {
				warps = append(warps, -1)
			} else {
				warps = append(warps, int(q.Take(now)))
			}
		}
		return warps
	}
	push(1, 1)
	push(1, 3)
	require.Equal(t, []int{1, 3, -1}, entered(3), "the last slice does not wait for its turn")
	push(0, 0)
	push(1, 1)
	push(0, 2)
	require.Equal(t, []int{1, 0, 2, -1}, entered(4), "then the lowest goes first")
	push(0, 0)
	require.Equal(t, []int{-1, 0, -1, -1}, entered(4), "the lowest is selected a cycle later")
}

// Sixteen warps of a slice are chosen in two groups, each a warp a cycle into its
// buffer of two; behind them the groups take turns.
func TestGroupsOfWarpsTakeTurns(t *testing.T) {
	sl := pureSlice()
	sl.groups.build(&sl.spec, 1, nil, "", nil)
	require.Len(t, sl.groups.of, 2)
	require.Equal(t, uint64(0x0000AAAA), sl.groups.of[0].members)
	require.Equal(t, uint64(0xAAAA0000), sl.groups.of[1].members)
	for g := range sl.groups.of {
		for k := range uint8(2) {
			sl.groups.of[g].selected.Push(sl.flying(uint8(16*g)+2*k+1, isa.ClassALU))
		}
	}
	var order []uint8
	for now := uint64(1); now <= 8; now++ {
		sl.join(now)
		if !sl.issued.Empty() {
			order = append(order, sl.all[sl.issued.Take(now)].warp)
		}
	}
	require.Equal(t, []uint8{1, 17, 3, 19}, order)

	sl.spec.Issue.Policy = 1
	sl.groups = groups{}
	sl.groups.build(&sl.spec, 1, nil, "", nil)
	require.Empty(t, sl.groups.of, "other policies see all warps of the slice")
}

// An instruction is at its collector's output two cycles after it was read; an output of two that is not taken
// holds back the instructions behind it, and shows a freed slot a cycle later.
func TestCollectorsHoldBack(t *testing.T) {
	c := newCollectors(2, "")
	read := func(id flightID) bool {
		if c.in&1 != 0 {
			return false
		}
		c.in, c.id[0][0] = c.in|1, id
		return true
	}
	step := func() {
		c.advance()
		c.closed = c.second
	}
	for id := flightID(1); id <= 4; id++ {
		step()
		require.True(t, read(id))
	}
	step()
	require.False(t, read(5), "two at the output, one in each stage")
	require.Equal(t, flightID(1), c.take(0))
	step()
	require.True(t, c.second&1 == 0, "the slot that was freed is not seen yet")
	require.False(t, read(5))
	step()
	require.True(t, read(5))
	for id := flightID(2); id <= 5; id++ {
		require.Equal(t, id, c.take(0))
		step()
		step()
	}
	require.Zero(t, c.in|c.mid|c.out|c.second)
}

// A batch takes, in each channel, the block of the lowest lane that is left and
// all lanes of that channel in it.
func TestCoalescerBatches(t *testing.T) {
	s := DefaultSpec(4, 8).Derived()
	s.ChannelBytes = 16 // two channels of four lanes
	co := newCoalescer(&s)
	a := &emu.Access{Mask: 0b1111_0111}
	copy(a.Addr[:], []uint32{0x100, 0x204, 0x10C, 0, 0x100, 0x104, 0x108, 0x300})

	mask, channels := co.seeds(a, a.Mask)
	require.Equal(t, uint32(0b0111_0101), mask)
	require.Equal(t, uint32(0b11), channels)
	require.Equal(t, []uint32{0x100, 0x100}, co.addr[:2])

	mask, channels = co.seeds(a, a.Mask&^mask)
	require.Equal(t, uint32(0b1000_0010), mask)
	require.Equal(t, uint32(0b11), channels)
	require.Equal(t, []uint32{0x200, 0x300}, co.addr[:2])

	mask, channels = co.seeds(a, 0b0000_0100)
	require.Equal(t, uint32(0b100), mask)
	require.Equal(t, uint32(0b01), channels)
}

func TestSpecIsChecked(t *testing.T) {
	for _, c := range []struct {
		change func(*Spec)
		want   string
	}{
		{func(s *Spec) { s.Warps = 65 }, "core warps = 65: expected 1..64"},
		{func(s *Spec) { s.Threads = 0 }, "core threads = 0: expected 1..32"},
		{func(s *Spec) { s.Issue.Slices = 3 }, "core issue.slices = 3: expected a divisor of 8 warps"},
		{func(s *Spec) { s.Issue.Slices, s.Issue.ALUs = 4, 3 }, "core issue.alu_blocks = 3: expected a divisor of 4 slices"},
		{func(s *Spec) { s.Issue.Slices, s.Issue.FPUs = 4, 8 }, "core issue.fpu_blocks = 8: expected 1..4"},
		{func(s *Spec) { s.ChannelBytes = 24 }, "core channel bytes = 24: expected a power of two"},
		{func(s *Spec) { s.Issue.Dispatch = 5 }, "core issue.dispatch_per_slice = 5: expected 1..4"},
		{func(s *Spec) { s.Issue.Policy = 4 }, "core issue.policy = 4: expected 0..3"},
		{func(s *Spec) { s.FetchWidth = 0 }, "core fetch_width = 0: expected 1..8"},
		{func(s *Spec) { s.ALULanes = 3 }, "core alu_lanes = 3: expected a divisor of 8 threads"},
		{func(s *Spec) { s.SFULanes = 16 }, "core sfu_lanes = 16: expected 1..8"},
		{func(s *Spec) { s.LSUQueue = -1 }, "core lsu queue = -1: expected 1..64"},
	} {
		s := DefaultSpec(8, 8)
		require.NoError(t, s.Validate())
		c.change(&s)
		require.EqualError(t, s.Validate(), c.want)
	}
}

// Policies are asked again and again with warps of a slice that are ready, have gone
// away, or have nothing to issue; "." stands for none.
func TestPolicies(t *testing.T) {
	type ask struct {
		ready, away, idle uint64
		want              int
	}
	for _, c := range []struct {
		policy string
		asks   []ask
	}{
		{"vortex", []ask{{ready: 0b1110, want: 1}, {ready: 0b1100, want: 2}, {ready: 0b0110, want: 1}, {ready: 0b1001, want: 0}, {ready: 0b1001, want: 0}}},
		{"rr", []ask{{ready: 0b1110, want: 1}, {ready: 0b1110, want: 2}, {ready: 0b0011, want: 0}, {ready: 0b1001, want: 3}, {ready: 0b1001, want: 0}}},
		// Warp 2 was started first.
		{"gto", []ask{{ready: 0b1110, want: 2}, {ready: 0b1111, want: 2}, {ready: 0b1011, want: 0}, {ready: 0b1111, want: 0}, {ready: 0b1010, want: 1}}},
		{"two-level", []ask{
			{ready: 0b1111, want: 0}, {ready: 0b1111, want: 1}, {ready: 0b1111, want: 0}, // the set is {0, 1}
			{ready: 0b1100, want: -1}, {ready: 0b1100, want: -1},
			{ready: 0b1100, away: 0b0001, want: 2}, {ready: 0b1100, want: 2}, // 2 for 0
			{ready: 0b1000, idle: 0b0010, want: 3}, // 3 for 1, which has no instruction
			{ready: 0b1011, idle: 0b0100, want: 3}, // 2 has none, but 3 can go
		}},
	} {
		var p Policy
		require.NoError(t, p.UnmarshalText([]byte(c.policy)))
		launched := launched(2, 0, 1, 3)
		s := newSelector(policies[p].issue, 2, 0, 1, 4, &launched)
		for i, a := range c.asks {
			require.Equal(t, a.want, s.pick(view{a.ready, a.away, a.idle}), "%s, question %d", c.policy, i)
		}
	}
	var p Policy
	require.EqualError(t, p.UnmarshalText([]byte("lrr")),
		`core policy = "lrr": expected one of vortex, rr, gto, two-level`)
}

func launched(warps ...int) (o launchOrder) {
	for _, w := range warps {
		o.launch(w)
	}
	return o
}

// The oldest warp of a set is the one with the least rank, in whatever order warps were launched, ended and launched
// again.
func TestOldest(t *testing.T) {
	turning := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 6))
		warps, jumps := 1+r.IntN(64), r.IntN(4)
		var o launchOrder
		live, next := uint64(0), r.IntN(warps)
		for range 200 {
			o.launch(next)
			live |= 1 << next
			if next = (next + 1) % warps; r.IntN(20) < jumps {
				next = r.IntN(warps)
			}
			set := live & r.Uint64()
			if set == 0 {
				continue
			}
			want := -1
			for w := range warps {
				if set>>w&1 != 0 && (want < 0 || o.rank[w] < o.rank[want]) {
					want = w
				}
			}
			require.Equal(t, want, o.oldest(set))
			if o.turning {
				turning++
			}
		}
	}
	require.Greater(t, turning, 10_000, "the short way")
}

// At fetch a warp cannot be ready again at once: gto keeps its precedence meanwhile.
func TestGreedyFetch(t *testing.T) {
	launched := launched(0, 1, 2, 3)
	s := newSelector(greedyFetch, 0, 0, 1, 4, &launched)
	require.Equal(t, 1, s.pick(view{ready: 0b1110}), "warp 0 is greedy and under way: the oldest")
	require.Equal(t, 0, s.pick(view{ready: 0b1111}))
	require.Equal(t, 2, s.pick(view{ready: 0b1100, away: 0b0001}), "warp 0 waits for memory: warp 2 is greedy")
	require.Equal(t, 0, s.pick(view{ready: 0b1011}))
	require.Equal(t, 2, s.pick(view{ready: 0b1111}))
}

// A slice's warps are not neighbours.
func TestPoliciesStayInTheirSlice(t *testing.T) {
	const members = 0b10101010
	for p := range policies {
		var launched launchOrder
		s := newSelector(policies[p].issue, 4, 1, 2, 8, &launched)
		seen := uint64(0)
		for range 8 {
			w := s.pick(view{ready: members &^ seen})
			require.NotZero(t, members>>w&1, policies[p].name)
			if seen |= 1 << w; seen == members {
				break
			}
		}
	}
}

// A group of lanes without an active one is no packet.
func TestPackets(t *testing.T) {
	for _, c := range []struct {
		mask        uint32
		lanes, want int
	}{{0xFFFFFFFF, 8, 4}, {0xFFFFFFFF, 1, 32}, {0x80000001, 8, 2}, {0x00000001, 4, 1}, {0x0F0F, 4, 2},
		{0xFFFF, 16, 1}} {
		require.Equal(t, c.want, packets(c.mask, c.lanes), "%x in %d lanes", c.mask, c.lanes)
	}
}
