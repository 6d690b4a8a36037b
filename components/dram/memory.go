package dram

import (
	"fmt"

	"heddle/components/clock"
	"heddle/components/mem"
)

// Memory is the clocked component: channels behind links. It runs on the DRAM's clock; its links may come from other
// clocks.
//
// A request of a cache line becomes as many bursts as the line takes, and is answered with the last. Writes are not
// answered: acceptance by the queue acknowledges them.
type Memory struct {
	clock.Base
	spec     Spec
	mapper   Mapper
	channels []*Channel
	dues     []uint64 // by channel: clock of its next work
	due      uint64   // the earliest of dues
	ports    []memoryPort
	filled   []uint64 // a bit for each port whose link holds a request
	turns    []int32  // ports in the order of their last service, the longest ago first
	taken    []int32  // scratch space of offer
	bursts   int      // per cache line
	line     uint32
	left     []int32 // by slot: bursts of each read that have not returned
	reads    []read
	free     []int32
	unsent   int // answers that wait for a slot in their link

	requester clock.Femto // period of the clock in which functional execution counts
}

type memoryPort struct {
	index int32
	in    *clock.Link[mem.Request]
	out   *clock.Link[mem.Response]
	sent  int // bursts of the first request that a channel has taken
	slot  int32
	held  []uint32 // answers that wait for a slot in out
}

// read is a read in flight.
type read struct {
	port int32
	tag  uint32
}

// maxReads bounds the reads in flight: the capacity of all queues.
func (s *Spec) maxReads(ports int) int {
	return s.Channels*(s.ReadQueue+s.Ranks*s.BankGroups*s.Banks+64) + ports
}

