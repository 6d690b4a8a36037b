package sim

import (
	"fmt"
	"strings"

	"heddle/components/accel"
	"heddle/components/cache"
	"heddle/components/core"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/sim/stats"
)

// Statistics returns all counts of the machine: the headline figures, the sums over all cores, over all caches of a
// level and over all DRAM channels, then each unit's.
func (m *Machine) Statistics() stats.Tree {
	if m.tasks != nil {
		return m.taskStats().WithDerived()
	}
	p := m.parts()
	t := p.sums(m).WithDerived()
	for i, c := range p.cores {
		t = append(t, c.Under(fmt.Sprintf("core%d", i))...)
	}
	for i, u := range p.units {
		t = append(t, u.Under(fmt.Sprintf("core%d.%s", i, p.unit))...)
	}
	for i, c := range p.concentrators {
		t = append(t, c.Under(fmt.Sprintf("concentrator%d", i))...)
	}
	t = append(t, p.caches...)
	for i, c := range p.channels {
		t = append(t, c.Under(fmt.Sprintf("dram.ch%d", i))...)
	}
	return t
}

// sums returns the counts that do not belong to single units, including derived statistics.
func (m *Machine) sums() stats.Tree { return m.ownSums().WithDerived() }

// ownSums returns sums without derived statistics.
func (m *Machine) ownSums() stats.Tree {
	if m.tasks != nil {
		return m.taskStats()
	}
	p := m.parts()
	return p.sums(m)
}

// checkDerived returns an error for added statistics that do not fit the machine's.
func (m *Machine) checkDerived() error {
	if len(stats.Added()) == 0 {
		return nil
	}
	return m.ownSums().CheckDerived()
}

// parts are the statistics of all units.
type parts struct {
	cores, units, channels []stats.Tree
	concentrators          []stats.Tree
	unit                   string       // kind of the units
	levels                 []stats.Tree // sums over caches
	caches                 stats.Tree   // each
}

func (m *Machine) parts() (p parts) {
	p.cores, p.channels = m.coreStats(), m.channelStats()
	for _, c := range m.Concentrators {
		s := c.Stats()
		p.concentrators = append(p.concentrators, stats.Walk("", &s))
	}
	p.unit, p.units = m.unitStats()
	p.levels, p.caches = m.cacheStats()
	return p
}

func (p *parts) sums(m *Machine) stats.Tree {
	t := m.headline()
	t = append(t, Instructions(m.Arch.Stats())...)
	t = append(t, stats.Sum("core", p.cores)...)
	t = append(t, stats.Sum(p.unit, p.units)...)
	if m.Control != nil {
		t = append(t, stats.Walk("ctrlproc", m.Control.Statistics())...)
	}
	t = append(t, stats.Sum("concentrator", p.concentrators)...)
	for _, l := range p.levels {
		t = append(t, l...)
	}
	t = append(t, stats.Sum("dram", p.channels)...)
	return append(t, stats.Count("dram.bytes", "bytes", "Bytes moved over the DRAM's data buses.", m.Memory.Bytes()))
}

func (m *Machine) coreStats() (out []stats.Tree) {
	for _, c := range m.Cores {
		s := c.Counts()
		t := stats.Walk("", &s)
		if shared, ok := c.SharedStalls(); ok {
			t = append(t, stats.Walk("", &struct {
				core.SharedStalls `stat:"shared_stalls" unit:"scheduler-cycles"`
			}{shared})...)
		}
		out = append(out, t)
	}
	return out
}

func (m *Machine) channelStats() (out []stats.Tree) {
	for _, s := range m.Memory.Stats() {
		out = append(out, stats.Walk("", &s))
	}
	return out
}

// levelOf returns the name under which a cache's counts are summed: l1d for Socket3.L1D.
func levelOf(c *cache.Cache) string {
	name := strings.ToLower(c.Name())
	return name[strings.LastIndexByte(name, '.')+1:]
}

// cacheStats returns the sum of each level, from the cores outwards, and each cache's
// own where a level has several.
func (m *Machine) cacheStats() (levels []stats.Tree, each stats.Tree) {
	var order []string
	of := map[string][]stats.Tree{}
	for _, c := range m.Caches {
		s, level := c.Stats(), levelOf(c)
		t := stats.Walk("", &s)
		if of[level] == nil {
			order = append(order, level)
		}
		of[level] = append(of[level], t)
		if name := strings.ToLower(c.Name()); name != level {
			each = append(each, t.Under(name)...)
		}
	}
	for _, level := range order {
		t := stats.Sum(level, of[level])
		reads, _ := t.Get(level + ".reads")
		hits, _ := t.Get(level + ".read_hits")
		levels = append(levels, append(t, stats.Ratio(level+".hit_rate", "", "Share of reads whose line was there.",
			hits.Float(), reads.Float())))
	}
	return levels, each
}

// Instructions returns the executed instructions by class, and the other counts of their execution.
func Instructions(s emu.Stats) (t stats.Tree) {
	for i, n := range s.ByClass {
		class := isa.Class(i).String()
		t = append(t, stats.Count("warp_instrs."+class, "warp instructions",
			"Executed instructions of class "+class+".", n))
	}
	for i, n := range s.LanesByClass {
		class := isa.Class(i).String()
		t = append(t, stats.Count("thread_instrs."+class, "thread instructions",
			"Executed instructions of class "+class+" times active lanes.", n))
	}
	return append(t, software(&s)...)
}

