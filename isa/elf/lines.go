package elf

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"path"

	"heddle/internal/plain"
	"heddle/isa"
)

// Limits and constants of line tables. The package debug/dwarf is not used: it allocates tables of whatever length a
// file states, and follows any number of references to a table. Here the section is read once, from beginning to end.
const (
	maxLineBytes = 64 << 20 // of a section
	maxLineRows  = 8 << 20
	maxLineFiles = 1 << 16
	maxPath      = 1024 // of a file's or a directory's name
)

// Lines reads the line tables of an ELF file that Read accepts: DWARF 2 to 5, as compilers write them with -g. nil: it
// has none.
func Lines(data []byte) (*isa.Lines, error) {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("not a usable ELF file: %w", err)
	}
	if f.Section(".debug_line") == nil {
		return nil, nil
	}
	var content [3][]byte
	for i, name := range [...]string{".debug_line", ".debug_line_str", ".debug_str"} {
		if content[i], err = debugSection(f, name); err != nil {
			return nil, fmt.Errorf("section %s: %w", name, err)
		}
	}
	return readLines(content[0], content[1], content[2])
}

// debugSection returns the content of a section, uncompressed; empty if the file has no such section.
func debugSection(f *elf.File, name string) ([]byte, error) {
	s := f.Section(name)
	switch {
	case s == nil:
		return nil, nil
	case s.Size > maxLineBytes:
		return nil, fmt.Errorf("%d bytes: at most %d are read", s.Size, maxLineBytes)
	case s.Type == elf.SHT_NOBITS:
		return nil, errors.New("it has no bytes in the file")
	}
	return s.Data()
}

// readLines reads the tables of all units, one after the other.
func readLines(line, lineStr, str []byte) (*isa.Lines, error) {
	r := lineReader{lineStr: lineStr, str: str, out: &isa.Lines{}, known: map[string]int{}}
	for in := (cursor{b: line}); len(in.b) > 0; {
		at := len(line) - len(in.b)
		if err := r.unit(&in); err != nil {
			return nil, fmt.Errorf("section .debug_line: table at 0x%x: %w", at, err)
		}
	}
	r.out.Sort()
	return r.out, nil
}

// cursor reads bytes. Behind their end it reads zeros, and sets short.
type cursor struct {
	b     []byte
	short bool
}

var errShort = errors.New("it ends too early")

func (c *cursor) take(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.b, c.short = nil, true
		return nil
	}
	out := c.b[:n]
	c.b = c.b[n:]
	return out
}

// number reads a little-endian number of n bytes.
func (c *cursor) number(n uint64) uint64 {
	var v [8]byte
	copy(v[:], c.take(n))
	return binary.LittleEndian.Uint64(v[:])
}

// offset reads a number of the size that the table's format gives lengths and offsets.
func (c *cursor) offset(wide bool) uint64 {
	if wide {
		return c.number(8)
	}
	return c.number(4)
}

// uleb and sleb read numbers of any size, of which 64 bits count.
func (c *cursor) uleb() (v uint64) {
	v, _, _ = c.leb()
	return v
}

func (c *cursor) sleb() int64 {
	v, shift, last := c.leb()
	if shift < 64 && last&0x40 != 0 {
		v |= ^uint64(0) << shift
	}
	return int64(v)
}

func (c *cursor) leb() (v uint64, shift uint, last byte) {
	for {
		last = byte(c.number(1))
		if shift < 64 {
			v |= uint64(last&0x7f) << shift
		}
		if shift += 7; last&0x80 == 0 {
			return v, shift, last
		}
	}
}

// text reads a name, which a zero ends.
func (c *cursor) text() []byte {
	n := bytes.IndexByte(c.b[:min(len(c.b), maxPath)], 0)
	if n < 0 {
		c.b, c.short = nil, true
		return nil
	}
	return c.take(uint64(n) + 1)[:n]
}

// lineReader reads line tables.
type lineReader struct {
	lineStr, str []byte
	out          *isa.Lines
	known        map[string]int // files of out

	// Of the unit.
	version   uint64
	wide      bool // 64-bit DWARF
	minInst   uint64
	base      int64
	width     uint64
	first     byte   // special opcode
	operands  []byte // of standard opcodes, from 1 on
	dirs      [][]byte
	files     []lineFile
	fileIndex map[uint64]int // of out.Files, by the unit's numbers
}

// lineFile is a source file: its name, and which of the directories it is in.
type lineFile struct {
	name []byte
	dir  uint64
}

