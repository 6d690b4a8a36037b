package dram

import (
	"fmt"

	"heddle/components/clock"
	"heddle/components/mem"
)

// Harness is the memory of Vortex's RTL and SimX simulations: a Ramulator 2.0 HBM2 behind one queue. It exists for
// cycle parity with them and is not a physical memory: a 64-byte line is four pieces of 16 bytes at consecutive piece
// numbers starting at the line's number, so neighbouring lines overlap. One piece per clock enters the DRAM, for all
// channels together, from an unbounded queue. The answer is sent with the first piece. A bank (lines are interleaved
// over as many banks as channels) takes one request per clock, and completes them in order, at most one per clock; a
// write, which is not answered, completes when its first piece has entered the DRAM.
type Harness struct {
	clock.Base
	channels []*Channel
	mapper   Mapper
	ports    []harnessPort
	banks    []harnessBank
	queue    []piece // waiting, in order
	head     int
	requests []harnessRequest
	entrance mem.Server // of pieces of functional accesses
	free     []int32
}

// harnessPort is one requester's links.
type harnessPort struct {
	in   *clock.Link[mem.Request]
	out  *clock.Link[mem.Response]
	next int // bank with the turn to answer
}

// harnessBank is a bank of the RTL's test bench.
type harnessBank struct {
	next    int     // port with the turn
	waiting []int32 // requests in progress, in order
	head    int
	ended   clock.Cycle // clock of the last completion
}

// harnessRequest is a request in progress.
type harnessRequest struct {
	port  int32
	tag   uint32
	write bool
	done  bool // answered by the DRAM; of a write: taken by the DRAM
}

type piece struct {
	line  uint64
	slot  int32 // request that completes with it; -1: none
	write bool
}

// HarnessChannels is the number of channels of Vortex's simulations.
const HarnessChannels = 2

const (
	harnessPieces    = 4       // per line
	harnessLineBytes = 64      //
	harnessQueue     = 1 << 20 // pieces queued before requests wait; the RTL's queue is unbounded, host memory is not
)

