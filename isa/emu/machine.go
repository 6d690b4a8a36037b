// Package emu executes programs functionally: it is the lock-step reference for the effect of every instruction on
// cores × warps × lanes. The timed machine is built on the same warps and must agree with it.
//
// This package knows no pipeline, no cache, and no graph unit by name.
package emu

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"sync"

	"heddle/isa"
)

// Addresses of the device, as in Vortex (see docs/guide/programs.md).
const (
	CodeBase       = 0x80000000 // where programs are loaded
	StackTop       = 0xFFFF0000 // hart h's stack ends StackBytes·h below
	StackBytes     = 8 << 10
	ScratchpadBase = 0xFFFF0000
	NullEnd        = 0x40 // below: no access
	ConsoleBase    = 0x40 // byte stores here are console output
	ConsoleEnd     = 0x80
	ExitAddr       = 0x88    // the exit code is stored here
	UncachedEnd    = 0x10000 // below: not cached
)

// Limits of a machine.
const (
	MaxThreads         = 32
	MaxWarps           = 64
	MaxCores           = 1024
	MaxScratchpadBytes = 64 << 10
	maxConsoleBytes    = 16 << 20

	MaxArgumentRegisters = 24 // x8..x31: no program's stack pointer
)

// Config describes a functional machine.
type Config struct {
	Cores           int    // 1..MaxCores
	Warps           int    // of a core, 1..MaxWarps
	Threads         int    // lanes of a warp, 1..MaxThreads
	ScratchpadBytes int    // of a core, a multiple of 4; 0: DefaultScratchpadBytes
	Arg             uint32 // initial mscratch: where the kernel's arguments are
	// ArgumentRegisters is the number of words of the argument block that a launch writes to registers of all lanes, each
	// to ArgumentRegister of its number, unless Arg is 0.
	ArgumentRegisters int
	// SilentExit has a program that has stored no exit code count as one that has stored 0.
	SilentExit bool
	Zba        bool   // the machine has the extension
	Quantum    int    // instructions a warp runs before the next; 0: 128
	MaxInstrs  uint64 // warp instructions before LimitError; 0: no limit

	Divergent Divergence // treatment of a branch on which lanes differ

	Units func(core int) []Unit // the graph units of a core; nil: none
	// Memory is that of another machine, which the machines then share; nil: the machine has one of its own.
	Memory *Memory
	Trace  func(*Step) // called after each instruction; nil: off
	// Accessed is called after each instruction that accesses memory, with the lanes' addresses, which it must not keep;
	// nil: off. It costs less than Trace.
	Accessed func(core int, class isa.Class, addr *isa.Lanes, mask uint32)
	Stop     func(w *Warp) error // called before each instruction; an error ends the run; nil: off
	Out      func([]byte)        // called with each finished console line; nil: off
}

// Divergence chooses where a branch, or an indirect jump, goes on which the active lanes disagree.
type Divergence uint8

// Either the branch is a program error, or all lanes follow one.
const (
	DivergentTraps Divergence = iota
	DivergentFollowsLast
	DivergentFollowsFirst
)

// Divergences are the names of the values.
var Divergences = [...]string{DivergentTraps: "trap", DivergentFollowsLast: "last", DivergentFollowsFirst: "first"}

// DefaultScratchpadBytes is Vortex's local memory size.
const DefaultScratchpadBytes = 16 << 10

// Validate checks the configuration.
func (c *Config) Validate() error {
	check := func(name string, v, lo, hi int) error {
		if v < lo || v > hi {
			return fmt.Errorf("%s = %d: expected %d..%d", name, v, lo, hi)
		}
		return nil
	}
	err := errors.Join(
		check("cores", c.Cores, 1, MaxCores),
		check("warps", c.Warps, 1, MaxWarps),
		check("threads", c.Threads, 1, MaxThreads),
		check("scratchpad bytes", c.ScratchpadBytes, 0, MaxScratchpadBytes),
		check("argument registers", c.ArgumentRegisters, 0, MaxArgumentRegisters),
		check("quantum", c.Quantum, 0, 1<<30),
	)
	if c.ScratchpadBytes%4 != 0 {
		err = errors.Join(err, fmt.Errorf("scratchpad bytes = %d: expected a multiple of 4", c.ScratchpadBytes))
	}
	return err
}

// Step is one executed warp instruction: an entry of its warp's instruction
// trace. It is valid until the trace function returns.
type Step struct {
	Core, Warp int
	PC         uint32
	Mask       uint32 // the lanes that executed it
	Inst       *isa.Inst
	Addrs      []uint32 // by lane, for loads, stores and atomics; else nil
	NextPC     uint32
	NextMask   uint32
}

