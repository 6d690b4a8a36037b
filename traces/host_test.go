package traces

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/graphpeg"
	"heddle/configs"
	"heddle/isa"
	"heddle/isa/asm"
	"heddle/sim"
)

// gathers pops edges until there are none, and pushes their ends to list 1.
const gathers = `
_start:	li t0, -1
	tmc t0
	li a1, 0
	li a2, 1
next:	peg.pop.dst a0, a1
	addi a3, a0, 1
	snez a3, a3
	vote.any a4, a3
	beqz a4, end
	split a5, a3
	beqz a3, none
	peg.push a0, a2
none:	join a5
	j next
end:	tmc zero
`

const arrays = 0x2000_0000

func gatheringMachine(t testing.TB) configs.Machine {
	l, err := configs.LoadMachine("vortex-1c4w4t-graphpeg", nil,
		[]string{"cores_per_socket=2", "core.warps=1", "core.graphpeg.list_region=1KiB"})
	require.NoError(t, err)
	return l.Value
}

// gather records two super-steps on a ring of vertices; meddle is called before each.
func gather(t testing.TB, meddle func(m *sim.Machine, launch int)) (path string, err error) {
	cfg := gatheringMachine(t)
	p, err := asm.Assemble("gathers.s", []byte(gathers), asm.Options{})
	require.NoError(t, err)
	path = filepath.Join(t.TempDir(), "gathers.trace")
	rec, err := NewRecorder(path, Meta{Shape: shape(&cfg)})
	require.NoError(t, err)
	m, err := sim.New(cfg, sim.Options{Source: rec.Source})
	require.NoError(t, err)
	require.NoError(t, rec.Attach(m))
	const n = 2000
	for v := range uint32(n) {
		m.Arch.Mem.Store32(arrays+4*(v+1), v+1)
		m.Arch.Mem.Store32(arrays+0x4000+4*v, (v+1)%n)
	}
	h := m.Hand().(graphpeg.Host)
	setup := graphpeg.Setup{Fields: graphpeg.FieldDst, Vertices: n, Offsets: arrays, Edges: n,
		Neighbours: arrays + 0x4000, In: 0, Out: 1, Regions: 0x4000_0000}
	h.Forget()
	require.NoError(t, h.Configure(setup))
	require.NoError(t, h.Fill(0, []uint32{3, 5, 8, 1999}, graphpeg.Cyclic))
	for i := range 2 {
		meddle(m, i)
		rec.Begin(p, 0)
		res, err := m.Launch(context.Background(), p, 0)
		require.NoError(t, err)
		if err := rec.End(m, res); err != nil {
			return "", err
		}
		h.Swap(0, 1)
		require.NoError(t, h.Configure(setup))
	}
	require.ElementsMatch(t, []uint32{5, 7, 10, 1}, h.Read(0))
	return path, rec.Close()
}

func nothing(*sim.Machine, int) {}

func playGather(t testing.TB, f *File, change ...string) (*sim.Machine, error) {
	cfg := gatheringMachine(t)
	if len(change) > 0 {
		l, err := configs.LoadMachine("vortex-1c4w4t-graphpeg", nil,
			append([]string{"cores_per_socket=2", "core.warps=1", "core.graphpeg.list_region=1KiB"}, change...))
		require.NoError(t, err)
		cfg = l.Value
	}
	r, err := NewReplayer(f, shape(&cfg))
	require.NoError(t, err)
	m, err := sim.New(cfg, sim.Options{Source: r.Source, MaxCycles: 100_000})
	require.NoError(t, err)
	require.NoError(t, r.Attach(m))
	for i, l := range f.Meta.Launches {
		p, arg, err := r.Begin(i)
		if err != nil {
			return m, err
		}
		res, err := m.Launch(context.Background(), p, arg)
		if err != nil {
			return m, err
		}
		if len(change) == 0 {
			require.Equal(t, l.Cycles, res.Cycles)
		}
		if err := r.End(); err != nil {
			return m, err
		}
	}
	return m, nil
}

