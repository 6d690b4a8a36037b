package fit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWrap: a long word is broken after a slash or an underscore where that helps, and nothing else changes.
func TestWrap(t *testing.T) {
	for cell, want := range map[string][]string{
		"alwt_entries":       {"alwt_", "entries"},
		"gather/push_atomic": {"gather/", "push_", "atomic"},
		"a / b and so on":    {"a / b and", "so on"},
		"abcdefghijklmnop":   {"abcdefghij", "klmnop"},
	} {
		var lines []string
		for _, l := range strings.Split(wrap(cell, 10), "\n") {
			lines = append(lines, strings.TrimSpace(l))
		}
		require.Equal(t, want, lines)
	}
}
