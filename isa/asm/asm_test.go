package asm_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/tools"
	"heddle/isa/asm"
	"heddle/isa/elf"
)

// gnu assembles and links a file with GNU as and ld, as described in micro/README.md.
func gnu(t *testing.T, src string, defs ...string) []byte {
	t.Helper()
	as := tools.Need(t, "riscv64-unknown-elf-as")
	dir := t.TempDir()
	obj, bin, img := filepath.Join(dir, "x.o"), filepath.Join(dir, "x.elf"), filepath.Join(dir, "x.bin")
	run := func(name string, args ...string) {
		t.Helper()
		out, err := exec.Command(name, args...).CombinedOutput()
		require.NoError(t, err, "%s %v\n%s", name, args, out)
	}
	run(as, append([]string{"-march=rv32imaf_zicsr_zifencei", "-mabi=ilp32f", src, "-o", obj}, defs...)...)
	run("riscv64-unknown-elf-ld", "-m", "elf32lriscv", "--no-relax", "-Ttext=0x80000000", "-e", "_start", obj, "-o",
		bin)
	run("riscv64-unknown-elf-objcopy", "-O", "binary", "-j", ".text", bin, img)
	b, err := os.ReadFile(img)
	require.NoError(t, err)
	return b
}

// text returns the bytes of the program's code.
func text(t *testing.T, file string, src []byte, opt asm.Options) []byte {
	t.Helper()
	p, err := asm.Assemble(file, src, opt)
	require.NoError(t, err)
	require.True(t, p.Segments[0].Executable)
	return p.Segments[0].Data
}

// micro returns the micro-programs with reference cycles.
func micro(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../micro/programs/*.s")
	require.NoError(t, err)
	require.Len(t, files, 46)
	return files
}

func TestMicroProgramsEqualGNU(t *testing.T) {
	for _, file := range micro(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			src, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, gnu(t, file), text(t, file, src, asm.Options{}))
			defined := asm.Options{Defines: map[string]int64{"ITERS": 7}}
			require.Equal(t, gnu(t, file, "--defsym", "ITERS=7"), text(t, file, src, defined))
		})
	}
}

// Every pseudo-instruction, directive and operand form, against GNU as.
func TestFormsEqualGNU(t *testing.T) {
	src, err := os.ReadFile("testdata/forms.s")
	require.NoError(t, err)
	require.Equal(t, gnu(t, "testdata/forms.s"), text(t, "testdata/forms.s", src, asm.Options{}))
}

func TestWrittenELFReadsBackEqual(t *testing.T) {
	src, err := os.ReadFile("testdata/forms.s")
	require.NoError(t, err)
	p, err := asm.Assemble("forms.s", src, asm.Options{})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, elf.Write(&b, p))
	q, err := elf.Read("forms.s", b.Bytes())
	require.NoError(t, err)
	require.Equal(t, p, q)
}
