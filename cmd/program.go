package cmd

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"heddle/internal/files"
	"heddle/isa"
	"heddle/isa/asm"
	"heddle/isa/elf"
)

// programFlags holds the flags for reading a program file.
type programFlags struct {
	base    string
	defines []string
}

func (f *programFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.base, "base", "0x80000000", "address where assembly and flat images are loaded and entered")
	c.Flags().StringArrayVarP(&f.defines, "define", "D", nil, "define an assembly symbol, `NAME=VALUE`")
}

// read loads an ELF file (by its magic), assembly (.s, .S) or a flat image (anything else).
func (f *programFlags) read(path string) (*isa.Program, error) {
	p, _, err := f.readWith(path, nil)
	return p, err
}

// lineNumbers maps instructions of a program to source lines; why explains missing ones.
type lineNumbers struct {
	*isa.Lines
	why string
}

// readLines is read with the source lines of instructions.
func (f *programFlags) readLines(path string) (*isa.Program, lineNumbers, error) {
	return f.readWith(path, &isa.Lines{})
}

// readWith reads a program, with source lines unless into is nil.
func (f *programFlags) readWith(path string, into *isa.Lines) (p *isa.Program, lines lineNumbers, err error) {
	base, err := strconv.ParseUint(f.base, 0, 32)
	if err != nil || base%4 != 0 {
		return nil, lines, fmt.Errorf("--base %s: expected an address that is a multiple of 4", f.base)
	}
	data, err := files.Read(path, elf.MaxFile)
	if err != nil {
		return nil, lines, err
	}
	switch {
	case elf.Magic(data):
		if p, err = elf.Read(path, data); err == nil && into != nil {
			lines = elfLines(data)
		}
		return p, lines, err
	case strings.EqualFold(filepath.Ext(path), ".s"):
		p, err = f.assemble(path, data, uint32(base), into)
		return p, lineNumbers{Lines: into}, err
	}
	if len(f.defines) > 0 {
		return nil, lines, fmt.Errorf("--define is for assembly, and %s is none (.s)", path)
	}
	p, err = elf.Flat(path, data, uint32(base))
	return p, lineNumbers{why: "A flat image has neither symbols nor line numbers: give the ELF file or the assembly."},
		err
}

// elfLines reads the line numbers of an ELF file. An error does not prevent the run.
func elfLines(data []byte) lineNumbers {
	lines, err := elf.Lines(data)
	switch {
	case err != nil:
		return lineNumbers{why: fmt.Sprintf("The line numbers cannot be read: %v.", err)}
	case lines == nil:
		return lineNumbers{why: "The file has no line numbers: compile with -g."}
	}
	return lineNumbers{Lines: lines}
}

func (f *programFlags) assemble(path string, data []byte, base uint32, lines *isa.Lines) (*isa.Program, error) {
	opt := asm.Options{Base: base, Defines: map[string]int64{}, Lines: lines}
	for _, d := range f.defines {
		name, text, ok := strings.Cut(d, "=")
		v, err := strconv.ParseInt(text, 0, 64)
		if !ok || name == "" || err != nil {
			return nil, fmt.Errorf("--define %s: expected NAME=NUMBER", d)
		}
		opt.Defines[name] = v
	}
	return asm.Assemble(path, data, opt)
}
