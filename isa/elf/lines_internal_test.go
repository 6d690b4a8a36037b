package elf

import (
	"bytes"
	"debug/dwarf"
	debugelf "debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/tools"
	"heddle/isa"
)

// uleb appends a number.
func uleb(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }

func sleb(b []byte, v int64) []byte {
	for {
		low := byte(v & 0x7f)
		v >>= 7
		if v == 0 && low&0x40 == 0 || v == -1 && low&0x40 != 0 {
			return append(b, low)
		}
		b = append(b, low|0x80)
	}
}

// tableHeader makes a unit of a line program.
func tableHeader(version uint16, wide bool, files []string, lineStr *[]byte) (header []byte) {
	header = append(header, 1) // min_inst_length
	if version >= 4 {
		header = append(header, 1)
	}
	header = append(header, 1, 0xfb, 14, 13) // line_base -5
	header = append(header, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1)
	if version < 5 {
		header = append(header, "sub\x00\x00"...)
		for i, f := range files {
			header = append(append(header, f...), 0)
			header = append(header, byte(i%2), 0, 0)
		}
		return append(header, 0)
	}
	form := func(text string) {
		at := len(*lineStr)
		*lineStr = append(append(*lineStr, text...), 0)
		if wide {
			header = binary.LittleEndian.AppendUint64(header, uint64(at))
		} else {
			header = binary.LittleEndian.AppendUint32(header, uint32(at))
		}
	}
	header = append(header, 1, columnPath, formLineStr, 2)
	form("/build")
	form("sub")
	header = append(header, 3, columnPath, formLineStr, columnDir, formUdata, 5, formData16) // 5: MD5
	header = uleb(header, uint64(len(files)+1))
	for i, f := range append([]string{"main.c"}, files...) {
		form(f)
		header = uleb(header, uint64((i+1)%2))
		header = append(header, make([]byte, 16)...)
	}
	return header
}

