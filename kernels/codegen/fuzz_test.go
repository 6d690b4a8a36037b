package codegen

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/weaver"
	"heddle/internal/testenv"
	"heddle/isa/emu"
	"heddle/kernels/ir"
)

// trial is a random program on a random machine.
type trial struct {
	k     *ir.Kernel
	shape ir.Machine
	spec  *weaver.Spec
	opt   Options
	seed  uint64
}

var shapes = []ir.Machine{{Cores: 1, Warps: 1, Threads: 1}, {Cores: 1, Warps: 2, Threads: 4},
	{Cores: 2, Warps: 2, Threads: 8},
	{Cores: 1, Warps: 3, Threads: 6}, {Cores: 1, Warps: 1, Threads: 32}, {Cores: 3, Warps: 4, Threads: 2}, {Cores: 2, Warps: 3, Threads: 1}}

func newTrial(seed uint64) (*trial, error) {
	r := rand.New(rand.NewPCG(seed, 1))
	t := &trial{seed: seed, shape: shapes[r.IntN(len(shapes))]}
	if r.IntN(3) == 0 {
		t.spec = &weaver.Spec{STEntries: 1 + r.IntN(40), DTEntries: 1 << 11, MaskByUnit: r.IntN(2) == 0}
		t.opt.MaskByUnit = t.spec.MaskByUnit
	}
	t.opt.Registers = []int{0, 0, 0, 4, 6, 8, 12}[r.IntN(7)]
	t.opt.FloatSpills, t.opt.Sink = seed%5 < 2, seed%3 > 0
	if seed%4 < 3 { // one of those GPUs' launches have, or all
		t.opt.ArgumentRegisters, t.opt.Zba = int(seed/3%8), seed%8 < 5
		t.opt.SilentExit, t.opt.Lean = seed%7 < 5, seed%9 < 7
		if seed%16 < 9 {
			t.opt.Size = Size{t.shape.Cores, t.shape.Warps, t.shape.Threads}
		}
	}
	t.opt.Base = []uint32{0, 0x80120000}[r.IntN(2)]
	var err error
	t.k, err = newRandom(seed, t.spec != nil)
	if err == nil && r.IntN(3) == 0 {
		t.limit(r)
	}
	return t, err
}

// limit has some of a core's warps run the kernel, in thread blocks where nothing in it asks for all of them.
func (t *trial) limit(r *rand.Rand) {
	t.k.Warps = 1 + r.IntN(t.shape.Warps)
	if t.k.Block = 1 + r.IntN(t.k.Warps); t.k.Warps%t.k.Block != 0 || t.spec != nil || ir.Verify(t.k) != nil {
		t.k.Block = 0
	}
}

// Where things are.
const (
	argsAt = 0x20000
	inAt   = 0x30000
	accAt  = 0x40000
	gridAt = 0x50000
	ownAt  = 0x60000
	lastAt = 0x70000
)

// fill writes a program's initial state.
func (t *trial) fill(m *emu.Memory) {
	r := rand.New(rand.NewPCG(t.seed, 2))
	for i, w := range []uint32{inAt, accAt, gridAt, ownAt, uint32(r.IntN(gridWords)), lastAt} {
		m.Store32(argsAt+4*uint32(i), w)
	}
	for i := range uint32(inWords) {
		m.Store32(inAt+4*i, [...]uint32{r.Uint32(), r.Uint32N(10), 0x3F800000 + r.Uint32N(1<<24)}[r.IntN(3)])
	}
}

func (t *trial) units(core int) []emu.Unit {
	if t.spec == nil {
		return nil
	}
	u, err := weaver.NewFunctional(*t.spec, t.shape.Warps, t.shape.Threads)
	if err != nil {
		panic(err)
	}
	return []emu.Unit{u}
}

// interpret runs the kernel, or a pass's result.
func (t *trial) interpret(k *ir.Kernel) (*emu.Memory, ir.Counts, error) {
	m := t.shape
	m.Mem, m.Args, m.MaxSteps, m.Units = emu.NewMemory(), argsAt, 400_000, t.units
	t.fill(m.Mem)
	n, err := ir.Run(k, m)
	return m.Mem, n, err
}

