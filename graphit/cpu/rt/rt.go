// Package rt is the runtime of GraphIt programs on the host's own processors. Package cpu copies this file into every
// program that it generates, so it imports nothing but the standard library, and its names begin with what no name of a
// program does.
package rt

//lint:file-ignore U1000 the programs that it is copied into use it

import (
	"bufio"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/bits"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// failure is thrown by what a program does wrong when it runs.
type failure struct{ at, msg string }

func (f failure) Error() string { return f.at + ": " + f.msg }

func fail(at, format string, args ...any) { panic(failure{at, fmt.Sprintf(format, args...)}) }

// adjacency is the edges by one of their ends.
type adjacency struct {
	offsets, ids []uint32
	words        []uint32 // the file's weights
	ints         []int32  // the weights as the program has them
	floats       []float32
}

func (a *adjacency) vertices() int { return len(a.offsets) - 1 }

// row are the other ends of a vertex's edges.
func (a *adjacency) row(v uint32) []uint32 { return a.ids[a.offsets[v]:a.offsets[v+1]] }

// transposed are the same edges by their other ends.
func (a *adjacency) transposed() *adjacency {
	n := a.vertices()
	t := &adjacency{offsets: make([]uint32, n+2), ids: make([]uint32, len(a.ids))}
	for _, d := range a.ids {
		t.offsets[d+2]++
	}
	for v := range n {
		t.offsets[v+2] += t.offsets[v+1]
	}
	if a.words != nil {
		t.words = make([]uint32, len(a.words))
	}
	for v := range uint32(n) {
		for e := a.offsets[v]; e < a.offsets[v+1]; e++ {
			at := &t.offsets[a.ids[e]+1]
			t.ids[*at] = v
			if a.words != nil {
				t.words[*at] = a.words[e]
			}
			*at++
		}
	}
	t.offsets = t.offsets[:n+1]
	return t
}

// weigh makes the weights that a program reads; without weights every edge has 1.
func (a *adjacency) weigh(kind uint32, ints, floats bool) {
	if ints {
		a.ints = make([]int32, len(a.ids))
		for e := range a.ints {
			a.ints[e] = 1
			if a.words != nil {
				a.ints[e] = int32(a.words[e])
			}
		}
	}
	if floats {
		a.floats = make([]float32, len(a.ids))
		for e := range a.floats {
			switch kind {
			case intWeights:
				a.floats[e] = float32(int32(a.words[e]))
			case floatWeights:
				a.floats[e] = math.Float32frombits(a.words[e])
			default:
				a.floats[e] = 1
			}
		}
	}
	a.words = nil
}

// Kinds of weights of a file.
const (
	noWeights = iota
	intWeights
	floatWeights
)

// needs are what a program asks of its graph: the edges that enter vertices, always or with several workers, and
// weights.
type needs struct{ in, inTogether, ints, floats bool }

// The head of an .hgr file: magic, version, kind of weights, vertices, edges, a hash, the length of a note.
const (
	graphMagic = "\x89HGR\r\n\x1a\n"
	graphFixed = 68
	graphNote  = 4096
)

var errGraph = errors.New("this is no graph that heddle has written: expected an .hgr file, as heddle graph convert " +
	"makes one")

// readGraph reads an .hgr file. Its sizes are compared with the file's before there is memory for them.
func readGraph(name string, need needs) (out, in *adjacency, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	out, in, err = parseGraph(bufio.NewReaderSize(f, 1<<20), info.Size(), need)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return out, in, err
}

func parseGraph(r io.Reader, size int64, need needs) (out, in *adjacency, err error) {
	var head [graphFixed]byte
	if _, err := io.ReadFull(r, head[:]); err != nil || string(head[:len(graphMagic)]) != graphMagic {
		return nil, nil, errGraph
	}
	le := binary.LittleEndian
	version, kind, n, m, note := le.Uint32(head[8:]), le.Uint32(head[12:]), le.Uint64(head[16:]), le.Uint64(head[24:]),
		le.Uint32(head[64:])
	arrays := uint64(1)
	if kind != noWeights {
		arrays = 2
	}
	switch {
	case version != 1:
		return nil, nil, fmt.Errorf("version %d of .hgr: expected 1", version)
	case kind > floatWeights || note > graphNote || n > math.MaxInt32-2 || m > math.MaxUint32:
		return nil, nil, errGraph
	case uint64(size) != graphFixed+uint64(note)+4+4*(n+1)+4*m*arrays:
		return nil, nil, fmt.Errorf("%d bytes are not %d vertices and %d edges: the file is cut off", size, n, m)
	case kind == floatWeights && need.ints:
		return nil, nil, errors.New("the program's weights are int, and the graph's are floats")
	}
	if _, err := io.CopyN(io.Discard, r, int64(note)+4); err != nil {
		return nil, nil, err
	}
	out = &adjacency{offsets: make([]uint32, n+1), ids: make([]uint32, m)}
	list := [][]uint32{out.offsets, out.ids}
	if kind != noWeights {
		out.words = make([]uint32, m)
		list = append(list, out.words)
	}
	for _, words := range list {
		if err := readWords(r, words); err != nil {
			return nil, nil, err
		}
	}
	last := uint32(0)
	for v, at := range out.offsets {
		if at < last || v == 0 && at != 0 || v == int(n) && uint64(at) != m {
			return nil, nil, errGraph
		}
		last = at
	}
	for _, v := range out.ids {
		if uint64(v) >= n {
			return nil, nil, errGraph
		}
	}
	if need.in {
		in = out.transposed()
		in.weigh(kind, need.ints, need.floats)
	}
	out.weigh(kind, need.ints, need.floats)
	return out, in, nil
}

func readWords(r io.Reader, words []uint32) error {
	var buf [1 << 14]byte
	for len(words) > 0 {
		b := buf[:min(len(buf), 4*len(words))]
		if _, err := io.ReadFull(r, b); err != nil {
			return err
		}
		for i := 0; i < len(b); i += 4 {
			words[i/4] = binary.LittleEndian.Uint32(b[i:])
		}
		words = words[len(b)/4:]
	}
	return nil
}

// machine runs operators on the host's processors.
type machine struct {
	file     string // the program's
	args     []string
	workers  int
	n        int
	out, in  *adjacency
	output   *bufio.Writer
	steps    int
	taken    int // vertices, out of buckets of fused loops
	walked   int // edges that leave them
	maxSteps int
	started  time.Time

	segmented []*adjacency // the segments that segments has made last, and of what
	whole     *adjacency

	sinks  []sink
	stamps []uint32 // by vertex, the round in which it was last put into an output
	round  uint32
	marks  []uint64 // a bitmap for deduplication, empty between operators
	flags  []uint32 // a boolmap for it
	spare  struct { // memory of sets that nobody reads any more; maps are empty
		lists [][]uint32
		bits  [][]uint64
		words [][]uint32
	}
	record bool
	kept   [][]uint32 // what filters have kept, in their order
	broken atomic.Pointer[failure]
}

// sink takes what a worker puts into an output.
type sink struct {
	list []uint32
	n    int
	_    [4]uint64 // a cache line of its own
}

func newMachine(file string, out, in *adjacency, n, workers int) *machine {
	return &machine{
		file: file, workers: workers, n: n, out: out, in: in, sinks: make([]sink, workers), stamps: make([]uint32, n),
		output: bufio.NewWriter(os.Stdout),
	}
}

// step counts an operator over edges.
func (m *machine) step(at string) {
	if m.steps++; m.maxSteps > 0 && m.steps > m.maxSteps {
		fail(at, "more than %d operators over edges have run: the program does not end, or it takes a higher limit",
			m.maxSteps)
	}
}

// each runs f over pieces of work on all workers: each takes the next piece when it has done one.
func (m *machine) each(at string, pieces int, f func(worker, piece int)) {
	if m.workers == 1 || pieces <= 1 {
		defer m.place(at)
		for p := range pieces {
			f(0, p)
		}
		return
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	work := func(w int) {
		defer wait.Done()
		defer m.catch(at)
		for {
			p := int(next.Add(1)) - 1
			if p >= pieces || m.broken.Load() != nil {
				return
			}
			f(w, p)
		}
	}
	wait.Add(m.workers)
	for w := 1; w < m.workers; w++ {
		go work(w)
	}
	work(0)
	wait.Wait()
	if x := m.broken.Load(); x != nil {
		panic(*x)
	}
}

// place says where a program is when Go stops it: an index that a vector has not.
func (m *machine) place(at string) {
	if x := recover(); x != nil {
		panic(asFailure(at, x))
	}
}

func (m *machine) catch(at string) {
	if x := recover(); x != nil {
		f := asFailure(at, x)
		m.broken.CompareAndSwap(nil, &f)
	}
}

func asFailure(at string, x any) failure {
	switch x := x.(type) {
	case failure:
		return x
	case runtime.Error:
		return failure{at, strings.TrimPrefix(x.Error(), "runtime error: ")}
	}
	panic(x)
}

// few is how much work is done by one worker alone, without atomics: to start the others takes longer.
const few = 4096

// alone reports whether one worker does an operator over a set's edges.
func (m *machine) alone(a *adjacency, list []uint32) bool {
	if m.workers == 1 {
		return true
	}
	work := len(list)
	for _, v := range list {
		if work > few {
			return false
		}
		work += len(a.row(v))
	}
	return work <= few
}

// chunk is how many of a list's vertices are one piece of work.
func (m *machine) chunk(n int) int { return min(max(n/(16*m.workers), 1), 256) }

// lists runs f over the parts of a list.
func (m *machine) lists(at string, list []uint32, f func(part []uint32, s *sink)) {
	if m.workers == 1 {
		m.each(at, 1, func(int, int) { f(list, &m.sinks[0]) })
		return
	}
	size := m.chunk(len(list))
	m.each(at, (len(list)+size-1)/size, func(w, p int) { f(list[p*size:min((p+1)*size, len(list))], &m.sinks[w]) })
}

// wordBits is the size of a bitmap's word: pieces of all vertices begin at multiples, and so share none.
const wordBits = 64

// ranges runs f over ranges of all vertices, of about as many edges each, or as many vertices if a is nil.
func (m *machine) ranges(at string, a *adjacency, f func(lo, hi uint32, s *sink)) {
	if m.workers == 1 {
		m.each(at, 1, func(int, int) { f(0, uint32(m.n), &m.sinks[0]) })
		return
	}
	bounds := m.bounds(a)
	m.each(at, len(bounds)-1, func(w, p int) { f(bounds[p], bounds[p+1], &m.sinks[w]) })
}

// bounds are where the ranges begin, and the end.
func (m *machine) bounds(a *adjacency) []uint32 {
	parts := 16 * m.workers
	bounds := []uint32{0}
	for p := 1; p <= parts; p++ {
		v := m.n * p / parts
		if a != nil {
			v, _ = slices.BinarySearch(a.offsets, uint32(len(a.ids)*p/parts))
		}
		if v = min(v/wordBits*wordBits, m.n); p == parts {
			v = m.n
		}
		if uint32(v) > bounds[len(bounds)-1] {
			bounds = append(bounds, uint32(v))
		}
	}
	return bounds
}

// set is a set of vertices, as a list, a bitmap or a boolmap, or several of them. Nothing changes it once it is made.
type set struct {
	m      *machine
	list   []uint32
	listed bool
	bits   []uint64
	words  []uint32
	count  int
}

func (m *machine) listSet(list []uint32) *set {
	return &set{m: m, list: list, listed: true, count: len(list)}
}

func (m *machine) empty() *set { return m.listSet(nil) }

func (m *machine) everything() *set {
	s := m.listSet(make([]uint32, m.n))
	for v := range s.list {
		s.list[v] = uint32(v)
	}
	return s
}

// newSet is new vertexset(n).
func (m *machine) newSet(at string, n int64) *set {
	switch n {
	case 0:
		return m.empty()
	case int64(m.n):
		return m.everything()
	}
	fail(at, "new vertexset(%d): expected 0, or the number of vertices, %d", n, m.n)
	return nil
}

// live refuses a variable that holds no set.
func live(at, name string, s *set) *set {
	if s == nil {
		fail(at, "%s has been deleted, or was never given a set", name)
	}
	return s
}

// with is a set with a vertex more.
func (s *set) with(at string, v int64) *set {
	if v < 0 || v >= int64(s.m.n) {
		fail(at, "addVertex(%d): the graph has vertices 0 to %d", v, s.m.n-1)
	}
	list := s.vertices()
	if slices.Contains(list, uint32(v)) {
		return s
	}
	return s.m.listSet(append(slices.Clone(list), uint32(v)))
}

// vertices is the set as a list, which is made when it is first asked for.
func (s *set) vertices() []uint32 {
	if s.listed {
		return s.list
	}
	list := s.m.spareList()
	switch {
	case s.bits != nil:
		for i, word := range s.bits {
			for ; word != 0; word &= word - 1 {
				list = append(list, uint32(i*wordBits+bits.TrailingZeros64(word)))
			}
		}
	default:
		for v, w := range s.words {
			if w != 0 {
				list = append(list, uint32(v))
			}
		}
	}
	s.list, s.listed = list, true
	return list
}

// bitmap is the set as a bitmap.
func (s *set) bitmap() []uint64 {
	if s.bits == nil {
		bits := s.m.spareBits()
		for _, v := range s.vertices() {
			bits[v/wordBits] |= 1 << (v % wordBits)
		}
		s.bits = bits
	}
	return s.bits
}

// boolmap is the set as a word for each vertex.
func (s *set) boolmap() []uint32 {
	if s.words == nil {
		words := s.m.spareWords()
		for _, v := range s.vertices() {
			words[v] = 1
		}
		s.words = words
	}
	return s.words
}

func pop[T any](from *[]T) (x T, ok bool) {
	if n := len(*from); n > 0 {
		x = (*from)[n-1]
		*from = (*from)[:n-1]
		return x, true
	}
	return x, false
}

func (m *machine) spareList() []uint32 {
	list, _ := pop(&m.spare.lists)
	return list[:0]
}

func (m *machine) spareBits() []uint64 {
	if bits, ok := pop(&m.spare.bits); ok {
		return bits
	}
	return make([]uint64, (m.n+wordBits-1)/wordBits)
}

func (m *machine) spareWords() []uint32 {
	if words, ok := pop(&m.spare.words); ok {
		return words
	}
	return make([]uint32, m.n)
}

// reuse takes the memory of a set that nobody reads any more.
func (m *machine) reuse(s *set) {
	if s.bits != nil {
		clear(s.bits)
		m.spare.bits = append(m.spare.bits, s.bits)
	}
	if s.words != nil {
		clear(s.words)
		m.spare.words = append(m.spare.words, s.words)
	}
	if cap(s.list) > 0 {
		m.spare.lists = append(m.spare.lists, s.list)
	}
	*s = set{}
}

// open begins an output: sinks are empty, and no vertex has this round's stamp.
func (m *machine) open() {
	if m.round++; m.round == 0 {
		clear(m.stamps)
		m.round = 1
	}
	for w := range m.sinks {
		m.sinks[w].n = 0
		m.sinks[w].list = m.sinks[w].list[:0]
	}
	if m.sinks[0].list == nil {
		m.sinks[0].list = m.spareList()
	}
}

// gathered is the list of what the workers have put out.
func (m *machine) gathered() []uint32 {
	list := m.sinks[0].list
	m.sinks[0].list = nil
	for w := 1; w < m.workers; w++ {
		list = append(list, m.sinks[w].list...)
	}
	return list
}

// counted is how many vertices the workers have counted.
func (m *machine) counted() (n int) {
	for w := range m.sinks {
		n += m.sinks[w].n
	}
	return n
}

// stamp reports whether a vertex is put into this round's output for the first time.
func stamp(stamps []uint32, v, round uint32) bool {
	if old := atomic.LoadUint32(&stamps[v]); old != round {
		return atomic.CompareAndSwapUint32(&stamps[v], old, round)
	}
	return false
}

// stampAlone does without atomics.
func stampAlone(stamps []uint32, v, round uint32) bool {
	if stamps[v] != round {
		stamps[v] = round
		return true
	}
	return false
}

// mark puts a vertex into a bitmap, and reports whether it was not there.
func mark(bits []uint64, v uint32) bool {
	at, bit := &bits[v/wordBits], uint64(1)<<(v%wordBits)
	return atomic.LoadUint64(at)&bit == 0 && atomic.OrUint64(at, bit)&bit == 0
}

func markAlone(bits []uint64, v uint32) bool {
	at, bit := &bits[v/wordBits], uint64(1)<<(v%wordBits)
	if *at&bit != 0 {
		return false
	}
	*at |= bit
	return true
}

// flagOnce puts a vertex into a boolmap, and reports whether it was not there.
func flagOnce(words []uint32, v uint32) bool {
	return atomic.LoadUint32(&words[v]) == 0 && atomic.CompareAndSwapUint32(&words[v], 0, 1)
}

func flagAlone(words []uint32, v uint32) bool {
	if words[v] != 0 {
		return false
	}
	words[v] = 1
	return true
}

// dedupBits and dedupFlags are maps that are empty: unmark and unflag empty them again.
func (m *machine) dedupBits() []uint64 {
	if m.marks == nil {
		m.marks = make([]uint64, (m.n+wordBits-1)/wordBits)
	}
	return m.marks
}

func (m *machine) dedupFlags() []uint32 {
	if m.flags == nil {
		m.flags = make([]uint32, m.n)
	}
	return m.flags
}

func (m *machine) unmark(list []uint32) {
	for _, v := range list {
		m.marks[v/wordBits] = 0
	}
}

func (m *machine) unflag(list []uint32) {
	for _, v := range list {
		m.flags[v] = 0
	}
}

// dense reports whether an input has so many edges that every vertex is better asked: more than a twentieth (Ligra,
// §3).
func (m *machine) dense(a *adjacency, s *set) bool {
	work, limit := s.count, len(a.ids)/20
	if s.count > limit {
		return true
	}
	for _, v := range s.vertices() {
		if work += len(a.row(v)); work > limit {
			return true
		}
	}
	return false
}

// filtered are the vertices that a filter keeps, in ascending order.
func (m *machine) filtered(list []uint32) *set {
	slices.Sort(list)
	if m.record {
		m.kept = append(m.kept, slices.Clone(list))
	}
	return m.listSet(list)
}

// popSet takes the last set off a list.
func popSet(at, name string, list *[]*set) *set {
	s, ok := pop(list)
	if !ok {
		fail(at, "the list %s is empty", name)
	}
	return s
}

// What follows are numbers. i32 and the like keep Go from computing constants, and from refusing those that wrap.

func i32(x int32) int32     { return x }
func u32(x uint32) uint32   { return x }
func f32(x float32) float32 { return x }
func f64(x float64) float64 { return x }

func b2u(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

func both(a, b bool) bool   { return a && b }
func either(a, b bool) bool { return a || b }

// divI32 divides as RISC-V does: by 0 gives all ones.
func divI32(a, b int32) int32 {
	if b == 0 {
		return -1
	}
	return a / b
}

func divU32(a, b uint32) uint32 {
	if b == 0 {
		return math.MaxUint32
	}
	return a / b
}

func absF32(x float32) float32 { return float32(math.Abs(float64(x))) }
func absF64(x float64) float64 { return math.Abs(x) }

// word is a float's memory as an atomic operation has it.
func word(p *float32) *uint32 { return (*uint32)(unsafe.Pointer(p)) }

func long(p *float64) *uint64 { return (*uint64)(unsafe.Pointer(p)) }

func loadI32(p *int32) int32     { return atomic.LoadInt32(p) }
func loadU32(p *uint32) uint32   { return atomic.LoadUint32(p) }
func loadF32(p *float32) float32 { return math.Float32frombits(atomic.LoadUint32(word(p))) }
func loadF64(p *float64) float64 { return math.Float64frombits(atomic.LoadUint64(long(p))) }

func storeI32(p *int32, x int32)     { atomic.StoreInt32(p, x) }
func storeU32(p *uint32, x uint32)   { atomic.StoreUint32(p, x) }
func storeF32(p *float32, x float32) { atomic.StoreUint32(word(p), math.Float32bits(x)) }
func storeF64(p *float64, x float64) { atomic.StoreUint64(long(p), math.Float64bits(x)) }

// add, min and max report whether they tell of a change: a sum tells of every term but 0.

func addI32(p *int32, x int32) bool {
	atomic.AddInt32(p, x)
	return x != 0
}

func addU32(p *uint32, x uint32) bool {
	atomic.AddUint32(p, x)
	return x != 0
}

func addF32(p *float32, x float32) bool {
	for {
		old := atomic.LoadUint32(word(p))
		if atomic.CompareAndSwapUint32(word(p), old, math.Float32bits(math.Float32frombits(old)+x)) {
			return x != 0
		}
	}
}

func addF64(p *float64, x float64) bool {
	for {
		old := atomic.LoadUint64(long(p))
		if atomic.CompareAndSwapUint64(long(p), old, math.Float64bits(math.Float64frombits(old)+x)) {
			return x != 0
		}
	}
}

func minI32(p *int32, x int32) bool {
	for {
		old := atomic.LoadInt32(p)
		if x >= old {
			return false
		}
		if atomic.CompareAndSwapInt32(p, old, x) {
			return true
		}
	}
}

func maxI32(p *int32, x int32) bool {
	for {
		old := atomic.LoadInt32(p)
		if x <= old {
			return false
		}
		if atomic.CompareAndSwapInt32(p, old, x) {
			return true
		}
	}
}

func minU32(p *uint32, x uint32) bool {
	for {
		old := atomic.LoadUint32(p)
		if x >= old {
			return false
		}
		if atomic.CompareAndSwapUint32(p, old, x) {
			return true
		}
	}
}

func maxU32(p *uint32, x uint32) bool {
	for {
		old := atomic.LoadUint32(p)
		if x <= old {
			return false
		}
		if atomic.CompareAndSwapUint32(p, old, x) {
			return true
		}
	}
}

func minF32(p *float32, x float32) bool {
	for {
		old := atomic.LoadUint32(word(p))
		if !(x < math.Float32frombits(old)) {
			return false
		}
		if atomic.CompareAndSwapUint32(word(p), old, math.Float32bits(x)) {
			return true
		}
	}
}

func maxF32(p *float32, x float32) bool {
	for {
		old := atomic.LoadUint32(word(p))
		if !(x > math.Float32frombits(old)) {
			return false
		}
		if atomic.CompareAndSwapUint32(word(p), old, math.Float32bits(x)) {
			return true
		}
	}
}

func minF64(p *float64, x float64) bool {
	for {
		old := atomic.LoadUint64(long(p))
		if !(x < math.Float64frombits(old)) {
			return false
		}
		if atomic.CompareAndSwapUint64(long(p), old, math.Float64bits(x)) {
			return true
		}
	}
}

func maxF64(p *float64, x float64) bool {
	for {
		old := atomic.LoadUint64(long(p))
		if !(x > math.Float64frombits(old)) {
			return false
		}
		if atomic.CompareAndSwapUint64(long(p), old, math.Float64bits(x)) {
			return true
		}
	}
}

// claimI32 makes an element that is -1 another, and reports whether it was.
func claimI32(p *int32, x int32) bool {
	return atomic.LoadInt32(p) == -1 && atomic.CompareAndSwapInt32(p, -1, x)
}

// lowerTo is updatePrioritySum: a priority above least changes by x, and not below least.
func lowerTo[T int32 | uint32](p *T, x, least T) bool {
	at := (*uint32)(unsafe.Pointer(p))
	for {
		old := atomic.LoadUint32(at)
		if T(old) <= least {
			return false
		}
		if atomic.CompareAndSwapUint32(at, old, uint32(max(T(old)+x, least))) {
			return true
		}
	}
}

func lowerToAlone[T int32 | uint32](p *T, x, least T) bool {
	if *p <= least {
		return false
	}
	*p = max(*p+x, least)
	return true
}

// filled is a vector whose elements are all the same.
func filled[T any](n int, x T) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = x
	}
	return v
}

// degrees are those of all vertices.
func degrees[T int32 | uint32](a *adjacency) []T {
	d := make([]T, a.vertices())
	for v := range d {
		d[v] = T(a.offsets[v+1] - a.offsets[v])
	}
	return d
}

// rowStarts are where the vertices' rows begin in rowTargets, which are all neighbours.
func rowStarts(a *adjacency) []int32 {
	starts := make([]int32, a.vertices())
	for v := range starts {
		starts[v] = int32(a.offsets[v])
	}
	return starts
}

func rowTargets(a *adjacency) []int32 {
	targets := make([]int32, len(a.ids))
	for i, v := range a.ids {
		targets[i] = int32(v)
	}
	return targets
}

// inRow is the number of an element of a vector of vectors of width numbers.
func inRow(at, name string, row, column int64, width int64) int64 {
	if column < 0 || column >= width {
		fail(at, "%s[%d][%d]: an element has numbers 0 to %d", name, row, column, width-1)
	}
	return row*width + column
}

// greatest is the greatest number of a vector.
func greatest[T int32 | uint32 | float32 | float64](at string, list []T) T {
	if len(list) == 0 {
		fail(at, "max of a vector that is empty")
	}
	return slices.Max(list)
}

// sum adds up a vector; floats in float64.
func sum[T int32 | uint32 | float32 | float64](list []T) T {
	var whole T
	var real float64
	for _, x := range list {
		whole += x
		real += float64(x)
	}
	if T(1)/T(2) != 0 {
		return T(real)
	}
	return whole
}

// element checks an index of the host's.
func element(at, name string, i int64, n int) int {
	if i < 0 || i >= int64(n) {
		fail(at, "%s[%d]: the vector has elements 0 to %d", name, i, n-1)
	}
	return int(i)
}

// argument is argv[n].
func (m *machine) argument(at string, n int) string {
	if n >= len(m.args) {
		fail(at, "the program asks for argv[%d], and there are arguments up to argv[%d]", n, len(m.args)-1)
	}
	return m.args[n]
}

// atoi is a whole number.
func atoi(at, text string) int32 {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		fail(at, "atoi: expected a whole number of 32 bits, found %q", text)
	}
	return int32(n)
}

