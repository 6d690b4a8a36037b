package traces

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strconv"
	"strings"

	"heddle/isa/asm"
)

// text is a trace in the form that Dump writes and Import reads.
type text struct {
	shape    Shape
	launches []textLaunch
	words    map[string]uint32 // assembled words, by address and text
}

// textLaunch describes one launch of a text.
type textLaunch struct {
	code  map[uint32]textInst
	warps map[int][]textLine
}

type textInst struct {
	text string
	word uint32
}

// textLine is one executed instruction.
type textLine struct {
	number   int
	pc, mask uint32
	text     string
	addrs    *lanes
	wrote    uint32
	next     *uint32 // "to"
	active   *uint32 // "mask", "ends"
	args     [2]uint32
	hasArgs  bool
}

// maxTextLine bounds a line's length.
const maxTextLine = 1 << 16

// Import converts a text in Dump's format to a file. Unit instructions are refused.
func Import(in io.Reader, name, path string, shape Shape, version string) error {
	t := text{shape: shape, words: map[string]uint32{}}
	meta := Meta{Heddle: version, Experiment: "imported from " + name, Shape: shape,
		Timing: []string{"causes that an imported trace does not record"}}
	if err := meta.check(); err != nil {
		return err
	}
	if err := t.read(in); err != nil {
		return fmt.Errorf("%s:%w", name, err)
	}
	out, err := create(path)
	if err != nil {
		return err
	}
	for i := range t.launches {
		if err := t.write(out, &meta, i); err != nil {
			return errors.Join(fmt.Errorf("%s: launch %d: %w", name, i, err), out.abort())
		}
	}
	meta.Steps = len(t.launches)
	return out.close(&meta)
}

