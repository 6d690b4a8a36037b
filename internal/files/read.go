package files

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// TypeError is the error of a path that is no regular file.
type TypeError struct {
	Path string
	Mode fs.FileMode
}

func (e *TypeError) Error() string {
	return fmt.Sprintf("%s: expected a regular file, found %s", e.Path, kind(e.Mode))
}

// kind names a type of file.
func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a directory"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "a file of an unknown kind"
}

// Open opens a regular file for reading.
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path) // opening a device may have side effects
	if err == nil && !info.Mode().IsRegular() {
		return nil, &TypeError{path, info.Mode()}
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have been replaced by a pipe
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = &TypeError{path, info.Mode()}
	}
	if err != nil {
		f.Close() //nolint:errcheck // read only
		return nil, err
	}
	return f, nil
}

// SizeError is the error of a file that exceeds the limit of a read.
type SizeError struct {
	Path string
	Most int64
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("%s: expected a file of at most %d bytes", e.Path, e.Most)
}

// Read reads a regular file of at most that many bytes.
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // read only
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > most {
		return nil, &SizeError{path, most}
	}
	data := make([]byte, 0, info.Size()+1) // one more byte, so that the end of the file is seen
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > most:
			return nil, &SizeError{path, most} // it grows, or does not report its size
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, err
		case len(data) == cap(data):
			data = append(data, 0)[:len(data)]
		}
	}
}
