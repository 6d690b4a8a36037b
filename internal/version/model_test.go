package version

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// TestDigest: code, names, assembly and directives count; comments, blanks and tests do not.
func TestDigest(t *testing.T) {
	of := func(files map[string]string) string {
		f := fstest.MapFS{}
		for name, text := range files {
			f[name] = &fstest.MapFile{Data: []byte(text)}
		}
		sum, err := digest(f)
		require.NoError(t, err)
		return string(sum)
	}
	base := map[string]string{"a/a.go": "package a\n\n// F adds.\nfunc F(x int) int { return x + 1 }\n", "a/b.s": "ret\n"}
	with := func(name, text string) map[string]string {
		out := map[string]string{name: text}
		for n, old := range base {
			if n != name {
				out[n] = old
			}
		}
		return out
	}
	for text, same := range map[string]bool{
		"package a\n\n// F is another.\n\nfunc F(x int)  int { return x + 1 } // one more":           true,
		"package a\n\n// F adds.\nfunc F(x int) int { return x + 2 }\n":                              false,
		"package a\n\n// F adds.\n//\n//go:noinline\nfunc F(x int) int { return x + 1 }\n":           false,
		"package a\n\n// F adds.\nfunc F(x int) int { return x +\n 1 }\nvar s = \"x + 1 // text\"\n": false,
	} {
		require.Equal(t, same, of(base) == of(with("a/a.go", text)), text)
	}
	require.Equal(t, of(base), of(with("a/a_test.go", "package a")))
	require.NotEqual(t, of(base), of(with("a/c.go", "package a")))
	require.NotEqual(t, of(base), of(with("a/b.s", "nop\n")))
	require.NotEqual(t, of(map[string]string{"a.go": "package a"}), of(map[string]string{"b.go": "package a"}))
}

// TestTokens: what is left of a file has the tokens of the whole; this module's own files are the sample.
func TestTokens(t *testing.T) {
	scan := func(text []byte) (all []string) {
		var s scanner.Scanner
		s.Init(token.NewFileSet().AddFile("", -1, len(text)), text, func(at token.Position, msg string) {
			t.Error(at, msg)
		}, scanner.ScanComments)
		for {
			_, k, literal := s.Scan()
			switch {
			case k == token.EOF:
				return all
			case k == token.SEMICOLON: // written, or implied by a line's end
				literal = ""
			case k == token.COMMENT && !strings.HasPrefix(literal, "//go:"):
				continue
			}
			all = append(all, k.String()+literal)
		}
	}
	same := func(name string, text []byte) { require.Equal(t, scan(text), scan(tokens(text)), name) }
	for _, text := range []string{
		"package a // b", "package a; var b = '\\'' + '\"'", "package a /* \n */ /**/ //\nvar x = a/**/b",
		"package a\nvar x = y + +1 - -z & ^w / *p",
		"package a\nvar x = \"// \\\" /*\" + `// \\` // `",
		"package ä\nvar é int\n",
		"package a\nfunc f() {\n\treturn\n\t//go:x\n}\n", "package a\nvar x = f(a,\n\tb,\n)\n(c)", "",
	} {
		same(text, []byte(text))
	}
	module, files := os.DirFS("../.."), 0
	require.NoError(t, fs.WalkDir(module, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.Contains(name, "testdata") {
			return err
		}
		text, err := fs.ReadFile(module, name)
		same(name, text)
		files++
		return err
	}))
	require.Greater(t, files, 500)
}

// FuzzTokens: no text makes it read beyond its end, and blanks and comments are found once.
func FuzzTokens(f *testing.F) {
	f.Add([]byte("package a /* b */ // c\nvar d = `e` + \"f\\\"\" + 'g'"))
	f.Fuzz(func(t *testing.T, text []byte) {
		once := tokens(text)
		require.LessOrEqual(t, len(once), len(text))
		require.Equal(t, string(once), string(tokens(once)))
	})
}

// Without sources, as in the tests of this package, the build identifies results.
func TestModelWithoutSources(t *testing.T) { require.Equal(t, Text(), Model()) }