func (r *lineReader) unit(in *cursor) error {
	length := in.number(4)
	if r.wide = length == 0xffffffff; r.wide {
		length = in.number(8)
	} else if length >= 0xfffffff0 {
		return fmt.Errorf("length 0x%x is reserved", length)
	}
	unit := cursor{b: in.take(length)}
	r.version = unit.number(2)
	switch {
	case in.short:
		return errShort
	case r.version < 2 || r.version > 5:
		return fmt.Errorf("version %d: expected 2 to 5", r.version)
	}
	if r.version >= 5 {
		unit.number(2) // sizes of addresses and segment selectors
	}
	header := cursor{b: unit.take(unit.offset(r.wide))}
	if err := r.header(&header); err != nil {
		return err
	}
	if unit.short || header.short {
		return errShort
	}
	return r.program(&unit)
}

// header reads how opcodes are written, and the tables of directories and files.
func (r *lineReader) header(in *cursor) error {
	r.minInst = in.number(1)
	if r.version >= 4 {
		if n := in.number(1); n != 1 && !in.short {
			return fmt.Errorf("%d operations an instruction: expected 1", n)
		}
	}
	in.number(1) // is_stmt, which only breakpoints use
	r.base, r.width = int64(int8(in.number(1))), in.number(1)
	if r.width == 0 && !in.short {
		return errors.New("line_range is 0")
	}
	r.first = byte(in.number(1))
	r.operands = in.take(uint64(max(r.first, 1) - 1))
	r.dirs, r.files, r.fileIndex = nil, nil, map[uint64]int{}
	if r.version >= 5 {
		return r.tables(in)
	}
	return r.oldTables(in)
}

// oldTables are those before version 5, in which numbers begin at 1.
func (r *lineReader) oldTables(in *cursor) error {
	r.dirs = append(r.dirs, nil) // where the compiler ran, which is said elsewhere
	for name := in.text(); len(name) > 0; name = in.text() {
		if r.dirs = append(r.dirs, name); len(r.dirs) > maxLineFiles {
			return errFiles
		}
	}
	r.files = append(r.files, lineFile{})
	for name := in.text(); len(name) > 0; name = in.text() {
		if err := r.addFile(name, in); err != nil {
			return err
		}
	}
	return nil
}

var errFiles = fmt.Errorf("more than %d files or directories", maxLineFiles)

// addFile reads the entry after a file's name.
func (r *lineReader) addFile(name []byte, in *cursor) error {
	r.files = append(r.files, lineFile{name, in.uleb()})
	in.uleb() // time
	in.uleb() // size
	if len(r.files) > maxLineFiles {
		return errFiles
	}
	return nil
}

func (r *lineReader) tables(in *cursor) error {
	dirs, err := r.table(in)
	if err != nil {
		return err
	}
	for _, d := range dirs {
		r.dirs = append(r.dirs, d.name)
	}
	r.files, err = r.table(in)
	return err
}

// Contents and forms of a table's columns.
const (
	columnPath = 1
	columnDir  = 2

	formBlock   = 0x09
	formString  = 0x08
	formData1   = 0x0b
	formData2   = 0x05
	formData4   = 0x06
	formData8   = 0x07
	formData16  = 0x1e
	formUdata   = 0x0f
	formStrp    = 0x0e
	formLineStr = 0x1f
)

// table reads one whose columns are described in front of it.
func (r *lineReader) table(in *cursor) ([]lineFile, error) {
	columns := make([][2]uint64, in.number(1))
	for i := range columns {
		columns[i] = [2]uint64{in.uleb(), in.uleb()}
	}
	n := in.uleb()
	if n > maxLineFiles {
		return nil, errFiles
	}
	if n > uint64(len(in.b)) {
		return nil, errShort
	}
	out := make([]lineFile, n)
	for i := range out {
		for _, c := range columns {
			text, v, err := r.field(in, c[1])
			if err != nil {
				return nil, err
			}
			switch c[0] {
			case columnPath:
				out[i].name = text
			case columnDir:
				out[i].dir = v
			}
		}
	}
	return out, nil
}

// field reads a value.
func (r *lineReader) field(in *cursor, form uint64) (text []byte, v uint64, err error) {
	switch form {
	case formString:
		return in.text(), 0, nil
	case formLineStr, formStrp:
		c := cursor{b: r.lineStr}
		if form == formStrp {
			c.b = r.str
		}
		c.take(in.offset(r.wide))
		if text = c.text(); c.short {
			return nil, 0, errors.New("the name of a file has no end, or is behind that of its section")
		}
		return text, 0, nil
	case formData1:
		return nil, in.number(1), nil
	case formData2:
		return nil, in.number(2), nil
	case formData4:
		return nil, in.number(4), nil
	case formData8:
		return nil, in.number(8), nil
	case formData16:
		in.take(16)
		return nil, 0, nil
	case formBlock:
		in.take(in.uleb())
		return nil, 0, nil
	case formUdata:
		return nil, in.uleb(), nil
	}
	return nil, 0, fmt.Errorf("form 0x%x of a file's description is not known", form)
}

