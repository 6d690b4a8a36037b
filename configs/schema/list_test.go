package schema

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSentences(t *testing.T) {
	values := []string{"a", "b-c", "d"}
	for text, want := range map[string][]string{
		"One. Two. Three.":                   {"One.", "Two.", "Three."},
		"Of L. Vaz, §2. More.":               {"Of L. Vaz, §2.", "More."},
		"0.5 of it. 3 more. End.":            {"0.5 of it. 3 more.", "End."},
		"How. a: so. b-c, d: or so. e: not.": {"How.", "a: so.", "b-c, d: or so. e: not."},
		"a: so. d of it. It: is.":            {"a: so. d of it.", "It: is."},
		"Only one.":                          {"Only one."},
		"":                                   {""},
	} {
		require.Equal(t, want, sentences(text, values), text)
	}
}

// A long meaning is shown in part, and all of it is there.
func TestLongMeaning(t *testing.T) {
	type section struct {
		Key string `key:"key" default:"a" oneof:"a,b" doc:"How it is. a: so, as long as this takes to be longer than a table has room for, which is a lot of text for a cell. More of this. b: otherwise, and as long. Source: a paper, which says so in a place that it does not name, at length."`
	}
	text := string(New[section]("sections").Markdown("section"))
	require.Contains(t, text, "| `a` | How it is. … |\n\n- `key`: Source: a paper, ")
	require.Contains(t, text, "\n  - `a`: so, as long")
	require.Contains(t, text, " More of this.\n")
	require.Contains(t, text, "\n  - `b`: otherwise, and as long.\n")

	var details bytes.Buffer
	f := Field{Doc: strings.Repeat("word ", longestMeaning) + "."}
	require.Equal(t, f.Doc, f.meaning(&details), "one sentence stays whole")
	require.Empty(t, details.String())
}
