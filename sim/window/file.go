package window

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
)

// MinBytes and MaxBytes bound the size that a file may be given.
const (
	MinBytes = 1 << 16
	MaxBytes = 1 << 40
)

// file is a file that does not grow over a size.
type file struct {
	path    string
	f       *os.File // nil: it is another's
	w       *bufio.Writer
	left    int
	limit   int
	full    bool
	fullAt  uint64
	written error
}

func create(path string, limit int) (*file, error) {
	if err := checkLimit(path, limit); err != nil {
		return nil, err
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return &file{path: path, f: f, w: bufio.NewWriterSize(f, 1<<16), left: limit, limit: limit}, nil
}

// open creates a file or, without a path, writes to what is open.
func open(path string, to io.Writer, limit int) (*file, error) {
	if path != "" {
		return create(path, limit)
	}
	if err := checkLimit("the log", limit); err != nil {
		return nil, err
	}
	return &file{path: "the log", w: bufio.NewWriterSize(to, 1<<12), left: limit, limit: limit}, nil
}

func checkLimit(path string, limit int) error {
	if limit < MinBytes || limit > MaxBytes {
		return fmt.Errorf("%s: a limit of %d bytes: expected %d to %d", path, limit, MinBytes, MaxBytes)
	}
	return nil
}

// write writes b wholly or, if that is too much, neither it nor anything later. reserve is kept for the end.
func (f *file) write(now uint64, b []byte, reserve int) {
	if f.full {
		return
	}
	if len(b)+reserve > f.left {
		f.full, f.fullAt = true, now
		return
	}
	f.finish(b)
}

// finish writes what was reserved for.
func (f *file) finish(b []byte) {
	f.left -= len(b)
	_, err := f.w.Write(b)
	f.written = errors.Join(f.written, err)
}

func (f *file) close() error {
	err := errors.Join(f.written, f.w.Flush())
	if f.f == nil {
		return err
	}
	return errors.Join(err, f.f.Close())
}

// filled says that the file has less than it should.
func (f *file) filled() string {
	if !f.full {
		return ""
	}
	return fmt.Sprintf("%s ends at cycle %d: it would have grown over %d bytes (--window-bytes; a narrower --window needs less)", f.path, f.fullAt, f.limit)
}
