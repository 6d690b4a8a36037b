package graph

import (
	"math/bits"
	"runtime/debug"
	"slices"
)

// piece is a run of a list's edges: the same indices in each column.
type piece struct{ src, dst, weights []uint32 }

// pieces takes a list apart, which has no edges then.
func (l *edges) pieces() []piece {
	src, dst := l.src.blocks(), l.dst.blocks()
	out := make([]piece, len(src))
	for i := range src {
		out[i] = piece{src: src[i], dst: dst[i]}
	}
	if l.weighted() {
		for i, w := range l.weights.blocks() {
			out[i].weights = w
		}
	}
	l.src, l.dst, l.weights = column{}, column{}, column{}
	return out
}

// build makes a graph of a list, which it consumes: memory never holds much more than the list or the graph. Distant
// edges of the list are first grouped by ranges of sources, so that consecutive writes are close together, in caches
// and in pages.
func (l *edges) build() *Graph {
	count, weighted := l.len(), l.weighted()
	g := &Graph{out: Adjacency{Offsets: make([]uint32, l.vertices+1)}, kind: l.kind}
	list := l.pieces()
	if count > directEdges && !bySource(list) {
		list = together(list, l.vertices)
	}
	g.out.rowStarts(list)
	g.out.IDs = make([]uint32, count)
	if weighted {
		g.out.Weights = make([]uint32, count)
	}
	g.out.fill(list)
	g.out.sortRows(g.kind)
	return g
}

// directEdges are put where they belong straight away: they fit the caches, more or less.
const directEdges = 1 << 19

// bySource reports whether a list is sorted by source.
func bySource(list []piece) bool {
	last := uint32(0)
	for i := range list {
		for _, v := range list[i].src {
			if v < last {
				return false
			}
			last = v
		}
	}
	return true
}

// rowStarts sets Offsets[v+1] to where v's row begins.
func (a *Adjacency) rowStarts(list []piece) {
	for i := range list {
		for _, v := range list[i].src {
			a.Offsets[v+1]++
		}
	}
	shiftStarts(a.Offsets)
}

// shiftStarts turns row lengths into row starts, shifted by one entry: fill advances each to the end of its row, which
// is the start of the next.
func shiftStarts(offsets []uint32) {
	sum := uint32(0)
	for v, n := range offsets[1:] {
		offsets[v+1], sum = sum, sum+n
	}
}

// fill puts edges into their rows, and forgets them.
func (a *Adjacency) fill(list []piece) {
	freed := 0
	for i := range list {
		p := &list[i]
		for k, v := range p.src {
			at := a.Offsets[v+1]
			a.Offsets[v+1] = at + 1
			a.IDs[at] = p.dst[k]
			if p.weights != nil {
				a.Weights[at] = p.weights[k]
			}
		}
		freed += 4 * (len(p.src) + len(p.dst) + len(p.weights))
		*p = piece{}
		if freed >= releaseBytes {
			release()
			freed = 0
		}
	}
	if freed >= releaseBytes/4 {
		release()
	}
}

// releaseBytes of garbage are worth a collection.
const releaseBytes = 64 << 20

// release returns unused memory to the system, since the collector would only run once the heap had doubled.
func release() { debug.FreeOSMemory() }

// partBits is log2 of the most ranges of sources.
const partBits = 9

// parts groups edges by ranges of sources. It takes over the memory of the pieces that it has read.
type parts struct {
	shift    int
	weighted bool
	open     []block // of each range, the one that is being filled
	full     [][]block
	free     []block
}

// block is room for a piece.
type block struct {
	src, dst, weights *[blockWords]uint32
	n                 int
}

func (b *block) piece() piece {
	p := piece{src: b.src[:b.n], dst: b.dst[:b.n]}
	if b.weights != nil {
		p.weights = b.weights[:b.n]
	}
	return p
}

// together orders edges by ranges of their sources, and takes list apart.
func together(list []piece, vertices int) []piece {
	p := parts{shift: max(0, bits.Len(uint(vertices-1))-partBits), weighted: list[0].weights != nil}
	ranges := (vertices-1)>>p.shift + 1
	p.open, p.full = make([]block, ranges), make([][]block, ranges)
	for i := range p.open {
		p.open[i] = p.empty()
	}
	for i := range list {
		p.take(list[i])
		p.recycle(list[i])
		list[i] = piece{}
	}
	out := make([]piece, 0, len(list)+ranges)
	for i := range p.open {
		for k := range p.full[i] {
			out = append(out, p.full[i][k].piece())
		}
		out = append(out, p.open[i].piece())
	}
	return out
}

