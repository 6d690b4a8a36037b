package graphpeg

// Dump is the unit's state, for display.
type Dump struct {
	State    string       `json:"state"` // cause for which the oldest pop waits
	Pops     []int        `json:"pops"`  // warps with a waiting pop, oldest first
	Answers  []int        `json:"answers"`
	Lists    []ListDump   `json:"lists"`
	ALWT     []EntryDump  `json:"alwt,omitempty"` // entries that are not free
	Buffer   []EdgeDump   `json:"buffer,omitempty"`
	Exchange ExchangeDump `json:"exchange"`
	Reads    []ReadDump   `json:"reads"` // in flight
}

// ListDump is a vertex-list.
type ListDump struct {
	List    int     `json:"list"`
	Head    []int32 `json:"head"`
	Tail    []int32 `json:"tail"`
	Spilled int     `json:"spilled"` // lines in memory
	Coming  int     `json:"coming"`  // lines in flight from memory
}

// EntryDump is an entry of the adjacency list working table.
type EntryDump struct {
	Entry  int    `json:"entry"`
	Status string `json:"status"`
	Base   uint32 `json:"base"`
	Start  uint32 `json:"start"`
	End    uint32 `json:"end"`
}

// EdgeDump is a slot of the edge buffer, oldest first.
type EdgeDump struct {
	Slot   int    `json:"slot"`
	Valid  bool   `json:"valid"` // else its data is in flight
	Src    uint32 `json:"src"`
	Dst    uint32 `json:"dst"`
	Weight uint32 `json:"wt"`
	Index  uint32 `json:"idx"`
}

// ExchangeDump are the registers of the exchange unit (§3.3.2).
type ExchangeDump struct {
	EFS     uint32 `json:"efs"`
	Pending bool   `json:"pending"`
	Standby bool   `json:"standby"`
	Done    bool   `json:"done"`
}

// ReadDump is a requested line.
type ReadDump struct {
	Of    string `json:"of"`
	Entry int    `json:"entry"` // of the ALWT, or the list, or the chunk of edges
}

// Dump returns the unit's state.
func (p *PEG) Dump() any { return p.engine.dump() }

// Dump returns the unit's state.
func (u *Functional) Dump() any { return u.dump() }

func (e *Engine) dump() Dump {
	x := &e.exchange
	d := Dump{
		State: stateNames[e.waitsFor()], Exchange: ExchangeDump{e.EFS(), x.pending, x.standby, x.done},
		ALWT: e.table.dump(), Buffer: e.buffer.dump(), Reads: e.port.dump(),
	}
	for i := range e.pops.Len() {
		d.Pops = append(d.Pops, (*e.pops.At(i)).Warp)
	}
	for i := range e.answers.Len() {
		d.Answers = append(d.Answers, (*e.answers.At(i)).Warp)
	}
	for i := range e.lists {
		l := &e.lists[i]
		d.Lists = append(d.Lists, ListDump{i, dumpWords(&l.head), dumpWords(&l.tail), l.spilled, l.coming})
	}
	return d
}

func (t *alwt) dump() (all []EntryDump) {
	for i := range t.entries {
		if e := &t.entries[i]; e.status != IVD {
			all = append(all, EntryDump{i, e.status.String(), e.base, e.start, e.end})
		}
	}
	return all
}

func (b *buffer) dump() (all []EdgeDump) {
	for i := range b.n {
		at := b.wrap(b.head + i)
		d := EdgeDump{Slot: at, Valid: b.valid[at]}
		if d.Valid {
			e := b.slots[at]
			d.Src, d.Dst, d.Weight, d.Index = e[0], e[1], e[2], e[3]
		}
		all = append(all, d)
	}
	return all
}

func dumpWords(f *fifo) []int32 {
	all := make([]int32, f.Len())
	for i := range all {
		all[i] = int32(*f.At(i))
	}
	return all
}

// dump returns the reads in flight, in order of their tags.
func (p *memoryPort) dump() (all []ReadDump) {
	free := make([]bool, len(p.reads))
	for _, t := range p.spare {
		free[t] = true
	}
	for t, u := range p.reads {
		if !free[t] {
			all = append(all, ReadDump{sourceNames[u.source], int(u.of)})
		}
	}
	return all
}
