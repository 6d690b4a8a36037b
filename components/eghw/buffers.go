package eghw

// Buffers calls see with the name, occupancy and capacity of every buffer. It must be called between two instants.
func (u *EGHW) Buffers(see func(name string, n, capacity int)) {
	e := u.engine
	e.vertices.Level(see)
	e.ahead.Level(see)
	e.chunks.Level(see)
	e.buffer.Level(see)
	e.pops.Level(see)
	e.answers.Level(see)
	e.outbox.Level(see)
}
