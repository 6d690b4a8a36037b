package asm_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
	"heddle/internal/tools"
	"heddle/isa"
	"heddle/isa/asm"
)

// layout places sections as the assembler does, so that addresses can be compared.
const layout = `SECTIONS {
	. = 0x80000000; .text : { *(.text) }
	. = ALIGN(4096); .rodata : { *(.rodata) }
	. = ALIGN(4096); .data : { *(.data) }
	. = ALIGN(4096); .bss : { *(.bss) }
}
`

// linked is the result of GNU's tools for a source: nil if they refuse it.
type linked struct {
	sections map[uint32][]byte // by address; of .bss zeros
	symbols  map[string]uint32
}

// errKilled is GNU as dying, as when it divides the least number by -1, or losing track of its own symbols.
var errKilled = errors.New("GNU as died")

// link assembles and links. A warning counts as an error: this assembler has none.
func link(dir, src string) (*linked, error) {
	in, obj, bin := filepath.Join(dir, "x.s"), filepath.Join(dir, "x.o"), filepath.Join(dir, "x.elf")
	if err := os.WriteFile(in, []byte(src), 0o644); err != nil {
		return nil, err
	}
	out, err := exec.Command("riscv64-unknown-elf-as", "-mno-relax", "-march=rv32imaf_zicsr_zifencei",
		"-mabi=ilp32f", "-L", in, "-o", obj).CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() < 0 ||
		bytes.Contains(out, []byte("Internal error")) ||
		bytes.Contains(out, []byte("attempt to get value of unresolved symbol")) {
		return nil, errKilled
	}
	if err == nil && warned(out) {
		err = errors.New("GNU as warned")
	}
	if err == nil {
		out, err = exec.Command("riscv64-unknown-elf-ld", "-m", "elf32lriscv", "--no-relax", "--discard-none",
			"--no-warn-rwx-segments",
			"-e", "0x80000000", "-T", filepath.Join(dir, "layout.ld"), obj, "-o", bin).CombinedOutput()
	}
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	return readLinked(bin)
}

// warned reports whether GNU as's output has a warning, other than that space is empty.
func warned(out []byte) bool {
	for line := range bytes.Lines(out) {
		if bytes.Contains(line, []byte("Warning:")) && !bytes.Contains(line, []byte("repeat count is zero")) {
			return true
		}
	}
	return false
}

func readLinked(file string) (*linked, error) {
	f, err := elf.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l := &linked{map[uint32][]byte{}, map[string]uint32{}}
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_ALLOC == 0 || s.Size == 0 {
			continue
		}
		data := make([]byte, s.Size)
		if s.Type != elf.SHT_NOBITS {
			if data, err = s.Data(); err != nil {
				return nil, err
			}
		}
		l.sections[uint32(s.Addr)] = data
	}
	symbols, err := f.Symbols()
	if err != nil {
		return nil, err
	}
	for _, s := range symbols {
		l.symbols[s.Name] = uint32(s.Value)
	}
	return l, nil
}

// compare returns the first difference.
func compare(p *isa.Program, l *linked) error {
	for _, s := range p.Segments {
		got, want := s.Data, l.sections[s.Addr]
		if s.Data == nil {
			got = make([]byte, s.Size)
		}
		// GNU as fills up a section with code to its alignment, with nops.
		if len(want) > len(got) && s.Executable && len(bytes.Trim(want[len(got):], "\x00\x01\x13")) == 0 {
			want = want[:len(got)]
		}
		if !bytes.Equal(got, want) {
			at := 0
			for at < len(got) && at < len(want) && got[at] == want[at] {
				at++
			}
			return fmt.Errorf("from 0x%x on (of %d and %d bytes):\ngot  % x\nwant % x", s.Addr+uint32(at), len(got),
				len(want),
				got[at:min(at+16, len(got))], want[at:min(at+16, len(want))])
		}
	}
	if len(p.Segments) < len(l.sections) {
		return fmt.Errorf("%d segments, expected %d", len(p.Segments), len(l.sections))
	}
	for _, s := range p.Symbols {
		if want, ok := l.symbols[s.Name]; !ok || s.Addr != want {
			return fmt.Errorf("symbol %s at 0x%x, expected 0x%x (%v)", s.Name, s.Addr, want, ok)
		}
	}
	return nil
}

// TestRandomSourcesEqualGNU compares random sources byte for byte: expressions, symbols, directives, macros and
// instructions. Both assemblers refuse the same sources.
func TestRandomSourcesEqualGNU(t *testing.T) {
	tools.Need(t, "riscv64-unknown-elf-as")
	cases, seed := testenv.Cases(t, 100, 10_000), testenv.Seed(t, 1)
	var group sync.WaitGroup
	var count sync.Mutex
	refused, killed, failed := 0, 0, 0
	fail := func(n uint64, src, format string, args ...any) {
		failed++
		t.Errorf("seed %d, case %d: %s\n%s", seed, n, fmt.Sprintf(format, args...), src)
	}
	const workers, mostFailures = 2, 5
	for w := range uint64(workers) {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "layout.ld"), []byte(layout), 0o644))
		group.Go(func() {
			for n := w; n < cases; n += workers {
				src := randomSource(seed, n)
				want, gnuErr := link(dir, src)
				p, err := asm.Assemble("x.s", []byte(src), asm.Options{})
				count.Lock()
				switch {
				case failed == mostFailures:
				case errors.Is(gnuErr, errKilled):
					killed++
				case gnuErr != nil && err != nil:
					refused++
				case gnuErr != nil:
					fail(n, src, "GNU's tools refuse it: %v", gnuErr)
				case err != nil:
					fail(n, src, "refused: %v", err)
				default:
					if err := compare(p, want); err != nil {
						fail(n, src, "%v", err)
					}
				}
				count.Unlock()
			}
		})
	}
	group.Wait()
	t.Logf("%d sources: %d refused by both, %d not compared as GNU as died", cases, refused, killed)
	require.Less(t, uint64(refused+killed), cases/2, "too few are compared")
}

// randomSource is that of a case.
func randomSource(seed, n uint64) string {
	g := sourceWriter{Rand: rand.New(rand.NewPCG(seed, n)), section: ".text", faulty: n%8 == 7}
	g.line(".text")
	g.line("_start: nop")
	g.line(".section .rodata; .byte 1") // ld leaves out an empty section, with its symbols
	g.line(".data; .byte 2")
	g.line(".bss; .zero 3")
	g.line(".text")
	for range 12 + g.IntN(30) {
		g.statement(0)
	}
	if g.faulty {
		g.fault()
		g.statement(0)
	}
	if g.section != ".text" {
		g.line(".text")
	}
	g.line(".balign 8")
	g.line("1: nop")
	for _, name := range g.forward {
		g.line("%s = %s", name, g.known(2))
		if g.IntN(2) == 0 {
			g.line("%s = %s", name, g.known(1))
		}
	}
	return g.String() + "\n"
}
