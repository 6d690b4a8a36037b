package cache

import "fmt"

// Buffers calls see with the name, occupancy and capacity of every buffer. It must be called between two instants.
func (c *Cache) Buffers(see func(name string, n, capacity int)) {
	c.trailing.Observe()
	for _, in := range c.shared {
		in.buf.Level(see)
	}
	for _, b := range c.banks {
		if c.buffered {
			b.front.buffer.Level(see)
		}
	}
	for i, b := range c.banks {
		see(fmt.Sprintf("%s: bank %d, MSHRs", c.Name(), i), b.mshr.used, len(b.mshr.entries))
		b.rsp.Level(see)
		b.mreq.Level(see)
	}
}
