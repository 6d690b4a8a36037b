package core

import (
	"fmt"
	"math/bits"

	"heddle/components/mem"
	"heddle/internal/enum"
	"heddle/isa"
	"heddle/isa/emu"
)

// Atomics configures how the machine performs atomics.
type Atomics struct {
	Mode     AtomicMode `key:"mode" default:"l2" oneof:"l2,simx25,simx24"`
	Interval int        `key:"interval" default:"2" min:"1" max:"1000" unit:"cycles" doc:"What one operation takes of its line: those of a line follow each other, those of different lines do not wait. Counts with mode l2."`
	Combine  bool       `key:"combine" default:"false" doc:"The lanes of one request that hit one word are one operation. Counts with mode l2."`

	Together     bool `key:"words_together" default:"false"`
	BankInterval int  `key:"bank_interval" default:"0" min:"0" max:"1000" unit:"cycles" doc:"What one operation takes of its bank: those of different lines of a bank follow each other too. 0: nothing. Counts with mode l2."`
}

// Docs has the long descriptions of keys.
func (Atomics) Docs() map[string]string {
	return map[string]string{
		"mode": "l2: at the L2, or without one at the only L1D, in the order of arrival there; only the " +
			"result travels back. simx25: timed as stores without an answer. simx24: timed as loads of " +
			"the L1. The last two act when they leave the load-store unit and exist for comparison with " +
			"those versions of SimX; the RTL of 2025-10 has no atomics.",
		"words_together": "The words of one request are operated on side by side: it takes as many operations as " +
			"lanes hit its most frequent word, with combine one. NVIDIA H100: true. Counts with mode l2.",
	}
}

// AtomicMode selects where atomics are performed and how they are timed.
type AtomicMode uint8

// With AtomicsL2 the memory system performs atomics at the point where all cores meet; with the others they take effect
// when they leave the load-store unit.
const (
	AtomicsL2 AtomicMode = iota
	AtomicsSimX25
	AtomicsSimX24
)

var atomicModes = enum.Of[AtomicMode]("core atomics mode", "l2", "simx25", "simx24")

func (m AtomicMode) String() string { return atomicModes.Name(m) }

// MarshalText writes the name that a configuration uses.
func (m AtomicMode) MarshalText() ([]byte, error) { return atomicModes.Marshal(m) }

// UnmarshalText reads the name that a configuration uses.
func (m *AtomicMode) UnmarshalText(text []byte) error { return atomicModes.Unmarshal(text, m) }

// atomics is the load-store unit's state of the atomics in flight.
type atomics struct {
	Atomics
	id       uint32     // the core's number, part of every reference
	first    [64]uint16 // by warp: one more than the first of its outstanding batches, which are a list; 0: none
	acquires [64]uint8  // by warp: outstanding atomics with .aq
	waits    bool       // the coalescer's head overlaps an outstanding atomic; cleared when a batch is answered
}

// An atomic's reference is made of its core, batch and channel.
const (
	refChannelBits = 5
	refBatchBits   = 8
)

// SetID sets the core's number, which references to its atomics contain.
func (c *Core) SetID(id int) { c.lsu.atomics.id = uint32(id) }

// CoreOf returns the number of the core that issued a reference.
func CoreOf(ref uint32) int { return int(ref >> (refChannelBits + refBatchBits)) }

// remote reports whether the memory system performs the instruction.
func (l *lsu) remote(in inst) bool {
	return in.op.LatencyClass() == isa.ClassAtomic && l.spec.Atomics.Mode == AtomicsL2
}

// posts reports whether the instruction's next packet belongs to an atomic timed as a store.
func (l *lsu) posts(in inst) bool {
	return in.op.LatencyClass() == isa.ClassAtomic && l.spec.Atomics.Mode == AtomicsSimX25 &&
		l.scratchpadLanes[in.access]&l.coalescer.group(l.accesses[in.access].Mask) == 0
}

// posted reports whether the packet belongs to an atomic timed as a store.
func (l *lsu) posted(in inst) bool {
	return in.op.LatencyClass() == isa.ClassAtomic && l.spec.Atomics.Mode == AtomicsSimX25 &&
		l.scratchpadLanes[in.access] == 0
}

// tagAtomic turns a request into an atomic's: it adds the reference to perform it by and the number of operations,
// which determines how long the line is busy.
func (l *lsu) tagAtomic(r *mem.Request, a *emu.Access, id uint16, ch int) {
	lanes := l.coalescer.lanesOf(int(id), ch)
	name := (l.atomics.id<<refBatchBits|uint32(id))<<refChannelBits | uint32(ch)
	r.Atomic = mem.MakeAtomicRef(name, l.atomics.operations(a, lanes))
	t := &l.coalescer.tags[id]
	if t.atomic == 0 {
		t.span = spanOf(a, t.mask)
		t.next, l.atomics.first[t.warp] = l.atomics.first[t.warp], id+1
	}
	t.atomic |= 1 << ch
}

// ended removes a batch from those outstanding.
func (l *lsu) ended(id int) {
	t := &l.coalescer.tags[id]
	link := &l.atomics.first[t.warp]
	for int(*link) != id+1 {
		link = &l.coalescer.tags[*link-1].next
	}
	*link = t.next
	l.atomics.waits = false
}

// span is a range of addresses, both included.
type span struct{ low, high uint32 }

