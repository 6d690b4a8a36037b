package window

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// MinBytes and MaxBytes bound the size that a file may be given.
const (
	MinBytes = 1 << 16
	MaxBytes = 1 << 40
)

// WriteError is an export that could not be written. It ends the run.
type WriteError struct {
	Path string
	Err  error
}

func (e *WriteError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }
func (e *WriteError) Unwrap() error { return e.Err }

// file is a file that does not grow over a size. One whose name ends in .gz is packed.
type file struct {
	path   string
	f      *os.File      // nil: it is another's
	w      *bufio.Writer // counts its contents unpacked: packed they take less
	z      *gzip.Writer  // nil: it is not packed
	out    *counter
	limit  int
	full   bool
	fullAt uint64
	err    *WriteError // the first; nothing is written behind it
}

// counter counts the bytes written.
type counter struct {
	to io.Writer
	n  int
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	c.n += n
	return n, err
}

// packer compresses without buffering, so that the size of the file is known.
type packer struct{ *gzip.Writer }

func (p packer) Write(b []byte) (int, error) {
	n, err := p.Writer.Write(b)
	if err == nil {
		err = p.Flush()
	}
	return n, err
}

// Bytes that are written at a time. Packing gains little from more.
const (
	plainBuffer  = 1 << 16
	packedBuffer = 1 << 18
	packedEnd    = 32 // of the packed file: the last block, and the trailer
)

func create(path string, limit int) (*file, error) {
	if err := checkLimit(path, limit); err != nil {
		return nil, err
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	x := newFile(path, f, limit, plainBuffer)
	x.f = f
	if strings.HasSuffix(path, ".gz") {
		if x.z, err = gzip.NewWriterLevel(x.out, gzip.BestSpeed); err != nil {
			panic(fmt.Sprintf("BUG: window: %v", err))
		}
		x.w = bufio.NewWriterSize(packer{x.z}, packedBuffer)
		x.limit -= packedEnd
	}
	return x, nil
}

func newFile(path string, to io.Writer, limit, buffer int) *file {
	c := &counter{to: to}
	return &file{path: path, out: c, w: bufio.NewWriterSize(c, buffer), limit: limit}
}

// open creates a file or, without a path, writes to the given writer.
func open(path string, to io.Writer, limit int) (*file, error) {
	if path != "" {
		return create(path, limit)
	}
	if err := checkLimit("the log", limit); err != nil {
		return nil, err
	}
	return newFile("the log", to, limit, 1<<12), nil
}

func checkLimit(path string, limit int) error {
	if limit < MinBytes || limit > MaxBytes {
		return fmt.Errorf("%s: a limit of %d bytes: expected %d to %d", path, limit, MinBytes, MaxBytes)
	}
	return nil
}

// room reports whether n more bytes fit. Data waiting for compression is compressed before the answer is no.
func (f *file) room(n int) bool {
	if f.out.n+f.w.Buffered()+n <= f.limit {
		return true
	}
	if f.z == nil {
		return false
	}
	f.note(f.w.Flush())
	return f.out.n+n <= f.limit
}

// write writes b wholly or, if that is too much, neither it nor anything later. reserve is kept for the end.
func (f *file) write(now uint64, b []byte, reserve int) {
	if f.full {
		return
	}
	if !f.room(len(b) + reserve) {
		f.full, f.fullAt = true, now
		return
	}
	f.finish(b)
}

// finish writes data for which room was reserved.
func (f *file) finish(b []byte) {
	if f.err == nil {
		_, err := f.w.Write(b)
		f.note(err)
	}
}

func (f *file) note(err error) {
	if err != nil && f.err == nil {
		f.err = &WriteError{f.path, pathless(err)}
	}
}

// pathless removes operation and path from an error: the message has them.
func pathless(err error) error {
	if p, ok := err.(*os.PathError); ok { //nolint:errorlint // of a file's own methods
		return p.Err
	}
	return err
}

// failure returns the reason why the file is incomplete, or nil.
func (f *file) failure() error {
	if f.err == nil {
		return nil
	}
	return f.err
}

func (f *file) close() error {
	if f.err == nil {
		f.note(f.w.Flush())
	}
	if f.z != nil && f.err == nil {
		f.note(f.z.Close())
	}
	if f.f != nil {
		f.note(f.f.Close())
	}
	return f.failure()
}

// filled returns the message for a file that has reached its limit.
func (f *file) filled() string {
	if !f.full {
		return ""
	}
	return fmt.Sprintf("%s ends at cycle %d: it would have grown over %d bytes (--window-bytes; a narrower --window "+
		"needs less)", f.path, f.fullAt, f.limit)
}
