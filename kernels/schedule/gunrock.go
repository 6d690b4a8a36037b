package schedule

import (
	"heddle/kernels/ir"
	"heddle/kernels/layout"
)

// outputs is the number of outputs that a thread keeps under Gunrock's edge (OUTPUTS_PER_THREAD of AE::KernelPolicy).
const outputs = 8

// Arrays of Gunrock's edge: the threads' outputs, which CUDA has in local memory, and the length of the queue for them.
const (
	outputArray = "edge.outputs"
	outputCount = "edge.count"
)

// Arrays in the scratchpad of Gunrock's edge, with a word for each warp: sums of outputs, and a block's place in the
// queue.
const (
	outputTotals = "edge.totals"
	outputPlace  = "edge.place"
)

func outputWords(c Core, scan Scan) int {
	if scan == Shuffle {
		return 2 * c.Warps
	}
	return recordWords*c.Threads() + 2*c.Warps
}

// advanceAllEdges visits all edges as Gunrock's advance over ALL_EDGES does (AE_advance/kernel.cuh), which its PageRank
// has: thread blocks go through the list of pairs, an edge a thread, with a barrier behind each. A thread keeps the
// output of its edge, which is its destination, in local memory. When threads have as many as they can keep, the block
// scans their numbers and enlarges the queue by the sum; PageRank passes no queue to write them to. Where the code asks
// at the barrier whether any thread is full (__syncthreads_or), the block's first thread has an edge in every step, so
// that its number of outputs decides.
func (s *Site) advanceAllEdges(v *Visitor) {
	list, threads, lanes := s.View.(layout.Lister), s.U32(uint32(s.Core.BlockWarps()*s.Core.Lanes)), s.NumLanes()
	number, block := s.InBlock()
	blocks, mine := s.NumCores(), s.CoreID()
	if block != nil { // the device deals blocks out to its cores in turn
		mine = s.Add(mine, s.Mul(s.Div(block, s.U32(uint32(s.Core.BlockWarps()))), blocks))
		blocks = s.Mul(blocks, s.U32(uint32(s.Core.Warps/s.Core.BlockWarps())))
	}
	thread := s.Label("thread", s.Add(s.Mul(number, lanes), s.LaneID()))
	kept := s.Address(s.Addr(outputArray), s.Mul(s.SpreadWarp(), s.U32(outputs)))
	count := s.Var(s.U32(0)).Named("outputs")
	full := s.Var(s.U32(0)).Named("outputs_of_first")
	s.For(s.Mul(mine, threads), list.Listed(), s.Mul(blocks, threads), func(first ir.Value) {
		id := s.Label("edge", s.Add(first, thread))
		s.When(s.Lt(id, list.Listed()), func() {
			output := s.Var(s.U32(^uint32(0))).Named("output")
			keep := *v
			keep.Edge = func(e *layout.Edge, stop func()) {
				v.Edge(e, stop)
				output.Set(e.Dst)
			}
			s.visitSlot(&keep, list.Slot(id))
			s.Store(kept, s.Add(s.Mul(count.Get(), lanes), s.LaneID()), output.Get())
			count.Set(s.Add(count.Get(), s.U32(1)))
		})
		full.Set(s.Add(full.Get(), s.U32(1)))
		s.Barrier()
		s.When(s.Eq(full.Get(), s.U32(outputs)), func() {
			s.enqueueOutputs(count.Get())
			count.Set(s.U32(0))
			full.Set(s.U32(0))
		})
	})
	s.Barrier()
	s.When(s.Ne(full.Get(), s.U32(0)), func() { s.enqueueOutputs(count.Get()) })
}

// enqueueOutputs adds the block's outputs to the queue's length (Write_Global_Output). The code scans the warps' sums
// in one warp, between two barriers; here every warp does, behind the first.
func (s *Site) enqueueOutputs(count ir.Value) {
	number, block := s.InBlock()
	upto, total, _ := s.blockScan(count, outputTotals)
	s.Barrier()
	place := s.Address(s.Shared(outputPlace, s.Core.Warps), s.OfBlock(block, s.U32(0)))
	last := s.And(s.Eq(number, s.U32(uint32(s.Core.BlockWarps()-1))), s.Eq(s.LaneID(), s.U32(uint32(s.Core.Lanes-1))))
	s.When(s.And(last, s.Ne(total, s.U32(0))), func() {
		s.Store(place, s.U32(0), s.AtomicAdd(s.Addr(outputCount), s.U32(0), upto))
	})
	s.Barrier()
}
