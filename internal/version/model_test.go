package version

import (
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

// Without sources, as in the tests of this package, the build identifies results.
func TestModelWithoutSources(t *testing.T) { require.Equal(t, Text(), Model()) }
