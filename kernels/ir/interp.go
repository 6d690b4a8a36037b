package ir

import (
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"slices"

	"heddle/isa/emu"
)

// Machine is the machine on which kernels are interpreted: the lanes of a warp in lock step, cores one after the other,
// and the warps of a core in turn up to their barriers.
type Machine struct {
	Cores, Warps, Threads int
	Mem                   *emu.Memory
	Args                  uint32                    // address of the argument block
	Units                 func(core int) []emu.Unit // graph units of a core; nil: none
	MaxSteps              uint64                    // limit on warp instructions; 0: unlimited
}

// Counts are the event counts of a run.
type Counts struct {
	Steps uint64 // warp instructions
	Edges uint64 // lanes that executed an Edge
}

// ErrSteps is the error of a kernel that exceeds MaxSteps.
var ErrSteps = errors.New("the kernel has not ended after the allowed number of steps")

// Run interprets a kernel. The order in which warps run is deterministic, but may differ from other machines'.
func Run(k *Kernel, m Machine) (Counts, error) {
	if k.Warps > m.Warps {
		return Counts{}, fmt.Errorf("kernel %s is for %d warps of a core, and the machine has %d", k.Name, k.Warps,
			m.Warps)
	}
	r := &run{k: k, m: m, warps: m.Warps}
	if k.Warps > 0 {
		r.warps = k.Warps
	}
	for c := range m.Cores {
		core := &core{run: r, id: c, scratch: make([]byte, emu.MaxScratchpadBytes)}
		if m.Units != nil {
			core.units = m.Units(c)
		}
		for _, u := range core.units {
			u.Launch()
		}
		for w := range r.warps {
			core.warps = append(core.warps, newWarp(core, w))
		}
		r.cores = append(r.cores, core)
	}
	defer r.stop()
	err := r.rounds()
	return r.Counts, err
}

type run struct {
	Counts
	k     *Kernel
	m     Machine
	warps int // warps of a core that run the kernel
	cores []*core
}

type core struct {
	*run
	id      int
	scratch []byte
	units   []emu.Unit
	warps   []*warp
}

// wait is the event that a warp waits for.
type wait uint8

const (
	atNothing wait = iota
	atBarrier
	atDeviceBarrier
	ended
)

// stop ends the warps' coroutines.
func (r *run) stop() {
	for _, c := range r.cores {
		for _, w := range c.warps {
			w.stop()
		}
	}
}

// rounds runs warps from barrier to barrier until all have ended.
func (r *run) rounds() error {
	for {
		for _, c := range r.cores {
			if err := c.turn(); err != nil {
				return err
			}
		}
		switch n := r.waiting(atDeviceBarrier); {
		case r.waiting(ended) == len(r.cores)*r.warps:
			return nil
		case n < len(r.cores)*r.warps:
			return fmt.Errorf("kernel %s: deadlock: %d warps wait at a device-wide barrier, and others have ended",
				r.k.Name, n)
		}
		for _, c := range r.cores {
			release(c.warps)
		}
	}
}

func (r *run) waiting(for_ wait) (n int) {
	for _, c := range r.cores {
		for _, w := range c.warps {
			if w.at == for_ {
				n++
			}
		}
	}
	return n
}

func release(warps []*warp) {
	for _, w := range warps {
		w.at = atNothing
	}
}

// meet releases thread blocks whose warps have all reached a barrier, and reports whether there are any.
func (c *core) meet() (met bool) {
	size := len(c.warps)
	if c.k.Block > 0 {
		size = c.k.Block
	}
	for block := range slices.Chunk(c.warps, size) {
		if !slices.ContainsFunc(block, func(w *warp) bool { return w.at != atBarrier }) {
			release(block)
			met = true
		}
	}
	return met
}

// turn runs the core's warps until all have ended or wait for other cores.
func (c *core) turn() error {
	for {
		n := 0
		for _, w := range c.warps {
			if w.at == atNothing {
				w.at, _ = w.next()
			}
			if w.err != nil {
				return fmt.Errorf("kernel %s, core %d, warp %d: %w", c.k.Name, c.id, w.id, w.err)
			}
			if w.at == atBarrier {
				n++
			}
		}
		if n == 0 {
			return nil
		}
		if !c.meet() {
			return fmt.Errorf("kernel %s, core %d: deadlock: %d of %d warps wait at a barrier", c.k.Name, c.id, n,
				len(c.warps))
		}
	}
}

// warp is the state of one warp. Values are indexed by ID and lane.
type warp struct {
	*core
	id    int
	n     int
	at    wait
	next  func() (wait, bool)
	stop  func()
	yield func(wait) bool
	err   error

	values  []uint32
	known   []uint32 // by ID: lanes in which the value has been computed
	vars    []uint32
	varKnow []uint32
	left    []uint32 // by ID of a loop: lanes that have left it
	skipped []uint32 // by ID of a loop: lanes that skip the rest of its body
	index   []uint32 // lanes' index of the innermost For
	req     emu.UnitRequest
}

// failure carries an error out of the interpreter's recursion.
type failure struct{ err error }

func newWarp(c *core, id int) *warp {
	k, n := c.k, c.m.Threads
	w := &warp{core: c, id: id, n: n, values: make([]uint32, k.Instr*n), known: make([]uint32, k.Instr),
		vars:    make([]uint32, k.Vars*n),
		varKnow: make([]uint32, k.Vars), left: make([]uint32, k.Instr), skipped: make([]uint32, k.Instr)}
	w.next, w.stop = iter.Pull(w.run_)
	return w
}

