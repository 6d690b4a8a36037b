package fit

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/stretchr/testify/require"
)

func TestText(t *testing.T) {
	in := `Draws a figure for a paper of an experiment's results, in any format.
Then some more that is short.

Short stays.
As it is.

Flags:
      --label NAME=TEXT    what a key is called
      --a-flag-with-a-long-name-of-a-thing directory   what it is good for
  -h, --help               help
  heddle run a-command-to-copy.yaml --set name=longer-than-the-line`
	require.Equal(t, `Draws a figure for a paper of an
experiment's results, in any format.
Then some more that is short.

Short stays.
As it is.

Flags:
      --label NAME=TEXT
            what a key is called
      --a-flag-with-a-long-name-of-a-thing directory
            what it is good for
  -h, --help               help
  heddle run a-command-to-copy.yaml --set name=longer-than-the-line`, Text(in, 40))
	require.Equal(t, "  weaver      the unit of the paper\n              SparseWeaver",
		Text("  weaver      the unit of the paper SparseWeaver", 40))
	require.Equal(t, in, Text(in, 0))
	require.Equal(t, in, Text(in, 100))
}

// No word is lost at any width, and every breakable text fits.
func TestTextKeepsWords(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var b strings.Builder
		for range r.IntN(6) {
			b.WriteString(strings.Repeat(" ", r.IntN(8)))
			for range r.IntN(8) {
				b.WriteString(strings.Repeat("wµ", 1+r.IntN(9)) + strings.Repeat(" ", 1+r.IntN(2)*r.IntN(30)))
			}
			b.WriteString("\n")
		}
		columns := leastText + r.IntN(60)
		out := Text(b.String(), columns)
		require.Equal(t, strings.Fields(b.String()), strings.Fields(out), "%d\n%s", columns, b.String())
		for _, line := range strings.Split(out, "\n") {
			if strings.HasPrefix(line, " ") {
				continue // no cells, or one that is broken off as far as it goes
			}
			require.LessOrEqual(t, text.StringWidthWithoutEscSequences(line), columns, out)
		}
	}
}
