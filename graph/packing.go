package graph

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"
)

// Limits on compressed files.
const (
	// A compressed file may hold bombSlack bytes, and bombRatio as many as it has itself: edge lists shrink to a third
	// or a tenth, bombs to a thousandth.
	bombSlack = 16 << 20
	bombRatio = 100
	// Memory that a file's header may ask for: the need of xz -9 and zstd --ultra -22 or --long.
	maxDictionary = 64 << 20
	maxWindow     = 128 << 20
)

// packing is a way of compressing a file.
type packing struct {
	name   string
	ext    string
	unpack string // the program that undoes it
	memory int    // bytes that a file may ask for
	is     func(start []byte) bool
	open   func(io.Reader) (io.Reader, error)
	pack   func(io.Writer) (io.WriteCloser, error) // nil: it is only read
}

var packings = []packing{
	{"gzip", ".gz", "gunzip", 0, begins("\x1f\x8b"), func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }, packGzip},
	{"xz", ".xz", "unxz", maxDictionary, begins("\xfd7zXZ\x00"), openXz, nil},
	{"bzip2", ".bz2", "bunzip2", 0, isBzip2, func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }, nil},
	{"zstd", ".zst", "unzstd", maxWindow, isZstd, openZstd, packZstd},
}

// begins returns a test for a magic number.
func begins(magic string) func([]byte) bool {
	return func(start []byte) bool { return bytes.HasPrefix(start, []byte(magic)) }
}

// isBzip2 looks for the size of the blocks, and the first block's magic or that of the end.
func isBzip2(b []byte) bool {
	if len(b) < 10 || !bytes.HasPrefix(b, []byte("BZh")) || b[3] < '1' || b[3] > '9' {
		return false
	}
	block := string(b[4:10])
	return block == "1AY&SY" || block == "\x17\x72\x45\x38\x50\x90"
}

// isZstd looks for a frame, or one to be skipped, which parallel writers put first.
func isZstd(b []byte) bool {
	return begins("\x28\xb5\x2f\xfd")(b) || len(b) >= 4 && b[0]>>4 == 5 && bytes.Equal(b[1:4], []byte{0x2a, 0x4d, 0x18})
}

func openXz(r io.Reader) (io.Reader, error) { return xz.NewReader(r, maxDictionary) }

// openZstd unpacks in the caller's goroutine: graphs are read side by side already.
func openZstd(r io.Reader) (io.Reader, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow))
}

func packGzip(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }

func packZstd(w io.Writer) (io.WriteCloser, error) {
	return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
}

// unpacked returns the contents of a file, compressed or not, and stops decompression bombs. The size of the contents
// is -1 if it is not known before they are read.
func unpacked(file string, r io.Reader) (contents *bufio.Reader, size int64, err error) {
	size = sizeOf(r) // before some of it is read
	source := &counter{r: r}
	b := bufio.NewReaderSize(source, maxLine)
	magic, err := b.Peek(10)
	if err != nil && err != io.EOF {
		return nil, 0, fmt.Errorf("%s: %w", file, err)
	}
	for i := range packings {
		p := &packings[i]
		if !p.is(magic) {
			continue
		}
		u := &unpacker{file: file, packing: p, source: source}
		if u.r, err = p.open(b); err != nil {
			return nil, 0, u.blame(err)
		}
		return bufio.NewReaderSize(u, maxLine), -1, nil
	}
	return b, size, nil
}

// plainName is a file's name in small letters, without the ending that compression gives it.
func plainName(file string) string {
	name := strings.ToLower(file)
	for _, p := range packings {
		if plain, ok := strings.CutSuffix(name, p.ext); ok {
			return plain
		}
	}
	return name
}

// counter counts the bytes that were read.
type counter struct {
	r   io.Reader
	n   int64
	err error
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	c.err = err
	return n, err
}

// unpacker reads the contents of a compressed file.
type unpacker struct {
	file    string
	packing *packing
	r       io.Reader
	source  *counter
	n       int64
}

func (u *unpacker) Read(b []byte) (int, error) {
	n, err := u.r.Read(b)
	u.n += int64(n)
	switch {
	case u.n > bombSlack+bombRatio*u.source.n:
		return 0, u.errorf("unpacks to more than %d times its size: no graph does; unpack it with %s if it is one",
			bombRatio, u.packing.unpack)
	case err != nil && err != io.EOF:
		return n, u.blame(err)
	}
	return n, err
}

// blame separates errors in the compressed data from errors in reading them.
func (u *unpacker) blame(err error) error {
	switch {
	case u.source.err != nil && u.source.err != io.EOF:
		return fmt.Errorf("%s: %w", u.file, err)
	case errors.Is(err, io.ErrUnexpectedEOF), err == io.EOF, errors.Is(err, xz.ErrBuf) && u.source.err == io.EOF:
		return u.errorf("the %s data ends early: the file is cut off", u.packing.name)
	case errors.Is(err, xz.ErrMemlimit), errors.Is(err, zstd.ErrWindowSizeExceeded):
		return u.errorf("the %s data needs more memory to unpack than the %d MiB that are allowed: unpack it with %s",
			u.packing.name, u.packing.memory>>20, u.packing.unpack)
	}
	return u.errorf("damaged %s data: %v", u.packing.name, err)
}

func (u *unpacker) errorf(format string, args ...any) error {
	return &ParseError{u.file, 0, fmt.Sprintf(format, args...)}
}
