// Package emittest runs kernels in tests: on the interpreter, without a compiler.
package emittest

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/eghw"
	"heddle/components/graphpeg"
	"heddle/components/weaver"
	"heddle/isa/emu"
	"heddle/kernels/activeset"
	"heddle/kernels/ir"
)

// Machine is an interpreted machine with a Weaver, a GraphPEG, a hardware worklist and edge-generating hardware in each core.
type Machine struct {
	Cores, Warps, Threads int
	Weaver                weaver.Spec
	Worklists             bool // Lists are the hardware worklists', not the GraphPEGs'
	mem                   *emu.Memory
	next                  uint32
	lists                 map[string]*graphpeg.Host // by the unit's name
	pegs                  [][]emu.Unit              // by core
	EGHW                  eghw.Host
}

// New makes a machine.
func New(cores, warps, threads int) *Machine {
	m := &Machine{
		Cores: cores, Warps: warps, Threads: threads, Weaver: weaver.Spec{STEntries: 24, DTEntries: 1 << 11}, mem: emu.NewMemory(), next: 0x10000,
		lists: map[string]*graphpeg.Host{"peg": {}, "hwwl": {}},
	}
	for core := range cores {
		m.plug(graphpeg.Shape{Core: core, Cores: cores, Warps: warps, Threads: threads, LineBytes: 64})
		m.plugEGHW(eghw.Shape{Core: core, Warps: warps, Threads: threads, LineBytes: 64})
	}
	return m
}

// plug gives the next core the units that have lists.
func (m *Machine) plug(s graphpeg.Shape) {
	spec := graphpeg.DefaultSpec()
	spec.ListRegion = 1 << 10
	m.pegs = append(m.pegs, nil)
	for _, make := range []func(graphpeg.Spec, graphpeg.Shape) (*graphpeg.Untimed, error){graphpeg.NewUntimed, graphpeg.NewUntimedWorklist} {
		u, err := make(spec, s)
		if err != nil {
			panic(err)
		}
		u.UseMemory(m.mem)
		m.pegs[s.Core] = append(m.pegs[s.Core], u)
		h := m.lists[u.Name()]
		h.Units = append(h.Units, u.Engine)
	}
}

// plugEGHW gives the core edge-generating hardware.
func (m *Machine) plugEGHW(s eghw.Shape) {
	u, err := eghw.NewUntimed(eghw.DefaultSpec(), s)
	if err != nil {
		panic(err)
	}
	u.UseMemory(m.mem)
	m.pegs[s.Core] = append(m.pegs[s.Core], u)
	m.EGHW.Units = append(m.EGHW.Units, u.Engine)
}

// regions is where the lists' memory is: far from what is placed.
const regions = 0x4000_0000

// Configure sets the units up that Lists are in.
func (m *Machine) Configure(t testing.TB, s graphpeg.Setup) {
	s.Out, s.Regions = 1, regions
	require.NoError(t, m.host().Configure(s))
}

func (m *Machine) host() *graphpeg.Host {
	if m.Worklists {
		return m.lists["hwwl"]
	}
	return m.lists["peg"]
}

// Lists are the units' vertex-lists. Configure comes first.
func (m *Machine) Lists() activeset.Lists { return m.host() }

// Shapes are machines of several kinds: of one lane, with more warps than lanes, with more
// lanes than warps, with numbers that are no powers of two.
func Shapes() [][3]int { return [][3]int{{1, 1, 1}, {2, 3, 4}, {1, 6, 4}, {3, 2, 8}, {1, 3, 6}} }

// Place writes words to a place of their own.
func (m *Machine) Place(words []uint32) uint32 {
	at := m.next
	m.next += 4*uint32(len(words)) + 64
	m.WriteWords(at, words)
	return at
}

// WriteWords writes words.
func (m *Machine) WriteWords(addr uint32, words []uint32) {
	for i, w := range words {
		m.mem.Write(addr+4*uint32(i), binary.LittleEndian.AppendUint32(nil, w))
	}
}

// ReadWords reads words.
func (m *Machine) ReadWords(addr uint32, words []uint32) {
	for i := range words {
		words[i] = m.mem.Load32(addr + 4*uint32(i))
	}
}

// Words reads n words.
func (m *Machine) Words(addr uint32, n int) []uint32 {
	words := make([]uint32, n)
	m.ReadWords(addr, words)
	return words
}

// Launch runs a kernel whose argument block is at arg.
func (m *Machine) Launch(k *ir.Kernel, arg uint32) (ir.Counts, error) {
	return ir.Run(k, ir.Machine{
		Cores: m.Cores, Warps: m.Warps, Threads: m.Threads, Mem: m.mem, Args: arg, MaxSteps: 20_000_000, Units: m.units,
	})
}

func (m *Machine) units(core int) []emu.Unit {
	u, err := weaver.NewUntimed(m.Weaver, m.Warps, m.Threads)
	if err != nil {
		panic(err)
	}
	return append([]emu.Unit{u}, m.pegs[core]...)
}

// Run runs a kernel with those arguments; it must have no others.
func (m *Machine) Run(t testing.TB, k *ir.Kernel, args map[string]uint32) ir.Counts {
	t.Helper()
	block := make([]uint32, len(k.Params))
	for _, p := range k.Params {
		require.Contains(t, args, p.Name)
		block[p.Word] = args[p.Name]
	}
	c, err := m.Launch(k, m.Place(block))
	require.NoError(t, err)
	return c
}
