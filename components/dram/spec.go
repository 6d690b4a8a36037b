package dram

import (
	"cmp"
	"fmt"
	"math/bits"

	"heddle/internal/enum"
)

// Spec holds the parameters of a DRAM. Clocks are DRAM command clocks of TCKps. The values of a part are in presets.go
// with their source.
type Spec struct {
	// Preset names the source of the values; every result contains it.
	Preset string
	// Standard selects the table of timing rules (standards.go).
	Standard Standard
	// TCKps is the command clock's period, ps. 1..1_000_000. Only the component around the channel uses it.
	TCKps int

	// Channels is the number of independent channels, each with a controller. 1..1024; a power of two if the mapping
	// puts them above other parts of a location.
	Channels int
	// Ranks is the number of ranks, in HBM of pseudo channels, of a channel. A
	// power of two, 1..16; GDDR has 1.
	Ranks int
	// BankGroups of a rank. A power of two, 1..64.
	BankGroups int
	// Banks of a bank group. A power of two, 1..64.
	Banks int
	// Rows of a bank. A power of two, 1..2^24.
	Rows int
	// Columns is the number of lines in a row. A power of two, 1..2^16.
	Columns int
	// LineBytes is the size of one RD or WR. A power of two, 1..1024. Only the
	// component uses it: requests carry line numbers.
	LineBytes int
	// Mapping is the split of a line number into a location.
	Mapping Mapping
	// Interleave is the bytes of consecutive addresses that one channel has in one row, a power of two: 0 (a line)..a
	// row. More than a line needs a mapping whose lowest bits are the channel's.
	Interleave int

	// PagePolicy selects whether rows stay open. Default: open.
	PagePolicy PagePolicy
	// Scheduler orders requests. Default: frfcfs.
	Scheduler Scheduler
	// CommandBus is single, or split into a row and a column bus (HBM).
	CommandBus CommandBus
	// ReadQueue and WriteQueue are queue entries of a channel. 1..4096.
	// Ramulator 2.1: 32; 2.0 holds 33 in its queues "of 32".
	ReadQueue, WriteQueue int
	// DrainHigh starts serving writes at this many queued ones, though reads
	// wait. DrainLow < DrainHigh <= WriteQueue. Ramulator 2: 26 (0.8 · 32).
	DrainHigh int
	// DrainLow stops it when this many or fewer are left and a read waits.
	// 0.. . Ramulator 2: 6 (0.2 · 32).
	DrainLow int
	// MergeWrites drops a write whose line is already in the write queue, as
	// Ramulator 2.1 does and 2.0 does not.
	MergeWrites bool
	// StallOnBlockedPrecharge issues nothing in a clock whose oldest ready
	// command is a PRE that the active list forbids, as Ramulator 2.0 does; 2.1
	// looks further. Default: false.
	StallOnBlockedPrecharge bool
	// OneReadAClock answers one read per clock, in order, as Ramulator 2.0 does (serve_completed_reads of its
	// generic_dram_controller.cpp): a read that is answered from the write queue after others delays later reads. 2.1
	// answers all reads that are due. Default: false.
	OneReadAClock bool
	// Refresh issues an all-bank refresh to every rank each REFI clocks.
	// Default: true in every preset but the Ramulator 2.0 flavour of HBM2.
	Refresh bool

	// Timing holds the parameters which the standard's rules name, in clocks.
	Timing Timing

	// IdealLatency (ideal only) is the clocks from a request's arrival to its
	// completion. 1..1_000_000.
	IdealLatency int
	// IdealInterval (ideal only) is the clocks from one completion of a channel
	// to the next. 0 (no limit)..1_000_000.
	IdealInterval int
}

// Timing holds JEDEC timing parameters in clocks, 0..1_000_000: the field X is the symbol nX of the rules. A parameter
// that the standard's rules do not use must be 0.
type Timing struct {
	BL           int // burst: clocks of data bus of one RD or WR
	CL, CWL      int // RD to first data; WR to first data
	RCD          int // ACT to RD or WR
	RCDRD, RCDWR int // ACT to RD; ACT to WR, where they differ
	RP, RAS, RC  int // PRE to ACT; ACT to PRE; ACT to ACT of one bank
	RTP          int // RD to PRE
	RTPS, RTPL   int // RD to PRE, other and same bank group (HBM)
	WR           int // end of write data to PRE
	CCDS, CCDL   int // column to column command, other and same bank group
	RRDS, RRDL   int // ACT to ACT, other and same bank group
	FAW          int // any five ACTs of a rank span more than this
	WTRS, WTRL   int // end of write data to RD, other and same bank group
	CS           int // gap of the data bus between two ranks
	PPD          int // PRE to PRE
	RFC, REFI    int // REF to ACT; refresh interval
}