// read reads all lines. Its errors begin with the line's number.
func (t *text) read(in io.Reader) error {
	s := bufio.NewScanner(in)
	s.Buffer(nil, maxTextLine)
	warp := -1
	for n := 1; s.Scan(); n++ {
		line := strings.TrimRight(s.Text(), " \t\r")
		var err error
		switch {
		case line == "" || line[0] == '#':
		case strings.HasPrefix(line, "launch "):
			warp, err = t.header(line)
		case warp < 0:
			err = errors.New("expected launch L, core C warp W")
		default:
			err = t.line(line, n, warp)
		}
		if err != nil {
			return fmt.Errorf("%d: %w", n, err)
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf(" %w", err)
	}
	if len(t.launches) == 0 {
		return errors.New(" no launch")
	}
	return nil
}

// header begins a warp's instructions. Launches come in order.
func (t *text) header(line string) (warp int, err error) {
	var l, c, w int
	if _, err := fmt.Sscanf(line, "launch %d, core %d warp %d", &l, &c, &w); err != nil {
		return 0, errors.New("expected launch L, core C warp W")
	}
	if l == len(t.launches) {
		t.launches = append(t.launches, textLaunch{map[uint32]textInst{}, map[int][]textLine{}})
	}
	switch s := t.shape; {
	case l != len(t.launches)-1:
		return 0, fmt.Errorf("launch %d: expected %d or %d", l, max(0, len(t.launches)-1), len(t.launches))
	case c < 0 || c >= s.Cores || w < 0 || w >= s.Warps:
		return 0, fmt.Errorf("core %d warp %d: expected one of %v", c, w, s)
	}
	return c*t.shape.Warps + w, nil
}

// line parses an instruction; fields are separated by two spaces.
func (t *text) line(line string, n, warp int) error {
	fields := strings.Split(line, "  ")
	where := strings.Fields(fields[0])
	if len(fields) < 2 || len(where) != 2 {
		return errors.New("expected an address and a mask in hexadecimal, two blanks, an instruction, and details two " +
			"blanks apart")
	}
	l := textLine{number: n, text: strings.TrimSpace(fields[1])}
	var err error
	if l.pc, err = hexadecimal(where[0]); err == nil {
		l.mask, err = hexadecimal(where[1])
	}
	for _, f := range fields[2:] {
		if err == nil {
			err = l.detail(strings.TrimSpace(f))
		}
	}
	if err != nil {
		return err
	}
	launch := &t.launches[len(t.launches)-1]
	if err := t.instruction(launch, l.pc, l.text); err != nil {
		return err
	}
	launch.warps[warp] = append(launch.warps[warp], l)
	return nil
}

func hexadecimal(s string) (uint32, error) {
	x, err := strconv.ParseUint(s, 16, 32)
	if err != nil {
		return 0, fmt.Errorf("%q: expected a hexadecimal number of 32 bits", s)
	}
	return uint32(x), nil
}

// detail parses information that the code does not contain.
func (l *textLine) detail(f string) error {
	what, rest, _ := strings.Cut(f, " ")
	one := func(to *uint32) (err error) {
		*to, err = hexadecimal(rest)
		return err
	}
	switch what {
	case "@":
		l.addrs = &lanes{}
		return readValues(l.addrs, l.mask, rest)
	case "wrote":
		return one(&l.wrote)
	case "to":
		l.next = new(uint32)
		return one(l.next)
	case "mask":
		l.active = new(uint32)
		return one(l.active)
	case "ends":
		l.active = new(uint32)
		return nil
	case "args":
		l.hasArgs = true
		_, err := fmt.Sscanf(rest, "%x %x", &l.args[0], &l.args[1])
		return err
	}
	if f == "" || f[0] == '<' { // a location in a program
		return nil
	}
	return fmt.Errorf("%q: expected @, wrote, to, mask, ends or args", f)
}

// readValues reads a value for each lane in mask: numbers, or first+step×lanes.
func readValues(x *lanes, mask uint32, s string) error {
	for _, f := range strings.Fields(s) {
		first, n, step := f, 1, 0
		if i := strings.IndexAny(f, "+-"); i > 0 {
			first = f[:i]
			if _, err := fmt.Sscanf(f[i:], "%d×%d", &step, &n); err != nil || n < 1 || n > 32 {
				return fmt.Errorf("%q: expected a number, or first+step×lanes", f)
			}
		}
		v, err := hexadecimal(first)
		if err != nil {
			return err
		}
		for ; n > 0; n-- {
			if mask == 0 {
				return errors.New("more values than active lanes")
			}
			x[bits.TrailingZeros32(mask)] = v
			mask &= mask - 1
			v += uint32(step)
		}
	}
	if mask != 0 {
		return errors.New("fewer values than active lanes")
	}
	return nil
}

// instruction records the instruction at an address.
func (t *text) instruction(l *textLaunch, pc uint32, s string) error {
	if was, ok := l.code[pc]; ok {
		if was.text != s {
			return fmt.Errorf("%08x is %q here, and %q before", pc, s, was.text)
		}
		return nil
	}
	key := fmt.Sprintf("%x %s", pc, s)
	w, ok := t.words[key]
	if !ok {
		var err error
		if w, err = assemble(pc, s); err != nil {
			return err
		}
		t.words[key] = w
	}
	l.code[pc] = textInst{s, w}
	return nil
}

// codePage is the assembler's alignment of code.
const codePage = 4096

// assemble assembles one instruction for an address.
func assemble(pc uint32, s string) (uint32, error) {
	if pc < codePage {
		return 0, fmt.Errorf("an instruction at %08x: expected none below %x", pc, codePage)
	}
	skip := int(pc % codePage)
	p, err := asm.Assemble("instruction", fmt.Appendf(nil, ".skip %d; %s\n", skip, s),
		asm.Options{Base: pc - pc%codePage})
	if err != nil {
		return 0, err
	}
	if len(p.Segments) != 1 || len(p.Segments[0].Data) != skip+4 {
		return 0, fmt.Errorf("%q: expected one instruction", s)
	}
	return word(p.Segments[0].Data[skip:]), nil
}
