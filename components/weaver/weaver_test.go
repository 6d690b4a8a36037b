package weaver_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/weaver"
	"heddle/isa"
	"heddle/isa/emu"
)

const none = weaver.None

// unit drives a Weaver as the machine does.
type unit struct {
	*weaver.Functional
	t       testing.TB
	threads int
}

func newUnit(t testing.TB, s weaver.Spec, warps, threads int) unit {
	u, err := weaver.NewFunctional(s, warps, threads)
	require.NoError(t, err)
	u.Launch()
	return unit{u, t, threads}
}

func (u unit) all() uint32 { return uint32(1)<<u.threads - 1 }

func (u unit) reg(warp int, mask uint32, vid, loc, deg []uint32) error {
	return u.Exec(&emu.UnitRequest{Fn: isa.WeaverReg, Warp: warp, Mask: mask, A: vid, B: loc, C: deg})
}

func (u unit) decode(warp int, mask uint32) (vid, eid []uint32, newMask uint32) {
	r := emu.UnitRequest{Fn: isa.WeaverDecID, Warp: warp, Mask: mask, NewMask: mask, Out: make([]uint32, u.threads)}
	require.NoError(u.t, u.Exec(&r))
	l := emu.UnitRequest{Fn: isa.WeaverDecLoc, Warp: warp, Mask: mask, Out: make([]uint32, u.threads)}
	require.NoError(u.t, u.Exec(&l))
	return r.Out, l.Out, r.NewMask
}

func (u unit) skip(warp int, mask uint32, vid ...uint32) {
	require.NoError(u.t, u.Exec(&emu.UnitRequest{Fn: isa.WeaverSkip, Warp: warp, Mask: mask, A: vid}))
}

// The paper's example (§III-B, §III-D): four lanes, warps registering in the
// order 0, 2, 1; slots, not arrival, decide the order of the edges.
func TestWorkedExample(t *testing.T) {
	u := newUnit(t, weaver.Spec{STEntries: 12, DTEntries: 12}, 3, 4)
	zero := []uint32{0, 0, 0, 0}
	require.NoError(t, u.reg(0, 0b0111, []uint32{0, 2, 4, 0}, []uint32{2, 10, 30, 0}, []uint32{1, 2, 5, 0}))
	require.NoError(t, u.reg(2, 0b0001, []uint32{20, 0, 0, 0}, []uint32{90, 0, 0, 0}, []uint32{2, 0, 0, 0}))
	require.NoError(t, u.reg(1, 0b0011, []uint32{6, 8, 0, 0}, []uint32{50, 60, 0, 0}, zero))

	vid, eid, _ := u.decode(1, u.all())
	require.Equal(t, []uint32{0, 2, 2, 4}, vid)
	require.Equal(t, []uint32{2, 10, 11, 30}, eid)
	vid, eid, _ = u.decode(0, u.all())
	require.Equal(t, []uint32{4, 4, 4, 4}, vid)
	require.Equal(t, []uint32{31, 32, 33, 34}, eid)
	vid, eid, _ = u.decode(2, u.all()) // slots 4 and 5 have degree 0
	require.Equal(t, []uint32{20, 20, none, none}, vid)
	require.Equal(t, []uint32{90, 91, none, none}, eid)
	vid, _, _ = u.decode(1, u.all())
	require.Equal(t, []uint32{none, none, none, none}, vid)
	require.Equal(t, weaver.Ended, u.Phase())
	require.Equal(t, weaver.Stats{
		Registrations: 6, DegreeRegistered: 10, Decodes: 4,
		BatchesFull: 2, BatchesPartial: 1, BatchesEmpty: 1, LanesFilled: 10,
	}, u.Stats)
}

