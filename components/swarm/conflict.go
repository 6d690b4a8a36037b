package swarm

import (
	"math/bits"
	"math/rand/v2"
	"slices"
)

// hashes are the H3 hash functions of a machine's signatures: the exclusive or of a random row for each bit of the
// line's number that is set, tabulated by byte.
type hashes struct {
	ways  int
	table [4][256][]uint16
}

func newHashes(ways, bitsPerWay int, seed uint64) *hashes {
	h := &hashes{ways: ways}
	draw := rand.New(rand.NewPCG(seed, 0x5157))
	for b := range h.table {
		var rows [8][]uint16
		for i := range rows {
			for range ways {
				rows[i] = append(rows[i], uint16(draw.IntN(bitsPerWay)))
			}
		}
		for v := range h.table[b] {
			sum := make([]uint16, ways)
			for i, row := range rows {
				for w := range sum {
					if v>>i&1 != 0 {
						sum[w] ^= row[w]
					}
				}
			}
			h.table[b][v] = sum
		}
	}
	return h
}

// of writes the bit of each way for a line.
func (h *hashes) of(line uint32, out []uint16) {
	a, b, c, d := h.table[0][line&255], h.table[1][line>>8&255], h.table[2][line>>16&255], h.table[3][line>>24]
	for w := range out {
		out[w] = a[w] ^ b[w] ^ c[w] ^ d[w]
	}
}

// signatures are those of one kind, reads or writes, of all slots of a tile. A row of bits, one for each slot, stands
// for a bit of all signatures, so that one look finds all tasks whose signatures match.
type signatures struct {
	words int // of a row
	per   int // bits of a way
	rows  []uint64
}

func newSignatures(ways, per, slots int) signatures {
	words := (slots + 63) / 64
	return signatures{words, per, make([]uint64, ways*per*words)}
}

func (s *signatures) row(way int, bit uint16) []uint64 {
	at := (way*s.per + int(bit)) * s.words
	return s.rows[at : at+s.words]
}

func (s *signatures) insert(slot int, h []uint16) {
	for w, b := range h {
		s.row(w, b)[slot/64] |= 1 << (slot % 64)
	}
}

func (s *signatures) remove(slot int, h []uint16) {
	for w, b := range h {
		s.row(w, b)[slot/64] &^= 1 << (slot % 64)
	}
}

// matching returns the slots of word i whose signatures match.
func (s *signatures) matching(i int, h []uint16) uint64 {
	all := ^uint64(0)
	for w, b := range h {
		if all &= s.rows[(w*s.per+int(b))*s.words+i]; all == 0 {
			return 0
		}
	}
	return all
}

// hash returns the bits of a line, valid until the next call.
func (e *Engine) hash(line uint32) []uint16 {
	if line != e.hashed || e.hashBits == nil {
		if e.hashBits == nil {
			e.hashBits = make([]uint16, e.hashes.ways)
		}
		e.hashes.of(line, e.hashBits)
		e.hashed = line
	}
	return e.hashBits
}

// record enters a line into the task's read or write set. Repetitions that c remembers are left out; others are
// harmless.
func (e *Engine) record(c *core, t *task, line uint32, write bool) {
	f := &c.recorded[line%recordedLines]
	want := uint8(1)
	if write {
		want = 2
	}
	if f.line == line && f.execution == t.tie {
		if f.kinds&want != 0 {
			return
		}
		f.kinds |= want
	} else {
		*f = recorded{line, want, t.tie}
	}
	set, sig := &t.reads, &t.tile.readSigs
	if write {
		set, sig = &t.writes, &t.tile.writeSigs
	}
	*set = append(*set, line)
	sig.insert(t.slot, e.hash(line))
}

const recordedLines = 64

// recorded is a line that a core's task has entered.
type recorded struct {
	line      uint32
	kinds     uint8 // 1: reads, 2: writes
	execution uint64
}

// has reports whether the task has touched the line, exactly.
func (t *task) has(line uint32, reads bool) bool {
	return slices.Contains(t.writes, line) || reads && slices.Contains(t.reads, line)
}

// Faults are defects of the conflict check, for the tests that find them.
type faults struct {
	ignoreReaders, ignoreWriters, ignoreTile, ignoreOthers, ignoreCanary bool
	keepDependents, keepChildren, keepL1, keepWrites, commitEarly        bool
	keepWaiting                                                          bool // the earliest task gets no help
}

// check aborts the tasks of a tile that have touched a line and are later than a time; readers too if reads. It returns
// the cycles that the check takes. self is spared.
func (e *Engine) check(tile *tile, by time, self *task, line uint32, reads bool, cause *uint64) uint64 {
	e.Stats.TileChecks++
	h := e.hash(line)
	restored, compared := e.Stats.Undone, 0
	for i := range tile.writeSigs.words {
		slots := uint64(0)
		if !e.faults.ignoreWriters {
			slots = tile.writeSigs.matching(i, h)
		}
		if reads && !e.faults.ignoreReaders {
			slots |= tile.readSigs.matching(i, h)
		}
		for ; slots != 0; slots &= slots - 1 {
			t := tile.slots[i*64+bits.TrailingZeros64(slots)]
			if t == nil || t == self { // nil: aborted with another
				continue
			}
			exact := true
			if e.exact || by.before(t.time) {
				if exact = t.has(line, reads); !exact && e.exact {
					continue
				}
			}
			compared++
			if by.before(t.time) {
				if !exact {
					e.Stats.FalsePositives++
				}
				e.abort(t, cause)
				h = e.hash(line)
			}
		}
	}
	e.Stats.Compares += uint64(compared)
	return uint64(e.spec.TileCheck+compared*e.spec.TimeCompare) + (e.Stats.Undone-restored)*uint64(e.spec.Rollback)
}

// touched reports whether the signatures of a task of the tile match the line.
func (e *Engine) touched(tile *tile, line uint32, reads bool) bool {
	h := e.hash(line)
	for i := range tile.writeSigs.words {
		slots := tile.writeSigs.matching(i, h)
		if reads {
			slots |= tile.readSigs.matching(i, h)
		}
		if !e.exact && slots != 0 {
			return true
		}
		for ; slots != 0; slots &= slots - 1 {
			if tile.slots[i*64+bits.TrailingZeros64(slots)].has(line, reads) {
				return true
			}
		}
	}
	return false
}

// dependents aborts the later tasks, of all tiles, that have read or written what t has written.
func (e *Engine) dependents(t *task) {
	if e.faults.keepDependents {
		return
	}
	for _, line := range t.writes {
		for tiles := e.entry(line).tiles; tiles != 0; tiles &= tiles - 1 {
			e.check(e.tiles[bits.TrailingZeros64(tiles)], t.time, t, line, true, &e.Stats.Aborts.Dependent)
		}
	}
}

// audit panics if a task later than t has touched a line in a way that conflicts: an access that is not checked must
// have none.
func (e *Engine) audit(t *task, line uint32, write bool, where string) {
	for _, tile := range e.tiles {
		for _, o := range tile.slots {
			if o != nil && o != t && t.time.before(o.time) && o.has(line, write) {
				panic(e.bug("%s: line %#x of the task at %d.%d, unchecked, conflicts with the later one at %d.%d", where, line,
					t.ts, t.tie, o.ts, o.tie))
			}
		}
	}
}
