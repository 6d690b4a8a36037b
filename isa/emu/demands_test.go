package emu

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa"
)

func TestDemandsOfInstructions(t *testing.T) {
	const f = isa.F
	for _, c := range []struct {
		name string
		in   isa.Inst
		want demands
	}{
		{"add", isa.Inst{Rd: 5, Rs1: 6, Rs2: 7}, demands{waitsFor: 0b1110_0000, writes: 1 << 5, unit: isa.ALU}},
		{"add", isa.Inst{Rd: 5, Rs1: 6, Rs2: 10}, demands{waitsFor: 1<<5 | 1<<6 | 1<<10, writes: 1 << 5, unit: isa.ALU, bankConflicts: 1}},
		{"add", isa.Inst{Rs1: 4, Rs2: 0}, demands{waitsFor: 1 << 4, unit: isa.ALU}},
		{"bne", isa.Inst{Rs1: 1, Rs2: 2}, demands{waitsFor: 0b110, unit: isa.ALU, steers: true}},
		{"tmc", isa.Inst{Rs1: 3}, demands{waitsFor: 1 << 3, unit: isa.SFU, steers: true}},
		{"sw", isa.Inst{Rs1: 8, Rs2: 8}, demands{waitsFor: 1 << 8, unit: isa.LSU, bankConflicts: 1}},
		{"fmadd.s", isa.Inst{Rd: f + 31, Rs1: f, Rs2: f + 1, Rs3: f + 8}, demands{waitsFor: 1<<63 | 1<<32 | 1<<33 | 1<<40, writes: 1 << 63, unit: isa.FPU, bankConflicts: 1}},
	} {
		row := isa.Lookup(c.name)
		require.NotNil(t, row, c.name)
		c.in.Row = row
		require.Equal(t, c.want, demandsOf(&c.in), c.name)
	}
}
