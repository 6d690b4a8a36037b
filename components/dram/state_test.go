package dram

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// issued is a command in a log.
type issued struct {
	cmd   Command
	bank  *bank
	clock uint64
}

// TestReadyClocks: after any commands, a bank's clocks agree with the rules, one by one.
func TestReadyClocks(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 0))
		specs := timedPresets(t)
		s := specs[r.IntN(len(specs))]
		s.Refresh, s.PagePolicy = r.IntN(2) == 0, PagePolicy(r.IntN(2))
		if s.Standard != GDDR5 && s.Standard != GDDR6 {
			s.Ranks = 1 << r.IntN(3)
		}
		s.BankGroups, s.Banks = 1<<r.IntN(3), 1<<r.IntN(3)
		constraints, err := s.Constraints()
		require.NoError(t, err)
		used := s.commands()
		state := newBankState(s, newTimingTable(constraints, used))
		var log []issued
		for clock := uint64(0); len(log) < 100; clock += r.Uint64N(20) {
			cmd, b := Command(r.IntN(int(numCommands))), &state.banks[r.IntN(len(state.banks))]
			if !used.Has(cmd) {
				continue
			}
			state.issue(cmd, b, 0, clock)
			log = append(log, issued{cmd, b, clock})
			asked := &state.banks[r.IntN(len(state.banks))]
			for to := range numCommands {
				if !used.Has(to) {
					continue
				}
				got := asked.readyAt(to)
				if to.rankWide() {
					got = state.rankReadyAt(to, asked.rank)
				}
				require.Equal(t, readyClock(s, constraints, log, to, int(asked.index)), got,
					"seed %d: %s %s after %d commands", seed, s.Preset, to, len(log))
			}
		}
	}
}

// readyClock asks every rule for the first clock at which a command may follow a log.
func readyClock(s Spec, rules []Constraint, log []issued, to Command, bank int) (at uint64) {
	size := map[Level]int{LevelChannel: s.Ranks * s.BankGroups * s.Banks, LevelRank: s.BankGroups * s.Banks,
		LevelBankGroup: s.Banks, LevelBank: 1}
	for _, c := range rules {
		if c.To != to || c.Clocks == 0 {
			continue
		}
		var clocks []uint64
		for _, i := range log {
			same := int(i.bank.index)/size[c.Level] == bank/size[c.Level]
			if i.cmd == c.From && same == (c.Kind != Sibling) {
				clocks = append(clocks, i.clock)
			}
		}
		back := 1
		if c.Kind == FourthBack {
			back = window
		}
		if n := len(clocks); n >= back {
			at = max(at, clocks[n-back]+uint64(c.Clocks))
		}
	}
	return at
}

// TestUndominated: an update goes when an enclosing node makes to wait as long, and stays when it
// is the longer one or another command's.
func TestUndominated(t *testing.T) {
	keep := []update{{5, LevelRank, RD}, {6, LevelBank, RD}, {1, LevelBank, WR}}
	require.Equal(t, keep, undominated([]update{{5, LevelRank, RD}, {4, LevelBankGroup, RD}, {5, LevelBankGroup, RD},
		{6, LevelBank, RD}, {1, LevelBank, WR}}))
}
