package traces

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"reflect"

	"heddle/internal/plain"
	"heddle/isa"
)

// Meta is a file's description of itself, besides the traces.
type Meta struct {
	Heddle     string      `json:"heddle"` // version of the recording program
	Experiment string      `json:"experiment"`
	Config     string      `json:"config"` // the recorded point, resolved, as YAML
	Machine    string      `json:"machine"`
	Shape      Shape       `json:"shape"`
	Unit       *Unit       `json:"unit,omitempty"`
	Graph      *Graph      `json:"graph,omitempty"`
	Layout     []Region    `json:"layout,omitempty"`
	Programs   []Program   `json:"programs"`
	Launches   []Launch    `json:"launches"`
	Cycles     uint64      `json:"cycles"`                  // within launches; 0: not recorded on a timed machine
	Overhead   uint64      `json:"overhead"`                // host cycles around each launch
	StepCycles uint64      `json:"step_overhead,omitempty"` // host cycles around each super-step
	Steps      int         `json:"super_steps"`
	Software   []Statistic `json:"software,omitempty"` // the host's statistics
	Timing     []string    `json:"timing,omitempty"`   // reasons why execution may depend on timing
}

// Shape determines the numbers of warps and lanes.
type Shape struct {
	Cores   int `json:"cores"`
	Warps   int `json:"warps"`
	Threads int `json:"threads"`
}

// Unit is a graph unit as seen by programs.
type Unit struct {
	Name     string `json:"name"`
	Answered []bool `json:"answered"` // by function
	Visible  string `json:"visible"`  // its properties that programs can observe
}

// Graph describes a graph.
type Graph struct {
	Hash        string `json:"hash"`
	Source      string `json:"source"`
	Vertices    int    `json:"vertices"`
	Edges       int    `json:"edges"`
	MaxInDegree int    `json:"max_in_degree"`
}

// Region is a named piece of the simulated memory.
type Region struct {
	Name  string `json:"name"`
	Addr  uint32 `json:"addr"`
	Bytes uint64 `json:"bytes"`
}

// Program is a launched program.
type Program struct {
	Name     string    `json:"name"`
	Hash     string    `json:"hash"` // SHA-256 of entry and segments
	Entry    uint32    `json:"entry"`
	Segments []Segment `json:"segments"`
	Symbols  []Symbol  `json:"symbols"`
}

// Segment is a part of a program's image.
type Segment struct {
	Addr       uint32 `json:"addr"`
	Size       uint32 `json:"size"`
	Executable bool   `json:"executable"`
	Data       []byte `json:"data"`
}

// Symbol names an address.
type Symbol struct {
	Name string `json:"name"`
	Addr uint32 `json:"addr"`
}

// Launch is one launch of a program.
type Launch struct {
	Program      int    `json:"program"`
	Arg          uint32 `json:"arg"`
	Kernel       string `json:"kernel,omitempty"` // its name on the host
	Step         int    `json:"super_step"`       // from 1; 0: before the first
	FromZero     *int   `json:"step,omitempty"`   // the same in older files: from 0; -1: before the first
	Cycles       uint64 `json:"cycles"`
	WarpInstrs   uint64 `json:"warp_instrs"`
	ThreadInstrs uint64 `json:"thread_instrs"`

	LaneAddresses uint64      `json:"lane_addresses"` // of memory accesses
	Software      []Statistic `json:"software,omitempty"`
}

// Statistic is a statistic counted by the host.
type Statistic struct {
	Name  string   `json:"name"`
	Unit  string   `json:"unit"`
	Doc   string   `json:"doc"`
	Count uint64   `json:"count"`
	Ratio *float64 `json:"ratio,omitempty"` // instead of count
}

// renumber converts the super-step numbers of an older file.
func (m *Meta) renumber() {
	for i := range m.Launches {
		if l := &m.Launches[i]; l.FromZero != nil {
			l.Step, l.FromZero = *l.FromZero+1, nil
		}
	}
}

func (s Shape) String() string {
	return fmt.Sprintf("%d cores × %d warps × %d threads", s.Cores, s.Warps, s.Threads)
}

// Host returns the number under which the column host is stored, after all warps.
func (s Shape) Host() int { return s.Cores * s.Warps }

// Name returns a readable name of the machine's warp w.
func (s Shape) Name(w int) string {
	if w == s.Host() {
		return "host"
	}
	return fmt.Sprintf("core %d warp %d", w/s.Warps, w%s.Warps)
}

func newProgram(p *isa.Program) Program {
	out := Program{Name: p.Name, Entry: p.Entry}
	for _, s := range p.Segments {
		out.Segments = append(out.Segments, Segment{s.Addr, s.Size, s.Executable, s.Data})
	}
	for _, s := range p.Symbols {
		out.Symbols = append(out.Symbols, Symbol{s.Name, s.Addr})
	}
	out.Hash = out.hash()
	return out
}

// program is the inverse conversion.
func (p *Program) program() *isa.Program {
	out := &isa.Program{Name: p.Name, Entry: p.Entry}
	for _, s := range p.Segments {
		out.Segments = append(out.Segments, isa.Segment{Addr: s.Addr, Data: s.Data, Size: s.Size,
			Executable: s.Executable})
	}
	for _, s := range p.Symbols {
		out.Symbols = append(out.Symbols, isa.Symbol{Name: s.Name, Addr: s.Addr})
	}
	return out
}

func (p *Program) hash() string {
	h := sha256.New()
	word := func(x uint32) { _ = binary.Write(h, binary.LittleEndian, x) }
	word(p.Entry)
	for _, s := range p.Segments {
		word(s.Addr)
		word(s.Size)
		word(uint32(len(s.Data)))
		h.Write(s.Data)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// plain escapes the names in a file, so that printing them is safe. Configurations are parsed, not printed.
func (m *Meta) plain() {
	config, machine := m.Config, m.Machine
	plainStrings(reflect.ValueOf(m).Elem())
	m.Config, m.Machine = config, machine
}

// plainStrings escapes all strings in a value.
func plainStrings(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(plain.Line(v.String()))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			plainStrings(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			plainStrings(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			plainStrings(v.Field(i))
		}
	}
}
