// Package cextern has the extern functions of GraphIt programs that are written in C: their compilation with gcc for
// the machine, and their execution on the functional machine, where main or the reference calls one.
//
// A kernel calls a function through gt_call (runtime/call.S), which takes the lanes one after the other. Its machine
// code is the same in both, so that both have the same results, to the bit.
package cextern

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"heddle/graphit"
	"heddle/isa"
	"heddle/isa/elf"
)

//go:embed runtime
var runtime embed.FS

// Addresses of the device that the functions have, below its arrays: of code and data, and of the lanes' frames.
const (
	Base       = 0x00100000
	FrameBase  = 0x00400000
	FrameBytes = 4096
	frameEnd   = 0x10000000
)

// MaxLanes is the number of lanes of a machine that there are frames for.
const MaxLanes = (frameEnd - FrameBase) / FrameBytes

// Offsets in a frame (runtime/call.S).
const (
	FloatsAt = 32 // arguments in float registers; those in integer registers are at 0
	ResultAt = 64 // a0, a1 and fa0
	CodeAt   = 76 // the function's address

	argumentRegisters = 8 // of each kind
)

// Image is the compiled functions of a program.
type Image struct {
	File      string
	Program   *isa.Program
	Call      uint32 // the address of gt_call
	functions map[string]*Function
	vectors   []vector // that the functions name
	globals   map[string]uint32
}

// Function is one of them.
type Function struct {
	Image *Image
	Decl  *graphit.Func
	Addr  uint32
	Args  []Argument
}

// Argument is where an argument is, by the ABI ilp32f.
type Argument struct {
	Type   *graphit.Type
	Float  bool // in a float register
	Offset uint32
	Words  uint32
}

// vector is a vector of the program that the functions know by a pointer.
type vector struct {
	name    string
	of      *graphit.Type
	pointer uint32
}

// compiler is the C compiler: CC, or Debian's.
func compiler() (string, error) {
	name := os.Getenv("CC")
	if name == "" {
		name = "riscv64-unknown-elf-gcc"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("extern functions in C need %s, which is not in PATH: expected Debian's "+
			"gcc-riscv64-unknown-elf, or CC with another compiler for RISC-V", name)
	}
	return path, nil
}

// Compile compiles a file with a program's extern functions, and makes them those of the program that have no body.
func Compile(ctx context.Context, f *graphit.File, name string, src []byte) error {
	decls := declared(f)
	prototypes, err := header(f, decls)
	if err != nil {
		return err
	}
	cc, err := compiler()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "heddle-extern")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var roots []string
	for _, fn := range decls {
		roots = append(roots, "-Wl,-u,"+fn.Name)
	}
	data, err := build(ctx, cc, dir, source{name, src, prototypes, glue(f), roots})
	if err != nil {
		return err
	}
	p, err := elf.Read(name, data)
	if err != nil {
		return err
	}
	return link(f, decls, &Image{File: name, Program: p, functions: map[string]*Function{}, globals: map[string]uint32{}})
}

// declared returns the functions that a program declares as extern.
func declared(f *graphit.File) (list []*graphit.Func) {
	for _, fn := range f.Funcs {
		if fn.Extern {
			list = append(list, fn)
		}
	}
	return list
}

// source is what is compiled.
type source struct {
	name       string
	text       []byte
	prototypes string
	glue       string
	roots      []string // what is linked even if nothing else needs it
}

