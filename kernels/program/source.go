package program

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"heddle/internal/files"
	"heddle/isa"
	"heddle/isa/asm"
	"heddle/isa/elf"
	"heddle/kernels/c"
	"heddle/kernels/compose"
)

// Examples are the programs that are shipped.
//
//go:embed examples
var examples embed.FS

// Shipped returns the names of the programs shipped with heddle.
func Shipped() (names []string) {
	list, err := examples.ReadDir("examples")
	if err != nil {
		panic("BUG: program: " + err.Error())
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// contents reads a program: a shipped one by its bare name, otherwise a file. An ambiguous name is an error.
func contents(file string) ([]byte, error) {
	if slices.Contains(Shipped(), file) {
		if _, err := os.Stat(file); err == nil {
			return nil, refuse("program",
				"%s: heddle ships a program of that name, and here is a file: write ./%s for the file, or run where "+
					"there is none for the other",
				file, file)
		}
		return examples.ReadFile(path.Join("examples", file))
	}
	data, err := files.Read(file, elf.MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, refuse("program", "%s: no such file, and none of the programs that are shipped: %s", file,
			strings.Join(Shipped(), ", "))
	}
	if err != nil {
		return nil, refuse("program", "%v", err)
	}
	return data, nil
}

// build reads, assembles or compiles a program with a host's block. lines is nil if the file has no line table.
func build(ctx context.Context, file string, h *Host) (p *isa.Program, lines *isa.Lines, err error) {
	data, err := contents(file)
	if err != nil {
		return nil, nil, err
	}
	switch ext := strings.ToLower(filepath.Ext(file)); {
	case elf.Magic(data):
		if len(h.spec.Defines) > 0 {
			return nil, nil, refuse("host.defines", "%s is built already: expected none", file)
		}
		p, lines, err = readELF(file, data)
	case ext == ".s":
		lines = &isa.Lines{}
		p, err = assemble(file, data, h, lines)
	case ext == ".c":
		p, lines, err = compile(ctx, file, data, h)
	default:
		return nil, nil, refuse("program", "%s: expected C (.c), assembly (.s) or an ELF file", file)
	}
	if err != nil {
		return nil, nil, inKey(err)
	}
	if _, err := p.PhaseMarks(); err != nil {
		return nil, nil, refuse("program", "%v", err)
	}
	return p, lines, h.find(file, p)
}

// readELF reads an executable, and its line table if readable.
func readELF(file string, data []byte) (p *isa.Program, lines *isa.Lines, err error) {
	if p, err = elf.Read(file, data); err != nil {
		return nil, nil, err
	}
	lines, _ = elf.Lines(data) // the line table is optional
	return p, lines, nil
}

// inKey adds the key of the unreadable file to an error that does not name one.
func inKey(err error) error {
	if errors.As(err, new(*compose.KeyError)) {
		return err
	}
	return refuse("program", "%v", err)
}

// find checks that the program has the named kernels.
func (h *Host) find(file string, p *isa.Program) error {
	for _, k := range h.kernels() {
		if _, ok := p.Symbol(k.name); !ok {
			return refuse(k.key, "%s: %s has no such symbol%s", k.name, file, someSymbols(p))
		}
	}
	return nil
}

// someSymbols lists some symbols, to help with a mistyped name.
func someSymbols(p *isa.Program) string {
	const most = 12
	var names []string
	for _, s := range p.Symbols {
		if symbol.MatchString(s.Name) && !strings.HasPrefix(s.Name, "_") && !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	switch {
	case len(names) == 0:
		return ": it has none (stripped?)"
	case len(names) > most:
		return fmt.Sprintf("; it has %s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return "; it has " + strings.Join(names, ", ")
}

func assemble(file string, data []byte, h *Host, lines *isa.Lines) (*isa.Program, error) {
	opt := asm.Options{Defines: h.Symbols(), Lines: lines}
	for _, d := range h.spec.Defines {
		name, text, _ := strings.Cut(d, "=")
		v, err := strconv.ParseInt(text, 0, 64)
		if err != nil {
			return nil, refuse("host.defines", "%s: expected a number for a symbol of assembly", d)
		}
		opt.Defines[name] = v
	}
	return asm.Assemble(file, data, opt)
}

// Compiler is the environment variable that names a C compiler, and DefaultCompiler is Debian's.
const (
	Compiler        = "CC"
	DefaultCompiler = "riscv64-unknown-elf-gcc"
)

// Limits on the compiler, beyond any program's needs: on its time, and on the memory of each of its processes in KiB.
const (
	compileTime   = 2 * time.Minute
	compileMemory = 1 << 20
)

// mostSaid is the maximum length of compiler output that is passed on, in bytes.
const mostSaid = 8 << 10

// compile builds a C program in a temporary directory, with the header of its block.
func compile(ctx context.Context, file string, data []byte, h *Host) (*isa.Program, *isa.Lines, error) {
	cc := os.Getenv(Compiler)
	if cc == "" {
		cc = DefaultCompiler
	}
	if _, err := exec.LookPath(cc); err != nil {
		return nil, nil, refuse("program",
			"%s: there is no C compiler for RISC-V, %s: install it (Debian: gcc-riscv64-unknown-elf), name another "+
				"in the environment variable %s, or give the ELF file",
			file, cc, Compiler)
	}
	dir, err := os.MkdirTemp("", "heddle-program-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it only takes room
	if err := os.CopyFS(dir, c.Files); err != nil {
		return nil, nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, HeaderName), h.Header(), 0o644); err != nil {
		return nil, nil, err
	}
	source, err := filepath.Abs(file) // absolute, so that no file name is taken for a compiler option
	if err != nil {
		return nil, nil, err
	}
	if slices.Contains(Shipped(), file) {
		source = filepath.Join(dir, file)
		if err := os.WriteFile(source, data, 0o644); err != nil {
			return nil, nil, err
		}
	}
	elfFile, err := runCompiler(ctx, dir, source, cc, h)
	if err != nil {
		return nil, nil, err
	}
	built, err := files.Read(elfFile, elf.MaxFile)
	if err != nil {
		return nil, nil, err
	}
	return readELF(file, built)
}

// limited is a shell command that runs another one with limits, where the system supports them.
var limited = fmt.Sprintf(`ulimit -v %d; ulimit -t %d; exec "$@"`, compileMemory, int(compileTime.Seconds()))

// runCompiler runs the script that builds C programs, and returns the path of the result.
func runCompiler(ctx context.Context, dir, source, cc string, h *Host) (string, error) {
	ctx, end := context.WithTimeout(ctx, compileTime)
	defer end()
	cmd := exec.CommandContext(ctx, "sh", "-c", limited, "sh", "sh", filepath.Join(dir, "build.sh"),
		filepath.Join(dir, "out"), source)
	opt := "-O2 -g -ffile-prefix-map=" + dir + string(filepath.Separator) + "="
	for _, d := range h.spec.Defines {
		opt += " -D" + d
	}
	cmd.Env = append(os.Environ(), "CC="+cc, "OPT="+opt, "LIBS=")
	// The script and the compiler's processes form a process group, so that they end together.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		text := strings.TrimSpace(strings.ReplaceAll(said.String(), dir+string(filepath.Separator), ""))
		if len(text) > mostSaid {
			text = text[:mostSaid] + "…"
		}
		name := strings.TrimPrefix(source, dir+string(filepath.Separator))
		return "", refuse("program", "%s cannot be built: %s\n%s", name, buildFailure(ctx, err, text), text)
	}
	base := strings.TrimSuffix(filepath.Base(source), ".c")
	return filepath.Join(dir, "out", base+".elf"), nil
}

// buildFailure returns the error of a failed compiler with its output.
func buildFailure(ctx context.Context, err error, said string) string {
	const advice = "(a macro that grows without end?): build it yourself, and give the ELF file"
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Sprintf("the compiler takes more than %v %s", compileTime, advice)
	case ctx.Err() != nil:
		return ctx.Err().Error()
	case strings.Contains(said, "out of memory") || strings.Contains(said, "memory exhausted"):
		return fmt.Sprintf("the compiler takes more than %d MiB of memory %s", compileMemory>>10, advice)
	}
	return err.Error()
}

// marks is the prefix of the symbols by which edges and phases are counted.
const marks = "heddle."

// digest returns the SHA-256 of everything that determines a program's run on a machine: entry, segments, and the
// addresses of kernels and marks.
func digest(p *isa.Program, h *Host) string {
	sum := sha256.New()
	put := func(words ...uint32) {
		for _, w := range words {
			sum.Write(binary.LittleEndian.AppendUint32(nil, w))
		}
	}
	put(p.Entry)
	for _, s := range p.Segments {
		put(s.Addr, s.Size, uint32(len(s.Data)))
		sum.Write(s.Data)
	}
	for _, k := range h.kernels() {
		addr, _ := p.Symbol(k.name)
		put(addr)
	}
	for _, s := range p.Symbols {
		if strings.HasPrefix(s.Name, marks) {
			fmt.Fprintf(sum, "%s %x\n", s.Name, s.Addr)
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}
