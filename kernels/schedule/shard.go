package schedule

import (
	"heddle/isa"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
)

// shard maps shards to thread blocks (Khorasani, Vora, Gupta, Bhuyan: CuSha, HPDC 2014, §3 and §4). Where a device has
// fewer blocks than there are shards, which CUDA would launch one after the other, a block takes several in turn.
var shard = &Schedule{
	Name: "shard",
	Doc: "a shard a thread block, which is a core or a part of one: its threads share the shard's edges, and sum up " +
		"in the scratchpad by atomics there, between two barriers; a destination is written once (CuSha)",
	Shards: true,
	EachEdge: func(s *Site, v *Visitor) {
		view := s.View.(layout.ShardView)
		s.EachShard(view, func(n ir.Value, sh *Shard) {
			s.Phase(isa.PhaseGatherSum, func() { v.Enter(sh) })
			s.Barrier()
			s.Phase(isa.PhaseSchedule, func() {
				view.Shard(n, sh.Thread, sh.Threads.Threads, func(at layout.Slot) { s.visitSlot(v, at) })
			})
			s.Barrier()
			s.Phase(isa.PhaseGatherSum, func() { v.Leave(sh) })
		})
	},
}

// Shard is a shard as a thread of its thread block has it.
type Shard struct {
	layout.Threads
	First, Vertices ir.Value // its first vertex, and how many there are
	Sums            ir.Value // address of its words in the scratchpad, one for each vertex
}

// Each emits a loop over the thread's share of a shard's vertices: i is a vertex's number in the shard. A thread has
// the same ones in every such loop.
func (sh *Shard) Each(s *Site, body func(i, vertex ir.Value)) {
	s.For(sh.Thread, sh.Vertices, sh.Threads.Threads, func(i ir.Value) { body(i, s.Add(sh.First, i)) })
}

// ShardWords returns the words of a core's scratchpad that shards of so many vertices take.
func ShardWords(c Core, vertices int) int { return c.Warps / c.BlockWarps() * vertices }

// EachShard emits a loop of thread blocks over shards. All warps of a block take the same ones.
func (s *Site) EachShard(view layout.ShardView, body func(n ir.Value, sh *Shard)) {
	warps, most := s.Core.BlockWarps(), s.U32(uint32(view.PerShard()))
	t := layout.Threads{
		Warp: s.WarpID(), Warps: s.U32(uint32(warps)), Lane: s.LaneID(), Lanes: s.U32(uint32(s.Core.Lanes)),
		Threads: s.U32(uint32(warps * s.Core.Lanes)),
	}
	first, step := s.CoreID(), s.NumCores()
	at := s.Shared("shard.sums", ShardWords(s.Core, view.PerShard()))
	if blocks := s.Core.Warps / warps; blocks > 1 {
		block := s.Div(s.WarpID(), t.Warps)
		t.Warp = s.Sub(s.WarpID(), s.Mul(block, t.Warps))
		at = s.Address(at, s.Mul(block, s.U32(uint32(view.PerShard()))))
		first, step = s.Add(s.Mul(block, s.NumCores()), first), s.Mul(step, s.U32(uint32(blocks)))
	}
	t.Thread = s.Label("thread", s.Add(s.Mul(t.Warp, t.Lanes), t.Lane))
	s.For(s.Label("first_shard", first), view.Shards(), step, func(n ir.Value) {
		from := s.Label("first_vertex", s.Mul(n, most))
		body(n, &Shard{Threads: t, First: from, Vertices: s.Min(most, s.Sub(s.Count("vertices"), from)), Sums: at})
	})
}
