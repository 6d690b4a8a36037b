package cmd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"heddle/internal/files"
	"heddle/isa"
	"heddle/isa/emu"
)

// memoryFlags holds the flags that load files into memory before a program runs, and save memory to files after it.
type memoryFlags struct {
	load, save []string
}

func (f *memoryFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.load, "load", nil, "put a file's bytes into memory before the run, `FILE@ADDRESS`")
	c.Flags().StringArrayVar(&f.save, "save", nil, "write memory to a file after the run, `FILE@ADDRESS+BYTES`")
}

// maxSaved bounds the size of a file of --save.
const maxSaved = 1 << 30

// piece is a file and the memory that it is loaded to or saved from.
type piece struct {
	file string
	addr uint32
	size uint64
}

// parse parses FILE@ADDRESS, with +BYTES if sized.
func (f *memoryFlags) parse(flag, text string, sized bool) (p piece, err error) {
	want := "FILE@ADDRESS"
	if sized {
		want += "+BYTES"
	}
	wrong := func() (piece, error) { return p, fmt.Errorf("--%s %s: expected %s", flag, text, want) }
	at := strings.LastIndexByte(text, '@')
	if at <= 0 {
		return wrong()
	}
	p.file = text[:at]
	where, size, isSized := strings.Cut(text[at+1:], "+")
	addr, err := strconv.ParseUint(where, 0, 32)
	if err != nil || isSized != sized {
		return wrong()
	}
	p.addr = uint32(addr)
	if sized {
		if p.size, err = strconv.ParseUint(size, 0, 64); err != nil {
			return wrong()
		}
	}
	return p, nil
}

// check returns an error for a piece outside of memory, or one that overlaps the program.
func (p piece) check(flag string, program *isa.Program) error {
	if p.addr < emu.UncachedEnd || p.addr > emu.ScratchpadBase || p.size > uint64(emu.ScratchpadBase-p.addr) {
		return fmt.Errorf("--%s %s: 0x%x + %d bytes is not within 0x%x..0x%x", flag, p.file, p.addr, p.size,
			emu.UncachedEnd, uint32(emu.ScratchpadBase-1))
	}
	if program == nil {
		return nil
	}
	for _, s := range program.Segments {
		if uint64(p.addr) < uint64(s.Addr)+uint64(s.Size) && uint64(s.Addr) < uint64(p.addr)+p.size {
			return fmt.Errorf("--%s %s: 0x%x + %d bytes overlaps the program, of which 0x%x + %d bytes are a part",
				flag, p.file, p.addr, p.size, s.Addr, s.Size)
		}
	}
	return nil
}

// fill loads the files.
func (f *memoryFlags) fill(m *emu.Memory, program *isa.Program) error {
	for _, text := range f.load {
		p, err := f.parse("load", text, false)
		if err != nil {
			return err
		}
		data, err := files.Read(p.file, maxSaved)
		if err != nil {
			return err
		}
		p.size = uint64(len(data))
		if err := p.check("load", program); err != nil {
			return err
		}
		m.Write(p.addr, data)
	}
	for _, text := range f.save { // errors are reported before the run
		if _, err := f.target(text); err != nil {
			return err
		}
	}
	return nil
}

func (f *memoryFlags) target(text string) (p piece, err error) {
	if p, err = f.parse("save", text, true); err == nil {
		err = p.check("save", nil)
	}
	if err == nil && p.size > maxSaved {
		err = fmt.Errorf("--save %s: at most %d bytes", text, maxSaved)
	}
	return p, err
}

// keep saves the files.
func (f *memoryFlags) keep(m *emu.Memory) error {
	for _, text := range f.save {
		p, err := f.target(text)
		if err != nil {
			return err
		}
		data := make([]byte, p.size)
		m.Read(p.addr, data)
		if err := files.Write(p.file, data); err != nil {
			return err
		}
	}
	return nil
}

// choice is a flag with a fixed set of values.
type choice struct {
	names []string
	value int
}

func (c *choice) String() string { return c.names[c.value] }
func (*choice) Type() string     { return "name" }

func (c *choice) Set(s string) error {
	i := slices.Index(c.names, s)
	if i < 0 {
		return fmt.Errorf("expected one of %s", strings.Join(c.names, ", "))
	}
	c.value = i
	return nil
}
