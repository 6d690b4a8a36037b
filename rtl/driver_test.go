package rtl

import (
	"math/rand/v2"
	"strings"
	"testing"

	akita "github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"heddle/components/accel"
	"heddle/components/clock"
	"heddle/components/weaver"
	"heddle/isa"
	"heddle/isa/asm"
	"heddle/isa/emu"
)

// config is a Weaver and its core's shape.
type config struct {
	spec           weaver.Spec // derived
	warps, threads int
}

// request is what a core puts at the request port.
type request struct {
	fn      uint8
	warp    int
	mask    uint32
	a, b, c [32]uint32
}

// input is the state of the unit's inputs in a cycle.
type input struct {
	launch, ready bool
	req           *request // at the port; nil: none
	tag           uint32
}

// output is the state of its outputs in a cycle, before the clock's edge.
type output struct {
	Ready   bool // for a request
	Err     uint32
	Valid   bool // an answer, with the next four
	SetMask bool
	Tag     uint32
	Mask    uint32
	Data    [32]uint32
	// Inside.
	State, DTReads, Cursor, Filled uint32
	CED                            weaver.Entry
	STReads                        uint32 // that start in this cycle
	SkipHit, Dropped               bool   // a skip finds its vertex, and the current entry is dropped, in this cycle
}

// stimulus drives a unit. It sees the Go model.
type stimulus interface {
	// next is called in each cycle. pending is the request that has not been taken yet; next returns it or, if it is
	// nil, perhaps another.
	next(d *driver, now uint64, pending *request) (req *request, ready, launch, end bool)
}

// driver is the core's end of a socket with a Weaver, without a core. It records the ports' states in each cycle.
type driver struct {
	clock.Base
	config
	stimulus
	socket  *accel.Socket
	unit    *weaver.Weaver
	arch    *emu.Core
	ops     [4]*emu.Op // by function
	signals map[string]func() uint64
	pending *request
	asked   map[int]*request // by tag
	before  output           // the inside after the last cycle
	counts  weaver.Stats     // until then
	over    bool             // recorded: the unit comes to rest, to end the run
	ins     []input
	outs    []output
}

// record plays a stimulus to the Go model.
func record(t testing.TB, c config, s stimulus) ([]input, []output) {
	sys := clock.NewSystem("Clock", akita.NewSerialEngine())
	domain, err := sys.AddDomain("core", 1_000_000)
	require.NoError(t, err)
	u, err := weaver.New("Weaver", c.spec, c.warps, c.threads)
	require.NoError(t, err)
	d := &driver{Base: clock.NewBase("Driver"), config: c, stimulus: s, unit: u, asked: map[int]*request{},
		signals: map[string]func() uint64{}}
	d.load(t)
	u.Join(domain, u) // before the driver, which sees its state after each cycle
	d.Join(domain, d)
	d.socket = accel.Plug("socket", d.ClockHandle(), u)
	for _, s := range u.Signals() {
		d.signals[s.Name] = s.Read
	}
	u.Architecture().Launch()
	d.before = d.inside()
	d.ClockHandle().Wake()
	require.NoError(t, sys.Run())
	return d.ins, d.outs
}

func (d *driver) load(t testing.TB) {
	m, err := emu.New(emu.Config{Cores: 1, Warps: d.warps, Threads: d.threads, Units: func(int) []emu.Unit {
		return []emu.Unit{d.unit.Architecture()}
	}})
	require.NoError(t, err)
	p, err := asm.Assemble("d.s", []byte("weaver.reg a0, a1, a2; weaver.skip a3; weaver.dec.id a3; weaver.dec.loc a4"),
		asm.Options{Base: 0x80000000})
	require.NoError(t, err)
	m.Load(p)
	d.arch = m.Core(0)
	for i := range uint32(4) {
		op, err := d.arch.Warp(0).Decode(0x80000000 + 4*i)
		require.NoError(t, err)
		d.ops[op.UnitFn()] = op
	}
}

// Tick records a cycle, in which the unit has already had its turn.
func (d *driver) Tick(now clock.Cycle) bool {
	if d.over {
		if d.socket.Answered() {
			d.socket.Receive()
		}
		return !d.quiet()
	}
	out := d.before
	out.Ready, out.Valid = !d.socket.Full(), d.socket.Answered()
	if out.Valid {
		d.front(&out)
	}
	if err := d.socket.Err(); err != nil {
		out.Err = errorCode(err)
	}
	counts := d.unit.Stats(now)
	out.STReads = uint32(counts.RowsRead - d.counts.RowsRead)
	out.SkipHit, out.Dropped = counts.SkipHits > d.counts.SkipHits, counts.EdgesDropped > d.counts.EdgesDropped
	d.counts = counts

	var in input
	var end bool
	d.pending, in.ready, in.launch, end = d.next(d, now, d.pending)
	if out.Valid && in.ready {
		delete(d.asked, d.socket.Front().Tag)
		d.socket.Receive()
	}
	if in.req = d.pending; in.req != nil && out.Ready {
		in.tag = d.send(in.req)
		d.pending = nil
	}
	if in.launch {
		d.unit.Architecture().Launch()
	}
	d.before = d.inside()
	d.ins, d.outs = append(d.ins, in), append(d.outs, out)
	d.over = end || out.Err != 0
	return true
}

// front is the answer at the port.
func (d *driver) front(out *output) {
	call := d.socket.Front()
	out.Tag = uint32(call.Tag)
	copy(out.Data[:], call.Out)
	some := false
	for l, v := range call.Out {
		if v != weaver.None {
			out.Mask |= 1 << l
			some = true
		}
	}
	out.SetMask = call.Fn == isa.WeaverDecID && d.spec.MaskByUnit && some
	if out.SetMask && out.Mask != call.NewMask {
		panic("BUG: the model's new mask is not that of the lanes with an edge")
	}
}

