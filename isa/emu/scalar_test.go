package emu_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"heddle/isa"
	"heddle/isa/asm"
	"heddle/isa/emu"
)

const scalarData = 0x10000000

// A scalar core executes every row that it has as a warp of one lane does, on drawn registers and memory.
func TestScalarExecutesAsAWarp(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 44))
	executed := 0
	for _, row := range isa.All() {
		switch row.Sem.(type) {
		case isa.Vote, isa.Shuffle, isa.Control, isa.UnitOp, isa.Environment, isa.TrapReturn:
			continue
		}
		for range 25 {
			in := drawInst(row, draw)
			if in == nil {
				continue
			}
			executed++
			sameAsWarp(t, in, draw)
		}
	}
	assert.Greater(t, executed, 1500)
}

// drawInst draws operands of an instruction; nil: those have no meaning on a scalar core.
func drawInst(row *isa.Row, draw *rand.Rand) *isa.Inst {
	for range 100 {
		w := draw.Uint32()&^row.Enc.Mask | row.Enc.Match
		in, ok := isa.Decode(w)
		if !ok || in.Row != row {
			continue
		}
		switch row.Sem.(type) {
		case isa.CSROp:
			in.CSR = []uint16{isa.CSRFflags, isa.CSRFrm, isa.CSRFcsr}[draw.IntN(3)]
		case isa.Branch:
			in.Imm = int32(draw.IntN(8)-2) * 4
		case isa.Jump:
			in.Imm &^= 3
		case isa.Load, isa.Store:
			in.Imm = int32(draw.IntN(16)) * 4
		case isa.FPOp:
			if in.RM == isa.RMDynamic {
				in.RM = isa.RNE
			}
		}
		return &in
	}
	return nil
}

func sameAsWarp(t *testing.T, in *isa.Inst, draw *rand.Rand) {
	word, err := isa.Encode(in)
	require.NoError(t, err)
	m, err := emu.New(emu.Config{Zba: true, Cores: 1, Warps: 1, Threads: 1, MaxInstrs: 1})
	require.NoError(t, err)
	nop := uint32(0x13)
	code := make([]byte, 64)
	for i := range 16 {
		w := nop
		if i == 8 {
			w = word
		}
		code[4*i], code[4*i+1], code[4*i+2], code[4*i+3] = byte(w), byte(w>>8), byte(w>>16), byte(w>>24)
	}
	const pc = emu.CodeBase + 32
	p := &isa.Program{Name: "one", Entry: pc, Segments: []isa.Segment{
		{Addr: emu.CodeBase, Data: code, Size: 64, Executable: true},
	}}
	m.Load(p)
	words := make([]uint32, 64)
	for i := range words {
		words[i] = draw.Uint32()
	}
	m.Mem.WriteWords(scalarData, words)
	other := m.Mem.Snapshot()
	sc, err := emu.NewScalarCode(p, other, 0)
	require.NoError(t, err)
	var s emu.Scalar
	s.Start(sc, pc)
	w := m.Core(0).Warp(0)
	for r := isa.Reg(1); r < isa.NumRegs; r++ {
		v := draw.Uint32()
		if draw.IntN(3) == 0 {
			v = []uint32{0, 1, 1 << 31, 0x7F800000, 0x7FC00000, ^uint32(0)}[draw.IntN(6)]
		}
		w.SetReg(r, 0, v)
		s.X[r] = v
	}
	if base := in.Rs1; base != 0 && in.Class.Unit() == isa.LSU {
		w.SetReg(base, 0, scalarData)
		s.X[base] = scalarData
	}
	werr := m.Run(context.Background())
	if limit := (*emu.LimitError)(nil); errors.As(werr, &limit) {
		werr = nil
	}
	_, o, serr := s.Run(1)
	if o != nil {
		var addr uint32
		if addr, serr = s.Address(o); serr == nil {
			s.Perform(o, addr)
		}
	}
	text := in.Text(pc)
	require.Equal(t, werr == nil, serr == nil, "%s: %v, %v", text, werr, serr)
	if werr != nil {
		return
	}
	require.Equal(t, w.PC(), s.PC, text)
	for r := isa.Reg(1); r < isa.NumRegs; r++ {
		require.Equal(t, w.Reg(r, 0), s.X[r], "%s: %s", text, r)
	}
	require.Zero(t, s.X[0], text)
	addr, differ := m.Mem.FirstDifference(other)
	require.False(t, differ, "%s: %08x", text, addr)
}

