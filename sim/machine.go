// Package sim assembles machines and runs them.
//
// It knows neither kernels nor traces: a machine executes a program.
package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	akita "github.com/sarchlab/akita/v3/sim"

	"heddle/components/accel"
	"heddle/components/balance"
	"heddle/components/cache"
	"heddle/components/clock"
	"heddle/components/concentrator"
	"heddle/components/core"
	"heddle/components/ctrlproc"
	"heddle/components/dram"
	"heddle/components/mem"
	"heddle/components/swarm"
	"heddle/configs"
	"heddle/isa"
	"heddle/isa/emu"
)

// Machine is an assembled machine.
type Machine struct {
	System *clock.System
	Arch   *emu.Machine
	Cores  []*core.Core
	Caches []*cache.Cache
	Memory Memory
	Units  []accel.Unit // the cores' graph units; nil: none

	Concentrators []*concentrator.Concentrator // before the L2; nil: none

	Control *ctrlproc.Control // balances the units; nil: none
	tasks   *swarm.Machine    // nil: the machine has no Swarm tiles, but the parts above
	ideal   balance.Ideal     // balances in zero time; nil: none

	cfg      configs.Machine
	source   func(n int, c *emu.Core) core.Source
	domain   *clock.Domain // first shard of the cores' clock
	outer    *clock.Domain // the last shard, with the units behind the sockets
	links    []way
	auditor  *auditor // nil: no checks
	watchdog watchdog
	sampler  *sampler // nil: no samples
	arg      uint32   // of Run
	launches uint64   // begun
	spent    bool     // a run has ended with an error

	steps []func(step int, vertices, edges uint64) `checkpoint:"assembled"` // observers of super-steps

	functional []*core.Functional // functional execution; nil: not used yet
	alternator *alternator        // nil: no launch has alternated between timed and functional execution
	emulated   *emu.Machine       // executes launches without time (Emulate); nil: not used yet
	partWatch  *partWatch         // nil: no launch has been observed by parts
	traced     bool               // cores execute the traces of Options.Source
	profiles   *profiles          // nil: no counts by instruction
}

// way is a link between two units.
type way interface {
	Name() string
	Len() int      // values on it
	Capacity() int // it has
	Trailing() *clock.Trailing
}

// Memory is main memory, a DRAM or the harness.
type Memory interface {
	mem.Warmer
	Name() string
	ClockHandle() clock.Handle
	ConnectPort(i int, in *clock.Link[mem.Request], out *clock.Link[mem.Response])
	Pending() int
	Bursts() int
	CheckInvariants() error
	Waits() []string
	Stats() []dram.Stats // by channel
	Bytes() uint64       // moved over the data buses
}

// Options are the settings of a run that do not change its cycles, unless the program can observe them.
type Options struct {
	MaxCycles uint64            // 0: no limit
	Arg       uint32            // initial mscratch
	Check     bool              // audit messages for CheckInvariants; costs host time
	Out       func(line []byte) // console lines as they are finished; nil: off
	Progress  func(Progress)    // called at intervals with the progress of the run; nil: no observer
	MaxEdges  uint64            // end the run when that many edges have been handled; 0: unlimited
	Divergent emu.Divergence    // treatment of a branch on which lanes differ
	Counters  Counters          // that the program reads
	Threads   int               // host processors to use; 0 and 1: one
	Sampling  *Sampling         // nil: no samples
	Shared    bool              // count core.SharedStalls

	// Source returns the source of core n's warps; nil: they execute the program, on c.
	Source func(n int, c *emu.Core) core.Source
}

// Progress is how far a run has come.
type Progress struct {
	Cycle uint64 // of the machine's clock, over all launches
	emu.Stats
}

// corePeriod is 1 ns: machines differ in cycles, not in core frequency.
const corePeriod clock.Femto = 1_000_000

// New assembles a machine.
func New(cfg configs.Machine, opt Options) (*Machine, error) {
	return assemble(cfg, opt, clock.NewSystem("Clock", akita.NewSerialEngine()))
}

