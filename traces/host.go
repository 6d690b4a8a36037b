package traces

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"heddle/components/accel"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/sim"
)

// Entries of the column host: the host's actions before a launch.
const (
	entryAct    = iota // on graph units: the words of an accel.Hand's act
	entryMemory        // words of an array that graph units read, starting at an address
	numEntries
)

// entryWords is the maximum number of memory words in an entry: arrays are compared in pieces of this size.
const entryWords = 4096

// entry is an entry of the column host.
type entry struct {
	kind  byte
	addr  uint32
	words []uint32
}

// put appends an entry: each word as the difference from the previous one.
func (c *column) put(e entry) {
	c.byte(e.kind)
	if e.kind == entryMemory {
		c.uvarint(uint64(e.addr / 4))
	}
	c.uvarint(uint64(len(e.words)))
	before := uint32(0)
	for _, x := range e.words {
		c.uvarint(uint64(zigzag(x - before)))
		before = x
	}
}

// entry reads an entry. A word takes at least one byte, which bounds the allocation.
func (c *cursor) entry() (e entry) {
	if e.kind = c.byte(); e.kind >= numEntries {
		c.fail()
	}
	if e.kind == entryMemory {
		e.addr = c.uvarint32() * 4
	}
	n := c.uvarint32()
	if uint64(n) > uint64(len(c.b)) || uint64(e.addr)+4*uint64(n) > 1<<32 {
		c.fail()
		return e
	}
	e.words = make([]uint32, n)
	before := uint32(0)
	for i := range e.words {
		before += unzigzag(c.uvarint32())
		e.words[i] = before
	}
	return e
}

// String formats an entry for people.
func (e entry) String() string {
	if e.kind == entryMemory {
		return fmt.Sprintf("memory %08x %d words, sum %08x", e.addr, len(e.words), sum(e.words))
	}
	const most = 16
	s := fmt.Sprintf("act %x", e.words[:min(len(e.words), most)])
	if len(e.words) > most {
		s += fmt.Sprintf(" and %d words more, sum in all %08x", len(e.words)-most, sum(e.words))
	}
	return s
}

func sum(words []uint32) (n uint32) {
	for _, x := range words {
		n = n*31 + x
	}
	return n
}

func wordsOf(b []byte) (words []uint32) {
	for ; len(b) >= 4; b = b[4:] {
		words = append(words, binary.LittleEndian.Uint32(b))
	}
	return words
}

func bytesOf(words []uint32) (b []byte) {
	for _, x := range words {
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	return b
}

// recordedHost records the host's actions for graph units that read memory themselves.
type recordedHost struct {
	encoder
	to      *Recorder
	hand    accel.Hand
	mem     *emu.Memory
	known   *emu.Memory // the memory contents that a replay would have
	waiting column      // actions before the coming launch
	during  bool        // a launch is running: actions now are implied by the program
}

func newRecordedHost(r *Recorder, m *sim.Machine, hand accel.Hand) *recordedHost {
	h := &recordedHost{to: r, hand: hand, mem: m.Arch.Mem, known: emu.NewMemory()}
	hand.Watch(func(act []uint32) {
		if !h.during {
			h.waiting.put(entry{kind: entryAct, words: act})
		}
	})
	return h
}

// begin records the actions before a launch.
func (h *recordedHost) begin(p *isa.Program) {
	h.during = true
	for piece := range slices.Chunk(h.waiting.b, chunkBytes) {
		h.columns[colHost].b = append(h.columns[colHost].b, piece...)
		h.add()
	}
	h.waiting.b = h.waiting.b[:0]
	h.compare(func(addr uint32, now []byte) bool {
		h.columns[colHost].put(entry{entryMemory, addr, wordsOf(now)})
		h.known.Write(addr, now)
		if len(h.columns[colHost].b) >= chunkBytes {
			h.add()
		}
		return true
	})
	h.add()
	h.known.Load(p)
}

// add writes a chunk.
func (h *recordedHost) add() {
	if h.holds() {
		h.to.out.add(h.to.Meta.Shape.Host(), &h.encoder)
	}
}

// compare calls f for the pieces of the units' arrays that differ from known, until it returns false.
func (h *recordedHost) compare(f func(addr uint32, now []byte) bool) {
	var now, known [4 * entryWords]byte
	for _, a := range h.hand.Arrays() {
		for at := uint64(0); at < a.Words; at += entryWords {
			n, addr := 4*min(entryWords, a.Words-at), a.Addr+4*uint32(at)
			h.mem.Read(addr, now[:n])
			h.known.Read(addr, known[:n])
			if !bytes.Equal(now[:n], known[:n]) && !f(addr, now[:n]) {
				return
			}
		}
	}
}

// end refuses programs that write words which units read: the time of such writes is unknown.
func (h *recordedHost) end(p *isa.Program) (err error) {
	h.during = false
	h.compare(func(addr uint32, _ []byte) bool {
		err = fmt.Errorf(
			"%s: between 0x%08x and 0x%08x the program, or a set-up that it carries, has changed words that graph units read "+
				"by themselves: a trace has them as they were before the launch",
			p.Name, addr, addr+4*entryWords)
		return false
	})
	return err
}

// replayedHost repeats the host's recorded actions.
type replayedHost struct {
	hand accel.Hand // host-side interface to the units; nil: none
	mem  *emu.Memory
}

// begin performs the actions before a launch.
func (h *replayedHost) begin(c *cursor) error {
	for len(c.b) > 0 {
		e := c.entry()
		switch {
		case c.bad:
			return fmt.Errorf("%w: the column %s ends too soon, or holds an impossible value", ErrTrace,
				columnNames[colHost])
		case e.kind == entryMemory:
			h.mem.Write(e.addr, bytesOf(e.words))
		case h.hand == nil:
			return fmt.Errorf("%w: the host acts on graph units, and the machine has none", ErrTrace)
		default:
			if err := h.hand.Act(e.words); err != nil {
				return fmt.Errorf("the recorded host's action is impossible on this machine: %w", err)
			}
		}
	}
	return nil
}

// hostLines formats the host's actions before a launch.
func hostLines(c cursor) (lines []string, err error) {
	for len(c.b) > 0 {
		e := c.entry()
		if c.bad {
			return nil, errColumns
		}
		lines = append(lines, e.String())
	}
	return lines, nil
}

// hostParting finds the first difference between the host's actions.
func hostParting(x, y cursor) (d Difference, differ bool, err error) {
	a, err := hostLines(x)
	if err != nil {
		return d, false, err
	}
	b, err := hostLines(y)
	if err != nil {
		return d, false, err
	}
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	d.At = uint64(n)
	d.A, d.B = strings.Join(a[n:min(n+1, len(a))], ""), strings.Join(b[n:min(n+1, len(b))], "")
	return d, d.A != d.B, nil
}