// number is an argument of the schedule's.
func number(at, text string, least, most float64, whole bool) float64 {
	x, err := strconv.ParseFloat(text, 64)
	kind := "number"
	if whole {
		kind = "whole number"
	}
	if err != nil || !(x >= least && x <= most) || whole && x != math.Trunc(x) {
		fail(at, "the schedule's argument: expected a %s from %.0f to %.0f, found %q", kind, least, most, text)
	}
	return x
}

// seconds are those since the program began.
func (m *machine) seconds() float64 { return time.Since(m.started).Seconds() }

// text is a value as print has it.
func text(x any) string {
	switch x := x.(type) {
	case float32:
		return strconv.FormatFloat(float64(x), 'g', 6, 64)
	case float64:
		return strconv.FormatFloat(x, 'g', 6, 64)
	}
	return fmt.Sprint(x)
}

func (m *machine) print(list ...any) {
	for i, x := range list {
		if i > 0 {
			m.output.WriteByte(' ')
		}
		m.output.WriteString(text(x))
	}
	m.output.WriteByte('\n')
}

// program is what is generated.
type program struct {
	file   string
	need   needs
	start  func(m *machine)       // of the constants
	main   func(m *machine)       // what it says
	result func() (list [][]byte) // the vectors
}

// options are those of the command line.
type options struct {
	threads, maxSteps, repeat int
	result, name              string
}