// tableUnit puts the parts together.
func tableUnit(version uint16, wide bool, header, program []byte) (unit []byte) {
	offset := func(b []byte, v int) []byte {
		if wide {
			return binary.LittleEndian.AppendUint64(b, uint64(v))
		}
		return binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	body := binary.LittleEndian.AppendUint16(nil, version)
	if version >= 5 {
		body = append(body, 4, 0)
	}
	body = append(append(offset(body, len(header)), header...), program...)
	if wide {
		unit = binary.LittleEndian.AppendUint32(unit, 0xffffffff)
	}
	return append(offset(unit, len(body)), body...)
}

// randomTable returns units with random rows, and the expected lines of some addresses.
func randomTable(r *rand.Rand) (line, lineStr []byte, want map[uint32]string) {
	want = map[uint32]string{}
	addr := uint32(0x80000000)
	for range 1 + r.IntN(3) {
		version, wide := uint16(2+r.IntN(4)), r.IntN(4) == 0
		var files []string
		for i := range 1 + r.IntN(3) {
			files = append(files, fmt.Sprintf("f%d.c", i))
		}
		header := tableHeader(version, wide, files, &lineStr)
		var p []byte
		for range r.IntN(3) {
			p = append(p, 0, 5, extSetAddress)
			p = binary.LittleEndian.AppendUint32(p, addr)
			file, at := 1, int64(1)
			for range 1 + r.IntN(20) {
				if r.IntN(4) == 0 {
					file = 1 + r.IntN(len(files))
					p = uleb(append(p, opSetFile), uint64(file))
				}
				if r.IntN(5) == 0 {
					p = append(p, 0, 2, 4, 9)     // a discriminator
					p = uleb(append(p, 5), 1<<40) // a column
					p = append(p, 6, 10)
				}
				to := int64(1 + r.IntN(500))
				switch adv := to - at; {
				case adv >= -5 && adv < 9:
					p = append(p, byte(13+adv+5)) // special
				default:
					p = append(sleb(append(p, opAdvanceLine), adv), opCopy)
				}
				at = to
				name := files[file-1]
				switch in := file % 2; {
				case version >= 5 && in == 0: // directory 1
					name = "/build/sub/" + name
				case version >= 5:
					name = "/build/" + name
				case in == 0:
					name = "sub/" + name
				}
				want[addr] = fmt.Sprint(name, ":", at)
				n := uint32(4 * (1 + r.IntN(40)))
				switch r.IntN(4) {
				case 0:
					p = uleb(append(p, opAdvancePC), uint64(n))
				case 1:
					p = append(p, opFixedAdvance, byte(n), 0)
				case 2:
					n = 17
					p = append(p, opConstAddPC)
				case 3: // special, of which the row at the next address does not count if another follows
					n = 4
					p = append(p, opAdvancePC, 4)
				}
				addr += n
			}
			p = append(p, 0, 1, extEndSequence)
			want[addr] = ""
		}
		line = append(line, tableUnit(version, wide, header, p)...)
	}
	return line, lineStr, want
}

func TestLineTables(t *testing.T) {
	rows := 0
	for seed := range uint64(300) {
		line, lineStr, want := randomTable(rand.New(rand.NewPCG(seed, 5)))
		l, err := readLines(line, lineStr, nil)
		require.NoError(t, err)
		for addr, text := range want {
			if file, n, ok := l.At(addr); ok {
				require.Equal(t, text, fmt.Sprint(file, ":", n), "seed %d, 0x%x", seed, addr)
				rows++
			} else {
				require.Empty(t, text, "seed %d, 0x%x", seed, addr)
			}
		}
	}
	require.Greater(t, rows, 1000)
}

func TestLineTablesRefused(t *testing.T) {
	unit := func(version uint16, change func(header []byte) []byte, program ...byte) []byte {
		var lineStr []byte
		return tableUnit(version, false, change(tableHeader(version, false, []string{"a.c"}, &lineStr)), program)
	}
	same := func(h []byte) []byte { return h }
	set := func(i int, v byte) func([]byte) []byte {
		return func(h []byte) []byte { h[i] = v; return h }
	}
	for _, c := range []struct {
		name string
		line []byte
		want string
	}{
		{"cut in the length", []byte{1, 0}, "ends too early"},
		{"cut behind it", []byte{9, 0, 0, 0, 5, 0}, "ends too early"},
		{"no unit", []byte{0, 0, 0, 0}, "version 0"},
		{"version", unit(6, same), "version 6: expected 2 to 5"},
		{"reserved", []byte{0xf5, 0xff, 0xff, 0xff}, "length 0xfffffff5 is reserved"},
		{"huge", []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0x80}, "ends too early"},
		{"lines a step", unit(3, set(3, 0)), "line_range is 0"},
		{"operations", unit(4, set(1, 4)), "4 operations an instruction"},
		{"no end of directories", unit(3, func(h []byte) []byte { return h[:18] }), "ends too early"},
		{"as many files as it likes", unit(5, func(h []byte) []byte {
			return append(h[:18], 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1)
		}), "more than 65536 files"},
		{"more files than bytes", unit(5, func(h []byte) []byte { return append(h[:18], 1, columnPath, formString, 0x80, 0x40) }), "ends too early"},
		{"a form", unit(5, set(20, 0x19)), "form 0x19"},
		{"a name nowhere", unit(5, same), "name of a file"},
		{"file 7", unit(3, same, opSetFile, 7, opCopy), "file 7: the table has 2"},
		{"line -9", unit(3, same, opAdvanceLine, 0x76, opCopy), "line -9"},
		{"cut in a number", unit(3, same, opAdvancePC, 0x80), "ends too early"},
		{"cut in an extended opcode", unit(3, same, 0, 9, extSetAddress, 1), "ends too early"},
	} {
		_, err := readLines(c.line, nil, nil)
		require.ErrorContains(t, err, c.want, c.name)
		require.ErrorContains(t, err, "section .debug_line: table at 0x0: ", c.name)
	}
	l, err := readLines(unit(3, same, 0, 0, opCopy, 0, 1, extEndSequence), nil, nil) // an empty extended opcode
	require.NoError(t, err)
	require.Equal(t, 2, l.Len())
}

