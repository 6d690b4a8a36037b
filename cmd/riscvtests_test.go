package cmd

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// riscvTests names a directory with the official riscv-tests, as their Makefile leaves them: rv32ui-p-add, … They are
// not in this repository.
const riscvTests = "RISCV_TESTS"

// notPassed are those of the tests for RV32IMAF and Zicond that this machine does not pass, as docs/guide/programs.md
// says.
var notPassed = []string{"rv32ui-p-ma_data"} // wants misaligned loads and stores done without a trap

// TestOfficialTests runs riscv-tests' rv32ui, rv32um, rv32ua, rv32uf and rv32uzicond in time and without.
func TestOfficialTests(t *testing.T) {
	dir := os.Getenv(riscvTests)
	if dir == "" {
		t.Skipf("%s names no directory with the official riscv-tests; docs/guide/programs.md explains how to make them",
			riscvTests)
	}
	files, err := filepath.Glob(dir + "/rv32u*-p-*")
	require.NoError(t, err)
	n := 0
	for _, file := range files {
		name := filepath.Base(file)
		if ok, _ := filepath.Match("rv32u[imaf]-p-*", name); !ok && !strings.HasPrefix(name, "rv32uzicond-p-") ||
			filepath.Ext(name) != "" {
			continue
		}
		n++
		for _, how := range [][]string{{"--functional", "--max-instrs=1000000"},
			{"--machine=vortex-rtl-a", "--check", "--max-cycles=1000000"}} {
			t.Run(name+how[0], func(t *testing.T) {
				_, errs, code := heddle(t, append([]string{"exec", file}, how...)...)
				if slices.Contains(notPassed, name) {
					require.Equal(t, exitFailed, code,
						"it passes: take it from the list here and in docs/guide/programs.md")
					return
				}
				require.Zero(t, code, errs)
			})
		}
	}
	require.GreaterOrEqual(t, n, 69, "tests in %s", dir)
}