// start is main.
func start(p *program) {
	var o options
	fs := flag.NewFlagSet(p.file, flag.ExitOnError)
	fs.IntVar(&o.threads, "threads", runtime.NumCPU(), "`processors` to run on")
	fs.IntVar(&o.maxSteps, "max-steps", 0, "operators over edges that may run (0: any number)")
	fs.IntVar(&o.repeat, "repeat", 1, "`times` to run, to measure")
	fs.StringVar(&o.result, "result", "", "write the vectors, and what filters keep, to this `file`")
	fs.StringVar(&o.name, "name", "", "argv[1], in place of the graph's file")
	fs.Usage = func() {
		fmt.Fprintf(fs.Output(), "usage: [FLAG]... GRAPH.hgr [ARGUMENT]...\nGraphs are made by heddle graph convert.\n")
		fs.PrintDefaults()
	}
	fs.Parse(os.Args[1:]) //nolint:errcheck // it exits
	if fs.NArg() < 1 || o.threads < 1 || o.repeat < 1 {
		fs.Usage()
		os.Exit(2)
	}
	if err := o.run(p, fs.Args(), os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run runs a program.
func (o *options) run(p *program, args []string, log io.Writer) (err error) {
	runtime.GOMAXPROCS(o.threads)
	began := time.Now()
	need := p.need
	need.in = need.in || need.inTogether && o.threads > 1
	out, in, err := readGraph(args[0], need)
	if err != nil {
		return err
	}
	if o.name != "" {
		args[0] = o.name
	}
	read := time.Since(began)
	var m *machine
	began = time.Now()
	for i := range o.repeat {
		m = newMachine(p.file, out, in, out.vertices(), o.threads)
		m.args, m.maxSteps, m.record = append([]string{p.file}, args...), o.maxSteps, o.result != ""
		if i > 0 {
			m.output = bufio.NewWriter(io.Discard)
		}
		if err := m.run(p); err != nil {
			return err
		}
	}
	fmt.Fprintf(log, "heddle: %d operators over edges in %.6f s on %d processors; the graph was read in %.6f s\n",
		m.steps, time.Since(began).Seconds()/float64(o.repeat), o.threads, read.Seconds())
	if m.taken > 0 {
		fmt.Fprintf(log, "  %d vertices have been taken out of buckets, and %d edges walked\n", m.taken, m.walked)
	}
	if o.result == "" {
		return nil
	}
	return m.save(o.result, p.result())
}

func (m *machine) run(p *program) (err error) {
	defer func() {
		m.output.Flush() //nolint:errcheck // nobody reads it
		if x := recover(); x != nil {
			err = asFailure(p.file, x)
		}
	}()
	m.started = time.Now()
	p.start(m)
	p.main(m)
	return nil
}

// save writes the vectors' words, and then the filters': each list with its length before it, all little-endian.
func (m *machine) save(name string, vectors [][]byte) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	length := func(n int) {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], uint64(n))
		w.Write(b[:]) //nolint:errcheck // see Flush
	}
	for _, v := range vectors {
		length(len(v) / 4)
		w.Write(v) //nolint:errcheck // see Flush
	}
	length(len(m.kept))
	for _, list := range m.kept {
		length(len(list))
		w.Write(words(list)) //nolint:errcheck // see Flush
	}
	return errors.Join(w.Flush(), f.Close())
}

