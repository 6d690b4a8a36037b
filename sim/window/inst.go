package window

import (
	"github.com/sarchlab/akita/v3/sim"

	"heddle/components/core"
	"heddle/isa"
	"heddle/isa/emu"
)

// stage is where an instruction is.
type stage uint8

const (
	fetch stage = iota
	decode
	ibuffer
	board
	operands
	dispatch
	execute
	memory
	commit
	done
	numStages
)

// stageNames are the names of stages in exports, explained in docs/guide/looking.md.
var stageNames = [numStages]string{"F", "Dc", "Ib", "Sb", "Op", "Di", "Ex", "Me", "Cm", ""}

// step is a hook's report of an instruction: that from the next cycle on it is in stage to.
type step struct {
	to   stage
	from [numStages]bool // the stages it can have been in
}

var steps = map[*sim.HookPos]step{
	core.HookPosStage:    {board, in(ibuffer)},
	core.HookPosIssue:    {operands, in(board)},
	core.HookPosDispatch: {dispatch, in(operands)},
	core.HookPosExecute:  {execute, in(dispatch)},
	core.HookPosMemory:   {memory, in(dispatch, execute)},
	core.HookPosCommit:   {commit, in(execute, memory)},
}

func in(stages ...stage) (set [numStages]bool) {
	for _, s := range stages {
		set[s] = true
	}
	return set
}

// Inst is an instruction of a warp in the pipeline.
type Inst struct {
	id         uint64 // in order of fetch
	core, warp int
	pc, mask   uint32
	op         *emu.Op // nil: not decoded yet
	stage      stage
	since      uint64 // the first cycle of the stage
	executes   uint64 // the first cycle in its unit
	ends       uint64 // the cycle after its last; 0: not known
	why        string // cause of its wait within the stage; empty: none
	shown      bool   // to the exports
	lane       int    // of its unit's track
}

// unit is where it is executed.
func (i *Inst) unit() isa.Unit { return i.op.LatencyClass().Unit() }

// text is the instruction as assembly.
func (i *Inst) text() string {
	if i.op == nil {
		return "?"
	}
	return i.op.Text(i.pc)
}
