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

// loadWords is loadLanes for words.
func loadWords(a *Access) error {
	if !a.onePage() {
		return loadLanes(a)
	}
	d := &a.w.regs[a.op.rd]
	if p := a.w.m.Mem.find(a.first); p != nil {
		d.Gather(&p.data, &a.Addr, a.Mask)
	} else {
		d.Fill(0, a.Mask)
	}
	return nil
}

func loadLanes(a *Access) error {
	mem, d, size := a.w.m.Mem, &a.w.regs[a.op.rd], a.op.size
	sign, shift := uint32(0), 32-8*size
	if a.op.signed {
		sign = 1 << 31 >> shift
	}
	var p *page
	at := ^uint32(0) // p's number
	for m := a.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) % isa.MaxLanes
		addr := a.Addr[l]
		if n := addr >> pageBits; n != at {
			if !ordinary(addr) {
				v, err := a.read(l)
				if err != nil {
					return err
				}
				d[l] = v ^ sign - sign
				continue
			}
			p, at = mem.page(n), n
		}
		if p == nil {
			d[l] = 0
			continue
		}
		d[l] = p.load(addr, size) ^ sign - sign
	}
	return nil
}

func storeLanes(a *Access) error {
	w, size := a.w, a.op.size
	watched := len(w.m.resv.list) > 0
	var p *page
	at := ^uint32(0) // p's number
	for m := a.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) % isa.MaxLanes
		addr := a.Addr[l]
		if n := addr >> pageBits; n != at {
			if watched || !ordinary(addr) {
				if err := a.write(l, a.data[l]); err != nil {
					return err
				}
				continue
			}
			p, at = w.m.Mem.touch(addr), n
		}
		p.store(addr, size, a.data[l])
	}
	return nil
}

// amoLanes is atomic(amoLane).
func amoLanes(a *Access) error {
	if len(a.w.m.resv.list) > 0 || !a.onePage() {
		return a.atomic(amoLane)
	}
	p, d, f := a.w.m.Mem.touch(a.first), &a.w.regs[a.op.rd], a.op.amo
	for m := a.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) % isa.MaxLanes
		addr := a.Addr[l]
		old := binary.LittleEndian.Uint32(p.data[addr&(pageBytes-4):])
		d[l] = old
		p.store(addr, 4, f(old, a.data[l]))
	}
	a.wrote |= a.Mask
	a.w.core.stats.Atomics += uint64(bits.OnesCount32(a.Mask))
	return nil
}
