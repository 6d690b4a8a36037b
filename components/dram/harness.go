package dram

import (
	"fmt"

	"heddle/components/clock"
	"heddle/components/mem"
)

// Harness is the memory that Vortex's RTL and SimX simulations are answered by:
// a Ramulator 2.0 HBM2 behind one queue. It exists for cycle parity with them
// and is not a physical memory: a 64-byte line is four pieces of 16 bytes at
// consecutive piece numbers starting at the line's number, so neighbouring lines
// overlap; one piece a clock enters the DRAM, for all channels together; and
// the answer comes with the first piece.
type Harness struct {
	clock.Base
	channels []*Channel
	mapper   Mapper
	ports    []memoryPort
	queue    []piece // waiting, in order
	head     int
	reads    []read
	free     []int32
}

type piece struct {
	line  uint64
	slot  int32 // of the read to answer; -1: none
	write bool
}

// HarnessChannels is how many channels Vortex's simulations have.
const HarnessChannels = 2

const (
	harnessPieces    = 4  // of a line
	harnessLineBytes = 64 //
	harnessQueue     = 32 // pieces that wait before requests do
)

// NewHarness makes the harness with that many DRAM channels on the core's clock.
func NewHarness(name string, channels, ports int, d *clock.Domain) (*Harness, error) {
	s, err := Preset("hbm2-2gbps-r20")
	if err != nil {
		return nil, err
	}
	h := &Harness{Base: clock.NewBase(name), ports: make([]memoryPort, ports)}
	s.Channels = channels
	h.mapper = NewMapper(s)
	for range channels {
		c, err := NewChannel(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		h.channels = append(h.channels, c)
	}
	h.Join(d, h)
	return h, nil
}

// ConnectPort gives port i its links.
func (h *Harness) ConnectPort(i int, in *clock.Link[mem.Request], out *clock.Link[mem.Response]) {
	h.ports[i] = memoryPort{index: int32(i), in: in, out: out}
}

// Tick does one clock.
func (h *Harness) Tick(now clock.Cycle) bool {
	for _, c := range h.channels {
		c.Tick(now)
		for d, ok := c.PopDone(now); ok; d, ok = c.PopDone(now) {
			if slot := int32(d.ID); !d.Write && slot >= 0 {
				r := h.reads[slot]
				h.ports[r.port].held = append(h.ports[r.port].held, r.tag)
				h.free = append(h.free, slot)
			}
		}
	}
	busy := h.send(now)
	for i := range h.ports {
		busy = h.serve(i) || busy
	}
	if busy {
		return true
	}
	at := uint64(clock.Never)
	for _, c := range h.channels {
		at = min(at, c.NextEvent(now))
	}
	if at != uint64(clock.Never) {
		h.Place().WakeAt(at)
	}
	return false
}

// send gives the DRAM one piece.
func (h *Harness) send(now clock.Cycle) bool {
	if h.head == len(h.queue) {
		h.queue, h.head = h.queue[:0], 0
		return false
	}
	if h.head > 1024 && 2*h.head > len(h.queue) {
		h.queue, h.head = append(h.queue[:0], h.queue[h.head:]...), 0
	}
	p := h.queue[h.head]
	if h.channels[h.mapper.Channel(p.line)].Enqueue(now, Request{ID: uint64(uint32(p.slot)), Line: p.line, Write: p.write}) {
		h.head++
	}
	return true
}

// serve sends one answer of port i and takes one of its requests.
func (h *Harness) serve(i int) (busy bool) {
	p := &h.ports[i]
	if len(p.held) > 0 && !p.out.Full() {
		p.out.Push(mem.Response{Tag: p.held[0]})
		p.held = append(p.held[:0], p.held[1:]...)
	}
	busy = len(p.held) > 0
	if !p.in.Ready() || len(h.queue)-h.head >= harnessQueue {
		return busy || p.in.Len() > 0
	}
	r := p.in.Pop()
	slot := int32(-1)
	if r.Op == mem.Read {
		slot = h.take(read{int32(i), r.Tag})
	}
	for k := range uint64(harnessPieces) {
		h.queue = append(h.queue, piece{uint64(r.Addr/harnessLineBytes) + k, slot, r.Op == mem.Write})
		slot = -1 // the first piece answers
	}
	return true
}

func (h *Harness) take(r read) int32 {
	if len(h.free) == 0 {
		h.reads = append(h.reads, read{})
		h.free = append(h.free, int32(len(h.reads)-1))
	}
	slot := h.free[len(h.free)-1]
	h.free = h.free[:len(h.free)-1]
	h.reads[slot] = r
	return slot
}

// Pending returns the reads under way and the pieces that wait.
func (h *Harness) Pending() int { return len(h.reads) - len(h.free) + len(h.queue) - h.head }

// Stats returns the counts of every channel.
func (h *Harness) Stats() []Stats { return channelStats(h.channels, h.Place().Domain().Cycle()) }

// Bytes returns the bytes of the lines moved: each is four pieces.
func (h *Harness) Bytes() (n uint64) {
	for _, s := range h.Stats() {
		n += s.Columns() * (harnessLineBytes / harnessPieces)
	}
	return n
}
