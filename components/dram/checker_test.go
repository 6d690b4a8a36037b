package dram

import "fmt"

// checker validates a channel's command log from the datasheet's parameters. It
// knows neither the rule tables nor the controller.
type checker struct {
	spec     Spec
	t        Timing
	actDelay int // HBM2: an ACT happens in its second clock
	perRank  int // banks

	lastColumnBus, lastRowBus int
	banks                     []checkedBank
	ranks                     []checkedRank
	bursts                    []burst // last of each data bus
	columns                   []checkedColumn
}

type checkedBank struct {
	open                bool
	row                 uint32
	act, opened         int // ACT, and when the row is open from
	lastRead, lastWrite int
	closedFrom          int // start of the precharge
}

type checkedRank struct {
	acts    []int // clocks of the last four
	groups  []int // bank groups of these
	refresh int
}

type checkedColumn struct {
	rank, group, clock int
	write              bool
}

// burst is the data of one column command.
type burst struct{ rank, start, end int }

// long ago, before any command.
const ages = -1 << 30

func newChecker(s Spec) *checker {
	c := &checker{spec: s, t: s.Timing, perRank: s.BankGroups * s.Banks, lastColumnBus: ages, lastRowBus: ages}
	if s.Standard == HBM2 || s.Standard == HBM3 {
		c.actDelay = 1
	}
	for range s.Ranks * c.perRank {
		c.banks = append(c.banks, checkedBank{act: ages, opened: ages, lastRead: ages, lastWrite: ages,
			closedFrom: ages})
	}
	for range s.Ranks {
		c.ranks = append(c.ranks, checkedRank{refresh: ages})
		c.bursts = append(c.bursts, burst{start: ages, end: ages})
	}
	return c
}

// check returns an error if the next command of the log is illegal.
func (c *checker) check(i Issue) error {
	at := int(i.Clock)
	bank := (i.Rank*c.spec.BankGroups+i.BankGroup)*c.spec.Banks + i.Bank
	problem := c.commandBus(i.Command, at)
	if problem == "" {
		switch i.Command {
		case ACT:
			problem = c.act(i, bank, at)
		case PRE:
			problem = c.pre(bank, at)
		case PREA:
			problem = c.prea(i.Rank, at)
		case REF:
			problem = c.ref(i.Rank, at)
		default:
			problem = c.column(i, bank, at)
		}
	}
	if problem == "" {
		return nil
	}
	return fmt.Errorf("%s at %d rank %d group %d bank %d row %d: %s", i.Command, at, i.Rank, i.BankGroup, i.Bank, i.Row,
		problem)
}

func (c *checker) commandBus(cmd Command, at int) string {
	column := cmd == RD || cmd == WR || cmd == RDA || cmd == WRA
	shared := c.spec.CommandBus == SingleBus
	switch {
	case (column || shared) && at <= c.lastColumnBus, (!column || shared) && at <= c.lastRowBus:
		return "command bus is taken"
	}
	if column {
		c.lastColumnBus = at
	} else {
		c.lastRowBus = at
		if cmd == ACT && c.actDelay > 0 {
			c.lastRowBus = at + 1
		}
	}
	return ""
}

// first returns the first problem.
func first(problems ...string) string {
	for _, p := range problems {
		if p != "" {
			return p
		}
	}
	return ""
}

func unless(ok bool, problem string) string {
	if ok {
		return ""
	}
	return problem
}

func (c *checker) act(i Issue, bank, at int) string {
	b, r, open := &c.banks[bank], &c.ranks[i.Rank], at+c.actDelay
	problem := first(
		unless(!b.open, "bank is open"),
		unless(open >= b.closedFrom+c.t.RP, "tRP"),
		unless(at >= b.act+c.t.RC, "tRC"),
		unless(open >= r.refresh+c.t.RFC, "tRFC"),
		unless(len(r.acts) < 4 || at >= r.acts[len(r.acts)-4]+c.t.FAW, "tFAW"),
	)
	for k, earlier := range r.acts {
		gap := c.t.RRDS
		if r.groups[k] == i.BankGroup {
			gap = c.t.RRDL
		}
		problem = first(problem, unless(at >= earlier+gap, "tRRD"))
	}
	b.open, b.row, b.act, b.opened = true, i.Row, at, open
	r.acts, r.groups = append(r.acts, at), append(r.groups, i.BankGroup)
	if len(r.acts) > 8 {
		r.acts, r.groups = r.acts[1:], r.groups[1:]
	}
	return problem
}

