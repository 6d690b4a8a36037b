package cache

import (
	"cmp"
	"fmt"
	"math/bits"

	"heddle/internal/enum"
)

// Spec holds the user-configurable parameters of a cache. Sources are Vortex's RTL
// (hw/rtl/cache, parameter names in capitals) and its VX_config defaults.
type Spec struct {
	Bytes      int        `key:"bytes" default:"16KiB" min:"64" max:"1GiB" unit:"bytes" doc:"Capacity: banks × ways × sectors × line_bytes × a power of two of sets. RTL: CACHE_SIZE; L1 16 KB, L2 1 MB."`
	Ways       int        `key:"ways" default:"4" min:"1" max:"256" unit:"ways" doc:"Ways of a set. RTL: NUM_WAYS; L1 4, L2 8."`
	LineBytes  int        `key:"line_bytes" default:"64" min:"4" max:"1024" pow2:"true" unit:"bytes" doc:"A line; of the L1s as long as each other's, and of an outer level as long as an inner one's or longer. RTL: LINE_SIZE 64."`
	Banks      int        `key:"banks" default:"1" min:"1" max:"64" unit:"banks"`
	Sectors    int        `key:"sectors" default:"1" min:"1" max:"16" pow2:"true" unit:"lines"`
	BankSelect BankSelect `key:"bank_select" default:"low_bits" oneof:"low_bits,hashed"`
	MSHRs      int        `key:"mshrs" default:"16" min:"1" max:"256" unit:"entries" doc:"MSHRs of a bank: requests between acceptance and either hit or replay; fewer than 4 throttle even hits. RTL: MSHR_SIZE 16."`
	// Ports take requests, one a cycle each. The machine sets it: one for each requester.
	Ports int `key:"-"`
	// Inputs are the inputs that ports share, counted from 0; nil: each has its own. The machine sets them.
	Inputs []uint8 `key:"-"`
	// PriorityInputs has the first of the ports that share an input go first, instead of round robin.
	PriorityInputs bool `key:"-"`

	MemoryPorts int `key:"memory_ports" default:"1" min:"1" max:"64" unit:"ports" doc:"Ports to the next level; bank b uses port b mod memory_ports. RTL: MEM_PORTS."`

	RequestQueue   int  `key:"request_queue" default:"2" min:"1" max:"256" unit:"requests" doc:"Entries of the crossbar's buffer before each bank, which exists, and costs a cycle, with more than 2 requesters only. RTL: REQ_XBAR_BUF."`
	ResponseQueue  int  `key:"response_queue" default:"1" min:"0" max:"256" unit:"responses"`
	MemoryQueue    int  `key:"memory_queue" default:"4" min:"3" max:"256" unit:"requests" doc:"Entries of a bank's queue to memory; 2 of them stay free for what is in the bank's pipeline. RTL: MREQ_SIZE 4."`
	ResponseBuffer bool `key:"response_buffer" default:"false" doc:"A register between banks and requesters: a response takes a cycle more. RTL: CORE_RSP_BUF_ENABLE, with more than one bank or port."`
	MemoryBuffer   bool `key:"memory_buffer" default:"false" doc:"A register between banks and memory ports. RTL: MEM_REQ_BUF_ENABLE, with more than one bank."`
	ReplayDelay    int  `key:"replay_delay" default:"1" min:"1" max:"2" unit:"cycles" doc:"From a fill's acceptance to the first replay's. RTL: 2 with block-RAM tags, 1 since early 2025."`

	Replacement Replacement `key:"replacement" default:"fifo" oneof:"fifo,lru,random" doc:"Which way a fill takes. RTL: CS_REPL_FIFO."`
	Seed        uint64      `key:"seed" default:"0" unit:"" doc:"Seed of random replacement."`

	WriteEnable  bool        `key:"write_enable" default:"true" doc:"Takes writes, as all but an L1I must. RTL: WRITE_ENABLE; L1I false."`
	WritePolicy  WritePolicy `key:"write_policy" default:"through" oneof:"through,back"`
	ResendWrites bool        `key:"resend_writes" default:"false"`
	ForwardFlush bool        `key:"forward_flush" default:"false"`
	Keeps        Keeps       `key:"keeps" default:"all" oneof:"all,read_only,none"`
	SectorPairs  bool        `key:"sector_pairs" default:"false"`
}