// assemble assembles a machine on an empty system.
func assemble(cfg configs.Machine, opt Options, system *clock.System) (*Machine, error) {
	if cfg.Swarm != nil {
		return assembleTiles(cfg, opt, system)
	}
	m := &Machine{System: system, cfg: cfg, arg: opt.Arg, source: opt.Source, traced: opt.Source != nil}
	if m.source == nil {
		m.source = func(_ int, c *emu.Core) core.Source { return core.Program(c) }
	}
	var err error
	if m.Units, err = graphUnits(&cfg); err != nil {
		return nil, err
	}
	cores := cfg.Sockets * cfg.CoresPerSocket
	m.Arch, err = emu.New(emu.Config{
		Cores: cores, Warps: cfg.Core.Warps, Threads: cfg.Core.Threads, Arg: opt.Arg,
		ArgumentRegisters: cfg.Core.ArgumentRegisters, SilentExit: cfg.Core.SilentExit, Zba: cfg.Core.Zba,
		ScratchpadBytes: cfg.Core.ScratchpadBytes, Out: opt.Out, Divergent: opt.Divergent, Units: m.architecture,
	})
	if err != nil {
		return nil, err
	}
	if m.domain, err = m.System.AddDomain("core", corePeriod); err != nil {
		return nil, err
	}
	if opt.Check {
		m.auditor = &auditor{}
	}
	threads := min(opt.Threads, cfg.Sockets)
	m.System.SetWorkers(threads)
	if opt.Source != nil {
		m.System.Alone()
	}
	b := builder{m: m, cfg: &cfg, shards: shards(m.domain, threads, cfg.Sockets)}
	m.outer = b.outerShard()
	if err := b.build(); err != nil {
		return nil, err
	}
	if opt.Counters != NoCounters {
		m.provide(opt.Counters)
	}
	if err := m.watchdog.join(m, opt); err != nil {
		return nil, err
	}
	if err := m.checkDerived(); err != nil {
		return nil, err
	}
	if opt.Shared {
		for _, c := range m.Cores {
			c.ShareStalls()
		}
	}
	return m, m.sample(opt.Sampling)
}

// Close ends the processes that the machine's units may have, until it is used again.
func (m *Machine) Close() (err error) {
	for _, u := range m.Units {
		if c, ok := u.(io.Closer); ok {
			err = errors.Join(err, c.Close())
		}
	}
	if m.Control != nil {
		err = errors.Join(err, m.Control.Close())
	}
	return err
}

// builder connects the units, from the cores outwards, level by level. Between the calls that add a level, out holds
// the requesters of the next one, in the order of its ports, and end the bounds of each socket's share of out. links
// joins all of out to a unit; level and concentrator then replace out, or the share that they were given, by the memory
// ports of the unit that they added. The ports that remain in out at the end are connected to memory.
type builder struct {
	m   *Machine
	cfg *configs.Machine
	out []port // requesters of the level that is built next
	end []int  // by socket: the end of its ports in out

	inputs int // of the level behind the sockets, so far

	shards []*clock.Domain // of the cores' clock
}

// port is one requester of the level that is built next.
type port struct {
	owner   clock.Handle
	from    *source
	wires   configs.Wires
	input   int // of the level: ports of one input share it
	slots   int // slots of the request link; 0: as its latency requires
	awaits  int // least number of slots of the response link
	connect func(req *clock.Link[mem.Request], rsp *clock.Link[mem.Response])
}

func (b *builder) build() error {
	for s := range b.cfg.Sockets {
		if err := b.socket(s); err != nil {
			return err
		}
		b.end = append(b.end, len(b.out))
	}
	if err := b.control(); err != nil {
		return err
	}
	if err := b.concentrators(); err != nil {
		return err
	}
	if err := b.outer(); err != nil {
		return err
	}
	memory, err := b.memory()
	if err != nil {
		return err
	}
	b.m.Memory = memory
	b.links(&audited{name: memory.Name()}, memory.ClockHandle(), memory.ConnectPort)
	return nil
}

