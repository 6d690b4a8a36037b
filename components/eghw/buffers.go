package eghw

// Buffers shows how full all buffers are, by name, to who looks at a machine between two instants.
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