// take adds a piece's edges to their ranges.
func (p *parts) take(from piece) {
	dst := from.dst[:len(from.src)]
	for k, v := range from.src {
		b := &p.open[v>>p.shift]
		if b.n == blockWords {
			p.full[v>>p.shift] = append(p.full[v>>p.shift], *b)
			*b = p.empty()
		}
		n := b.n % blockWords
		b.src[n], b.dst[n] = v, dst[k]
		if p.weighted {
			b.weights[n] = from.weights[k]
		}
		b.n++
	}
}

// empty is a block without edges.
func (p *parts) empty() block {
	if n := len(p.free); n > 0 {
		b := p.free[n-1]
		p.free = p.free[:n-1]
		return b
	}
	b := block{src: new([blockWords]uint32), dst: new([blockWords]uint32)}
	if p.weighted {
		b.weights = new([blockWords]uint32)
	}
	return b
}

// recycle keeps the memory of a piece that has been read for later pieces.
func (p *parts) recycle(old piece) {
	if len(old.src) < blockWords {
		return
	}
	b := block{src: (*[blockWords]uint32)(old.src), dst: (*[blockWords]uint32)(old.dst)}
	if p.weighted {
		b.weights = (*[blockWords]uint32)(old.weights)
	}
	p.free = append(p.free, b)
}

// sortRows orders each row by id, then weight.
func (a *Adjacency) sortRows(kind WeightKind) {
	var s sorter
	for v := range a.Vertices() {
		from, to := a.Offsets[v], a.Offsets[v+1]
		if a.Weights == nil {
			s.ids(a.IDs[from:to])
		} else {
			s.pairs(a.IDs[from:to], a.Weights[from:to], kind)
		}
	}
}

// sorter holds the buffers that sorting a row needs.
type sorter struct {
	keys, spare []uint64
	spareIDs    []uint32
}

// longRow is from where counting digits beats comparing.
const longRow = 512

func (s *sorter) ids(row []uint32) {
	switch {
	case len(row) < 2:
	case len(row) < longRow:
		slices.Sort(row)
	case !slices.IsSorted(row):
		s.spareIDs = sortDigits(row, s.spareIDs)
	}
}

// pairs sorts ids with their weights, by both.
func (s *sorter) pairs(ids, weights []uint32, kind WeightKind) {
	if len(ids) < 2 {
		return
	}
	s.keys = s.keys[:0]
	for i, id := range ids {
		s.keys = append(s.keys, uint64(id)<<32|uint64(kind.ordered(weights[i])))
	}
	switch {
	case slices.IsSorted(s.keys):
		return
	case len(ids) < longRow:
		slices.Sort(s.keys)
	default:
		s.spare = sortDigits(s.keys, s.spare)
	}
	for i, k := range s.keys {
		ids[i], weights[i] = uint32(k>>32), kind.word(uint32(k))
	}
}

// sortDigits sorts by the digits of base 256 in which the words differ, the lowest first. It returns the memory that it
// used besides, for the next time.
func sortDigits[T uint32 | uint64](words, spare []T) []T {
	if cap(spare) < len(words) {
		spare = make([]T, len(words)+len(words)/4)
	}
	differ := T(0)
	for _, w := range words {
		differ |= w ^ words[0]
	}
	from, to := words, spare[:len(words)]
	for shift := 0; differ>>shift != 0; shift += 8 {
		if differ>>shift&0xff == 0 {
			continue
		}
		var at [256]int
		for _, w := range from {
			at[w>>shift&0xff]++
		}
		sum := 0
		for d, n := range at {
			at[d], sum = sum, sum+n
		}
		for _, w := range from {
			d := w >> shift & 0xff
			to[at[d]] = w
			at[d]++
		}
		from, to = to, from
	}
	if &from[0] != &words[0] {
		copy(words, from)
	}
	return spare
}
