package swarm

import (
	"context"
	"errors"
	"fmt"
	"math/bits"

	"heddle/isa"
	"heddle/isa/emu"
)

// Engine is a machine of Swarm tiles, without a clock.
type Engine struct {
	Stats Stats

	spec  Spec
	arch  *emu.Machine
	code  *emu.ScalarCode `checkpoint:"assembled"`
	tiles []*tile
	cores []*core
	used  int // tiles that tasks are sent to

	now             uint64 // the cycle of the current event
	began           uint64 // of the launch
	past            uint64 // cycles of earlier launches
	committedBefore uint64 // it
	lastTime        uint32 // timestamp of the last task that has committed
	events          events
	numbered        uint64 // tasks created
	dispatched      uint64 // executions begun: the tie-breakers of virtual time
	live            int    // tasks that have neither committed nor been discarded
	random          uint64
	dirty           uint64 // tiles that may have something to dispatch or to admit
	err             error
	over            bool

	committing []*task
	free       []*task
	order      []emu.TaskRecord // commits, in order; nil: not kept
	recording  bool

	exact     bool
	hashes    *hashes
	hashBits  []uint16
	hashed    uint32
	lineShift int

	width       int // of the mesh
	links       []calendar
	controllers []controller
	directory   []*[entriesPerPage]entry

	faults   faults
	auditing bool // check that accesses that are not checked have no conflicts
}

// Limits of a launch.
type Limits struct {
	Cycles uint64 // 0: none
}

// NewEngine returns a machine of so many tiles with so many cores each, on the memory, the console and the exit code of
// arch, whose cores, of one warp and one lane, count the instructions.
func NewEngine(s Spec, tiles, cores int, arch *emu.Machine) (*Engine, error) {
	if key, msg, ok := s.Fits(); !ok {
		return nil, fmt.Errorf("swarm.%s = %s", key, msg)
	}
	if tiles < 1 || tiles > MaxTiles {
		return nil, fmt.Errorf("%d tiles: expected 1..%d", tiles, MaxTiles)
	}
	e := &Engine{spec: s, arch: arch, exact: s.Signatures == Exact, lineShift: bits.TrailingZeros(uint(s.LineBytes))}
	per := s.SignatureBits / s.SignatureWays
	e.hashes = newHashes(s.SignatureWays, per, uint64(s.Seed))
	for e.width = 1; e.width*e.width < tiles; e.width++ {
	}
	for i := range tiles {
		t := &tile{e: e, id: i, x: i % e.width, y: i / e.width, room: s.TaskQueue * cores, commitRoom: s.CommitQueue * cores,
			l2: newArray(s.L2Bytes, s.L2Ways, s.LineBytes, 1), l3: newArray(s.L3Bytes, s.L3Ways, s.LineBytes, tiles)}
		t.l2.canaries = make([]time, len(t.l2.tags))
		t.spillAt = max(1, (t.room*s.SpillAt+99)/100)
		slots := cores + t.commitRoom
		t.slots = make([]*task, slots)
		t.readSigs, t.writeSigs = newSignatures(s.SignatureWays, per, slots), newSignatures(s.SignatureWays, per, slots)
		for slot := slots - 1; slot >= 0; slot-- {
			t.freeSlots = append(t.freeSlots, slot)
		}
		for range cores {
			c := &core{e: e, id: len(e.cores), tile: t, l1: newArray(s.L1Bytes, s.L1Ways, s.LineBytes, 1)}
			t.cores, e.cores = append(t.cores, c), append(e.cores, c)
		}
		e.tiles = append(e.tiles, t)
	}
	e.used = len(e.tiles)
	e.links = make([]calendar, e.width*((len(e.tiles)+e.width-1)/e.width)*4)
	e.directory = make([]*[entriesPerPage]entry, (uint64(1)<<32>>e.lineShift+entriesPerPage-1)/entriesPerPage)
	e.placeControllers()
	return e, nil
}

// Launch begins a program, which is in memory: its entry is the first task. Caches keep their lines, and time goes on.
func (e *Engine) Launch(p *isa.Program, arg uint32) error {
	code, err := emu.NewScalarCode(p, e.arch.Mem, arg)
	if err != nil {
		return err
	}
	e.code, e.began, e.over, e.committedBefore = code, e.now, false, e.Stats.Committed
	e.order = e.order[:0]
	e.random = uint64(e.spec.Seed)*0x9E3779B97F4A7C15 + 1
	for _, c := range e.cores {
		c.since = e.now
		c.l1.clear()
	}
	t := e.newTask(emu.Task{Fn: p.Entry}, e.tiles[0])
	t.ofParent = emu.TaskRecord{Parent: -1}
	t.arrive()
	e.schedule(e.now+uint64(e.spec.CommitInterval), commitEvent, nil, nil)
	e.settle()
	return nil
}

// UseCores makes coming launches use the first cores only, tile by tile.
func (e *Engine) UseCores(n int) error {
	if n < 1 || n > len(e.cores) {
		return fmt.Errorf("the machine has %d cores: expected 1..%d", len(e.cores), len(e.cores))
	}
	per := len(e.cores) / len(e.tiles)
	for i, t := range e.tiles {
		t.cores = e.cores[i*per : i*per+min(per, max(0, n-i*per))]
	}
	e.used = (n + per - 1) / per
	return nil
}

// Done reports whether the program has ended, by its last commit or by an error.
func (e *Engine) Done() bool { return e.over }

// Err returns the error of the program, or of the run.
func (e *Engine) Err() error { return e.err }

// Now returns the current cycle.
func (e *Engine) Now() uint64 { return e.now }

