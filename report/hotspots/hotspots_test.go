package hotspots

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTenths: shares add up to 100 %, and each is rounded by less than a tenth of a percent.
func TestTenths(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		parts, total := make([]Part, 1+r.IntN(20)), uint64(0)
		for i := range parts {
			if r.IntN(3) > 0 {
				parts[i].Cycles = r.Uint64N(1 << r.IntN(50))
			}
			total += parts[i].Cycles
		}
		sum := 0
		for i, n := range Tenths(parts) {
			sum += n
			if total > 0 {
				require.InDelta(t, 1000*float64(parts[i].Cycles)/float64(total), n, 1)
				require.True(t, parts[i].Cycles > 0 || n == 0)
			}
		}
		if total > 0 {
			require.Equal(t, 1000, sum)
		} else {
			require.Zero(t, sum)
		}
	}
}

func TestMainReason(t *testing.T) {
	c := Counts{Issued: 4, Lanes: 6, executed: 3, Stalled: 8,
		Stalls: map[string]uint64{"memory": 2, "alu": 3, "fpu": 3}}
	name, share := c.Main()
	require.Equal(t, "alu", name, "the first by name of those that are as large")
	require.InDelta(t, 0.375, share, 1e-9)
	require.InDelta(t, 2, c.MeanLanes(), 1e-9)
	require.EqualValues(t, 12, c.Time())
	name, _ = (&Counts{}).Main()
	require.Empty(t, name)
}

// TestSources: only source files are read, at the path that a program records, or beside it.
func TestSources(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
		return name
	}
	there := write("a.c", "\tone\ttab\n\x1b[31mred\n"+strings.Repeat("x", 500)+"\n")
	secret := write("secret.key", "secret\n")
	write("beside.s", "nop # beside\n")
	pipe := filepath.Join(dir, "pipe.c")
	require.NoError(t, syscall.Mkfifo(pipe, 0o644))
	all := []Instruction{
		{File: there, Line: 1}, {File: there, Line: 2}, {File: there, Line: 3}, {File: there, Line: 1 << 30}, {File: secret, Line: 1},
		{File: "/nowhere/beside.s", Line: 1}, {File: pipe, Line: 1}, {File: there},
	}
	readSources(all, dir)
	var got []string
	for _, x := range all {
		got = append(got, x.Source)
	}
	require.Equal(t, []string{"one  tab", `\x1b[31mred`, strings.Repeat("x", 159) + "…", "", "", "nop # beside", "",
		""}, got)
}
