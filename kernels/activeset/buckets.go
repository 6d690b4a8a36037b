package activeset

import (
	"math"

	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// DefaultBuckets is the default number of open buckets.
const DefaultBuckets = 8

// Buckets hold waiting vertices by value: bucket n covers the values from n·delta on (Δ-stepping: Meyer, Sanders, J.
// Algorithms 2003). A window of buckets is open; vertices beyond it go to one overflow bucket, which is redistributed
// when the window is empty (Julienne: Dhulipala, Blelloch, Shun, SPAA 2017; GraphIt, CGO 2020).
//
// Updates are eager (GraphIt): a vertex enters its bucket when its value falls, and its entry in the former bucket
// remains. An entry is stale if its vertex's value lies below the entry's bucket: the vertex has already been active
// with that value.
//
// bucket.queues has room for all vertices in each bucket, since a vertex enters a bucket at most once: bucket.entered
// keeps the complement of the lowest bucket that the vertex has entered, so that zero means none. Overflow has two
// queues that alternate, since entries that overflow again are written while the others are read.

// enterBucket adds v to the bucket of its value.
func enterBucket(k *emit.Kernel, v, value ir.Value) {
	own, limit := k.Div(value, k.Count("bucket.delta")), k.Count("bucket.limit")
	n := k.Min(own, limit)
	entered := k.Not(n)
	k.When(k.Lt(k.AtomicMax(k.Addr("bucket.entered"), v, entered), entered), func() {
		spills := k.Eq(n, limit)
		slot := k.Select(spills, k.Count("bucket.spill"), k.Sub(n, k.Count("bucket.first")))
		place := k.AtomicAdd(k.Addr("bucket.counts"), slot, k.U32(1))
		k.Store(k.Addr("bucket.queues"), k.Add(k.Mul(slot, k.Count("vertices")), place), v)
		k.When(spills, func() {
			least := k.Not(own)
			k.When(k.Lt(k.Load(ir.U32, k.Addr("bucket.least"), k.U32(0)), least), func() {
				k.AtomicMax(k.Addr("bucket.least"), k.U32(0), least)
			})
		})
	})
}

// splitBucket drains a bucket, activating all its vertices, or the overflow, activating those of its lowest bucket.
// Stale entries are dropped.
func splitBucket(k *emit.Kernel, near Set, value func(v ir.Value) ir.Value) {
	from := k.Mul(k.Count("bucket.split"), k.Count("vertices"))
	k.Strided(k.Count("far.size"), func(i ir.Value) {
		v := k.Load(ir.U32, k.Addr("bucket.queues"), k.Add(from, i))
		x := value(v)
		k.When(k.Ge(x, k.Count("far.before")), func() {
			k.If(Near(k, x), func() { near.Add(v) }, func() {
				k.Store(k.Addr("bucket.entered"), v, k.U32(0)) // the entry being read is its only one
				enterBucket(k, v, x)
			})
		})
	})
}

// buckets is the host side of the buckets.
type buckets struct {
	queues, entered, counts, least *Array

	delta   uint64
	open    int
	first   uint64 // number of the first open bucket
	current uint64 // the bucket whose vertices are active
	spill   int    // the overflow slot: open or open+1
	split   int    // the slot being drained
	before  uint64 // buckets below it have been active
	size    uint32 // entries of the slot being drained
}

func newBuckets(vertices int, delta uint32, open int) Pile {
	array := func(name string, words int) *Array {
		return &Array{Name: name, Words: words, Roles: []string{name}}
	}
	return &buckets{
		queues: array("bucket.queues", (open+2)*vertices), entered: array("bucket.entered", vertices),
		counts: array("bucket.counts", open+2), least: array("bucket.least", 1),
		delta: uint64(delta), open: open, spill: open,
	}
}

func (b *buckets) Arrays() []*Array { return []*Array{b.queues, b.entered, b.counts, b.least} }

func (b *buckets) Places() map[string]uint32 {
	places := map[string]uint32{}
	for _, a := range b.Arrays() {
		places[a.Name] = a.Addr
	}
	return places
}

func (b *buckets) Delta() uint32 { return uint32(b.delta) }

// mostValue is the maximum value of a reached vertex, which bounds the bucket numbers.
const mostValue = math.MaxUint32 - 1

func (b *buckets) limit() uint64 { return min(b.first+uint64(b.open), mostValue) }

func (b *buckets) Words() map[string]uint32 {
	return map[string]uint32{
		"far.threshold": uint32(min((b.current+1)*b.delta, math.MaxUint32)),
		"far.before":    uint32(min(b.before, math.MaxUint32)),
		"far.size":      b.size,
		"bucket.delta":  uint32(b.delta), "bucket.first": uint32(b.first), "bucket.limit": uint32(b.limit()),
		"bucket.spill": uint32(b.spill), "bucket.split": uint32(b.split),
	}
}

// Rise advances to the next non-empty bucket.
func (b *buckets) Rise(m Memory) (more bool) {
	counts := make([]uint32, b.counts.Words)
	m.ReadWords(b.counts.Addr, counts)
	for slot := int(b.current-b.first) + 1; slot < b.open; slot++ {
		if counts[slot] > 0 {
			b.current = b.first + uint64(slot)
			b.before = b.current * b.delta
			b.take(m, counts, slot)
			return true
		}
	}
	if counts[b.spill] == 0 {
		return false
	}
	b.before = b.limit() * b.delta
	b.first = uint64(^take(m, b.least))
	b.current = b.first
	b.take(m, counts, b.spill)
	b.spill = b.open + (b.spill+1-b.open)%2
	return true
}

// take empties a slot that is about to be drained.
func (b *buckets) take(m Memory, counts []uint32, slot int) {
	b.split, b.size = slot, counts[slot]
	counts[slot] = 0
	m.WriteWords(b.counts.Addr, counts)
}

func (b *buckets) Split(Memory) {}