// Docs has the long descriptions of keys.
func (Spec) Docs() map[string]string {
	return map[string]string{
		"banks": "Banks work in parallel, each with its own pipeline, tags and MSHRs; of a number that is no " +
			"power of two, a line's is the remainder. RTL: NUM_BANKS; L1I 1, others as many as they have " +
			"requesters, at most 16.",
		"sectors": "Lines that share a way and its tag: neighbours, in one bank. A miss brings one of them, and " +
			"all leave together, so that a line whose neighbours are never asked for takes their room, too. NVIDIA: 4 of " +
			"32 bytes (Nsight Compute, Kernel Profiling Guide). RTL: 1.",
		"bank_select": "How a line's bank is found. hashed: by all bits of its number, so that no stride meets in " +
			"one bank; with a number of banks that is no power of two, the sum of its digits in that " +
			"base. RTL: low_bits.",
		"response_queue": "Entries of a bank's response queue, beyond those of the link behind it, which has two or " +
			"three and alone is the queue at 0. RTL: CRSQ_SIZE 2, and two in the bypass of an L1D or in " +
			"the arbiter behind a shared L1I. With response_buffer, 1 lets an answer pass every other " +
			"cycle.",
		"write_policy": "through: every write goes on to the next level, and none brings a line in. back: a write " +
			"that misses brings its line in, and a line that was written goes to the next level when it " +
			"is replaced or flushed; the walk of a flush then takes a cycle a line instead of a set. RTL: " +
			"WRITEBACK, 0.",
		"resend_writes": "Sends a write to the next level again as it is replayed, when it missed while its line was " +
			"on the way; the replay then waits while the memory queue is almost full. With write_policy " +
			"back nothing. RTL: since early 2025, every level.",
		"forward_flush": "Sends a flush on to the next level after the walk, and answers it when that has answered; " +
			"memory answers as it does to a read, behind the writes before it. RTL: every level.",
		"keeps": "Lines that a fill brings in; requests for others that are under way together still share a fill. " +
			"read_only: arrays that no kernel writes, which are the graph's: no code, nothing of a program of one's own. " +
			"All but all need write_policy through. RTL: all. A Pascal GPU's L1, unless a program is built with " +
			"-dlcm=ca, keeps what is read by __ldg alone (CUDA C++ Programming Guide, compute capability 6.x).",
		"sector_pairs": "A miss whose neighbouring sector has a request in the bank's queue to memory goes along with " +
			"that: one request for both, whose answer takes two cycles of the memory port. A bank takes a sector's " +
			"neighbour next, and memory_buffer leaves that a cycle to come in. Needs sectors, and a next level with " +
			"lines of twice as many bytes. NVIDIA: an A100's L2 gives 64 bytes " +
			"a cycle and slice, two sectors (A100 Tensor Core GPU Architecture, from memory). RTL: false.",
	}
}

// BankSelect says how a line's bank is found.
type BankSelect uint8

// LowBits takes the lowest bits of the line number. Hashed folds all its bits
// together, so that strides of a power of two use all banks; if banks are no power of two, the digits in that base.
const (
	LowBits BankSelect = iota
	Hashed
)

// Replacement says which way of a set a fill goes to.
type Replacement uint8

// FIFO counts the fills of a set and looks at nothing else, not even at whether
// a way is free (RTL). LRU takes a free way or the one unused for longest. Random
// takes a free way or any.
const (
	FIFO Replacement = iota
	LRU
	Random
)

// WritePolicy is the treatment of writes.
type WritePolicy uint8

// Through sends every write on and allocates nothing; Back allocates, and sends lines
// that were written when they leave.
const (
	Through WritePolicy = iota
	Back
)

// Keeps says which lines a fill brings in.
type Keeps uint8

// All keeps every line, ReadOnly those that the machine has been told nobody writes, Nothing none.
const (
	All Keeps = iota
	ReadOnly
	Nothing
)

var (
	keeps         = enum.Of[Keeps]("cache keeps", "all", "read_only", "none")
	bankSelects   = enum.Of[BankSelect]("cache bank_select", "low_bits", "hashed")
	replacements  = enum.Of[Replacement]("cache replacement", "fifo", "lru", "random")
	writePolicies = enum.Of[WritePolicy]("cache write_policy", "through", "back")
)