// FuzzLines: the result is not much larger than the section, whatever that holds, and nothing panics.
func FuzzLines(f *testing.F) {
	for seed := range uint64(20) {
		line, lineStr, _ := randomTable(rand.New(rand.NewPCG(seed, 6)))
		f.Add(line, lineStr, []byte("x\x00"))
	}
	f.Fuzz(func(t *testing.T, line, lineStr, str []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		l, err := readLines(line, lineStr, str)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20+4096*len(line)))
		if err == nil {
			for addr := uint32(0x80000000); addr < 0x80000100; addr += 4 {
				file, line, ok := l.At(addr)
				require.Equal(t, ok, line > 0)
				require.Equal(t, ok, file != "" || line > 0 && len(l.Files) > 0)
			}
		}
	})
}

const lineSource = `
static int twice(int x) { return x + x; }
volatile int in, out;
void _start(void)
{
	int sum = 0;
	for (int i = 0; i < 9; i++)
		sum += twice(in) * i;
	out = sum;
	for (;;)
		;
}
`

// TestLinesOfCompiler: of a compiler's tables the same is read as by debug/dwarf.
func TestLinesOfCompiler(t *testing.T) {
	gcc := tools.Need(t, "riscv64-unknown-elf-gcc")
	dir := t.TempDir()
	source := filepath.Join(dir, "lines.c")
	require.NoError(t, os.WriteFile(source, []byte(lineSource), 0o644))
	for _, flags := range []string{"-g -O0", "-g -O2", "-g -O2 -gdwarf-2", "-g -O2 -gdwarf-3", "-g -O2 -gdwarf-4",
		"-g -O2 -gdwarf64", "-g -O2 -gz", "-O2"} {
		out := filepath.Join(dir, "lines.elf")
		args := append(strings.Fields(flags), "-march=rv32imaf", "-mabi=ilp32f", "-nostdlib", "-static",
			"-Wl,-Ttext=0x80000000", "lines.c", "-o", out)
		c := exec.Command(gcc, args...)
		c.Dir = dir
		text, err := c.CombinedOutput()
		require.NoError(t, err, string(text))
		data, err := os.ReadFile(out)
		require.NoError(t, err)
		l, err := Lines(data)
		require.NoError(t, err)
		if !strings.Contains(flags, "-g ") {
			require.Nil(t, l)
			continue
		}
		p, err := Read(out, data)
		require.NoError(t, err)
		require.Greater(t, compare(t, p, l, data), 5, flags)
	}
}

// compare holds the lines of all instructions against debug/dwarf's, and returns how many there are.
func compare(t *testing.T, p *isa.Program, l *isa.Lines, data []byte) (n int) {
	f, err := debugelf.NewFile(bytes.NewReader(data))
	require.NoError(t, err)
	d, err := f.DWARF()
	require.NoError(t, err)
	units := d.Reader()
	cu, err := units.Next()
	require.NoError(t, err)
	for _, s := range p.Segments {
		for addr := s.Addr; s.Executable && addr < s.Addr+uint32(len(s.Data)); addr += 4 {
			r, err := d.LineReader(cu)
			require.NoError(t, err)
			file, line, ok := l.At(addr)
			want := ""
			var e, next dwarf.LineEntry
			for err := r.Next(&e); err != io.EOF; err = r.Next(&e) {
				require.NoError(t, err)
				if e.EndSequence || e.Address > uint64(addr) {
					continue
				}
				here := r.Tell()
				require.NoError(t, r.Next(&next))
				r.Seek(here)
				if next.Address > uint64(addr) {
					want = fmt.Sprint(path.Base(e.File.Name), ":", e.Line)
				}
			}
			got := ""
			if ok {
				got = fmt.Sprint(path.Base(file), ":", line)
				n++
			}
			require.Equal(t, want, got, "0x%x", addr)
		}
	}
	return n
}

