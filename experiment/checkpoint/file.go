package checkpoint

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"

	"heddle/internal/files"
)

// A file consists of the magic, the length of the header (4 bytes, little-endian), the header (JSON), the state (zstd),
// and the SHA-256 of all that.
const (
	magic     = "HDLCKPT1"
	maxHeader = 1 << 20
)

// DamagedError reports a file that is not a checkpoint, or an incomplete one.
type DamagedError struct {
	Path string
	Why  error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s: this checkpoint is damaged: %v: remove the file, and the point begins anew", e.Path, e.Why)
}

// Unwrap returns the reason.
func (e *DamagedError) Unwrap() error { return e.Why }

// Write writes a file and returns its size. It is atomic: until the new file is complete, an old one of that name
// stays.
func Write(path string, header any, c *Census) (size int64, err error) {
	text, err := json.Marshal(header)
	if err != nil || len(text) > maxHeader {
		return 0, fmt.Errorf("%s: a header of %d bytes: %w", path, len(text), err)
	}
	f, err := files.Create(path)
	if err != nil {
		return 0, err
	}
	out := &summed{f, sha256.New(), 0}
	if err = out.write(text, c); err == nil {
		_, err = f.Write(out.sum.Sum(nil))
	}
	if err != nil {
		return 0, errors.Join(err, f.Abort())
	}
	return out.n + sha256.Size, f.Commit()
}

// summed computes the hash of a file while it is written.
type summed struct {
	*files.File
	sum hash.Hash
	n   int64
}

func (s *summed) Write(b []byte) (int, error) {
	n, err := s.File.Write(b)
	s.sum.Write(b[:n]) //nolint:errcheck // never fails
	s.n += int64(n)
	return n, err
}

func (s *summed) write(header []byte, c *Census) error {
	begin := binary.LittleEndian.AppendUint32([]byte(magic), uint32(len(header)))
	if _, err := s.Write(append(begin, header...)); err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(s, 1<<18)
	z, err := zstd.NewWriter(buffered, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return err
	}
	later, err := c.Save(z)
	if err != nil {
		return err
	}
	if err := errors.Join(z.Close(), buffered.Flush()); err != nil {
		return err
	}
	if most := room(s.n); later > most {
		return failf("", "%d bytes have come later than the machine was assembled: expected at most %d with a file "+
			"of %d", later, most, s.n)
	}
	return nil
}

// room bounds the memory that a file of that size may have Load allocate. Real states need rarely more than a few times
// the size of their file.
func room(size int64) uint64 { return 64<<20 + 1024*uint64(size) }

// File is an open checkpoint, whose hash was verified by Open.
type File struct {
	path   string
	f      *os.File
	header []byte
	state  int64 // offset of the state
	bytes  int64 // size of the file
}

// Open opens a file, and verifies its hash.
func Open(path string) (*File, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	c := &File{path: path, f: f}
	if err := c.check(); err != nil {
		return nil, errors.Join(&DamagedError{path, err}, f.Close())
	}
	return c, nil
}

var (
	errMagic = errors.New("it does not begin as one, or is of another version of heddle")
	errSum   = errors.New("its checksum is another")
	errShort = errors.New("it is cut off")
)

func (c *File) check() error {
	info, err := c.f.Stat()
	if err != nil {
		return err
	}
	sum, in := sha256.New(), bufio.NewReaderSize(c.f, 1<<18)
	body := io.TeeReader(io.LimitReader(in, info.Size()-sha256.Size), sum)
	var begin [len(magic) + 4]byte
	if _, err := io.ReadFull(body, begin[:]); err != nil {
		return errShort
	}
	n := binary.LittleEndian.Uint32(begin[len(magic):])
	if string(begin[:len(magic)]) != magic || n > maxHeader {
		return errMagic
	}
	c.header = make([]byte, n)
	if _, err := io.ReadFull(body, c.header); err != nil {
		return errShort
	}
	c.state, c.bytes = int64(len(begin))+int64(n), info.Size()
	if _, err := io.Copy(io.Discard, body); err != nil {
		return err
	}
	var want [sha256.Size]byte
	if _, err := io.ReadFull(in, want[:]); err != nil {
		return errShort
	}
	if !bytes.Equal(sum.Sum(nil), want[:]) {
		return errSum
	}
	return nil
}

// Bytes returns the size of the file.
func (c *File) Bytes() int64 { return c.bytes }

// Header decodes the header.
func (c *File) Header(into any) error {
	if err := json.Unmarshal(c.header, into); err != nil {
		return &DamagedError{c.path, err}
	}
	return nil
}

// Load loads the state into a graph.
func (c *File) Load(to *Census) error {
	z, err := zstd.NewReader(
		bufio.NewReaderSize(io.NewSectionReader(c.f, c.state, c.bytes-c.state-sha256.Size), 1<<18),
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8<<20))
	if err != nil {
		return err
	}
	defer z.Close()
	if err := to.Load(z, room(c.bytes)); err != nil {
		return &DamagedError{c.path, err}
	}
	return nil
}

// Close closes the file.
func (c *File) Close() error { return c.f.Close() }