// NewMemory returns a memory on a clock, for cache lines of lineBytes bytes.
func NewMemory(name string, s Spec, lineBytes, ports int, d *clock.Domain) (*Memory, error) {
	if lineBytes < s.LineBytes || lineBytes%s.LineBytes != 0 {
		return nil, fmt.Errorf("%s: cache lines of %d bytes over a DRAM whose bursts carry %d: expected a multiple",
			name, lineBytes, s.LineBytes)
	}
	m := &Memory{
		Base: clock.NewBase(name), spec: s, ports: make([]memoryPort, ports), bursts: lineBytes / s.LineBytes,
		line: uint32(lineBytes), requester: d.Period(),
	}
	m.mapper = NewMapper(s)
	for i := range m.ports {
		m.turns = append(m.turns, int32(i))
	}
	m.taken = make([]int32, 0, ports)
	for i := range s.Channels {
		c, err := NewChannel(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		c.self.Unit = fmt.Sprintf("%s: channel %d", name, i)
		m.channels, m.dues = append(m.channels, c), append(m.dues, c.nextEvent())
	}
	m.filled = make([]uint64, (ports+63)/64)
	n := s.maxReads(ports)
	m.left, m.reads = make([]int32, n), make([]read, n)
	for i := n - 1; i >= 0; i-- {
		m.free = append(m.free, int32(i))
	}
	m.Join(d, m)
	return m, nil
}

// ConnectPort connects port i to its links.
func (m *Memory) ConnectPort(i int, in *clock.Link[mem.Request], out *clock.Link[mem.Response]) {
	m.ports[i] = memoryPort{index: int32(i), in: in, out: out}
	in.Flag(&m.filled[i/64], i%64)
	m.requester = in.Producer().Period()
}

// Tick runs one DRAM clock.
func (m *Memory) Tick(now clock.Cycle) bool {
	if now >= m.due {
		m.tickChannels(now)
	}
	if m.unsent > 0 {
		m.answer()
	}
	if m.offered() && m.offer(now) {
		return true
	}
	if m.due != never {
		m.ClockHandle().WakeAt(m.due)
	}
	return false
}

// offered reports whether a port's link holds a request, readable or in flight.
func (m *Memory) offered() bool {
	for _, set := range m.filled {
		if set != 0 {
			return true
		}
	}
	return false
}

// offer lets each port hand over a request, and reports whether any port has one. A channel's last slot goes to the
// port that was served longest ago, as with a matrix arbiter. The order changes only when a port is served, so it does
// not depend on how often the memory is woken, and no port starves.
func (m *Memory) offer(now clock.Cycle) (offered bool) {
	waiting, taken := 0, m.taken[:0]
	for _, i := range m.turns {
		if p := &m.ports[i]; p.in.Ready() {
			offered = true
			if m.accept(p, now) {
				taken = append(taken, i)
				continue
			}
		}
		m.turns[waiting] = i
		waiting++
	}
	copy(m.turns[waiting:], taken)
	return offered
}

// tickChannels ticks the channels with work and takes their completions.
func (m *Memory) tickChannels(now clock.Cycle) {
	m.due = never
	for i, at := range m.dues {
		if at <= now {
			c := m.channels[i]
			c.Tick(now)
			if now >= c.done.next {
				m.collect(c, now)
			}
			at = c.nextEvent()
			m.dues[i] = at
		}
		m.due = min(m.due, at)
	}
}

func (m *Memory) collect(c *Channel, now clock.Cycle) {
	for d, ok := c.PopDone(now); ok; d, ok = c.PopDone(now) {
		if !d.Write {
			m.arrived(int32(d.ID))
		}
	}
}

// arrived books one burst of a read.
func (m *Memory) arrived(slot int32) {
	if m.left[slot]--; m.left[slot] > 0 {
		return
	}
	m.free = append(m.free, slot)
	r := m.reads[slot]
	p := &m.ports[r.port]
	if len(p.held) == 0 && !p.out.Full() {
		p.out.Push(mem.Response{Tag: r.tag})
		return
	}
	p.held = append(p.held, r.tag)
	m.unsent++
}

// answer sends delayed answers while there are slots; the links wake the memory when more are free.
func (m *Memory) answer() {
	for i := range m.ports {
		p := &m.ports[i]
		n := 0
		for n < len(p.held) && !p.out.Full() {
			p.out.Push(mem.Response{Tag: p.held[n]})
			n++
		}
		if n > 0 {
			p.held = append(p.held[:0], p.held[n:]...)
			m.unsent -= n
		}
	}
}

// accept hands the bursts of the port's first request to their channels, as far as they have slots, and reports whether
// all have been taken. A flush forwarded by caches is a read here.
func (m *Memory) accept(p *memoryPort, now clock.Cycle) bool {
	r := p.in.Front()
	isRead := r.Op != mem.Write
	if isRead && p.sent == 0 {
		if len(m.free) == 0 {
			return false
		}
		p.slot = m.free[len(m.free)-1]
	}
	first := uint64(r.Addr/m.line) * uint64(m.bursts)
	for p.sent < m.bursts {
		line := first + uint64(p.sent)
		i := m.mapper.Channel(line)
		c := m.channels[i]
		if !c.Enqueue(now, Request{ID: uint64(p.slot), Line: line, Write: !isRead}) {
			return false
		}
		m.dues[i] = c.nextEvent()
		m.due = min(m.due, m.dues[i])
		if isRead && p.sent == 0 {
			m.begin(p, r.Tag)
		}
		p.sent++
	}
	p.sent = 0
	p.in.Pop()
	return true
}

// begin books a read whose first burst a channel has taken.
func (m *Memory) begin(p *memoryPort, tag uint32) {
	m.free = m.free[:len(m.free)-1]
	m.reads[p.slot] = read{port: p.index, tag: tag}
	m.left[p.slot] = int32(m.bursts)
}

// Pending returns the number of reads in flight.
func (m *Memory) Pending() int { return len(m.reads) - len(m.free) }

// Stats returns the counts of every channel.
func (m *Memory) Stats() []Stats { return channelStats(m.channels, m.ClockHandle().Domain().Cycle()) }

func channelStats(channels []*Channel, now uint64) []Stats {
	out := make([]Stats, len(channels))
	for i, c := range channels {
		out[i] = c.Stats(now)
	}
	return out
}

// Bytes returns the bytes that have crossed the data buses; for an ideal memory, which has none, the bytes of completed
// requests.
func (m *Memory) Bytes() (n uint64) {
	for _, c := range m.channels {
		n += c.moved() * uint64(m.spec.LineBytes)
	}
	return n
}

// Waits describes each channel that is not at rest, for reports of stuck machines.
func (m *Memory) Waits() []string { return channelWaits(m.Name(), m.channels, m.Pending()) }

func channelWaits(name string, channels []*Channel, pending int) (out []string) {
	if pending > 0 {
		out = append(out, fmt.Sprintf("%s: %d requests under way", name, pending))
	}
	for i, c := range channels {
		if n := c.reads.len() + c.writes.len() + c.active.len(); n > 0 {
			out = append(out,
				fmt.Sprintf("%s channel %d: %d reads and %d writes queued, %d with their row being opened", name, i,
					c.reads.len(), c.writes.len(), c.active.len()))
		}
	}
	return out
}
