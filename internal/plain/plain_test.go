package plain_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/plain"
)

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                           "",
		"graph 7 × 8 → é 漢字.txt":     "graph 7 × 8 → é 漢字.txt",
		"a\nb\tc\rd":                 `a\nb\tc\rd`,
		"\x1b[31mred\x1b]0;t\a":      `\x1b[31mred\x1b]0;t\a`,
		"abc\u202edcba\u2066x\u2069": `abc\u202edcba\u2066x\u2069`,
		"\u009b31m\u200b\ufeff":      `\u009b31m\u200b\ufeff`,
		"\xff\xfeok":                 `\xff\xfeok`,
		`a "quoted" back\slash`:      `a "quoted" back\slash`,
	} {
		require.Equal(t, want, plain.Line(in))
		require.Equal(t, in == want, plain.Is(in), "%q", in)
		require.True(t, plain.Is(plain.Line(in)))
	}
	require.Equal(t, "a\n\tb\\x1b\n\\u202e", plain.Lines("a\n\tb\x1b\n\u202e"))
}