// NewHarness returns the harness with that many DRAM channels on the core's clock.
func NewHarness(name string, channels, ports int, d *clock.Domain) (*Harness, error) {
	s, err := Preset("hbm2-2gbps-r20")
	if err != nil {
		return nil, err
	}
	h := &Harness{Base: clock.NewBase(name), ports: make([]harnessPort, ports), banks: make([]harnessBank, channels)}
	s.Channels = channels
	h.mapper = NewMapper(s)
	for i := range channels {
		c, err := NewChannel(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		c.self.Unit = fmt.Sprintf("%s: channel %d", name, i)
		h.channels = append(h.channels, c)
	}
	h.Join(d, h)
	return h, nil
}

// ConnectPort connects port i to its links.
func (h *Harness) ConnectPort(i int, in *clock.Link[mem.Request], out *clock.Link[mem.Response]) {
	h.ports[i] = harnessPort{in: in, out: out}
}

// Tick runs one clock.
func (h *Harness) Tick(now clock.Cycle) bool {
	for _, c := range h.channels {
		c.Tick(now)
		for d, ok := c.PopDone(now); ok; d, ok = c.PopDone(now) {
			if slot := int32(d.ID); !d.Write && slot >= 0 {
				h.requests[slot].done = true
			}
		}
	}
	busy := h.send(now)
	for i := range h.ports {
		busy = h.answer(&h.ports[i], int32(i), now) || busy
	}
	for i := range h.banks {
		busy = h.retire(&h.banks[i], now) || busy
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
		h.ClockHandle().WakeAt(at)
	}
	return false
}

// send sends one piece to the DRAM.
func (h *Harness) send(now clock.Cycle) bool {
	if h.head == len(h.queue) {
		h.queue, h.head = h.queue[:0], 0
		return false
	}
	if h.head > 1024 && 2*h.head > len(h.queue) {
		h.queue, h.head = append(h.queue[:0], h.queue[h.head:]...), 0
	}
	p := h.queue[h.head]
	if h.channels[h.mapper.Channel(p.line)].Enqueue(now,
		Request{ID: uint64(uint32(p.slot)), Line: p.line, Write: p.write}) {
		if p.write && p.slot >= 0 {
			h.requests[p.slot].done = true
		}
		h.head++
	}
	return true
}

// first returns the bank's oldest request, if the DRAM has completed it and no request of the bank has ended in this
// clock; else -1.
func (h *Harness) first(b *harnessBank, now clock.Cycle) int32 {
	if b.head == len(b.waiting) || b.ended == now || !h.requests[b.waiting[b.head]].done {
		return -1
	}
	return b.waiting[b.head]
}

// over ends the bank's oldest request.
func (h *Harness) over(b *harnessBank, now clock.Cycle) {
	b.ended = now
	h.free = append(h.free, b.waiting[b.head])
	if b.head++; b.head > 1024 && 2*b.head > len(b.waiting) {
		b.waiting, b.head = append(b.waiting[:0], b.waiting[b.head:]...), 0
	}
}

// answer sends one answer of port i, round-robin over the banks.
func (h *Harness) answer(p *harnessPort, i int32, now clock.Cycle) (busy bool) {
	for k := range h.banks {
		at := (p.next + k) % len(h.banks)
		b := &h.banks[at]
		slot := h.first(b, now)
		if slot < 0 || h.requests[slot].write || h.requests[slot].port != i {
			continue
		}
		if p.out.Full() {
			return true
		}
		p.out.Push(mem.Response{Tag: h.requests[slot].tag})
		p.next = (at + 1) % len(h.banks)
		h.over(b, now)
		return true
	}
	return false
}

// retire ends the bank's oldest request, if it is a write that the DRAM has taken.
func (h *Harness) retire(b *harnessBank, now clock.Cycle) (busy bool) {
	if slot := h.first(b, now); slot >= 0 && h.requests[slot].write {
		h.over(b, now)
	}
	return b.head < len(b.waiting) && h.requests[b.waiting[b.head]].done
}

// serve takes one request for bank i, round-robin over the ports.
func (h *Harness) serve(i int) (busy bool) {
	b := &h.banks[i]
	for k := range h.ports {
		at := (b.next + k) % len(h.ports)
		p := &h.ports[at]
		if !p.in.Ready() || int(p.in.Front().Addr/harnessLineBytes)%len(h.banks) != i {
			continue
		}
		if len(h.queue)-h.head >= harnessQueue {
			return true
		}
		b.next = (at + 1) % len(h.ports)
		h.accept(b, int32(at), p.in.Pop())
		return true
	}
	return false
}

// accept queues a request's pieces.
func (h *Harness) accept(b *harnessBank, port int32, r mem.Request) {
	slot := h.take(harnessRequest{port: port, tag: r.Tag, write: r.Op == mem.Write})
	b.waiting = append(b.waiting, slot)
	for k := range uint64(harnessPieces) {
		h.queue = append(h.queue, piece{uint64(r.Addr/harnessLineBytes) + k, slot, r.Op == mem.Write})
		slot = -1 // the first piece answers
	}
}

func (h *Harness) take(r harnessRequest) int32 {
	if len(h.free) == 0 {
		h.requests = append(h.requests, harnessRequest{})
		h.free = append(h.free, int32(len(h.requests)-1))
	}
	slot := h.free[len(h.free)-1]
	h.free = h.free[:len(h.free)-1]
	h.requests[slot] = r
	return slot
}

// Pending returns the number of requests in progress and of queued pieces.
func (h *Harness) Pending() int { return len(h.requests) - len(h.free) + len(h.queue) - h.head }

// Stats returns the counts of every channel.
func (h *Harness) Stats() []Stats { return channelStats(h.channels, h.ClockHandle().Domain().Cycle()) }

// Bytes returns the bytes of the lines moved, each of which is four pieces.
func (h *Harness) Bytes() (n uint64) {
	for _, s := range h.Stats() {
		n += s.Columns() * (harnessLineBytes / harnessPieces)
	}
	return n
}

// Waits describes each channel that is not at rest.
func (h *Harness) Waits() []string { return channelWaits(h.Name(), h.channels, h.Pending()) }