// A batch that is exactly full is not the last answer: the next one is empty.
func TestExactlyFullBatchIsFollowedByAnEmptyOne(t *testing.T) {
	u := newUnit(t, weaver.DefaultSpec(), 1, 4)
	require.NoError(t, u.reg(0, 1, []uint32{7, 0, 0, 0}, []uint32{0, 0, 0, 0}, []uint32{4, 0, 0, 0}))
	vid, _, _ := u.decode(0, u.all())
	require.Equal(t, []uint32{7, 7, 7, 7}, vid)
	require.Equal(t, weaver.Decoding, u.Phase())
	vid, eid, _ := u.decode(0, u.all())
	require.Equal(t, []uint32{none, none, none, none}, vid)
	require.Equal(t, []uint32{none, none, none, none}, eid)
}

func TestInactiveLanesReceiveNoEdge(t *testing.T) {
	u := newUnit(t, weaver.DefaultSpec(), 1, 4)
	require.NoError(t, u.reg(0, 1, []uint32{7, 0, 0, 0}, []uint32{100, 0, 0, 0}, []uint32{3, 0, 0, 0}))
	vid, eid, _ := u.decode(0, 0b1010)
	require.Equal(t, []uint32{none, 7, none, 7}, vid)
	require.Equal(t, []uint32{none, 100, none, 101}, eid)
	_, eid, _ = u.decode(0, 0b0001)
	require.Equal(t, []uint32{102, none, none, none}, eid)
}

func TestSkipDropsOnlyTheEntryBeingDecoded(t *testing.T) {
	u := newUnit(t, weaver.DefaultSpec(), 1, 4)
	require.NoError(t, u.reg(0, 3, []uint32{7, 9, 0, 0}, []uint32{0, 50, 0, 0}, []uint32{10, 2, 0, 0}))
	u.decode(0, u.all())
	u.skip(0, 0b0010, 7, 1, 1, 1) // vertex 7 only in a lane that is not active
	u.skip(0, 0b0001, 9, 7, 7, 7) // vertex 9 is not being decoded yet
	require.Equal(t, uint64(2), u.SkipMisses)
	u.skip(0, 0b1000, 1, 1, 1, 7)
	require.Equal(t, uint64(6), u.EdgesDropped)
	u.skip(0, 0b1000, 1, 1, 1, 7) // nothing is left to drop
	require.Equal(t, uint64(3), u.SkipMisses)
	vid, eid, _ := u.decode(0, u.all())
	require.Equal(t, []uint32{9, 9, none, none}, vid)
	require.Equal(t, []uint32{50, 51, none, none}, eid)
}

func TestMaskByUnit(t *testing.T) {
	for _, on := range []bool{false, true} {
		u := newUnit(t, weaver.Spec{STEntries: 4, DTEntries: 4, MaskByUnit: on}, 1, 4)
		require.NoError(t, u.reg(0, 1, []uint32{7, 0, 0, 0}, []uint32{0, 0, 0, 0}, []uint32{2, 0, 0, 0}))
		_, _, mask := u.decode(0, u.all())
		require.Equal(t, map[bool]uint32{false: 0b1111, true: 0b0011}[on], mask)
		_, _, mask = u.decode(0, 0b0011) // none: unchanged
		require.Equal(t, uint32(0b0011), mask)
	}
}

func TestProgramErrors(t *testing.T) {
	u := newUnit(t, weaver.Spec{STEntries: 6, DTEntries: 8}, 2, 4)
	lanes := []uint32{1, 2, 3, 4}
	require.NoError(t, u.reg(0, u.all(), lanes, lanes, lanes))
	require.ErrorContains(t, u.reg(0, 2, lanes, lanes, lanes), "at slot 1 twice in one epoch: vertices 2 and 2")
	require.ErrorContains(t, u.reg(1, 4, lanes, lanes, lanes),
		"at slot 6 (warp·threads + lane): the table has 6 entries")
	u.decode(0, u.all())
	require.ErrorContains(t, u.reg(1, 1, lanes, lanes, lanes), "while the table is being decoded")
	for u.Phase() != weaver.Ended {
		u.decode(0, u.all())
	}
	require.NoError(t, u.reg(0, u.all(), lanes, lanes, lanes), "the first reg after the end starts an epoch")
	u.Launch()
	require.NoError(t, u.reg(0, u.all(), lanes, lanes, lanes), "a launch forgets all")
}

