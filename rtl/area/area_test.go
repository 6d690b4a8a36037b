package area

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"heddle/components/graphpeg"
	"heddle/components/weaver"
	"heddle/configs"
	"heddle/internal/testenv"
	"heddle/internal/tools"
	"heddle/rtl"
)

// TestMap: registers and bits of a small Weaver are those that its sources say.
func TestMap(t *testing.T) {
	testenv.NeedSlow(t, "Yosys maps a Weaver")
	yosys := tools.Need(t, "yosys")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	const warps, lanes, latency = 2, 2, 3
	spec := weaver.Spec{STEntries: 4, DTEntries: 4, TableLatency: latency, STRow: 2, Prefetch: true, SkipEmpty: true,
		RequestQueue: 2}
	u, err := rtl.Weaver(spec, warps, lanes)
	require.NoError(t, err)
	m, err := Map(t.Context(), u, "testdata/toy.lib")
	require.NoError(t, err)
	require.Regexp(t, `^Yosys \d`, m.Tool)

	const entry, row = 96, lanes * 32
	parts := map[string]Part{}
	for _, p := range m.Parts {
		parts[p.Module] = p
		assert.Positive(t, p.LUTs, p.Module)
		assert.GreaterOrEqual(t, p.Gates, float64(4*p.Registers), p.Module)
		assert.Greater(t, p.Cells, float64(5*p.Registers), p.Module)
	}
	require.Len(t, parts, 9)
	assert.Equal(t, 4, parts["weaver_fsm"].Registers)
	assert.Equal(t, 2*row, parts["weaver_lane"].Registers, "the lanes' vertices and edges")
	// The current entry, which lanes are filled, a pending skip.
	assert.Equal(t, entry+lanes+1, parts["weaver_od"].Registers)
	assert.Equal(t, 2*entry, parts["weaver_slot"].Registers, "the kept row")
	st := parts["weaver_st"].Registers // valid bits, and at most 20 for numbers of rows and the cursor
	assert.Greater(t, st, 4)
	assert.LessOrEqual(t, st, 4+20)
	total := m.Total()
	assert.Greater(t, total.Registers, st+parts["weaver_od"].Registers)

	request, answer := 2+1+lanes+rtl.TagBits+3*row, rtl.TagBits+row+1+lanes
	assert.Equal(t, []Memory{
		{"weaver_dt", 1, warps * row, 1}, {"weaver_dt", 1, latency * (row + rtl.TagBits), 1},
		{"weaver_fifo", 1, 2 * answer, 1}, {"weaver_fifo", 1, 2 * request, 1}, {"weaver_st", lanes, 2 * entry, 1},
	}, m.Memories)

	bits := m.MemoryBits()
	silicon := m.Silicon()
	assert.InDelta(t, (total.Gates/3.9+0.127*float64(bits))*1e-6, silicon.Low, 1e-9)
	assert.InDelta(t, (total.Gates/3.9*2+0.127*3*1.3*float64(bits))*1e-6, silicon.High, 1e-9)

	// What is kept is the same, and of this unit and library alone.
	broken := t.TempDir()
	text := "#!/bin/sh\n[ \"$1\" = -V ] && exec " + yosys + " -V\nexit 1\n"
	require.NoError(t, os.WriteFile(filepath.Join(broken, "yosys"), []byte(text), 0o700))
	t.Setenv("PATH", broken+":"+os.Getenv("PATH"))
	again, err := Map(t.Context(), u, "testdata/toy.lib")
	require.NoError(t, err)
	require.Equal(t, m, again)
	_, err = Map(t.Context(), u, "")
	require.ErrorContains(t, err, "yosys: exit status 1")
}

// TestMapGraphPEG: registers and bits of a small GraphPEG are those that its sources say, and what it has in the
// scratchpad is not among them.
func TestMapGraphPEG(t *testing.T) {
	testenv.NeedLong(t, "Yosys maps a GraphPEG")
	tools.Need(t, "yosys")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	const entries, slots, warps, lanes, line = 3, 32, 2, 2, 4
	s := graphpeg.DefaultSpec()
	s.ALWTEntries, s.EdgeBufferBytes, s.VertexLists, s.BufferLatency = entries, 4*slots, 2, 1
	s.ScratchpadLimit, s.ListRegion, s.RequestQueue = s.EdgeBufferBytes+2*4*16, 1<<13, 4
	u, err := rtl.GraphPEG(s, graphpeg.Shape{Cores: 1, Warps: warps, Threads: lanes, LineBytes: 4 * line})
	require.NoError(t, err)
	m, err := Map(t.Context(), u, "")
	require.NoError(t, err)
	parts := map[string]Part{}
	for _, p := range m.Parts {
		parts[p.Module] = p
		assert.Positive(t, p.LUTs, p.Module)
		assert.GreaterOrEqual(t, p.Gates, float64(4*p.Registers), p.Module)
	}
	require.Len(t, parts, 8)
	// Entries of 98 bits with one for lines of offsets, two lists of entries with their lengths, the FE entry, edges left.
	assert.Equal(t, entries*(98+1)+2*(entries*2+2)+1+2+32, parts["graphpeg_alwt"].Registers)
	assert.Zero(t, parts["graphpeg_chunks"].Registers)
	assert.Greater(t, parts["graphpeg_buffer"].Registers, slots)
	pop, answer, chunk := rtl.TagBits+1+lanes+2, rtl.TagBits+lanes*32, 3*3+2
	assert.Equal(t, []Memory{
		{"graphpeg", 1, warps * 4 * lanes * 32, 1}, {"graphpeg_chunks", 1, 2 * slots, 2}, {"graphpeg_chunks", 1, chunk * slots, 1},
		{"graphpeg_fifo", 1, warps * pop, 1}, {"graphpeg_fifo", 1, 3 * answer, 2}, {"graphpeg_reports", 1, 16 * 96, 1},
	}, m.Memories)
}

