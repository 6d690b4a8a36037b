package emu

import (
	"encoding/binary"
	"math/bits"

	"heddle/isa"
)

// What follows lets all lanes of an access reach memory. The short ways are for lanes whose addresses are in ordinary
// memory; read and write, a lane at a time, are for all others and say what is wrong with an address.

// ordinary reports whether an address is in memory proper: no scratchpad, and not the uncached region.
func ordinary(addr uint32) bool { return addr-UncachedEnd < ScratchpadBase-UncachedEnd }

// onePage reports whether all lanes are in one page of memory proper.
func (a *Access) onePage() bool { return a.differ < pageBytes && ordinary(a.first) }

// local returns the piece of the scratchpad that all lanes are in; nil: there is none.
func (a *Access) local() *[pageBytes]byte {
	s, from := a.w.core.scratch, int((a.first-ScratchpadBase)&pageMask)
	if a.differ >= pageBytes || a.first < ScratchpadBase || from+pageBytes > len(s) {
		return nil
	}
	return (*[pageBytes]byte)(s[from:])
}

// loadWords is loadLanes for words.
func loadWords(a *Access) error {
	d := &a.w.regs[a.op.rd]
	if t := a.local(); t != nil {
		d.Gather(t, &a.Addr, a.Mask)
		a.w.core.stats.Scratchpad += uint64(bits.OnesCount32(a.Mask))
		return nil
	}
	if !a.onePage() {
		return loadPages(a)
	}
	if p := a.w.m.Mem.find(a.first); p != nil {
		d.Gather(&p.data, &a.Addr, a.Mask)
	} else {
		d.Fill(0, a.Mask)
	}
	return nil
}

// untouched is what pages hold that do not exist. Nobody writes it.
var untouched page

// loadPages is loadWords for lanes in several pages.
func loadPages(a *Access) error {
	mem, d := a.w.m.Mem, &a.w.regs[a.op.rd]
	p, at := (*page)(nil), ^uint32(0) // p's number
	for m := a.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) % isa.MaxLanes
		addr := a.Addr[l]
		if n := addr >> pageBits; n != at {
			if !ordinary(addr) {
				v, err := a.read(l)
				if err != nil {
					return err
				}
				d[l] = v
				continue
			}
			if p = mem.page(n); p == nil {
				p = &untouched
			}
			at = n
		}
		d[l] = p.word(addr)
	}
	return nil
}

func loadLanes(a *Access) error {
	d, size := &a.w.regs[a.op.rd], a.op.size
	sign := uint32(0)
	if a.op.signed {
		sign = 1 << (8*size - 1)
	}
	for m := a.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) % isa.MaxLanes
		v, err := a.read(l)
		if err != nil {
			return err
		}
		d[l] = v ^ sign - sign
	}
	return nil
}

// storeWords is storeLanes for words.
func storeWords(a *Access) error {
	if len(a.w.m.resv.list) > 0 {
		return storeLanes(a)
	}
	if t := a.local(); t != nil {
		a.data.Scatter(t, &a.Addr, a.Mask)
		a.w.core.stats.Scratchpad += uint64(bits.OnesCount32(a.Mask))
		return nil
	}
	if !a.onePage() {
		return storePages(a)
	}
	p := a.w.m.Mem.touch(a.first)
	a.data.Scatter(&p.data, &a.Addr, a.Mask)
	p.changed(&a.Addr, a.Mask)
	return nil
}

// storePages is storeWords for lanes in several pages.
func storePages(a *Access) error {
	mem := a.w.m.Mem
	p, at := (*page)(nil), ^uint32(0) // p's number
	for m := a.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) % isa.MaxLanes
		addr := a.Addr[l]
		if n := addr >> pageBits; n != at {
			if !ordinary(addr) {
				if err := a.write(l, a.data[l]); err != nil {
					return err
				}
				continue
			}
			if p = mem.page(n); p == nil {
				p = mem.touch(addr)
			}
			at = n
		}
		if p.code != nil {
			p.code[addr/4%(pageBytes/4)] = nil
		}
		o := int(addr & (pageBytes - 4))
		binary.LittleEndian.PutUint32(p.data[o:o+4], a.data[l])
	}
	return nil
}

func storeLanes(a *Access) error {
	for m := a.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if err := a.write(l, a.data[l]); err != nil {
			return err
		}
	}
	return nil
}

// amoLanes does the read-modify-writes of all lanes, page by page: lanes of one page keep their order.
func amoLanes(a *Access) error {
	if len(a.w.m.resv.list) > 0 {
		return a.op.atomic(a)
	}
	if a.onePage() {
		a.amoPage(a.first, a.Mask)
		return nil
	}
	if t := a.local(); t != nil {
		a.amo(t, a.Mask)
		a.w.core.stats.Scratchpad += 2 * uint64(bits.OnesCount32(a.Mask))
		return nil
	}
	for rest := a.Mask; rest != 0; rest &= rest - 1 {
		if !ordinary(a.Addr[bits.TrailingZeros32(rest)%isa.MaxLanes]) {
			return a.op.atomic(a)
		}
	}
	for rest := a.Mask; rest != 0; {
		first := a.Addr[bits.TrailingZeros32(rest)%isa.MaxLanes]
		mask := a.Addr.Equal(first, pageMask) & rest
		a.amoPage(first, mask)
		rest &^= mask
	}
	return nil
}

// amoPage does the read-modify-writes of the lanes of the mask, which are in the page of addr.
func (a *Access) amoPage(addr, mask uint32) {
	p := a.w.m.Mem.touch(addr)
	a.amo(&p.data, mask)
	p.changed(&a.Addr, mask)
}

func (a *Access) amo(table *[pageBytes]byte, mask uint32) {
	a.op.amo(&a.w.regs[a.op.rd], table, &a.Addr, &a.data, mask)
	a.wrote |= mask
	a.w.core.stats.Atomics += uint64(bits.OnesCount32(mask))
}
