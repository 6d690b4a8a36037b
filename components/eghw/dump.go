package eghw

// Dump is the unit's state, for display. Rings are listed oldest first.
type Dump struct {
	State    string      `json:"state"` // cause for which the oldest pop waits
	Pops     []int       `json:"pops"`  // warps with a waiting pop
	Answers  []int       `json:"answers"`
	Vertices []uint32    `json:"vertices"` // pushed and not begun
	Ahead    []RowDump   `json:"ahead"`    // begun
	Chunks   []ChunkDump `json:"chunks"`   // lines of edges
	Buffer   []EdgeDump  `json:"buffer"`   // ready edges
	Reserved int         `json:"reserved"` // entries of the buffer that chunks will fill
	Reads    []ReadDump  `json:"reads"`    // in flight
}

// RowDump is a vertex whose offsets are being read, or known.
type RowDump struct {
	Vertex  uint32 `json:"vertex"`
	Next    uint32 `json:"next"`
	End     uint32 `json:"end"`
	Awaited int    `json:"awaited"` // lines
}

// ChunkDump is the edges of a line.
type ChunkDump struct {
	Vertex  uint32 `json:"vertex"`
	First   uint32 `json:"first"`
	Edges   uint32 `json:"edges"`
	Awaited int    `json:"awaited"` // lines
}

// EdgeDump is a ready edge.
type EdgeDump struct {
	Base   uint32 `json:"base"`
	Other  uint32 `json:"other"`
	Weight uint32 `json:"wt"`
}

// ReadDump is a requested line.
type ReadDump struct {
	Addr uint32 `json:"addr"`
	Of   string `json:"of"`
}

// Dump returns the unit's state.
func (u *EGHW) Dump() any { return u.engine.dump() }

// Dump returns the unit's state.
func (u *Functional) Dump() any { return u.dump() }

func (e *Engine) dump() Dump {
	d := Dump{State: stateDocs[e.state].name, Reserved: e.reserved, Reads: e.dumpReads()}
	for i := range e.pops.Len() {
		d.Pops = append(d.Pops, (*e.pops.At(i)).Warp)
	}
	for i := range e.answers.Len() {
		d.Answers = append(d.Answers, (*e.answers.At(i)).Warp)
	}
	for i := range e.vertices.Len() {
		d.Vertices = append(d.Vertices, *e.vertices.At(i))
	}
	for i := range e.ahead.Len() {
		r := e.ahead.At(i)
		d.Ahead = append(d.Ahead, RowDump{r.vertex, r.next, r.end, r.awaited})
	}
	for i := range e.chunks.Len() {
		c := e.chunks.At(i)
		d.Chunks = append(d.Chunks, ChunkDump{c.base, c.first, c.n, c.awaited})
	}
	for i := range e.buffer.Len() {
		x := e.buffer.At(i)
		d.Buffer = append(d.Buffer, EdgeDump{x[0], x[1], x[2]})
	}
	return d
}

func (e *Engine) dumpReads() (all []ReadDump) {
	free := make([]bool, len(e.reads))
	for _, t := range e.spare {
		free[t] = true
	}
	add := func(r *read) {
		of := "edges"
		if r.row != nil {
			of = "offsets"
		}
		all = append(all, ReadDump{r.addr, of})
	}
	for t := range e.reads {
		if !free[t] {
			add(&e.reads[t])
		}
	}
	for i := range e.outbox.Len() {
		add(e.outbox.At(i))
	}
	return all
}