// Stats are the counts of executed instructions.
type Stats struct {
	WarpInstrs   uint64
	ThreadInstrs uint64                 // of a core counted by class, and summed by Stats
	ByClass      [isa.NumClasses]uint64 // warp instructions; they sum to WarpInstrs
	LanesByClass [isa.NumClasses]uint64 // thread instructions; they sum to ThreadInstrs
	Edges        uint64                 // lanes that executed the instruction at EdgeSymbol
	Iterations   uint64                 // warps that did
	Barriers     uint64                 // warps that arrived at a barrier of several warps
	Scratchpad   uint64                 // lanes' reads and writes of scratchpads; an atomic is both
	Atomics      uint64                 // lanes' atomics
	Shuffles     uint64                 // lanes that executed a shuffle
}

// Plus returns the counts of both together.
func (s Stats) Plus(more *Stats) Stats {
	s.WarpInstrs += more.WarpInstrs
	s.ThreadInstrs += more.ThreadInstrs
	s.Edges += more.Edges
	s.Iterations += more.Iterations
	s.Barriers += more.Barriers
	s.Scratchpad += more.Scratchpad
	s.Atomics += more.Atomics
	s.Shuffles += more.Shuffles
	for i, n := range more.ByClass {
		s.ByClass[i] += n
		s.LanesByClass[i] += more.LanesByClass[i]
	}
	return s
}

// Since returns the counts since an earlier copy.
func (s Stats) Since(before Stats) Stats {
	s.WarpInstrs -= before.WarpInstrs
	s.ThreadInstrs -= before.ThreadInstrs
	s.Edges -= before.Edges
	s.Iterations -= before.Iterations
	s.Barriers -= before.Barriers
	s.Scratchpad -= before.Scratchpad
	s.Atomics -= before.Atomics
	s.Shuffles -= before.Shuffles
	for i, n := range before.ByClass {
		s.ByClass[i] -= n
		s.LanesByClass[i] -= before.LanesByClass[i]
	}
	return s
}

// Machine is the whole device.
type Machine struct {
	Mem     *Memory
	cfg     Config
	cores   []*Core
	program *isa.Program     `checkpoint:"assembled"` // the launched one's, as the next two
	edges   map[uint32]uint8 `checkpoint:"assembled"` // by address of EdgeSymbol, of which a program may have several
	phases  []isa.PhaseMark  `checkpoint:"assembled"`
	parts   []partMark       `checkpoint:"assembled"`
	resv    reservations
	device  deviceBarriers
	console console
	exit    uint32
	exited  bool
	step    Step // argument of cfg.Trace

	preparing sync.Mutex
	constants map[uint32]*isa.Lanes `checkpoint:"assembled"` // rows of immediates, of prepared instructions

	effect    func(*Access, uint32) // nil: no observer
	partEnded func(name string)     `checkpoint:"assembled"` // nil: no observer
	host      *hostWords            // nil: the program has none
	asked     error                 // the program's unsupported request to the host
}

// New returns a machine without a program; Load loads one.
func New(cfg Config) (*Machine, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.ScratchpadBytes == 0 {
		cfg.ScratchpadBytes = DefaultScratchpadBytes
	}
	if cfg.Quantum == 0 {
		cfg.Quantum = 128
	}
	m := &Machine{Mem: cfg.Memory, cfg: cfg, program: &isa.Program{}, constants: map[uint32]*isa.Lanes{}}
	if m.Mem == nil {
		m.Mem = NewMemory()
	}
	m.console.out = cfg.Out
	m.device = newDeviceBarriers(&cfg)
	for i := range cfg.Cores {
		m.cores = append(m.cores, newCore(m, i))
	}
	return m, nil
}

// EdgeSymbol is the symbol of an instruction that a lane executes once for each edge that it handles; a program that
// handles edges at several places has several symbols of this name, or with a dot and a suffix. It affects only
// statistics.
const EdgeSymbol = "heddle.edge"

// BlockEdgeSymbol begins the symbols of instructions that all lanes of a thread block, a number of neighbouring warps,
// execute once for one shared edge: heddle.edge.block4.
const BlockEdgeSymbol = EdgeSymbol + ".block"

