package traces

import (
	"errors"
	"fmt"

	"heddle/components/accel"
	"heddle/components/core"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/sim"
)

// Replayer replays a file on a machine's warps.
type Replayer struct {
	file    *File
	cores   []*replayedCore
	warps   []*replayed
	host    replayedHost
	launch  int
	Answers uint64 // answers of the machine's graph units
	Others  uint64 // those of them that differ from the recorded ones
}

// NewReplayer prepares a replay. It refuses machines of another shape.
func NewReplayer(f *File, shape Shape) (*Replayer, error) {
	if shape != f.Meta.Shape {
		return nil, fmt.Errorf(
			"%s was recorded on %v, and the machine has %v: the division of work among warps depends on it, so the trace "+
				"cannot be replayed here",
			f.path, f.Meta.Shape, shape)
	}
	return &Replayer{file: f}, nil
}

// Source supplies a core's instructions: for sim.Options.
func (r *Replayer) Source(n int, c *emu.Core) core.Source {
	s := &replayedCore{Core: c}
	for i := range r.file.Meta.Shape.Warps {
		s.warps = append(s.warps, &replayed{Warp: c.Warp(i), by: r, of: s, id: n*r.file.Meta.Shape.Warps + i})
	}
	r.cores = append(r.cores, s)
	r.warps = append(r.warps, s.warps...)
	return s
}

// Attach refuses machines whose graph units differ in ways that programs can observe.
func (r *Replayer) Attach(m *sim.Machine) error {
	was, now := r.file.Meta.Unit, unitOf(m)
	r.host = replayedHost{hand: m.Hand(), mem: m.Arch.Mem}
	for i, u := range m.Units {
		r.cores[i].unit = u
	}
	switch {
	case was == nil:
		return nil // an unused unit has no effect
	case now == nil || now.Name != was.Name || len(now.Answered) != len(was.Answered):
		return fmt.Errorf("%s asks a graph unit (%s) that the machine's cores do not have", r.file.path, was.Name)
	case now.Visible != was.Visible:
		return fmt.Errorf(
			"%s was recorded with a %s that looks different to programs (%snow %s), whose instructions depend on it",
			r.file.path, was.Name, was.Visible, now.Visible)
	}
	return nil
}

// Begin prepares a launch, and returns the program and argument to launch.
func (r *Replayer) Begin(launch int) (p *isa.Program, arg uint32, err error) {
	decoders, host, err := r.file.launch(launch, nil)
	if err != nil {
		return nil, 0, err
	}
	if err := r.host.begin(&host); err != nil {
		return nil, 0, fmt.Errorf("%s: launch %d, host: %w", r.file.path, launch, err)
	}
	r.launch = launch
	l := &r.file.Meta.Launches[launch]
	code := r.file.codes[l.Program]
	for i, w := range r.warps {
		decoders[i].memory = w.memory
		w.decoder, w.started = decoders[i], false
		w.begin(code)
	}
	return code.program, l.Arg, nil
}

// End checks, after a launch, that all warps reached the ends of their traces.
func (r *Replayer) End() error {
	for _, w := range r.warps {
		if w.bad() || w.rest() {
			return w.wrong("the warp has ended, and its trace has %d instructions more", w.left)
		}
		w.decoder = decoder{memory: w.memory}
	}
	return nil
}

// replayedCore is the source of a replaying core.
type replayedCore struct {
	*emu.Core
	warps []*replayed
	unit  accel.Unit // nil: none
	asked int        // requests that the unit has not answered
}

// Trace returns a warp's trace.
func (c *replayedCore) Trace(warp int) core.Trace { return c.warps[warp] }

// replayed is a warp that follows its trace. Its registers are meaningless.
type replayed struct {
	*emu.Warp
	decoder
	by      *Replayer
	of      *replayedCore
	id      int
	started bool
	calls   []*given // by tag
}

// given is a recorded answer.
type given struct {
	newMask uint32
	out     lanes
}

// ErrTrace is an error in a file's contents.
var ErrTrace = errors.New("the trace does not fit its program")

func (w *replayed) wrong(format string, args ...any) error {
	f := w.by.file
	return fmt.Errorf("%s: launch %d, %s, pc 0x%08x: %w: %s", f.path, w.by.launch, f.Meta.Shape.Name(w.id), w.PC(),
		ErrTrace, fmt.Sprintf(format, args...))
}

// next begins an instruction.
func (w *replayed) next() error {
	if w.left == 0 {
		return w.wrong("it ends before the warp does")
	}
	w.left--
	if !w.started {
		w.started = true
		if at := w.address(); at != w.PC() {
			return w.wrong("the warp starts at 0x%08x there", at)
		}
	}
	return nil
}

