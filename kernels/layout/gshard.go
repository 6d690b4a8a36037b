package layout

import (
	"fmt"

	"heddle/graph"
	"heddle/isa"
	"heddle/kernels/ir"
)

// DefaultShard is the default number of vertices per shard: the words of a 16 KiB scratchpad.
const DefaultShard = 4096

// gShard lists edges shard by shard, each with the value that it contributes beside it (G-Shards: Khorasani, Vora,
// Gupta, Bhuyan: CuSha, HPDC 2014, as in GRAssembler, PACT '22, §4.2 and §6.5).
var gShard = shards(DefaultSizes())

// shards returns gShard with shards of that size.
func shards(s Sizes) *Layout {
	return inShards(&Layout{
		Name: "gshard",
		Doc: "both ends of every edge, shard by shard: edges whose destinations are of the same so many vertices, " +
			"sorted by source; a kernel before each gather writes what each edge brings beside it, window by " +
			"window, and the gather reads that (CuSha's G-Shards as GRAssembler has them). Under schedule shard a " +
			"thread block has a shard, with its sums in the scratchpad, and writes the windows of its vertices, a " +
			"warp each; under others all threads share all edges and sum up in memory. No super-step sees what " +
			"others of its threads did",
		Sized: shards,
	}, s, false)
}

// windows lists edges as gShard does, and once more by shards of sources (CuSha's concatenated windows).
var windows = concatenated(DefaultSizes())

// concatenated returns windows with shards of that size.
func concatenated(s Sizes) *Layout {
	return inShards(&Layout{
		Name: "gshard-windows",
		Doc: "gshard with the windows of every shard's vertices side by side: their sources, and where in the other " +
			"shards each entry is, so that a thread block's threads write neighbouring entries however small the " +
			"windows are (CuSha's concatenated windows); only for schedule shard",
		Sized: concatenated,
	}, s, true)
}

// Shards describes edges in shards: ranges of destinations, by number.
type Shards struct {
	Vertices     uint32 // destinations of a shard
	Concatenated bool   // the windows of a shard's vertices lie side by side
}

// Count returns the number of shards.
func (s *Shards) Count(g *graph.Graph) int {
	return (g.Vertices() + int(s.Vertices) - 1) / int(s.Vertices)
}

// mostWindows is the largest number of windows, each of which has a word: 64 MiB.
const mostWindows = 1 << 24

// Accepts returns an error for graphs with too many windows to list each: the square of the shards.
func (s *Shards) Accepts(g *graph.Graph) error {
	if n := s.Count(g); !s.Concatenated && n*n > mostWindows {
		return fmt.Errorf("%d shards have %d windows: expected at most %d: give larger shards, or layout "+
			"gshard-windows", n, n*n, mostWindows)
	}
	return nil
}

// inShards completes the layout of edges in shards.
func inShards(l *Layout, s Sizes, side bool) *Layout {
	b := &blocks{l.Name, uint32(s.ShardVertices), ByDestination, EqualVertices}
	sh := &Shards{Vertices: b.vertices, Concatenated: side}
	b.layout(l)
	l.Gathers, l.Keys, l.Shards = l.Name+".values", []string{"shard_vertices"}, sh
	array := func(name string, words func(g *graph.Graph) []uint32) {
		l.Data = append(l.Data, Array{b.array(Source) + "." + name, words})
	}
	l.Numbers = append(l.Numbers, Number{b.array(Source) + ".count",
		func(g *graph.Graph) uint32 { return uint32(sh.Count(g)) }})
	array("shards", func(g *graph.Graph) []uint32 {
		return prefix(sh.Count(g), b.in(g, Source).Destinations, func(v uint32) int { return int(v / b.vertices) })
	})
	if side {
		array("begins-of-windows", func(g *graph.Graph) []uint32 {
			return prefix(sh.Count(g), b.in(g, Source).Sources, func(v uint32) int { return int(v / b.vertices) })
		})
		array("mapper", func(g *graph.Graph) []uint32 { return b.sideBySide(g) })
		array("sources-of-windows", func(g *graph.Graph) []uint32 {
			of, at := b.in(g, Source).Sources, b.sideBySide(g)
			for k, e := range at {
				at[k] = of[e]
			}
			return at
		})
	} else {
		array("windows", func(g *graph.Graph) []uint32 {
			edges, n := b.in(g, Source), sh.Count(g)
			begins := make([]uint32, n*n+1)
			for e, to := range edges.Destinations {
				begins[int(to/b.vertices)*n+int(edges.Sources[e]/b.vertices)+1]++
			}
			return sums(begins)
		})
	}
	view := l.View
	l.View = func(at Site) View { return inShardsView{view(at).(blocked), sh} }
	return l
}

