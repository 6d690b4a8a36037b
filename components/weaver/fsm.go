package weaver

import (
	"fmt"

	"heddle/components/queue"
	"heddle/isa"
	"heddle/isa/emu"
)

// S is a state of the paper's FSM (Fig. 6).
type S uint8

// States of the FSM.
const (
	S0 S = iota // init: no registered entry has been decoded
	S1          // first: the first entry is read
	S2          // fill: the current entry's edges go to the lanes
	S3          // fetch: the next entry is requested
	S4          // load: the fetched entry becomes the current one
	S5          // emit: the lanes are full, the warp gets its answer
	S6          // wait: until the next decode request
	S7          // last: the remaining edges, or none, are the answer
	S8          // end: every answer is -1 in all lanes
	numStates
)

var stateNames = [numStates]string{
	"s0 init", "s1 first", "s2 fill", "s3 fetch", "s4 load", "s5 emit", "s6 wait", "s7 last", "s8 end",
}

func (s S) String() string { return stateNames[s] }

var stateDocs = [numStates]string{
	"Nothing registered has been decoded yet.",
	"The first row of the ST is read.",
	"Edges of the current entry are given to lanes.",
	"The next entry's row is asked for.",
	"The next entry is waited for, and becomes the current one.",
	"A full batch is answered; more if the answer has to wait.",
	"The unit waits for the next weaver.dec.id.",
	"The last batch is answered.",
	"All has been handed out: until the next weaver.reg.",
}

// states are the actions of the FSM by state; each returns the next state.
var states = [numStates]func(*FSM) S{
	S0: (*FSM).init, S1: (*FSM).first, S2: (*FSM).fill, S3: (*FSM).fetch, S4: (*FSM).load,
	S5: (*FSM).emit, S6: (*FSM).wait, S7: (*FSM).finish, S8: (*FSM).end,
}

// FSM is the Weaver cycle by cycle: Cycle is one step of the paper's FSM and, in parallel, of the ports to the core and
// to the tables. The ST and the DT have a pipelined read port each. With a table latency of 1, S1 books the read of the
// second row together with the first's, where one port reads it when S3 asks: the same cycles. rtl/weaver has this unit
// in SystemVerilog, held to the model in every cycle; weaver_fsm.sv is its FSM.
type FSM struct {
	State
	self  queue.Owner
	spec  Spec // derived
	at    S
	last  uint64                        // last cycle counted
	warp  *emu.UnitRequest              // decode request in service
	row   rowRead                       // row from which entries are taken
	ahead rowRead                       // prefetched row
	reads queue.Timed[*emu.UnitRequest] // weaver.dec.loc in the DT's read pipeline, one per stage at most

	circuit *follower // decides instead of the states; nil: they do

	// Inputs and results of the current cycle.
	head *emu.UnitRequest
	room bool
	step Step
}

// rowRead is a read of a row of the ST.
type rowRead struct {
	row   int    // -1: none
	ready uint64 // first cycle in which its entries can be used
}

var noRow = rowRead{row: -1}

// Step is the activity of one cycle at the ports to the core.
type Step struct {
	Took   bool             // the unit has taken the request at the head of the queue
	Err    error            // the request is a program error
	Answer *emu.UnitRequest // leaves for the core, with its Out and NewMask
	Fault  error            // of a circuit: the run cannot go on
}

// NewFSM returns the FSM for a core of that shape, at cycle 0. The spec must be valid and derived.
func NewFSM(s Spec, warps, threads int) *FSM {
	f := &FSM{State: *NewState(s, warps, threads), spec: s, row: noRow, ahead: noRow}
	f.reads = queue.NewTimed[*emu.UnitRequest](s.TableLatency, &f.self, "reads of the DT")
	return f
}

// Launch begins a kernel.
func (f *FSM) Launch() {
	f.Reset()
	f.at, f.warp = S0, nil
	f.reads.Clear()
	if f.circuit != nil {
		f.circuit.launch()
	}
}

// Cycle runs one cycle. head is the oldest request, or nil; room reports whether an answer may leave. Cycles may be
// skipped while Idle.
func (f *FSM) Cycle(now uint64, head *emu.UnitRequest, room bool) Step {
	f.Settle(now)
	f.self.Now, f.head, f.room, f.step = now, head, room, Step{}
	if f.circuit != nil {
		return f.follow(now)
	}
	f.accept()
	f.finishRead()
	f.at = states[f.at](f)
	return f.step
}

// Idle reports whether the state cannot change without a request.
func (f *FSM) Idle() bool {
	return (f.at == S0 || f.at == S6 || f.at == S8) && f.reads.Empty()
}

// Settle books the cycles up to now, during which the state did not change.
func (f *FSM) Settle(now uint64) {
	f.States[f.at] += now - f.last
	f.Cycles += now - f.last
	f.last = now
}

