package version

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
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

// tokens returns a Go file without what does not count: comments, unless they direct the compiler, and blanks, unless
// they separate words or operators or end a statement. go/scanner would take a third of the time of a short run.
func tokens(text []byte) []byte {
	out := make([]byte, 0, len(text))
	blank, line := false, false // whether some are between the last byte of out and text[i]
	for i := 0; i < len(text); {
		c, end := text[i], i+1
		switch c {
		case '\n', ' ', '\t', '\r':
			blank, line, i = true, line || c == '\n', end
			continue
		case '/':
			switch rest := text[i:]; {
			case bytes.HasPrefix(rest, []byte("//go:")):
				end = min(i+until(rest, "\n")+1, len(text)) // with the line's end
			case bytes.HasPrefix(rest, []byte("//")):
				blank, i = true, i+until(rest, "\n")
				continue
			case bytes.HasPrefix(rest, []byte("/*")):
				end = min(i+2+until(rest[2:], "*/")+2, len(text))
				blank, line, i = true, line || bytes.IndexByte(text[i:end], '\n') >= 0, end
				continue
			}
		case '`':
			end = min(end+until(text[end:], "`")+1, len(text))
		case '"', '\'':
			for end < len(text) && text[end] != c {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(text))
		default:
			for end < len(text) && !special[text[end]] {
				end++
			}
		}
		if n := len(out); n > 0 && blank {
			switch last := out[n-1]; {
			case line && endsStatement(last):
				out = append(out, '\n')
			case inWord(last) == inWord(c):
				out = append(out, ' ')
			}
		}
		out, blank, line, i = append(out, text[i:end]...), false, false, end
	}
	return out
}

// special are the bytes at which tokens looks for more than a part of a word or operator.
var special = [256]bool{'\n': true, ' ': true, '\t': true, '\r': true, '/': true, '`': true, '"': true, '\'': true}

// until returns the number of bytes before the first mark.
func until(text []byte, mark string) int {
	if i := bytes.Index(text, []byte(mark)); i >= 0 {
		return i
	}
	return len(text)
}

func inWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= utf8.RuneSelf
}

// endsStatement reports whether a line's end behind this byte may end a statement, and so counts.
func endsStatement(last byte) bool {
	return inWord(last) || strings.IndexByte("\"'`)]}+-", last) >= 0
}
