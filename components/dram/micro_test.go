package dram

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sequence is one of the small sequences of micro.csv and commands.csv.
type sequence struct {
	config, name string
	requests     []microRequest
	commands     []string
}

type microRequest struct {
	write         bool
	at            place
	arrival, done uint64
}

// TestSmallSequences holds every request's completion and every command to
// Ramulator's, to the clock.
func TestSmallSequences(t *testing.T) {
	sequences := readSequences(t)
	require.Equal(t, 289, len(sequences))
	for _, s := range sequences {
		t.Run(s.config+"/"+s.name, func(t *testing.T) { s.run(t) })
	}
}

// run plays the sequence, with clocks shifted so that the refresh of the
// sequences named after it is demanded at 200.
func (s *sequence) run(t *testing.T) {
	spec := configSpec(t, s.config)
	base := uint64(0)
	if strings.HasPrefix(s.name, "refresh") && spec.Refresh {
		base = uint64(spec.Timing.REFI) - 200
	}
	c := newChannel(t, spec)
	var commands []string
	c.Trace = func(i Issue) { commands = append(commands, commandText(spec, i, base)) }
	done := make([]uint64, len(s.requests))
	next, left := 0, len(s.requests)
	for clock := uint64(0); left > 0; clock++ {
		require.Less(t, clock, uint64(20_000), "no progress")
		c.Tick(clock)
		for d, ok := c.PopDone(clock); ok; d, ok = c.PopDone(clock) {
			require.Equal(t, clock, d.Clock)
			done[d.ID] = clock - base
			left--
		}
		for ; next < len(s.requests) && s.requests[next].arrival+base == clock; next++ {
			r := s.requests[next]
			require.True(t, c.Enqueue(clock, Request{ID: uint64(next), Line: lineOf(spec, r.at), Write: r.write}))
		}
	}
	for i, r := range s.requests {
		assert.Equal(t, r.done, done[i], "request %d", i)
	}
	assert.Equal(t, s.commands, commands)
}

// commandText writes a command as commands.csv does, its names apart.
func commandText(spec Spec, i Issue, base uint64) string {
	at := fmt.Sprintf("%d %d %d %d", i.BankGroup, i.Bank, i.Row, i.Column)
	rank := fmt.Sprintf("%d ", i.Rank)
	if i.Command.rankWide() {
		at = "-1 -1 -1 -1"
	}
	if spec.Standard == GDDR6 {
		rank = ""
	}
	return fmt.Sprintf("%d %s %s%s", i.Clock-base, i.Command, rank, at)
}

// ourCommand has our names of Ramulator's commands, where they differ.
var ourCommand = map[string]string{"PREpb": "PRE", "PREab": "PREA", "REFab": "REF"}

func commandOf(ramulator string) string {
	if c, ok := ourCommand[ramulator]; ok {
		return c
	}
	return ramulator
}

func readSequences(t *testing.T) []*sequence {
	var all []*sequence
	byName := map[string]*sequence{}
	for _, f := range readCSV(t, "micro.csv") {
		key := f[0] + "/" + f[1]
		if byName[key] == nil {
			byName[key] = &sequence{config: f[0], name: f[1]}
			all = append(all, byName[key])
		}
		s := byName[key]
		s.requests = append(s.requests, microRequest{
			write: f[3] == "W", at: readPlace(t, f[4]),
			arrival: uint64(number(t, f[5])), done: uint64(number(t, f[6])),
		})
	}
	for _, f := range readCSV(t, "commands.csv") {
		s := byName[f[0]+"/"+f[1]]
		s.commands = append(s.commands, fmt.Sprintf("%s %s %s", f[2], commandOf(f[3]), f[4]))
	}
	return all
}

// readPlace reads "pch0 bg1 ba2 row3 col4"; DDR4 has ra for pch, GDDR6 neither.
func readPlace(t *testing.T, text string) place {
	var p place
	for _, word := range strings.Fields(text) {
		letters := strings.TrimRight(word, "0123456789")
		n := number(t, word[len(letters):])
		part := map[string]*int{"pch": &p.rank, "ra": &p.rank, "bg": &p.group, "ba": &p.bank, "row": &p.row,
			"col": &p.column}[letters]
		require.NotNil(t, part, word)
		*part = n
	}
	return p
}
