package cache

// Stats is what a cache, or one of its banks, counts.
type Stats struct {
	Reads       uint64 // accepted by a bank
	Writes      uint64 // accepted by a bank
	ReadHits    uint64
	ReadMisses  uint64
	WriteHits   uint64
	WriteMisses uint64
	Merges      uint64 // read misses that joined an outstanding fill
	Fills       uint64 // lines brought in
	Replays     uint64 // requests that went through the pipeline again, after their fill
	Evictions   uint64 // valid lines that a fill replaced
	Flushes     uint64 // answered, or sent on

	FlushCycles       uint64 // cycles from a flush's arrival until its walk is over
	MSHRFull          uint64 // cycles a bank refused a request for want of an MSHR
	MemoryQueueFull   uint64 // … because its memory queue was almost full
	ResponseQueueFull uint64 // cycles a bank's pipeline stood still
	BankConflicts     uint64 // requests that lost a cycle to another port's at the same bank
}

func (s *Stats) add(o *Stats) {
	s.Reads += o.Reads
	s.Writes += o.Writes
	s.ReadHits += o.ReadHits
	s.ReadMisses += o.ReadMisses
	s.WriteHits += o.WriteHits
	s.WriteMisses += o.WriteMisses
	s.Merges += o.Merges
	s.Fills += o.Fills
	s.Replays += o.Replays
	s.Evictions += o.Evictions
	s.Flushes += o.Flushes
	s.FlushCycles += o.FlushCycles
	s.MSHRFull += o.MSHRFull
	s.MemoryQueueFull += o.MemoryQueueFull
	s.ResponseQueueFull += o.ResponseQueueFull
	s.BankConflicts += o.BankConflicts
}