// Standard names a table of timing rules.
type Standard uint8

// The standards; HBM2R20 is HBM2 as implemented by Ramulator 2.0.
const (
	HBM2 Standard = iota
	HBM2R20
	HBM3
	DDR4
	GDDR6
	GDDR5
	Ideal
)

// PagePolicy determines whether a row is closed after a column access.
type PagePolicy uint8

// OpenPage leaves rows open until a conflict or a refresh. ClosedPage
// precharges with the last queued access to a row (RDA, WRA).
const (
	OpenPage PagePolicy = iota
	ClosedPage
)

// Scheduler orders the requests of a queue.
type Scheduler uint8

// FRFCFS takes the oldest request whose next command is ready. FRFCFSRowHit does the same, but lets no PRE precede
// requests to the row it closes that arrived no later, like Ramulator 2.1's row-hit scheduler. RowHitFirst lets no PRE
// precede any request to that row, so that hits can starve a conflict. FCFS considers only the oldest request of a
// queue, and moves data in order of arrival: while an older request waits for its RD or WR, the oldest of the queue may
// at most open its row.
const (
	FRFCFS Scheduler = iota
	FRFCFSRowHit
	RowHitFirst
	FCFS
)

// CommandBus determines the number of commands per clock.
type CommandBus uint8

// SingleBus carries one command per clock, SplitBus one column and one row command.
const (
	SingleBus CommandBus = iota
	SplitBus
)

// maxBuses is the largest number of command buses of a channel.
const maxBuses = 2

// busTable maps each command to its bus.
type busTable [numCommands]uint8

// table returns the buses: one, or column and row.
func (b CommandBus) table() busTable {
	var t busTable
	if b == SplitBus {
		t[ACT], t[PRE], t[PREA], t[REF] = 1, 1, 1, 1
	}
	return t
}

var (
	standards    = enum.Of[Standard]("dram standard", "hbm2", "hbm2-r20", "hbm3", "ddr4", "gddr6", "gddr5", "ideal")
	pagePolicies = enum.Of[PagePolicy]("dram page_policy", "open", "closed")
	schedulers   = enum.Of[Scheduler]("dram scheduler", "frfcfs", "frfcfs-rowhit", "row-hit-first", "fcfs")
	commandBuses = enum.Of[CommandBus]("dram command_bus", "single", "split")
)

func (s Standard) String() string   { return standards.Name(s) }
func (p PagePolicy) String() string { return pagePolicies.Name(p) }
func (s Scheduler) String() string  { return schedulers.Name(s) }
func (b CommandBus) String() string { return commandBuses.Name(b) }

// MarshalText writes the name that a configuration uses.
func (s Standard) MarshalText() ([]byte, error) { return standards.Marshal(s) }

// MarshalText writes the name that a configuration uses.
func (p PagePolicy) MarshalText() ([]byte, error) { return pagePolicies.Marshal(p) }

// MarshalText writes the name that a configuration uses.
func (s Scheduler) MarshalText() ([]byte, error) { return schedulers.Marshal(s) }

// MarshalText writes the name that a configuration uses.
func (b CommandBus) MarshalText() ([]byte, error) { return commandBuses.Marshal(b) }

// UnmarshalText reads the name that a configuration uses.
func (s *Standard) UnmarshalText(text []byte) error { return standards.Unmarshal(text, s) }

// UnmarshalText reads the name that a configuration uses.
func (p *PagePolicy) UnmarshalText(text []byte) error { return pagePolicies.Unmarshal(text, p) }

// UnmarshalText reads the name that a configuration uses.
func (s *Scheduler) UnmarshalText(text []byte) error { return schedulers.Unmarshal(text, s) }

// UnmarshalText reads the name that a configuration uses.
func (b *CommandBus) UnmarshalText(text []byte) error { return commandBuses.Unmarshal(text, b) }

const (
	maxClocks = 1_000_000
	maxQueue  = 4096
)

// Validate returns an error that names the first invalid field as configurations spell it.
func (s Spec) Validate() error {
	for _, v := range s.ranges() {
		if v.value < v.min || v.value > v.max {
			return fmt.Errorf("dram %s = %d: expected %d..%d", v.field, v.value, v.min, v.max)
		}
		if v.pow2 && bits.OnesCount(uint(v.value)) != 1 {
			return fmt.Errorf("dram %s = %d: expected a power of two", v.field, v.value)
		}
	}
	if err := cmp.Or(standards.Check(s.Standard), mappings.Check(s.Mapping), pagePolicies.Check(s.PagePolicy),
		schedulers.Check(s.Scheduler), commandBuses.Check(s.CommandBus)); err != nil {
		return err
	}
	if err := s.validateInterleave(); err != nil {
		return err
	}
	if s.Standard == Ideal {
		return s.validateIdeal()
	}
	return s.validateTimed()
}

