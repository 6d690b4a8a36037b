package graphpeg

// Buffers shows how full all buffers are, by name, to who looks at a machine between two instants.
func (p *PEG) Buffers(see func(name string, n, capacity int)) {
	e, name := p.engine, p.Name()+": "
	see(name+"adjacency list working table", e.table.used(), e.table.size)
	see(name+"edge buffer", e.buffer.n, e.buffer.limit)
	e.pops.Level(see)
	e.answers.Level(see)
}
