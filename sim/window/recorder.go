package window

import (
	"errors"
	"fmt"
	"slices"

	akita "github.com/sarchlab/akita/v3/sim"

	"heddle/components/clock"
	"heddle/components/core"
	"heddle/isa"
	"heddle/sim"
)

// Export receives the contents of the window. The cycles of its calls never decrease, but those of enter, wait and
// retire may be up to horizon ahead of those of tick.
type Export interface {
	// show brings an instruction that is in its stage from a cycle on.
	show(i *Inst, at uint64)
	// enter reports a new stage from cycle at on, without a wait so far.
	enter(i *Inst, at uint64)
	// wait reports the cause of a wait from cycle at on; empty: none. before is the previous cause.
	wait(i *Inst, before string, at uint64)
	// retire reports that the instruction ended with the cycle before.
	retire(i *Inst, at uint64)
	// discard reports the same of an instruction without effect.
	discard(i *Inst, at uint64)
	// tick reports the end of a cycle of the window.
	tick(m *look)
	// failure returns the reason why the export is incomplete, or nil.
	failure() error
	// close ends the file after the cycle before.
	close(at uint64) error
}

// horizon is how far ahead an instruction's end is known.
const horizon = core.WriteBack + 1

// look holds the observations of a cycle.
type look struct {
	now   uint64
	m     *sim.Machine
	spec  Spec
	warps [][]string // by core and warp: its state; empty: not looked at, or not active
	units []string   // by core: the state of its graph unit; nil: none has one

	step               int // super-step; 0: none has begun
	frontier, outgoing uint64
}

// Recorder observes a machine.
type Recorder struct {
	spec    Spec
	m       *sim.Machine
	exports []Export
	handle  clock.Handle
	now     uint64      // the cycle of the last event
	ids     uint64      // given to instructions
	flying  [][][]*Inst // by core and warp: in order of fetch, not committed
	ending  []*Inst     // committed and not done, in that order
	issued  []uint64    // by core: warps that issued in this cycle
	seen    bool        // a cycle of the window
	look    look
}

// stated is a graph unit with a named state.
type stated interface{ StateName() string }

// Attach joins a recorder to a machine that has not run yet. Close ends it.
func Attach(m *sim.Machine, s Spec, exports ...Export) (*Recorder, error) {
	warps := m.Cores[0].NumWarps()
	if err := s.Check(len(m.Cores), warps); err != nil {
		return nil, err
	}
	d, err := m.System.AddObserver("window", m.Cores[0].ClockHandle().Domain().Period())
	if err != nil {
		return nil, err
	}
	m.System.Alone()
	r := &Recorder{spec: s, m: m, exports: exports, flying: make([][][]*Inst, len(m.Cores)),
		issued: make([]uint64, len(m.Cores)), look: look{m: m, spec: s}}
	for n, c := range m.Cores {
		r.flying[n] = make([][]*Inst, warps)
		r.look.warps = append(r.look.warps, make([]string, warps))
		if s.Cores.Has(uint64(n)) {
			c.AcceptHook(&hook{r, n})
		}
	}
	if len(m.Units) > 0 {
		if _, ok := m.Units[0].(stated); ok {
			r.look.units = make([]string, len(m.Units))
		}
	}
	m.ObserveSteps(r.stepped)
	r.handle = d.Add(r)
	r.handle.WakeAt(s.Cycles.First)
	return r, nil
}

// stepped notes that a super-step begins.
func (r *Recorder) stepped(n int, vertices, edges uint64) {
	r.look.step, r.look.frontier, r.look.outgoing = n, vertices, edges
	for _, x := range r.exports {
		if x, ok := x.(interface{ stepped(l *look) }); ok {
			x.stepped(&r.look)
		}
	}
}

// hook is a recorder's at one core.
type hook struct {
	r    *Recorder
	core int
}

// Func completes Akita's interface.
func (h *hook) Func(ctx akita.HookCtx) {
	e, ok := ctx.Item.(*core.HookEvent)
	if r := h.r; ok && r.spec.Warps.Has(uint64(e.Warp)) && e.Cycle <= r.spec.Cycles.Last {
		r.advance(e.Cycle)
		r.event(h.core, ctx.Pos, e)
	}
}

// event follows an instruction.
func (r *Recorder) event(n int, pos *akita.HookPos, e *core.HookEvent) {
	switch pos {
	case core.HookPosFetch:
		r.fetched(n, e)
		return
	case core.HookPosDecode:
		r.decoded(n, e)
		return
	case core.HookPosDiscard:
		r.discarded(n, e)
		return
	case core.HookPosIssue:
		r.issued[n] |= 1 << e.Warp
	}
	s := steps[pos]
	for k, i := range r.flying[n][e.Warp] {
		if i.op != e.Op || !s.from[i.stage] {
			continue
		}
		if s.to == commit {
			i.ends = e.Cycle + horizon
			r.flying[n][e.Warp] = append(r.flying[n][e.Warp][:k], r.flying[n][e.Warp][k+1:]...)
			r.ending = append(r.ending, i)
		}
		r.enter(i, s.to, e.Cycle+1)
		return
	}
	panic(fmt.Sprintf("BUG: window @%d: core %d warp %d: %s of an instruction that is not under way: %s", e.Cycle, n,
		e.Warp, pos.Name, e.Op.Name))
}

func (r *Recorder) fetched(n int, e *core.HookEvent) {
	i := &Inst{id: r.ids, core: n, warp: e.Warp, pc: e.PC, since: e.Cycle}
	r.ids++
	r.flying[n][e.Warp] = append(r.flying[n][e.Warp], i)
	r.shown(i)
}

