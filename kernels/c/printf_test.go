package c_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
	"heddle/internal/tools"
	"heddle/isa/emu"
)

// TestPrintfAgainstHost compares hd_printf with the host's printf: random formats and arguments.
func TestPrintfAgainstHost(t *testing.T) {
	cc := tools.Need(t, "gcc")
	cases, seed := testenv.Cases(t, 600, 6000), testenv.Seed(t, 1)
	const each = 600 // calls of a program
	for first := uint64(0); first < cases; first += each {
		dir := t.TempDir()
		source := filepath.Join(dir, "random.c")
		r := printfWriter{rand.New(rand.NewPCG(seed, first))}
		require.NoError(t, os.WriteFile(source, []byte(r.program(int(min(each, cases-first)))), 0o644))
		host := filepath.Join(dir, "host")
		out, err := exec.Command(cc, "-DHOST", "-w", "-O0", "-o", host, source).CombinedOutput()
		require.NoError(t, err, "%s", out)
		want, err := exec.Command(host).Output()
		require.NoError(t, err)
		got, _ := run(t, load(t, filepath.Join(build(t, "-O1", source), "random.elf")), shape{1, 1, 1}, 128, nil)
		if got == string(want) {
			continue
		}
		gotLines, wantLines := strings.Split(got, "\n"), strings.Split(string(want), "\n")
		for i := range min(len(gotLines), len(wantLines)) {
			require.Equal(t, wantLines[i], gotLines[i], "call %d of %s", i, source)
		}
		require.Equal(t, len(wantLines), len(gotLines))
	}
}

type printfWriter struct{ *rand.Rand }

func (r printfWriter) program(calls int) string {
	var b strings.Builder
	b.WriteString(`#pragma GCC diagnostic ignored "-Wformat"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
#ifdef HOST
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#define PRINT printf
#define FIRST 1
#else
#include "heddle.h"
#define PRINT hd_printf
#define FIRST (hd_core() == 0)
#endif

static double real(uint64_t bits)
{
	double v;
	__builtin_memcpy(&v, &bits, sizeof v);
	return v;
}

`)
	const together = 50
	for i := 0; i < calls; i += together {
		fmt.Fprintf(&b, "static __attribute__((noinline)) void calls%d(void)\n{\n", i/together)
		for range min(together, calls-i) {
			b.WriteString(r.call())
		}
		b.WriteString("}\n\n")
	}
	b.WriteString("int main(void)\n{\n\tif (!FIRST)\n\t\treturn 0;\n")
	for i := 0; i < calls; i += together {
		fmt.Fprintf(&b, "\tcalls%d();\n", i/together)
	}
	return b.String() + "\treturn 0;\n}\n"
}

// call is one with up to four conversions.
func (r printfWriter) call() string {
	format, args := "", ""
	for range 1 + r.IntN(4) {
		f, a := r.conversion()
		format += f + "|"
		args += a
	}
	return fmt.Sprintf("\tPRINT(\"%s\\n\"%s);\n", format, args)
}

func (r printfWriter) pick(from ...string) string { return from[r.IntN(len(from))] }

func (r printfWriter) conversion() (format, args string) {
	if r.IntN(20) == 0 {
		return "%%", ""
	}
	flags := ""
	for range r.IntN(4) {
		flags += r.pick("-", "0", "+", " ", "#")
	}
	size := r.field(&args, 24, "")
	if r.IntN(2) == 0 {
		size += "." + r.field(&args, 20, r.pick("", "0"))
	}
	switch r.IntN(6) {
	case 0, 1:
		length, arg := r.integer(true)
		return "%" + flags + size + length + r.pick("d", "i"), args + arg
	case 2, 3:
		length, arg := r.integer(false)
		return "%" + flags + size + length + r.pick("u", "x", "X", "o"), args + arg
	case 4:
		flags = strings.ReplaceAll(strings.ReplaceAll(flags, "#", ""), "0", "") // C defines neither for text
		if r.IntN(2) == 0 {
			return "%" + flags + size + "s", args + ", \"" + "some text of a few words"[:r.IntN(25)] + "\""
		}
		return "%" + flags + size + "c", args + ", '" + r.pick("a", "~", " ") + "'"
	}
	return "%" + flags + size + r.pick("", "", "l") + r.pick("f", "F", "e", "E", "g", "G"), args + ", " + r.real()
}

