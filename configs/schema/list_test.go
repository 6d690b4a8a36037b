package schema

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSentence(t *testing.T) {
	for _, c := range [][3]string{
		{"One. Two. Three.", "One.", "Two. Three."},
		{"Of L. Vaz, §2. More.", "Of L. Vaz, §2.", "More."},
		{"0.5 of it. 3 more. End.", "0.5 of it. 3 more.", "End."},
		{"Only one.", "Only one.", ""},
		{"", "", ""},
	} {
		first, rest := sentence(c[0])
		require.Equal(t, c[1:3], []string{first, rest}, c[0])
	}
}
