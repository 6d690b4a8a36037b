package graphpeg

// Buffers calls see with the name, occupancy and capacity of every buffer. It must be called between two instants.
func (p *PEG) Buffers(see func(name string, n, capacity int)) {
	e, name := p.engine, p.Name()+": "
	see(name+"adjacency list working table", e.table.used(), e.table.size)
	see(name+"edge buffer", e.buffer.n, e.buffer.limit)
	e.pops.Level(see)
	e.answers.Level(see)
}
