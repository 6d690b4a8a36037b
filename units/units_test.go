package units_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/accel"
	"heddle/configs"
	"heddle/isa/emu"
	"heddle/units"
)

var shape = accel.Shape{Cores: 1, Warps: 4, Threads: 4, LineBytes: 64, ScratchpadBytes: 64 << 10, ScratchpadLatency: 6}

// TestRows: a row and the unit that its Spec makes, with time and without, say the same.
func TestRows(t *testing.T) {
	names := ""
	for _, u := range units.All() {
		names += u.Name + " "
		spec := configs.DefaultUnit(u)
		require.Same(t, u, units.Of(spec))
		require.Same(t, u, units.ByName(u.Name))
		_, _, ok := spec.FitsCore(shape)
		require.True(t, ok, u.Name)
		timed, err := spec.NewUnit("Core0."+u.Part, shape)
		require.NoError(t, err)
		twin, err := spec.NewTwin(shape)
		require.NoError(t, err)
		for _, x := range []emu.Unit{timed.Architecture(), twin} {
			require.Equal(t, u.Name, x.Name())
			require.Equal(t, u.Bit, x.Presence(), u.Name)
		}
		_, memory := timed.(accel.MemoryUser)
		_, says := spec.(accel.MemorySpec)
		require.Equal(t, memory, says, "%s: its Spec says that it uses memory", u.Name)
		require.NotEmpty(t, u.Schedules, u.Name)
		for _, s := range u.Schedules {
			require.Equal(t, u.Name, s.Unit)
		}
	}
	require.Regexp(t, "^weaver peg hwwl eghw ", names)
	require.Nil(t, units.Of(nil))
}

func TestRegisterRefuses(t *testing.T) {
	w := *units.ByName("weaver")
	require.PanicsWithValue(t, "BUG: units: weaver has the name, the key, the bit or the Spec of weaver", func() { units.Register(w) })
	w.Bit = 3
	require.PanicsWithValue(t, "BUG: units: weaver has 0x3 as its bit of the CSR units: expected one bit", func() { units.Register(w) })
}
