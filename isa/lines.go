package isa

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

// Lines maps a program's instructions to lines of source files.
type Lines struct {
	Files []string
	rows  []lineRow // in order of address; each counts up to the next
}

// lineRow begins the instructions of a line.
type lineRow struct {
	addr uint32
	file uint32 // into Files
	line uint32 // from 1; 0: it is not known of which
}

// Add has instructions from an address on come from a line, from 1, of one of the files; 0: it is not known from which.
// Sort is called behind the last.
func (l *Lines) Add(addr uint32, file int, line uint32) {
	l.rows = append(l.rows, lineRow{addr, uint32(file), line})
}

// Len returns the number of calls of Add.
func (l *Lines) Len() int { return len(l.rows) }

// Sort sorts the lines by address. Of several at an address, the last with a line counts.
func (l *Lines) Sort() {
	slices.SortStableFunc(l.rows, func(a, b lineRow) int {
		if a.addr != b.addr || (a.line == 0) == (b.line == 0) {
			return cmp.Compare(a.addr, b.addr)
		}
		return cmp.Compare(min(a.line, 1), min(b.line, 1))
	})
}

// At returns where the instruction at an address comes from; ok is false if that is not known.
func (l *Lines) At(addr uint32) (file string, line int, ok bool) {
	if l == nil {
		return "", 0, false
	}
	i := sort.Search(len(l.rows), func(i int) bool { return l.rows[i].addr > addr })
	if i == 0 || l.rows[i-1].line == 0 {
		return "", 0, false
	}
	r := l.rows[i-1]
	return l.Files[r.file], int(r.line), true
}

// Listing is the text that a compiler has made instructions of a program from.
type Listing interface {
	// Name is the name of the text, as messages have it.
	Name() string
	// Lines returns the lines of the text.
	Lines() []string
	// Line returns the line, from 1, that the instruction at an address comes from; 0: none, or not known.
	Line(addr uint32) int
}

// LineAt returns the line of a listing that the instruction at an address comes from, with its text; ok is false if
// there is none.
func (p *Program) LineAt(addr uint32) (name string, line int, text string, ok bool) {
	for _, l := range p.Listings {
		if line = l.Line(addr); line > 0 {
			return l.Name(), line, strings.TrimSpace(l.Lines()[line-1]), true
		}
	}
	return "", 0, "", false
}
