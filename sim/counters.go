package sim

import (
	"heddle/components/cache"
	"heddle/components/dram"
	"heddle/isa"
)

// Counters is which of Vortex's classes of performance counters a program reads (the register MPM_CLASS, which its host
// writes).
type Counters uint8

// The classes.
const (
	NoCounters Counters = iota
	CoreCounters
	MemoryCounters
	numCounterClasses
)

// CounterClasses are their names.
var CounterClasses = [numCounterClasses]string{NoCounters: "none", CoreCounters: "core", MemoryCounters: "mem"}

// counter is a performance counter of Vortex's, by its name in VX_types.vh as of 2025-10, where counters follow each
// other from mhpmcounter3 on.
type counter struct {
	name string
	of   func(m *Machine, n int) uint64 // core n's value; nil: heddle counts nothing of the kind, and it reads 0
}

// vortexCounters are those of each class.
var vortexCounters = [numCounterClasses][]counter{
	CoreCounters: {
		{"SCHED_ID", func(m *Machine, n int) uint64 { s := m.Cores[n].Counts(); return s.SchedIdle.Count() }},
		{"SCHED_ST", nil},
		{"IBUF_ST", func(m *Machine, n int) uint64 { s := m.Cores[n].Counts(); return s.IBufFull.Count() }},
		{"SCRB_ST", func(m *Machine, n int) uint64 { s := m.Cores[n].Counts(); return s.Scheduler.Registers() }},
		{"SCRB_ALU", board(isa.ALU)}, {"SCRB_FPU", board(isa.FPU)}, {"SCRB_LSU", board(isa.LSU)}, {"SCRB_SFU", board(isa.SFU)},
		{"SCRB_WCTL", nil}, {"SCRB_CSRS", nil},
		{"OPDS_ST", func(m *Machine, n int) uint64 { return m.Cores[n].Counts().Operands }},
		{"IFETCHES", func(m *Machine, n int) uint64 { return m.Cores[n].Counts().Scheduled }},
		{"LOADS", nil}, {"STORES", nil}, {"IFETCH_LT", nil}, {"LOAD_LT", nil},
	},
	MemoryCounters: {
		{"ICACHE_READS", level(icache, reads)}, {"ICACHE_MISS_R", level(icache, readMisses)}, {"ICACHE_MSHR_ST", level(icache, mshrFull)},
		{"DCACHE_READS", level(dcache, reads)}, {"DCACHE_WRITES", level(dcache, writes)}, {"DCACHE_MISS_R", level(dcache, readMisses)},
		{"DCACHE_MISS_W", level(dcache, writeMisses)}, {"DCACHE_BANK_ST", level(dcache, bankConflicts)}, {"DCACHE_MSHR_ST", level(dcache, mshrFull)},
		{"L2CACHE_READS", level(l2, reads)}, {"L2CACHE_WRITES", level(l2, writes)}, {"L2CACHE_MISS_R", level(l2, readMisses)},
		{"L2CACHE_MISS_W", level(l2, writeMisses)}, {"L2CACHE_BANK_ST", level(l2, bankConflicts)}, {"L2CACHE_MSHR_ST", level(l2, mshrFull)},
		{"L3CACHE_READS", level(l3, reads)}, {"L3CACHE_WRITES", level(l3, writes)}, {"L3CACHE_MISS_R", level(l3, readMisses)},
		{"L3CACHE_MISS_W", level(l3, writeMisses)}, {"L3CACHE_BANK_ST", level(l3, bankConflicts)}, {"L3CACHE_MSHR_ST", level(l3, mshrFull)},
		{"MEM_READS", channels(func(s *dram.Stats) uint64 { return s.Reads })}, {"MEM_WRITES", channels(func(s *dram.Stats) uint64 { return s.Writes })},
		{"MEM_LT", nil}, {"LMEM_READS", nil}, {"LMEM_WRITES", nil},
		{"LMEM_BANK_ST", func(m *Machine, n int) uint64 { return m.Cores[n].Counts().LocalWaits }},
	},
}

func board(u isa.Unit) func(*Machine, int) uint64 {
	return func(m *Machine, n int) uint64 { s := m.Cores[n].Counts(); return s.Board.Of(u) }
}

// Caches as core n sees them; nil: the machine has none.
func icache(m *Machine, n int) *cache.Cache { return m.Caches[2*(n/m.cfg.CoresPerSocket)] }
func dcache(m *Machine, n int) *cache.Cache { return m.Caches[2*(n/m.cfg.CoresPerSocket)+1] }
func l2(m *Machine, _ int) *cache.Cache     { return m.outerCache(m.cfg.L2 != nil, 0) }

func l3(m *Machine, _ int) *cache.Cache {
	behind := 0
	if m.cfg.L2 != nil {
		behind = 1
	}
	return m.outerCache(m.cfg.L3 != nil, behind)
}

func (m *Machine) outerCache(there bool, i int) *cache.Cache {
	if !there {
		return nil
	}
	return m.Caches[2*m.cfg.Sockets+i]
}

func reads(s *cache.Stats) uint64         { return s.Reads }
func writes(s *cache.Stats) uint64        { return s.Writes }
func readMisses(s *cache.Stats) uint64    { return s.ReadMisses }
func writeMisses(s *cache.Stats) uint64   { return s.WriteMisses }
func bankConflicts(s *cache.Stats) uint64 { return s.BankConflicts }
func mshrFull(s *cache.Stats) uint64      { return s.MSHRFull.Count() }

// level is a counter of a cache.
func level(at func(*Machine, int) *cache.Cache, what func(*cache.Stats) uint64) func(*Machine, int) uint64 {
	return func(m *Machine, n int) uint64 {
		c := at(m, n)
		if c == nil {
			return 0
		}
		s := c.Counts()
		return what(&s)
	}
}

// channels is a counter of the memory's channels.
func channels(what func(*dram.Stats) uint64) func(*Machine, int) uint64 {
	return func(m *Machine, _ int) (sum uint64) {
		for _, s := range m.Memory.Stats() {
			sum += what(&s)
		}
		return sum
	}
}

// provide makes programs read the counters of a class. Counts of units behind the sockets change on other goroutines
// than the cores', if there are several: such programs are simulated by one.
func (m *Machine) provide(class Counters) {
	if class == MemoryCounters {
		m.System.Alone()
	}
	of := vortexCounters[class]
	for n := range m.Cores {
		m.Arch.Core(n).SetCounters(func(i int) uint64 {
			if i >= len(of) || of[i].of == nil {
				return 0
			}
			return of[i].of(m, n)
		})
	}
}
