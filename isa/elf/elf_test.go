package elf_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa"
	"heddle/isa/elf"
)

var sample = &isa.Program{
	Name: "x.elf", Entry: 0x80000004,
	Segments: []isa.Segment{
		{Addr: 0x80000000, Data: []byte{0x13, 0, 0, 0, 0x13, 0, 0, 0}, Size: 8, Executable: true},
		{Addr: 0x80001000, Data: []byte{1, 2, 3}, Size: 4000},
	},
	Symbols: []isa.Symbol{{Name: "_start", Addr: 0x80000004}, {Name: "v", Addr: 0x80001000}},
}

func file(t testing.TB) []byte {
	var b bytes.Buffer
	require.NoError(t, elf.Write(&b, sample))
	return b.Bytes()
}

func TestRoundTrip(t *testing.T) {
	p, err := elf.Read("x.elf", file(t))
	require.NoError(t, err)
	require.Equal(t, sample, p)
}

// Offsets in the ELF32 header, and in the first program header.
const (
	class, order, etype, machine, entry, flags = 4, 5, 16, 18, 24, 36
	phoff, phnum                               = 28, 44
	ph                                         = 52
	pOffset, pVaddr, pFilesz, pMemsz, pFlags   = ph + 4, ph + 8, ph + 16, ph + 20, ph + 24
)

// A hostile or foreign header is refused with the reason.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		at   int
		size int
		v    uint32
		want string
	}{
		{"64-bit", class, 1, 2, ""},
		{"big-endian", order, 1, 2, ""},
		{"x86", machine, 2, 62, "expected a RISC-V file"},
		{"shared object", etype, 2, 3, "expected a linked, non-relocatable executable"},
		{"relocatable", etype, 2, 1, "expected a linked, non-relocatable executable"},
		{"compressed", flags, 4, 3, "compressed instructions"},
		{"rv32e", flags, 4, 8, "RV32E"},
		{"double floats", flags, 4, 4, "-mabi=ilp32f"},
		{"entry outside", entry, 4, 0x70000000, "entry 0x70000000 is in no executable segment"},
		{"entry in data", entry, 4, 0x80001000, "is in no executable segment"},
		{"entry odd", entry, 4, 0x80000002, "not a multiple of 4"},
		{"no headers", phnum, 2, 0, "nothing to load"},
		{"headers beyond the end", phoff, 4, 0x7fffff00, ""},
		{"file size > memory size", pMemsz, 4, 4, "file size 8 exceeds memory size 4"},
		{"bytes beyond the end", pOffset, 4, 0x10000, "beyond the file's end"},
		{"huge file size", pFilesz, 4, 0xFFFFFFFF, "exceeds memory size"},
		{"wraps", pVaddr, 4, 0xFFFFFFFC, "beyond 4 GiB"},
		{"overlap", pMemsz, 4, 0x2000, "overlap"},
		{"not executable", pFlags, 4, 6, "is in no executable segment"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := file(t)
			var v [4]byte
			binary.LittleEndian.PutUint32(v[:], c.v)
			copy(b[c.at:], v[:c.size])
			_, err := elf.Read("x.elf", b)
			require.ErrorContains(t, err, "x.elf: ")
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestTruncatedFilesNeverPanic(t *testing.T) {
	b := file(t)
	for n := range b {
		_, err := elf.Read("x.elf", b[:n])
		require.Error(t, err, "%d bytes", n)
	}
}

func TestFlat(t *testing.T) {
	p, err := elf.Flat("x.bin", []byte{1, 2, 3, 4}, 0x80000000)
	require.NoError(t, err)
	require.Equal(t, uint32(0x80000000), p.Entry)
	_, err = elf.Flat("x.bin", nil, 0)
	require.ErrorContains(t, err, "empty image")
	_, err = elf.Flat("x.bin", make([]byte, 8), 0xFFFFFFFC)
	require.ErrorContains(t, err, "does not fit")
}

// FuzzRead: any bytes are an error or a program whose segments are within
// 4 GiB, sorted, apart, and hold its entry.
func FuzzRead(f *testing.F) {
	f.Add(file(f))
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		b := file(f)
		b[r.IntN(len(b))] ^= byte(1 + r.IntN(255))
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := elf.Read("fuzz", b)
		if err != nil {
			return
		}
		end, entry := uint64(0), false
		for _, s := range p.Segments {
			require.GreaterOrEqual(t, uint64(s.Addr), end)
			require.LessOrEqual(t, uint32(len(s.Data)), s.Size)
			end = uint64(s.Addr) + uint64(s.Size)
			entry = entry || p.Entry-s.Addr < s.Size
		}
		require.LessOrEqual(t, end, uint64(1<<32))
		require.True(t, entry)
	})
}

// Many headers of a small file ask for no more memory than the file has.
func TestHeadersOverTheSameBytes(t *testing.T) {
	const headers, bytesOfEach = 60_000, 1 << 20
	b := append(file(t)[:ph], make([]byte, headers*32+bytesOfEach)...)
	put := binary.LittleEndian.PutUint32
	binary.LittleEndian.PutUint16(b[phnum:], headers)
	put(b[32:], 0)                           // no sections
	binary.LittleEndian.PutUint32(b[48:], 0) // nor their names
	for i := range headers {
		h := b[ph+32*i:]
		put(h, 1)
		put(h[4:], ph+headers*32)
		put(h[8:], 0x80000000)
		put(h[16:], bytesOfEach)
		put(h[20:], bytesOfEach)
		put(h[24:], 7)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := elf.Read("x.elf", b)
	runtime.ReadMemStats(&after)
	require.ErrorContains(t, err, "program header 2: segments overlap in the file")
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20))
}

// A segment is executable if a section in it holds instructions, though its header does not say so.
func TestSectionsWithInstructions(t *testing.T) {
	const shoff, flags, addr, size = 32, 8, 12, 20 // in the header, and in a section's
	for _, c := range []struct {
		flags, addr, size uint32
		ok                bool
	}{
		{6, 0x80000000, 8, true}, {6, 0x80000004, 4, true},
		{6, 0x80000000, 0, false}, {2, 0x80000000, 8, false}, {4, 0x80000000, 8, false}, {6, 0x80001000, 8, false}, {6, 0x7ffffff8, 8, false},
	} {
		b := file(t)
		binary.LittleEndian.PutUint32(b[pFlags:], 6)
		null := b[binary.LittleEndian.Uint32(b[shoff:]):]
		binary.LittleEndian.PutUint32(null[flags:], c.flags)
		binary.LittleEndian.PutUint32(null[addr:], c.addr)
		binary.LittleEndian.PutUint32(null[size:], c.size)
		p, err := elf.Read("x.elf", b)
		if !c.ok {
			require.ErrorContains(t, err, "is in no executable segment", c)
			continue
		}
		require.NoError(t, err, c)
		require.True(t, p.Segments[0].Executable)
	}
}