// outer builds the caches behind the sockets. The first of them, or without one the only L1D, performs atomics.
func (b *builder) outer() error {
	meet := len(b.m.Caches) - 1
	if b.cfg.L2 != nil {
		meet++
		b.cfg.L2.PriorityInputs = true
		if err := b.level("L2", *b.cfg.L2, b.below(b.cfg.L3, b.cfg.ToL3), b.outerShard()); err != nil {
			return err
		}
	}
	if b.cfg.L3 != nil {
		if err := b.level("L3", *b.cfg.L3, b.cfg.ToMemory, b.outerShard()); err != nil {
			return err
		}
	}
	if b.cfg.Atomics.Mode == core.AtomicsL2 {
		b.m.Caches[meet].PerformAtomics(b.m, b.cfg.Atomics.Interval, b.cfg.Atomics.BankInterval)
	}
	return nil
}

// below returns the wires to the next level, or to memory if there is none.
func (b *builder) below(next *cache.Spec, wires configs.Wires) configs.Wires {
	if next == nil {
		return b.cfg.ToMemory
	}
	return wires
}

// ReadOnly tells the caches of memory that no program writes.
func (m *Machine) ReadOnly(addr uint32, bytes uint64) {
	for _, c := range m.Caches {
		c.ReadOnly(addr, bytes)
	}
}

// Perform applies an atomic, for the cache that performs it.
func (m *Machine) Perform(ref uint32) (wrote bool) {
	return m.Cores[core.CoreOf(ref)].PerformAtomic(ref)
}

// dramPeriod is the period of a DRAM clock.
func dramPeriod(cfg configs.Memory, s *dram.Spec) clock.Femto {
	if cfg.ClockRatio > 0 {
		return max(1, clock.Femto(cfg.ClockRatio*float64(corePeriod)))
	}
	return clock.Femto(s.TCKps) * 1000
}

// peakBytesPerCycle returns the peak bandwidth of the DRAM's data buses in bytes per core cycle; 0: the memory is no
// DRAM, or unlimited.
func peakBytesPerCycle(cfg configs.Memory) float64 {
	if cfg.Preset == configs.Harness {
		return 0
	}
	s, err := cfg.Spec()
	if err != nil {
		return 0
	}
	return s.PeakBytes() * float64(corePeriod) / float64(dramPeriod(cfg, &s))
}

// memory creates main memory, a DRAM on a clock of its own.
func (b *builder) memory() (Memory, error) {
	cfg := b.cfg.Memory
	if cfg.Preset == configs.Harness {
		n := cfg.Channels
		if n == 0 {
			n = dram.HarnessChannels
		}
		return dram.NewHarness("Memory", n, len(b.out), b.outerShard())
	}
	s, err := cfg.Spec()
	if err != nil {
		return nil, err
	}
	d, err := b.m.System.AddDomain("dram", dramPeriod(cfg, &s))
	if err != nil {
		return nil, err
	}
	return dram.NewMemory("Memory", s, b.cfg.MemoryLine(), len(b.out), d)
}

// depth returns the slots of a link: a register per cycle, and a skid buffer.
func depth(latency int) int { return latency + 1 }

// links connects the current requesters to the unit that serves them.
func (b *builder) links(to *audited, server clock.Handle,
	connect func(int, *clock.Link[mem.Request], *clock.Link[mem.Response])) {
	for i, p := range b.out {
		there, back := p.wires.Entries()
		req, rsp := b.link(i, p, to, server, cmp.Or(p.slots, there), max(back, p.awaits))
		connect(i, req, rsp)
	}
	if a := b.m.auditor; a != nil {
		a.levels = append(a.levels, to)
	}
}

// link connects p to port i of a unit, with there and back slots for requests and responses.
func (b *builder) link(i int, p port, to *audited, server clock.Handle, there, back int) (*clock.Link[mem.Request],
	*clock.Link[mem.Response]) {
	name := fmt.Sprintf("%s.port%d", to.name, i)
	req := clock.NewLink[mem.Request](name+".req", there, clock.Cycle(p.wires.Request), p.owner, server)
	rsp := clock.NewLink[mem.Response](name+".rsp", back, clock.Cycle(p.wires.Response), server, p.owner)
	p.connect(req, rsp)
	b.m.links = append(b.m.links, req, rsp)
	if a := b.m.auditor; a != nil {
		a.watch(name, p.from, to, req, rsp)
	}
	return req, rsp
}

