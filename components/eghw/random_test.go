package eghw

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs/schema"
	"heddle/internal/testenv"
	"heddle/isa"
	"heddle/isa/emu"
)

// random is a unit with warps that push and pop, and a memory that answers when it likes.
type random struct {
	t       *testing.T
	r       *rand.Rand
	e       *Engine
	degrees []uint32
	weights bool
	got     map[edge]int
}

var specSchema = schema.New[Spec]("")

func newRandom(t *testing.T, seed uint64) *random {
	r := rand.New(rand.NewPCG(seed, 5))
	shape := Shape{Warps: 1 + r.IntN(4), Threads: 1 << r.IntN(6), LineBytes: 4 << r.IntN(9)}
	d := schema.Drawing[Spec]{
		Rand: r, Most: map[string]int64{"buffer_entries": 60, "outstanding_lines": 6, "lookahead": 6,
			"edges_per_read": 20, "buffer_latency": 6},
		Fit: func(s *Spec) {
			if s.BufferEntries > 0 {
				s.BufferEntries = max(s.BufferEntries, minEntries(&shape))
			}
		},
	}
	if r.IntN(4) == 0 {
		d.Most = map[string]int64{"buffer_entries": 400} // of 32 bytes, in a scratchpad of 16 KiB
	}
	spec, err := specSchema.Draw(specSchema.Default(), d)
	require.NoError(t, err)
	spec = spec.Derived(shape, 1)
	x := &random{t: t, r: r, e: NewEngine(spec, shape), weights: r.IntN(2) == 0, got: map[edge]int{}}
	require.NoError(t, spec.Check(shape))
	for range 1 + r.IntN(60) {
		d := r.IntN(4)
		if r.IntN(8) == 0 {
			d = r.IntN(100)
		}
		x.degrees = append(x.degrees, uint32(d))
	}
	x.e.UseMemory(emu.NewMemory())
	x.configure(x.e)
	return x
}

func (x *random) configure(e *Engine) {
	s := place(e.mem, x.degrees)
	if !x.weights {
		s.Weights = 0
	}
	require.NoError(x.t, Host{[]*Engine{e}}.Configure(s))
	e.Launch()
}

// want are the edges of vertices from..to.
func (x *random) want(from, to int) map[edge]int {
	want, number := map[edge]int{}, uint32(0)
	for v, d := range x.degrees {
		for range d {
			if v >= from && v < to {
				w := uint32(0)
				if x.weights {
					w = 1000 + number
				}
				want[edge{uint32(v), 100 + number, w}]++
			}
			number++
		}
	}
	return want
}

func (x *random) request(fn uint8, warp int, mask uint32) *emu.UnitRequest {
	n := x.e.shape.Threads
	return &emu.UnitRequest{Fn: fn, Warp: warp, Mask: mask, A: make([]uint32, n), Out: make([]uint32, n)}
}

// pushes are the pushes of vertices from..to, in warps' turns.
func (x *random) pushes(from, to int) (all []*emu.UnitRequest) {
	for warp := 0; from < to; warp = (warp + 1) % x.e.shape.Warps {
		n := min(1+x.r.IntN(x.e.shape.Threads), to-from)
		r := x.request(isa.EghwPush, warp, 1<<n-1)
		for l := range n {
			r.A[l] = uint32(from + l)
		}
		all = append(all, r)
		from += n
	}
	return all
}

// next returns the actions of a warp after an answer: the fields of a pop's edges, and then the next pop; nil after an
// empty one.
func (x *random) next(r *emu.UnitRequest, part map[int][3][]uint32) *emu.UnitRequest {
	p := part[r.Warp]
	p[r.Fn-isa.EghwPop] = r.Out
	part[r.Warp] = p
	if r.Fn == isa.EghwPop && x.take(r.Out) == 0 {
		return nil
	}
	if r.Fn < isa.EghwGetWt {
		return x.request(r.Fn+1, r.Warp, r.Mask)
	}
	for l := range r.Out {
		if p[0][l] != None {
			x.got[edge{p[0][l], p[1][l], p[2][l]}]++
		}
	}
	return x.request(isa.EghwPop, r.Warp, x.mask())
}

func (x *random) take(out []uint32) (n int) {
	for _, v := range out {
		if v != None {
			n++
		}
	}
	return n
}

