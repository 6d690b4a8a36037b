package graph

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strconv"
)

// Limits on input files.
const (
	maxLine = 64 << 10 // comments may be longer
	// Vertices without an edge cost memory and no space in the file: many are
	// believed only in a file with some edges.
	freeVertices    = 1 << 22
	verticesPerEdge = 64
)

// ParseError is something wrong with a graph file.
type ParseError struct {
	File string
	Line int // from 1; 0: the file as a whole
	Msg  string
}

func (e *ParseError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Msg
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg)
}

// lines reads a text line by line, and knows where it is.
type lines struct {
	file string
	r    *bufio.Reader
	n    int   // number of the present line
	size int64 // of all, in bytes; -1: not known before it is read
}

// newLines reads a file's contents, compressed or not.
func newLines(file string, r io.Reader) (*lines, error) {
	contents, size, err := unpacked(file, r)
	if err != nil {
		return nil, err
	}
	// read errors are reported by the next read
	if mark, _ := contents.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		contents.Discard(len(byteOrderMark)) //nolint:errcheck // it is there
	}
	return &lines{file: file, r: contents, size: size}, nil
}

// sizeOf is the size of a file or a text in memory, in bytes; -1: not known.
func sizeOf(r io.Reader) int64 {
	switch r := r.(type) {
	case interface{ Stat() (fs.FileInfo, error) }:
		if info, err := r.Stat(); err == nil && info.Mode().IsRegular() {
			return info.Size()
		}
	case interface{ Len() int }:
		return int64(r.Len())
	}
	return -1
}

// byteOrderMark begins UTF-8 text that some programs write.
const byteOrderMark = "\xef\xbb\xbf"

// readError wraps an error of the file system; errors in compressed data have been wrapped already.
func (l *lines) readError(err error) error {
	if errors.As(err, new(*ParseError)) {
		return err
	}
	return fmt.Errorf("%s: %w", l.file, err)
}

// next returns the next line without its end; ok is false at the end of the
// file. The line is valid until the next call. Of comments longer than maxLine
// only the beginning is returned.
func (l *lines) next(comments string) (cursor, bool, error) {
	line, err := l.r.ReadSlice('\n')
	l.n++
	switch {
	case err == nil:
		line = line[:len(line)-1]
	case errors.Is(err, bufio.ErrBufferFull) && bytes.IndexByte([]byte(comments), line[0]) >= 0:
		line = bytes.Clone(line[:1024])
		err = l.skipLine()
	case errors.Is(err, bufio.ErrBufferFull):
		return cursor{}, false, l.errorf("a line of more than %d characters: this is no graph", maxLine)
	case err == io.EOF && len(line) == 0:
		l.n-- // errors name the last line
		return cursor{}, false, nil
	case err == io.EOF:
		return cursor{b: line}, true, nil
	}
	if err != nil && err != io.EOF {
		return cursor{}, false, l.readError(err)
	}
	return cursor{b: line}, true, nil
}

func (l *lines) skipLine() error {
	for {
		_, err := l.r.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

func (l *lines) errorf(format string, args ...any) error {
	return &ParseError{l.file, l.n, fmt.Sprintf(format, args...)}
}

// expected returns the error for an unexpected word at the cursor.
func (l *lines) expected(c *cursor, what string) error {
	return l.errorf("expected %s; found %s", what, c.describe())
}

// cursor goes through the words of a line. Blanks are spaces, tabs, commas and semicolons.
type cursor struct {
	b []byte
	i int
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == ',' || c == ';' }

// end skips blanks, and reports whether the line has ended.
func (c *cursor) end() bool {
	for c.i < len(c.b) && blank(c.b[c.i]) {
		c.i++
	}
	return c.i == len(c.b)
}

// number reads a whole number of at most limit, and stays put otherwise.
func (c *cursor) number(limit uint64) (uint64, bool) {
	if c.end() {
		return 0, false
	}
	i, n := c.i, uint64(0)
	for ; i < len(c.b) && c.b[i]-'0' <= 9; i++ {
		n = n*10 + uint64(c.b[i]-'0')
		if n > limit {
			return 0, false
		}
	}
	if i == c.i || i < len(c.b) && !blank(c.b[i]) {
		return 0, false
	}
	c.i = i
	return n, true
}

// integer reads an integer of 32 bits with a sign, and stays put otherwise.
func (c *cursor) integer() (int32, bool) {
	at := *c
	limit, sign := uint64(math.MaxInt32), int64(1)
	if !at.end() && (at.b[at.i] == '-' || at.b[at.i] == '+') {
		if at.b[at.i] == '-' {
			limit, sign = limit+1, -1
		}
		at.i++
		if at.i == len(at.b) || blank(at.b[at.i]) {
			return 0, false
		}
	}
	n, ok := at.number(limit)
	if ok {
		*c = at
	}
	return int32(sign * int64(n)), ok
}

// word reads up to the next blank.
func (c *cursor) word() []byte {
	c.end()
	from := c.i
	for c.i < len(c.b) && !blank(c.b[c.i]) {
		c.i++
	}
	return c.b[from:c.i]
}

// describe names the word at the cursor in a message.
func (c *cursor) describe() string {
	const most = 40
	at := *c
	w := at.word()
	switch {
	case len(w) == 0:
		return "the end of the line"
	case len(w) > most:
		return strconv.Quote(string(w[:most])) + "…"
	}
	return strconv.Quote(string(w))
}

// maxID leaves the largest word free, which kernels use for "none".
const maxID = math.MaxUint32 - 1

// weightColumn collects weights: integers until a word is none.
type weightColumn struct {
	words column
	kind  WeightKind
}

const weightExpected = "a weight: an integer of 32 bits, or a finite decimal number"

// add reads the weight at the cursor.
func (w *weightColumn) add(c *cursor) bool {
	if n, ok := c.integer(); ok {
		w.addInt(n)
		return true
	}
	at := *c
	word := at.word()
	if !decimal(word) {
		return false
	}
	x, err := strconv.ParseFloat(string(word), 32)
	if err != nil { // out of range
		return false
	}
	*c = at
	w.addFloat(float32(x))
	return true
}

func (w *weightColumn) addFloat(x float32) {
	w.toFloat()
	w.words.add(math.Float32bits(x))
}

func (w *weightColumn) addInt(n int32) {
	if w.kind == FloatWeights {
		w.words.add(math.Float32bits(float32(n)))
		return
	}
	w.kind = IntWeights
	w.words.add(uint32(n))
}

// decimal distinguishes decimal fractions from integers, which are out of range at this point, and from Go's
// hexadecimal floats and infinities.
func decimal(word []byte) bool {
	fraction := false
	for _, c := range word {
		switch {
		case c >= '0' && c <= '9', c == '+', c == '-':
		case c == '.', c == 'e', c == 'E':
			fraction = true
		default:
			return false
		}
	}
	return fraction
}

// toFloat converts weights read as integers to floats.
func (w *weightColumn) toFloat() {
	if w.kind == FloatWeights {
		return
	}
	w.kind = FloatWeights
	w.words.change(func(n uint32) uint32 { return math.Float32bits(float32(int32(n))) })
}
