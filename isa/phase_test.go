package isa_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa"
	"heddle/isa/asm"
)

func TestPhaseMarks(t *testing.T) {
	p, err := asm.Assemble("marks.s", []byte(`
_start:	nop
heddle.phase.registration:
	nop
	nop
heddle.phase.schedule:
heddle.phase.gather_sum:
heddle.edge:
	nop
heddle.phase.registration.2:
	nop
heddle.phase.other:
	tmc zero`), asm.Options{Base: 0x80000000})
	require.NoError(t, err)
	marks, err := p.PhaseMarks()
	require.NoError(t, err)
	var phases []string
	for i := range uint32(7) {
		phases = append(phases, isa.PhaseAt(marks, 0x80000000+4*i).String())
	}
	last := phases[3]
	require.Contains(t, []string{"schedule", "gather_sum"}, last, "of two at one place, one")
	require.Equal(t, []string{"other", "registration", "registration", last, "registration", "other", "other"}, phases)
	require.Equal(t, isa.PhaseOther, isa.PhaseAt(marks, 0))
	require.Equal(t, isa.PhaseOther, isa.PhaseAt(nil, 0x80000000))
	require.Equal(t, isa.PhaseOther, isa.PhaseAt(marks, 0xFFFFFFFC))

	p.Symbols = append(p.Symbols, isa.Symbol{Name: "heddle.phase.gathering"})
	_, err = p.PhaseMarks()
	require.EqualError(t, err, `marks.s: symbol heddle.phase.gathering: no phase "gathering": expected one of other, init, registration, schedule, edge_access, gather_sum, apply`)
}

func TestPhaseNames(t *testing.T) {
	seen := map[string]bool{}
	for p := range isa.NumPhases {
		require.NotEmpty(t, p.Doc())
		require.False(t, seen[p.String()])
		seen[p.String()] = true
		p := isa.Program{Symbols: []isa.Symbol{{Name: p.Symbol(), Addr: 4}}}
		_, err := p.PhaseMarks()
		require.NoError(t, err)
	}
}
