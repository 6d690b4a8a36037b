package accel

import (
	"errors"
	"testing"

	akita "github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"heddle/components/clock"
	"heddle/isa"
	"heddle/isa/asm"
	"heddle/isa/emu"
)

// fake is a unit whose functions are the Weaver's: reg has no answer, dec.id is exclusive. Tests move it by hand.
type fake struct {
	clock.Base
	socket *Socket
}

func (f *fake) Tick(clock.Cycle) bool             { return false }
func (f *fake) Architecture() emu.Unit            { return fakeArchitecture{} }
func (f *fake) QueueEntries() int                 { return 2 }
func (f *fake) Plug(s *Socket)                    { f.socket = s }
func (f *fake) Statistics(clock.Cycle) any        { return nil }
func (f *fake) CheckInvariants(clock.Cycle) error { return nil }
func (f *fake) Waits() string                     { return "" }
func (f *fake) Traits() []Traits {
	return []Traits{isa.WeaverReg: {}, isa.WeaverSkip: {}, isa.WeaverDecID: {Answered: true, Exclusive: true},
		isa.WeaverDecLoc: {Answered: true}}
}

type fakeArchitecture struct{}

func (fakeArchitecture) Name() string                { return "weaver" }
func (fakeArchitecture) Launch()                     {}
func (fakeArchitecture) Exec(*emu.UnitRequest) error { return nil }
func (fakeArchitecture) Presence() uint32            { return 0 }
func (fakeArchitecture) CSR(uint16) (uint32, bool)   { return 0, false }

// bench is a core's warp and a unit, driven by a script of actions by cycle.
type bench struct {
	clock.Base
	t      *testing.T
	unit   *fake
	socket *Socket
	warp   *emu.Warp
	ops    [4]*emu.Op
	other  *emu.Op
	script map[clock.Cycle]func()
	end    clock.Cycle
}

func (b *bench) Tick(now clock.Cycle) bool {
	if f := b.script[now]; f != nil {
		f()
	}
	return now < b.end
}

func newBench(t *testing.T) (*bench, *clock.System) {
	sys := clock.NewSystem("Clock", akita.NewSerialEngine())
	d, err := sys.AddDomain("core", 1_000_000)
	require.NoError(t, err)
	b := &bench{Base: clock.NewBase("Bench"), t: t, unit: &fake{Base: clock.NewBase("Unit")},
		script: map[clock.Cycle]func(){}, end: 30}
	m, err := emu.New(emu.Config{Cores: 1, Warps: 2, Threads: 2,
		Units: func(int) []emu.Unit { return []emu.Unit{b.unit.Architecture()} }})
	require.NoError(t, err)
	p, err := asm.Assemble("b.s", []byte("weaver.reg a0, a1, a2; weaver.skip a0; weaver.dec.id a3; weaver.dec.loc a4; "+
		"addi a0, a0, 1"), asm.Options{Base: 0x80000000})
	require.NoError(t, err)
	m.Load(p)
	b.warp = m.Core(0).Warp(0)
	for i := range uint32(5) {
		op, err := b.warp.Decode(0x80000000 + 4*i)
		require.NoError(t, err)
		if b.other = op; i < 4 {
			b.ops[op.UnitFn()] = op
		}
	}
	b.Join(d, b)
	b.unit.Join(d, b.unit)
	b.socket = Plug("socket", b.ClockHandle(), b.unit)
	b.ClockHandle().Wake()
	return b, sys
}

// send issues a function and gives it to the unit.
func (b *bench) send(fn uint8) Tag {
	require.True(b.t, b.socket.CanIssue(0, b.ops[fn]))
	b.socket.Issue(0, b.ops[fn])
	call := b.socket.Begin()
	b.warp.Ask(b.ops[fn], call)
	require.False(b.t, b.socket.Full())
	b.socket.Send(call.Tag)
	return call.Tag
}

func (b *bench) can(fn uint8) bool { return b.socket.CanIssue(0, b.ops[fn]) }

