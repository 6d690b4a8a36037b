package window

import (
	"fmt"
	"slices"

	"heddle/components/probe"
	"heddle/internal/suggest"
	"heddle/sim"
	"heddle/sim/choose"
	"heddle/sim/vcd"
)

// VCD is an export of signals in VCD format: of the pipeline, of warps' states, and of units (package probe), each at
// the end of a cycle. A cycle appears as a nanosecond.
type VCD struct {
	*file
	enc    *vcd.Encoder
	first  uint64
	slices int
	stages map[place]*passage
	values []value
	host   look // of the super-step
}

// place is a stage of an issue slice of a core.
type place struct {
	core, slice int
	stage       stage
}

// passage is the set of warps that have passed a stage in the cycle.
type passage struct {
	warps uint64
	warp  int // the first of these warps, and its instruction
	pc    uint32
}

// value is a variable: where it is read.
type value struct {
	name   string
	bits   int // 0: text
	detail bool
	number func() uint64
	text   func(*look) string
}

// passages are the stages with signals, by the stage that an instruction enters.
var passages = [numStages]string{
	fetch: "fetch", decode: "decode", board: "stage", operands: "issue", dispatch: "dispatch", execute: "execute",
	memory: "memory", commit: "commit",
}

// off is the state of a warp that is not active.
const off = "off"

// NewVCD creates a file of at most limit bytes with the signals of a machine that patterns select; no patterns: all but
// those marked as details.
func NewVCD(path string, limit int, m *sim.Machine, s Spec, patterns []choose.Pattern) (*VCD, error) {
	v := &VCD{first: s.Cycles.First, slices: m.Cores[0].Slices(), stages: map[place]*passage{}}
	var err error
	if v.values, err = chosen(v.all(m, s), patterns); err != nil {
		return nil, err
	}
	vars := make([]vcd.Var, len(v.values))
	for i := range vars {
		vars[i] = vcd.Var{Name: v.values[i].name, Bits: v.values[i].bits}
	}
	v.enc = vcd.NewEncoder(vars)
	header := v.enc.Header("heddle; a time is a cycle", "1ns")
	if v.file, err = create(path, limit); err != nil {
		return nil, err
	}
	v.file.write(s.Cycles.First, header, ending)
	return v, nil
}

// ending is the room for the last line.
const ending = 24

// SignalNames returns the signals of a machine, each with its size or its states; detail is set for those shown only on
// request.
func SignalNames(m *sim.Machine) (out []SignalName) {
	v := &VCD{slices: m.Cores[0].Slices(), stages: map[place]*passage{}}
	for _, x := range v.all(m, Everything()) {
		out = append(out, SignalName{x.name, x.bits, x.detail})
	}
	return out
}

// SignalName is a signal's; Bits 0: it is a state.
type SignalName struct {
	Name   string
	Bits   int
	Detail bool
}

// chosen are the values that patterns ask for. A pattern that asks for none is an error.
func chosen(all []value, patterns []choose.Pattern) (out []value, err error) {
	used := make([]bool, len(patterns))
	for _, x := range all {
		wanted := len(patterns) == 0 && !x.detail
		for i := range patterns {
			ok := patterns[i].Matches(x.name)
			used[i], wanted = used[i] || ok, wanted || ok
		}
		if wanted {
			out = append(out, x)
		}
	}
	if i := slices.Index(used, false); i >= 0 {
		var names []string
		for _, x := range all {
			names = append(names, x.name)
		}
		return nil, fmt.Errorf("%s: the machine has no such signal%s (heddle inspect --list-signals)", patterns[i].Text,
			suggest.DidYouMean(patterns[i].Text, names))
	}
	return out, nil
}

// all returns the values of the window's cores, and of the units outside cores.
func (v *VCD) all(m *sim.Machine, s Spec) (all []value) {
	for n := range m.Cores {
		if s.Cores.Has(uint64(n)) {
			all = append(all, v.pipeline(m, n)...)
			all = append(all, warpStates(m, n, s)...)
		}
	}
	all = append(all,
		value{name: "host.step", bits: 32, number: func() uint64 { return uint64(v.host.step) }},
		value{name: "host.frontier", bits: 64, number: func() uint64 { return v.host.frontier }})
	for _, u := range m.Signals() {
		if u.Core >= 0 && !s.Cores.Has(uint64(u.Core)) {
			continue
		}
		for _, x := range u.Signals {
			all = append(all, signal(u.Unit, x))
		}
	}
	return all
}

func signal(unit string, x probe.Signal) value {
	v := value{name: unit + "." + x.Name, bits: x.Bits, detail: x.Detail, number: x.Read}
	if x.States != nil {
		v.bits, v.text = 0, func(*look) string { return x.Text() }
	}
	return v
}

// pipeline are the stages of each slice: whether an instruction passes it in the cycle, and which.
func (v *VCD) pipeline(m *sim.Machine, n int) (all []value) {
	for sl := range v.slices {
		for st, name := range passages {
			if name == "" {
				continue
			}
			p := &passage{}
			v.stages[place{n, sl, stage(st)}] = p
			at := fmt.Sprintf("%s.slice%d.%s.", m.CorePath(n), sl, name)
			all = append(all,
				value{name: at + "valid", bits: 1, number: func() uint64 { return uint64(min(p.warps, 1)) }},
				value{name: at + "warp", bits: 6, number: func() uint64 { return uint64(p.warp) }},
				value{name: at + "pc", bits: 32, number: func() uint64 { return uint64(p.pc) }},
				value{name: at + "warps", bits: 64, detail: true, number: func() uint64 { return p.warps }})
		}
	}
	return all
}

// warpStates are the states of a core's warps, by the names of the statistics.
func warpStates(m *sim.Machine, n int, s Spec) (all []value) {
	for w := range m.Cores[n].NumWarps() {
		if !s.Warps.Has(uint64(w)) {
			continue
		}
		all = append(all, value{name: fmt.Sprintf("%s.warp%d.state", m.CorePath(n), w), text: func(l *look) string {
			if l.warps[n][w] == "" {
				return off
			}
			return l.warps[n][w]
		}})
	}
	return all
}

// pass notes that an instruction passes a stage in this cycle.
func (v *VCD) pass(i *Inst, st stage) {
	p := v.stages[place{i.core, i.warp % v.slices, st}]
	if p == nil {
		return
	}
	if p.warps == 0 {
		p.warp, p.pc = i.warp, i.pc
	}
	p.warps |= 1 << i.warp
}

func (v *VCD) show(i *Inst, _ uint64) {
	if (i.stage == fetch || i.stage == decode) && i.since >= v.first {
		v.pass(i, i.stage)
	}
}

func (v *VCD) enter(i *Inst, _ uint64) { v.pass(i, i.stage) }

func (*VCD) wait(*Inst, string, uint64) {}
func (*VCD) retire(*Inst, uint64)       {}
func (*VCD) discard(*Inst, uint64)      {}

func (v *VCD) tick(l *look) {
	if v.full {
		return
	}
	v.host = *l
	for i := range v.values {
		if x := &v.values[i]; x.text != nil {
			v.enc.Text(i, x.text(l))
		} else {
			v.enc.Number(i, x.number())
		}
	}
	for _, p := range v.stages {
		p.warps = 0
	}
	if b := v.enc.Take(l.now); b != nil {
		v.file.write(l.now, b, ending)
	}
}

// close writes the end of the last values.
func (v *VCD) close(at uint64) error {
	v.file.finish(vcd.Time(at))
	return v.file.close()
}