// Before a launch, the host's actions on graph units and the memory that these will read are recorded; unchanged memory
// is not recorded again.
func TestHost(t *testing.T) {
	path, err := gather(t, nothing)
	require.NoError(t, err)
	f, err := Open(path)
	require.NoError(t, err)
	defer f.Close() //nolint:errcheck // read only
	var all [2][]string
	for i := range all {
		_, host, err := f.launch(i, nil)
		require.NoError(t, err)
		all[i], err = hostLines(host)
		require.NoError(t, err)
	}
	require.Equal(t, []string{"act [3]", "act [0 0 0 2 7d0 20000000 7d0 20004000 0 0 1 40000000 a00]",
		"act [1 0 1 3 5 8 7cf]"}, all[0][:3])
	require.Len(t, all[0], 5)
	require.Regexp(t, "^memory 20000000 2001 words, sum ", all[0][3])
	require.Regexp(t, "^memory 20004000 2000 words, sum ", all[0][4])
	require.Equal(t, []string{"act [2 0 1]", all[0][1]}, all[1])
	m, err := playGather(t, f)
	require.NoError(t, err)
	require.ElementsMatch(t, []uint32{5, 7, 10, 1}, m.Hand().(graphpeg.Host).Read(1),
		"the lists are not swapped after the last launch")
	var b bytes.Buffer
	require.NoError(t, f.Dump(&b, Selection{Launch: 1, Warp: -1}))
	require.Contains(t, b.String(), "# launch 1, host: act [2 0 1]\n")
	same, err := Diff(f, f)
	require.NoError(t, err)
	require.Empty(t, same)
}

// Arrays that change between launches are recorded again, where they do; those that change in a launch are refused.
func TestHostChangesArrays(t *testing.T) {
	change := func(m *sim.Machine, launch int) {
		if launch == 1 {
			m.Arch.Mem.Store32(arrays+0x4000+4*1500, 1777)
		}
	}
	path, err := gather(t, change)
	require.NoError(t, err)
	f, err := Open(path)
	require.NoError(t, err)
	defer f.Close() //nolint:errcheck // read only
	_, host, err := f.launch(1, nil)
	require.NoError(t, err)
	lines, err := hostLines(host)
	require.NoError(t, err)
	require.Len(t, lines, 3)
	m, err := playGather(t, f)
	require.NoError(t, err)
	require.EqualValues(t, 1777, m.Arch.Mem.Load32(arrays+0x4000+4*1500))
	plain, err := gather(t, nothing)
	require.NoError(t, err)
	g, err := Open(plain)
	require.NoError(t, err)
	defer g.Close() //nolint:errcheck // read only
	differ, err := Diff(f, g)
	require.NoError(t, err)
	require.Len(t, differ, 1)
	require.Equal(t, 1, differ[0].Launch)
	require.Equal(t, "host", f.Meta.Shape.Name(differ[0].Warp))
	require.EqualValues(t, 2, differ[0].At)
	require.Empty(t, differ[0].B)
}