// sideBySide lists the edges' numbers by the shards of their sources, keeping their order within each: window by window
// of a shard's vertices.
func (b *blocks) sideBySide(g *graph.Graph) []uint32 {
	edges := b.in(g, Source)
	numbers := make([]uint32, len(edges.Sources))
	for e := range numbers {
		numbers[e] = uint32(e)
	}
	edges.Weights = numbers // moved with the edges
	return inBlocks(edges, edges.Sources, b.divide(g, Source)).Weights
}

// prefix returns where each of n groups of a list begins that is ordered by group, or would if it were, and its length.
func prefix(n int, list []uint32, group func(v uint32) int) []uint32 {
	begins := make([]uint32, n+1)
	for _, v := range list {
		begins[group(v)+1]++
	}
	return sums(begins)
}

// sums replaces numbers by the sums up to each.
func sums(list []uint32) []uint32 {
	for i := 1; i < len(list); i++ {
		list[i] += list[i-1]
	}
	return list
}

// ShardView is the view of a layout in shards, by which a thread block walks one.
type ShardView interface {
	View
	// PerShard returns the number of vertices of every shard but the last.
	PerShard() int
	// Shards returns the number of shards.
	Shards() ir.Value
	// Shard emits a loop over the edges of shard n: every step-th slot starting from the first, in memory order.
	Shard(n, first, step ir.Value, body func(s Slot))
	// Windows emits a loop over the edges that leave the vertices of shard n, in all shards, for the threads of a
	// thread block.
	Windows(n ir.Value, t *Threads, body func(e Edge))
}

// Threads are numbers in a thread block: of the thread, and of its warp and lane, each with how many there are.
type Threads struct{ Thread, Threads, Warp, Warps, Lane, Lanes ir.Value }

// inShardsView is blocked with shards.
type inShardsView struct {
	blocked
	shards *Shards
}

func (l inShardsView) PerShard() int { return int(l.shards.Vertices) }

func (l inShardsView) Shards() ir.Value { return l.Count(l.name + ".count") }

// span returns the part of a list between entry i of the array of its parts' beginnings, and the next.
func (l inShardsView) span(array string, i ir.Value) Span {
	at := l.Addr(l.name + "." + array)
	return Span{Begin: l.Load(ir.U32, at, i), End: l.Load(ir.U32, at, l.Add(i, l.U32(1)))}
}

func (l inShardsView) Shard(n, first, step ir.Value, body func(s Slot)) {
	base, _ := l.ends()
	edges := l.span("shards", n)
	l.Numbered(edges.End, l.Add(edges.Begin, first), step, func(e ir.Value) (vertex ir.Value) {
		l.Phase(isa.PhaseEdgeAccess, func() { vertex = l.Load(ir.U32, l.Addr(base), e) })
		return vertex
	}, body)
}

// Windows gives each warp a window at a time, as CuSha's kernel for G-Shards does, or all threads the concatenated
// windows, where a window smaller than a warp leaves no lane idle.
func (l inShardsView) Windows(n ir.Value, t *Threads, body func(e Edge)) {
	if l.shards.Concatenated {
		entries := l.span("begins-of-windows", n)
		l.For(l.Add(entries.Begin, t.Thread), entries.End, t.Threads, func(k ir.Value) {
			e := l.Load(ir.U32, l.Addr(l.name+".mapper"), k)
			body(l.from(e, l.Load(ir.U32, l.Addr(l.name+".sources-of-windows"), k)))
		})
		return
	}
	l.For(t.Warp, l.Shards(), t.Warps, func(other ir.Value) {
		edges := l.span("windows", l.Add(l.Mul(other, l.Shards()), n))
		l.For(l.Add(edges.Begin, t.Lane), edges.End, t.Lanes, func(e ir.Value) {
			body(l.from(e, l.Load(ir.U32, l.Addr(l.name+".sources"), e)))
		})
	})
}

// from returns edge e, which leaves source.
func (l inShardsView) from(e, source ir.Value) Edge {
	if l.Rows == Source {
		return l.Edge(e, source)
	}
	return l.EdgeTo(e, l.Load(ir.U32, l.Addr(l.name+".destinations"), e), source)
}
