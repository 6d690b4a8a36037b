package emu

import (
	"math/bits"

	"heddle/isa"
)

// Access to memory by all lanes. The fast paths are for lanes whose addresses are in ordinary memory; read and write,
// one lane at a time, are for all others and report invalid addresses.

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
		d.Gather(p.data, &a.Addr, a.Mask)
	} else {
		d.Fill(0, a.Mask)
	}
	return nil
}

// untouched is the content of pages that do not exist. It must not be written.
var untouched = page{data: new([pageBytes]byte)}

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
	if a.onePage() && size < 4 {
		p := a.w.m.Mem.find(a.first)
		if p == nil {
			p = &untouched
		}
		for m := a.Mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) % isa.MaxLanes
			v := uint32(p.data[a.Addr[l]%pageBytes])
			if size == 2 {
				v |= uint32(p.data[a.Addr[l]%pageBytes|1]) << 8
			}
			d[l] = v ^ sign - sign
		}
		return nil
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
	a.data.Scatter(p.data, &a.Addr, a.Mask)
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
			if p = mem.page(n); p == nil || p.shared {
				p = mem.own(addr)
			}
			at = n
		}
		p.setWord(addr, a.data[l])
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

// amoLanes performs the read-modify-writes of all lanes, in order.
func amoLanes(a *Access) error {
	if len(a.w.m.resv.list) > 0 {
		return a.op.atomic(a)
	}
	if a.onePage() {
		p := a.w.m.Mem.touch(a.first)
		a.amo(p.data)
		p.changed(&a.Addr, a.Mask)
		return nil
	}
	if t := a.local(); t != nil {
		a.amo(t)
		a.w.core.stats.Scratchpad += 2 * uint64(bits.OnesCount32(a.Mask))
		return nil
	}
	return amoPages(a)
}

// amo performs the read-modify-writes of lanes that share a table.
func (a *Access) amo(table *[pageBytes]byte) {
	a.op.amo(&a.w.regs[a.op.rd], table, &a.Addr, &a.data, a.Mask)
	a.wrote |= a.Mask
	a.w.core.stats.Atomics += uint64(bits.OnesCount32(a.Mask))
}

// amoPages is amoLanes for lanes in several pages.
func amoPages(a *Access) error {
	mem, d, f := a.w.m.Mem, &a.w.regs[a.op.rd], a.op.amoLane
	for m := a.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) % isa.MaxLanes
		addr := a.Addr[l]
		if !ordinary(addr) {
			v, err := amoLane(a, l, f)
			if err != nil {
				return err
			}
			d[l] = v
		} else {
			p := mem.page(addr >> pageBits)
			if p == nil || p.shared {
				p = mem.own(addr)
			}
			d[l] = p.word(addr)
			p.setWord(addr, f(d[l], a.data[l]))
			a.wrote |= 1 << l
		}
		a.w.core.stats.Atomics++
	}
	return nil
}
