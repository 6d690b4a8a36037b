package dram

import "fmt"

// Buffers calls see with the name, occupancy and capacity of every buffer. It must be called between two instants.
func (m *Memory) Buffers(see func(name string, n, capacity int)) {
	channelBuffers(m.Name(), m.channels, see)
	see(m.Name()+": reads under way", len(m.reads)-len(m.free), len(m.reads))
}

// Buffers calls see with the name, occupancy and capacity of every buffer. It must be called between two instants.
func (h *Harness) Buffers(see func(name string, n, capacity int)) {
	channelBuffers(h.Name(), h.channels, see)
	see(h.Name()+": pieces that wait", len(h.queue)-h.head, harnessQueue)
}

func channelBuffers(name string, channels []*Channel, see func(string, int, int)) {
	for i, c := range channels {
		c.reads.level(fmt.Sprintf("%s: channel %d, reads", name, i), see)
		c.writes.level(fmt.Sprintf("%s: channel %d, writes", name, i), see)
		c.active.level(fmt.Sprintf("%s: channel %d, rows being opened", name, i), see)
	}
}

func (q *queue) level(name string, see func(string, int, int)) { see(name, q.len(), q.size) }