// spanOf returns the range of the addresses of lanes.
func spanOf(a *emu.Access, lanes uint32) span {
	s := span{low: ^uint32(0)}
	for m := lanes; m != 0; m &= m - 1 {
		addr := a.Addr[bits.TrailingZeros32(m)&31]
		s.low, s.high = min(s.low, addr), max(s.high, addr)
	}
	return s
}

// operations counts the operations that the memory system performs one after the other: lanes, or distinct words with
// combine, or the lanes of the most frequent word if words are operated on together.
func (s *Atomics) operations(a *emu.Access, lanes uint32) int {
	switch {
	case s.Together && s.Combine:
		return 1
	case !s.Together && !s.Combine:
		return bits.OnesCount32(lanes)
	}
	words, most := 0, 0
	for m := lanes; m != 0; words++ {
		word, n := a.Addr[bits.TrailingZeros32(m)], 0
		for k := m; k != 0; k &= k - 1 {
			if l := bits.TrailingZeros32(k); a.Addr[l] == word {
				m &^= 1 << l
				n++
			}
		}
		most = max(most, n)
	}
	if s.Together {
		return most
	}
	return words
}

// PerformAtomic applies an atomic of this core. The memory system calls it when it performs the atomic. It reports
// whether memory was written.
func (c *Core) PerformAtomic(ref uint32) (wrote bool) {
	wrote, err := c.lsu.performAtomic(ref)
	if err != nil {
		c.fail(err)
		c.ClockHandle().Wake() // to report the error
	}
	return wrote
}

// performAtomic applies the lanes of one channel of a batch.
func (l *lsu) performAtomic(ref uint32) (wrote bool, err error) {
	ch, id := ref&(1<<refChannelBits-1), ref>>refChannelBits&(1<<refBatchBits-1)
	t := &l.coalescer.tags[id]
	if t.atomic>>ch&1 == 0 {
		panic(fmt.Sprintf("BUG: %s @%d: batch %d has no atomic to perform on channel %d", l.self.Unit, l.self.Now, id,
			ch))
	}
	t.atomic &^= 1 << ch
	return l.accesses[t.access].PerformLanes(l.coalescer.lanesOf(int(id), int(ch)))
}

// waitsForAtomic reports whether an instruction must not leave yet because its warp would read memory as it was before
// one of its own atomics. Atomics without .rl need not wait: those of one lane to one word stay in order on their way.
func (l *lsu) waitsForAtomic(in inst) bool {
	at := &l.atomics
	switch k := in.op.LatencyClass(); {
	case at.first[in.warp] == 0:
		return false
	case k == isa.ClassAtomic:
		return in.op.Order&suffixRL != 0
	case k == isa.ClassFence:
		return true
	}
	at.waits = at.waits || l.overlapsAtomic(in)
	return at.waits
}

// Ordering bits of an atomic. One with .rl waits for its warp's earlier atomics; all other earlier accesses have taken
// effect by then. Later accesses wait for one with .aq.
const (
	suffixRL = 1 << iota
	suffixAQ
)

// acquires reports whether later accesses, which might go to the scratchpad, must wait until the memory part of the
// instruction has taken effect.
func (l *lsu) acquires(in inst) bool {
	return in.op.LatencyClass() == isa.ClassAtomic && in.op.Order&suffixAQ != 0 && l.global(in.access)
}

// ordered reports whether acquire or release ordering holds the instruction back from the caches and the scratchpad.
func (l *lsu) ordered(in *inst) bool {
	if l.atomics.acquires[in.warp] != 0 {
		return true
	}
	if in.op.LatencyClass() != isa.ClassAtomic || in.op.Order&suffixRL == 0 || l.scratchpadLanes[in.access] == 0 {
		return false
	}
	return l.atomics.first[in.warp] != 0 || !l.switched.Empty()
}

// overlapsAtomic reports whether an access touches a word of an outstanding atomic of its warp.
func (l *lsu) overlapsAtomic(in inst) bool {
	a := &l.accesses[in.access]
	s := spanOf(a, a.Mask)
	for next := l.atomics.first[in.warp]; next != 0; {
		t := &l.coalescer.tags[next-1]
		if s.low&^3 <= t.span.high && t.span.low <= s.high && l.overlap(a, t) {
			return true
		}
		next = t.next
	}
	return false
}

// answer books one channel's answer to a batch, and returns the number of lanes that it serves.
func (l *lsu) answer(id, ch int) (lanes int16) {
	t := &l.coalescer.tags[id]
	if t.atomic>>ch&1 != 0 {
		panic(fmt.Sprintf("BUG: %s @%d: an atomic was answered and not performed", l.self.Unit, l.self.Now))
	}
	lanes = l.coalescer.answer(id, ch)
	if t.waiting == 0 && l.remote(t.inst) {
		l.ended(id)
	}
	return lanes
}

// overlap reports whether an access touches a word of the batch.
func (l *lsu) overlap(a *emu.Access, t *tag) bool {
	b := &l.accesses[t.access]
	for m := t.mask; m != 0; m &= m - 1 {
		word := b.Addr[bits.TrailingZeros32(m)]
		for k := a.Mask; k != 0; k &= k - 1 {
			if a.Addr[bits.TrailingZeros32(k)]&^3 == word {
				return true
			}
		}
	}
	return false
}
