package isa_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa"
)

func TestLines(t *testing.T) {
	l := &isa.Lines{Files: []string{"a.s", "b.s"}}
	l.Add(0x80000010, 0, 0) // the end of a sequence
	l.Add(0x80000000, 0, 7)
	l.Add(0x80000004, 0, 8)
	l.Add(0x80000004, 1, 9) // the last counts
	l.Add(0x80000010, 1, 3) // where another begins
	l.Add(0x80000014, 0, 0)
	l.Sort()
	for addr, want := range map[uint32]struct {
		file string
		line int
	}{
		0: {}, 0x7ffffffc: {}, 0x80000000: {"a.s", 7}, 0x80000002: {"a.s", 7}, 0x80000004: {"b.s", 9},
		0x8000000c: {"b.s", 9},
		0x80000010: {"b.s", 3}, 0x80000014: {}, 0xffffffff: {},
	} {
		file, line, ok := l.At(addr)
		require.Equal(t, want.file, file, "%x", addr)
		require.Equal(t, want.line, line)
		require.Equal(t, want.line > 0, ok)
	}
	_, _, ok := (*isa.Lines)(nil).At(0)
	require.False(t, ok)
}