func TestSpecIsChecked(t *testing.T) {
	_, err := weaver.NewFunctional(weaver.Spec{STEntries: 0, DTEntries: 1024}, 4, 4)
	require.ErrorContains(t, err, "st_entries = 0: expected 1..65536")
	_, err = weaver.NewFunctional(weaver.Spec{STEntries: 512, DTEntries: 512}, 32, 32)
	require.ErrorContains(t, err, "dt_entries = 512: expected at least warps × threads = 1024")
}

type pair struct{ vid, eid uint32 }

// epoch is one random epoch with its expected edges.
type epoch struct {
	u        unit
	r        *rand.Rand
	want     map[pair]bool // edges registered and not yet seen
	skipping bool
}

// Over random shapes, table sizes, epochs, masks, decoding warps and skips:
// every edge registered is handed out once, or was dropped by a skip.
func TestEveryEdgeOnce(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		warps, threads := 1+r.IntN(8), 1+r.IntN(32)
		spec := weaver.Spec{STEntries: 1 + r.IntN(300), DTEntries: warps * threads, MaskByUnit: r.IntN(2) == 0}
		u := newUnit(t, spec, warps, threads)
		for range 3 {
			e := epoch{u, r, map[pair]bool{}, r.IntN(2) == 0}
			e.register(warps, spec.STEntries)
			e.decode(warps)
			require.Equal(t, u.DegreeRegistered, u.LanesFilled+u.EdgesDropped, "seed %d", seed)
			require.Equal(t, u.Decodes, u.BatchesFull+u.BatchesPartial+u.BatchesEmpty)
		}
	}
}

func (e *epoch) register(warps, slots int) {
	next, vid := uint32(0), uint32(0)
	for _, w := range e.r.Perm(warps) {
		a, b, c := make([]uint32, e.u.threads), make([]uint32, e.u.threads), make([]uint32, e.u.threads)
		mask := e.r.Uint32() & e.u.all()
		for l := range e.u.threads {
			if w*e.u.threads+l >= slots {
				mask &^= 1 << l
			}
			a[l], b[l], c[l] = vid, next, uint32(e.r.IntN(4))*uint32(e.r.IntN(30))
			if mask>>l&1 == 0 {
				continue
			}
			for i := range c[l] {
				e.want[pair{vid, next + i}] = true
			}
			next += c[l]
			vid++
		}
		require.NoError(e.u.t, e.u.reg(w, mask, a, b, c))
	}
}

func (e *epoch) decode(warps int) {
	for e.u.Phase() != weaver.Ended {
		w, mask := e.r.IntN(warps), e.r.Uint32()&e.u.all()
		if mask == 0 {
			continue
		}
		vid, eid, _ := e.u.decode(w, mask)
		for l := range vid {
			if vid[l] == none {
				require.Equal(e.u.t, none, eid[l])
				continue
			}
			p := pair{vid[l], eid[l]}
			require.NotZero(e.u.t, mask>>l&1, "an edge for an inactive lane")
			require.True(e.u.t, e.want[p], "%v was not registered, or came twice", p)
			delete(e.want, p)
		}
		if l := bits.TrailingZeros32(mask); e.skipping && vid[l] != none && e.r.IntN(4) == 0 {
			e.u.skip(w, 1<<l, vid...)
		}
	}
	if !e.skipping {
		require.Empty(e.u.t, e.want)
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, threads := range []int{4, 32} {
		b.Run(fmt.Sprintf("lanes=%d", threads), func(b *testing.B) {
			u := newUnit(b, weaver.DefaultSpec(), 1, threads)
			vid, deg := make([]uint32, threads), make([]uint32, threads)
			for l := range deg {
				deg[l] = 1000
			}
			r := emu.UnitRequest{Fn: isa.WeaverDecID, Mask: u.all(), Out: make([]uint32, threads)}
			b.ReportAllocs()
			for b.Loop() {
				if u.Phase() != weaver.Decoding {
					require.NoError(b, u.reg(0, u.all(), vid, vid, deg))
				}
				_ = u.Exec(&r)
			}
		})
	}
}