func (b BankSelect) String() string  { return bankSelects.Name(b) }
func (r Replacement) String() string { return replacements.Name(r) }
func (w WritePolicy) String() string { return writePolicies.Name(w) }
func (k Keeps) String() string       { return keeps.Name(k) }

// MarshalText writes the name that a configuration uses.
func (k Keeps) MarshalText() ([]byte, error) { return keeps.Marshal(k) }

// UnmarshalText reads the name that a configuration uses.
func (k *Keeps) UnmarshalText(text []byte) error { return keeps.Unmarshal(text, k) }

// MarshalText writes the name that a configuration uses.
func (b BankSelect) MarshalText() ([]byte, error) { return bankSelects.Marshal(b) }

// MarshalText writes the name that a configuration uses.
func (r Replacement) MarshalText() ([]byte, error) { return replacements.Marshal(r) }

// MarshalText writes the name that a configuration uses.
func (w WritePolicy) MarshalText() ([]byte, error) { return writePolicies.Marshal(w) }

// UnmarshalText reads the name that a configuration uses.
func (w *WritePolicy) UnmarshalText(text []byte) error { return writePolicies.Unmarshal(text, w) }

// UnmarshalText reads the name that a configuration uses.
func (b *BankSelect) UnmarshalText(text []byte) error { return bankSelects.Unmarshal(text, b) }

// UnmarshalText reads the name that a configuration uses.
func (r *Replacement) UnmarshalText(text []byte) error { return replacements.Unmarshal(text, r) }

// Validate checks the spec; an error names the field as configurations spell it.
func (s Spec) Validate() error {
	for _, v := range []struct {
		field           string
		value, min, max int
		pow2            bool
	}{
		{"bytes", s.Bytes, 64, 1 << 30, false}, {"ways", s.Ways, 1, 256, false},
		{"line_bytes", s.LineBytes, 4, 1024, true}, {"banks", s.Banks, 1, 64, false},
		{"sectors", s.sectors(), 1, 16, true},
		{"mshrs", s.MSHRs, 1, 256, false}, {"ports", s.Ports, 0, MaxPorts, false},
		{"memory_ports", s.MemoryPorts, 1, s.Banks, false}, {"request_queue", s.RequestQueue, 1, 256, false},
		{"response_queue", s.ResponseQueue, 0, 256, false}, {"memory_queue", s.MemoryQueue, 3, 256, false},
		{"replay_delay", s.ReplayDelay, 1, 2, false},
	} {
		if v.value < v.min || v.value > v.max {
			return fmt.Errorf("cache %s = %d: expected %d..%d", v.field, v.value, v.min, v.max)
		}
		if v.pow2 && bits.OnesCount(uint(v.value)) != 1 {
			return fmt.Errorf("cache %s = %d: expected a power of two", v.field, v.value)
		}
	}
	if least := s.setBytes(); s.Bytes < least {
		return fmt.Errorf("cache bytes = %d: expected at least banks × ways × sectors × line_bytes = %d, one set a "+
			"bank", s.Bytes, least)
	}
	if set := s.setBytes(); bits.OnesCount(uint(s.Sets())) != 1 || s.Bytes%set != 0 {
		return fmt.Errorf("cache bytes = %d: expected banks × ways × sectors × line_bytes = %d times a power of two, "+
			"the sets of a bank", s.Bytes, set)
	}
	err := cmp.Or(
		bankSelects.Check(s.BankSelect), replacements.Check(s.Replacement), writePolicies.Check(s.WritePolicy),
		keeps.Check(s.Keeps))
	if err != nil {
		return err
	}
	if s.WritePolicy == Back && !s.WriteEnable {
		return fmt.Errorf("cache write_policy = back: with write_enable = false nothing is written")
	}
	if s.WritePolicy == Back && s.Keeps != All {
		return fmt.Errorf("cache keeps = %s: expected all with write_policy = back, which keeps what is written",
			s.Keeps)
	}
	if s.SectorPairs && s.sectors() == 1 {
		return fmt.Errorf("cache sector_pairs = true: expected sectors of at least 2, which can be asked for together")
	}
	return nil
}

