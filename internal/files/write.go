package files

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Write writes a file; a regular one atomically.
func Write(path string, data []byte) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return errors.Join(err, f.Abort())
	}
	return f.Commit()
}

// File is a file being written. It receives its name at Commit; a device or a pipe is written to at once.
type File struct {
	f    *os.File
	path string // as the user named it
	to   string // its final path; "": written directly, a device or a pipe
}

// Create begins a file. An existing file of that name stays until Commit; symbolic links are followed, and permissions
// are kept.
func Create(path string) (*File, error) {
	to, info, err := target(path)
	if err != nil {
		return nil, err
	}
	if to == "" {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0) // appends to the output of others on an open file
		return &File{f: f, path: path}, err
	}
	f, err := temporary(filepath.Dir(to))
	if err != nil {
		return nil, named(path, err)
	}
	if info != nil {
		err = f.Chmod(info.Mode().Perm())
	}
	w := &File{f: f, path: path, to: to}
	if err != nil {
		return nil, errors.Join(named(path, err), w.Abort())
	}
	return w, nil
}

// maxLinks is the maximum number of symbolic links followed, as on Linux.
const maxLinks = 40

// target returns the final path of a file of that name, and the existing file; no path if it is to be written directly.
func target(path string) (to string, is fs.FileInfo, err error) {
	is, err = os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		is = nil
	case err != nil:
		return "", nil, err
	case is.Mode()&(fs.ModeDevice|fs.ModeNamedPipe) != 0:
		return "", nil, nil
	case !is.Mode().IsRegular():
		return "", nil, fmt.Errorf("%s: is %s, which cannot be written over", path, kind(is.Mode()))
	}
	to = path
	for range maxLinks {
		// a process's open file, as behind /dev/stdout: its link's text is not its path
		if strings.HasPrefix(to, "/proc/") {
			return "", nil, nil
		}
		link, err := os.Readlink(to)
		if err != nil {
			return to, is, nil // no link, or does not exist yet
		}
		if !filepath.IsAbs(link) {
			link = filepath.Dir(to) + string(filepath.Separator) + link
		}
		to = link
	}
	return "", nil, fmt.Errorf("%s: more than %d symbolic links", path, maxLinks)
}

// unfinished holds the temporary files of this process.
var unfinished struct {
	sync.Mutex
	names map[string]bool
}

// temporary creates a file in a directory, with the permissions of a new one.
func temporary(dir string) (*os.File, error) {
	unfinished.Lock()
	defer unfinished.Unlock()
	f, err := os.OpenFile(filepath.Join(dir, ".tmp-"+rand.Text()), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	if unfinished.names == nil {
		unfinished.names = map[string]bool{}
	}
	unfinished.names[f.Name()] = true
	return f, nil
}

func forget(name string) {
	unfinished.Lock()
	defer unfinished.Unlock()
	delete(unfinished.names, name)
}

// RemoveUnfinished removes the temporary files of a process that is about to exit. Later writes block for ever.
func RemoveUnfinished() {
	unfinished.Lock() // never unlocked
	for name := range unfinished.names {
		os.Remove(name) //nolint:errcheck // no caller can act on it
	}
}

// Error is an error with a file that a user named.
type Error struct {
	Path string
	Err  error
}

func (e *Error) Error() string { return e.Path + ": " + e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// named replaces the temporary file's name in an error by the user's.
func named(path string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return &Error{path, err}
}

func (f *File) Write(b []byte) (int, error) {
	n, err := f.f.Write(b)
	if err != nil {
		err = named(f.path, err)
	}
	return n, err
}

// Commit syncs the file to disk and gives it its name. After an error there is no file.
func (f *File) Commit() error {
	if f.to == "" {
		return f.f.Close()
	}
	if err := f.f.Sync(); err != nil {
		return errors.Join(named(f.path, err), f.Abort())
	}
	if err := f.f.Close(); err != nil {
		return errors.Join(named(f.path, err), f.remove())
	}
	if err := os.Rename(f.f.Name(), f.to); err != nil {
		return errors.Join(named(f.path, err), f.remove())
	}
	forget(f.f.Name())
	return syncDirectory(filepath.Dir(f.to))
}

// Abort discards the file; an existing file of that name stays.
func (f *File) Abort() error {
	err := f.f.Close()
	if f.to == "" {
		return err
	}
	return errors.Join(err, f.remove())
}

func (f *File) remove() error {
	defer forget(f.f.Name())
	return os.Remove(f.f.Name())
}

// syncDirectory makes a new name survive a power failure, if the file system supports it.
func syncDirectory(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return nil // it may be writable but not readable
	}
	d.Sync() //nolint:errcheck // some file systems have none
	return d.Close()
}