// decoded finds the warp's youngest: it fetches one at a time. If that has been decoded, the instruction came with its
// fetch.
func (r *Recorder) decoded(n int, e *core.HookEvent) {
	f := r.flying[n][e.Warp]
	i := f[len(f)-1]
	if i.op != nil {
		r.fetched(n, e)
		f = r.flying[n][e.Warp]
		i = f[len(f)-1]
	}
	i.op, i.mask = e.Op, e.Mask
	r.enter(i, decode, e.Cycle)
	r.enter(i, ibuffer, e.Cycle+1)
}

// discarded finds the instruction in the warp's collector, or the one that is not decoded.
func (r *Recorder) discarded(n int, e *core.HookEvent) {
	f := &r.flying[n][e.Warp]
	k := slices.IndexFunc(*f, func(i *Inst) bool { return i.op == e.Op && (e.Op == nil || i.stage == operands) })
	i := (*f)[k]
	*f = slices.Delete(*f, k, k+1)
	if i.why != "" {
		r.wait(i, "", e.Cycle)
	}
	if i.shown {
		for _, x := range r.exports {
			x.discard(i, e.Cycle+1)
		}
	}
}

// enter moves an instruction to a stage.
func (r *Recorder) enter(i *Inst, to stage, at uint64) {
	visible := i.shown || at > r.spec.Cycles.First && r.shown(i) // where it is when the window begins is enough
	if i.why != "" {
		r.wait(i, "", at-1)
	}
	if i.stage, i.since = to, at; to == execute || to == memory && i.executes == 0 {
		i.executes = at
	}
	if !visible {
		return
	}
	for _, x := range r.exports {
		x.enter(i, at)
		if to == commit {
			x.retire(i, i.ends)
		}
	}
}

// wait records the cause of an instruction's wait.
func (r *Recorder) wait(i *Inst, why string, at uint64) {
	before := i.why
	if i.why = why; before == why || !i.shown {
		return
	}
	for _, x := range r.exports {
		x.wait(i, before, at)
	}
}

// shown reports whether the exports know an instruction. They get to in the window.
func (r *Recorder) shown(i *Inst) bool {
	if i.shown || r.now < r.spec.Cycles.First {
		return i.shown
	}
	i.shown = true
	for _, x := range r.exports {
		x.show(i, max(i.since, r.spec.Cycles.First))
		if i.stage == commit {
			x.retire(i, i.ends)
		}
	}
	return true
}

// advance moves to a cycle, and removes ended instructions.
func (r *Recorder) advance(now uint64) {
	if now == r.now {
		return
	}
	r.now = now
	clear(r.issued)
	gone := 0
	for gone < len(r.ending) && r.ending[gone].ends <= now {
		gone++
	}
	r.ending = append(r.ending[:0], r.ending[gone:]...)
}

// Tick records the state at the end of a cycle of the window.
func (r *Recorder) Tick(now clock.Cycle) bool {
	if now > r.spec.Cycles.Last {
		return false
	}
	r.advance(now)
	r.seen = true
	for _, i := range r.ending {
		r.shown(i)
	}
	for n := range r.flying {
		if r.spec.Cores.Has(uint64(n)) {
			r.lookAt(n)
		}
	}
	r.look.now = now
	for _, x := range r.exports {
		x.tick(&r.look)
		if err := x.failure(); err != nil {
			r.m.Interrupt(err) // the rest would be simulated for nothing
			return false
		}
	}
	return now < r.spec.Cycles.Last
}

// lookAt records the states of core n's unit and warps, and the causes of their instructions' waits.
func (r *Recorder) lookAt(n int) {
	if r.look.units != nil {
		r.look.units[n] = r.m.Units[n].(stated).StateName()
	}
	for w, list := range r.flying[n] {
		if !r.spec.Warps.Has(uint64(w)) {
			continue
		}
		state := r.m.Cores[n].WarpState(w)
		for _, i := range list {
			if i.stage == board && i.since > r.now {
				state = onItsWay
			}
			r.shown(i)
			r.wait(i, r.why(i, state), r.now)
		}
		if r.issued[n]>>w&1 != 0 {
			state = "selected"
		}
		r.look.warps[n][w] = state
	}
}

// onItsWay is the state of a warp in the cycle in which its next instruction moves to the scoreboard.
const onItsWay = "no_instruction"

// why is the cause for which an instruction has waited in this cycle.
func (r *Recorder) why(i *Inst, state string) string {
	switch {
	case i.since > r.now:
		return i.why
	case i.stage == board:
		return state
	case i.stage == memory && r.look.units != nil && i.op.LatencyClass() == isa.ClassUnit:
		return r.look.units[i.core]
	}
	return ""
}

// Close ends the exports. It returns notes for their readers.
func (r *Recorder) Close() (notes []string, err error) {
	end := r.now + 1
	if r.spec.Cycles.Last < r.now {
		end = r.spec.Cycles.Last + 1
	}
	for _, x := range r.exports {
		err = errors.Join(err, x.close(end))
		if f, ok := x.(interface{ filled() string }); ok && f.filled() != "" {
			notes = append(notes, f.filled())
		}
	}
	if !r.seen {
		notes = append(notes,
			fmt.Sprintf("the window begins at cycle %d, and the run ended before, at cycle %d: nothing was seen",
				r.spec.Cycles.First, r.m.Cores[0].ClockHandle().Domain().Cycle()))
	}
	return notes, err
}