// withSections makes an ELF file of these sections: names, what is in them, and what their headers say of size and
// flags.
func withSections(all ...debugelf.Section32) func(content ...[]byte) []byte {
	return func(content ...[]byte) []byte {
		names := []byte{0}
		body := make([]byte, 52)
		headers := make([]debugelf.Section32, 1, len(all)+2)
		for i, s := range all {
			s.Off = uint32(len(body))
			body = append(body, content[i]...)
			headers = append(headers, s)
		}
		label := map[uint32]string{0: ".debug_line", 1: ".debug_line_str"}
		for i := range all {
			headers[i+1].Name = uint32(len(names))
			names = append(append(names, label[all[i].Name]...), 0)
		}
		own := debugelf.Section32{Name: uint32(len(names)), Type: uint32(debugelf.SHT_STRTAB), Off: uint32(len(body))}
		names = append(names, ".shstrtab\x00"...)
		own.Size = uint32(len(names))
		body = append(body, names...)
		headers = append(headers, own)
		h := debugelf.Header32{
			Ident: [16]byte{0x7f, 'E', 'L', 'F', 1, 1, 1}, Type: uint16(debugelf.ET_EXEC),
			Machine: uint16(debugelf.EM_RISCV), Version: 1,
			Shoff: uint32(len(body)), Ehsize: 52, Shentsize: 40, Shnum: uint16(len(headers)),
			Shstrndx: uint16(len(headers) - 1),
		}
		var b bytes.Buffer
		binary.Write(&b, binary.LittleEndian, &h) //nolint:errcheck // a buffer
		copy(body, b.Bytes())
		b.Reset()
		b.Write(body)
		binary.Write(&b, binary.LittleEndian, headers) //nolint:errcheck // a buffer
		return b.Bytes()
	}
}

// lineFileOf is an ELF file with a line table, as its sections are.
func lineFileOf(line, lineStr []byte) []byte {
	data := uint32(debugelf.SHT_PROGBITS)
	return withSections(debugelf.Section32{Name: 0, Type: data, Size: uint32(len(line))},
		debugelf.Section32{Name: 1, Type: data, Size: uint32(len(lineStr))})(line, lineStr)
}

func TestLineSectionsRefused(t *testing.T) {
	line, lineStr, want := randomTable(rand.New(rand.NewPCG(3, 5)))
	l, err := Lines(lineFileOf(line, lineStr))
	require.NoError(t, err)
	for addr, text := range want {
		file, n, ok := l.At(addr)
		require.Equal(t, text != "", ok)
		if ok {
			require.Equal(t, text, fmt.Sprint(file, ":", n))
		}
	}
	data, packed := uint32(debugelf.SHT_PROGBITS), uint32(debugelf.SHF_COMPRESSED)
	header := func(size uint32, rest string) []byte { // of a compressed section, 32-bit: type, size, alignment
		return append(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32([]byte{1, 0, 0, 0}, size), 1),
			rest...)
	}
	for _, c := range []struct {
		name    string
		section debugelf.Section32
		content []byte
		want    string
	}{
		{"behind the end", debugelf.Section32{Type: data, Size: 1 << 20}, line, "section .debug_line: "},
		{"huge", debugelf.Section32{Type: data, Size: 1 << 31}, line, "at most 67108864 are read"},
		{"unpacked huge", debugelf.Section32{Type: data, Flags: packed, Size: 20}, header(1<<31, "x\x9c......"), "at most 67108864 are read"},
		{"packed badly", debugelf.Section32{Type: data, Flags: packed, Size: 20}, header(1<<20, "not zlib"), "section .debug_line: "},
		{"without bytes", debugelf.Section32{Type: uint32(debugelf.SHT_NOBITS), Size: 100}, nil, "no bytes in the file"},
	} {
		_, err := Lines(withSections(c.section)(c.content))
		require.ErrorContains(t, err, c.want, c.name)
	}
}

// FuzzLineFile: nor does anything panic, or become large, of whole files.
func FuzzLineFile(f *testing.F) {
	for seed := range uint64(10) {
		line, lineStr, _ := randomTable(rand.New(rand.NewPCG(seed, 7)))
		f.Add(lineFileOf(line, lineStr))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Lines(data)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20+4096*len(data)), "%v", err)
	})
}