const orderedTasks = `
	# each task appends its argument to a list at 0x10000004; the count is at 0x10000000
_start:
	la a1, task
	li a0, 3
	li t0, 30
	swarm.enqueue a1, t0
	li a0, 1
	li t0, 10
	swarm.enqueue a1, t0
	li a0, 2
	swarm.enqueue a1, t0
	swarm.finish
task:
	lui t1, 0x10000
	lw t2, 0(t1)
	addi t3, t2, 1
	sw t3, 0(t1)
	slli t2, t2, 2
	add t2, t2, t1
	slli t4, a6, 8
	or t4, t4, a0
	sw t4, 4(t2)
	li t5, 3
	bge a0, t5, end
	addi a0, a0, 7
	addi t0, a6, 5
	mv a1, a1
	la a2, task
	swarm.enqueue a2, t0
end:	swarm.finish
`

// Tasks execute in the order of timestamps, and those of one timestamp in the order in which they are enqueued.
func TestTasksInOrder(t *testing.T) {
	p, err := asm.Assemble("tasks.s", []byte(orderedTasks), asm.Options{})
	require.NoError(t, err)
	m, err := emu.New(emu.Config{Cores: 1, Warps: 1, Threads: 1})
	require.NoError(t, err)
	m.Mem.Load(p)
	before := m.Mem.Snapshot()
	st, err := m.RunTasks(context.Background(), p, nil)
	require.NoError(t, err)
	got := make([]uint32, 6)
	for i := range got {
		got[i] = m.Mem.Load32(scalarData + uint32(4*i))
	}
	assert.Equal(t, []uint32{5, 10<<8 | 1, 10<<8 | 2, 15<<8 | 8, 15<<8 | 9, 30<<8 | 3}, got)
	assert.Equal(t, uint64(6), st.Tasks)

	first := emu.TaskRecord{Parent: -1}
	in := func(order ...emu.TaskRecord) error {
		m, err := emu.New(emu.Config{Cores: 1, Warps: 1, Threads: 1})
		require.NoError(t, err)
		m.Mem = before.Snapshot()
		_, err = m.RunTasks(context.Background(), p, order)
		return err
	}
	require.NoError(t, in(first, emu.TaskRecord{Child: 2}, emu.TaskRecord{Child: 1},
		emu.TaskRecord{Parent: 1}, emu.TaskRecord{Parent: 2}, emu.TaskRecord{}))
	var wrong *emu.TaskOrderError
	require.ErrorAs(t, in(first, emu.TaskRecord{}), &wrong, "30 before 10")
	require.ErrorAs(t, in(first, emu.TaskRecord{Child: 1}, emu.TaskRecord{Child: 1}), &wrong, "twice")
	require.ErrorAs(t, in(first, emu.TaskRecord{Child: 3}), &wrong, "no such child")
	require.ErrorAs(t, in(first, emu.TaskRecord{Parent: 7}), &wrong, "no such parent")
	require.ErrorAs(t, in(first, emu.TaskRecord{Child: 1}), &wrong, "too few")
}

// What a task must not do is an error that names the instruction.
func TestTaskErrors(t *testing.T) {
	for code, want := range map[string]string{
		"li t0, 8; swarm.enqueue t0, t0; j end": "no instructions are loaded at 0x00000008",
		"tmc zero":                              "one lane",
		"csrr t0, mhartid":                      "where or when",
		"csrw mscratch, t0":                     "read-only",
		"lw t0, 4(zero)":                        "null pointer",
		"li t0, -16; lw t0, 0(t0)":              "scratchpad",
		"lui t0, 0x10000; lw t0, 2(t0)":         "multiple of 4",
		"weaver.skip t0":                        "no weaver unit",
		"la t1, late; li t2, 9; swarm.enqueue t1, t2; swarm.finish; late: la t1, end; li t2, 8; swarm.enqueue t1, t2": "its own or a later",
	} {
		p, err := asm.Assemble("tasks.s", []byte("_start: "+code+"\nend: swarm.finish"), asm.Options{})
		require.NoError(t, err, code)
		m, err := emu.New(emu.Config{Cores: 1, Warps: 1, Threads: 1})
		require.NoError(t, err)
		m.Mem.Load(p)
		_, err = m.RunTasks(context.Background(), p, nil)
		require.ErrorContains(t, err, want, code)
	}
	p, err := asm.Assemble("tasks.s", []byte("_start: j _start"), asm.Options{})
	require.NoError(t, err)
	m, err := emu.New(emu.Config{Cores: 1, Warps: 1, Threads: 1, MaxInstrs: 100000})
	require.NoError(t, err)
	m.Mem.Load(p)
	_, err = m.RunTasks(context.Background(), p, nil)
	var limit *emu.LimitError
	require.ErrorAs(t, err, &limit)
}
