package dram

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/scripts"
)

// TestScript plays testdata/frfcfs.txt and compares its traces.
func TestScript(t *testing.T) {
	scripts.Play(t, "testdata/frfcfs.txt", func(t *testing.T, commands []string) []string {
		s := script{t: t}
		for _, line := range commands {
			s.line(line)
		}
		return s.out
	})
}

// script is a script being played; out is it with traces.
type script struct {
	t       *testing.T
	spec    Spec
	offered []scriptRequest
	out     []string
}

type scriptRequest struct {
	clock uint64
	Request
}

func (s *script) line(line string) {
	s.out = append(s.out, line)
	words := strings.Fields(line)
	switch {
	case len(words) == 0 || words[0] == "#" || strings.HasPrefix(words[0], "#"):
	case words[0] == "preset":
		s.preset(words[1:])
	case words[0] == "run":
		s.run()
	default:
		s.offer(words)
	}
}

func (s *script) preset(words []string) {
	s.spec = preset(s.t, words[0])
	s.spec.Channels = 1
	for _, knob := range words[1:] {
		switch knob {
		case "closed":
			s.spec.PagePolicy = ClosedPage
		default:
			require.NoError(s.t, s.spec.Scheduler.UnmarshalText([]byte(knob)))
		}
	}
	s.offered = nil
}

func (s *script) offer(words []string) {
	require.Len(s.t, words, 8)
	n := func(i int) int { return number(s.t, words[i]) }
	s.offered = append(s.offered, scriptRequest{uint64(n(0)), Request{
		ID: uint64(n(2)), Write: words[1] == "write",
		Line: lineOf(s.spec, place{n(3), n(4), n(5), n(6), n(7)}),
	}})
}

func (s *script) run() {
	c := newChannel(s.t, s.spec)
	print := func(format string, args ...any) { s.out = append(s.out, "    "+fmt.Sprintf(format, args...)) }
	c.Trace = func(i Issue) {
		print("%4d %-4s %d %d %d row %d column %d, for %d", i.Clock, i.Command, i.Rank, i.BankGroup, i.Bank, i.Row,
			i.Column, i.ID)
	}
	for clock, left := uint64(0), len(s.offered); left > 0; clock++ {
		c.Tick(clock)
		for d, ok := c.PopDone(clock); ok; d, ok = c.PopDone(clock) {
			print("%4d done %d", clock, d.ID)
			left--
		}
		for _, r := range s.offered {
			if r.clock == clock {
				require.True(s.t, c.Enqueue(clock, r.Request))
			}
		}
	}
}