func (x *random) mask() uint32 { return 1 + uint32(x.r.IntN(1<<x.e.shape.Threads-1)) }

// epoch pushes vertices and pops until all warps have seen the end.
func (x *random) epoch(now uint64, from, to int) uint64 {
	queue, part := x.pushes(from, to), map[int][3][]uint32{}
	for w := range x.e.shape.Warps {
		queue = append(queue, x.request(isa.EghwPop, w, x.mask()))
	}
	var reads []flight
	for live, last := x.e.shape.Warps, now+20_000_000; live > 0; now++ {
		require.Less(x.t, now, last, "no end")
		if i := x.r.IntN(4); i < len(reads) && reads[i].at <= now {
			x.e.Arrive(reads[i].tag)
			reads = append(reads[:i:i], reads[i+1:]...)
		}
		var head *emu.UnitRequest
		if len(queue) > 0 && x.r.IntN(3) > 0 {
			head = queue[0]
		}
		step := x.e.Cycle(now, head, x.r.IntN(3) > 0, x.r.IntN(4) > 0)
		require.NoError(x.t, step.Err)
		if step.Took {
			queue = queue[1:]
		}
		if step.HasRequest {
			reads = append(reads, flight{step.Request.Tag, now + uint64(1+x.r.IntN(40))})
		}
		if step.Answer != nil {
			if r := x.next(step.Answer, part); r != nil {
				queue = append(queue, r)
			} else {
				live--
			}
		}
		require.NoError(x.t, x.e.CheckInvariants())
	}
	return now
}

// functional does the same functionally.
func (x *random) functional(u *Functional, from, to int) map[edge]int {
	timed := x.got
	x.got = map[edge]int{}
	part := map[int][3][]uint32{}
	for _, r := range x.pushes(from, to) {
		require.NoError(x.t, u.Exec(r))
	}
	for w := range x.e.shape.Warps {
		for r := x.request(isa.EghwPop, w, x.mask()); r != nil; r = x.next(r, part) {
			require.NoError(x.t, u.Exec(r))
		}
	}
	require.NoError(x.t, u.CheckInvariants())
	got := x.got
	x.got = timed
	return got
}

// TestSameEdgesAtAnyTiming: whatever the knobs, and whenever memory answers, every edge of the pushed vertices is
// popped once, with its weight; and the functional unit hands out the same.
func TestSameEdgesAtAnyTiming(t *testing.T) {
	for seed := range testenv.Cases(t, 100, 400) {
		x := newRandom(t, seed)
		u, err := NewFunctional(x.e.spec, x.e.shape)
		require.NoError(t, err)
		u.UseMemory(emu.NewMemory())
		x.configure(u.Engine)
		now, from := uint64(0), 0
		for from < len(x.degrees) {
			to := min(len(x.degrees), from+1+x.r.IntN(vertexEntries(&x.e.shape)))
			now = x.epoch(now, from, to)
			want := x.want(from, to)
			require.Equal(t, want, x.got, "seed %d, vertices %d to %d", seed, from, to)
			require.Equal(t, want, x.functional(u, from, to), "seed %d, functional, vertices %d to %d", seed, from, to)
			x.got, from = map[edge]int{}, to
		}
		require.Equal(t, u.EdgesPopped, x.e.EdgesPopped)
		require.True(t, x.e.exhausted() && x.e.buffer.Len() == 0 && x.e.outstanding() == 0)
	}
}

// TestLaunchForgets: at whatever moment a kernel leaves off, the next launch begins with nothing.
func TestLaunchForgets(t *testing.T) {
	abandoned := uint64(0)
	for seed := range uint64(200) {
		x := newRandom(t, seed)
		now := uint64(0)
		var reads []uint32
		for _, r := range x.pushes(0, min(len(x.degrees), vertexEntries(&x.e.shape))) {
			for taken := false; !taken; now++ {
				step := x.e.Cycle(now, r, true, true)
				taken = step.Took
				if step.HasRequest {
					reads = append(reads, step.Request.Tag)
				}
			}
		}
		for range x.r.IntN(100) { // then memory answers, until nothing moves
			now++
			if len(reads) > 0 {
				x.e.Arrive(reads[0])
				reads = reads[1:]
			}
			if step := x.e.Cycle(now, nil, true, true); step.HasRequest {
				reads = append(reads, step.Request.Tag)
			}
		}
		for x.e.outstanding() > 0 {
			now++
			if len(reads) > 0 {
				x.e.Arrive(reads[0])
				reads = reads[1:]
			}
			if step := x.e.Cycle(now, nil, true, true); step.HasRequest {
				reads = append(reads, step.Request.Tag)
			}
		}
		x.e.Launch()
		require.NoError(t, x.e.CheckInvariants())
		abandoned += x.e.EdgesAbandoned
		to := min(len(x.degrees), vertexEntries(&x.e.shape))
		x.epoch(now+1, 0, to)
		require.Equal(t, x.want(0, to), x.got, "seed %d", seed)
	}
	require.NotZero(t, abandoned)
}