// execute runs the compiled program.
func (t *trial) execute(c *Compiled) (*emu.Machine, error) {
	cfg := emu.Config{Cores: t.shape.Cores, Warps: t.shape.Warps, Threads: t.shape.Threads, Arg: argsAt,
		ArgumentRegisters: t.opt.ArgumentRegisters, SilentExit: t.opt.SilentExit, Zba: t.opt.Zba, MaxInstrs: 4_000_000,
		Quantum: 1 + int(t.seed%17), Units: t.units}
	m, err := emu.New(cfg)
	if err != nil {
		return nil, err
	}
	t.fill(m.Mem)
	m.Load(c.Program)
	if err := m.Run(context.Background()); err != nil {
		return m, err
	}
	if code, ok := m.ExitCode(); !ok || code != 0 {
		return m, fmt.Errorf("exit code %d %v", code, ok)
	}
	return m, nil
}

// differ returns the first word that differs.
func (t *trial) differ(a, b *emu.Memory) error {
	lanes := t.shape.Cores * t.shape.Warps * t.shape.Threads
	for _, r := range []struct {
		name      string
		at, words uint32
	}{{"acc", accAt, 6 * accWords}, {"grid", gridAt, gridWords}, {"own", ownAt, uint32(lanes * ownWords)},
		{"last", lastAt, uint32(lanes * lastWords)}} {
		for i := range r.words {
			if x, y := a.Load32(r.at+4*i), b.Load32(r.at+4*i); x != y {
				return fmt.Errorf("%s[%d] is 0x%x: expected 0x%x", r.name, i, y, x)
			}
		}
	}
	return nil
}

// try compares the interpreted kernel with the compiled one. skip: it runs too long.
func (t *trial) try() (skip bool, spills int, err error) {
	want, counts, err := t.interpret(t.k)
	if errors.Is(err, ir.ErrSteps) {
		return true, 0, nil
	}
	if err != nil {
		return false, 0, fmt.Errorf("interpreter: %w", err)
	}
	t.opt.After = func(pass string, k *ir.Kernel) {
		if err == nil {
			if err = ir.Verify(k); err != nil {
				err = fmt.Errorf("after %s: %w", pass, err)
			}
		}
	}
	c, e := Compile(t.k, t.opt)
	if e != nil || err != nil {
		return false, 0, fmt.Errorf("compiler: %v %w", e, err)
	}
	m, err := t.execute(c)
	if err == nil {
		err = t.differ(want, m.Mem)
	}
	if err == nil && m.Stats().Edges != counts.Edges {
		err = fmt.Errorf("%d edges: expected %d", m.Stats().Edges, counts.Edges)
	}
	return false, c.Stats.Spills, err
}

// blame finds the pass after which the interpreted kernel is another one.
func (t *trial) blame() string {
	want, _, _ := t.interpret(t.k)
	who := "lowering or allocation"
	t.opt.After = func(pass string, k *ir.Kernel) {
		got, _, err := t.interpret(k.Clone())
		if err == nil {
			err = t.differ(want, got)
		}
		if err != nil && who == "lowering or allocation" {
			who = fmt.Sprintf("pass %s: %v", pass, err)
		}
	}
	_, err := Compile(t.k, t.opt)
	if err != nil {
		who += err.Error()
	}
	return who
}

// TestRandomPrograms: compiled, they agree with the interpreter.
func TestRandomPrograms(t *testing.T) {
	from, n := testenv.Seed(t, 0), testenv.Cases(t, 1000, 100_000)
	skipped, spilled := 0, 0
	for seed := from; seed < from+n; seed++ {
		x, err := newTrial(seed)
		require.NoError(t, err, "seed %d", seed)
		skip, spills, err := x.try()
		if err != nil {
			require.NoError(t, err, "seed %d on %d cores × %d warps × %d lanes, %d registers: %s\n%s", seed,
				x.shape.Cores, x.shape.Warps, x.shape.Threads, x.opt.Registers, x.blame(), x.k.Text())
		}
		if skip {
			skipped++
		}
		if spills > 0 {
			spilled++
		}
	}
	require.Less(t, skipped, int(n/5)+1)
	require.Greater(t, spilled, int(n/5))
}