// words are a vector's as a machine has them: 32 bits each.
func words[T int32 | uint32 | float32 | float64](list []T) []byte {
	b := make([]byte, 0, 4*len(list))
	for _, x := range list {
		var w uint32
		switch x := any(x).(type) {
		case int32:
			w = uint32(x)
		case uint32:
			w = x
		case float32:
			w = math.Float32bits(x)
		case float64:
			w = math.Float32bits(float32(x))
		}
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

// segments returns the edges in parts, by equal ranges of their other ends, so that what a part reads of these fits a
// cache (GraphIt, OOPSLA 2018, §4.2). They are kept for the next time.
func (m *machine) segments(pos string, a *adjacency, n int) []*adjacency {
	if n > m.n {
		n = max(1, m.n)
	}
	if m.whole == a && len(m.segmented) == n {
		return m.segmented
	}
	if n > mostSegments {
		fail(pos, "configApplyNumSSG: %d segments: expected at most %d", n, mostSegments)
	}
	size := (m.n + n - 1) / n
	m.whole, m.segmented = a, nil
	for k := range n {
		m.segmented = append(m.segmented, a.between(uint32(k*size), uint32(min(m.n, (k+1)*size))))
	}
	return m.segmented
}

// mostSegments bounds the memory of segments, each of which has an offset for each vertex.
const mostSegments = 1024

// between are the edges whose other end is in a range.
func (a *adjacency) between(first, below uint32) *adjacency {
	part := &adjacency{offsets: make([]uint32, len(a.offsets))}
	for v := range a.vertices() {
		for e := a.offsets[v]; e < a.offsets[v+1]; e++ {
			if id := a.ids[e]; id < first || id >= below {
				continue
			}
			part.ids = append(part.ids, a.ids[e])
			if a.ints != nil {
				part.ints = append(part.ints, a.ints[e])
			}
			if a.floats != nil {
				part.floats = append(part.floats, a.floats[e])
			}
		}
		part.offsets[v+1] = uint32(len(part.ids))
	}
	return part
}
