package elf

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"

	"heddle/isa"
)

// Write stores a program as an ELF32 executable with its segments and symbols. Read returns an equal program.
func Write(w io.Writer, p *isa.Program) error {
	const ehSize, phSize, shSize, symSize, pageSize = 52, 32, 40, 16, 4096
	n := uint32(len(p.Segments))

	// File layout: header, program headers, segment bytes, symbols, strings,
	// section headers.
	off := ehSize + n*phSize
	progs := make([]elf.Prog32, n)
	for i, s := range p.Segments {
		off += (s.Addr - off) % pageSize // loaders map files by pages
		flags := uint32(elf.PF_R | elf.PF_W)
		if s.Executable {
			flags |= uint32(elf.PF_X)
		}
		progs[i] = elf.Prog32{
			Type: uint32(elf.PT_LOAD), Off: off, Vaddr: s.Addr, Paddr: s.Addr,
			Filesz: uint32(len(s.Data)), Memsz: s.Size, Flags: flags, Align: pageSize,
		}
		off += uint32(len(s.Data))
	}
	off = (off + 3) &^ 3
	syms, names := symbolTable(p)
	symOff := off
	strOff := symOff + uint32(len(syms))*symSize
	shstr := "\x00.symtab\x00.strtab\x00.shstrtab\x00"
	shstrOff := strOff + uint32(len(names))
	shOff := (shstrOff + uint32(len(shstr)) + 3) &^ 3
	sections := []elf.Section32{
		{},
		{Name: 1, Type: uint32(elf.SHT_SYMTAB), Off: symOff, Size: uint32(len(syms)) * symSize, Link: 2, Info: 1, Addralign: 4, Entsize: symSize},
		{Name: 9, Type: uint32(elf.SHT_STRTAB), Off: strOff, Size: uint32(len(names)), Addralign: 1},
		{Name: 17, Type: uint32(elf.SHT_STRTAB), Off: shstrOff, Size: uint32(len(shstr)), Addralign: 1},
	}
	head := elf.Header32{
		Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_RISCV), Version: 1, Entry: p.Entry,
		Phoff: ehSize, Shoff: shOff, Flags: floatABIHard, Ehsize: ehSize, Phentsize: phSize, Phnum: uint16(n),
		Shentsize: shSize, Shnum: uint16(len(sections)), Shstrndx: 3,
	}
	copy(head.Ident[:], elf.ELFMAG+"\x01\x01\x01")

	var b bytes.Buffer
	put := func(v any) { _ = binary.Write(&b, binary.LittleEndian, v) } // a Buffer never fails
	align := func() { b.Write(make([]byte, -b.Len()&3)) }
	put(head)
	put(progs)
	for i, s := range p.Segments {
		b.Write(make([]byte, int(progs[i].Off)-b.Len()))
		b.Write(s.Data)
	}
	align()
	put(syms)
	b.WriteString(names)
	b.WriteString(shstr)
	align()
	put(sections)
	_, err := w.Write(b.Bytes())
	return err
}

func symbolTable(p *isa.Program) ([]elf.Sym32, string) {
	syms, names := []elf.Sym32{{}}, "\x00"
	for _, s := range p.Symbols {
		syms = append(syms, elf.Sym32{
			Name: uint32(len(names)), Value: s.Addr, Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_NOTYPE),
			Shndx: 1, // in no section: any defined index will do
		})
		names += s.Name + "\x00"
	}
	return syms, names
}
