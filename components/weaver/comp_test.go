package weaver_test

import (
	"fmt"
	"math/rand/v2"
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

const driverWarps, driverLanes = 6, 4

// driver is the core's end of a socket, without a pipeline: its warps issue the requests of a kernel at random times.
// It records answers and their cycles.
type driver struct {
	clock.Base
	rand   *rand.Rand
	socket *accel.Socket
	unit   *weaver.Weaver
	arch   *emu.Core
	ops    [4]*emu.Op // by function
	warps  [driverWarps]driverWarp
	port   []*emu.UnitCall // issued; the first is at the SFU
	epochs int             // to come
	quiet  bool            // no log
	awake  bool            // the unit is woken for every cycle
	log    []string
}

type driverWarp struct {
	registered, waits, over bool
	next                    uint8 // its next request while it decodes
}

// newDriver makes a driver and a Weaver, which tick in the order asked for.
func newDriver(t testing.TB, seed uint64, s weaver.Spec, unitFirst bool) (*driver, *clock.System) {
	sys := clock.NewSystem("Clock", akita.NewSerialEngine())
	domain, err := sys.AddDomain("core", 1_000_000)
	require.NoError(t, err)
	u, err := weaver.New("Weaver", s.Derived(driverWarps, driverLanes, 6), driverWarps, driverLanes)
	require.NoError(t, err)
	d := &driver{Base: clock.NewBase("Driver"), rand: rand.New(rand.NewPCG(seed, 3)), unit: u, epochs: 3}
	d.load(t)
	if unitFirst {
		u.Join(domain, u)
	}
	d.Join(domain, d)
	if !unitFirst {
		u.Join(domain, u)
	}
	d.socket = accel.Plug("socket", d.ClockHandle(), u)
	return d, sys
}

// load prepares warps and instructions: hart h registers vertex 16·h, first edge 256·h, degree 7·h mod 16.
func (d *driver) load(t testing.TB) {
	m, err := emu.New(emu.Config{Cores: 1, Warps: driverWarps, Threads: driverLanes, Units: func(int) []emu.Unit {
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
	for w := range driverWarps {
		for l := range driverLanes {
			h := uint32(w*driverLanes + l)
			for r, v := range []uint32{16 * h, 256 * h, 7 * h % 16} {
				d.arch.Warp(w).SetReg(isa.Reg(10+r), l, v)
			}
		}
		d.arch.Warp(w).SetMask(1<<driverLanes - 1)
	}
}

// Tick acts as a core's SFU and warps.
func (d *driver) Tick(now clock.Cycle) bool {
	if d.awake {
		d.unit.ClockHandle().Wake()
	}
	if err := d.socket.Err(); err != nil {
		if d.epochs > 0 {
			d.log = append(d.log, fmt.Sprintf("%d: %v", now, err))
		}
		d.epochs = 0
		return false
	}
	if d.socket.Answered() {
		d.receive(now)
	}
	if len(d.port) > 0 && !d.socket.Full() {
		d.socket.Send(d.port[0].Tag)
		copy(d.port, d.port[1:])
		d.port = d.port[:len(d.port)-1]
	}
	if w := d.rand.IntN(driverWarps); len(d.port) < 3 {
		d.issue(w)
	}
	if d.epochs == 0 && len(d.port) == 0 && d.socket.Idle() {
		d.log = append(d.log, fmt.Sprintf("%d: idle", now))
		return false
	}
	return true
}

func (d *driver) receive(now clock.Cycle) {
	call := d.socket.Front()
	w := &d.warps[call.Warp]
	if !d.quiet {
		d.log = append(d.log, fmt.Sprintf("%d: warp %d, function %d: %d, mask %x", now, call.Warp, call.Fn, call.Out,
			call.NewMask))
	}
	d.arch.Warp(call.Warp).Answer(call)
	d.arch.Warp(call.Warp).SetMask(1<<driverLanes - 1)
	w.waits = false
	if call.Fn == isa.WeaverDecID && call.Out[0] == none {
		w.over = true
	}
	d.socket.Receive()
	for i := range d.warps {
		if !d.warps[i].over {
			return
		}
	}
	d.warps = [driverWarps]driverWarp{}
	if d.epochs--; d.epochs == 0 { // end with requests that are not answered
		for i := range driverWarps {
			d.ask(i, isa.WeaverSkip)
		}
	}
}

// issue lets the warp issue its next instruction, if it may.
func (d *driver) issue(i int) {
	w := &d.warps[i]
	fn := isa.WeaverReg
	switch {
	case d.epochs == 0 || w.over || w.waits:
		return
	case !w.registered:
		w.registered = true
	default:
		for j := range d.warps {
			if !d.warps[j].registered {
				return // at the barrier
			}
		}
		fn = [...]uint8{isa.WeaverDecID, isa.WeaverDecLoc, isa.WeaverDecLoc, isa.WeaverSkip}[w.next%4]
		w.next++
		w.waits = fn != isa.WeaverSkip
	}
	d.ask(i, fn)
}

func (d *driver) ask(i int, fn uint8) {
	op := d.ops[fn]
	if !d.socket.CanIssue(i, op) {
		return
	}
	d.socket.Issue(i, op)
	call := d.socket.Begin()
	d.arch.Warp(i).Ask(op, call)
	d.port = append(d.port, call)
}

// TestTickOrderDoesNotMatter: a core that ticks before its unit, and one that ticks after, see
// the same answers in the same cycles, and the unit counts the same; also a unit that never sleeps.
func TestTickOrderDoesNotMatter(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 9))
		s := weaver.Spec{
			STEntries: 24, DTEntries: 24, TableLatency: 1 + r.IntN(2)*r.IntN(30), STRow: 1 + r.IntN(8),
			RequestQueue: 1 + r.IntN(6),
			Prefetch:     r.IntN(2) == 0, SkipEmpty: r.IntN(2) == 0, MaskByUnit: r.IntN(2) == 0,
		}
		var logs [3][]string
		var stats [3]weaver.Stats
		for i := range 3 {
			d, sys := newDriver(t, seed, s, i == 1)
			d.awake = i == 2
			d.ClockHandle().Wake()
			require.NoError(t, sys.Run())
			require.Zero(t, d.epochs)
			require.Contains(t, d.log[len(d.log)-1], "idle", "the driver was not woken: %v", d.socket.Idle())
			require.NoError(t, d.unit.CheckInvariants(1_000_000))
			logs[i], stats[i] = d.log, d.unit.Stats(1_000_000)
		}
		require.Equal(t, logs[0], logs[1], "seed %d", seed)
		require.Equal(t, stats[0], stats[1], "seed %d", seed)
		require.Equal(t, logs[0], logs[2], "seed %d: awake", seed)
		require.Equal(t, stats[0], stats[2], "seed %d: awake", seed)
		require.NotZero(t, stats[0].LocReads)
	}
}

// TestErrorsReachTheCore in the same cycle, whichever ticks first.
func TestErrorsReachTheCore(t *testing.T) {
	var logs [2][]string
	for i := range 2 {
		d, sys := newDriver(t, 1, weaver.Spec{STEntries: 1, DTEntries: 24, RequestQueue: 2}, i == 1)
		d.ClockHandle().Wake()
		require.NoError(t, sys.Run())
		logs[i] = d.log
	}
	require.Len(t, logs[0], 1)
	require.Regexp(t, `^\d+: graph unit: weaver.reg at slot \d+ \(warp·threads \+ lane\): the table has 1 entries`,
		logs[0][0])
	require.Equal(t, logs[0], logs[1])
}

func TestNewChecksItsSpec(t *testing.T) {
	s := weaver.DefaultSpec()
	_, err := weaver.New("W", s, 4, 4)
	require.ErrorContains(t, err, "table_latency 0, st_row 0, request_queue 0: expected at least 1")
	s.RequestQueue = accel.MaxQueue + 1
	_, err = weaver.New("W", s.Derived(4, 4, 6), 4, 4)
	require.ErrorContains(t, err, "a queue of at most 64")
	_, err = weaver.New("W", s.Derived(64, 32, 6), 64, 32)
	require.ErrorContains(t, err, "W: weaver dt_entries = 1024: expected at least warps × threads = 2048")
}

// TestTheQueueHoldsWhatItSays: a core is refused when request_queue requests wait.
func TestTheQueueHoldsWhatItSays(t *testing.T) {
	for _, entries := range []int{1, 3} {
		d, _ := newDriver(t, 1, weaver.Spec{STEntries: 24, DTEntries: 24, RequestQueue: entries}, false)
		for range entries {
			require.False(t, d.socket.Full())
			call := d.socket.Begin()
			d.arch.Warp(0).Ask(d.ops[isa.WeaverReg], call)
			d.socket.Send(call.Tag)
		}
		require.True(t, d.socket.Full())
		require.False(t, d.socket.Idle())
	}
}

// TestWaits: a report names the state, and omits a unit without work.
func TestWaits(t *testing.T) {
	d, sys := newDriver(t, 1, weaver.Spec{STEntries: 24, DTEntries: 24, RequestQueue: 2}, false)
	require.Empty(t, d.unit.Waits())
	call := d.socket.Begin()
	d.arch.Warp(0).Ask(d.ops[isa.WeaverReg], call)
	d.socket.Send(call.Tag)
	d.warps[0].registered = true
	require.Equal(t, "Weaver: in state s0 init, 0 entries left to decode", d.unit.Waits())
	d.ClockHandle().Wake()
	require.NoError(t, sys.Run())
	require.Empty(t, d.unit.Waits())
}

// TestNothingIsAllocated once the calls under way have all been there.
func TestNothingIsAllocated(t *testing.T) {
	d, sys := newDriver(t, 5, weaver.DefaultSpec(), false)
	d.quiet, d.epochs = true, 20
	run := func() {
		d.epochs = 20
		d.ClockHandle().Wake()
		_ = sys.Run()
	}
	run()
	require.LessOrEqual(t, testing.AllocsPerRun(5, run), 10.0, "an epoch has some 100 requests")
}
