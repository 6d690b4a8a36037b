package weaver

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs/schema"
	"heddle/internal/testenv"
	"heddle/isa"
	"heddle/isa/emu"
)

type pair struct{ vid, eid uint32 }

// rig drives an FSM with the requests of warps that run kernels, at random times; answers leave at random times too.
type rig struct {
	t     *testing.T
	rand  *rand.Rand
	f     *FSM
	twin  *Functional
	warps []*rigWarp
	queue []*emu.UnitRequest
	now   uint64
	got   map[pair]int
	skips bool
}

// rigWarp decodes until it gets nothing.
type rigWarp struct {
	over    bool
	waiting bool
	vids    []uint32 // of the batch whose edges it wants next
}

var specSchema = schema.New[Spec]("")

func newRig(t *testing.T, seed uint64) *rig {
	r := rand.New(rand.NewPCG(seed, 7))
	warps, threads := 1+r.IntN(8), 1+r.IntN(32)
	d := schema.Drawing[Spec]{Rand: r, Keep: []string{"model"}, Most: map[string]int64{"st_entries": 300, "table_latency": 25},
		Fit: func(s *Spec) {
			s.DTEntries = max(s.DTEntries, warps*threads)
		}}
	if r.IntN(5) == 0 {
		d.Most, warps = map[string]int64{"table_latency": 200}, 1+r.IntN(64)
	}
	s, err := specSchema.Draw(specSchema.Default(), d)
	require.NoError(t, err)
	s = s.Derived(warps, threads, 1)
	twin, err := NewFunctional(s, warps, threads)
	require.NoError(t, err)
	g := &rig{t: t, rand: r, f: NewFSM(s, warps, threads), twin: twin, skips: r.IntN(3) == 0}
	g.f.Launch()
	g.twin.Launch()
	for range warps {
		g.warps = append(g.warps, &rigWarp{})
	}
	return g
}

func (g *rig) request(fn uint8, warp int, mask uint32) *emu.UnitRequest {
	n := g.f.threads
	return &emu.UnitRequest{Fn: fn, Warp: warp, Mask: mask, NewMask: mask, A: make([]uint32, n), B: make([]uint32, n),
		C: make([]uint32, n), Out: make([]uint32, n)}
}

func (g *rig) mask() uint32 { return uint32(uint64(1)<<g.f.threads - 1) }

// register puts the same entries into both units, in different orders of warps.
func (g *rig) register() {
	var all []*emu.UnitRequest
	next := uint32(0)
	for w := range g.warps {
		q := g.request(isa.WeaverReg, w, g.rand.Uint32()&g.mask())
		for m := q.Mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			if w*g.f.threads+l >= len(g.f.st) {
				q.Mask &^= 1 << l
				continue
			}
			q.A[l], q.B[l], q.C[l] = next, 2*next, uint32(g.rand.IntN(4)*g.rand.IntN(30))
			next += q.C[l] + 1
		}
		if q.Mask != 0 {
			all = append(all, q)
			require.NoError(g.t, g.twin.Exec(q))
		}
	}
	g.rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	g.queue = append(g.queue, all...)
}

// cycle lets idle warps ask now and then, and moves the unit.
func (g *rig) cycle() {
	for i, w := range g.warps {
		if !w.over && !w.waiting && g.rand.IntN(3) == 0 {
			g.ask(i, w)
		}
	}
	var head *emu.UnitRequest
	if len(g.queue) > 0 {
		head = g.queue[0]
	}
	g.now++
	if head == nil && g.f.Idle() && g.rand.IntN(2) == 0 {
		return // sleeping is allowed
	}
	step := g.f.Cycle(g.now, head, g.rand.IntN(4) != 0)
	require.NoError(g.t, step.Err)
	if step.Took {
		g.queue = g.queue[1:]
	}
	if step.Answer != nil {
		g.answered(step.Answer)
	}
	if g.now%16 == 0 {
		require.NoError(g.t, g.f.CheckInvariants())
	}
}

func (g *rig) ask(i int, w *rigWarp) {
	switch {
	case w.vids != nil:
		g.queue = append(g.queue, g.request(isa.WeaverDecLoc, i, g.mask()))
	default:
		mask := g.rand.Uint32() & g.mask()
		if mask == 0 {
			mask = 1
		}
		g.queue = append(g.queue, g.request(isa.WeaverDecID, i, mask))
	}
	w.waiting = true
}

func (g *rig) answered(r *emu.UnitRequest) {
	w := g.warps[r.Warp]
	w.waiting = false
	if r.Fn == isa.WeaverDecID {
		g.batch(w, r)
		return
	}
	for l, vid := range w.vids {
		require.Equal(g.t, vid == None, r.Out[l] == None)
		if vid != None {
			g.got[pair{vid, r.Out[l]}]++
		}
	}
	if l := g.rand.IntN(len(w.vids)); g.skips && w.vids[l] != None && g.rand.IntN(3) == 0 {
		q := g.request(isa.WeaverSkip, r.Warp, 1<<l)
		copy(q.A, w.vids)
		g.queue = append(g.queue, q)
	}
	w.vids = nil
}

