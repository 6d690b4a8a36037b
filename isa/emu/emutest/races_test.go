package emutest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa/asm"
	"heddle/isa/emu"
)

// The start of programs: all warps run, with lane 0; t0 is the warp, t1 how many there are, s0 the scratchpad.
const start = `_start: csrr t1, vx_num_warps; la t2, every; wspawn t1, t2
every: csrr t0, vx_wid; csrr t1, vx_num_warps; lui s0, 0xffff0; slli t2, t0, 2; add s1, s0, t2
`

func found(t *testing.T, cores int, src string) bool {
	t.Helper()
	p, err := asm.Assemble("races.s", []byte(start+src+"\n tmc zero\n"), asm.Options{Base: emu.CodeBase})
	require.NoError(t, err)
	cfg := emu.Config{Cores: cores, Warps: 4, Threads: 2, MaxInstrs: 100_000, Quantum: 3}
	r := Watch(&cfg)
	m, err := emu.New(cfg)
	require.NoError(t, err)
	r.Of(m)
	for range 2 { // what one launch did is done before the next
		m.Load(p)
		require.NoError(t, m.Run(context.Background()))
	}
	return len(r.Found()) > 0
}

// TestRaces: synchronisation that orders two warps is distinguished from code that does not.
func TestRaces(t *testing.T) {
	const others = "addi t3, t2, 4; andi t3, t3, 15; add s2, s0, t3;" // s2: the next warp's word
	for _, c := range []struct {
		name, src string
		cores     int
		races     bool
	}{
		{"each its own word", "sw t0, 0(s1); lw a0, 0(s1)", 2, false},
		{"a word that all read", "lw a0, 0(s0)", 1, false},
		{"a word that all write", "sw t0, 0(s0)", 1, true},
		{"behind a barrier", others + "sw t0, 0(s1); li a1, 0; bar a1, t1; lw a0, 0(s2)", 1, false},
		{"and again without another", others + "sw t0, 0(s1); li a1, 0; bar a1, t1; lw a0, 0(s2); sw t0, 0(s1)", 1, true},
		{"and again with another", others + "sw t0, 0(s1); li a1, 0; bar a1, t1; lw a0, 0(s2); bar a1, t1; sw t0, 0(s1)", 1, false},
		{"before the barrier", others + "sw t0, 0(s1); lw a0, 0(s2); li a1, 0; bar a1, t1", 1, true},
		{"a barrier of others", others + "sw t0, 0(s1); andi a1, t0, 1; li a2, 2; bar a1, a2; lw a0, 0(s2)", 1, true},
		{"a barrier of one", others + "sw t0, 0(s1); li a1, 0; li a2, 1; bar a1, a2; lw a0, 0(s2)", 1, true},
		{"a barrier of all cores", others + "sw t0, 0(s1); lui a1, 0x80000; li a2, 2; bar a1, a2; lw a0, 0(s2)", 2, false},
		{"atomics", "amoadd.w a0, t0, (s0)", 1, false},
		{"an atomic and a load", "amoadd.w a0, t0, (s0); lw a0, 0(s0)", 1, true},
		{"bytes of a word", "add s1, s0, t0; sb t0, 0(s1); lb a0, 0(s1)", 1, false},
		{"a byte and its word", "add s1, s0, t0; sb t0, 0(s1); lw a0, 0(s0)", 1, true},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.races, found(t, c.cores, c.src)) })
	}
}

// TestSpawned: a warp's work before wspawn precedes that of the warps it starts.
func TestSpawned(t *testing.T) {
	p, err := asm.Assemble("spawned.s", []byte(`
		_start: lui s0, 0xffff0; sw zero, 0(s0)
		csrr t1, vx_num_warps; la t2, every; wspawn t1, t2
		every: lui s0, 0xffff0; lw a0, 0(s0)
		tmc zero`), asm.Options{Base: emu.CodeBase})
	require.NoError(t, err)
	cfg := emu.Config{Cores: 1, Warps: 8, Threads: 1}
	r := Watch(&cfg)
	m, err := emu.New(cfg)
	require.NoError(t, err)
	r.Of(m)
	m.Load(p)
	require.NoError(t, m.Run(context.Background()))
	require.Empty(t, r.Found())
}
