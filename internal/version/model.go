package version

import (
	"crypto/sha256"
	"encoding/hex"
	"go/scanner"
	"go/token"
	"io"
	"io/fs"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
)

// sources holds the sources on which results depend; nil: the program was built without.
var sources fs.FS

// SetSources sets the sources that Model digests. The package at the root calls it when the program starts.
func SetSources(f fs.FS) { sources = f }

// Module is the module that the sources are of.
const Module = "heddle"

// engine is the module, beside heddle itself, on which cycles depend.
const engine = "github.com/sarchlab/akita/v3"

// Model identifies all that determines results, in 24 hexadecimal digits: the sources of the instructions, units,
// kernels and graphs, without tests, comments and blanks, and the version of the event engine. Builds that differ
// elsewhere, as in the command line, have the same. A program of another module may have parts of its own, so that its
// build (Text) follows after a plus sign. Without sources, Model is Text.
var Model = sync.OnceValue(func() string {
	if sources == nil {
		return Text()
	}
	sum, err := digest(sources)
	if err != nil {
		panic("BUG: version @0: " + err.Error()) // the sources are in the program
	}
	h := sha256.New()
	h.Write(sum)
	own := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == engine {
				io.WriteString(h, d.Version) //nolint:errcheck // of a hash
			}
		}
		if info.Main.Path != Module {
			own = "+" + Text()
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:24] + own
})

// digest returns a hash of all files but tests. Of Go files, only the tokens count.
func digest(f fs.FS) ([]byte, error) {
	var names []string
	err := fs.WalkDir(f, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasSuffix(name, "_test.go") {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	sums, errs := make([][]byte, len(names)), make([]error, len(names))
	var wg sync.WaitGroup
	for part := range slices.Chunk(numbers(len(names)), filesTogether) {
		wg.Go(func() {
			for _, i := range part {
				sums[i], errs[i] = digestFile(f, names[i])
			}
		})
	}
	wg.Wait()
	h := sha256.New()
	for i, name := range names { // WalkDir has sorted them
		if errs[i] != nil {
			return nil, errs[i]
		}
		io.WriteString(h, name+"\x00") //nolint:errcheck // of a hash
		h.Write(sums[i])
	}
	return h.Sum(nil), nil
}

// filesTogether is the number of files that one goroutine digests.
const filesTogether = 16

func numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func digestFile(f fs.FS, name string) ([]byte, error) {
	text, err := fs.ReadFile(f, name)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(name, ".go") {
		text = tokens(text)
	}
	sum := sha256.Sum256(text)
	return sum[:], nil
}

// tokens returns the tokens of a Go file. Comments are left out, unless they direct the compiler.
func tokens(text []byte) []byte {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	s.Init(file, text, nil, scanner.ScanComments)
	out := make([]byte, 0, len(text))
	for {
		_, t, literal := s.Scan()
		switch {
		case t == token.EOF:
			return out
		case t == token.COMMENT && !strings.HasPrefix(literal, "//go:"):
			continue
		case t == token.SEMICOLON: // written or implied by a line's end
			literal = ""
		}
		out = append(out, t.String()...)
		out = append(append(append(out, ' '), literal...), '\n')
	}
}
