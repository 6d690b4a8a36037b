package traces

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// imported imports a text for a machine of one core, four warps and four lanes, and opens the file.
func imported(t testing.TB, text string) (*File, error) {
	path := filepath.Join(t.TempDir(), "i.trace")
	if err := Import(strings.NewReader(text), "x.txt", path, Shape{1, 4, 4}, "test"); err != nil {
		left, e := os.ReadDir(filepath.Dir(path))
		require.NoError(t, e)
		require.Empty(t, left)
		return nil, err
	}
	f, err := Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() }) //nolint:errcheck // read only
	return f, nil
}

// A dump that is imported is the same trace, and replays in the same cycles.
func TestImportReadsWhatDumpWrites(t *testing.T) {
	f, err := Open(testFileOf(t, regexp.MustCompile(`weaver\..*`).ReplaceAllString(everything, "addi t3, zero, -1")))
	require.NoError(t, err)
	defer f.Close() //nolint:errcheck // read only
	var want, got bytes.Buffer
	require.NoError(t, f.Dump(&want, Selection{Launch: -1, Warp: -1}))
	i, err := imported(t, want.String())
	require.NoError(t, err)
	require.NoError(t, i.Dump(&got, Selection{Launch: -1, Warp: -1}))
	place := regexp.MustCompile(`  <[^>]*>`)
	require.Equal(t, place.ReplaceAllString(want.String(), ""), got.String())
	all, err := Diff(f, i)
	require.NoError(t, err)
	require.Empty(t, all)
	require.NoError(t, play(t, i))
	require.Equal(t, f.Meta.Launches[0].WarpInstrs, i.Meta.Launches[0].WarpInstrs)
	require.Equal(t, f.Meta.Launches[0].LaneAddresses, i.Meta.Launches[0].LaneAddresses)
}

// The example of docs/reference/traces.md.
func TestTheExampleIsImported(t *testing.T) {
	doc, err := os.ReadFile("../docs/reference/traces.md")
	require.NoError(t, err)
	_, example, ok := strings.Cut(string(doc), "<!-- imported -->\n")
	require.True(t, ok)
	example, _, _ = strings.Cut(example, "\nThat is")
	f, err := imported(t, regexp.MustCompile(`(?m)^    `).ReplaceAllString(example, ""))
	require.NoError(t, err)
	require.NoError(t, play(t, f))
}

func TestTextsThatAreRefused(t *testing.T) {
	const begin = "launch 0, core 0 warp 0\n80000000 1  addi t0, zero, 3\n80000004 1  tmc t0  mask 3\n"
	for _, c := range []struct{ text, says string }{
		{"", "x.txt: no launch"},
		{"80000000 1  addi t0, zero, 3\n", "x.txt:1: expected launch L, core C warp W"},
		{"launch 1, core 0 warp 0\n", "x.txt:1: launch 1: expected 0 or 0"},
		{"launch 0, core 0 warp 4\n", "x.txt:1: core 0 warp 4: expected one of 1 cores × 4 warps × 4 threads"},
		{"launch 0, core 0 warp 1\n80000000 1  tmc zero  ends\n", "core 0 warp 0 has no instructions: the machine starts it at every launch"},
		{begin + "80000008 3  frobnicate t0\n", `unknown instruction "frobnicate"`},
		{begin + "80000008 3  lw t0, 0(a0)\n80000008 3  tmc zero  ends\n", `x.txt:5: 80000008 is "tmc zero" here, and "lw t0, 0(a0)" before`},
		{begin + "80000008 3  lw t0, 0(a0)\n8000000c 3  tmc zero  ends\n", "x.txt: launch 0: line 4, core 0 warp 0: expected addresses after @"},
		{begin + "80000008 3  lw t0, 0(a0)  @ 100\n", "x.txt:4: fewer values than active lanes"},
		{begin + "80000008 3  lw t0, 0(a0)  @ 100+4×3\n", "x.txt:4: more values than active lanes"},
		{begin + "80000008 3  lw t0, 0(a0)  @ 100+4×x\n", `x.txt:4: "100+4×x": expected a number, or first+step×lanes`},
		{begin + "80000008 3  lw t0, 0(a0)  @ 102 104\n", "line 4, core 0 warp 0: address 00000102: expected a multiple of 4"},
		{begin + "80000008 1  tmc zero  ends\n", "line 4, core 0 warp 0: 80000008 with lanes 00000001: the warp is at 80000008 with 00000003"},
		{begin + "8000000c 3  tmc zero  ends\n", "the warp is at 80000008 with 00000003"},
		{begin, "core 0 warp 0: its instructions end before it does: expected ends in the last"},
		{begin + "80000008 3  split t1, t0  mask 4\n", "goes on with lanes 00000003, not with 00000004"},
		{begin + "80000008 3  bar t0, t1\n", "line 4, core 0 warp 0: bar: expected args and its two operands"},
		{begin + "80000008 3  addi t0, t0, 1; addi t0, t0, 1\n", `"addi t0, t0, 1; addi t0, t0, 1": expected one instruction`},
		{begin + "80000008 3  weaver.dec.id t0\n", "asks a graph unit, which is not imported"},
		{begin + "80000008 3  jal ra, 0x80000100  to 80000104\n", "goes on at 80000100, not at 80000104"},
		{begin + "80000008 3  lw t0, 0(a0)  at 100\n", `"at 100": expected @, wrote, to, mask, ends or args`},
		{begin + "80000008\n", "x.txt:4: expected an address and a mask"},
		{begin + "8000000x 3  tmc zero\n", `x.txt:4: "8000000x": expected a hexadecimal number of 32 bits`},
		{begin + "80000008 3  " + strings.Repeat("x", 1<<17), "x.txt: bufio.Scanner: token too long"},
	} {
		_, err := imported(t, c.text)
		require.ErrorContains(t, err, c.says)
	}
}

// FuzzImport: an imported file can be read.
func FuzzImport(f *testing.F) {
	golden, err := os.ReadFile("testdata/everything.dump")
	require.NoError(f, err)
	f.Add(string(golden))
	f.Add("launch 0, core 0 warp 0\n80000000 1  addi t0, zero, 3\n80000004 1  tmc t0  mask 3\n80000008 3  lw t0, 0(a0)  " +
		"@ 100+4×2\n8000000c 3  split t1, t0  mask 2\n80000010 2  join t1  mask 1  to 80000010\n80000010 1  join t1  mask " +
		"3\n80000014 3  tmc zero  ends\n")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(dir, "f.trace")
		if Import(strings.NewReader(text), "x", path, Shape{1, 2, 4}, "test") != nil {
			return
		}
		file, err := Open(path)
		require.NoError(t, err)
		require.NoError(t, file.Dump(io.Discard, Selection{Launch: -1, Warp: -1}))
		require.NoError(t, file.Close())
	})
}
