package traces

import (
	"bytes"
	"context"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/internal/testenv"
	"heddle/isa/asm"
	"heddle/sim"
)

var update = flag.Bool("update", false, "write testdata")

// everything decides, accesses and asks in all ways that a trace knows.
const everything = `
_start:	li t0, -1
	tmc t0
	csrr s0, vx_tid
	csrr s1, vx_wid
	csrr a0, mscratch
	slli t1, s0, 2
	add a1, a0, t1         # a word a lane
	li s2, 3
loop:	lw t2, 0(a1)
	add t2, t2, s0
	sw t2, 0(a1)
	sb t2, 0x100(a1)
	addi a1, a1, 64
	addi s2, s2, -1
	bnez s2, loop
	andi t3, s0, 1
	split t4, t3
	addi a2, s0, 5
	join t4
	mul t5, s0, s0
	slli t5, t5, 3
	add a3, a0, t5         # scattered
	lw t6, 0(a3)
	amoadd.w t6, s0, (a3)
	li t2, 0
	amocas.w t2, s0, (a0)
	amocas.w t2, s0, (a3)
	lr.w t2, (a0)
	sc.w t2, s0, (a0)
	li t0, 0xffff0000
	sw s0, 0(t0)
	amoadd.w t6, s0, (t0)
	amocas.w t2, s1, (t0)
	jal ra, sub
	bnez s1, wait
	li t0, 1
	tmc t0
	la t1, _start2
	li t2, 2
	wspawn t2, t1
	li t0, -1
	tmc t0
wait:	li t1, 2
	li t0, 0
	bar t0, t1
	slli t1, s0, 4
	li t2, 2
	weaver.reg s0, t1, t2
	li t1, 2
	li t0, 0
	bar t0, t1
next:	weaver.dec.id t3
	weaver.dec.loc t4
	addi t5, t3, 1
	snez t5, t5
	vote.any t5, t5
	bnez t5, next
	fence
	li t0, 1
	tmc t0
	sw zero, 0x88(zero)
	tmc zero
sub:	ret
_start2: li t0, -1
	tmc t0
	csrr s0, vx_tid
	csrr s1, vx_wid
	j wait
`

func testMachine(t testing.TB) configs.Machine {
	l, err := configs.LoadMachine("vortex-1c4w4t-weaver", nil, nil)
	require.NoError(t, err)
	return l.Value
}

func shape(m *configs.Machine) Shape {
	return Shape{m.Sockets * m.CoresPerSocket, m.Core.Warps, m.Core.Threads}
}

// testFile records two launches of everything.
func testFile(t testing.TB) string { return testFileOf(t, everything) }

func testFileOf(t testing.TB, text string) string {
	cfg := testMachine(t)
	p, err := asm.Assemble("everything.s", []byte(text), asm.Options{})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "everything.trace")
	rec, err := NewRecorder(path, Meta{Shape: shape(&cfg)})
	require.NoError(t, err)
	m, err := sim.New(cfg, sim.Options{Source: rec.Source})
	require.NoError(t, err)
	require.NoError(t, rec.Attach(m))
	for i := range uint32(2) {
		arg := 0x10000000 + i*0x40004
		rec.Begin(p, arg)
		res, err := m.Launch(context.Background(), p, arg)
		require.NoError(t, err)
		require.NoError(t, rec.End(m, res))
	}
	_, err = os.Stat(path)
	require.ErrorIs(t, err, os.ErrNotExist, "a file that is not complete has no name")
	require.NoError(t, rec.Close())
	return path
}

// play replays all launches; the machine stops after a limit.
func play(t testing.TB, f *File) error {
	cfg := testMachine(t)
	r, err := NewReplayer(f, shape(&cfg))
	if err != nil {
		return err
	}
	m, err := sim.New(cfg, sim.Options{Source: r.Source, MaxCycles: 100_000})
	require.NoError(t, err)
	if err := r.Attach(m); err != nil {
		return err
	}
	for i := range f.Meta.Launches {
		p, arg, err := r.Begin(i)
		if err != nil {
			return err
		}
		if _, err := m.Launch(context.Background(), p, arg); err != nil {
			return err
		}
		if err := r.End(); err != nil {
			return err
		}
	}
	require.Zero(t, r.Others)
	return nil
}

func TestDump(t *testing.T) {
	f, err := Open(testFile(t))
	require.NoError(t, err)
	defer f.Close() //nolint:errcheck // read only
	require.NoError(t, play(t, f))
	var b bytes.Buffer
	require.NoError(t, f.Dump(&b, Selection{Launch: 0, Warp: -1}))
	want, err := os.ReadFile("testdata/everything.dump")
	if *update {
		require.NoError(t, os.WriteFile("testdata/everything.dump", b.Bytes(), 0o644))
		return
	}
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
	all, err := Diff(f, f)
	require.NoError(t, err)
	require.Empty(t, all)
	_, err = f.Walk(2, 0)
	require.ErrorContains(t, err, "no launch 2: expected 0 to 1")
	_, err = f.Walk(0, 4)
	require.ErrorContains(t, err, "no warp 4: expected 0 to 3")
}

// readAll reads everything that a file holds.
func readAll(b []byte) error {
	f, err := read("x", bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return err
	}
	return f.Dump(io.Discard, Selection{Launch: -1, Warp: -1})
}

