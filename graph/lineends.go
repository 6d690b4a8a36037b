package graph

import (
	"bufio"
	"bytes"
	"io"
)

// lineEnds reads a text with "\n" for whatever ends a line in it: "\n", "\r\n", or the "\r" of old spreadsheets. So no
// reader of a text format has to know of others, and all of them agree on the numbers of lines.
type lineEnds struct {
	r     io.Reader
	after bool // the last byte was "\r", which has become "\n": a "\n" that follows belongs to it
}

// newLineEnds reads on where r is.
func newLineEnds(r *bufio.Reader) *bufio.Reader {
	return bufio.NewReaderSize(&lineEnds{r: r}, r.Size())
}

func (l *lineEnds) Read(b []byte) (int, error) {
	for {
		n, err := l.r.Read(b)
		if kept := l.replace(b[:n]); kept > 0 || err != nil || n == 0 {
			return kept, err
		}
	}
}

// replace replaces the ends of lines in b, and returns how many bytes are left.
func (l *lineEnds) replace(b []byte) (kept int) {
	if len(b) == 0 {
		return 0
	}
	from := 0
	if l.after && b[0] == '\n' {
		from = 1
	}
	l.after = b[len(b)-1] == '\r'
	for {
		i := bytes.IndexByte(b[from:], '\r')
		if i < 0 {
			return kept + copy(b[kept:], b[from:])
		}
		kept += copy(b[kept:], b[from:from+i])
		b[kept] = '\n'
		kept++
		if from += i + 1; from < len(b) && b[from] == '\n' {
			from++
		}
	}
}