// An exclusive request keeps its warp's other requests, and nothing else, until its own answer; the answer to an
// earlier one is not it.
func TestExclusive(t *testing.T) {
	b, sys := newBench(t)
	var loc, id Tag
	b.script[1] = func() { loc = b.send(isa.WeaverDecLoc) }
	b.script[2] = func() {
		id = b.send(isa.WeaverDecID)
		require.False(t, b.can(isa.WeaverReg))
		require.False(t, b.can(isa.WeaverDecID))
		require.True(t, b.socket.CanIssue(0, b.other), "an addition")
		require.True(t, b.socket.CanIssue(1, b.ops[isa.WeaverReg]), "another warp")
	}
	b.script[5] = func() { b.socket.Take(); b.socket.Reply(loc); b.socket.Take(); b.socket.Reply(id) }
	b.script[6] = func() { b.socket.Receive(); require.False(t, b.can(isa.WeaverDecLoc)) }
	b.script[7] = func() {
		b.socket.Receive()
		require.True(t, b.can(isa.WeaverDecLoc))
		require.True(t,
			b.socket.Idle())
	}
	b.script[8] = func() {
		require.NoError(t, b.socket.CheckInvariants(2))
		require.ErrorContains(t, b.socket.CheckInvariants(3),
			"2 requests of 2 and 2 answers of 2 came out; the unit says that it has answered 3")
	}
	require.NoError(t, sys.Run())
}

// A request is seen in the cycle after, an answer too, and a full queue is seen when it is full.
func TestWiresTakeACycle(t *testing.T) {
	b, sys := newBench(t)
	var first Tag
	b.script[1] = func() {
		first = b.send(isa.WeaverDecLoc)
		require.Nil(t, b.socket.Waiting())
		b.send(isa.WeaverDecLoc)
		require.True(t, b.socket.Full())
	}
	b.script[2] = func() {
		require.Equal(t, first, b.socket.Waiting().Tag)
		b.socket.Take()
		require.True(t, b.socket.Full(), "the slot is free from the next cycle on")
		b.socket.Reply(first)
		require.False(t, b.socket.Answered())
	}
	b.script[3] = func() {
		require.True(t, b.socket.Answered())
		require.Equal(t, 0, b.socket.Front().Warp)
		require.False(t, b.socket.Full())
	}
	require.NoError(t, sys.Run())
}

// The unit's part in the end of a call is seen from the next cycle on, whoever ticks first.
func TestTheEndOfACallIsSeenTheCycleAfter(t *testing.T) {
	b, sys := newBench(t)
	b.script[1] = func() { b.send(isa.WeaverReg) }
	b.script[2] = func() {
		tag := b.socket.Waiting().Tag
		b.socket.Take()
		b.socket.Done(tag)
		require.False(t, b.socket.Idle())
	}
	b.script[3] = func() { require.True(t, b.socket.Idle()) }
	require.NoError(t, sys.Run())
}

// An error is seen from the next cycle on, whatever ends in that one.
func TestAnErrorIsSeenTheCycleAfter(t *testing.T) {
	b, sys := newBench(t)
	var good Tag
	b.script[1] = func() { b.send(isa.WeaverReg); good = b.send(isa.WeaverReg) }
	b.script[2] = func() {
		b.socket.Fail(b.socket.Waiting().Tag, errors.New("no"))
		b.socket.Take()
		require.NoError(t, b.socket.Err())
	}
	b.script[3] = func() {
		b.socket.Take()
		b.socket.Done(good)
		require.ErrorContains(t, b.socket.Err(), "graph unit: no\n  at pc 0x")
		require.False(t, b.socket.Idle())
	}
	require.NoError(t, sys.Run())
}

// Lengths and refusals are counted by cycles.
func TestQueueCounts(t *testing.T) {
	var q queue
	q.enter(10)
	q.enter(12)
	q.refuse(13)
	q.refuse(14)
	q.leave(20)
	q.enter(20) // in whatever order within the cycle
	q.settle(25)
	q.leave(30)
	q.leave(31)
	q.settle(40)
	require.Equal(t, []uint64{10 + 9, 2 + 1, 8 + 10}, q.lengths[:3])
	require.EqualValues(t, 7, q.held.Count())
	q.refuse(42)
	q.settle(45)
	require.EqualValues(t, 10, q.held.Count(), "what is still held in front of it counts too")
	q.settle(45)
	require.EqualValues(t, 45, q.lengths[0]+q.lengths[1]+q.lengths[2])
}
