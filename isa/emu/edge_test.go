package emu_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa"
	"heddle/isa/asm"
	"heddle/isa/emu"
)

// The lanes that execute the instruction named heddle.edge are counted, each time.
func TestEdgesAreCounted(t *testing.T) {
	const text = `
_start:	li t0, 5
	tmc t0
	li t1, 3
loop:
heddle.edge:
	addi t1, t1, -1
	bnez t1, loop
	tmc zero`
	p, err := asm.Assemble("edges.s", []byte(text), asm.Options{Base: 0x80000000})
	require.NoError(t, err)
	m, err := emu.New(emu.Config{Cores: 2, Warps: 1, Threads: 4})
	require.NoError(t, err)
	m.Load(p)
	require.NoError(t, m.Run(context.Background()))
	require.EqualValues(t, 2*2*3, m.Stats().Edges, "two cores, two lanes, three times")
	require.EqualValues(t, 2*3, m.Stats().Iterations, "a warp of each core, three times")

	require.Equal(t, []uint64{3, 0, 3, 0, 3, 0, 3, 0}, m.LaneEdges(nil), "lanes 0 and 2")
	last := p.Symbols[len(p.Symbols)-1]
	p.Symbols = append(p.Symbols, isa.Symbol{Name: emu.EdgeSymbol, Addr: last.Addr + 4})
	before := m.Stats()
	m.Load(p)
	require.NoError(t, m.Run(context.Background()))
	require.EqualValues(t, 2*2*2*3, m.Stats().Since(before).Edges, "two places")
	require.EqualValues(t, 2*2*3, m.Stats().Since(before).Iterations)
	require.Equal(t, []uint64{9, 0, 9, 0, 9, 0, 9, 0}, m.LaneEdges(nil), "counts that were asked for before go on")

	plain, err := asm.Assemble("plain.s", []byte("_start: addi t1, zero, 0\n tmc zero"), asm.Options{Base: 0x80000000})
	require.NoError(t, err)
	before = m.Stats()
	m.Load(plain)
	require.NoError(t, m.Run(context.Background()))
	require.Zero(t, m.Stats().Since(before).Edges, "the next program has no such instruction")
}

// An edge that a thread block shares counts once, as its first lane's; what is no number of warps is a lane's.
func TestEdgesOfBlocksAreCounted(t *testing.T) {
	const text = `
_start:	csrr t0, vx_num_warps
	la t1, warp
	wspawn t0, t1
warp:	li t0, 7
	tmc t0
heddle.edge.block2:
	nop
heddle.edge.blocks:
	nop
	tmc zero`
	p, err := asm.Assemble("blocks.s", []byte(text), asm.Options{Base: 0x80000000})
	require.NoError(t, err)
	m, err := emu.New(emu.Config{Cores: 2, Warps: 4, Threads: 4})
	require.NoError(t, err)
	m.Load(p)
	require.NoError(t, m.Run(context.Background()))
	const blocks, warps = 2 * 2, 2 * 4
	require.EqualValues(t, blocks+3*warps, m.Stats().Edges)
	require.EqualValues(t, 2*warps, m.Stats().Iterations)
	require.Equal(t, []uint64{2, 1, 1, 0, 1, 1, 1, 0, 2, 1, 1, 0, 1, 1, 1, 0}, m.LaneEdges(nil)[:16], "the first core's")
}

// Warps at barriers, and lanes at the scratchpad, at atomics and shuffles, are counted.
func TestSoftwareIsCounted(t *testing.T) {
	const text = `
_start:	csrr t0, vx_num_warps
	la t1, warp
	wspawn t0, t1
warp:	li t0, 7
	tmc t0
	csrr t1, vx_local_mem_base
	sw t0, 0(t1)
	lw t2, 0(t1)
	amoadd.w t2, t2, (t1)
	li t3, 1
	shfl.down t2, t2, t3
	csrr t0, vx_num_warps
	bar zero, t0
	bar zero, t0
	li t0, 1
	bar zero, t0
	tmc zero`
	p, err := asm.Assemble("counts.s", []byte(text), asm.Options{Base: 0x80000000})
	require.NoError(t, err)
	m, err := emu.New(emu.Config{Cores: 2, Warps: 2, Threads: 4})
	require.NoError(t, err)
	m.Load(p)
	require.NoError(t, m.Run(context.Background()))
	s := m.Stats()
	require.EqualValues(t, 2*2*2, s.Barriers, "two cores, two warps, two barriers; one of a single warp is none")
	require.EqualValues(t, 2*2*3*4, s.Scratchpad, "three lanes that store, load, and read and write")
	require.EqualValues(t, 2*2*3, s.Atomics, "three lanes of two warps of two cores")
	require.EqualValues(t, 2*2*3, s.Shuffles)
	require.Zero(t, s.Since(s))
}
