package files

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
)

// NamedIn returns the path that an error names, if it names one.
func NamedIn(err error) (path string, ok bool) {
	var ours *Error
	var theirs *fs.PathError
	switch {
	case errors.As(err, &ours):
		return ours.Path, true
	case errors.As(err, &theirs):
		return theirs.Path, true
	}
	return "", false
}

// Room describes the file system that contains a path, or would: its mount point and free space. It is empty for a
// device, and where the host does not report it.
func Room(path string) string {
	at, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	var is, above syscall.Stat_t
	for syscall.Stat(at, &is) != nil {
		if at == filepath.Dir(at) {
			return ""
		}
		at = filepath.Dir(at)
	}
	if kind := is.Mode & syscall.S_IFMT; kind != syscall.S_IFREG && kind != syscall.S_IFDIR {
		return ""
	}
	for at != filepath.Dir(at) && syscall.Stat(filepath.Dir(at), &above) == nil && above.Dev == is.Dev {
		at = filepath.Dir(at)
	}
	var f syscall.Statfs_t
	if syscall.Statfs(at, &f) != nil {
		return ""
	}
	if block := uint64(f.Bsize); f.Files == 0 || f.Ffree > 0 {
		return fmt.Sprintf("the file system at %s has %d KiB left of %d KiB", at, f.Bavail*block>>10,
			f.Blocks*block>>10)
	}
	return fmt.Sprintf("the file system at %s has %d files, and no room for more", at, f.Files)
}