func (g *rig) batch(w *rigWarp, r *emu.UnitRequest) {
	filled := uint32(0)
	for l, vid := range r.Out {
		if vid != None {
			filled |= 1 << l
		}
	}
	require.Zero(g.t, filled&^r.Mask, "an edge for a lane that is off")
	if g.f.spec.MaskByUnit && filled != 0 {
		require.Equal(g.t, filled, r.NewMask)
	} else {
		require.Equal(g.t, r.Mask, r.NewMask)
	}
	if w.over = filled == 0; !w.over {
		w.vids = r.Out
	}
}

// epoch runs until every warp got nothing, and everything has been answered.
func (g *rig) epoch() {
	g.got = map[pair]int{}
	g.register()
	for _, w := range g.warps {
		w.over = false
	}
	for busy := true; busy; {
		g.cycle()
		busy = len(g.queue) > 0 || !g.f.Idle()
		for _, w := range g.warps {
			busy = busy || !w.over
		}
	}
	require.Equal(g.t, S8, g.f.at)
	require.NoError(g.t, g.f.CheckInvariants())
}

// expected returns the edges that the functional model distributes.
func (g *rig) expected() map[pair]int {
	want := map[pair]int{}
	for g.twin.Phase() != Ended {
		id, loc := g.request(isa.WeaverDecID, 0, g.mask()), g.request(isa.WeaverDecLoc, 0, g.mask())
		require.NoError(g.t, g.twin.Exec(id))
		require.NoError(g.t, g.twin.Exec(loc))
		for l, vid := range id.Out {
			if vid != None {
				want[pair{vid, loc.Out[l]}]++
			}
		}
	}
	return want
}

// Whatever the knobs, the times and the interleaving of warps: the edges handed
// out are those of the functional model, each once. Skips only take some away.
func TestTheSameEdgesAsFunctional(t *testing.T) {
	for seed := range testenv.Cases(t, 120, 800) {
		g := newRig(t, seed)
		for range 3 {
			g.epoch()
			want := g.expected()
			if !g.skips {
				require.Equal(t, want, g.got, "seed %d", seed)
			}
			for p, n := range g.got {
				require.Equal(t, 1, n)
				require.Equal(t, 1, want[p], "seed %d: %v was not registered", seed, p)
			}
		}
		require.Equal(t, g.f.DegreeRegistered, g.f.LanesFilled+g.f.EdgesDropped, "seed %d", seed)
		require.Equal(t, g.twin.DegreeRegistered, g.f.DegreeRegistered)
	}
}

// A launch discards registrations, also in the middle of a batch.
func TestLaunchForgets(t *testing.T) {
	for at := range uint64(12) {
		f := NewFSM(Spec{STEntries: 8, DTEntries: 8, TableLatency: 2, STRow: 4}, 2, 4)
		f.Launch()
		reg := emu.UnitRequest{Fn: isa.WeaverReg, Mask: 3, A: []uint32{1, 2, 0, 0}, B: make([]uint32, 4),
			C: []uint32{1, 9, 0, 0}}
		id := emu.UnitRequest{Fn: isa.WeaverDecID, Mask: 15, Out: make([]uint32, 4)}
		require.True(t, f.Cycle(0, &reg, true).Took)
		require.True(t, f.Cycle(1, &id, true).Took)
		for now := range at {
			f.Cycle(2+now, nil, true)
		}
		f.Launch()
		require.NoError(t, f.CheckInvariants())
		require.Equal(t, uint64(10), f.LanesFilled+f.Abandoned)
		require.True(t, f.Idle())
		require.True(t, f.Cycle(20, &reg, true).Took)
		require.NoError(t, f.step.Err)
	}
}

// Each invariant notices when a counter of it is wrong.
func TestInvariantsNotice(t *testing.T) {
	f := NewFSM(DefaultSpec().Derived(1, 4, 6), 1, 4)
	f.Launch()
	require.True(t, f.Cycle(3, &emu.UnitRequest{Fn: isa.WeaverReg, Mask: 1, A: []uint32{1}, B: []uint32{1},
		C: []uint32{5}}, true).Took)
	require.NoError(t, f.CheckInvariants())
	for name, count := range map[string]*uint64{
		"edges registered": &f.DegreeRegistered, "5 issued": &f.LanesFilled, "5 dropped": &f.EdgesDropped, "5 abandoned": &f.Abandoned,
		"requests answered": &f.Decodes, "but 5 batches": &f.BatchesEmpty, "cycles, but": &f.Cycles, "its states have": &f.States[S4],
	} {
		*count += 5
		require.ErrorContains(t, f.CheckInvariants(), name)
		*count -= 5
	}
}

func BenchmarkFSM(b *testing.B) {
	f := NewFSM(DefaultSpec().Derived(32, 32, 6), 32, 32)
	f.Launch()
	lanes := make([]uint32, 32)
	deg := make([]uint32, 32)
	for l := range deg {
		deg[l] = 100
	}
	reg := emu.UnitRequest{Fn: isa.WeaverReg, Mask: ^uint32(0), A: lanes, B: lanes, C: deg}
	id := emu.UnitRequest{Fn: isa.WeaverDecID, Mask: ^uint32(0), Out: make([]uint32, 32)}
	b.ReportAllocs()
	now := uint64(0)
	for b.Loop() {
		now++
		head := &id
		if f.at == S8 {
			head = &reg
		}
		f.Cycle(now, head, true)
	}
}
