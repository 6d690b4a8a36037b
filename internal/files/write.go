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

// Write writes a file: whole or not at all, if it is a regular one.
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

// File is a file that is being written. It has its name when it is committed, and not before; a device or a pipe has
// what is written at once.
type File struct {
	f    *os.File
	path string // as the user named it
	to   string // where it will be; "": it is there, a device or a pipe
}

// Create begins a file. What has its name stays until Commit, where a symbolic link points to; its permissions are
// kept.
func Create(path string) (*File, error) {
	to, info, err := target(path)
	if err != nil {
		return nil, err
	}
	if to == "" {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0) // behind what another has written to an open file
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

// maxLinks is how many symbolic links are followed, as by Linux.
const maxLinks = 40

// target returns where a file of that name is, or will be, and what is there; no name if it is to be written directly.
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
		if strings.HasPrefix(to, "/proc/") { // a process's open file, as behind /dev/stdout: its name is another's
			return "", nil, nil
		}
		link, err := os.Readlink(to)
		if err != nil {
			return to, is, nil // no link, or not there yet
		}
		if !filepath.IsAbs(link) {
			link = filepath.Dir(to) + string(filepath.Separator) + link
		}
		to = link
	}
	return "", nil, fmt.Errorf("%s: more than %d symbolic links", path, maxLinks)
}

// unfinished are the temporary files of this process.
var unfinished struct {
	sync.Mutex
	names map[string]bool
}

// temporary makes a file in a directory, with the permissions of a new one.
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

// RemoveUnfinished removes what a process that is about to exit has begun to write. What is begun later waits for ever.
func RemoveUnfinished() {
	unfinished.Lock() // for good
	for name := range unfinished.names {
		os.Remove(name) //nolint:errcheck // nobody is left to be told
	}
}

// Error is an error of a file that a user named.
type Error struct {
	Path string
	Err  error
}

func (e *Error) Error() string { return e.Path + ": " + e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// named puts the user's name for a file in place of the temporary one's.
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

// Commit gives the file its name once it is on the disk. After an error there is none.
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

// Abort leaves no file, and what had its name as it was.
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

// syncDirectory makes a new name survive a power failure, where the file system can.
func syncDirectory(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return nil //nolint:nilerr // it may be written to and not read
	}
	d.Sync() //nolint:errcheck // some file systems have none
	return d.Close()
}
