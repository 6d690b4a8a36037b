package dram

// Stats counts what a channel did. Clocks are DRAM clocks.
type Stats struct {
	Reads      uint64 // accepted
	Writes     uint64 // accepted
	ReadsFull  uint64 // refused offers of reads
	WritesFull uint64 // refused offers of writes
	Forwarded  uint64 // reads answered from the write queue
	Merged     uint64 // writes dropped into a queued write of their line

	RowHits      uint64 // requests whose first command was RD or WR
	RowMisses    uint64 // … ACT: the bank was closed
	RowConflicts uint64 // … PRE: another row was open

	Commands [numCommands]uint64 // issued, by Command

	DataBusClocks uint64 // clocks of data on a bus; HBM has a bus per rank
	Drains        uint64 // switches to serving writes while reads wait

	ReadLatency  uint64 // sum over reads with a RD: arrival to last data beat
	WriteLatency uint64 // sum over writes with a WR: arrival to last data beat

	ReadQueueClocks  uint64 // sum over clocks of queued reads
	WriteQueueClocks uint64 // sum over clocks of queued writes
	ActiveClocks     uint64 // sum over clocks of requests between ACT and RD or WR
}

// RowHitRate is the share of column commands without an ACT of their own.
func (s Stats) RowHitRate() float64 {
	column := s.Commands[RD] + s.Commands[WR] + s.Commands[RDA] + s.Commands[WRA]
	if column == 0 {
		return 0
	}
	return 1 - float64(s.Commands[ACT])/float64(column)
}

// settle adds the queue lengths of the clocks since the last call. It is called
// before a length changes, so skipped clocks count as well.
func (c *Channel) settle(now uint64) {
	clocks := now - c.settled
	c.settled = now
	c.stats.ReadQueueClocks += clocks * uint64(c.reads.len())
	c.stats.WriteQueueClocks += clocks * uint64(c.writes.len())
	c.stats.ActiveClocks += clocks * uint64(c.active.len())
}

// Stats returns the counts up to clock now.
func (c *Channel) Stats(now uint64) Stats {
	c.settle(now)
	return c.stats
}
