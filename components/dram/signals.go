package dram

import (
	"fmt"

	"heddle/components/probe"
)

// banking is the state of a bank, as its commands determine it.
type banking uint8

const (
	closed      banking = iota // no row is open
	activating                 // ACT has been issued, and column commands must wait for it
	open                       // a row is open
	precharging                // the row has been closed, and ACT must wait for that
	refreshing                 // REF has been issued for its rank, and ACT must wait for that
	numBankings
)

var bankingNames = [numBankings]string{"closed", "activating", "open", "precharging", "refreshing"}

// banking returns the state of the bank at a clock, from its own timing rules and its rank's refresh.
func (b *bank) banking(now uint64) banking {
	switch {
	case b.row != closedRow && b.ready[RD] > now:
		return activating
	case b.row != closedRow:
		return open
	case b.rank.refreshed > now:
		return refreshing
	case b.ready[ACT] > now:
		return precharging
	}
	return closed
}

var modeNames = []string{"reads", "writes"}

// signals returns the signals of the channel; clock returns its current clock.
func (c *Channel) signals(clock func() uint64) (l probe.List) {
	l.Count("reads", c.spec.ReadQueue, c.reads.len)
	l.Count("writes", c.spec.WriteQueue, c.writes.len)
	l.Count("active", c.active.size, c.active.len)
	l.State("mode", modeNames, func() int {
		if c.served == &c.writes {
			return 1
		}
		return 0
	})
	for i := range c.state.banks {
		l = append(l, c.state.banks[i].signals(clock).Under(fmt.Sprintf("bank%d", i))...)
	}
	return l
}

func (b *bank) signals(clock func() uint64) (l probe.List) {
	l.State("state", bankingNames[:], func() int { return int(b.banking(clock())) })
	l.Word("row", func() uint32 { return b.row })
	l.Hide()
	return l
}

func channelSignals(channels []*Channel, clock func() uint64) (l probe.List) {
	for i, c := range channels {
		if c.spec.Standard != Ideal {
			l = append(l, c.signals(clock).Under(fmt.Sprintf("channel%d", i))...)
		}
	}
	return l
}

// Signals returns the signals of the memory. The states of banks are as of the DRAM's last clock.
func (m *Memory) Signals() (l probe.List) {
	l.Count("pending", len(m.reads), m.Pending)
	return append(l, channelSignals(m.channels, func() uint64 { return m.ClockHandle().Domain().After() - 1 })...)
}

// Signals returns the signals of the memory.
func (h *Harness) Signals() (l probe.List) {
	l.Word("pending", func() uint32 { return uint32(h.Pending()) })
	return append(l, channelSignals(h.channels, func() uint64 { return h.ClockHandle().Domain().After() - 1 })...)
}

var kinds = []probe.Kind{{Name: "cmd", Doc: "a channel issues a command"}}

// Kinds returns the kinds of the memory's events.
func (*Memory) Kinds() []probe.Kind { return kinds }

// Kinds returns the kinds of the memory's events.
func (*Harness) Kinds() []probe.Kind { return kinds }

// Watch makes the channels report their events to the observer.
func (m *Memory) Watch(w probe.Watch) { watch(m.channels, w) }

// Watch makes the channels report their events to the observer.
func (h *Harness) Watch(w probe.Watch) { watch(h.channels, w) }

func watch(channels []*Channel, w probe.Watch) {
	for n, c := range channels {
		c.Trace = func(i Issue) {
			bank := c.spec.bankNumber(i)
			if i.Command.rankWide() {
				w("cmd", -1, "channel %d rank %d: %s", n, i.Rank, i.Command)
				return
			}
			w("cmd", -1, "channel %d bank %d: %s row %x column %x", n, bank, i.Command, i.Row, i.Column)
		}
	}
}
