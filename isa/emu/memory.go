package emu

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"heddle/isa"
)

const (
	pageBits  = 12
	pageBytes = 1 << pageBits
	pageMask  = ^uint32(pageBytes - 1)
	tableBits = 10 // entries of one table level
)

// page is one piece of the image, with its instructions once some have been
// fetched from it.
type page struct {
	data   *[pageBytes]byte     // nil: never written
	code   atomic.Pointer[code] // nil: nothing prepared, or a store made it stale
	shared bool                 // data belongs to the host: it is copied before a write
	host   *hostWords           // nil: stores are not observed. Else the page has code too, for the slow path
}

// code is the prepared instructions of a page. Cores on several goroutines fetch concurrently, and prepare those that
// are missing.
type code [pageBytes / 4]atomic.Pointer[Op]

// Memory is the sparse image of the device's 4 GiB address space. Bytes never
// written read as zero; a page is allocated by the first write to it.
//
// Several goroutines may read at the same time, each by a View of its own, while none writes.
type Memory struct {
	*image
	last  *page     `checkpoint:"assembled"` // the page accessed last, a cache: most accesses repeat it
	lastN uint32    `checkpoint:"assembled"`
	later *deferred // nil: stores are visible at once
}

// image is the part that all views of a memory share.
type image struct {
	root  [1 << tableBits]*[1 << tableBits]page
	pages int // that are not shared
}

// NewMemory returns an empty image.
func NewMemory() *Memory { return (&Memory{image: new(image)}).View() }

// View returns another view of the same image, for use by another goroutine.
func (m *Memory) View() *Memory { return &Memory{image: m.image, lastN: ^uint32(0)} }

// deferred holds the stores of a view that others do not see yet.
type deferred struct {
	words []word
	at    map[uint32]int // where the newest word of an address is, of more than few words: those of a host's filling
	tell  func()         // called for the first of them
}

// few is the number of deferred stores up to which they are searched, without a map: those of a cycle.
const few = 32

type word struct{ addr, v uint32 }

// store adds a word.
func (d *deferred) store(addr, v uint32) {
	if len(d.words) == 0 {
		d.tell()
	}
	d.words = append(d.words, word{addr, v})
	switch n := len(d.words); {
	case n == few+1:
		d.at = make(map[uint32]int, 2*few)
		for i, w := range d.words {
			d.at[w.addr] = i
		}
	case n > few+1:
		d.at[addr] = n - 1
	}
}

// load returns the newest word of addr; ok is false if there is none.
func (d *deferred) load(addr uint32) (v uint32, ok bool) {
	if len(d.words) > few {
		if i, ok := d.at[addr]; ok {
			return d.words[i].v, true
		}
		return 0, false
	}
	for i := len(d.words) - 1; i >= 0; i-- {
		if w := &d.words[i]; w.addr == addr {
			return w.v, true
		}
	}
	return 0, false
}

// Defer delays the visibility of Store32 to others until Land; tell is called when there is something to land. Load32
// of this view sees it at once.
func (m *Memory) Defer(tell func()) { m.later = &deferred{tell: tell} }

// Land makes deferred stores visible.
func (m *Memory) Land() {
	for _, w := range m.later.words {
		m.store(w.addr, 4, w.v)
	}
	m.later.words, m.later.at = m.later.words[:0], nil
}

// Bytes returns the host memory that the image's own pages take.
func (m *Memory) Bytes() int64 { return int64(m.pages) * pageBytes }

// page returns page n, or nil.
func (m *Memory) page(n uint32) *page {
	if t := m.root[n>>tableBits%(1<<tableBits)]; t != nil {
		if p := &t[n%(1<<tableBits)]; p.data != nil {
			return p
		}
	}
	return nil
}

// find returns the page of addr, or nil.
func (m *Memory) find(addr uint32) *page {
	n := addr >> pageBits
	if n == m.lastN {
		return m.last
	}
	p := m.page(n)
	if p != nil {
		m.last, m.lastN = p, n
	}
	return p
}

// touch returns the page of addr to be written, allocating it.
func (m *Memory) touch(addr uint32) *page {
	if p := m.find(addr); p != nil && !p.shared {
		return p
	}
	return m.own(addr)
}

// own replaces a shared page at addr by a copy.
func (m *Memory) own(addr uint32) *page {
	p := m.entry(addr >> pageBits)
	data := new([pageBytes]byte)
	if p.data != nil {
		*data = *p.data
	}
	p.data, p.shared = data, false
	m.pages++
	m.last, m.lastN = p, addr>>pageBits
	return p
}

// entry returns page n's table entry.
func (m *Memory) entry(n uint32) *page {
	t := m.root[n>>tableBits]
	if t == nil {
		t = new([1 << tableBits]page)
		m.root[n>>tableBits] = t
	}
	return &t[n%(1<<tableBits)]
}

// Share places words at addr, a multiple of 4, without copying them: the caller must not change them afterwards. Later
// stores of the program go to a copy. Addresses do not wrap.
func (m *Memory) Share(addr uint32, words []uint32) {
	head := min(len(words), int(-addr%pageBytes/4))
	m.WriteWords(addr, words[:head])
	words, addr = words[head:], addr+uint32(4*head)
	for len(words) >= pageBytes/4 && littleEndian {
		p := m.entry(addr >> pageBits)
		if p.data != nil && !p.shared {
			m.pages--
		}
		*p = page{data: (*[pageBytes]byte)(unsafe.Pointer(&words[0])), shared: true}
		words, addr = words[pageBytes/4:], addr+pageBytes
	}
	m.WriteWords(addr, words)
}