// file returns the number in out of one of the unit's files.
func (r *lineReader) file(n uint64) (int, error) {
	if i, ok := r.fileIndex[n]; ok {
		return i, nil
	}
	if n >= uint64(len(r.files)) {
		return 0, fmt.Errorf("file %d: the table has %d", n, len(r.files))
	}
	f := r.files[n]
	name := string(f.name)
	if f.dir < uint64(len(r.dirs)) && !path.IsAbs(name) {
		dir := string(r.dirs[f.dir])
		if f.dir > 0 && !path.IsAbs(dir) {
			dir = path.Join(string(r.dirs[0]), dir)
		}
		name = path.Join(dir, name)
	}
	name = plain.Line(name)
	i, ok := r.known[name]
	if !ok {
		if i = len(r.out.Files); i >= maxLineFiles {
			return 0, errFiles
		}
		r.known[name] = i
		r.out.Files = append(r.out.Files, name)
	}
	r.fileIndex[n] = i
	return i, nil
}

// lineState is the state machine's.
type lineState struct {
	addr uint64
	file uint64
	line int64
}

// Opcodes of line programs.
const (
	opCopy          = 1
	opAdvancePC     = 2
	opAdvanceLine   = 3
	opSetFile       = 4
	opConstAddPC    = 8
	opFixedAdvance  = 9
	extEndSequence  = 1
	extSetAddress   = 2
	extDefineFile   = 3
	lastSpecialCode = 255
)

// program executes a unit's line program.
func (r *lineReader) program(in *cursor) error {
	s := lineState{file: 1, line: 1}
	for len(in.b) > 0 {
		op := byte(in.number(1))
		var err error
		switch {
		case op >= r.first && op > 0:
			r.advance(&s, op)
			s.line += r.base + int64(uint64(op-r.first)%r.width)
			err = r.row(&s)
		case op == 0:
			err = r.extended(&s, in)
		default:
			err = r.standard(&s, op, in)
		}
		if err != nil {
			return err
		}
		if in.short {
			return errShort
		}
	}
	return nil
}

// advance moves the address as a special opcode does.
func (r *lineReader) advance(s *lineState, op byte) {
	s.addr += uint64(op-r.first) / r.width * r.minInst
}

func (r *lineReader) standard(s *lineState, op byte, in *cursor) error {
	switch op {
	case opCopy:
		return r.row(s)
	case opAdvancePC:
		s.addr += in.uleb() * r.minInst
	case opAdvanceLine:
		s.line += in.sleb()
	case opSetFile:
		s.file = in.uleb()
	case opConstAddPC:
		r.advance(s, lastSpecialCode)
	case opFixedAdvance:
		s.addr += in.number(2)
	default: // columns, blocks, prologues, …
		for range r.operands[op-1] {
			in.uleb()
		}
	}
	return nil
}

func (r *lineReader) extended(s *lineState, in *cursor) error {
	arg := cursor{b: in.take(in.uleb())}
	switch op := arg.number(1); op {
	case extEndSequence:
		err := r.add(uint32(s.addr), 0, 0)
		*s = lineState{file: 1, line: 1}
		return err
	case extSetAddress:
		s.addr = arg.number(min(uint64(len(arg.b)), 8))
	case extDefineFile:
		if name := arg.text(); !arg.short {
			return r.addFile(name, &arg)
		}
	}
	return nil
}

// row adds the state to the table.
func (r *lineReader) row(s *lineState) error {
	if s.line < 0 || s.line > 1<<30 {
		return fmt.Errorf("line %d", s.line)
	}
	if s.line == 0 {
		return r.add(uint32(s.addr), 0, 0)
	}
	file, err := r.file(s.file)
	if err != nil {
		return err
	}
	return r.add(uint32(s.addr), file, uint32(s.line))
}

func (r *lineReader) add(addr uint32, file int, line uint32) error {
	if r.out.Len() >= maxLineRows {
		return fmt.Errorf("more than %d rows", maxLineRows)
	}
	r.out.Add(addr, file, line)
	return nil
}
