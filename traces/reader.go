package traces

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"sort"

	"heddle/internal/files"
	"heddle/isa/emu"
)

// File is an open trace file. Description and index are in memory; the rest is read per launch, or per warp.
type File struct {
	Meta Meta
	Size int64 // of the file

	path  string
	in    io.ReaderAt
	close func() error
	index index
	codes []*code
	hash  string
}

// Open opens a file, and checks all of it except the blocks.
func Open(path string) (*File, error) {
	in, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := in.Stat()
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	f, err := read(path, in, info.Size())
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	f.close = in.Close
	return f, nil
}

// Close closes the file.
func (f *File) Close() error { return f.close() }

// Path returns the file's path.
func (f *File) Path() string { return f.path }

// read opens a file's contents.
func read(path string, in io.ReaderAt, size int64) (*File, error) {
	f := &File{path: path, in: in, Size: size}
	if err := f.open(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

func (f *File) open() error {
	if f.Size < int64(headerBytes+trailerBytes) {
		return fmt.Errorf("%d bytes: too short for a trace", f.Size)
	}
	head := make([]byte, headerBytes)
	if _, err := f.in.ReadAt(head, 0); err != nil {
		return err
	}
	if string(head[:len(magic)]) != magic {
		return errors.New("is no trace of heddle")
	}
	if v := binary.LittleEndian.Uint32(head[len(magic):]); v != Version {
		return fmt.Errorf("is a trace of format version %d, and this program reads %d", v, Version)
	}
	meta, index, err := f.trailer()
	if err != nil {
		return err
	}
	text, err := f.section("description", meta)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &f.Meta); err != nil {
		return fmt.Errorf("description: %w", err)
	}
	f.Meta.plain()
	f.Meta.renumber()
	if err := f.Meta.check(); err != nil {
		return fmt.Errorf("description: %w", err)
	}
	h := sha256.New()
	h.Write(text)
	if text, err = f.section("index", index); err != nil {
		return err
	}
	h.Write(text)
	f.hash = fmt.Sprintf("%x", h.Sum(nil))
	if err := f.index.get(text, &f.Meta, meta.offset); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	for i := range f.Meta.Programs {
		f.codes = append(f.codes, newCode(f.Meta.Programs[i].program()))
	}
	return nil
}

// Hash returns the SHA-256 of description and index; the index contains the blocks' checksums.
func (f *File) Hash() string { return f.hash }

// trailer returns the positions of description and index.
func (f *File) trailer() (meta, index section, err error) {
	b := make([]byte, trailerBytes)
	if _, err := f.in.ReadAt(b, f.Size-int64(trailerBytes)); err != nil {
		return meta, index, err
	}
	if string(b[trailerBytes-len(magic):]) != magic {
		return meta, index, errors.New("the end is missing: the file was cut off")
	}
	if binary.LittleEndian.Uint32(b[2*sectionBytes:]) != checksum(b[:2*sectionBytes]) {
		return meta, index, errors.New("the trailer is corrupt: its checksum is another")
	}
	meta.get(b)
	index.get(b[sectionBytes:])
	return meta, index, nil
}

// section reads the description or the index.
func (f *File) section(name string, s section) ([]byte, error) {
	end := uint64(f.Size) - uint64(trailerBytes)
	if s.offset > end || uint64(s.bytes) > end-s.offset || s.full > maxSectionBytes {
		return nil, fmt.Errorf("%s: %d bytes at %d, %d expanded: not in a file of %d bytes", name, s.bytes, s.offset,
			s.full, f.Size)
	}
	b := make([]byte, s.bytes)
	if _, err := f.in.ReadAt(b, int64(s.offset)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if checksum(b) != s.sum {
		return nil, fmt.Errorf("%s: is corrupt: its checksum is another", name)
	}
	d := expander()
	defer d.Close()
	out, err := expand(d, b, uint64(s.full))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}

// check returns an error for contradictory descriptions.
func (m *Meta) check() error {
	cfg := emu.Config{Cores: m.Shape.Cores, Warps: m.Shape.Warps, Threads: m.Shape.Threads}
	if err := cfg.Validate(); err != nil {
		return err
	}
	if len(m.Launches) > maxLaunches {
		return fmt.Errorf("%d launches: expected at most %d", len(m.Launches), maxLaunches)
	}
	for i, l := range m.Launches {
		if l.Program < 0 || l.Program >= len(m.Programs) {
			return fmt.Errorf("launch %d is of program %d, and there are %d", i, l.Program, len(m.Programs))
		}
	}
	for i := range m.Programs {
		p := &m.Programs[i]
		if p.Hash != p.hash() {
			return fmt.Errorf("program %s does not match its hash", p.Name)
		}
		for _, s := range p.Segments {
			if uint64(s.Size) < uint64(len(s.Data)) || uint64(s.Addr)+uint64(s.Size) > 1<<32 {
				return fmt.Errorf("program %s: a segment of %d bytes at 0x%08x with %d bytes of data", p.Name, s.Size,
					s.Addr, len(s.Data))
			}
		}
	}
	return nil
}

// numbers parses an index.
type numbers struct {
	b   []byte
	bad bool
}

// next reads a number of at most most.
func (n *numbers) next(most uint64) uint64 {
	x, k := binary.Uvarint(n.b)
	if k <= 0 || x > most {
		n.b, n.bad = nil, true
		return 0
	}
	n.b = n.b[k:]
	return x
}

func (n *numbers) word() uint32 {
	if len(n.b) < 4 {
		n.b, n.bad = nil, true
		return 0
	}
	x := binary.LittleEndian.Uint32(n.b)
	n.b = n.b[4:]
	return x
}

// get parses an index of a file whose blocks end at end. A list's length is bounded by the remaining bytes.
func (x *index) get(b []byte, m *Meta, end uint64) error {
	n := numbers{b: b}
	x.blocks = make([]block, n.next(uint64(len(b))))
	for i := range x.blocks {
		k := &x.blocks[i]
		x.block(k, &n, m)
		switch {
		case n.bad:
			return fmt.Errorf("block %d: has no entry, or numbers that cannot be", i)
		case k.offset < uint64(headerBytes) || k.offset > end || k.size() > end-k.offset:
			return fmt.Errorf("block %d: %d bytes at %d, and the blocks end at %d", i, k.size(), k.offset, end)
		case k.full() > maxBlockBytes:
			return fmt.Errorf("block %d: %d bytes expanded: expected at most %d", i, k.full(), maxBlockBytes)
		case i > 0 && k.launch < x.blocks[i-1].launch:
			return fmt.Errorf("block %d: of launch %d, after one of launch %d", i, k.launch, x.blocks[i-1].launch)
		}
	}
	if len(n.b) > 0 {
		return fmt.Errorf("%d bytes too many", len(n.b))
	}
	return nil
}

func (x *index) block(k *block, n *numbers, m *Meta) {
	k.launch = int(n.next(uint64(max(0, len(m.Launches)-1))))
	k.offset = n.next(math.MaxInt64)
	for i := range k.bytes {
		k.bytes[i] = uint32(n.next(maxBlockBytes * 2))
	}
	k.sum = n.word()
	k.chunks = make([]chunk, n.next(uint64(len(n.b))/(2+numColumns)))
	for i := range k.chunks {
		c := &k.chunks[i]
		c.warp = int(n.next(uint64(m.Shape.Host())))
		c.instrs = n.next(math.MaxInt64)
		for j := range c.bytes {
			c.bytes[j] = uint32(n.next(maxBlockBytes))
		}
	}
}

// blocks returns a launch's blocks.
func (f *File) blocks(launch int) (first int, list []block) {
	all := f.index.blocks
	first = sort.Search(len(all), func(i int) bool { return all[i].launch >= launch })
	end := first + sort.Search(len(all)-first, func(i int) bool { return all[first+i].launch > launch })
	return first, all[first:end]
}

// launch reads the host's actions before a launch, and the traces of its warps: of all, or of those that want selects.
// Blocks without any of these are not read.
func (f *File) launch(launch int, want func(warp int) bool) (warps []decoder, host cursor, err error) {
	n := f.Meta.Shape.Host()
	all := make([]decoder, n+1)
	first, list := f.blocks(launch)
	total := uint64(0)
	for i := range list {
		total += list[i].full()
	}
	if total > maxLaunchBytes {
		return nil, host, fmt.Errorf("%s: launch %d has %d bytes expanded: expected at most %d", f.path, launch, total,
			uint64(maxLaunchBytes))
	}
	d := expander()
	defer d.Close()
	for i := range list {
		if !list[i].has(want) {
			continue
		}
		columns, err := f.expand(d, &list[i])
		if err != nil {
			return nil, host, fmt.Errorf("%s: block %d of launch %d (at byte %d): %w", f.path, first+i, launch,
				list[i].offset, err)
		}
		list[i].deal(columns, all, want)
	}
	return all[:n], all[n].columns[colHost], nil
}

func (b *block) has(want func(warp int) bool) bool {
	for i := range b.chunks {
		if want == nil || want(b.chunks[i].warp) {
			return true
		}
	}
	return false
}

type columnExpander interface {
	DecodeAll(input, dst []byte) ([]byte, error)
}

// expand reads a block's columns.
func (f *File) expand(d columnExpander, b *block) (columns [numColumns][]byte, err error) {
	packed := make([]byte, b.size())
	if _, err := f.in.ReadAt(packed, int64(b.offset)); err != nil {
		return columns, err
	}
	if checksum(packed) != b.sum {
		return columns, errors.New("is corrupt: its checksum is another")
	}
	for col, n := range b.bytes {
		if columns[col], err = expand(d, packed[:n], b.expanded(col)); err != nil {
			return columns, fmt.Errorf("column %s: %w", columnNames[col], err)
		}
		packed = packed[n:]
	}
	return columns, nil
}

// deal assigns the chunks to their warps; the columns must not be shared.
func (b *block) deal(columns [numColumns][]byte, warps []decoder, want func(warp int) bool) {
	for i := range b.chunks {
		c := &b.chunks[i]
		wanted := want == nil || want(c.warp)
		for col, n := range c.bytes {
			if wanted {
				warps[c.warp].columns[col].extend(columns[col][:n:n])
			}
			columns[col] = columns[col][n:]
		}
		if wanted {
			warps[c.warp].left += c.instrs
		}
	}
}
