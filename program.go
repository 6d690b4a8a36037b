package heddle

import (
	"path/filepath"
	"strings"

	"heddle/internal/files"
	"heddle/isa"
	"heddle/isa/asm"
	"heddle/isa/elf"
)

// Program is a loadable program: segments of memory, an entry, symbols.
type Program = isa.Program

// CodeBase is the base address and entry of programs from assembly and flat images, unless ProgramOptions specify
// another.
const CodeBase = asm.DefaultBase

// ProgramOptions configure the reading of assembly and flat images.
type ProgramOptions struct {
	Base    uint32           // address of the first byte, a multiple of 4; 0: CodeBase
	Defines map[string]int64 // predefined symbols for assembly
}

func (o *ProgramOptions) base() uint32 {
	if o.Base == 0 {
		return CodeBase
	}
	return o.Base
}

// Assemble assembles GNU-style RISC-V assembly, with the instructions of Vortex's SIMT extension and of all graph units
// (docs/reference/isa.md). Messages contain name and the line.
func Assemble(name, text string, o ProgramOptions) (*Program, error) {
	return asm.Assemble(name, []byte(text), asm.Options{Base: o.base(), Defines: o.Defines})
}

// ReadELF reads an ELF executable for RV32.
func ReadELF(name string, data []byte) (*Program, error) { return elf.Read(name, data) }

// ReadProgram reads a file: an ELF executable, recognised by its first bytes, assembly (.s, .S), or a flat image.
func ReadProgram(path string, o ProgramOptions) (*Program, error) {
	data, err := files.Read(path, elf.MaxFile)
	switch {
	case err != nil:
		return nil, err
	case elf.Magic(data):
		return elf.Read(path, data)
	case IsAssembly(path):
		return Assemble(path, string(data), o)
	}
	return elf.Flat(path, data, o.base())
}

// IsAssembly reports whether a file is assembly by its name.
func IsAssembly(path string) bool { return strings.EqualFold(filepath.Ext(path), ".s") }
