package emu

import (
	"fmt"

	"heddle/isa"
)

// HostSymbol names two words by which a program talks to the host, as those for Spike do (HTIF): an odd lower word with
// 0 above it ends the program, with its other bits as the exit code.
const HostSymbol = "tohost"

// hostWords are the two words at HostSymbol.
type hostWords struct {
	m    *Machine
	addr uint32
	last uint32 // value of the last write to the lower word
}

// HostError is a request of the program that the host does not support.
type HostError struct{ Low, High uint32 }

func (e *HostError) Error() string {
	return fmt.Sprintf("the program has asked the host for 0x%08x%08x at %s: only its end, an odd number below 2^32, is "+
		"done", e.High, e.Low, HostSymbol)
}

// listen makes the machine observe the words that the program uses to call the host, if it has them.
func (m *Machine) listen(p *isa.Program) {
	if m.host != nil {
		m.Mem.entry(m.host.addr >> pageBits).host = nil
		m.host = nil
	}
	addr, ok := p.Symbol(HostSymbol)
	if !ok || addr%8 != 0 || !ordinary(addr) {
		return
	}
	m.host = &hostWords{m: m, addr: addr}
	page := m.Mem.touch(addr)
	page.host = m.host
	page.forgetCode()
}

// wrote is called for a store to the page of these words. A write of the upper word completes a request; in programs
// that never write it, a second write of the lower one does.
func (h *hostWords) wrote(addr uint32) {
	low, high := h.m.Mem.Load32(h.addr), h.m.Mem.Load32(h.addr+4)
	before := h.last
	switch addr &^ 3 {
	case h.addr:
		h.last = low
	case h.addr + 4:
		before = low
	default:
		return
	}
	if low|high == 0 || low != before {
		return
	}
	if low&1 == 0 || high != 0 {
		h.m.asked = &HostError{low, high}
	} else {
		h.m.exit, h.m.exited = low>>1, true
	}
	h.m.halt()
}

// halt ends all warps.
func (m *Machine) halt() {
	m.device.reset()
	for _, c := range m.cores {
		c.active = 0
		for _, w := range c.warps {
			w.state = stopped
		}
		if c.halted != nil {
			c.halted()
		}
	}
}

// Asked returns the program's unsupported request to the host, a *HostError, or nil.
func (m *Machine) Asked() error { return m.asked }