// concentrators inserts concentrators, if the machine has any, between the current requesters and the L2.
func (b *builder) concentrators() error {
	spec := b.cfg.Concentrator
	if spec == nil {
		return nil
	}
	all, begin := b.out, 0
	b.out = nil
	for s := 0; s < len(b.end); s += spec.Sockets {
		to := min(s+spec.Sockets, len(b.end))
		end := b.end[to-1]
		c, err := b.concentrator(fmt.Sprintf("Concentrator%d", len(b.m.Concentrators)), *spec, all[begin:end], b.shardOf(s))
		if err != nil {
			return err
		}
		if err := b.shareNetwork(c, s, to); err != nil {
			return err
		}
		begin = end
	}
	return nil
}

// concentrator adds a concentrator behind some ports.
func (b *builder) concentrator(name string, s concentrator.Spec, in []port,
	d *clock.Domain) (*concentrator.Concentrator, error) {
	c, err := concentrator.New(name, s, len(in), d)
	if err != nil {
		return nil, err
	}
	b.m.Concentrators = append(b.m.Concentrators, c)
	to := &audited{name: name, received: func() cache.Sent { return passed(c) }}
	for i, p := range in {
		p.wires = configs.Wires{Request: s.Request, Response: s.Response}
		req, rsp := b.link(i, p, to, c.ClockHandle(), s.RequestEntries(), s.Outstanding)
		c.ConnectRequester(i, req, rsp)
	}
	if a := b.m.auditor; a != nil {
		a.levels = append(a.levels, to)
	}
	from := &source{name: name, count: c.Sent, line: uint32(b.cfg.L1D.LineBytes)}
	for i := range c.NextPorts() {
		b.out = append(b.out, port{c.ClockHandle(), from, b.cfg.ToL2, len(b.out), 0, 0,
			func(req *clock.Link[mem.Request], rsp *clock.Link[mem.Response]) {
				c.ConnectPort(i, req, rsp)
			}})
	}
	return c, nil
}

// socket builds the cores of a socket and their L1s.
func (b *builder) socket(s int) error {
	var fetch, data, bypassing []port
	d := b.shardOf(s)
	spec := b.cfg.Core.Spec
	spec.Atomics = b.cfg.Atomics
	spec.BarrierRegisters = barrierRegisters(b.cfg.Sockets, b.cfg.CoresPerSocket)
	for i := range b.cfg.CoresPerSocket {
		n := s*b.cfg.CoresPerSocket + i
		c, err := core.New(fmt.Sprintf("Core%d", n), spec, b.m.source(n, b.m.Arch.Core(n)))
		if err != nil {
			return err
		}
		c.SetID(n)
		c.Join(d, &watched{Core: c, w: &b.m.watchdog})
		b.m.Cores = append(b.m.Cores, c)
		b.m.plug(n, c)
		fetch = append(fetch, b.ports(c, c.ClockHandle(), c.Fetches, spec.FetchWidth,
			configs.Wires{Request: 1, Response: 1 + b.shared()}, c.Connect)...)
		way := b.cfg.ToL1D.Shorter(0, -b.shared())
		ports := b.ports(c, c.DataHandle(), c.Requests, spec.Channels(), way, c.ConnectData)
		ports[0].from.kinds = c.ToL1D
		for k := range ports {
			ports[k].slots = cmp.Or(way.RequestEntries, spec.RequestSlots()+way.Request-1)
		}
		data = append(data, ports...)
		switch p, bypasses, ok := b.m.unitPort(n, b.cfg.UnitShape(n).LineBytes); {
		case bypasses:
			bypassing = append(bypassing, p)
		case ok:
			p.wires, p.input = way, spec.Channels()
			data = append(data, p)
		}
	}
	below := b.below(b.cfg.L2, b.cfg.ToL2)
	for i := range bypassing {
		bypassing[i].wires = below
	}
	outside := b.out
	b.out = fetch
	if err := b.level(fmt.Sprintf("Socket%d.L1I", s), b.cfg.L1I, direct(below), d); err != nil {
		return err
	}
	instructions := b.out
	for i := range instructions {
		instructions[i].awaits = b.cfg.L1I.MSHRs * b.cfg.L1I.Banks
	}
	b.out = data
	if err := b.level(fmt.Sprintf("Socket%d.L1D", s), b.cfg.L1D, below, d); err != nil {
		return err
	}
	b.out = append(outside, b.share(append(bypassing, instructions...), b.out)...)
	return nil
}