func (s *Spec) validateInterleave() error {
	n, row := s.Interleave, s.Columns*s.LineBytes
	switch {
	case n == 0 || n == s.LineBytes:
		return nil
	case n < s.LineBytes || n > row || bits.OnesCount(uint(n)) != 1:
		return fmt.Errorf("dram interleave = %d: expected 0 or a power of two from %d, an access, to %d, a row", n,
			s.LineBytes, row)
	case !s.Mapping.channelsLowest():
		return fmt.Errorf("dram interleave = %d: with mapping %s, which keeps a region in a channel: expected 0", n,
			s.Mapping)
	}
	return nil
}

type fieldRange struct {
	field           string
	value, min, max int
	pow2            bool
}

func (s Spec) ranges() []fieldRange {
	return []fieldRange{
		{field: "tck_ps", value: s.TCKps, min: 1, max: maxClocks},
		{field: "channels", value: s.Channels, min: 1, max: 1024, pow2: !s.Mapping.channelsLowest()},
		{field: "ranks", value: s.Ranks, min: 1, max: 16, pow2: true},
		{field: "bank_groups", value: s.BankGroups, min: 1, max: 64, pow2: true},
		{field: "banks", value: s.Banks, min: 1, max: 64, pow2: true},
		{field: "rows", value: s.Rows, min: 1, max: 1 << 24, pow2: true},
		{field: "columns", value: s.Columns, min: 1, max: 1 << 16, pow2: true},
		{field: "line_bytes", value: s.LineBytes, min: 1, max: 1024, pow2: true},
		{field: "read_queue", value: s.ReadQueue, min: 1, max: maxQueue},
		{field: "write_queue", value: s.WriteQueue, min: 1, max: maxQueue},
	}
}

func (s Spec) validateIdeal() error {
	if s.IdealLatency < 1 || s.IdealLatency > maxClocks {
		return fmt.Errorf("dram ideal_latency = %d: expected 1..%d", s.IdealLatency, maxClocks)
	}
	if s.IdealInterval < 0 || s.IdealInterval > maxClocks {
		return fmt.Errorf("dram ideal_interval = %d: expected 0..%d", s.IdealInterval, maxClocks)
	}
	if s.Timing != (Timing{}) || s.Refresh {
		return fmt.Errorf("dram standard ideal has no timing parameters and no refresh")
	}
	return nil
}

func (s Spec) validateTimed() error {
	if s.DrainHigh < 1 || s.DrainHigh > s.WriteQueue {
		return fmt.Errorf("dram drain_high = %d: expected 1..%d, the write queue", s.DrainHigh, s.WriteQueue)
	}
	if s.DrainLow < 0 || s.DrainLow >= s.DrainHigh {
		return fmt.Errorf("dram drain_low = %d: expected 0..%d, below drain_high", s.DrainLow, s.DrainHigh-1)
	}
	if s.IdealLatency != 0 || s.IdealInterval != 0 {
		return fmt.Errorf("dram ideal_latency, ideal_interval: not used by standard %s", s.Standard)
	}
	if s.Ranks > 1 && (s.Standard == GDDR5 || s.Standard == GDDR6) {
		return fmt.Errorf("dram ranks = %d: standard %s has 1", s.Ranks, s.Standard)
	}
	if err := s.validateTiming(); err != nil {
		return err
	}
	if t := s.Timing; s.Refresh && t.REFI <= s.Ranks*(t.RFC+t.RP) {
		return fmt.Errorf("dram timing nREFI = %d: too short to refresh %d ranks of nRFC = %d", t.REFI, s.Ranks, t.RFC)
	}
	return nil
}

// dataBuses returns the number of data buses of a channel: in HBM one for each pseudo channel.
func (s *Spec) dataBuses() uint64 {
	if s.Standard.pseudoChannels() {
		return uint64(s.Ranks)
	}
	return 1
}

// pseudoChannels reports whether the ranks of a channel are pseudo channels, which have a data bus each.
func (s Standard) pseudoChannels() bool { return s == HBM2 || s == HBM2R20 || s == HBM3 }

// PeakBytes returns the capacity of all data buses per clock; 0: unlimited.
func (s Spec) PeakBytes() float64 {
	clocks := s.Timing.BL
	if s.Standard == Ideal {
		clocks = s.IdealInterval
	}
	if clocks == 0 {
		return 0
	}
	return float64(s.Channels) * float64(s.dataBuses()) * float64(s.LineBytes) / float64(clocks)
}
