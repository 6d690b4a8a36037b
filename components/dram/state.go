package dram

import "slices"

// never is a clock that does not come.
const never = ^uint64(0)

// closedRow is openRow of a bank without an open row.
const closedRow = ^uint32(0)

// readyClocks has, for each command, the first clock at which a node allows it.
type readyClocks [numCommands]uint64

// update says that a command makes to wait clocks.
type update struct {
	to     Command
	clocks uint64
}

// timingTable is the standard's resolved rules by what an issued command
// changes.
type timingTable struct {
	pair    [numLevels][numCommands][]update
	sibling [numCommands][]update
	fourth  [numLevels][]update
}

func newTimingTable(constraints []Constraint) *timingTable {
	t := &timingTable{}
	for _, c := range constraints {
		checkSupported(c)
		switch c.Kind {
		case EachPair:
			t.pair[c.Level][c.From] = stronger(t.pair[c.Level][c.From], c)
		case Sibling:
			t.sibling[c.From] = stronger(t.sibling[c.From], c)
		case FourthBack:
			t.fourth[c.Level] = stronger(t.fourth[c.Level], c)
		}
	}
	return t
}

// checkSupported panics at a rule that bankState cannot hold.
func checkSupported(c Constraint) {
	deep := c.Level > LevelRank
	switch {
	case deep && (c.From.rankWide() || c.To.rankWide()):
		panic("BUG: dram: a rule below the rank names a command for the whole rank")
	case c.Kind == Sibling && c.Level != LevelRank:
		panic("BUG: dram: a sibling rule is not at the rank")
	case c.Kind == FourthBack && (deep || c.From != ACT):
		panic("BUG: dram: a window rule is below the rank or not for ACT")
	}
}

// stronger adds c to the list, keeping one update a following command.
func stronger(list []update, c Constraint) []update {
	clocks := uint64(c.Clocks)
	if clocks == 0 {
		return list
	}
	if i := slices.IndexFunc(list, func(u update) bool { return u.to == c.To }); i >= 0 {
		list[i].clocks = max(list[i].clocks, clocks)
		return list
	}
	return append(list, update{c.To, clocks})
}

// bankState is what a channel's DRAM remembers: the open rows, and when each
// node of the hierarchy allows each command.
type bankState struct {
	rules      *timingTable
	rankShift  uint8 // bank number to rank
	groupShift uint8 // bank number to bank group of the channel

	channel           readyClocks
	rank, group, bank []readyClocks
	acts              [2][]actWindow // of the channel and of each rank

	openRow   []uint32 // by bank
	openBanks []int    // by rank
	refreshed []uint64 // by rank: the clock at which its last refresh is over
}

// actWindow is the clocks of the last ACTs of a node.
type actWindow struct {
	clocks [window]uint64
	count  uint64
}

func newBankState(s Spec, rules *timingTable) bankState {
	groups := s.Ranks * s.BankGroups
	st := bankState{
		rules:      rules,
		groupShift: log2(s.Banks),
		rankShift:  log2(s.Banks * s.BankGroups),
		rank:       make([]readyClocks, s.Ranks),
		group:      make([]readyClocks, groups),
		bank:       make([]readyClocks, groups*s.Banks),
		acts:       [2][]actWindow{make([]actWindow, 1), make([]actWindow, s.Ranks)},
		openRow:    make([]uint32, groups*s.Banks),
		openBanks:  make([]int, s.Ranks),
		refreshed:  make([]uint64, s.Ranks),
	}
	for b := range st.openRow {
		st.openRow[b] = closedRow
	}
	return st
}

// readyAt returns the first clock at which the timing rules allow cmd in bank.
// It never goes back.
func (s *bankState) readyAt(cmd Command, bank int) uint64 {
	at := max(s.channel[cmd], s.rank[bank>>s.rankShift][cmd])
	return max(at, s.group[bank>>s.groupShift][cmd], s.bank[bank][cmd])
}

// rankReadyAt is readyAt for a command to a whole rank.
func (s *bankState) rankReadyAt(cmd Command, rank int) uint64 {
	return max(s.channel[cmd], s.rank[rank][cmd])
}

// issue books a command at clock now. A command to a whole rank names any bank
// of it.
func (s *bankState) issue(cmd Command, bank int, row uint32, now uint64) {
	s.book(cmd, bank, now)
	switch cmd {
	case ACT:
		s.openRow[bank] = row
		s.openBanks[bank>>s.rankShift]++
	case PRE, RDA, WRA:
		s.close(bank)
	case PREA:
		first := bank >> s.rankShift << s.rankShift
		for b := first; b < first+1<<s.rankShift; b++ {
			s.close(b)
		}
	case REF:
		rank := bank >> s.rankShift
		s.refreshed[rank] = s.rank[rank][ACT]
	}
}

func (s *bankState) close(bank int) {
	if s.openRow[bank] != closedRow {
		s.openRow[bank] = closedRow
		s.openBanks[bank>>s.rankShift]--
	}
}

// book applies the timing rules that follow from cmd.
func (s *bankState) book(cmd Command, bank int, now uint64) {
	rank := bank >> s.rankShift
	s.channel.advance(s.rules.pair[LevelChannel][cmd], now)
	s.rank[rank].advance(s.rules.pair[LevelRank][cmd], now)
	if after := s.rules.sibling[cmd]; len(after) > 0 {
		s.bookSiblings(after, rank, now)
	}
	if cmd == ACT {
		s.channel.advanceFourth(s.rules.fourth[LevelChannel], &s.acts[LevelChannel][0], now)
		s.rank[rank].advanceFourth(s.rules.fourth[LevelRank], &s.acts[LevelRank][rank], now)
	}
	if cmd.rankWide() {
		return
	}
	s.group[bank>>s.groupShift].advance(s.rules.pair[LevelBankGroup][cmd], now)
	s.bank[bank].advance(s.rules.pair[LevelBank][cmd], now)
}

func (s *bankState) bookSiblings(after []update, rank int, now uint64) {
	for r := range s.rank {
		if r != rank {
			s.rank[r].advance(after, now)
		}
	}
}

func (r *readyClocks) advance(after []update, now uint64) {
	for _, u := range after {
		r[u.to] = max(r[u.to], now+u.clocks)
	}
}

// advanceFourth books an ACT in the window and applies the rules that count from
// the fourth last.
func (r *readyClocks) advanceFourth(after []update, w *actWindow, now uint64) {
	w.clocks[w.count%window] = now
	w.count++
	if w.count >= window {
		r.advance(after, w.clocks[w.count%window])
	}
}
