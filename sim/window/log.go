package window

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"heddle/components/probe"
	"heddle/internal/suggest"
	"heddle/sim"
	"heddle/sim/choose"
)

// Log is an export of selected events, one per line: the cycle, the unit or warp, the kind, and a description.
type Log struct {
	*file
	m     *sim.Machine
	spec  Spec
	cores []source
	host  *source
	warps [][]string // by core and warp: the state reported last
}

// source is a unit with the events selected from it.
type source struct {
	core  int // -1: no core's
	place string
	kinds []probe.Kind
	warps int
	wants map[string][]*choose.Rule // by kind
}

// coreKinds are the events of a core's pipeline: the stages an instruction enters, and its warps' states.
var coreKinds = []probe.Kind{
	{Name: "fetch", Doc: "an instruction is asked for from the L1I"}, {Name: "decode", Doc: "it is decoded"},
	{Name: "stage", Doc: "it goes to where the scoreboard looks"}, {Name: "issue", Doc: "it is issued"},
	{Name: "dispatch", Doc: "it goes to its unit, with its operands"}, {Name: "execute", Doc: "the unit takes it (its last packet)"},
	{Name: "memory", Doc: "it goes to the caches, the scratchpad or the graph unit"}, {Name: "commit", Doc: "it is written back"},
	{Name: "state", Doc: "the warp is in another state than in the cycle before"},
}

var hostKinds = []probe.Kind{{Name: "step", Doc: "a super-step begins: its number, its active vertices, their edges"}}

// aliases are second names of units.
var aliases = map[string]string{"memory": "dram"}

// NewLog creates a log of a machine's events selected by a filter, in a file or, if path is empty, on a writer. It has
// at most limit bytes.
func NewLog(path string, to io.Writer, limit int, m *sim.Machine, s Spec, f choose.Filter) (*Log, error) {
	l := &Log{m: m, spec: s}
	all, tellers := sources(m)
	if err := l.choose(all, f); err != nil {
		return nil, err
	}
	for n := range m.Cores {
		l.cores = append(l.cores, *all[n])
		l.warps = append(l.warps, make([]string, m.Cores[n].NumWarps()))
	}
	for i, t := range tellers {
		if src := all[len(m.Cores)+i]; len(src.wants) > 0 && (src.core < 0 || s.Cores.Has(uint64(src.core))) {
			t.Watch(func(kind string, warp int, format string, args ...any) {
				l.tell(src, m.Instant(), kind, warp, format, args...)
			})
		}
	}
	l.host = all[len(all)-1]
	var err error
	l.file, err = open(path, to, limit)
	return l, err
}

// sources are the sources of a machine's events: cores, then tellers, then the host.
func sources(m *sim.Machine) (all []*source, tellers []sim.Telling) {
	for n, c := range m.Cores {
		all = append(all, &source{core: n, place: m.CorePath(n), kinds: coreKinds, warps: c.NumWarps()})
	}
	tellers = m.Tellers()
	for _, t := range tellers {
		src := &source{core: t.Core, place: t.Unit, kinds: t.Kinds()}
		if t.Core >= 0 {
			src.warps = m.Cores[t.Core].NumWarps()
		}
		all = append(all, src)
	}
	return append(all, &source{core: -1, place: "host", kinds: hostKinds}), tellers
}

// choose selects the events of each source. A rule that selects none is an error.
func (l *Log) choose(all []*source, f choose.Filter) error {
	for i := range f {
		r, of := &f[i], []*source{}
		for _, s := range all {
			if r.Unit(s.place) || r.Unit(aliases[s.place]) {
				of = append(of, s)
			}
		}
		if err := check(r, all, of); err != nil {
			return err
		}
		for _, s := range of {
			s.want(r)
		}
	}
	return nil
}

func (s *source) want(r *choose.Rule) {
	if s.wants == nil {
		s.wants = map[string][]*choose.Rule{}
	}
	for _, k := range s.kinds {
		if r.Kind(k.Name) {
			s.wants[k.Name] = append(s.wants[k.Name], r)
		}
	}
}