// TestFits: specs that could deadlock are refused.
func TestFits(t *testing.T) {
	shape := Shape{Warps: 32, Threads: 32, LineBytes: 64}
	for _, c := range []struct {
		change func(s *Spec)
		says   string
	}{
		{func(s *Spec) { s.BufferEntries = 46 }, "buffer_entries = 46: 32 lanes and lines of 64 bytes need 47"},
		{func(s *Spec) { s.OutstandingLines = 0 }, "outstanding_lines = 0"},
		{func(s *Spec) { s.ReadWords = 0 }, "write_words"},
		{func(s *Spec) { s.BufferEntries = 1025 }, "of a scratchpad that has 16384"},
		{func(s *Spec) { s.RequestQueue = 65 }, "a queue of at most 64"},
	} {
		s := DefaultSpec().Derived(shape, 3)
		require.NoError(t, s.Check(shape))
		c.change(&s)
		require.ErrorContains(t, s.Check(shape), c.says)
	}
	require.Equal(t, 128, DefaultSpec().Derived(shape, 3).BufferEntries)
	require.Equal(t, 19, DefaultSpec().Derived(Shape{Warps: 4, Threads: 4, LineBytes: 64}, 3).BufferEntries)
}

// TestSetup: a set-up that cannot be is refused, and so are offsets that it does not allow.
func TestSetup(t *testing.T) {
	good := Setup{Vertices: 3, Offsets: 0x1000, Edges: 5, Neighbours: 0x2000}
	require.NoError(t, good.Check())
	for _, c := range []struct {
		change func(s *Setup)
		says   string
	}{
		{func(s *Setup) { s.Offsets = 0 }, "offsets: 0x00000000: expected the address of 4 words"},
		{func(s *Setup) { s.Neighbours = 0x2002 }, "neighbours"},
		{func(s *Setup) { s.Weights = 0xFFFFFFF0 }, "weights"},
	} {
		s := good
		c.change(&s)
		require.ErrorContains(t, Host{}.Configure(s), c.says)
	}
	x := newRandom(t, 1)
	x.e.mem.Store32(0x1004, 1<<20)
	u, err := NewFunctional(x.e.spec, x.e.shape)
	require.NoError(t, err)
	u.UseMemory(x.e.mem)
	require.ErrorContains(t, u.Exec(x.request(isa.EghwPop, 0, 1)), "no set-up")
	u.setup, u.configured = x.e.setup, true
	require.NoError(t, u.Exec(x.request(isa.EghwPush, 0, 1)))
	require.ErrorContains(t, u.Exec(x.request(isa.EghwPop, 0, 1)),
		fmt.Sprintf("its edges are 0..1048576, but the set-up says there are %d", x.e.setup.Edges))
}

// TestNoAllocation in a steady state.
func TestNoAllocation(t *testing.T) {
	x := newRandom(t, 3)
	u, err := NewFunctional(x.e.spec, x.e.shape)
	require.NoError(t, err)
	u.UseMemory(emu.NewMemory())
	x.configure(u.Engine)
	push, pop := x.request(isa.EghwPush, 0, 1), x.request(isa.EghwPop, 0, 1)
	for v, d := range x.degrees {
		if d > 0 {
			push.A[0] = uint32(v)
		}
	}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		require.NoError(t, u.Exec(push))
		for pop.Out[0] = 0; pop.Out[0] != None; {
			require.NoError(t, u.Exec(pop))
		}
	}))
	require.Equal(t, 1, bits.OnesCount32(pop.Mask))
}