// No byte can change, and none be missing, unnoticed: without testenv.LongVariable, one in five.
func TestCorruptFilesAreRefused(t *testing.T) {
	good, err := os.ReadFile(testFile(t))
	require.NoError(t, err)
	require.NoError(t, readAll(good))
	again, err := os.ReadFile(testFile(t))
	require.NoError(t, err)
	require.Equal(t, good, again, "a file is determined by the recorded run")
	f, err := read("x", bytes.NewReader(good), int64(len(good)))
	require.NoError(t, err)
	first := f.index.blocks[0]
	step := 5
	if testenv.Long(t) > 0 {
		step = 1
	}
	for i := 0; i < len(good); i += step {
		bad := bytes.Clone(good)
		bad[i] ^= 1 << (i % 8)
		err := readAll(bad)
		require.Error(t, err, "byte %d", i)
		if uint64(i) >= first.offset && uint64(i) < first.offset+first.size() {
			require.ErrorContains(t, err, "x: block 0 of launch 0 (at byte 12): is corrupt: its checksum is another")
		}
	}
	for n := 0; n < len(good); n += step {
		require.Error(t, readAll(good[:n]), "%d bytes", n)
	}
	bad := bytes.Clone(good)
	bad[len(magic)] = 1
	require.EqualError(t, readAll(bad), "x: is a trace of format version 1, and this program reads 2")
}

// A warp is read without the blocks of others.
func TestAWarpIsReadByItself(t *testing.T) {
	good, err := os.ReadFile(testFile(t))
	require.NoError(t, err)
	f, err := read("x", bytes.NewReader(good), int64(len(good)))
	require.NoError(t, err)
	require.Len(t, f.index.blocks, 2)
	good[f.index.blocks[1].offset+3] ^= 1
	if f.index.blocks[1].offset == f.index.blocks[0].offset {
		t.Fatal("the launches do not differ: nothing is tested")
	}
	_, err = f.Walk(0, 0)
	require.NoError(t, err)
	_, err = f.Walk(1, 0)
	require.ErrorContains(t, err, "x: block 1 of launch 1")
}

// FuzzFile: whatever a file is, reading it ends, with an error or without.
func FuzzFile(f *testing.F) {
	good, err := os.ReadFile(testFile(f))
	require.NoError(f, err)
	f.Add(good)
	f.Add(good[:len(good)/2])
	path, err := gather(f, nothing)
	require.NoError(f, err)
	good, err = os.ReadFile(path)
	require.NoError(f, err)
	f.Add(good)
	f.Fuzz(func(_ *testing.T, b []byte) { _ = readAll(b) })
}

// FuzzIndex: the index is read without allocating more than a multiple of its bytes.
func FuzzIndex(f *testing.F) {
	file, err := Open(testFile(f))
	require.NoError(f, err)
	defer file.Close() //nolint:errcheck // read only
	f.Add(file.index.put())
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, b []byte) {
		var x index
		if x.get(b, &file.Meta, 1<<20) == nil {
			require.NoError(t, new(index).get(x.put(), &file.Meta, 1<<20))
		}
	})
}

// FuzzReplay: whatever the columns hold, a walk and a replay end with an error, and not otherwise.
func FuzzReplay(f *testing.F) {
	file, err := Open(testFile(f))
	require.NoError(f, err)
	f.Cleanup(func() { file.Close() }) //nolint:errcheck // read only
	f.Add([]byte{0, 0, 0, 0})
	rng := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		b := make([]byte, 12)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg := testMachine(t)
		r, err := NewReplayer(file, shape(&cfg))
		require.NoError(t, err)
		m, err := sim.New(cfg, sim.Options{Source: r.Source, MaxCycles: 100_000})
		require.NoError(t, err)
		require.NoError(t, r.Attach(m))
		p, arg, err := r.Begin(0)
		require.NoError(t, err)
		for ; len(data) >= 4; data = data[4:] {
			c := &r.warps[data[0]%4].columns[data[1]%numColumns]
			if n := len(c.b); n > 0 {
				c.b = bytes.Clone(c.b)
				c.b[int(data[2])%n] = data[3]
			}
		}
		for w := range r.warps {
			for k := file.walker(0, w, copied(&r.warps[w].decoder)); ; {
				if more, err := k.Next(); !more || err != nil {
					break
				}
			}
		}
		if _, err := m.Launch(context.Background(), p, arg); err == nil {
			_ = r.End()
		}
	})
}

// copied is a decoder that starts where another does.
func copied(d *decoder) decoder {
	out := *d
	out.memory = memory{}
	out.begin(d.code)
	return out
}

// Small chunks are the same trace: a warp's columns go on from one to the next.
func TestChunksOfAnySize(t *testing.T) {
	cfg := testMachine(t)
	p, err := asm.Assemble("everything.s", []byte(everything), asm.Options{})
	require.NoError(t, err)
	var want string
	for _, limit := range []int{chunkBytes, 7, 1} {
		path := filepath.Join(t.TempDir(), "x.trace")
		rec, err := NewRecorder(path, Meta{Shape: shape(&cfg)})
		require.NoError(t, err)
		rec.limit = limit
		m, err := sim.New(cfg, sim.Options{Source: rec.Source})
		require.NoError(t, err)
		require.NoError(t, rec.Attach(m))
		rec.Begin(p, 0x10000000)
		res, err := m.Launch(context.Background(), p, 0x10000000)
		require.NoError(t, err)
		require.NoError(t, rec.End(m, res))
		require.NoError(t, rec.Close())
		f, err := Open(path)
		require.NoError(t, err)
		require.NoError(t, play(t, f))
		require.Equal(t, limit == chunkBytes, len(f.index.blocks[0].chunks) == 2, "a chunk a warp, or more")
		var b strings.Builder
		require.NoError(t, f.Dump(&b, Selection{Launch: -1, Warp: -1}))
		if want == "" {
			want = b.String()
		}
		require.Equal(t, want, b.String())
		require.NoError(t, f.Close())
	}
	require.Equal(t, chunkBytes, chunkLimit(Shape{6, 32, 32}))
	require.Equal(t, 1024, chunkLimit(Shape{1024, 64, 32}))
}
