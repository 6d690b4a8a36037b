package c_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa"
	"heddle/isa/emu"
)

// libm is Debian's picolibc, of the build for speed, without compressed instructions.
const libm = "/usr/lib/picolibc/riscv64-unknown-elf/lib/release/rv32imf/ilp32f/libc.a"

// TestCounted holds counted/coefficient.txt, which kernels/algorithm and the documents go by, against the program.
// Another version of gcc may differ a little.
func TestCounted(t *testing.T) {
	if _, err := os.Stat(libm); err != nil {
		reason := libm + " is not there: Debian's picolibc-riscv64-unknown-elf, which .ci/install.sh installs, has the C " +
			"library's sqrt"
		if os.Getenv("HEDDLE_REQUIRE_TOOLS") != "" {
			t.Fatal(reason)
		}
		t.Skip("skipped: " + reason)
	}
	t.Setenv("LIBS", libm)
	p := load(t, filepath.Join(build(t, "-O2", "counted/coefficient.c"), "coefficient.elf"))
	got, code := run(t, p, shape{1, 1, 1}, 0, nil)
	require.Zero(t, code)
	text, err := os.ReadFile("counted/coefficient.txt")
	require.NoError(t, err)
	want := strings.Split(string(text), "\n")
	for i, line := range strings.Split(got, "\n") {
		if line == "" {
			continue
		}
		name, n := counted(t, line)
		wantName, wantN := counted(t, want[i])
		require.Equal(t, wantName, name)
		require.InEpsilon(t, wantN, n, 0.05, name)
	}
	t.Log(classes(t, p))
}

// counted reads a line such as "software 1389, from 1201 to 1531".
func counted(t *testing.T, line string) (name string, n float64) {
	digit := strings.IndexAny(line, "0123456789")
	require.Positive(t, digit, line)
	_, err := fmt.Sscan(strings.ReplaceAll(line[digit:], ",", " "), &n)
	require.NoError(t, err, line)
	return strings.TrimSpace(line[:digit]), n
}

// classes counts the instructions that the calls of of_doubles execute, by class.
func classes(t *testing.T, p *isa.Program) string {
	begin, ok := p.Symbol("of_doubles")
	require.True(t, ok)
	var seen [isa.NumClasses]int
	calls, last, back := 0, uint32(0), uint32(0)
	m, err := emu.New(emu.Config{Cores: 1, Warps: 1, Threads: 1, Trace: func(s *emu.Step) {
		switch s.PC {
		case begin:
			calls, back = calls+1, last+4
		case back:
			back = 0
		}
		last = s.PC
		if back != 0 {
			seen[s.Inst.Class]++
		}
	}})
	require.NoError(t, err)
	m.Load(p)
	require.NoError(t, m.Run(context.Background()))
	require.Positive(t, calls)
	var list []string
	for c, n := range seen {
		if n >= calls {
			list = append(list, fmt.Sprintf("%v %d", isa.Class(c), n/calls))
		}
	}
	return "of_doubles: " + strings.Join(list, ", ")
}