// barrierRegisters returns the number of registers between a core and the unit of device-wide barriers, there and back:
// the core's request, the unit's answer, and those of the arbiters, one with more than one core per socket, and one
// with more than two sockets (RTL: VX_schedule, VX_gbar_arb, VX_gbar_unit).
func barrierRegisters(sockets, cores int) int {
	n := 5
	if cores > 1 {
		n++
	}
	if sockets > 2 {
		n++
	}
	return n
}

// share assigns a socket's ports to inputs of the next level. If the machine is so configured, the first data port
// shares the input of the last other port, which is the L1I.
func (b *builder) share(others, data []port) []port {
	all := append(others, data...)
	for i := range all {
		if !(b.cfg.SocketPort && i == len(others)) {
			b.inputs++
		}
		all[i].input = b.inputs - 1
	}
	if b.cfg.SocketPort {
		for i := range 2 {
			p := &all[len(others)-1+i]
			p.wires = p.wires.Shorter(1, 0) // the arbiter's
		}
	}
	return all
}

// direct returns an L1I's wires to the next level, a register shorter in each direction than an L1D's: without the
// bypass for uncached addresses and without the response queue (RTL: NC_ENABLE, ICACHE_MRSQ_SIZE 0).
func direct(w configs.Wires) configs.Wires {
	return w.Shorter(min(1, w.Request-1), min(1, w.Response-1))
}

// ports returns a core's ports to an L1, which are connected together; count is the number of requests sent there.
func (b *builder) ports(
	c *core.Core, at clock.Handle, count func() uint64, n int, w configs.Wires,
	connect func([]*clock.Link[mem.Request], []*clock.Link[mem.Response]),
) (out []port) {
	var req []*clock.Link[mem.Request]
	var rsp []*clock.Link[mem.Response]
	from := &source{name: c.Name(), count: count, line: uint32(b.cfg.L1D.LineBytes)}
	for i := range n {
		out = append(out, port{at, from, w, i, 0, 0, func(q *clock.Link[mem.Request], r *clock.Link[mem.Response]) {
			req, rsp = append(req, q), append(rsp, r)
			connect(req, rsp)
		}})
	}
	return out
}

// shared returns the latency of the arbiter before L1s that several cores share, on the way back; on the way there it
// is the cache's own.
func (b *builder) shared() int {
	if b.cfg.CoresPerSocket > 1 {
		return 1
	}
	return 0
}

// level adds a cache between the current requesters and memory.
func (b *builder) level(name string, s cache.Spec, w configs.Wires, d *clock.Domain) error {
	s.Ports, s.Inputs = len(b.out), inputs(b.out)
	c, err := cache.New(name, s, d)
	if err != nil {
		return err
	}
	b.m.Caches = append(b.m.Caches, c)
	b.links(&audited{name: name, received: func() cache.Sent { return served(c) }}, c.ClockHandle(), c.ConnectPort)
	b.out = nil
	from := &source{name: name, cache: c, line: uint32(s.LineBytes), fills: map[uint32]bool{}}
	for i := range s.MemoryPorts {
		b.out = append(b.out, port{c.ClockHandle(), from, w, i, 0, 0,
			func(req *clock.Link[mem.Request], rsp *clock.Link[mem.Response]) {
				c.ConnectMemory(i, req, rsp)
			}})
	}
	return nil
}

// inputs lists the ports' inputs.
func inputs(ports []port) (all []uint8) {
	for _, p := range ports {
		all = append(all, uint8(p.input))
	}
	return all
}

// Result is the result of a run.
type Result struct {
	Cycles uint64 // until the last core ended
	emu.Stats
	Attributed

	Sampled bool    // cycles are estimated, and nothing is attributed
	Half    float64 // half the 95 % confidence interval of the cycles

	LastTime uint32 // of Swarm tiles, the timestamp of the last task

	// Later is the time of a launch in a run of which only some super-steps are simulated in time. It is known when the
	// run has ended; nil: the run is no such run.
	Later *Later `checkpoint:"assembled"`
}