// littleEndian reports whether the host keeps words as the device does.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// WriteWords copies words to addr on; addresses wrap at 4 GiB.
func (m *Memory) WriteWords(addr uint32, words []uint32) {
	var b [pageBytes]byte
	for len(words) > 0 {
		n := min(len(words), pageBytes/4)
		for i, w := range words[:n] {
			binary.LittleEndian.PutUint32(b[4*i:], w)
		}
		m.Write(addr, b[:4*n])
		words, addr = words[n:], addr+uint32(4*n)
	}
}

// Load32 reads the word at addr, which is a multiple of 4.
func (m *Memory) Load32(addr uint32) uint32 {
	if m.later != nil {
		if v, ok := m.later.load(addr); ok {
			return v
		}
	}
	if p := m.find(addr); p != nil {
		return p.word(addr)
	}
	return 0
}

// Store32 writes the word at addr, which is a multiple of 4.
func (m *Memory) Store32(addr, v uint32) {
	if m.later != nil {
		m.later.store(addr, v)
		return
	}
	m.store(addr, 4, v)
}

// load reads size bytes (1, 2, 4) at addr, which is a multiple of size.
func (m *Memory) load(addr uint32, size uint8) uint32 {
	p := m.find(addr)
	if p == nil {
		return 0
	}
	return p.load(addr, size)
}

// store writes the low size bytes (1, 2, 4) of v at addr, a multiple of size.
func (m *Memory) store(addr uint32, size uint8, v uint32) {
	m.touch(addr).store(addr, size, v)
}

// word reads the word at addr, which is in the page.
func (p *page) word(addr uint32) uint32 {
	o := int(addr & (pageBytes - 4))
	return binary.LittleEndian.Uint32(p.data[o : o+4])
}

// setWord writes the word at addr, which is in the page.
func (p *page) setWord(addr, v uint32) {
	o := int(addr & (pageBytes - 4))
	binary.LittleEndian.PutUint32(p.data[o:o+4], v)
	if c := p.code.Load(); c != nil {
		p.wrote(c, addr)
	}
}

// wrote is called for a store to a page with code: it invalidates the prepared instruction.
func (p *page) wrote(c *code, addr uint32) {
	c[addr/4%(pageBytes/4)].Store(nil)
	if p.host != nil {
		p.host.wrote(addr)
	}
}

// forgetCode makes all instructions of the page stale.
func (p *page) forgetCode() {
	if p.host != nil {
		p.code.Store(new(code))
		return
	}
	p.code.Store(nil)
}

// load reads size bytes at addr, which is in the page.
func (p *page) load(addr uint32, size uint8) uint32 {
	switch o := addr & (pageBytes - 1); size {
	case 1:
		return uint32(p.data[o])
	case 2:
		return uint32(binary.LittleEndian.Uint16(p.data[o&^1:]))
	default:
		return binary.LittleEndian.Uint32(p.data[o&^3:])
	}
}

// store writes the low size bytes of v at addr, which is in the page.
func (p *page) store(addr uint32, size uint8, v uint32) {
	o := addr & (pageBytes - 1)
	switch size {
	case 1:
		p.data[o] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(p.data[o&^1:], uint16(v))
	default:
		binary.LittleEndian.PutUint32(p.data[o&^3:], v)
	}
	if c := p.code.Load(); c != nil {
		p.wrote(c, addr)
	}
}

// changed makes the instructions stale at which the lanes of the mask have written. It is inlined as far as data
// pages go.
func (p *page) changed(at *isa.Lanes, mask uint32) {
	if c := p.code.Load(); c != nil {
		p.forget(c, at, mask)
	}
}

func (p *page) forget(c *code, at *isa.Lanes, mask uint32) {
	for ; mask != 0; mask &= mask - 1 {
		p.wrote(c, at[bits.TrailingZeros32(mask)%isa.MaxLanes])
	}
}

// Read copies len(b) bytes from addr on; addresses wrap at 4 GiB.
func (m *Memory) Read(addr uint32, b []byte) {
	for len(b) > 0 {
		o := addr & (pageBytes - 1)
		n := min(len(b), pageBytes-int(o))
		if p := m.find(addr); p != nil {
			copy(b[:n], p.data[o:])
		} else {
			clear(b[:n])
		}
		b, addr = b[n:], addr+uint32(n)
	}
}

// Write copies b to addr on; addresses wrap at 4 GiB.
func (m *Memory) Write(addr uint32, b []byte) {
	for len(b) > 0 {
		p := m.touch(addr)
		n := copy(p.data[addr&(pageBytes-1):], b)
		p.forgetCode()
		b, addr = b[n:], addr+uint32(n)
	}
}

// Load copies a program's image.
func (m *Memory) Load(p *isa.Program) {
	for _, s := range p.Segments {
		m.Write(s.Addr, s.Data)
		if n := uint32(len(s.Data)); n < s.Size {
			m.zero(s.Addr+n, s.Size-n)
		}
	}
}

// zero clears n bytes; pages that do not exist are zero already.
func (m *Memory) zero(addr, n uint32) {
	var zeros [pageBytes]byte
	for n > 0 {
		k := min(n, pageBytes-addr&(pageBytes-1))
		if m.find(addr) != nil {
			m.Write(addr, zeros[:k])
		}
		addr, n = addr+k, n-k
	}
}
