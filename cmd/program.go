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

// programFlags say how a program file is read.
type programFlags struct {
	base    string
	defines []string
}

func (f *programFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.base, "base", "0x80000000", "address where assembly and flat images are loaded and entered")
	c.Flags().StringArrayVarP(&f.defines, "define", "D", nil, "define an assembly symbol, `NAME=VALUE`")
}

// read loads an ELF file (known by its first bytes), assembly (.s, .S) or a
// flat image (anything else).
func (f *programFlags) read(path string) (*isa.Program, error) {
	base, err := strconv.ParseUint(f.base, 0, 32)
	if err != nil || base%4 != 0 {
		return nil, fmt.Errorf("--base %s: expected an address that is a multiple of 4", f.base)
	}
	data, err := files.Read(path, elf.MaxFile)
	if err != nil {
		return nil, err
	}
	switch {
	case elf.Magic(data):
		return elf.Read(path, data)
	case strings.EqualFold(filepath.Ext(path), ".s"):
		return f.assemble(path, data, uint32(base))
	}
	if len(f.defines) > 0 {
		return nil, fmt.Errorf("--define is for assembly, and %s is none (.s)", path)
	}
	return elf.Flat(path, data, uint32(base))
}

func (f *programFlags) assemble(path string, data []byte, base uint32) (*isa.Program, error) {
	opt := asm.Options{Base: base, Defines: map[string]int64{}}
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