// Later is the time of a launch that is estimated from other launches, earlier and later ones.
type Later struct {
	Cycles    uint64
	Half      float64 // half the 95 % confidence interval of the cycles
	Estimated bool    // any launch of the run is
}

// Settle takes over the time that has become known when the run has ended.
func (r *Result) Settle() {
	if l := r.Later; l != nil {
		r.Cycles, r.Half, r.Sampled, r.Later = l.Cycles, l.Half, l.Estimated, nil
	}
}

// Attributed is the cores' time by phase of the program and by cause, over all cores.
type Attributed struct {
	Phases core.Phases
	Causes core.Causes
}

// since returns the counts since an earlier copy.
func (a Attributed) since(before *Attributed) Attributed {
	return Attributed{Phases: a.Phases.Since(&before.Phases), Causes: a.Causes.Since(&before.Causes)}
}

// Run executes a program to its end, with the argument of the options. The error is
// a program error (*emu.Trap, *emu.HostError), a *StallError, a *CycleLimitError, an *EdgeLimitError or ctx's.
func (m *Machine) Run(ctx context.Context, p *isa.Program) (Result, error) {
	return m.Launch(ctx, p, m.arg)
}

// Launch executes a program to its end, as Run does, after earlier runs: memory, open DRAM rows and the L2 keep their
// contents, L1s are invalidated, and the clock continues. The result counts from the launch. After an error the machine
// must not be used again.
func (m *Machine) Launch(ctx context.Context, p *isa.Program, arg uint32) (Result, error) {
	return m.launch(ctx, p, arg, func() {
		for _, c := range m.Cores {
			c.Start()
		}
	})
}

// launch runs a program on the cores, which start begins.
func (m *Machine) launch(ctx context.Context, p *isa.Program, arg uint32, start func()) (Result, error) {
	if m.spent {
		return Result{}, errSpent
	}
	if _, err := p.PhaseMarks(); err != nil {
		return Result{}, err
	}
	if err := m.carry(p); err != nil {
		return Result{}, err
	}
	m.launches++
	m.Arch.SetArg(arg)
	m.Arch.Load(p)
	if m.tasks != nil {
		return m.launchTasks(ctx, p, arg)
	}
	m.profiles.enter(m, p)
	before, attributed, began := m.Arch.Stats(), m.attributed(), m.domain.After()-1
	start()
	m.startUnits()
	m.watchdog.arm(ctx, began)
	if m.sampler != nil {
		m.sampler.wake(began)
	}
	err := m.System.Run()
	m.Arch.FlushConsole()
	m.settle()
	r := Result{Stats: m.Arch.Stats().Since(before), Attributed: m.attributed().since(&attributed)}
	if last := m.lastCycle(); last > began {
		r.Cycles = last - began
	}
	if err == nil {
		err = m.outcome()
	}
	m.spent = err != nil
	return r, err
}

// attributed sums the cores' counts by phase and by cause.
func (m *Machine) attributed() (a Attributed) {
	for _, c := range m.Cores {
		s := c.Counts()
		a.Phases.Add(&s.Phases)
		a.Causes.Add(&s.Scheduler)
	}
	return a
}

// errSpent is a usage error of the host program.
var errSpent = errors.New("launch on a machine whose last run ended with an error: its cores still hold " +
	"instructions; assemble a new one")

// lastCycle returns the last cycle in which a core had work.
func (m *Machine) lastCycle() (last uint64) {
	for _, c := range m.Cores {
		last = max(last, c.LastCycle())
	}
	return last
}

// outcome returns why a run ended other than by the end of its program.
func (m *Machine) outcome() error {
	if m.Control != nil && m.Control.Err() != nil {
		return m.Control.Err()
	}
	done := true
	for _, c := range m.Cores {
		if c.Err() != nil {
			return c.Err()
		}
		done = done && c.Done()
	}
	if m.watchdog.err == nil && !done {
		return m.stalled("all units sleep")
	}
	if m.watchdog.err == nil {
		return m.Arch.Asked()
	}
	return m.watchdog.err
}
