// Package elf reads programs from files: ELF executables for RV32 and flat images; and writes the assembler's programs
// as ELF.
//
// A file is not trusted: every size in it is checked against the file before anything is allocated, and programs that
// the machine could not run are refused with the reason. This package knows no machine.
package elf

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"sort"

	"heddle/internal/plain"
	"heddle/isa"
)

// MaxFile is the largest file that is read.
const MaxFile = 1 << 30

// e_flags of RISC-V (psABI, section "ELF object files").
const (
	flagRVC       = 0x0001
	flagFloatABI  = 0x0006
	floatABIHard  = 0x0002 // single-precision arguments in f registers
	flagRVE       = 0x0008
	flagsMeaning  = flagRVC | flagFloatABI | flagRVE
	offsetOfFlags = 36 // in an ELF32 header
)

// Magic reports whether the file's first bytes are those of an ELF file.
func Magic(b []byte) bool { return bytes.HasPrefix(b, []byte(elf.ELFMAG)) }

// Read loads an ELF32 little-endian RISC-V executable.
func Read(name string, data []byte) (*isa.Program, error) {
	p, err := read(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p.Name = name
	return p, nil
}

func read(data []byte) (*isa.Program, error) {
	if len(data) > MaxFile {
		return nil, fmt.Errorf("file of %d bytes: at most %d are read", len(data), MaxFile)
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("not a usable ELF file: %w", err)
	}
	if err := acceptable(f, data); err != nil {
		return nil, err
	}
	p := &isa.Program{Entry: uint32(f.Entry)}
	if p.Segments, err = segments(f.Progs, data); err != nil {
		return nil, err
	}
	for i := range p.Segments {
		p.Segments[i].Executable = p.Segments[i].Executable || hasCode(f, &p.Segments[i])
	}
	if err := arrange(p); err != nil {
		return nil, err
	}
	p.Symbols, err = symbols(f, p)
	return p, err
}

// acceptable refuses files for other machines.
func acceptable(f *elf.File, data []byte) error {
	switch {
	case f.Class != elf.ELFCLASS32:
		return fmt.Errorf("%v: expected a 32-bit file (-march=rv32imaf -mabi=ilp32f)", f.Class)
	case f.Data != elf.ELFDATA2LSB:
		return fmt.Errorf("%v: expected a little-endian file", f.Data)
	case f.Machine != elf.EM_RISCV:
		return fmt.Errorf("%v: expected a RISC-V file", f.Machine)
	case f.Type != elf.ET_EXEC:
		return fmt.Errorf("%v: expected a linked, non-relocatable executable (ET_EXEC; link with -static -no-pie)",
			f.Type)
	}
	flags := uint32(data[offsetOfFlags]) | uint32(data[offsetOfFlags+1])<<8
	switch {
	case flags&flagRVC != 0:
		return errors.New("the file uses compressed instructions, which the machine does not have (-march without c)")
	case flags&flagRVE != 0:
		return errors.New("the file is for RV32E, with 16 registers")
	case flags&flagFloatABI > floatABIHard:
		return errors.New("the file passes doubles in float registers, which have 32 bits here (-mabi=ilp32f or ilp32)")
	}
	return nil
}

// segments returns the segments to load. Segments must not overlap in the file: otherwise a small file could make a
// huge image.
func segments(progs []*elf.Prog, data []byte) (out []isa.Segment, err error) {
	left := uint64(len(data))
	for i, ph := range progs {
		if ph.Type != elf.PT_LOAD || ph.Memsz == 0 {
			continue
		}
		s, err := segment(ph, data)
		if err != nil {
			return nil, fmt.Errorf("program header %d: %w", i, err)
		}
		if ph.Filesz > left {
			return nil, fmt.Errorf("program header %d: segments overlap in the file: together they have more than its %d bytes",
				i, len(data))
		}
		left -= ph.Filesz
		out = append(out, s)
	}
	return out, nil
}

// segment returns one, which holds a part of the file itself.
func segment(ph *elf.Prog, data []byte) (isa.Segment, error) {
	size := uint64(len(data))
	switch {
	case ph.Filesz > ph.Memsz:
		return isa.Segment{}, fmt.Errorf("file size %d exceeds memory size %d", ph.Filesz, ph.Memsz)
	case ph.Off > size || ph.Filesz > size-ph.Off:
		return isa.Segment{}, fmt.Errorf("bytes %d..%d are beyond the file's end at %d", ph.Off, ph.Off+ph.Filesz, size)
	case ph.Memsz >= 1<<32 || ph.Vaddr+ph.Memsz > 1<<32:
		return isa.Segment{}, fmt.Errorf("address 0x%x + %d bytes is beyond 4 GiB", ph.Vaddr, ph.Memsz)
	}
	end := ph.Off + ph.Filesz
	return isa.Segment{Addr: uint32(ph.Vaddr), Data: data[ph.Off:end:end], Size: uint32(ph.Memsz),
		Executable: ph.Flags&elf.PF_X != 0}, nil
}

// hasCode reports whether a section with instructions is in the segment: linker scripts forget to say it of the
// segment, as that of the official riscv-tests does.
func hasCode(f *elf.File, s *isa.Segment) bool {
	for _, x := range f.Sections {
		if x.Flags&elf.SHF_ALLOC != 0 && x.Flags&elf.SHF_EXECINSTR != 0 && x.Size > 0 && x.Addr >= uint64(s.Addr) &&
			x.Addr-uint64(s.Addr) < uint64(s.Size) {
			return true
		}
	}
	return false
}

// arrange sorts the segments and checks that they do not overlap and that the
// entry is in an executable one.
func arrange(p *isa.Program) error {
	s := p.Segments
	sort.Slice(s, func(i, j int) bool { return s[i].Addr < s[j].Addr })
	entry := false
	for i := range s {
		if i > 0 && uint64(s[i-1].Addr)+uint64(s[i-1].Size) > uint64(s[i].Addr) {
			return fmt.Errorf("segments at 0x%x and 0x%x overlap", s[i-1].Addr, s[i].Addr)
		}
		entry = entry || s[i].Executable && p.Entry-s[i].Addr < s[i].Size
	}
	switch {
	case len(s) == 0:
		return errors.New("nothing to load: no PT_LOAD program header")
	case p.Entry%4 != 0:
		return fmt.Errorf("entry 0x%x is not a multiple of 4", p.Entry)
	case !entry:
		return fmt.Errorf("entry 0x%x is in no executable segment", p.Entry)
	}
	return nil
}

// symbols returns the named addresses; a stripped file has none.
func symbols(f *elf.File, p *isa.Program) ([]isa.Symbol, error) {
	syms, err := f.Symbols()
	if errors.Is(err, elf.ErrNoSymbols) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("symbol table: %w", err)
	}
	var out []isa.Symbol
	for _, s := range syms {
		switch elf.ST_TYPE(s.Info) {
		case elf.STT_NOTYPE, elf.STT_FUNC, elf.STT_OBJECT:
			if s.Section != elf.SHN_UNDEF && s.Section != elf.SHN_ABS && s.Name != "" && s.Name[0] != '$' {
				out = append(out, isa.Symbol{Name: plain.Line(s.Name), Addr: uint32(s.Value)})
			}
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Addr < out[j].Addr })
	return out, nil
}

// Flat makes a program of a raw memory image that is loaded and entered at base.
func Flat(name string, data []byte, base uint32) (*isa.Program, error) {
	switch {
	case len(data) == 0:
		return nil, fmt.Errorf("%s: empty image", name)
	case len(data) > MaxFile || uint64(base)+uint64(len(data)) > 1<<32:
		return nil, fmt.Errorf("%s: image of %d bytes does not fit at 0x%x", name, len(data), base)
	}
	return &isa.Program{
		Name: name, Entry: base,
		Segments: []isa.Segment{{Addr: base, Data: data, Size: uint32(len(data)), Executable: true}},
	}, nil
}