// Fit makes the capacity the largest up to Bytes that banks × ways × sectors × line_bytes can have, or the least,
// memory ports no more than banks, what a cache with write-back keeps all, and pairs of sectors none where there are no
// sectors. It is for who draws specs at random.
func (s *Spec) Fit() {
	sets := max(1, s.Sets())
	s.Bytes = s.setBytes() << (bits.Len(uint(sets)) - 1)
	s.MemoryPorts = min(s.MemoryPorts, s.Banks)
	if s.WritePolicy == Back {
		s.Keeps = All
	}
	s.SectorPairs = s.SectorPairs && s.sectors() > 1
}

// MaxPorts is the most requesters a cache can have.
const MaxPorts = 64

// Sets is the number of sets of a bank.
func (s Spec) Sets() int { return s.Bytes / s.setBytes() }

// setBytes is the capacity of one set of each bank.
func (s *Spec) setBytes() int { return s.Banks * s.Ways * s.sectors() * s.LineBytes }

// sectors is the number of lines of a way. A spec that no configuration has made has one.
func (s *Spec) sectors() int { return max(1, s.Sectors) }

// split is its logarithm.
func (s *Spec) split() int { return bits.TrailingZeros(uint(s.sectors())) }

// InitCycles is how long after reset no request is accepted: every bank
// invalidates a set a cycle.
func (s Spec) InitCycles() int { return s.Sets() }

func (s *Spec) lineShift() int { return bits.TrailingZeros(uint(s.LineBytes)) }

// bankBits is how many bits a bank's number has.
func (s *Spec) bankBits() int { return bits.Len(uint(s.Banks - 1)) }

// bankNames are the names of a cache's banks, with their constant parts computed once.
type bankNames struct {
	bits    uint // of a bank's number
	split   uint // bits of a line's number that tell the sectors of a way apart
	banks   uint32
	hashed  bool   // all of a line's digits decide
	inverse uint64 // of banks; 0: a power of two
}

func (s *Spec) bankNames() bankNames {
	return bankNames{
		bits: uint(s.bankBits()), split: uint(s.split()), banks: uint32(s.Banks),
		hashed: s.BankSelect == Hashed && s.Banks > 1, inverse: s.inverse(),
	}
}

// inverse returns 2^64 over the number of banks, rounded up; 0: that number is a power of two.
func (s *Spec) inverse() uint64 {
	if s.Banks&(s.Banks-1) == 0 {
		return 0
	}
	return ^uint64(0)/uint64(s.Banks) + 1
}

// quotientOf divides by the number of an inverse, exactly (Lemire et al., Software: Practice and Experience 49(6),
// 2019).
func quotientOf(x uint32, inverse uint64) uint32 {
	q, _ := bits.Mul64(inverse, uint64(x))
	return uint32(q)
}

// asker takes apart the tag of a request to memory: the bank that asks, and its MSHR entry.
func (n *bankNames) asker(tag uint32) (bank int, entry int16) {
	shift := n.bits & 31
	return int(tag & (1<<shift - 1)), int16(tag >> shift)
}

// of returns the bank of a line: its lowest digit to the base of the number of banks, or, hashed, the sum of all digits
// without carry (exclusive or, for a power of two). Lines of one bank differ in the digits above the lowest whatever
// the selection, so those choose the set. All sectors of a way are in one bank.
func (n *bankNames) of(line uint32) int {
	line >>= n.split & 31
	if n.inverse != 0 {
		return n.ofMany(line)
	}
	if n.hashed { // each step adds as many digits again to the lowest
		for shift := n.bits; shift < 32; shift *= 2 {
			line ^= line >> shift
		}
	}
	return int(line & (n.banks - 1))
}

// ofMany is of without a power of two of banks.
func (n *bankNames) ofMany(line uint32) int {
	rest, sum := n.divide(line)
	for n.hashed && rest != 0 {
		digit := uint32(0)
		rest, digit = n.divide(rest)
		sum += digit
	}
	_, bank := n.divide(sum)
	return int(bank)
}

func (n *bankNames) divide(x uint32) (quotient, rest uint32) {
	quotient = quotientOf(x, n.inverse)
	return quotient, x - quotient*n.banks
}