// here returns the current instruction's site.
func (w *replayed) here(class isa.Class) (*site, error) {
	op := w.code.at(w.PC())
	if op == nil || op.site < 0 || op.Class != class {
		return nil, w.wrong("the program has no such instruction here")
	}
	return w.siteOf(op), nil
}

// read returns an error if the columns just read were invalid.
func (w *replayed) read(columns []cursor) error {
	for i := range columns {
		if columns[i].bad {
			return w.wrong("a column ends too soon, or holds an impossible value")
		}
	}
	return nil
}

// Execute makes the warp follow its recorded path.
func (w *replayed) Execute(op *emu.Op) error {
	if err := w.next(); err != nil {
		return err
	}
	switch op.LatencyClass() {
	case isa.ClassBranch:
		w.branch(op)
		return w.read(w.columns[:colControl+1])
	case isa.ClassWarp:
		return w.controlled(op)
	}
	w.Pass(op)
	return nil
}

func (w *replayed) branch(op *emu.Op) {
	switch op.Decides() {
	case emu.DecidesBranch:
		w.Branch(op, w.turn())
	case emu.DecidesTarget:
		w.JumpTo(op, w.address())
	default:
		w.Branch(op, true)
	}
}

func (w *replayed) controlled(op *emu.Op) error {
	s, err := w.here(isa.ClassWarp)
	if err != nil {
		return err
	}
	args := w.control(s)
	args.Negated = op.Neg != 0
	if err := w.read(w.columns[colControl : colControl+1]); err != nil {
		return err
	}
	err = w.Control(op, args)
	w.started = w.Mask() != 0
	return err
}

// Issue fills in the addresses.
func (w *replayed) Issue(op *emu.Op, a *emu.Access) error {
	if err := w.next(); err != nil {
		return err
	}
	s, err := w.here(op.LatencyClass())
	if err != nil {
		return err
	}
	w.addresses(s, w.Mask(), op.Size(), (*lanes)(&a.Addr))
	writes := w.Mask()
	if op.LatencyClass() == isa.ClassAtomic && op.Chooses() {
		writes = w.wrote()
		if err := w.read(w.columns[colWrote : colWrote+1]); err != nil {
			return err
		}
	}
	w.IssueGiven(op, a, writes)
	return w.read(w.columns[colForms : colHigh+1])
}

// Ask fills in the operands. Errors in them are reported by the next memory access or at the end.
func (w *replayed) Ask(op *emu.Op, u *emu.UnitCall) {
	err := w.next()
	s, wrong := w.here(isa.ClassUnit)
	w.AskGiven(op, u)
	if err != nil || wrong != nil {
		w.columns[colForms].fail()
		return
	}
	w.operands(s, u.Mask, (*lanes)(u.A[:maxLanes]), (*lanes)(u.B[:maxLanes]), (*lanes)(u.C[:maxLanes]))
	if w.by.file.Meta.Unit.answers(op.UnitFn()) {
		g := slot(&w.calls, u.Tag)
		if *g == nil {
			*g = &given{}
		}
		w.of.asked++
		if (*g).newMask = w.answer(s, u.Mask, &(*g).out); (*g).newMask&u.Mask == 0 {
			w.columns[colAnswers].fail()
		}
	}
}

// answers reports whether a function has an answer.
func (u *Unit) answers(fn uint8) bool { return u != nil && int(fn) < len(u.Answered) && u.Answered[fn] }

// Answer applies the recorded answer's mask to the warp, and compares the unit's answer.
func (w *replayed) Answer(u *emu.UnitCall) {
	if u.Tag < len(w.calls) && w.calls[u.Tag] != nil {
		g := w.calls[u.Tag]
		w.by.compare(u, g)
		u.NewMask = g.newMask
		if w.of.asked--; w.by.Others > 0 && w.of.asked == 0 {
			w.of.forsake()
		}
	}
	w.AnswerGiven(u)
	w.started = w.Mask() != 0
}

// forsake informs a core's unit when its warps will send no more requests: a different assignment of work from the
// recorded one may have left it with some.
func (c *replayedCore) forsake() {
	u, ok := c.unit.(accel.Forsaken)
	if !ok {
		return
	}
	for _, w := range c.warps {
		if len(w.columns[colAnswers].b) > 0 {
			return
		}
	}
	u.Forsake(c.unit.ClockHandle().Domain().Cycle())
}

func (r *Replayer) compare(u *emu.UnitCall, g *given) {
	r.Answers++
	same := u.NewMask == g.newMask
	if u.Mask == allLanes && len(u.Out) == maxLanes {
		if !same || *(*lanes)(u.Out) != g.out {
			r.Others++
		}
		return
	}
	for l, x := range u.Out {
		same = same && (u.Mask>>l&1 == 0 || x == g.out[l])
	}
	if !same {
		r.Others++
	}
}