// build runs the compiler and the linker.
func build(ctx context.Context, cc, dir string, s source) ([]byte, error) {
	name := s.name
	files := map[string][]byte{"prototypes.h": []byte(s.prototypes), "glue.c": []byte(s.glue)}
	for _, n := range []string{"graphit.h", "call.S", "memory.c", "link.ld"} {
		text, err := runtime.ReadFile("runtime/" + n)
		if err != nil {
			return nil, err
		}
		files[n] = text
	}
	for n, text := range files {
		if err := os.WriteFile(filepath.Join(dir, n), text, 0o600); err != nil {
			return nil, err
		}
	}
	at := func(n string) string { return filepath.Join(dir, n) }
	flags := []string{"-march=rv32imaf", "-mabi=ilp32f", "-mstrict-align", "-O2", "-std=gnu11", "-fno-pic", "-mno-relax",
		"-msmall-data-limit=0", "-ffp-contract=off", "-ffunction-sections", "-fdata-sections", "-I" + dir}
	libs, include := libraries()
	out := at("functions.elf")
	own := append(append([]string{}, flags...), include...)
	own = append(own, "-Wall", "-Werror=implicit-function-declaration", "-Werror=incompatible-pointer-types",
		"-fdiagnostics-color=never", "-include", at("prototypes.h"), "-x", "c", "-", "-c", "-o", at("functions.o"))
	line := fmt.Sprintf("#line 1 %q\n", name)
	if err := execute(ctx, cc, append([]byte(line), s.text...), own...); err != nil {
		return nil, fmt.Errorf("%s does not compile for the machine:\n%w", name, err)
	}
	all := append(append([]string{}, flags...), "-ffreestanding", "-static", "-nostdlib", "-Wl,--no-relax,--gc-sections",
		"-Wl,-u,gt_call", "-T", at("link.ld"), at("call.S"), at("functions.o"), at("glue.c"), at("memory.c"), "-o", out)
	lib, err := exec.CommandContext(ctx, cc, "-march=rv32imf", "-mabi=ilp32f", "-print-libgcc-file-name").Output()
	if err != nil {
		return nil, err
	}
	all = append(append(all, s.roots...), libs...)
	if err := execute(ctx, cc, nil, append(all, strings.TrimSpace(string(lib)))...); err != nil {
		return nil, fmt.Errorf("%s does not link: functions have the C library's mathematics and memory functions, no "+
			"files, heap or output:\n%w", name, err)
	}
	return os.ReadFile(out)
}

// libraries returns the C library's files and its headers: of LIBS, or picolibc's where Debian has it.
func libraries() (libs, include []string) {
	const root = "/usr/lib/picolibc/riscv64-unknown-elf/"
	if s := strings.Fields(os.Getenv("LIBS")); len(s) > 0 {
		return s, nil
	}
	dir := root + "lib/release/rv32imf/ilp32f/"
	if _, err := os.Stat(dir + "libm.a"); err != nil {
		return nil, nil
	}
	return []string{dir + "libm.a", dir + "libc.a"}, []string{"-isystem", root + "include"}
}

// execute runs the compiler; an error has what it says.
func execute(ctx context.Context, cc string, in []byte, args ...string) error {
	c := exec.CommandContext(ctx, cc, args...)
	c.Stdin = bytes.NewReader(in)
	said, err := c.CombinedOutput()
	if err == nil {
		return nil
	}
	const most = 4000
	if len(said) > most {
		said = append(said[:most], "\n…"...)
	}
	if len(said) == 0 {
		return err
	}
	return errors.New(strings.TrimRight(string(said), "\n"))
}

// link finds the functions and the variables, and gives the program its extern functions.
func link(f *graphit.File, decls []*graphit.Func, m *Image) error {
	var ok bool
	if m.Call, ok = m.Program.Symbol("gt_call"); !ok {
		return fmt.Errorf("%s: the compiled functions have no gt_call", m.File)
	}
	for _, fn := range decls {
		at, ok := m.Program.Symbol(fn.Name)
		if !ok {
			continue // Check names the expectation
		}
		args, err := arguments(fn)
		if err != nil {
			return &graphit.Error{File: f.Name, Pos: fn.Pos, Msg: err.Error()}
		}
		m.functions[fn.Name] = &Function{Image: m, Decl: fn, Addr: at, Args: args}
	}
	if len(m.functions) == 0 {
		return fmt.Errorf("%s: expected %s", m.File, Prototype(decls[0]))
	}
	for _, v := range f.Globals {
		if at, ok := m.Program.Symbol(v.Name); ok && v.Type.Kind == graphit.Vector {
			m.vectors = append(m.vectors, vector{v.Name, v.Type.Of, at})
		}
	}
	for _, n := range []string{"gt_vertices", "gt_begin", "gt_neighbour", "gt_weight", "gt_priority"} {
		if at, ok := m.Program.Symbol(n); ok {
			m.globals[n] = at
		}
	}
	if f.Natives == nil {
		f.Natives = map[string]*graphit.Extern{}
	}
	for n, fn := range m.functions {
		f.Natives[n] = &graphit.Extern{Signature: graphit.Signature(fn.Decl), Call: fn.call, Code: fn}
	}
	return nil
}
