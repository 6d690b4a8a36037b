// Package version identifies the running build of heddle.
package version

import (
	"cmp"
	"crypto/sha256"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// Text is the commit or, if unknown, the program's own hash. Results belong to one version.
var Text = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			v = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "+changes"
		}
	}
	if v == "" || modified != "" {
		modified += "+exe." + Executable()
	}
	return cmp.Or(v, info.Main.Version) + modified
})

// Executable distinguishes builds without a commit: a hash of the go command's build ID, which holds hashes of the
// program's inputs and of its content, or of the whole program where there is none (100 MB, which every start would
// read).
func Executable() string {
	f, err := os.Open("/proc/self/exe") // valid even if the file has been replaced
	if err != nil {
		name, _ := os.Executable() // on systems without /proc
		f, err = os.Open(name)
	}
	if err != nil {
		return "unknown"
	}
	defer f.Close() //nolint:errcheck // read only
	return hashOf(f)
}

func hashOf(program io.ReaderAt) string {
	h := sha256.New()
	if id := buildID(program); len(id) > 0 {
		h.Write(id)
	} else if _, err := io.Copy(h, io.NewSectionReader(program, 0, 1<<40)); err != nil {
		return "unknown"
	}
	return fmt.Sprintf("%.6x", h.Sum(nil))
}

// buildID returns the note of an ELF file in which the linker leaves the build ID; nil if there is none.
func buildID(program io.ReaderAt) []byte {
	f, err := elf.NewFile(program)
	if err != nil {
		return nil // another system's format
	}
	s := f.Section(".note.go.buildid")
	if s == nil || s.Size > 4096 {
		return nil
	}
	id, err := s.Data()
	if err != nil {
		return nil
	}
	return id
}

// Short returns the commit in twelve digits, and whether files had been modified since; without a commit, Text.
func Short() string { return short(settings()) }

func short(vcs map[string]string) string {
	commit := vcs["vcs.revision"]
	if len(commit) < 12 {
		return Text()
	}
	if vcs["vcs.modified"] == "true" {
		return commit[:12] + "+changes"
	}
	return commit[:12]
}

// Time returns the commit's time; zero if the build does not record it.
func Time() time.Time { return commitTime(settings()) }

func commitTime(vcs map[string]string) time.Time {
	t, err := time.Parse(time.RFC3339, vcs["vcs.time"])
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// Line returns a readable description of the build: commit, date, compiler and platform.
func Line() string { return line(settings()) }

func line(vcs map[string]string) string {
	date := "no commit date: built with -buildvcs=false or outside a clone"
	if t := commitTime(vcs); !t.IsZero() {
		date = t.Format(time.DateOnly)
	}
	return fmt.Sprintf("%s (%s), %s %s/%s", short(vcs), date, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// settings returns the build's settings.
func settings() map[string]string {
	all := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			all[s.Key] = s.Value
		}
	}
	return all
}
