package traces

import (
	"errors"
	"fmt"

	"heddle/isa"
)

// Step is one instruction that a warp executed.
type Step struct {
	PC    uint32
	Mask  uint32 // lanes that executed it
	Inst  *isa.Inst
	Start bool // the warp's first instruction, at a launch or after wspawn

	Addrs  *lanes     // for loads, stores and atomics; otherwise nil
	Wrote  uint32     // lanes of a conditional atomic that wrote
	In     *[3]lanes  // for unit instructions: rs1, rs2, rs3; otherwise nil
	Out    *lanes     // for answered ones
	Args   *[2]uint32 // for wspawn and bar: rs1 and rs2
	Next   uint32     // the warp's next address
	Active uint32     // the warp's next lanes; 0: it ended
}

// Walker steps through the trace of one warp and launch, independently of the others: barriers and wspawn do not wait.
type Walker struct {
	decoder
	Step Step

	file   *File
	launch int
	warp   int
	pc     uint32
	mask   uint32
	full   uint32
	ipdom  isa.IPDOM
	addrs  lanes
	in     [3]lanes
	out    lanes
	args   [2]uint32
}

// Walk reads the trace of a warp, numbered over all cores, in a launch.
func (f *File) Walk(launch, warp int) (*Walker, error) {
	s := f.Meta.Shape
	if launch < 0 || launch >= len(f.Meta.Launches) {
		return nil, fmt.Errorf("%s has no launch %d: expected 0 to %d", f.path, launch, len(f.Meta.Launches)-1)
	}
	if warp < 0 || warp >= s.Cores*s.Warps {
		return nil, fmt.Errorf("%s has no warp %d: expected 0 to %d (core·%d + warp)", f.path, warp, s.Cores*s.Warps-1,
			s.Warps)
	}
	all, _, err := f.launch(launch, func(w int) bool { return w == warp })
	if err != nil {
		return nil, err
	}
	return f.walker(launch, warp, all[warp]), nil
}

func (f *File) walker(launch, warp int, d decoder) *Walker {
	n := f.Meta.Shape.Threads
	d.begin(f.codes[f.Meta.Launches[launch].Program])
	return &Walker{decoder: d, file: f, launch: launch, warp: warp, full: uint32(1<<n - 1),
		ipdom: isa.NewIPDOM(max(1, n-1))}
}

// Left returns the number of remaining instructions.
func (w *Walker) Left() uint64 { return w.left }

var errColumns = errors.New("a column ends too soon, or holds an impossible value")

// Next advances to the next instruction, which is then in Step; it returns false at the end.
func (w *Walker) Next() (bool, error) {
	if w.left == 0 {
		if w.rest() {
			return false, w.wrong(errors.New("it has more than its instructions"))
		}
		return false, nil
	}
	w.left--
	s := &w.Step
	if *s = (Step{}); w.mask == 0 {
		s.Start, w.pc, w.mask = true, w.address(), 1
		w.ipdom.Reset()
	}
	op := w.code.at(w.pc)
	if op == nil {
		return false, w.wrong(errors.New("the program has no instruction there"))
	}
	s.PC, s.Mask, s.Inst = w.pc, w.mask, &op.Inst
	if err := w.execute(op); err != nil {
		return false, w.wrong(err)
	}
	if w.bad() {
		return false, w.wrong(errColumns)
	}
	s.Next, s.Active = w.pc, w.mask
	return true, nil
}

func (w *Walker) wrong(err error) error {
	return fmt.Errorf("%s: launch %d, %s, pc 0x%08x: %w: %w", w.file.path, w.launch, w.file.Meta.Shape.Name(w.warp),
		w.pc, ErrTrace, err)
}

// execute reads the instruction's decision from the trace.
func (w *Walker) execute(op *codeOp) error {
	pc := w.pc
	w.pc += 4
	switch s := op.Sem.(type) {
	case isa.Branch:
		if w.turn() {
			w.pc = pc + uint32(op.Imm)
		}
	case isa.Jump:
		if w.pc = pc + uint32(op.Imm); s.Indirect {
			w.pc = w.address()
		}
	case isa.Control:
		args := w.control(w.site(pc))
		args.Negated, args.Pred = op.Neg != 0, args.Pred&w.mask
		if op.Name == "wspawn" || op.Name == "bar" {
			w.args = [2]uint32{args.A, args.B}
			w.Step.Args = &w.args
		}
		return s(walked{w}, args)
	case isa.UnitOp:
		return w.ask(s, w.site(pc))
	case isa.Load:
		w.access(pc, s.Size)
	case isa.Store:
		w.access(pc, s.Size)
	case isa.AMO, isa.LoadReserved:
		w.access(pc, 4)
	case isa.StoreConditional, isa.CompareSwap:
		w.access(pc, 4)
		w.Step.Wrote = w.wrote()
	}
	return nil
}

func (w *Walker) access(pc uint32, size uint8) {
	w.addresses(w.site(pc), w.mask, size, &w.addrs)
	w.Step.Addrs = &w.addrs
}

func (w *Walker) ask(s isa.UnitOp, at *site) error {
	w.operands(at, w.mask, &w.in[0], &w.in[1], &w.in[2])
	w.Step.In = &w.in
	if !w.file.Meta.Unit.answers(s.Fn) {
		return nil
	}
	next := w.answer(at, w.mask, &w.out) & w.full
	w.Step.Out = &w.out
	if next == 0 {
		return errColumns
	}
	w.mask = next
	return nil
}

// walked executes control instructions for a Walker.
type walked struct{ *Walker }

func (w walked) Mask() uint32                 { return w.mask }
func (w walked) SetMask(m uint32)             { w.mask = m & w.full }
func (w walked) Jump(pc uint32)               { w.pc = pc }
func (w walked) IPDOM() *isa.IPDOM            { return &w.ipdom }
func (w walked) NextPC() uint32               { return w.pc }
func (w walked) Spawn(uint32, uint32) error   { return nil }
func (w walked) Barrier(uint32, uint32) error { return nil }
func (w walked) Return(uint32)                {}