// accept takes a request that is independent of the FSM's state.
func (f *FSM) accept() {
	if f.head == nil {
		return
	}
	switch f.head.Fn {
	case isa.WeaverReg:
		f.register()
	case isa.WeaverSkip:
		f.Skip(f.head.Mask, f.head.A)
		f.step.Took = true
	case isa.WeaverDecLoc:
		if !f.reads.Full() {
			f.startRead()
		}
	case isa.WeaverDecID: // taken by S0, S6 and S8
	default:
		panic(fmt.Sprintf("BUG: weaver: function %d", f.head.Fn))
	}
}

func (f *FSM) register() {
	f.step.Took = true
	if f.step.Err = f.RegisterLanes(f.head); f.step.Err == nil && f.at == S8 {
		f.at = S0
	}
}

// takeDecode takes the request at the head of the queue if it is a decode request.
func (f *FSM) takeDecode() bool {
	if f.head == nil || f.head.Fn != isa.WeaverDecID {
		return false
	}
	f.warp, f.step.Took = f.head, true
	return true
}

func (f *FSM) init() S {
	if !f.takeDecode() {
		return S0
	}
	f.Begin()
	f.row, f.ahead = noRow, noRow
	return S1
}

func (f *FSM) first() S {
	if f.Next() < 0 {
		return S7
	}
	f.request()
	return f.take(S1)
}

func (f *FSM) fill() S {
	f.Drop()
	switch {
	case f.Fill(f.warp.Mask) == 0:
		return S5
	case f.Next() < 0:
		return S7
	}
	return S3
}

func (f *FSM) fetch() S {
	f.request()
	return S4
}

func (f *FSM) load() S { return f.take(S4) }

func (f *FSM) emit() S {
	if !f.answer() {
		return S5
	}
	return S6
}

func (f *FSM) wait() S {
	if !f.takeDecode() {
		return S6
	}
	return S2
}

func (f *FSM) finish() S {
	if !f.answer() {
		return S7
	}
	f.End()
	return S8
}

func (f *FSM) end() S {
	if f.room && f.takeDecode() {
		f.answer()
	}
	return S8
}

// answer answers the warp with the lanes' contents, if there is room for an answer.
func (f *FSM) answer() bool {
	if !f.room {
		return false
	}
	r := f.warp
	filled := f.Emit(r.Warp, r.Mask, r.Out)
	if f.spec.MaskByUnit && filled != 0 {
		r.NewMask = filled
	}
	f.step.Answer, f.room, f.warp = r, false, nil
	return true
}

// request reads the row of the next slot, unless the unit has it or has requested it.
func (f *FSM) request() {
	row := f.rowFrom(f.cursor)
	switch row {
	case f.row.row:
	case f.ahead.row:
		f.row, f.ahead = f.ahead, noRow
	default:
		f.row = f.read(row)
	}
}

// rowFrom returns the row of the next slot from there on; -1: none is left.
func (f *FSM) rowFrom(slot int) int {
	valid := f.next(slot)
	switch {
	case valid < 0:
		return -1
	case f.spec.SkipEmpty:
		return valid / f.spec.STRow
	}
	return slot / f.spec.STRow
}

// read starts a read of a row of the ST.
func (f *FSM) read(row int) rowRead {
	f.RowsRead++
	return rowRead{row, f.self.Now + uint64(f.spec.TableLatency)}
}

// take makes the next slot's entry the current one, if its row has been read.
func (f *FSM) take(stay S) S {
	if f.self.Now+1 < f.row.ready {
		return stay
	}
	end := (f.row.row + 1) * f.spec.STRow
	if row := f.rowFrom(end); f.spec.Prefetch && row >= 0 && f.ahead.row != row {
		f.ahead = f.read(row)
	}
	slot := f.pick(end)
	if slot < end && f.isValid(slot) {
		f.Load(slot)
	} else {
		f.Pass(min(slot+1, end))
	}
	return S2
}

// pick returns the slot at the cursor or, if empty slots are skipped, the next with an edge; end if there is none
// before end.
func (f *FSM) pick(end int) int {
	if !f.spec.SkipEmpty {
		return f.cursor
	}
	for slot := f.Next(); slot >= 0 && slot < end; slot = f.next(slot + 1) {
		if f.st[slot].Deg != 0 {
			return slot
		}
	}
	return end
}

// startRead reads the warp's row of the DT. Later batches do not affect the result.
func (f *FSM) startRead() {
	r := f.head
	copy(r.Out, f.Row(r.Warp))
	f.reads.Push(r, f.self.Now+uint64(f.spec.TableLatency))
	f.LocReads++
	f.step.Took = true
}

// finishRead answers a weaver.dec.loc whose read has ended. It has precedence over the FSM's answer, which can wait.
func (f *FSM) finishRead() {
	if f.room && f.reads.Ready(f.self.Now+1) {
		f.step.Answer, f.room = f.reads.Pop(), false
	}
}
