package pty

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Screen emulates a terminal's screen, as xterm does: after a change of size longer lines are cut, not rewrapped. It
// supports the few controls that heddle uses; all others are kept in Unknown.
type Screen struct {
	Wrapped []string // lines that did not fit
	Unknown []string // controls

	rows, columns int
	lines         [][]rune
	row, column   int // cursor position; row counts from the first line ever
	long          bool
	rest          []byte // incomplete character or control
}

// NewScreen returns an empty screen. 0 rows or columns: practically unlimited.
func NewScreen(rows, columns int) *Screen {
	s := &Screen{lines: [][]rune{nil}}
	s.Resize(rows, columns)
	return s
}

// Resize changes its size.
func (s *Screen) Resize(rows, columns int) {
	const large = 10_000
	s.rows, s.columns = cmp.Or(rows, large), cmp.Or(columns, large)
	s.column = min(s.column, s.columns)
}

// control matches the escape sequences of cursors and erasing.
var control = regexp.MustCompile(`^\x1b\[([0-9;?]*)([A-Za-z])`)

// Write interprets output.
func (s *Screen) Write(b []byte) (int, error) {
	s.draw(append(s.rest, b...))
	return len(b), nil
}

func (s *Screen) draw(b []byte) {
	s.rest = nil
	for len(b) > 0 {
		n := 1
		switch {
		case b[0] == '\x1b':
			m := control.FindSubmatch(b)
			if m == nil {
				if len(b) < 16 {
					s.rest = slices.Clone(b)
					return
				}
				s.Unknown = append(s.Unknown, strconv.Quote(string(b[:16])))
				break
			}
			n = len(m[0])
			s.control(string(m[1]), m[2][0])
		case b[0] == '\r':
			s.column, s.long = 0, false
		case b[0] == '\n':
			s.down()
		case b[0] < ' ':
			s.Unknown = append(s.Unknown, strconv.Quote(string(b[:1])))
		case !utf8.FullRune(b):
			s.rest = slices.Clone(b)
			return
		default:
			var r rune
			r, n = utf8.DecodeRune(b)
			s.put(r)
		}
		b = b[n:]
	}
}

func (s *Screen) put(r rune) {
	if s.column >= s.columns {
		if !s.long {
			s.Wrapped = append(s.Wrapped, string(s.lines[s.row]))
		}
		s.down()
		s.column, s.long = 0, true
	}
	line := s.lines[s.row]
	for len(line) <= s.column {
		line = append(line, ' ')
	}
	line[s.column] = r
	s.lines[s.row] = line
	s.column++
}

func (s *Screen) down() {
	if s.row++; s.row == len(s.lines) {
		s.lines = append(s.lines, nil)
	}
}

// top returns the first row on the screen.
func (s *Screen) top() int { return max(0, len(s.lines)-s.rows) }

func (s *Screen) control(parameters string, what byte) {
	n, err := strconv.Atoi(parameters)
	if err != nil {
		n = 0
	}
	switch {
	case what == 'A':
		s.row = max(s.top(), s.row-max(1, n))
	case what == 'J' && n == 0:
		s.cut()
		for i := s.row + 1; i < len(s.lines); i++ {
			s.lines[i] = nil
		}
	case what == 'K' && n == 0:
		s.cut()
	default:
		s.Unknown = append(s.Unknown, fmt.Sprintf("ESC [ %s %c", parameters, what))
	}
}

func (s *Screen) cut() {
	if line := s.lines[s.row]; len(line) > s.column {
		s.lines[s.row] = line[:s.column]
	}
}

// Lines returns all lines, without trailing spaces and empty lines.
func (s *Screen) Lines() []string {
	var out []string
	for _, line := range s.lines {
		out = append(out, strings.TrimRight(string(line), " "))
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}
