package graph

import (
	"encoding/binary"
	"fmt"
	"io"
)

// rowStarts are the row offsets of a compressed list of edges in a file: the start of each row, and the end of the
// last. They grow as they are read, whatever the file's header claims.
type rowStarts struct {
	starts []uint32
	row    int
}

// add appends the start of a row, or the end of the last; it must be at least the previous one and at most limit.
func (s *rowStarts) add(n, limit uint64) bool {
	if len(s.starts) == 0 && n != 0 || n > limit || len(s.starts) > 0 && n < uint64(s.starts[len(s.starts)-1]) {
		return false
	}
	s.starts = append(s.starts, uint32(n))
	return true
}

// of returns the row of edge e; it must be called in the order of the edges.
func (s *rowStarts) of(e int) uint64 {
	for s.starts[s.row+1] <= uint32(e) {
		s.row++
	}
	return uint64(s.row)
}

// blob reads a file of little-endian words, and knows where it is.
type blob struct {
	*reader
	at int64
}

// next returns the next size bytes, valid until the next call.
func (b *blob) next(size int, what string) ([]byte, error) {
	words, err := b.r.Peek(size)
	switch {
	case err == io.EOF:
		return nil, b.wrong("expected %s, %d bytes; the file ends after %d", what, size, len(words))
	case err != nil:
		return nil, b.readError(err)
	}
	b.r.Discard(size) //nolint:errcheck // it has been peeked
	b.at += int64(size)
	return words, nil
}

func (b *blob) u32(what string) (uint32, error) {
	w, err := b.next(4, what)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(w), nil
}

func (b *blob) u64(what string) (uint64, error) {
	w, err := b.next(8, what)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(w), nil
}

// count reads a 64-bit number of at most limit.
func (b *blob) count(limit uint64, what string) (uint64, error) {
	n, err := b.u64(what)
	if err == nil && n > limit {
		err = b.back(8).wrong("expected %s, at most %d; found %d", what, limit, n)
	}
	return n, err
}

// id reads a vertex of size bytes.
func (b *blob) id(size int, vertices uint64) (uint64, error) {
	const what = "the other end of an edge"
	w, err := b.next(size, what)
	if err != nil {
		return 0, err
	}
	v := uint64(binary.LittleEndian.Uint32(w))
	if size == 8 {
		v = binary.LittleEndian.Uint64(w)
	}
	if v >= vertices {
		return 0, b.back(size).wrong("expected %s, a vertex below %d; found %d", what, vertices, v)
	}
	return v, nil
}

// end makes sure that nothing follows.
func (b *blob) end(hint string) error {
	if _, err := b.r.Peek(1); err == nil {
		return b.wrong("expected the end of the file, as it has all that its header says%s", hint)
	} else if err != io.EOF {
		return b.readError(err)
	}
	return nil
}

// back goes back for a message.
func (b *blob) back(n int) *blob { return &blob{b.reader, b.at - int64(n)} }

// wrong blames the present place.
func (b *blob) wrong(format string, args ...any) error {
	return b.whole("at byte %d: %s", b.at, fmt.Sprintf(format, args...))
}
