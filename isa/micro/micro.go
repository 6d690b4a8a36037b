// Package micro holds the micro-programs, one per mechanism, with the cycles
// that Vortex's RTL needs for them (2025-10, Verilator; FPU, multiplier and
// divider as their simulation models) and those of its C++ simulator SimX.
package micro

import (
	"embed"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"heddle/isa"
	"heddle/isa/asm"
)

//go:embed programs/*.s mixes/*.s
var programs embed.FS

//go:embed reference.csv
var reference string

// Names returns the names of the programs with one mechanism each, sorted.
func Names() []string {
	files, err := programs.ReadDir("programs")
	if err != nil {
		panic(fmt.Sprintf("BUG: micro: %v", err))
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".s"))
	}
	return names
}

// Source returns the assembly text of a program, or of one of those that mix mechanisms or press on one in a way that
// depends on the machine's shape.
func Source(name string) ([]byte, error) {
	if v, ok := variants[name]; ok {
		text, err := programs.ReadFile("mixes/" + v.of + ".s")
		return slices.Concat([]byte(v.set), text), err
	}
	text, err := programs.ReadFile("programs/" + name + ".s")
	if errors.Is(err, fs.ErrNotExist) {
		return programs.ReadFile("mixes/" + name + ".s")
	}
	return text, err
}

// variants are programs that differ from another in the value of a symbol.
var variants = map[string]struct{ of, set string }{
	"ldv2":  {"ldv", ".set LOADS, 2\n"},
	"fp_b0": {"fp_b", ".set SAME, 0\n"},
	"fp_b1": {"fp_b", ".set SAME, 1\n"},
	"fp_b2": {"fp_b", ".set SAME, 2\n"},
}

// Program assembles a program for that many iterations of its loop.
func Program(name string, iters int64) (*isa.Program, error) {
	src, err := Source(name)
	if err != nil {
		return nil, fmt.Errorf("no micro-program %q", name)
	}
	return asm.Assemble(name+".s", src, asm.Options{Defines: map[string]int64{"ITERS": iters}})
}

// Reference is one measurement.
type Reference struct {
	Machine    string // w1, a, c, d, m6, or a configuration of sim/parity
	Program    string
	Iters      int64
	RTL        uint64 // cycles
	SimX       uint64 // cycles
	WarpInstrs uint64 // 0: not given
}

// References returns all measurements.
func References() []Reference {
	rows, err := csv.NewReader(strings.NewReader(reference)).ReadAll()
	if err != nil {
		panic(fmt.Sprintf("BUG: micro: reference.csv: %v", err))
	}
	var out []Reference
	for _, r := range rows[1:] {
		out = append(out, Reference{r[0], r[1], int64(number(r[2])), number(r[3]), number(r[4]), number(r[5])})
	}
	return out
}

func number(s string) uint64 {
	if s == "" {
		return 0
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("BUG: micro: reference.csv: %v", err))
	}
	return n
}
