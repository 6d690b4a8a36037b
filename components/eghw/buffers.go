package eghw

// Buffers shows how full all buffers are, by name, to who looks at a machine between two instants.
func (u *EGHW) Buffers(see func(name string, n, places int)) {
	e, name := u.engine, u.Name()+": "
	e.vertices.level(name+"vertices that wait", see)
	e.ahead.level(name+"vertices taken up", see)
	e.chunks.level(name+"lines of edges", see)
	e.buffer.level(name+"edge buffer", see)
	e.pops.level(name+"pops", see)
	e.answers.level(name+"answers", see)
	e.outbox.level(name+"reads to send", see)
}

func (r *ring[T]) level(name string, see func(string, int, int)) { see(name, r.n, len(r.places)) }
