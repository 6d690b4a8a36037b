package window

import "fmt"

// Konata is an export in the format Kanata 0004 of the pipeline viewer Konata. A thread is a warp of a core; lane 0 has
// the stages, lane 1 the causes of an instruction's waits.
type Konata struct {
	*file
	warps   int // of a core: threads are numbered through
	lines   [horizon + 1][]byte
	at      uint64 // the cycle whose lines are the next to be written
	reached uint64 // the cycle that the file has come to
	retired uint64
}

// NewKonata creates a file of at most limit bytes for a window that begins at cycle first.
func NewKonata(path string, limit, warps int, first uint64) (*Konata, error) {
	f, err := create(path, limit)
	if err != nil {
		return nil, err
	}
	f.write(first, fmt.Appendf(nil, "Kanata\t0004\nC=\t%d\n", first), 0)
	return &Konata{file: f, warps: warps, at: first, reached: first}, nil
}

// line adds a line to those of a cycle.
func (k *Konata) line(at uint64, format string, args ...any) {
	if k.full {
		return
	}
	if at < k.at || at >= k.at+uint64(len(k.lines)) {
		panic(fmt.Sprintf("BUG: window @%d: a line for cycle %d", k.at, at))
	}
	b := &k.lines[at%uint64(len(k.lines))]
	*b = append(fmt.Appendf(*b, format, args...), '\n')
}

// flush writes the lines of the cycles before one, each cycle's wholly or not at all.
func (k *Konata) flush(before uint64) {
	for ; k.at < before; k.at++ {
		b := &k.lines[k.at%uint64(len(k.lines))]
		if len(*b) == 0 {
			continue
		}
		if k.at > k.reached {
			*b = append(fmt.Appendf(nil, "C\t%d\n", k.at-k.reached), *b...)
		}
		k.file.write(k.at, *b, 0)
		k.reached = k.at
		*b = (*b)[:0]
	}
}

func (k *Konata) show(i *Inst, at uint64) {
	k.line(at, "I\t%d\t%d\t%d", i.id, i.id, i.core*k.warps+i.warp)
	if i.op != nil {
		k.label(i, at)
	}
	k.line(at, "S\t%d\t0\t%s", i.id, stageNames[i.stage])
}

// label writes the properties known from decode on.
func (k *Konata) label(i *Inst, at uint64) {
	k.line(at, "L\t%d\t0\tc%d w%d %08x %08x  %s", i.id, i.core, i.warp, i.pc, i.mask, i.text())
	k.line(at, "L\t%d\t1\tcore %d, warp %d\\npc 0x%08x\\nlanes 0x%08x\\nunit %s", i.id, i.core, i.warp, i.pc, i.mask,
		i.unit())
}

func (k *Konata) enter(i *Inst, at uint64) {
	if i.stage == decode {
		k.label(i, at)
	}
	k.line(at, "S\t%d\t0\t%s", i.id, stageNames[i.stage])
}

func (k *Konata) wait(i *Inst, before string, at uint64) {
	if before != "" {
		k.line(at, "E\t%d\t1\t%s", i.id, before)
	}
	if i.why != "" {
		k.line(at, "S\t%d\t1\t%s", i.id, i.why)
	}
}

func (k *Konata) retire(i *Inst, at uint64) {
	k.line(at, "R\t%d\t%d\t0", i.id, k.retired)
	k.retired++
}

func (k *Konata) discard(i *Inst, at uint64) {
	k.line(at, "R\t%d\t%d\t1", i.id, k.retired)
	k.retired++
}

func (k *Konata) tick(l *look) { k.flush(l.now + 1) }

// close omits everything known of later cycles. Instructions in flight end with the file.
func (k *Konata) close(at uint64) error {
	k.flush(at + 1)
	if at > k.reached {
		k.file.write(at, fmt.Appendf(nil, "C\t%d\n", at-k.reached), 0)
	}
	return k.file.close()
}
