package cmd

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/tools"
)

// TestAreaWithoutSystemVerilog: for a unit without SystemVerilog, a note and the storage are printed.
func TestAreaWithoutSystemVerilog(t *testing.T) {
	for machine, reason := range map[string]string{
		"vortex-1c4w4t": "the cores have no graph unit",
		"vortex-1c4w4t-graphpeg --set core.graphpeg.pop_order=arrival": "core.graphpeg.pop_order = arrival: there is no " +
			"SystemVerilog of it: expected ring\n",
	} {
		out, errs, code := heddle(t, append([]string{"area"}, strings.Fields(machine)...)...)
		require.Zero(t, code, errs)
		require.Contains(t, out, reason)
		require.Regexp(t, `register file +│ +1 │ +32,768 │ +0.0054 to 0.011 │ +4 warps × 4 lanes × 64 registers × 32`, out)
	}
	_, errs, code := heddle(t, "area", "vortex-1c4w4t-weaver", "--set", "core.weaver.st_row=3")
	require.Equal(t, exitUsage, code)
	require.Contains(t, errs, "core.weaver.st_row = 3: the Weaver in SystemVerilog needs a power of two")
}

// TestArea of a small Weaver, as text and as JSON.
func TestArea(t *testing.T) {
	tools.Need(t, "yosys")
	args := []string{"area", "vortex-1c4w4t-weaver", "--set", "core.warps=2", "--set", "core.threads=2", "--json"}
	out, errs, code := heddle(t, args...)
	require.Zero(t, code, errs)
	var r areaReport
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Equal(t, "Weaver", r.Unit)
	require.Equal(t, r.Mapping.Total(), *r.Total)
	require.Equal(t, r.Mapping.Silicon(), *r.Silicon)
	out, errs, code = heddle(t, args[:len(args)-1]...)
	require.Zero(t, code, errs)
	require.Contains(t, out, "The unit of a core, memories included: "+r.Silicon.String()+" mm² at 28 nm\n")
	require.Greater(t, r.Total.Registers, 400) // a kept row of two entries, and two lanes' output
}
