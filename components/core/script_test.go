package core_test

import (
	"fmt"
	"strings"
	"testing"

	akita "github.com/sarchlab/akita/v3/sim"
	"github.com/stretchr/testify/require"

	"heddle/components/core"
	"heddle/configs/schema"
	"heddle/internal/scripts"
	"heddle/isa/asm"
	"heddle/isa/emu"
)

// TestScripts plays testdata/*.txt on a core between perfect caches and compares their
// traces. A script says:
//
//	core KEY=VALUE…   a new core; keys as in the configuration
//	warp | TEXT       a line of every warp's program
//	run               to the end
//
// The trace has a line for each of these instructions, in the order of their issue: the cycles
// in which it was decoded, issued, dispatched with its operands, and committed.
func TestScripts(t *testing.T) {
	scripts.Play(t, "testdata/*.txt", func(t *testing.T, commands []string) []string {
		s := script{t: t}
		for _, line := range commands {
			s.line(line)
		}
		return s.out
	})
}

// script is a script being played; out is it with traces.
type script struct {
	t    *testing.T
	spec core.Spec
	text []string
	out  []string
}

func (s *script) line(line string) {
	s.out = append(s.out, line)
	words := strings.Fields(line)
	switch {
	case len(words) == 0 || strings.HasPrefix(words[0], "#"):
	case words[0] == "core":
		l, err := schema.New[core.Spec]("").Load(schema.Input{Set: words[1:]})
		require.NoError(s.t, err)
		s.spec, s.text = l.Value, nil
	case words[0] == "warp":
		s.text = append(s.text, strings.TrimPrefix(line, "warp |"))
	case words[0] == "run":
		s.run()
	default:
		s.t.Fatalf("unknown command: %s", line)
	}
}

// prologue starts all warps with all lanes; the code after it is traced.
const prologue = `
_start:	la t0, warp
	csrr t1, vx_num_warps
	wspawn t1, t0
warp:	li t0, -1
	tmc t0
	li t1, 7
	li t2, 3
	la a0, end
	nop
	nop
	j traced
traced:
`

const epilogue = `
end:	tmc zero
	nop
`

func (s *script) run() {
	m := newMachine(s.t, s.spec.Warps, s.spec.Threads, func(spec *core.Spec) { *spec = s.spec })
	p, err := asm.Assemble("script.s", []byte(prologue+strings.Join(s.text, "\n")+epilogue),
		asm.Options{Base: 0x80000000})
	require.NoError(s.t, err)
	m.emu.Load(p)
	from, _ := p.Symbol("traced")
	end, _ := p.Symbol("end")
	r := recorder{base: ^uint64(0), pcs: map[*emu.Op]uint32{}}
	for pc := from; pc < end; pc += 4 {
		op, err := m.emu.Core(0).Warp(0).Decode(pc)
		require.NoError(s.t, err)
		r.pcs[op] = pc
	}
	m.core.AcceptHook(&r)
	m.core.Start()
	require.NoError(s.t, m.sys.Run())
	require.NoError(s.t, m.core.Err())
	require.True(s.t, m.core.Done())
	require.NoError(s.t, m.core.CheckInvariants())
	s.out = append(s.out, r.table()...)
}

// recorder is a hook that notes when instructions are where.
type recorder struct {
	pcs    map[*emu.Op]uint32
	base   uint64
	all    []*record // in order of decode
	issues []*record
}

// record is one instruction on its way.
type record struct {
	warp int
	op   *emu.Op
	at   [4]uint64 // by slot; 0: not yet
}

var places = []*akita.HookPos{core.HookPosDecode, core.HookPosIssue, core.HookPosDispatch, core.HookPosCommit}

// Func completes Akita's interface.
func (r *recorder) Func(ctx akita.HookCtx) {
	e := ctx.Item.(*core.HookEvent)
	if _, traced := r.pcs[e.Op]; !traced {
		return
	}
	for i, pos := range places {
		if pos == ctx.Pos {
			r.note(e, i)
		}
	}
}

// note finds the oldest instruction that has not been there; a warp's come in order.
func (r *recorder) note(e *core.HookEvent, place int) {
	if place == 0 {
		r.base = min(r.base, e.Cycle)
		r.all = append(r.all, &record{warp: e.Warp, op: e.Op, at: [4]uint64{e.Cycle}})
		return
	}
	for _, i := range r.all {
		if i.warp == e.Warp && i.op == e.Op && i.at[place] == 0 {
			i.at[place] = e.Cycle
			if place == 1 {
				r.issues = append(r.issues, i)
			}
			return
		}
	}
}

func (r *recorder) table() []string {
	out := []string{"    warp  instruction               decode  issue  dispatch  commit"}
	for _, i := range r.issues {
		line := fmt.Sprintf("    %4d  %-24s", i.warp, i.op.Text(r.pcs[i.op]))
		for k, width := range []int{8, 7, 10, 8} {
			line += fmt.Sprintf("%*d", width, i.at[k]-r.base)
		}
		out = append(out, line)
	}
	return out
}