// check refuses a rule without a unit, with a kind that its units do not have, or with a warp that there is not.
func check(r *choose.Rule, all, of []*source) error {
	if len(of) == 0 {
		names := places(all)
		return fmt.Errorf("%s: the machine has no unit %s%s; it has %s", r.Text, r.UnitText(),
			suggest.DidYouMean(r.UnitText(), names), strings.Join(names, ", "))
	}
	names, warps := []string{}, 0
	for _, s := range of {
		warps = max(warps, s.warps)
		for _, k := range s.kinds {
			if !slices.Contains(names, k.Name) {
				names = append(names, k.Name)
			}
		}
	}
	for _, text := range r.KindTexts() {
		p, _ := choose.Parse(text)
		if !slices.ContainsFunc(names, p.Matches) {
			return fmt.Errorf("%s: %s has no events %s%s; it has %s", r.Text, r.UnitText(), text,
				suggest.DidYouMean(text, names), strings.Join(names, ", "))
		}
	}
	for w := 0; r.OnlyWarps(); w++ {
		if w == warps {
			return fmt.Errorf("%s: no such warp: there are %d, numbered from 0", r.Text, warps)
		}
		if r.Warp(w) {
			break
		}
	}
	return nil
}

// places are the sources' places, without those that differ in a number only, and in their short form.
func places(all []*source) (names []string) {
	for _, s := range all {
		name := s.place[strings.LastIndexByte(s.place, '.')+1:]
		if strings.HasPrefix(name, "core") && name != "core0" {
			continue
		}
		if a := aliases[name]; a != "" {
			name = a
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// tell writes an event, if it is selected.
func (l *Log) tell(s *source, now uint64, kind string, warp int, format string, args ...any) {
	if l.full || !l.spec.Cycles.Has(now) || warp >= 0 && !l.spec.Warps.Has(uint64(warp)) {
		return
	}
	if !slices.ContainsFunc(s.wants[kind], func(r *choose.Rule) bool { return r.Warp(warp) }) {
		return
	}
	b := fmt.Appendf(nil, "%d %s", now, s.place)
	if warp >= 0 {
		b = fmt.Appendf(b, ".warp%d", warp)
	}
	b = append(fmt.Appendf(b, " %s: ", kind), fmt.Sprintf(format, args...)...)
	l.file.write(now, append(b, '\n'), 0)
}

// instruction writes the entry of an instruction into a stage.
func (l *Log) instruction(i *Inst, at uint64) {
	kind := passages[i.stage]
	switch s := &l.cores[i.core]; {
	case kind == "" || len(s.wants[kind]) == 0:
	case i.op == nil:
		l.tell(s, at, kind, i.warp, "%08x%s", i.pc, l.m.Arch.SymbolAt(i.pc))
	default:
		l.tell(s, at, kind, i.warp, "%08x %08x %s%s", i.pc, i.mask, i.text(), l.m.Arch.SymbolAt(i.pc))
	}
}

func (l *Log) show(i *Inst, _ uint64) {
	if (i.stage == fetch || i.stage == decode) && i.since >= l.spec.Cycles.First {
		l.instruction(i, i.since)
	}
}

// enter: all but decode are in their stage from the cycle behind the event on.
func (l *Log) enter(i *Inst, at uint64) {
	if i.stage != decode {
		at--
	}
	l.instruction(i, at)
}

func (*Log) wait(*Inst, string, uint64) {}
func (*Log) retire(*Inst, uint64)       {}
func (*Log) discard(*Inst, uint64)      {}

func (l *Log) tick(k *look) {
	for n := range l.cores {
		if s := &l.cores[n]; len(s.wants["state"]) > 0 {
			l.states(s, l.warps[n], k.warps[n], k.now)
		}
	}
}

// states writes the changes of warps' states.
func (l *Log) states(s *source, before, now []string, at uint64) {
	for w, state := range now {
		if state == "" {
			state = off
		}
		if before[w] != state && (before[w] != "" || state != off) {
			l.tell(s, at, "state", w, "%s", state)
		}
		before[w] = state
	}
}

func (l *Log) stepped(k *look) {
	l.tell(l.host, l.m.Instant(), "step", -1, "%d, %d vertices, %d edges", k.step, k.frontier, k.outgoing)
}

func (l *Log) close(uint64) error { return l.file.close() }
