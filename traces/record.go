package traces

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"

	"heddle/components/accel"
	"heddle/components/core"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/sim"
)

// Recorder records the instructions that a machine's warps execute.
type Recorder struct {
	Meta Meta

	out      *writer
	limit    int // size of a chunk's columns
	warps    []*recorded
	codes    []*code // one for each of Meta.Programs
	hashes   map[string]int
	answered []bool
	timing   [numCauses]bool
	lanes    uint64        // addresses in this launch
	host     *recordedHost // nil: no unit reads memory
	err      error
}

// Reasons why a warp's execution may depend on timing.
const (
	causeUnit = iota
	causeAtomic
	causeClock
	numCauses
)

var causes = [numCauses]string{
	causeUnit:   "answers of the graph unit",
	causeAtomic: "results of atomics",
	causeClock:  "cycle and instruction counters",
}

// NewRecorder begins a file. meta holds everything known in advance; the recorder adds programs and launches.
func NewRecorder(path string, meta Meta) (*Recorder, error) {
	out, err := create(path)
	if err != nil {
		return nil, err
	}
	return &Recorder{Meta: meta, out: out, limit: chunkLimit(meta.Shape), hashes: map[string]int{}}, nil
}

// Source supplies a core's instructions while it is recorded: for sim.Options.
func (r *Recorder) Source(n int, c *emu.Core) core.Source {
	s := &recordedCore{Core: c}
	for i := range r.Meta.Shape.Warps {
		w := &recorded{Warp: c.Warp(i), to: r, id: n*r.Meta.Shape.Warps + i}
		s.warps = append(s.warps, w)
	}
	r.warps = append(r.warps, s.warps...)
	return s
}

// Attach passes the recorder its machine. It refuses one whose graph units read memory without reporting which.
func (r *Recorder) Attach(m *sim.Machine) error {
	if r.Meta.Unit = unitOf(m); r.Meta.Unit == nil {
		return nil
	}
	r.answered = r.Meta.Unit.Answered
	hand := m.Hand()
	if _, reads := m.Units[0].(accel.MemoryUser); reads && hand == nil {
		return fmt.Errorf("the cores' graph unit (%s) reads memory by itself, and does not report the addresses: record on "+
			"a machine without it", r.Meta.Unit.Name)
	}
	if hand != nil {
		r.host = newRecordedHost(r, m, hand)
	}
	return nil
}

// unitOf returns the graph unit of a machine's cores; nil: none.
func unitOf(m *sim.Machine) *Unit {
	if len(m.Units) == 0 {
		return nil
	}
	u := m.Units[0]
	out := &Unit{Name: u.Architecture().Name(), Visible: visible(u)}
	for _, t := range u.Traits() {
		out.Answered = append(out.Answered, t.Answered)
	}
	return out
}

// visible returns the properties of a unit that programs can read, or that affect their execution.
func visible(u accel.Unit) (out string) {
	for fn, t := range u.Traits() {
		if t.SetsMask {
			out += fmt.Sprintf("function %d sets the mask; ", fn)
		}
	}
	for _, c := range isa.CSRs {
		if v, ok := u.Architecture().CSR(c.Num); ok {
			out += fmt.Sprintf("%s = %d; ", c.Name, v)
		}
	}
	return out
}

// Begin is called before a launch.
func (r *Recorder) Begin(p *isa.Program, arg uint32) {
	n := r.program(p)
	r.out.begin(len(r.Meta.Launches))
	r.Meta.Launches = append(r.Meta.Launches, Launch{Program: n, Arg: arg})
	for _, w := range r.warps {
		w.begin(r.codes[n])
	}
	if r.host != nil {
		r.host.begin(p)
	}
}

// program returns the number of a program.
func (r *Recorder) program(p *isa.Program) int {
	rec := newProgram(p)
	n, ok := r.hashes[rec.Hash]
	if !ok {
		n = len(r.codes)
		r.hashes[rec.Hash] = n
		r.codes = append(r.codes, newCode(p))
		r.Meta.Programs = append(r.Meta.Programs, rec)
	}
	return n
}

// End is called after a completed launch, with its result.
func (r *Recorder) End(m *sim.Machine, res sim.Result) error {
	l := &r.Meta.Launches[len(r.Meta.Launches)-1]
	l.Cycles, l.WarpInstrs, l.ThreadInstrs = res.Cycles, res.WarpInstrs, res.ThreadInstrs
	l.LaneAddresses, r.lanes = r.lanes, 0
	r.Meta.Cycles += res.Cycles
	for _, w := range r.warps {
		w.end()
	}
	r.out.flush()
	p := r.codes[l.Program].program
	if r.host != nil {
		r.fail(r.host.end(p))
	}
	return errors.Join(r.err, r.out.err, r.unchanged(m.Arch.Mem, p))
}

// unchanged refuses self-modifying programs.
func (r *Recorder) unchanged(m *emu.Memory, p *isa.Program) error {
	for _, s := range p.Segments {
		now := make([]byte, len(s.Data))
		if m.Read(s.Addr, now); s.Executable && !bytes.Equal(now, s.Data) {
			return fmt.Errorf("%s: the program has changed its own code at 0x%08x: a trace holds it as it was loaded",
				p.Name, s.Addr)
		}
	}
	return nil
}

// Close completes the file.
func (r *Recorder) Close() error {
	for i, there := range r.timing {
		if there {
			r.Meta.Timing = append(r.Meta.Timing, causes[i])
		}
	}
	return r.out.close(&r.Meta)
}

// Abort discards the file.
func (r *Recorder) Abort() error { return r.out.abort() }

// recordedCore is the source of a recorded core.
type recordedCore struct {
	*emu.Core
	warps []*recorded
}

