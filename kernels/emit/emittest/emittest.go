// Package emittest runs kernels in tests on the interpreter, without a compiler.
package emittest

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/accel"
	"heddle/components/graphpeg"
	"heddle/components/hwwl"
	"heddle/components/weaver"
	"heddle/configs"
	"heddle/isa/emu"
	"heddle/kernels/activeset"
	"heddle/kernels/ir"
)

// Machine is an interpreted machine with one of each graph unit in every core; the units' tables and lists are small.
type Machine struct {
	Cores, Warps, Threads int
	mem                   *emu.Memory
	next                  uint32
	units                 map[string][]emu.Unit // by name and core
}

// New returns a machine.
func New(cores, warps, threads int) *Machine {
	m := &Machine{Cores: cores, Warps: warps, Threads: threads, mem: emu.NewMemory(), next: 0x10000,
		units: map[string][]emu.Unit{}}
	for _, u := range accel.Registered() {
		spec := small(configs.DefaultUnit(u))
		for core := range cores {
			m.plug(u.Name, spec, accel.Shape{Core: core, Cores: cores, Warps: warps, Threads: threads, LineBytes: 64})
		}
	}
	return m
}

// small shrinks the tables and lists that a test must be able to fill.
func small(s accel.Spec) accel.Spec {
	switch s := s.(type) {
	case *weaver.Spec:
		s.STEntries, s.DTEntries = 24, 1<<11
	case *graphpeg.Spec:
		s.ListRegion = 1 << 10
	case *hwwl.Spec:
		s.ListRegion = 1 << 10
	}
	return s
}

// plug adds a unit to the next core.
func (m *Machine) plug(name string, s accel.Spec, at accel.Shape) {
	u, err := s.NewFunctional(at)
	if err != nil {
		panic(err)
	}
	if x, ok := u.(emu.MemoryUnit); ok {
		x.UseMemory(m.mem)
	}
	m.units[name] = append(m.units[name], u)
}

// Hand returns the host-side interface to the units of that name; nil: they have none.
func (m *Machine) Hand(unit string) accel.Hand { return accel.HandOn(m.units[unit]) }

// SetUp prepares the units of that name for a launch that handles such edges.
func (m *Machine) SetUp(t testing.TB, unit string, e accel.Edges) {
	const memory = 0x4000_0000 // far from any placed array
	require.NoError(t, m.Hand(unit).SetUp(accel.Setup{Edges: e, In: activeset.InList, Out: activeset.OutList,
		Memory: memory}))
}

// Lists returns the vertex-lists of the GraphPEGs. SetUp must come first.
func (m *Machine) Lists() activeset.Lists { return m.Hand("peg").(accel.ListHand) }

// Shapes returns machines of several kinds: a single lane, more warps than lanes, more lanes than warps, sizes that are
// no powers of two.
func Shapes() [][3]int { return [][3]int{{1, 1, 1}, {2, 3, 4}, {1, 6, 4}, {3, 2, 8}, {1, 3, 6}} }

// Place allocates memory, writes words to it, and returns its address.
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
		Cores: m.Cores, Warps: m.Warps, Threads: m.Threads, Mem: m.mem, Args: arg, MaxSteps: 20_000_000,
		Units: m.ofCore,
	})
}

func (m *Machine) ofCore(core int) (list []emu.Unit) {
	for _, u := range accel.Registered() {
		list = append(list, m.units[u.Name][core])
	}
	return list
}

// Run runs a kernel with exactly these arguments.
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
