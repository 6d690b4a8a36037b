package dram

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBankStates: a bank is in the state that its last command, and the timing after it, say.
func TestBankStates(t *testing.T) {
	s, err := Preset("ddr4-3200")
	require.NoError(t, err)
	c, err := NewChannel(s)
	require.NoError(t, err)
	now := uint64(0)
	l, states := c.signals(func() uint64 { return now }), map[string]int{}
	for i := range l {
		states[l[i].Name] = i
	}
	is := func(name string) string { return l[states[name]].Text() }
	require.Equal(t, "closed", is("bank0.state"))
	last, since := map[int]Command{}, map[int]uint64{}
	c.Trace = func(i Issue) {
		for b := range c.state.banks {
			if i.Command.rankWide() || b == c.spec.bankNumber(i) {
				last[b], since[b] = i.Command, i.Clock
			}
		}
	}
	seen := map[string]bool{}
	for now = 1; now < 40000; now++ {
		c.Tick(now)
		for _, ok := c.PopDone(now); ok; _, ok = c.PopDone(now) {
		}
		if now%97 == 0 {
			c.Enqueue(now, Request{Line: now * now % 100003, Write: now%2 == 0})
		}
		for b := range c.state.banks {
			want := expected(&s, last[b], since[b], now)
			got := bankingNames[c.state.banks[b].banking(now)]
			require.Contains(t, want, got, "bank %d at %d, %d after %s", b, now, now-since[b], last[b])
			seen[got] = true
		}
	}
	require.Len(t, seen, int(numBankings))
}

// expected are the states that a bank can be in so long after its last command. Effects of the command before may still
// last.
func expected(s *Spec, last Command, since, now uint64) []string {
	after, t := now-since, &s.Timing
	switch {
	case since == 0:
		return []string{"closed"}
	case last == ACT && after < uint64(t.RCD):
		return []string{"activating"}
	case last == ACT, last == RD, last == WR:
		return []string{"open"}
	case last == REF && after < uint64(t.RFC):
		return []string{"refreshing"}
	case last == REF:
		return []string{"closed"}
	case last == PRE && after < uint64(t.RP):
		return []string{"precharging"}
	}
	return []string{"precharging", "closed"} // a precharge of the rank does nothing to a bank that is closed
}
