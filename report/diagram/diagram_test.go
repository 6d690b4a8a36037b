package diagram

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"heddle/configs"
)

// TestShipped: every machine that heddle ships is drawn as well-formed XML, and no text is wider than its box.
func TestShipped(t *testing.T) {
	for _, name := range configs.MachineNames() {
		m, err := configs.LoadMachine(name, nil, nil)
		require.NoError(t, err)
		wellFormed(t, Machine(name, &m.Value))
		d := &drawing{}
		d.levels(&m.Value, d.sockets(&m.Value, 40))
		for _, l := range d.labels {
			assert.LessOrEqual(t, textWidth(l.class, l.text), l.room-6, "%s: %s", name, l.text)
		}
	}
}

func wellFormed(t *testing.T, text string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); err != nil {
			require.True(t, errors.Is(err, io.EOF), err)
			return
		}
	}
}

// TestShows: the drawing shows the configuration, and nothing that the machine lacks.
func TestShows(t *testing.T) {
	draw := func(name string, set ...string) string {
		t.Helper()
		m, err := configs.LoadMachine(name, nil, set)
		require.NoError(t, err)
		return Machine("a <machine>", &m.Value)
	}
	weaver := draw("vortex-6c32w32t-weaver", "l1d.bytes=8KiB", "core.weaver.st_entries=99")
	for _, s := range []string{"a &lt;machine&gt;", ">6 cores × 32 warps × 32 lanes<", ">socket × 6<", ">Weaver<",
		"st_entries 99", ">8 KiB, 4 ways", ">L2<", "hbm2-2gbps: "} {
		require.Contains(t, weaver, s)
	}
	require.NotContains(t, weaver, ">L3<")
	require.NotContains(t, weaver, "control processor")
	require.Contains(t, draw("vortex-6c32w32t-graphpeg"), "control processor balances cores: ef, every 512 cycles")
	require.NotContains(t, draw("vortex-6c32w32t-graphpeg", "ctrlproc.policy=none"), "control processor")
	plain := draw("vortex-1c4w4t", "l2=null", "memory.preset=ideal")
	for _, s := range []string{">no graph unit<", ">socket<", "ideal: "} {
		require.Contains(t, plain, s)
	}
	require.NotContains(t, plain, ">L2<")
	require.Contains(t, draw("vortex-6c32w32t-sharedl1"), ">core × 3<")
}