// Trace returns a warp's trace.
func (c *recordedCore) Trace(warp int) core.Trace { return c.warps[warp] }

// recorded is a warp that executes its program while being recorded.
type recorded struct {
	*emu.Warp
	encoder
	to      *Recorder
	id      int
	started bool
	calls   []*answer // by tag: requests that the unit has not answered
}

func (w *recorded) begin(c *code) {
	w.encoder.begin(c)
	w.started = false
}

// next begins an instruction.
func (w *recorded) next() {
	if w.instrs++; !w.started {
		w.started = true
		w.address(w.PC())
	}
}

// here returns the current instruction's site.
func (w *recorded) here(op *emu.Op) *site {
	s := w.site(w.PC())
	if s == nil {
		w.to.fail(fmt.Errorf("0x%08x is in no executable segment of it, or was written by it: such a program cannot be "+
			"recorded", w.PC()))
		s = newSite(op.LatencyClass())
	}
	return s
}

func (r *Recorder) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// Execute executes.
func (w *recorded) Execute(op *emu.Op) error {
	w.next()
	switch op.LatencyClass() {
	case isa.ClassBranch:
		return w.branch(op)
	case isa.ClassWarp:
		return w.controlled(op)
	case isa.ClassCSR:
		w.to.timing[causeClock] = w.to.timing[causeClock] || tellsTime(op.CSR)
	}
	return w.untrapped(w.Warp.Execute(op))
}

// Decode decodes.
func (w *recorded) Decode(pc uint32) (*emu.Op, error) {
	op, err := w.Warp.Decode(pc)
	return op, w.untrapped(err)
}

// untrapped turns a trap that the program would handle into an error: a trace does not contain its handler.
func (w *recorded) untrapped(err error) error {
	if t := (*emu.Trap)(nil); errors.As(err, &t) && w.Handles(t) {
		return fmt.Errorf("the program handles traps, and such a run cannot be recorded: %v", err)
	}
	return err
}

// tellsTime reports whether a CSR's value depends on timing.
func tellsTime(csr uint16) bool {
	switch csr {
	case isa.CSRMcycle, isa.CSRMcycleh, isa.CSRMinstret, isa.CSRMinstreth, isa.CSRCycle, isa.CSRCycleh, isa.CSRInstret,
		isa.CSRInstreth:
		return true
	}
	return csr-isa.CSRCounters < isa.NumCounters || csr-isa.CSRCountersh < isa.NumCounters
}

func (w *recorded) branch(op *emu.Op) error {
	next := w.PC() + 4
	if err := w.Warp.Execute(op); err != nil {
		return w.untrapped(err)
	}
	switch op.Decides() {
	case emu.DecidesBranch:
		w.turn(w.PC() != next)
	case emu.DecidesTarget:
		w.address(w.PC())
	}
	w.cut()
	return nil
}

func (w *recorded) controlled(op *emu.Op) error {
	w.control(w.here(op), w.ControlArgs(op))
	if err := w.Warp.Execute(op); err != nil {
		return w.untrapped(err)
	}
	w.started = w.Mask() != 0
	w.cut()
	return nil
}

// Issue records a memory access's operands.
func (w *recorded) Issue(op *emu.Op, a *emu.Access) error {
	w.next()
	s := w.here(op)
	if err := w.Warp.Issue(op, a); err != nil {
		return w.untrapped(err)
	}
	w.addresses(s, a.Mask, op.Size(), (*lanes)(&a.Addr))
	w.to.lanes += uint64(bits.OnesCount32(a.Mask))
	if op.LatencyClass() == isa.ClassAtomic {
		w.to.timing[causeAtomic] = w.to.timing[causeAtomic] || op.Rd != 0
		if op.Chooses() {
			a.Tell(w.chosen.push())
		}
	}
	w.cut()
	return nil
}

// Ask records a request's operands.
func (w *recorded) Ask(op *emu.Op, u *emu.UnitCall) {
	w.next()
	s := w.here(op)
	w.Warp.Ask(op, u)
	for i, x := range [...][]uint32{u.A, u.B, u.C} {
		var all lanes
		copy(all[:], x)
		s.vectors[i].encode(w.columns[colForms:], u.Mask, 0, &all)
	}
	if w.to.answered[op.UnitFn()] {
		w.to.timing[causeUnit] = true
		a := w.asked.push()
		*a = answer{at: s, mask: u.Mask}
		*slot(&w.calls, u.Tag) = a
	}
	w.cut()
}

// slot returns a list's element, growing the list as needed.
func slot[T any](list *[]T, i int) *T {
	for len(*list) <= i {
		var zero T
		*list = append(*list, zero)
	}
	return &(*list)[i]
}

// Answer passes the unit's answer to the warp.
func (w *recorded) Answer(u *emu.UnitCall) {
	a := w.calls[u.Tag]
	a.there, a.newMask = true, u.NewMask
	copy(a.out[:], u.Out)
	w.Warp.Answer(u)
	w.started = w.Mask() != 0
}

// cut writes a chunk when it is full.
func (w *recorded) cut() {
	if w.full(w.to.limit) {
		w.settle()
		w.to.out.add(w.id, &w.encoder)
	}
}

// end writes the last chunk of a launch. No operation is in flight any more.
func (w *recorded) end() {
	w.settle()
	w.endTurns()
	if !w.asked.empty() || !w.chosen.empty() {
		w.to.fail(fmt.Errorf("%s: an answer or an atomic is missing at the end of a launch",
			w.to.Meta.Shape.Name(w.id)))
	}
	if w.instrs > 0 || w.holds() {
		w.to.out.add(w.id, &w.encoder)
	}
}
