package isa

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestIPDOMScript plays testdata/ipdom.txt, in which a line is followed by its result:
//
//	stack DEPTH             a new stack
//	split ALL OTHER PC      a divergent split: lanes that meet again, lanes that go second, and where
//	join MASK DEPTH         the warp, with these lanes, arrives at the join of the split that gave DEPTH
//	reset
//
// Masks are binary.
func TestIPDOMScript(t *testing.T) {
	const file = "testdata/ipdom.txt"
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	var s IPDOM
	var out []string
	for _, line := range strings.Split(strings.TrimSuffix(string(want), "\n"), "\n") {
		if strings.HasPrefix(line, "    ") {
			continue
		}
		out = append(out, line)
		if line != "" && line[0] != '#' {
			out = append(out, "    "+ipdomCommand(t, &s, strings.Fields(line)))
		}
	}
	got := strings.Join(out, "\n") + "\n"
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	require.Equal(t, string(want), got)
}

// ipdomCommand executes one command and returns its result as text.
func ipdomCommand(t *testing.T, s *IPDOM, words []string) string {
	number := func(i, base int) uint32 {
		require.Greater(t, len(words), i, "%v", words)
		n, err := strconv.ParseUint(words[i], base, 32)
		require.NoError(t, err)
		return uint32(n)
	}
	switch words[0] {
	case "stack":
		*s = NewIPDOM(int(number(1, 10)))
	case "reset":
		s.Reset()
	case "split":
		depth := s.Depth()
		if err := s.Push(number(1, 2), number(2, 2), number(3, 16)); err != nil {
			return err.Error()
		}
		return fmt.Sprintf("gives %d; depth %d", depth, s.Depth())
	case "join":
		mask, pc, jump, err := s.Join(number(1, 2), number(2, 10))
		switch {
		case err != nil:
			return err.Error()
		case jump:
			return fmt.Sprintf("lanes %04b go to %x; depth %d", mask, pc, s.Depth())
		}
		return fmt.Sprintf("lanes %04b go on; depth %d", mask, s.Depth())
	default:
		t.Fatalf("unknown command %v", words)
	}
	return fmt.Sprintf("depth %d", s.Depth())
}