// readToPre is tRTP; HBM's of the same bank.
func (c *checker) readToPre() int { return c.t.RTP + c.t.RTPL }

func (c *checker) writeToPre() int { return c.t.CWL + c.t.BL + c.t.WR }

func (c *checker) pre(bank, at int) string {
	b := &c.banks[bank]
	problem := first(
		unless(b.open, "bank is closed"),
		unless(at >= b.opened+c.t.RAS, "tRAS"),
		unless(at >= b.lastRead+c.readToPre(), "tRTP"),
		unless(at >= b.lastWrite+c.writeToPre(), "tWR"),
	)
	b.open, b.closedFrom = false, at
	return problem
}

func (c *checker) prea(rank, at int) string {
	problem := ""
	for bank := rank * c.perRank; bank < (rank+1)*c.perRank; bank++ {
		if c.banks[bank].open {
			problem = first(problem, c.pre(bank, at))
		}
	}
	return problem
}

func (c *checker) ref(rank, at int) string {
	problem := unless(at >= c.ranks[rank].refresh+c.t.RFC, "tRFC")
	for bank := rank * c.perRank; bank < (rank+1)*c.perRank; bank++ {
		b := &c.banks[bank]
		problem = first(problem, unless(!b.open, "a bank is open"), unless(at >= b.closedFrom+c.t.RP, "tRP"))
	}
	c.ranks[rank].refresh = at
	return problem
}

func (c *checker) column(i Issue, bank, at int) string {
	b, write := &c.banks[bank], i.Command == WR || i.Command == WRA
	toColumn, toData := c.t.RCD+c.t.RCDRD, c.t.CL
	if write {
		toColumn, toData = c.t.RCD+c.t.RCDWR, c.t.CWL
	}
	problem := first(
		unless(b.open && b.row == i.Row, "row is not open"),
		unless(at >= b.opened+toColumn, "tRCD"),
		c.columnGaps(i, at, write),
		c.dataBus(i.Rank, at+toData),
	)
	if write {
		b.lastWrite = at
	} else {
		b.lastRead = at
	}
	switch i.Command {
	case RDA:
		b.open, b.closedFrom = false, at+c.readToPre()
	case WRA:
		b.open, b.closedFrom = false, at+c.writeToPre()
	}
	return problem
}

// columnGaps checks tCCD, tWTR and the read-to-write turnaround within a rank.
func (c *checker) columnGaps(i Issue, at int, write bool) string {
	problem := ""
	for _, e := range c.columns {
		if e.rank != i.Rank {
			continue
		}
		ccd, wtr := c.t.CCDS, c.t.WTRS
		if e.group == i.BankGroup {
			ccd, wtr = c.t.CCDL, c.t.WTRL
		}
		if e.write == write {
			problem = first(problem, unless(at >= e.clock+ccd, "tCCD"))
		}
		if e.write && !write {
			problem = first(problem, unless(at >= e.clock+c.t.CWL+c.t.BL+wtr, "tWTR"))
		}
	}
	c.columns = append(c.columns, checkedColumn{i.Rank, i.BankGroup, at, write})
	if len(c.columns) > 32 {
		c.columns = c.columns[1:]
	}
	return problem
}

// dataBus checks that bursts do not overlap, and the gap between ranks. In HBM
// each pseudo channel has a bus.
func (c *checker) dataBus(rank, start int) string {
	bus := 0
	if c.spec.Standard.pseudoChannels() {
		bus = rank
	}
	last := c.bursts[bus]
	gap := 0
	if last.rank != rank {
		gap = c.t.CS
	}
	problem := unless(start >= last.end+gap || start+c.t.BL+gap <= last.start, "bursts overlap")
	c.bursts[bus] = burst{rank, start, start + c.t.BL}
	return problem
}