func (d *driver) send(r *request) uint32 {
	call := d.socket.Begin()
	w := d.arch.Warp(r.warp)
	w.SetMask(r.mask)
	w.AskGiven(d.ops[r.fn], call)
	copy(call.A, r.a[:])
	copy(call.B, r.b[:])
	copy(call.C, r.c[:])
	d.asked[call.Tag] = r
	d.socket.Send(call.Tag)
	return uint32(call.Tag)
}

func (d *driver) inside() output {
	s := func(name string) uint32 { return uint32(d.signals[name]()) }
	return output{
		State: s("fsm"), DTReads: s("dt.reads"), Cursor: s("cursor"), Filled: s("od.filled"),
		CED: weaver.Entry{VID: s("ced.vid"), Loc: s("ced.loc"), Deg: s("ced.deg")},
	}
}

// quiet reports whether nothing is under way.
func (d *driver) quiet() bool {
	n := 0
	d.socket.Buffers(func(_ string, len, _ int) { n += len })
	return n == 0 && d.unit.Architecture().(interface{ Idle() bool }).Idle()
}

func errorCode(err error) uint32 {
	for i, part := range []string{1: "while the table is being decoded", 2: "the table has", 3: "twice in one epoch"} {
		if i > 0 && strings.Contains(err.Error(), part) {
			return uint32(i)
		}
	}
	panic("BUG: an error that the SystemVerilog does not know: " + err.Error())
}

// campaign is a random stimulus: epochs of registrations and decoding, with launches between and within.
type campaign struct {
	rand     *rand.Rand
	cycles   uint64
	phase    phase
	left     []int // warps that will register
	asks     int   // of 64: how often the core has a request
	takes    int   // and how often it takes an answer
	launches bool
	mistakes bool
	stalled  int // cycles without an answer taken
}

type phase int

const (
	filling phase = iota
	decoding
	draining
)

func newCampaign(seed uint64, cycles uint64) *campaign {
	r := rand.New(rand.NewPCG(seed, 40))
	rates := []int{2, 16, 48, 64}
	return &campaign{rand: r, cycles: cycles, phase: draining, asks: rates[r.IntN(4)], takes: rates[r.IntN(4)],
		launches: r.IntN(2) == 0, mistakes: r.IntN(6) == 0}
}

func (c *campaign) next(d *driver, now uint64, pending *request) (req *request, ready, launch, end bool) {
	if c.phase == draining && pending == nil && d.quiet() {
		c.phase = decoding
		if s := d.before.State; s == 8 || now == 0 {
			c.fill(d)
		}
	}
	if pending == nil && c.rand.IntN(64) < c.asks {
		pending = c.draw(d)
	}
	if c.stalled > 0 {
		c.stalled--
	} else if c.rand.IntN(300) == 0 {
		c.stalled = c.rand.IntN(40)
	}
	ready = c.stalled == 0 && c.rand.IntN(64) < c.takes
	if launch = c.launches && c.rand.IntN(250) == 0; launch {
		clean := pending == nil && d.quiet()
		if c.phase = draining; clean {
			c.fill(d)
		}
	}
	return pending, ready, launch, now+1 >= c.cycles
}

// fill begins an epoch.
func (c *campaign) fill(d *driver) {
	c.phase = filling
	c.left = c.rand.Perm(d.warps)
	if c.rand.IntN(4) == 0 {
		c.left = c.left[:c.rand.IntN(d.warps+1)]
	}
}

// draw returns a request, or nil.
func (c *campaign) draw(d *driver) *request {
	all := uint32(uint64(1)<<d.threads - 1)
	r := &request{warp: c.rand.IntN(d.warps), mask: c.rand.Uint32() & all}
	if c.rand.IntN(2) == 0 {
		r.mask = all
	}
	if r.mask == 0 {
		r.mask = 1
	}
	switch {
	case c.phase == draining:
		return nil
	case c.phase == filling && len(c.left) == 0:
		c.phase = decoding
		return nil
	case c.phase == filling && c.mistakes && c.rand.IntN(40) == 0: // perhaps for the second time
		return c.register(d, r)
	case c.phase == filling:
		r.warp, c.left = c.left[0], c.left[1:]
		return c.register(d, r)
	case d.before.State == 8 && c.rand.IntN(8) == 0:
		c.phase = draining
		return nil
	case c.mistakes && c.rand.IntN(100) == 0:
		return c.register(d, r)
	}
	r.fn = [...]uint8{isa.WeaverDecID, isa.WeaverDecID, isa.WeaverDecLoc, isa.WeaverSkip}[c.rand.IntN(4)]
	for l := range d.threads {
		r.a[l] = c.rand.Uint32N(20)
		if c.rand.IntN(2*d.threads) == 0 {
			r.a[l] = d.before.CED.VID
		}
	}
	return r
}

// register makes a registration of the request; nil: the warp has no slots.
func (c *campaign) register(d *driver, r *request) *request {
	r.fn = isa.WeaverReg
	most := []uint32{1, 3, 2 * uint32(d.threads), 100}[c.rand.IntN(4)]
	for l := range d.threads {
		if slot := r.warp*d.threads + l; slot >= d.spec.STEntries && !c.mistakes {
			r.mask &^= 1 << l
		}
		r.a[l], r.b[l], r.c[l] = c.rand.Uint32N(20), c.rand.Uint32(), c.rand.Uint32N(most+1)
		if c.rand.IntN(4) == 0 {
			r.c[l] = 0
		}
	}
	if r.mask == 0 {
		return nil
	}
	return r
}