// edgeMarks returns the addresses at which a program counts edges, with the number of warps that share an edge; 1: each
// lane has its own.
func edgeMarks(p *isa.Program) map[uint32]uint8 {
	at := map[uint32]uint8{}
	for _, s := range p.Symbols {
		if s.Name != EdgeSymbol && !strings.HasPrefix(s.Name, EdgeSymbol+".") {
			continue
		}
		at[s.Addr] = 1
		if warps, ok := strings.CutPrefix(s.Name, BlockEdgeSymbol); ok {
			if n, err := strconv.ParseUint(warps, 10, 8); err == nil && n > 1 {
				at[s.Addr] = uint8(n)
			}
		}
	}
	return at
}

// Load copies a program into memory and makes warp 0, lane 0 of every core
// start at its entry. The rest of memory stays as it is. Registers are zero;
// hardware promises nothing about them, so programs must not rely on it.
func (m *Machine) Load(p *isa.Program) {
	m.Mem.Load(p)
	m.program = p
	m.edges = edgeMarks(p)
	m.phases, _ = p.PhaseMarks() // programs from outside have been checked before
	m.parts = partMarks(p)
	m.listen(p)
	m.Launch(p.Entry)
}

// Launch makes warp 0, lane 0 of every core start at pc. Units lose their state; memory, scratchpads and statistics
// stay.
func (m *Machine) Launch(pc uint32) {
	m.exit, m.exited, m.asked = 0, false, nil
	m.resv.list = m.resv.list[:0]
	m.device.reset()
	for _, c := range m.cores {
		c.launch(pc)
	}
}

// SetTrace sets the function that is called after each instruction; nil: none.
func (m *Machine) SetTrace(f func(*Step)) { m.cfg.Trace = f }

// SetAccessed sets the function that is called after each instruction that accesses memory; nil: none.
func (m *Machine) SetAccessed(f func(core int, class isa.Class, addr *isa.Lanes, mask uint32)) {
	m.cfg.Accessed = f
}

// SetArg sets the value of mscratch at the next launch.
func (m *Machine) SetArg(arg uint32) { m.cfg.Arg = arg }

// Core returns core i.
func (m *Machine) Core(i int) *Core { return m.cores[i] }

// Config returns the machine's configuration.
func (m *Machine) Config() Config { return m.cfg }

// ExitCode returns the value that the program has stored at ExitAddr; ok is false if it has stored none and
// cfg.SilentExit is off.
func (m *Machine) ExitCode() (code uint32, ok bool) { return m.exit, m.exited || m.cfg.SilentExit }

// ArgumentRegister returns the register that holds word i of the argument block at a launch, from x31 downwards.
func ArgumentRegister(i int) isa.Reg { return isa.Reg(31 - i) }

// Console returns everything the program printed.
func (m *Machine) Console() []byte { return m.console.all }

// FlushConsole ends the lines that are still open, as the end of a run does.
func (m *Machine) FlushConsole() { m.console.flush() }

// ConsoleTruncated reports whether the program printed more than the console keeps.
func (m *Machine) ConsoleTruncated() bool { return m.console.truncated }

// Stats returns the counts of the whole device.
func (m *Machine) Stats() Stats {
	var s Stats
	for _, core := range m.cores {
		c := core.Stats()
		s = s.Plus(&c)
	}
	return s
}

// Run executes until no warp is left. Warps take turns of Quantum
// instructions, core by core, so the same program always runs the same way.
// The error is a *Trap, a *LimitError, a *DeadlockError, a *HostError or ctx's.
func (m *Machine) Run(ctx context.Context) error {
	defer m.console.flush()
	left := m.cfg.MaxInstrs
	if left == 0 {
		left = ^uint64(0)
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		ran, err := m.round(&left)
		if err != nil {
			return err
		}
		if ran == 0 {
			return m.ended()
		}
	}
}

// round gives every running warp a turn, and returns the number of instructions executed.
func (m *Machine) round(left *uint64) (ran uint64, err error) {
	for _, c := range m.cores {
		for set := c.active; set != 0; set &= set - 1 {
			w := c.warps[bits.TrailingZeros64(set)]
			if w.state != running && w.state != polling {
				continue
			}
			if *left == 0 {
				return ran, &LimitError{m.cfg.MaxInstrs}
			}
			n, err := w.run(min(uint64(m.cfg.Quantum), *left))
			ran += n
			*left -= n
			if err != nil {
				return ran, err
			}
		}
	}
	return ran, nil
}

// ended distinguishes a finished run from a deadlock.
func (m *Machine) ended() error {
	var e DeadlockError
	for _, c := range m.cores {
		for _, w := range c.warps {
			if w.state != stopped {
				e.Waiting = append(e.Waiting, w.DescribeWait())
			}
		}
	}
	if e.Waiting == nil {
		return m.asked
	}
	return &e
}
