package dram

import (
	"strings"

	"heddle/components/count"
)

// Stats are the counters of a channel. Clocks are DRAM clocks.
type Stats struct {
	Reads      uint64 `stat:"reads" unit:"requests" doc:"Reads accepted."`
	Writes     uint64 `stat:"writes" unit:"requests" doc:"Writes accepted."`
	ReadsFull  uint64 `stat:"stall.read_queue" unit:"offers" doc:"Reads refused because the queue was full; an offer counts every time."`
	WritesFull uint64 `stat:"stall.write_queue" unit:"offers" doc:"Writes refused because the queue was full; an offer counts every time."`
	Forwarded  uint64 `stat:"forwarded" unit:"requests" doc:"Reads answered from the write queue."`
	Merged     uint64 `stat:"merged" unit:"requests" doc:"Writes dropped into a queued write of their line."`

	RowHits      uint64 `stat:"row_hits" unit:"requests" doc:"Requests whose first command was RD or WR."`
	RowMisses    uint64 `stat:"row_misses" unit:"requests" doc:"Requests whose first command was ACT: the bank was closed."`
	RowConflicts uint64 `stat:"row_conflicts" unit:"requests" doc:"Requests whose first command was PRE: another row was open."`

	Commands Commands `stat:"commands" unit:"commands" doc:"Commands issued."`

	DataBusClocks uint64 `stat:"data_bus_clocks" unit:"DRAM clocks" doc:"Data on a bus; HBM has a bus per rank."`
	Drains        uint64 `stat:"drains" unit:"switches" doc:"Switches to serving writes while reads waited."`

	ReadLatency  uint64 `stat:"read_latency" unit:"DRAM clocks" doc:"Sum over reads with a RD: arrival to last data beat."`
	WriteLatency uint64 `stat:"write_latency" unit:"DRAM clocks" doc:"Sum over writes with a WR: arrival to last data beat."`

	ReadQueueClocks  uint64 `stat:"read_queue" unit:"request-clocks" doc:"Queued reads, summed over DRAM clocks."`
	WriteQueueClocks uint64 `stat:"write_queue" unit:"request-clocks" doc:"Queued writes, summed over DRAM clocks."`
	ActiveClocks     uint64 `stat:"active" unit:"request-clocks" doc:"Requests between ACT and RD or WR, summed over DRAM clocks."`

	OpenRanks count.Level `stat:"open_ranks" unit:"rank-clocks" doc:"Ranks (HBM: pseudo channels) with an open row, summed over DRAM clocks: in active standby."`
}

// Commands counts commands.
type Commands [numCommands]uint64

// Describe returns the name and the description of a command's count.
func (*Commands) Describe(i int) (name, doc string) {
	c := Command(i).String()
	return strings.ToLower(c), c + " commands issued."
}

// RowHitRate returns the share of column commands without an ACT of their own.
func (s Stats) RowHitRate() float64 {
	column := s.Columns()
	if column == 0 {
		return 0
	}
	return 1 - float64(s.Commands[ACT])/float64(column)
}

// Stats returns the counts up to clock now.
func (c *Channel) Stats(now uint64) Stats {
	c.counted.Settle(now)
	s := c.stats
	s.ReadQueueClocks = c.reads.requestClocks(now)
	s.WriteQueueClocks = c.writes.requestClocks(now)
	s.ActiveClocks = c.active.requestClocks(now)
	return s
}

// Columns returns the number of commands that moved data.
func (s *Stats) Columns() uint64 {
	return s.Commands[RD] + s.Commands[WR] + s.Commands[RDA] + s.Commands[WRA]
}