// Cycles returns the cycles since the launch.
func (e *Engine) Cycles() uint64 { return e.now - e.began }

// LastTime returns the timestamp of the last task that has committed.
func (e *Engine) LastTime() uint32 { return e.lastTime }

// Total returns the cycles of all launches.
func (e *Engine) Total() uint64 {
	if e.over {
		return e.past
	}
	return e.past + e.Cycles()
}

// Step runs to the next update of global virtual time, with it.
func (e *Engine) Step() {
	for !e.over {
		ev := e.events.pop()
		e.now = ev.at
		switch ev.kind {
		case coreEvent:
			if ev.core.execution == ev.execution {
				ev.core.step()
			}
		case arriveEvent:
			ev.task.arrive()
		case commitEvent:
			e.update()
			e.settle()
			return
		}
		e.settle()
	}
}

// Run runs a launched program to its end.
func (e *Engine) Run(ctx context.Context, l Limits) error {
	for !e.over {
		if err := ctx.Err(); err != nil {
			return err
		}
		if l.Cycles > 0 && e.Cycles() > l.Cycles {
			return fmt.Errorf("cycle limit reached: %d cycles", l.Cycles)
		}
		e.Step()
	}
	return e.err
}

// CheckInvariants checks the counts of a machine at rest, after cycles in all launches.
func (e *Engine) CheckInvariants() error {
	if e.live != 0 {
		return errors.New("swarm: invariant violated: the program has ended, and tasks are left")
	}
	for _, t := range e.tiles {
		if t.entries+len(t.idle)+len(t.commits)+len(t.batches) != 0 || len(t.freeSlots) != len(t.slots) {
			return fmt.Errorf("swarm: invariant violated: tile %d has tasks at the end of the program", t.id)
		}
		for _, s := range []*signatures{&t.readSigs, &t.writeSigs} {
			for _, w := range s.rows {
				if w != 0 {
					return fmt.Errorf("swarm: invariant violated: tile %d has signatures at the end of the program", t.id)
				}
			}
		}
	}
	return e.Stats.check(len(e.cores), e.past)
}

// bug returns the message of a broken invariant.
func (e *Engine) bug(format string, args ...any) string {
	return fmt.Sprintf("BUG: swarm @%d: %s", e.now, fmt.Sprintf(format, args...))
}

// newTask creates a task that holds an entry of a tile's task queue.
func (e *Engine) newTask(d emu.Task, tile *tile) *task {
	var t *task
	if n := len(e.free); n > 0 {
		t, e.free = e.free[n-1], e.free[:n-1]
		*t = task{
			children: t.children[:0], reads: t.reads[:0], writes: t.writes[:0], undo: t.undo[:0],
			printed: t.printed[:0],
		}
	} else {
		t = &task{}
	}
	t.Task, t.tile, t.number, t.time = d, tile, e.numbered, time{d.TS, undispatched}
	e.numbered++
	e.live++
	tile.entries++
	e.Stats.Enqueued++
	return t
}

// next returns a random number (splitmix64).
func (e *Engine) next() uint64 {
	e.random += 0x9E3779B97F4A7C15
	z := e.random
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// target chooses the tile of a task's child.
func (e *Engine) target(t *task, d *emu.Task) *tile {
	switch e.spec.Mapping {
	case MapHint:
		line := uint64(d.Args[0] >> e.lineShift)
		return e.tiles[line*0x9E3779B97F4A7C15>>32%uint64(e.used)]
	case MapLocal:
		return t.tile
	}
	return e.tiles[e.next()>>32%uint64(e.used)]
}

// settle lets tiles admit waiting enqueuers and dispatch, until nothing changes in this cycle.
func (e *Engine) settle() {
	for e.dirty != 0 {
		n := bits.TrailingZeros64(e.dirty)
		e.dirty &^= 1 << n
		e.tiles[n].settle()
	}
}

// eventKind is the kind of an event.
type eventKind uint8

const (
	coreEvent   eventKind = iota // a core goes on
	arriveEvent                  // a task reaches its tile
	commitEvent                  // global virtual time is updated
)

type event struct {
	at, number uint64
	kind       eventKind
	execution  uint64 // of the core: an abort makes its event stale
	core       *core
	task       *task
}

// schedule enters an event.
func (e *Engine) schedule(at uint64, kind eventKind, c *core, t *task) {
	ev := event{at: at, kind: kind, core: c, task: t}
	if c != nil {
		ev.execution = c.execution
	}
	e.events.push(ev)
}

// events is a heap, in order of cycle and creation.
type events struct {
	heap   []event
	number uint64
}

func (q *events) before(a, b *event) bool { return a.at < b.at || a.at == b.at && a.number < b.number }

func (q *events) push(ev event) {
	q.number++
	ev.number = q.number
	q.heap = append(q.heap, ev)
	h := q.heap
	i := len(h) - 1
	for i > 0 {
		p := (i - 1) / 2
		if !q.before(&ev, &h[p]) {
			break
		}
		h[i] = h[p]
		i = p
	}
	h[i] = ev
}

func (q *events) pop() event {
	h := q.heap
	top, n := h[0], len(h)-1
	last := h[n]
	h[n] = event{}
	q.heap = h[:n]
	h = q.heap
	i := 0
	for n > 0 {
		c := 2*i + 1
		if c >= n {
			break
		}
		if c+1 < n && q.before(&h[c+1], &h[c]) {
			c++
		}
		if !q.before(&h[c], &last) {
			break
		}
		h[i] = h[c]
		i = c
	}
	if n > 0 {
		h[i] = last
	}
	return top
}
