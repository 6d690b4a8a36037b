package all_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/accel"
	"heddle/configs"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/kernels/schedule"
)

var shape = accel.Shape{Cores: 1, Warps: 4, Threads: 4, LineBytes: 64, ScratchpadBytes: 64 << 10, ScratchpadLatency: 6}

// TestRows: a row and the unit that its Spec makes, with time and without, say the same.
func TestRows(t *testing.T) {
	names := ""
	for _, u := range accel.Registered() {
		names += u.Name + " "
		spec := configs.DefaultUnit(u)
		require.Same(t, u, accel.KindOf(spec))
		require.Same(t, u, accel.KindNamed(u.Name))
		_, _, ok := spec.FitsCore(shape)
		require.True(t, ok, u.Name)
		timed, err := spec.NewUnit("Core0."+u.Part, shape)
		require.NoError(t, err)
		twin, err := spec.NewFunctional(shape)
		require.NoError(t, err)
		for _, x := range []emu.Unit{timed.Architecture(), twin} {
			require.Equal(t, u.Name, x.Name())
			require.Equal(t, u.Instructions.Presence, x.Presence(), u.Name)
		}
		_, memory := timed.(accel.MemoryUser)
		_, says := spec.(accel.MemorySpec)
		require.Equal(t, memory, says, "%s: its Spec says that it uses memory", u.Name)
		require.NotEmpty(t, schedule.OfUnit(u.Name), u.Name)
		for _, s := range schedule.OfUnit(u.Name) {
			require.Equal(t, u.Name, s.UnitName())
		}
	}
	require.Regexp(t, "^weaver peg hwwl eghw ", names)
	require.Nil(t, accel.KindOf(nil))
}

func TestRegisterRefuses(t *testing.T) {
	w := *accel.KindNamed("weaver")
	require.PanicsWithValue(t, "BUG: accel: weaver has the name, the key or the Spec of weaver",
		func() { accel.Register(w) })
	w.Instructions = isa.UnitExtension("x", "x", 3<<20)
	require.PanicsWithValue(t, "BUG: accel: x has 0x300000 as its bit of the CSR units: expected one bit",
		func() { accel.Register(w) })
}

// TestExtendRefuses: what is another's name, bit or encoding.
func TestExtendRefuses(t *testing.T) {
	row := isa.UnitInstruction{Name: "x.y", Opcode: isa.Custom3, Operands: "rd", Doc: "d"}
	for says, make := range map[string]func() *isa.Extension{
		"extension peg has the name or the presence bit of peg": func() *isa.Extension { return isa.UnitExtension("peg", "d", 1<<20) },
		"extension x has the name or the presence bit of hwwl":  func() *isa.Extension { return isa.UnitExtension("x", "d", isa.HasHWWL) },
		"x.y has the name or the encoding of eghw.get.wt": func() *isa.Extension {
			row := row
			row.Opcode, row.Funct3, row.Funct7 = 0x5B, 3, 4
			return isa.UnitExtension("x", "d", 1<<20, row)
		},
		"hwwl.pop has the name or the encoding of hwwl.pop": func() *isa.Extension {
			row := row
			row.Name = "hwwl.pop"
			return isa.UnitExtension("x", "d", 1<<20, row)
		},
		`x.y has operands "rs2, rd": expected some of rd, rs1, rs2`: func() *isa.Extension {
			row := row
			row.Operands = "rs2, rd"
			return isa.UnitExtension("x", "d", 1<<20, row)
		},
	} {
		require.EqualError(t, isa.Extend(make()), says)
	}
}