// run_ is the body of the warp's coroutine.
func (w *warp) run_(yield func(wait) bool) {
	defer func() {
		if f, ok := recover().(failure); ok {
			w.err = f.err
			yield(ended)
		}
	}()
	w.yield = yield
	for _, r := range w.k.Roots {
		w.root(r)
	}
	w.block(w.k.Body, ones(w.n))
	yield(ended)
}

func (w *warp) fail(i *Instr, format string, args ...any) {
	err := fmt.Errorf(format, args...)
	if i.Pos != "" {
		err = fmt.Errorf("%s of %s: %w", i.Op, i.Pos, err)
	}
	panic(failure{err})
}

func (w *warp) set(i *Instr, lane int, v uint32) { w.values[i.ID*w.n+lane] = v }

func (w *warp) get(i Value, lane int) uint32 { return w.values[i.ID*w.n+lane] }

// root computes a root in all lanes.
func (w *warp) root(r *Instr) {
	w.known[r.ID] = ones(w.n)
	for l := range w.n {
		w.set(r, l, w.rootIn(r, l))
	}
}

func (w *warp) rootIn(r *Instr, lane int) uint32 {
	m := w.m
	switch r.Op {
	case OpConst:
		return r.Imm
	case OpParam:
		return m.Mem.Load32(m.Args + 4*uint32(w.k.Params[r.Imm].Word))
	case OpShared:
		return emu.ScratchpadBase + uint32(w.k.Shared[r.Imm].Offset)
	case OpWeaverCapacity:
		return w.weaverCapacity()
	}
	in := w.id*w.n + lane
	return uint32(map[Op]int{
		OpLaneID: lane, OpWarpID: w.id, OpCoreID: w.core.id, OpThreadInCore: in,
		OpGlobalThread: w.core.id*w.run.warps*w.n + in,
		OpSpreadThread: (w.id*m.Cores+w.core.id)*w.n + lane,
		OpNumLanes:     w.n, OpNumWarps: w.run.warps, OpNumCores: m.Cores, OpNumThreads: m.Cores * w.run.warps * w.n,
		OpAllMask: int(ones(w.n)),
	}[r.Op])
}

// block executes a block in the lanes of mask and returns those that reach its end.
func (w *warp) block(b *Block, mask uint32) uint32 {
	for _, i := range b.Instrs {
		if mask == 0 {
			return 0
		}
		mask = w.instr(i, mask)
	}
	return mask
}

func (w *warp) instr(i *Instr, mask uint32) uint32 {
	if w.Steps++; w.m.MaxSteps > 0 && w.Steps > w.m.MaxSteps {
		panic(failure{ErrSteps})
	}
	w.check(i, mask)
	switch i.Op.Kind() {
	case KindPure:
		w.pure(i, mask)
	case KindVar:
		w.variable(i, mask)
	case KindControl:
		return w.control(i, mask)
	case KindWarp:
		w.cross(i, mask)
	default:
		w.effect(i, mask)
	}
	w.known[i.ID] |= mask
	return mask
}

// check verifies that every lane that uses a value has computed it.
func (w *warp) check(i *Instr, mask uint32) {
	for n, a := range i.Args {
		if a != nil && mask&^w.known[a.ID] != 0 {
			w.fail(i, "lanes 0x%x use argument %d, and have not computed it", mask&^w.known[a.ID], n+1)
		}
	}
}

func (w *warp) args(i *Instr, lane int) (a [3]uint32) {
	for n, x := range i.Args {
		if x != nil && n < 3 {
			a[n] = w.get(x, lane)
		}
	}
	return a
}

func (w *warp) pure(i *Instr, mask uint32) {
	for ; mask != 0; mask &= mask - 1 {
		l := bits.TrailingZeros32(mask)
		w.set(i, l, i.Eval(w.args(i, l)))
	}
}

// lanes returns the lanes of mask in which a predicate holds.
func (w *warp) lanes(p Value, mask uint32) (on uint32) {
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		on |= (w.get(p, l) & 1) << l
	}
	return on
}

func (w *warp) variable(i *Instr, mask uint32) {
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		switch i.Op {
		case OpVar, OpSet:
			w.vars[i.Var.ID*w.n+l] = w.get(i.Args[0], l)
		case OpGet:
			w.set(i, l, w.vars[i.Var.ID*w.n+l])
		case OpIndex:
			w.set(i, l, w.index[l])
		}
	}
	switch i.Op {
	case OpVar, OpSet:
		w.varKnow[i.Var.ID] |= mask
	case OpGet:
		if off := mask &^ w.varKnow[i.Var.ID]; off != 0 {
			w.fail(i, "lanes 0x%x have not set the variable", off)
		}
	}
}

// cross computes operations that read other lanes.
func (w *warp) cross(i *Instr, mask uint32) {
	set := uint32(0)
	if i.Args[0].Type == Pred {
		set = w.lanes(i.Args[0], mask)
	}
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		switch i.Op {
		case OpBallot:
			w.set(i, l, set)
		case OpAny:
			w.set(i, l, flag(set != 0))
		case OpAll:
			w.set(i, l, flag(set == mask))
		default:
			src := shuffle(i.Op, l, w.n, w.get(i.Args[1], l))
			if mask>>src&1 == 0 {
				w.fail(i, "lane %d takes the value of lane %d, which is off", l, src)
			}
			w.set(i, l, w.get(i.Args[0], src))
		}
	}
}