// software holds the counts of executed instructions.
func software(s *emu.Stats) stats.Tree {
	return stats.Tree{
		stats.Count("barriers", "arrivals", "Warps that came to a barrier of several warps or cores.", s.Barriers),
		stats.Count("scratchpad.accesses", "lane accesses",
			"Lanes' reads and writes of scratchpads; an atomic is both.", s.Scratchpad),
		stats.Count("atomics", "lane operations", "Lanes' atomics, in memory and in scratchpads.", s.Atomics),
		stats.Count("shuffles", "lane operations", "Lanes that executed a shuffle.", s.Shuffles),
	}
}

// executed are the counts of all instructions.
func executed(s *emu.Stats) stats.Tree {
	return stats.Tree{
		stats.Count("warp_instrs", "warp instructions", "Executed warp instructions.", s.WarpInstrs),
		stats.Count("thread_instrs", "thread instructions", "Executed instructions times active lanes.",
			s.ThreadInstrs),
	}
}

func edges(s *emu.Stats) stats.Stat {
	return stats.Count("edges", "edges", "Edges that lanes have handled: executions of the program's instruction "+
		"heddle.edge.", s.Edges)
}

// Statistics returns the counts of a launch, as far as they are kept per launch. Names are those of Machine.Statistics,
// which cover all launches.
func (r *Result) Statistics() stats.Tree {
	t := r.Executed()
	if r.Sampled {
		return t
	}
	t = append(t, stats.Walk("core.phase", &r.Phases)...)
	return append(t, stats.Walk("core", &scheduled{r.Causes})...)
}

// scheduled lists a launch's causes under the names that those of a core have.
type scheduled struct {
	Causes core.Causes `stat:"scheduler" unit:"scheduler-cycles"`
}

// Executed returns the counts of executed instructions, which are exact for a sampled launch too.
func (r *Result) Executed() stats.Tree {
	t := append(executed(&r.Stats), edges(&r.Stats))
	return append(t, software(&r.Stats)...)
}

// totals are the sums from which the headline figures are computed.
type totals struct {
	cycles, schedulers, slots             float64
	warps, threads                        float64
	resident, eligible, issued, l1dMisses float64
	asked, covered                        float64 // bytes of loads: by lanes, and by requests
}

func (m *Machine) totals() (t totals) {
	cfg := m.cfg
	for _, c := range m.Cores {
		s := c.Counts()
		n := float64(s.Cycles)
		issue := cfg.Core.Derived().Issue
		t.schedulers += n * float64(issue.Slices)
		t.slots += n * float64(issue.Slices*issue.Dispatch)
		t.warps += n * float64(cfg.Core.Warps)
		t.resident += float64(s.Resident)
		t.eligible += float64(s.Eligible)
		t.issued += float64(s.Issued)
		t.asked += float64(s.LoadBytes)
		t.covered += float64(s.LoadRequests) * float64(cfg.Core.Derived().ChannelBytes)
	}
	for _, c := range m.Caches {
		if levelOf(c) == "l1d" {
			t.l1dMisses += float64(c.Stats().ReadMisses)
		}
	}
	t.cycles, t.threads = float64(m.lastCycle()), float64(cfg.Core.Threads)
	return t
}

// storage is the storage of a core's graph unit, if the unit reports it.
func (m *Machine) storage() (t stats.Tree) {
	if len(m.Units) == 0 {
		return nil
	}
	u, ok := m.Units[0].(accel.Described)
	if !ok {
		return nil
	}
	name, figures := u.Constants()
	if figures == nil {
		return nil
	}
	for _, s := range stats.Walk(name, figures) {
		t = append(t, stats.Constant(s.Name, s.Unit, s.Doc, s.Float()))
	}
	return t
}

// headline returns the figures of most interest.
func (m *Machine) headline() stats.Tree {
	s, t := m.Arch.Stats(), m.totals()
	warps := float64(s.WarpInstrs)
	out := append(stats.Tree{stats.Count("cycles", "cycles", "Until the last core was done.", m.lastCycle())},
		executed(&s)...)
	return append(append(out, m.storage()...),
		stats.Ratio("ipc", "warp instructions/cycle", "Warp instructions a cycle, of all cores together.", warps,
			t.cycles),
		stats.Ratio("simd_efficiency", "", "Share of lanes that were active, over warp instructions.",
			float64(s.ThreadInstrs), warps*t.threads),
		stats.Ratio("achieved_occupancy", "", "Share of warp slots that held a warp, over the cores' cycles.",
			t.resident, t.warps),
		stats.Ratio("eligible_warps", "warps", "Warps that could issue, per scheduler and cycle.", t.eligible,
			t.schedulers),
		stats.Ratio("issue_active", "", "Share of the schedulers' issue slots that were used.", t.issued, t.slots),
		edges(&s),
		stats.Count("warp_iterations", "warp instructions",
			"Warps that executed heddle.edge: a warp's iterations over edges (SparseWeaver, Fig. 2).", s.Iterations),
		stats.Ratio("edges_per_cycle", "edges/cycle", "Edges handled a cycle.", float64(s.Edges), t.cycles),
		stats.Ratio("load_efficiency", "", "Bytes that lanes' loads asked of memory over those that their requests to the "+
			"L1D cover, channel_bytes each: above 1 where lanes share words. nvprof: gld_efficiency, over sectors of 32 bytes.",
			t.asked, t.covered),
		stats.Ratio("mpki", "misses/1000 warp instructions", "L1D read misses per 1000 warp instructions.",
			1000*t.l1dMisses, warps),
		stats.Ratio("dram.bytes_per_cycle", "bytes/cycle", "Bytes over the DRAM's data buses, per core cycle.",
			float64(m.Memory.Bytes()), t.cycles),
		stats.Constant("dram.peak_bytes_per_cycle", "bytes/cycle",
			"Peak of the DRAM's data buses per core cycle; 0: no limit, or no DRAM.",
			peakBytesPerCycle(m.cfg.Memory)),
	)
}