// field is a width or precision: none, a number or * with an argument.
func (r printfWriter) field(args *string, most int, otherwise string) string {
	switch r.IntN(4) {
	case 0:
		return otherwise
	case 1:
		*args += fmt.Sprintf(", %d", r.IntN(2*most)-most/2)
		return "*"
	case 2:
		return fmt.Sprint(1 + r.IntN(9))
	}
	return fmt.Sprint(1 + r.IntN(most))
}

// integer is a length and an argument that has it; a long is one of 32 bits on both machines.
func (r printfWriter) integer(signed bool) (length, arg string) {
	v := r.Uint64() >> r.IntN(64)
	if r.IntN(8) == 0 {
		v = 0
	}
	length = r.pick("", "", "hh", "h", "l", "ll", "z", "j", "t")
	typ := map[string][2]string{
		"": {"unsigned", "int"}, "hh": {"unsigned", "int"}, "h": {"unsigned", "int"}, "l": {"unsigned long", "long"},
		"ll": {"unsigned long long", "long long"}, "z": {"size_t", "ptrdiff_t"}, "j": {"uint64_t", "int64_t"}, "t": {"size_t", "ptrdiff_t"},
	}[length]
	switch {
	case length == "ll" || length == "j":
		return length, fmt.Sprintf(", (%s)0x%xull", typ[boolIndex(signed)], v)
	case signed:
		return length, fmt.Sprintf(", (%s)(int)0x%xu", typ[1], uint32(v))
	}
	return length, fmt.Sprintf(", (%s)0x%xu", typ[0], uint32(v))
}

func boolIndex(b bool) int {
	if b {
		return 1
	}
	return 0
}

// real is any double: of all exponents, of few digits, in the middle between two of few digits, or an edge.
func (r printfWriter) real() string {
	var v float64
	switch r.IntN(6) {
	case 0:
		v = math.Float64frombits(r.Uint64())
	case 1:
		v = float64(r.IntN(2_000_000)-1_000_000) / 1000
	case 2:
		v = (float64(r.IntN(2000)) + 0.5) / float64(uint64(1)<<r.IntN(12))
	case 3:
		v = math.Pow(10, float64(r.IntN(40)-20)) * float64(1+r.IntN(99))
	case 4:
		v = []float64{0, math.Copysign(0, -1), 9.5, 99.5, 0.95, 9.9999995, 999999.5, 0.00009999995, 0.0001, 1e15,
			math.Inf(1), math.Inf(-1), math.NaN(),
			math.MaxFloat64, math.SmallestNonzeroFloat64, 2.2250738585072014e-308, 123456789}[r.IntN(17)]
	default:
		v = r.NormFloat64()
	}
	return fmt.Sprintf("real(0x%xull)", math.Float64bits(v))
}

// TestPrintfStops: a conversion that hd_printf does not know ends the run, for what follows would be taken for
// another's.
func TestPrintfStops(t *testing.T) {
	formats := []string{"%a", "%n", "%-3ls", "%L", "%'", "%hhs", "%.2lc", "%5%", "%"} // as far as they are read
	dir := t.TempDir()
	var sources []string
	for i, f := range formats {
		file := filepath.Join(dir, fmt.Sprintf("stops%d.c", i))
		require.NoError(t, os.WriteFile(file, []byte(`#include "heddle.h"
#pragma GCC diagnostic ignored "-Wformat"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
int main(void)
{
	hd_printf("%d then `+f+`", 1, 2.0, "text");
	hd_puts("not reached");
	return 0;
}
`), 0o644))
		sources = append(sources, file)
	}
	out := build(t, "-O1", sources...)
	for i, f := range formats {
		m, err := emu.New(emu.Config{Cores: 1, Warps: 1, Threads: 1, MaxInstrs: 1_000_000})
		require.NoError(t, err)
		m.Load(load(t, filepath.Join(out, fmt.Sprintf("stops%d.elf", i))))
		require.ErrorContains(t, m.Run(context.Background()), "ebreak", f)
		require.Equal(t, "1 then \nhd_printf: no such conversion: "+f+"\n", string(m.Console()), f)
	}
}
