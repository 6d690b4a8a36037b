package dram

// never is a clock that is never reached.
const never = ^uint64(0)

// closedRow is the row of a bank without an open row.
const closedRow = ^uint32(0)

// readyClocks holds, for each command, the first clock at which a node allows it.
type readyClocks [numCommands]uint64

// update delays a command by a number of clocks at the node of a level.
type update struct {
	clocks uint32
	level  Level
	to     Command
}

// since delays a command by a number of clocks from the last command from at the node of a level.
type since struct {
	clocks uint32
	level  Level
	from   Command
}

// timingTable is the standard's resolved rules. Rules for commands to a bank are indexed by the issued command that
// triggers them; rules for the few commands to a whole rank are indexed by the waiting command, so that the frequent
// commands need not book them.
type timingTable struct {
	pair    [numCommands][]update
	sibling [numCommands][]update
	fourth  [rankLevels][]update
	asked   [numCommands][]since
}

// rankLevels are the levels down to the rank.
const rankLevels = LevelRank + 1

// newTimingTable drops the rules of commands that are not in used.
func newTimingTable(constraints []Constraint, used CommandSet) *timingTable {
	t := &timingTable{}
	for _, c := range constraints {
		checkSupported(c)
		if c.Clocks == 0 || !used.Has(c.From) || !used.Has(c.To) {
			continue
		}
		switch {
		case c.Kind == Sibling:
			t.sibling[c.From] = stronger(t.sibling[c.From], c)
		case c.Kind == FourthBack:
			t.fourth[c.Level] = stronger(t.fourth[c.Level], c)
		case c.To.rankWide():
			t.asked[c.To] = append(t.asked[c.To], since{uint32(c.Clocks), c.Level, c.From})
		default:
			t.pair[c.From] = stronger(t.pair[c.From], c)
		}
	}
	for i, list := range t.pair {
		t.pair[i] = undominated(list)
	}
	return t
}

// checkSupported panics at a rule that bankState cannot represent.
func checkSupported(c Constraint) {
	deep := c.Level > LevelRank
	switch {
	case deep && (c.From.rankWide() || c.To.rankWide()):
		panic("BUG: dram: a rule below the rank names a command for the whole rank")
	case c.Kind == Sibling && (c.Level != LevelRank || c.To.rankWide()):
		panic("BUG: dram: a sibling rule is not at the rank, or for a whole one")
	case c.Kind == FourthBack && (deep || c.From != ACT || c.To.rankWide()):
		panic("BUG: dram: a window rule is below the rank, not after ACT or for a whole rank")
	}
}

// stronger adds c to the list, keeping the strictest update per level and following command.
func stronger(list []update, c Constraint) []update {
	for i, u := range list {
		if u.level == c.Level && u.to == c.To {
			list[i].clocks = max(u.clocks, uint32(c.Clocks))
			return list
		}
	}
	return append(list, update{uint32(c.Clocks), c.Level, c.To})
}

// undominated drops updates that are implied by one of an enclosing node.
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

// node is the state of the channel or of a rank.
type node struct {
	ready readyClocks
	last  [numCommands]uint64 // by command: the clock after its last issue
	acts  actWindow
}

// bankState is the state of a channel's DRAM: the open rows, and the clocks from which each node of the hierarchy
// allows each command.
type bankState struct {
	rules   *timingTable
	channel node
	ranks   []rank
	groups  []readyClocks
	banks   []bank
}

// rank is the state of a rank.
type rank struct {
	node
	banks     []bank
	open      int    // number of banks with an open row
	claimed   int    // number of claimed banks
	refreshed uint64 // clock at which its last refresh ends
}

// bank is the state of a bank.
type bank struct {
	nodes   [numLevels]*readyClocks // channel, rank, bank group, bank: they delay its commands
	ready   readyClocks             // of the bank itself
	rank    *rank
	row     uint32 // the open row, or closedRow
	index   uint16
	claimed bool              // the controller has opened the row for a request that still waits for its RD or WR
	queued  [numQueues]uint16 // number of the controller's requests, by queue
}

// actWindow holds the clocks of the last ACTs of a node.
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
		b.nodes = [numLevels]*readyClocks{&st.channel.ready, &r.ready, &st.groups[i/s.Banks], &b.ready}
	}
	return st
}

// readyAt returns the first clock at which the timing rules allow a command to the bank. It never decreases.
func (b *bank) readyAt(cmd Command) uint64 {
	cmd &= numCommands - 1
	at := max(b.nodes[LevelChannel][cmd], b.nodes[LevelRank][cmd])
	return max(at, b.nodes[LevelBankGroup][cmd], b.nodes[LevelBank][cmd])
}

// rankReadyAt is readyAt for a command to a whole rank.
func (s *bankState) rankReadyAt(cmd Command, r *rank) (at uint64) {
	nodes := [rankLevels]*node{&s.channel, &r.node}
	for _, a := range s.rules.asked[cmd] {
		if after := nodes[a.level].last[a.from]; after > 0 {
			at = max(at, after-1+uint64(a.clocks))
		}
	}
	return at
}

// issue books a command at clock now and applies its timing rules. A command to a whole rank names any bank of it.
func (s *bankState) issue(cmd Command, b *bank, row uint32, now uint64) {
	cmd &= numCommands - 1
	s.channel.last[cmd], b.rank.last[cmd] = now+1, now+1
	for _, u := range s.rules.pair[cmd] {
		b.nodes[u.level&(numLevels-1)].delay(u.to, now+uint64(u.clocks))
	}
	if after := s.rules.sibling[cmd]; len(after) > 0 {
		s.bookSiblings(after, b.rank, now)
	}
	if cmd != RD && cmd != WR {
		s.changeRows(cmd, b, row, now)
	}
}

// changeRows opens or closes the rows that cmd affects.
func (s *bankState) changeRows(cmd Command, b *bank, row uint32, now uint64) {
	switch cmd {
	case ACT:
		s.channel.activated(s.rules.fourth[LevelChannel], now)
		b.rank.activated(s.rules.fourth[LevelRank], now)
		b.row = row
		b.rank.open++
	case REF:
		b.rank.refreshed = b.rank.ready[ACT]
	case PREA:
		for i := range b.rank.banks {
			b.rank.banks[i].close()
		}
	default:
		b.close()
	}
}

func (b *bank) close() {
	if b.row != closedRow {
		b.row = closedRow
		b.rank.open--
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
		r.delay(u.to, from+uint64(u.clocks))
	}
}

// activated applies the rules that count from the fourth last ACT.
func (n *node) activated(after []update, now uint64) {
	if len(after) == 0 {
		return
	}
	w := &n.acts
	w.clocks[w.count%window] = now
	w.count++
	if w.count >= window {
		n.ready.apply(after, w.clocks[w.count%window])
	}
}