// TestMapControlProcessor: its registers are those that its sources say, it has no memory, and a machine of one core
// has none of it.
func TestMapControlProcessor(t *testing.T) {
	testenv.NeedSlow(t, "Yosys maps a control processor")
	tools.Need(t, "yosys")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	l, err := configs.LoadMachine("vortex-1c4w4t-graphpeg", nil, []string{"cores_per_socket=4", "ctrlproc.policy=ef+vl",
		"ctrlproc.group=2", "ctrlproc.interval=100"})
	require.NoError(t, err)
	u, err := ControlOf(&l.Value)
	require.NoError(t, err)
	m, err := Map(t.Context(), u, "")
	require.NoError(t, err)
	registers := map[string]int{}
	for _, p := range m.Parts {
		registers[p.Module] = p.Registers
		assert.Positive(t, p.LUTs, p.Module)
	}
	const cores, index, interval, turn = 4, 2, 7, 1 // bits of a core's number, of a time, of a place in a group
	assert.Equal(t, map[string]int{
		"ctrlproc": 32 + 1, "ctrlproc_donations": 2 * cores * (1 + 1 + index), "ctrlproc_poll": 2 + turn + interval + cores,
		"ctrlproc_core":   cores * (1 + 32 + 32 + 96 + 32 + 32 + 64), // drained; load, half of both kinds; R_BW
		"ctrlproc_orders": cores * (6*4 + 3), "ctrlproc_report": 0, "ctrlproc_balancer": 0, "ctrlproc_extremes": 0,
		"ctrlproc_select": 0,
	}, registers)
	assert.Empty(t, m.Memories)

	l.Value.CoresPerSocket = 1
	_, err = ControlOf(&l.Value)
	require.Equal(t, ErrNoControl, err)
}

// TestLibertyWithoutCells is refused.
func TestLibertyWithoutCells(t *testing.T) {
	testenv.NeedSlow(t, "Yosys maps a Weaver")
	tools.Need(t, "yosys")
	text, err := os.ReadFile("testdata/toy.lib")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "none.lib")
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), "clear : \"R'\";", "", 1)), 0o600))
	u, err := rtl.Weaver(weaver.Spec{STEntries: 1, DTEntries: 1, TableLatency: 1, STRow: 1, RequestQueue: 1}, 1, 1)
	require.NoError(t, err)
	_, err = Map(t.Context(), u, file)
	require.ErrorContains(t, err, "none.lib: the library needs a flip-flop with an asynchronous reset, and delays as "+
		"tables")
	_, err = Map(t.Context(), u, "none.lib")
	require.ErrorContains(t, err, "--liberty: open none.lib")
}

// TestStorage by hand, of the paper's machine.
func TestStorage(t *testing.T) {
	l, err := configs.LoadMachine("vortex-6c32w32t-weaver", nil, nil)
	require.NoError(t, err)
	bits := map[string][2]int{}
	for _, s := range StorageOf(&l.Value) {
		bits[s.What] = [2]int{s.Number, s.Bits}
	}
	assert.Equal(t, [2]int{6, 2 << 20}, bits["register file"]) // 256 KB
	assert.Equal(t, [2]int{6, 32 << 13}, bits["L1D data"])
	// 512 lines of 64 bytes in 128 sets: 32 - 6 - 7 bits of the address, and one.
	assert.Equal(t, [2]int{6, 512 * 20}, bits["L1D tags"])
	assert.Equal(t, [2]int{1, 1 << 23}, bits["L2 data"])

	l.Value.L1D.Sectors = 4 // 128 ways of 256 bytes in 32 sets: 32 - 8 - 5 bits, and one for each sector
	assert.Contains(t, StorageOf(&l.Value), Storage{"L1D tags", 6, 128 * (19 + 4),
		"128 ways × (19 of the address, 4 × (valid))"})

	l2 := Storage{What: "L2 data", Number: 2, Bits: 1e6}
	assert.InDelta(t, 0.254, l2.Silicon().Low, 1e-9)
	assert.InDelta(t, 0.508, l2.Silicon().High, 1e-9)
	assert.Equal(t, "0.25 to 0.51", l2.Silicon().String())
}

func TestPlain(t *testing.T) {
	for _, name := range []string{
		`$paramod$0ed5252946aeec8b13731a363386cb8ec23cdbb1\weaver_dt`, `weaver_dt`, `\weaver_dt`,
		`$paramod\weaver_dt\Lanes=32'00000000000000000000000000100000`,
	} {
		assert.Equal(t, "weaver_dt", plain(name), name)
	}
}
