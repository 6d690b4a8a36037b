package graphpeg

import (
	"encoding/binary"
	"fmt"

	"heddle/isa"
)

// Host is the host-side interface to the units of all cores, for use between launches. It takes no simulated time.
type Host struct{ Units []*Engine }

// Configure writes the registers of all units.
func (h Host) Configure(s Setup) error {
	h.tell(s.act(h.RegionBytes())...)
	for _, e := range h.Units {
		if err := e.Configure(s); err != nil {
			return err
		}
	}
	return nil
}

// RegionBytes returns the size of the memory that a set-up's Regions must point to.
func (h Host) RegionBytes() uint64 {
	if len(h.Units) == 0 {
		return 0
	}
	e := h.Units[0]
	return e.spec.regionBytes(&e.shape)
}

// Fill distributes vertices over the cores' lists, after those present.
func (h Host) Fill(list int, vertices []uint32, deal Deal) error {
	if err := h.check(list); err != nil {
		return err
	}
	h.tell(append([]uint32{actFill, uint32(list), word(bool(deal))}, vertices...)...)
	share := (len(vertices) + len(h.Units) - 1) / len(h.Units)
	for i, v := range vertices {
		core := i % len(h.Units)
		if deal == Block {
			core = i / share
		}
		e := h.Units[core]
		if err := e.append(list, v); err != nil {
			return fmt.Errorf("list %d of core %d: %w", list, core, err)
		}
		e.VerticesHost++
	}
	return nil
}

// check returns an error if the list cannot be used.
func (h Host) check(list int) error {
	e := h.Units[0]
	if list < 0 || list >= len(e.lists) {
		return fmt.Errorf("vertex-list %d: there are %d (vertex_lists)", list, len(e.lists))
	}
	if !e.configured {
		return fmt.Errorf("vertex-list %d: the units have no set-up, which says where its memory is", list)
	}
	return nil
}

// Size returns the number of vertices in the list, on all cores.
func (h Host) Size(list int) (n int) {
	for _, e := range h.Units {
		n += e.lists[list].size()
	}
	return n
}

// Read returns the vertices of the list, core by core.
func (h Host) Read(list int) (all []uint32) {
	for _, e := range h.Units {
		all = append(all, e.lists[list].contents(e.mem)...)
	}
	return all
}

// Swap exchanges two lists: the output of a launch becomes the input of the next.
func (h Host) Swap(a, b int) {
	h.tell(actSwap, uint32(a), uint32(b))
	for _, e := range h.Units {
		e.lists[a], e.lists[b] = e.lists[b], e.lists[a]
		e.circuit.tell(HostAct{Kind: HostSwap, List: a, Other: b})
	}
}

// Forget empties all lists.
func (h Host) Forget() {
	h.tell(actForget)
	for _, e := range h.Units {
		e.forget()
	}
}

// Carry applies the set-up that the program carries (DecodeSetup), if there is one: it configures the units and
// replaces the contents of the lists.
func (h Host) Carry(p *isa.Program) error {
	addr, ok := p.Symbol(SetupSymbol)
	if !ok || len(h.Units) == 0 {
		return nil
	}
	s, initial, deal := DecodeSetup(words(p), addr, size(p))
	h.Forget()
	if err := h.Configure(s); err != nil {
		return err
	}
	return h.Fill(int(s.In), initial, deal)
}

// words returns a function that reads the program's initial data; elsewhere it reads 0.
func words(p *isa.Program) Load {
	return func(addr uint32) uint32 {
		for _, s := range p.Segments {
			if at := addr - s.Addr; addr >= s.Addr && uint64(at)+4 <= uint64(len(s.Data)) {
				return binary.LittleEndian.Uint32(s.Data[at:])
			}
		}
		return 0
	}
}

// size returns the size of a program's initial data, in words.
func size(p *isa.Program) (n uint32) {
	for _, s := range p.Segments {
		n += uint32(len(s.Data) / 4)
	}
	return n
}

// forget empties all lists.
func (e *Engine) forget() {
	for i := range e.lists {
		e.VerticesForgotten += uint64(e.lists[i].size())
		e.lists[i].clear()
	}
	e.circuit.tell(HostAct{Kind: HostClear})
}

// append is the host's push to a list.
func (e *Engine) append(list int, v uint32) error {
	l := &e.lists[list]
	before := l.spilled
	if err := l.append(v, e.mem); err != nil {
		return err
	}
	for range l.spilled - before {
		e.circuit.tell(HostAct{Kind: HostSpill, List: list})
	}
	e.circuit.tell(HostAct{Kind: HostPush, List: list, Word: v})
	return nil
}
