package graphpeg

// Inside is the state of a unit after a cycle, as far as its SystemVerilog shows it (rtl/graphpeg).
type Inside struct {
	EFS                             uint32 // R_EFS
	Reserved, Filled, Run           int    // slots of the edge buffer: reserved, valid, valid in front
	FI, RD, FE                      int    // entries of the table by status
	Pops                            int    // that wait
	In, Out                         int    // lengths of the input and of the output list
	Pending, Standby, ReportedDrain bool
}

// Inside returns the unit's state.
func (e *Engine) Inside() Inside {
	return Inside{
		EFS: e.EFS(), Reserved: e.buffer.n, Filled: e.buffer.filled, Run: e.buffer.run,
		FI: e.table.count[FI], RD: e.table.count[RD], FE: e.table.count[FE], Pops: e.pops.Len(),
		In: e.lists[e.setup.In].size(), Out: e.lists[e.setup.Out].size(),
		Pending: e.exchange.pending, Standby: e.exchange.standby, ReportedDrain: e.exchange.drainReported,
	}
}

// HasRoom reports whether a list has room on chip for another vertex of the host.
func (e *Engine) HasRoom(list int) bool { return e.lists[list].room(1) }

// Outstanding returns the number of reads without an answer and of writes that have not left.
func (e *Engine) Outstanding() int { return e.port.outstanding() }

// Epoch returns the number of launches.
func (e *Engine) Epoch() uint32 { return e.exchange.epoch }

// Region returns the address of this core's memory of lists.
func (s *Setup) Region(spec *Spec, core int) uint32 {
	return s.Regions + uint32(core*(spec.VertexLists+1)*spec.ListRegion)
}

// Sizes returns the sizes of a unit in hardware: slots of the edge buffer with one field an edge, and words of a
// list on chip.
func (s *Spec) Sizes(lineBytes int) (slots, listWords int) {
	return s.slots(1), s.listWords(lineBytes / 4)
}
