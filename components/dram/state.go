package dram

// never is a clock that does not come.
const never = ^uint64(0)

// closedRow is the row of a bank without an open row.
const closedRow = ^uint32(0)

// readyClocks has, for each command, the first clock at which a node allows it.
type readyClocks [numCommands]uint64

// update says that a command makes to wait clocks at the node of a level.
type update struct {
	level  Level
	to     Command
	clocks uint64
}

// timingTable is the standard's resolved rules by what an issued command
// changes.
type timingTable struct {
	pair    [numCommands][]update
	sibling [numCommands][]update
	fourth  [windowLevels][]update
}

// windowLevels are the levels that may have a rule of the kind FourthBack.
const windowLevels = LevelRank + 1

// newTimingTable drops the rules of commands that are not in used.
func newTimingTable(constraints []Constraint, used CommandSet) *timingTable {
	t := &timingTable{}
	for _, c := range constraints {
		checkSupported(c)
		if c.Clocks == 0 || !used.Has(c.From) || !used.Has(c.To) {
			continue
		}
		switch c.Kind {
		case EachPair:
			t.pair[c.From] = stronger(t.pair[c.From], c)
		case Sibling:
			t.sibling[c.From] = stronger(t.sibling[c.From], c)
		case FourthBack:
			t.fourth[c.Level] = stronger(t.fourth[c.Level], c)
		}
	}
	for i, list := range t.pair {
		t.pair[i] = undominated(list)
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

// stronger adds c to the list, keeping one update of a level and following command.
func stronger(list []update, c Constraint) []update {
	clocks := uint64(c.Clocks)
	for i, u := range list {
		if u.level == c.Level && u.to == c.To {
			list[i].clocks = max(u.clocks, clocks)
			return list
		}
	}
	return append(list, update{c.Level, c.To, clocks})
}

// undominated drops updates that one of an enclosing node makes superfluous.
func undominated(list []update) (kept []update) {
	for _, u := range list {
		dominated := false
		for _, v := range list {
			dominated = dominated || v.level < u.level && v.to == u.to && v.clocks >= u.clocks
		}
		if !dominated {
			kept = append(kept, u)
		}
	}
	return kept
}

// bankState is what a channel's DRAM remembers: the open rows, and when each
// node of the hierarchy allows each command.
type bankState struct {
	rules   *timingTable
	channel readyClocks
	acts    actWindow
	groups  []readyClocks
	ranks   []rank
	banks   []bank
}

// rank is what is remembered of a rank.
type rank struct {
	ready     readyClocks
	acts      actWindow
	banks     []bank
	open      int    // banks with an open row
	claimed   int    // banks that are claimed
	refreshed uint64 // the clock at which its last refresh is over
}

// bank is what is remembered of a bank.
type bank struct {
	nodes   [numLevels]*readyClocks // channel, rank, bank group, bank: what its commands wait for
	ready   readyClocks             // of the bank itself
	rank    *rank
	row     uint32 // that is open, or closedRow
	index   uint16
	claimed bool // the controller has opened the row for a request that still waits for its RD or WR
}

// actWindow is the clocks of the last ACTs of a node.
type actWindow struct {
	clocks [window]uint64
	count  uint64
}

func newBankState(s Spec, rules *timingTable) *bankState {
	st := &bankState{
		rules:  rules,
		ranks:  make([]rank, s.Ranks),
		groups: make([]readyClocks, s.Ranks*s.BankGroups),
		banks:  make([]bank, s.Ranks*s.BankGroups*s.Banks),
	}
	perRank := s.BankGroups * s.Banks
	for i := range st.ranks {
		st.ranks[i].banks = st.banks[i*perRank : (i+1)*perRank]
	}
	for i := range st.banks {
		b, r := &st.banks[i], &st.ranks[i/perRank]
		b.index, b.rank, b.row = uint16(i), r, closedRow
		b.nodes = [numLevels]*readyClocks{&st.channel, &r.ready, &st.groups[i/s.Banks], &b.ready}
	}
	return st
}

// readyAt returns the first clock at which the timing rules allow cmd in the bank, or in its
// rank if cmd is for a whole one. It never goes back.
func (b *bank) readyAt(cmd Command) uint64 {
	cmd &= numCommands - 1
	at := max(b.nodes[LevelChannel][cmd], b.nodes[LevelRank][cmd])
	return max(at, b.nodes[LevelBankGroup][cmd], b.nodes[LevelBank][cmd])
}

// issue books a command at clock now. A command to a whole rank names any bank
// of it.
func (s *bankState) issue(cmd Command, b *bank, row uint32, now uint64) {
	s.book(cmd, b, now)
	switch cmd {
	case ACT:
		b.row = row
		b.rank.open++
	case PRE, RDA, WRA:
		b.close()
	case PREA:
		for i := range b.rank.banks {
			b.rank.banks[i].close()
		}
	case REF:
		b.rank.refreshed = b.rank.ready[ACT]
	}
}

func (b *bank) close() {
	if b.row != closedRow {
		b.row = closedRow
		b.rank.open--
	}
}

// book applies the timing rules that follow from cmd.
func (s *bankState) book(cmd Command, b *bank, now uint64) {
	cmd &= numCommands - 1
	for _, u := range s.rules.pair[cmd] {
		b.nodes[u.level&(numLevels-1)].delay(u.to, now+u.clocks)
	}
	if after := s.rules.sibling[cmd]; len(after) > 0 {
		s.bookSiblings(after, b.rank, now)
	}
	if cmd == ACT {
		s.acts.book(s.rules.fourth[LevelChannel], &s.channel, now)
		b.rank.acts.book(s.rules.fourth[LevelRank], &b.rank.ready, now)
	}
}

func (s *bankState) bookSiblings(after []update, of *rank, now uint64) {
	for i := range s.ranks {
		if r := &s.ranks[i]; r != of {
			r.ready.apply(after, now)
		}
	}
}

// delay makes cmd wait until clock at.
func (r *readyClocks) delay(cmd Command, at uint64) {
	ready := &r[cmd&(numCommands-1)]
	*ready = max(*ready, at)
}

func (r *readyClocks) apply(after []update, from uint64) {
	for _, u := range after {
		r.delay(u.to, from+u.clocks)
	}
}

// book notes an ACT of the node and applies the rules that count from the fourth last.
func (w *actWindow) book(after []update, node *readyClocks, now uint64) {
	if len(after) == 0 {
		return
	}
	w.clocks[w.count%window] = now
	w.count++
	if w.count >= window {
		node.apply(after, w.clocks[w.count%window])
	}
}