// A program that carries its set-up brings the arrays, and one that writes to them is refused.
func TestHostOfProgramsThatCarryTheirSetup(t *testing.T) {
	const carried = `
	.data
heddle.peg: .word 0, 0, 2, 4, offsets, 4, ends, 0, 0, 1, 0x40000000, 2, list, 0
offsets: .word 0, 1, 2, 3, 4
ends: .word 1, 2, 3, 0
list: .word 0, 2
`
	for _, c := range []struct{ text, says string }{
		{gathers + carried, ""},
		{"_start: la t0, ends\n li t1, 2\n sw t1, 0(t0)\n tmc zero\n" + carried, "has changed words that graph units read by themselves"},
	} {
		p, err := asm.Assemble("carried.s", []byte(c.text), asm.Options{})
		require.NoError(t, err)
		path, err := recordProgram(t, p)
		if c.says != "" {
			require.ErrorContains(t, err, c.says)
			continue
		}
		require.NoError(t, err)
		f, err := Open(path)
		require.NoError(t, err)
		_, host, err := f.launch(0, nil)
		require.NoError(t, err)
		require.Empty(t, host.b)
		_, err = playGather(t, f)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
}

func recordProgram(t testing.TB, p *isa.Program) (path string, err error) {
	cfg := gatheringMachine(t)
	path = filepath.Join(t.TempDir(), "x.trace")
	rec, err := NewRecorder(path, Meta{Shape: shape(&cfg)})
	require.NoError(t, err)
	m, err := sim.New(cfg, sim.Options{Source: rec.Source})
	require.NoError(t, err)
	require.NoError(t, rec.Attach(m))
	rec.Begin(p, 0)
	res, err := m.Launch(context.Background(), p, 0)
	if err != nil {
		return "", err
	}
	if err := rec.End(m, res); err != nil {
		return "", err
	}
	return path, rec.Close()
}

// A program's trap handler is not part of a trace.
func TestTrapsAreNotRecorded(t *testing.T) {
	for _, trap := range []string{"ecall", "lw a0, 1(a0)", "csrw mhartid, a0", ".word 0", "jalr a0, 2(a0)"} {
		text := "la a0, _start\n csrw mtvec, a0\n" + trap + "\n tmc zero\n"
		p, err := asm.Assemble("trap.s", []byte("_start: "+text), asm.Options{Base: 0x80000000})
		require.NoError(t, err)
		_, err = recordProgram(t, p)
		require.ErrorContains(t, err, "the program handles traps, and such a run cannot be recorded", trap)
	}
}

// Other units of the same kind repeat the recorded actions, unless they cannot.
func TestHostOnOtherMachines(t *testing.T) {
	path, err := gather(t, nothing)
	require.NoError(t, err)
	f, err := Open(path)
	require.NoError(t, err)
	defer f.Close() //nolint:errcheck // read only
	for _, ok := range []string{"core.graphpeg.alwt_entries=1", "memory.preset=ddr4-3200",
		"core.graphpeg.bypass_l1=false", "ctrlproc.policy=none"} {
		_, err := playGather(t, f, ok)
		require.NoError(t, err, ok)
	}
	_, err = playGather(t, f, "core.graphpeg.list_region=2KiB")
	require.ErrorContains(t, err, path+": launch 0, host: the recorded host's action is impossible on this machine: the "+
		"vertex-lists have 10240 bytes of memory, and those of this machine need 20480")
}

// The host's column is as hostile as the others.
func TestCorruptHost(t *testing.T) {
	path, err := gather(t, nothing)
	require.NoError(t, err)
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	for i := 0; i < len(good); i += 7 {
		bad := bytes.Clone(good)
		bad[i] ^= 1
		require.Error(t, readAll(bad), "byte %d", i)
		require.Error(t, readAll(good[:i]))
	}
	for _, c := range []struct {
		b    []byte
		says string
	}{
		{[]byte{numEntries}, "ends too soon, or holds an impossible value"},
		{[]byte{entryAct, 200, 1, 1}, "ends too soon, or holds an impossible value"},
		{[]byte{entryMemory, 0xff, 0xff, 0xff, 0xff, 3, 2, 1, 1}, "ends too soon, or holds an impossible value"},
		{[]byte{entryAct, 0}, "has 0 words that begin with"},
		{[]byte{entryAct, 3, 4, 90, 90}, "vertex-lists"},
		{[]byte{entryAct, 3, 2, 1, 1}, "has 3 words that begin with 1"},
	} {
		f, err := read("x", bytes.NewReader(good), int64(len(good)))
		require.NoError(t, err)
		require.ErrorContains(t, beginHost(t, f, c.b), c.says, fmt.Sprint(c.b))
	}
	require.NoError(t, readAll(good))
}

func beginHost(t testing.TB, f *File, b []byte) error {
	cfg := gatheringMachine(t)
	r, err := NewReplayer(f, shape(&cfg))
	require.NoError(t, err)
	m, err := sim.New(cfg, sim.Options{Source: r.Source})
	require.NoError(t, err)
	require.NoError(t, r.Attach(m))
	return r.host.begin(&cursor{b: b})
}

// FuzzHost: whatever the host is said to have done, doing it and replaying end with an error, and not otherwise.
func FuzzHost(f *testing.F) {
	path, err := gather(f, nothing)
	require.NoError(f, err)
	file, err := Open(path)
	require.NoError(f, err)
	f.Cleanup(func() { file.Close() }) //nolint:errcheck // read only
	for i := range file.Meta.Launches {
		_, host, err := file.launch(i, nil)
		require.NoError(f, err)
		f.Add(host.b)
		for at := 0; at < len(host.b) && at < 60; at += 5 {
			b := bytes.Clone(host.b)
			b[at] ^= 3
			f.Add(b)
		}
	}
	f.Add([]byte{entryAct, 3, 4, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		cfg := gatheringMachine(t)
		r, err := NewReplayer(file, shape(&cfg))
		require.NoError(t, err)
		m, err := sim.New(cfg, sim.Options{Source: r.Source, MaxCycles: 20_000})
		require.NoError(t, err)
		require.NoError(t, r.Attach(m))
		for i := range file.Meta.Launches {
			p, arg, err := r.Begin(i)
			if err != nil || r.host.begin(&cursor{b: b}) != nil {
				return
			}
			if _, err := m.Launch(context.Background(), p, arg); err != nil {
				return
			}
			_ = r.End()
		}
	})
}
