package core_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/accel"
	"heddle/components/clock"
	"heddle/components/core"
	"heddle/isa"
	"heddle/isa/asm"
	"heddle/isa/emu"
)

// gate is a unit that answers requests when as many others (weaver.reg) have come as it wants.
type gate struct {
	clock.Base
	socket  *accel.Socket
	wanted  int
	waiting []accel.Tag
}

func (g *gate) Tick(clock.Cycle) bool {
	for r := g.socket.Waiting(); r != nil; r = g.socket.Waiting() {
		g.socket.Take()
		if r.Fn == isa.WeaverReg {
			g.wanted--
			g.socket.Done(r.Tag)
		} else {
			g.waiting = append(g.waiting, r.Tag)
		}
	}
	for g.wanted <= 0 && len(g.waiting) > 0 && g.socket.Room() {
		g.socket.Reply(g.waiting[0])
		g.waiting = g.waiting[1:]
	}
	return false
}

func (g *gate) Architecture() emu.Unit            { return gateArchitecture{} }
func (g *gate) QueueEntries() int                 { return 2 }
func (g *gate) Plug(s *accel.Socket)              { g.socket = s }
func (g *gate) Statistics(clock.Cycle) any        { return nil }
func (g *gate) CheckInvariants(clock.Cycle) error { return nil }
func (g *gate) Waits() string                     { return "" }
func (g *gate) Traits() []accel.Traits {
	return []accel.Traits{isa.WeaverReg: {}, isa.WeaverSkip: {}, isa.WeaverDecID: {Answered: true, Exclusive: true},
		isa.WeaverDecLoc: {Answered: true}}
}

type gateArchitecture struct{}

func (gateArchitecture) Name() string                { return "weaver" }
func (gateArchitecture) Launch()                     {}
func (gateArchitecture) Exec(*emu.UnitRequest) error { return nil }
func (gateArchitecture) Presence() uint32            { return isa.HasWeaver }
func (gateArchitecture) CSR(uint16) (uint32, bool)   { return 0, false }

// TestAnswersThatWaitForOtherWarps: instructions fetched behind a request to the unit fill the warps' buffers, and the
// warp that makes the unit answer is still fetched for, whatever their depth and its distance.
func TestAnswersThatWaitForOtherWarps(t *testing.T) {
	nops := strings.Repeat("nop\n", 70)
	text := `
_start:	la t0, warp
	csrr t1, vx_num_warps
	wspawn t1, t0
warp:	csrr t0, vx_wid
	csrr t1, vx_num_warps
	addi t1, t1, -1
	beq t0, t1, last
	weaver.dec.id a3
	addi a3, a3, 1
	weaver.dec.id a4
	addi a4, a4, 1
` + nops + `
	tmc zero
last:	` + nops + nops + `
	weaver.reg a0, a1, a2
	tmc zero
`
	p, err := asm.Assemble("gate.s", []byte(text), asm.Options{Base: 0x80000000})
	require.NoError(t, err)
	for depth := 1; depth <= 64; depth += 1 + depth/3 {
		for _, width := range []int{1, 2, 4} {
			m := newMachineWith(t, &gate{Base: clock.NewBase("Gate"), wanted: 1}, 6, 2,
				func(s *core.Spec) { s.IBuffer, s.FetchWidth = depth, width })
			m.emu.Load(p)
			m.core.Start()
			require.NoError(t, m.sys.Run())
			require.NoError(t, m.core.Err())
			require.True(t, m.core.Done(), "%d entries, %d ports: stuck\n%v", depth, width, m.core.Waits())
			require.NoError(t, m.core.CheckInvariants())
		}
	}
}
